"""Parts of a run with figures of their own: NVM sets of a drive, and members of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from flashscape.measured import Measured


class Part(NamedTuple):
    """A part of the drives, with its figures."""

    name: str
    figures: dict[str, Any]


def member_name(of: dict[str, Any]) -> str:
    """Return the name of a member of an array."""
    name = f"drive {of['drive']}"
    return name if of["nvm_set"] is None else f"{name}, NVM set {of['nvm_set']}"


def parts(result: Measured, key: str) -> list[Part]:
    """Return the figures of each NVM set, or of each member of an array, under a key."""
    # Summaries of earlier versions lack some of these keys.
    array = result.summary.get("array")
    if array is not None:
        return [
            Part(member_name(of), of[key]) for of in array["members"] if of.get(key) is not None
        ]
    found = result.summary.get(key) or []
    return [Part(f"NVM set {of['set']}" if len(found) > 1 else "the drive", of) for of in found]
