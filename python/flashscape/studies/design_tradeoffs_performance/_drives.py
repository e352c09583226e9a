"""Drives that the exhibits share: the preset ``atc08`` and its organisations.

The preset cites what the paper and its authors' code say about the drive.
"""

from __future__ import annotations

import tomllib
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from flashscape.catalogue import check, presets

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = 8
"""Packages of the baseline: 32 GB, each package on a channel of its own."""

PAGE_BYTES = 4096

_BLOCKS = 2048
"""Blocks of a plane."""

_PLANES = 8
"""Planes of a package."""

Drive = dict[str, Any]


def joined(first: Drive, second: Drive) -> Drive:
    """Join tables key by key, as an override joins a preset."""
    both = dict(first)
    for key, value in second.items():
        old = both.get(key)
        both[key] = (
            joined(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
        )
    return both


def baseline(**changes: Any) -> Drive:
    """Return the fully connected drive of 32 GB in rounds, with changes."""
    return joined({"preset": "atc08"}, changes)


def free_running(**changes: Any) -> Drive:
    """Return the drive without rounds: an operation starts as soon as its unit is free.

    A key of a preset cannot be unset, so this is the preset's own table without that key. It
    serves the paper's statements on flash packages; the paper's simulator has rounds.
    """
    table: Drive = tomllib.loads(presets()["atc08"].text)
    del table["scheduler"]["rounds"]
    return joined(table, changes)


def units(size: str) -> Drive:
    """Return the unit of interleaving: the part that a read, a program or an erase keeps busy."""
    return {"read": size, "program": size, "erase": size}


INTERLEAVED = {1: "package", 2: "die", 4: "plane-pair"}
"""Unit of interleaving, by the number of parallel units of a package."""


def interleaved(degree: int) -> Drive:
    """Return the drive with ``degree`` operations of a package at a time."""
    return baseline() if degree == 1 else baseline(concurrency=units(INTERLEAVED[degree]))


def large_pages() -> Drive:
    """Return the drive with logical pages of 256 KiB, a whole block, without summary pages."""
    return baseline(ftl={"unit": "256 KiB", "summary_page": False})


def striped(stripe_kib: int, degree: int) -> Drive:
    """Return the drive with ``stripe_kib`` KiB of consecutive addresses per package."""
    return joined(interleaved(degree), {"ftl": {"allocation": {"stripe": f"{stripe_kib} KiB"}}})


def striped_at_once(stripe_kib: int) -> Drive:
    """Return a striped drive that always interleaves consecutive pages: two dies, no rounds."""
    allocation = {"stripe": f"{stripe_kib} KiB", "order": "CWDP"}
    return free_running(concurrency=units(INTERLEAVED[2]), ftl={"allocation": allocation})


def shared_bus(gang: int, packages: int = PACKAGES, blocks_per_plane: int = _BLOCKS) -> Drive:
    """Return gangs of packages on one bus, each of which runs one operation at a time.

    A stripe is as wide as the gang: 32 KiB for 8 packages, 64 KiB for 16 [paper], inside one
    gang. Pages of 4 KiB are mapped one by one.
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
    """Return the drive whose packages share control lines and run the same operations together.

    They form one package with pages of 32 KiB, which is also the logical page. A partial write
    copies the rest of the page inside the planes, as the paper says.
    """
    gang = {"channels": PACKAGES, "control": "synchronous"}
    ftl = {"unit": f"{PACKAGES * PAGE_BYTES} B", "partial_writes": "plane"}
    return baseline(geometry={"gang": gang}, ftl=ftl)


_ASYNCHRONOUS = {"gang": {"channels": PACKAGES, "control": "asynchronous"}}


def asynchronous() -> Drive:
    """Return the drive whose packages share control lines, but allocate and clean on their own.

    Commands occupy the control lines for no time, so this is the baseline with fewer pins.
    """
    return baseline(geometry=_ASYNCHRONOUS)


def gang_pool() -> Drive:
    """Return asynchronous packages that share allocation: writes go to the one with most space."""
    return baseline(geometry=_ASYNCHRONOUS, ftl={"allocation": {"pool": "gang"}})


def gang_rounds() -> Drive:
    """Return asynchronous packages whose operations begin and end together, in rounds."""
    return baseline(geometry=_ASYNCHRONOUS, scheduler={"rounds": {"unit": "gang"}})


def inter_plane() -> Drive:
    """Return the drive without copy-back: pages that cleaning moves cross the bus twice."""
    return baseline(ftl={"gc": {"copy_back": False}})


def one_open_block() -> Drive:
    """Return the drive with one open block per package: moved pages cross the bus, with exceptions.

    A page that stays in its plane by chance uses copy-back. The authors' code does this if
    copy-back is off. It then cleans until more than one block above the threshold is free, and
    takes the first of equal victims.
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
    """Return the drive that cleans below this percentage of free blocks."""
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
"""Drives by the names of their runs; in a gang of 16, packages are half as large."""


def derived(drive: Drive) -> dict[str, Any]:
    """Return the figures that ``flashscape check`` derives from a drive, such as its pins."""
    idle = {"name": "idle", "reads": "100 %", "stop": {"requests": 1}}
    return check({"drive": drive, "workload": [idle]})


@cache
def exported_bytes() -> int:
    """Return the capacity of the baseline."""
    return int(derived(baseline())["capacity"]["exported_bytes"])
