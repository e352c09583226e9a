"""Drives that the exhibits share: the preset ``atc08`` and its organisations.

What the paper and its authors' code say of the drive, and where, stands in the preset.
"""

from __future__ import annotations

import tomllib
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from flashscape.catalogue import check, presets

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = 8
"""Of the baseline: 32 GB, each package on a channel of its own."""

PAGE_BYTES = 4096

_BLOCKS = 2048
"""Of a plane."""

_PLANES = 8
"""Of a package."""

Drive = dict[str, Any]


def joined(first: Drive, second: Drive) -> Drive:
    """Tables joined key by key, as an override joins a preset."""
    both = dict(first)
    for key, value in second.items():
        old = both.get(key)
        both[key] = (
            joined(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
        )
    return both


def baseline(**changes: Any) -> Drive:
    """The fully connected drive of 32 GB in rounds, with changes."""
    return joined({"preset": "atc08"}, changes)


def free_running(**changes: Any) -> Drive:
    """The same without rounds: an operation begins as soon as its unit is free.

    A key of a preset cannot be unset, so this is the preset's own table without that key. It is
    for what the paper says of flash packages; its simulator has rounds.
    """
    table: Drive = tomllib.loads(presets()["atc08"].text)
    del table["scheduler"]["rounds"]
    return joined(table, changes)


def units(size: str) -> Drive:
    """What a read, a program and an erase keep busy: the unit of interleaving."""
    return {"read": size, "program": size, "erase": size}


INTERLEAVED = {1: "package", 2: "die", 4: "plane-pair"}
"""Parallel units of a package, and what they are."""


def interleaved(degree: int) -> Drive:
    """So many operations of a package at a time."""
    return baseline() if degree == 1 else baseline(concurrency=units(INTERLEAVED[degree]))


def large_pages() -> Drive:
    """A logical page of 256 KiB, a whole block; such blocks have no summary page."""
    return baseline(ftl={"unit": "256 KiB", "summary_page": False})


def striped(stripe_kib: int, degree: int) -> Drive:
    """So many KiB of consecutive addresses to a package, which interleaves."""
    return joined(interleaved(degree), {"ftl": {"allocation": {"stripe": f"{stripe_kib} KiB"}}})


def striped_at_once(stripe_kib: int) -> Drive:
    """The same where consecutive pages interleave for sure: two dies in turn, without rounds."""
    allocation = {"stripe": f"{stripe_kib} KiB", "order": "CWDP"}
    return free_running(concurrency=units(INTERLEAVED[2]), ftl={"allocation": allocation})


def shared_bus(gang: int, packages: int = PACKAGES, blocks_per_plane: int = _BLOCKS) -> Drive:
    """Gangs of packages on one bus, of which one operation is under way at a time.

    A stripe is as wide as the gang: 32 KiB for 8 packages, 64 KiB for 16 [paper]. It lies in one
    gang; pages of 4 KiB are mapped one by one.
    """
    stripe = {"pool": "channel", "stripe": f"{gang * PAGE_BYTES} B"}
    return baseline(
        ftl={"allocation": stripe} if gang > 1 else {},
        geometry={
            "channels": packages // gang,
            "packages_per_channel": gang,
            "blocks_per_plane": blocks_per_plane,
        },
        concurrency=units("channel"),
        scheduler={"rounds": {"unit": "channel"}},
    )


def synchronous() -> Drive:
    """All packages share control lines and do the same at the same time.

    They are one package with pages of 32 KiB, which is the logical page then. Of a part of it the
    rest is copied inside the planes, as the paper says.
    """
    gang = {"channels": PACKAGES, "control": "synchronous"}
    ftl = {"unit": f"{PACKAGES * PAGE_BYTES} B", "partial_writes": "plane"}
    return baseline(geometry={"gang": gang}, ftl=ftl)


_ASYNCHRONOUS = {"gang": {"channels": PACKAGES, "control": "asynchronous"}}


def asynchronous() -> Drive:
    """All packages share control lines, and each allocates, cleans and goes on by itself.

    Control lines take no time here, so this is the baseline with fewer pins.
    """
    return baseline(geometry=_ASYNCHRONOUS)


def gang_pool() -> Drive:
    """Asynchronous packages that allocate together: a write goes to that with most free pages."""
    return baseline(geometry=_ASYNCHRONOUS, ftl={"allocation": {"pool": "gang"}})


def gang_rounds() -> Drive:
    """Asynchronous packages, of which the operations of a round begin and end together."""
    return baseline(geometry=_ASYNCHRONOUS, scheduler={"rounds": {"unit": "gang"}})


def inter_plane() -> Drive:
    """Pages that cleaning moves cross the bus, twice."""
    return baseline(ftl={"gc": {"copy_back": False}})


def one_open_block() -> Drive:
    """One open block a package: pages cross the bus unless they happen to stay in their plane.

    That is what the authors' code does where copy-back is off. It then cleans until more than one
    block above the threshold is free, and of equal victims it takes the first.
    """
    low = _PLANES * _BLOCKS * 5 // 100
    thresholds = {
        "background": f"{low} blocks",
        "foreground": f"{low} blocks",
        "stop": f"{low + 1} blocks",
    }
    gc = {"victim": {"policy": "greedy", "ties": "first"}, **thresholds}
    return baseline(ftl={"allocation": {"bin": "package"}, "gc": gc})


def threshold(percent: int) -> Drive:
    """Cleaning at so many percent of free blocks."""
    at = f"{percent} % of blocks"
    return baseline(ftl={"gc": {"background": at, "foreground": at, "stop": at}})


ORGANISATIONS: dict[str, Callable[[], Drive]] = {
    "baseline": baseline,
    "inter-plane": inter_plane,
    "one-open-block": one_open_block,
    "interleaved-2": partial(interleaved, 2),
    "interleaved-4": partial(interleaved, 4),
    "stripe-8k-1": partial(striped, 8, 1),
    "stripe-8k-2": partial(striped, 8, 2),
    "stripe-8k-4": partial(striped, 8, 4),
    "stripe-8k-at-once": partial(striped_at_once, 8),
    "page-256k": large_pages,
    "bus-8": partial(shared_bus, 8),
    "bus-16": partial(shared_bus, 16, 16, _BLOCKS // 2),
    "asynchronous": asynchronous,
    "gang-pool": gang_pool,
    "gang-rounds": gang_rounds,
    "synchronous": synchronous,
}
"""Drives by the names that runs have for them; a gang of 16 is of packages half as large."""


def derived(drive: Drive) -> dict[str, Any]:
    """What ``flashscape check`` derives from a drive: its capacity, its pins and more."""
    idle = {"name": "idle", "reads": "100 %", "stop": {"requests": 1}}
    return check({"drive": drive, "workload": [idle]})


@cache
def exported_bytes() -> int:
    """The capacity of the baseline."""
    return int(derived(baseline())["capacity"]["exported_bytes"])
