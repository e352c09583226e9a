"""Loads of the exhibits: reads and writes of 4 KiB at random addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

READER = "reader"


def reader(nvm_set: int | None = None, begins_s: float = 0.0, depth: int = 1) -> dict[str, Any]:
    """Return a closed loop of reads, so many at a time."""
    load = {"name": READER, "reads": "100 %", "queue_depth": depth, "start": f"{begins_s:.3f} s"}
    return load | _at(nvm_set)


def writers(per_second: float, sets: Sequence[int | None] = (None,)) -> list[dict[str, Any]]:
    """Return independent writes, so many a second in all, spread evenly over some sets."""
    return [
        {
            "name": _name("writer", nvm_set),
            "reads": "0 %",
            "arrivals": {"process": "poisson", "rate": f"{per_second / len(sets):g} IOPS"},
        }
        | _at(nvm_set)
        for nvm_set in sets
    ]


def closed(kind: str, depth: int, sets: Sequence[int | None] = (None,)) -> list[dict[str, Any]]:
    """Return a closed loop of reads or writes of so many requests, spread evenly over some sets.

    A set that has no share of them has no loop.
    """
    shares = [depth // len(sets) + (at < depth % len(sets)) for at in range(len(sets))]
    return [
        {
            "name": _name(kind, nvm_set),
            "reads": "100 %" if kind == "reads" else "0 %",
            "queue_depth": share,
        }
        | _at(nvm_set)
        for nvm_set, share in zip(sets, shares, strict=True)
        if share
    ]


def _name(what: str, nvm_set: int | None) -> str:
    return what if nvm_set is None else f"{what}-{nvm_set}"


def _at(nvm_set: int | None) -> dict[str, Any]:
    return {} if nvm_set is None else {"nvm_set": nvm_set}
