"""Notes of the drives' runs, each kind once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def notes(of_drives: Iterable[list[str]]) -> list[dict[str, Any]]:
    """Return the first note of each kind with the number of drives that have it, most first.

    Notes that differ in their figures alone are of one kind.
    """
    alike: dict[str, list[str]] = {}
    for of_drive in of_drives:
        for note in of_drive:
            alike.setdefault(re.sub(r"[0-9.,]+", "", note), []).append(note)
    ranked = sorted(alike.values(), key=len, reverse=True)
    return [{"drives": len(found), "such_as": found[0]} for found in ranked]
