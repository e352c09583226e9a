"""Settings that influence the causes of latency, and their values in the run.

A remedy is a setting of which another value shortens waits of some causes. For other causes there
is a setting that decides how long waits last, but no value that is better in every case.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import interruptions, units
from flashscape.catalogue import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape.measured import Measured

_LITTLE = 0.5
"""Cleaning efficiency below which more spare space is worth naming."""

Drive = dict[str, Any]


class Remedy(NamedTuple):
    """A setting of which another value would shorten waits of some causes."""

    causes: frozenset[str]
    kinds: frozenset[str]
    """Kinds of requests that it helps."""
    path: str
    value: str
    """Recommended value, as TOML."""
    effect: str
    """Effect of that value, after "would"."""
    applies: Callable[[Drive], bool]
    """Predicate: the drive lacks the setting, and may have it."""
    now: Callable[[Drive], str]


def _scheme(key: str) -> Callable[[Drive], str]:
    return lambda drive: f'"{interruptions.scheme(drive, key)}"'


def _is_free(drive: Drive) -> bool:
    """Return True if operations start as soon as their unit is free, and not in rounds."""
    return bool(drive["scheduler"].get("rounds", "none") == "none")


def _keeps_units(drive: Drive) -> bool:
    """Return True if a collection keeps its unit, so that nothing runs in between."""
    return drive["ftl"]["gc"]["preemptible"] is False


def _never_interrupted(key: str) -> Callable[[Drive], bool]:
    def applies(drive: Drive) -> bool:
        is_never = interruptions.scheme(drive, key) == "baseline"
        # Reads that wait, or that are reconstructed from other data, interrupt nothing.
        asks = interruptions.scheme(drive, "read_routing") == "suspend"
        return is_never and asks and _is_free(drive) and not _keeps_units(drive)

    return applies


def _has_program_steps(drive: Drive) -> bool:
    """Return True if a program has a step boundary at which it can stop."""
    steps = drive["nand"].get("program_steps")
    return steps is not None and steps["steps"] > 1


def _begins_early(drive: Drive) -> bool:
    """Return True if background GC begins before writes depend on it, so that it can be paced."""
    idle = {"name": "idle", "reads": "100 %", "stop": {"requests": 1}}
    free = check({"drive": drive, "workload": [idle]})["gc_free_blocks_per_bin"]
    return bool(free["background"] > free["foreground"])


_COLLECTING = {"no free space", "GC programs", "GC reads", "erases"}
_READS = frozenset({"read"})
_WRITES = frozenset({"write", "write_zeroes"})
_PROGRAMS = frozenset({"GC programs", "host programs"})

REMEDIES = (
    Remedy(
        frozenset({"erases"}),
        _READS,
        "drive.scheduler.suspension",
        '"t-es"',
        "let reads interrupt an erase",
        _never_interrupted("suspension"),
        _scheme("suspension"),
    ),
    Remedy(
        _PROGRAMS,
        _READS,
        "drive.scheduler.program_suspension",
        '"d-es"',
        "let reads interrupt a program between its steps",
        lambda drive: _never_interrupted("program_suspension")(drive) and _has_program_steps(drive),
        _scheme("program_suspension"),
    ),
    Remedy(
        frozenset({*_PROGRAMS, "GC reads", "erases"}),
        _READS,
        "drive.scheduler.bypass",
        '"batch"',
        "let reads go before other operations that wait for the same flash",
        lambda drive: interruptions.scheme(drive, "bypass") == "none",
        _scheme("bypass"),
    ),
    Remedy(
        frozenset({"withheld flash", "GC programs", "GC reads", "erases"}),
        _READS,
        "drive.ftl.gc.preemptible",
        "true",
        "let others use the flash between the operations of a collection",
        lambda drive: _keeps_units(drive) and _is_free(drive),
        lambda _: "false",
    ),
    Remedy(
        frozenset({"no free space", "GC programs", "GC reads", "erases"}),
        _WRITES,
        "drive.ftl.gc.pacing",
        '"proportional"',
        "spread collection over the writes that make it necessary: the slowest writes wait less, "
        "and others more",
        lambda drive: (
            drive["ftl"]["gc"]["pacing"] == "none" and _is_free(drive) and _begins_early(drive)
        ),
        lambda _: '"none"',
    ),
)


class Decider(NamedTuple):
    """A setting that decides how long waits of some causes are."""

    causes: frozenset[str]
    path: str
    tells: Callable[[Drive], str]
    """Function that returns its value, and the effect of another value."""


def _at(path: str, otherwise: str) -> Callable[[Drive], str]:
    """Return a function for the value at a path of the drive."""

    def value(drive: Drive) -> str:
        found: Any = drive
        for key in path.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        return otherwise if found is None else str(found)

    return value


DECIDERS = (
    Decider(
        frozenset({"link"}),
        "drive.link",
        lambda drive: (
            f"is {_at('link.rate', 'none')(drive)}, {_at('link.duplex', '')(drive)} duplex"
        ),
    ),
    Decider(
        frozenset({"write buffer"}),
        "drive.buffer.size",
        lambda drive: (
            f"is {_at('buffer.size', 'none')(drive)}: a larger buffer takes longer bursts of "
            "writes; sustained writes are as fast as the flash"
        ),
    ),
    Decider(
        frozenset({"read-modify-write"}),
        "drive.ftl.unit",
        lambda drive: (
            f"is {_at('ftl.unit', '')(drive)}: writes that begin and end at its multiples need "
            "no read before them"
        ),
    ),
    Decider(
        frozenset({"scrubbing"}),
        "drive.ftl.scrub",
        lambda _: "decides how often blocks are read or written anew",
    ),
    Decider(
        frozenset({"suspension"}),
        "drive.scheduler.suspension",
        lambda drive: f'is "{interruptions.scheme(drive, "suspension")}"',
    ),
    Decider(
        frozenset({"queue depth"}),
        "queue_depth of the workload",
        lambda _: "decides how many requests the host has in the drive at once",
    ),
    Decider(
        frozenset({"host reads", "host programs"}),
        "drive.geometry",
        lambda drive: (
            "decides how many reads and programs the flash serves at once: it has "
            f"{units.many(_dies(drive), 'die')} of "
            f"{units.many(drive['geometry']['planes_per_die'], 'plane')}"
        ),
    ),
)


def _dies(drive: Drive) -> int:
    geometry = drive["geometry"]
    keys = ("channels", "packages_per_channel", "dies_per_package")
    return int(math.prod(geometry[key] for key in keys))


def sentences(named: dict[str, set[str]], result: Measured) -> list[str]:
    """Return sentences on the settings behind the named causes, by kind of request."""
    drive = result.summary["config"]["drive"]
    everything: set[str] = set().union(*named.values())
    collected = result.summary["collection"]["blocks"] > 0
    told = []
    for remedy in REMEDIES:
        causes = {cause for kind in remedy.kinds & named.keys() for cause in named[kind]}
        is_of_gc = remedy.path.startswith("drive.ftl.gc.")
        if causes & remedy.causes and (collected or not is_of_gc) and remedy.applies(drive):
            told.append(
                f"{remedy.path} = {remedy.value} would {remedy.effect} (it is {remedy.now(drive)})."
            )
    told += [
        f"{decider.path} {decider.tells(drive)}."
        for decider in DECIDERS
        if decider.causes & everything
    ]
    efficiency = result.summary["collection"]["cleaning_efficiency"]
    if everything & _COLLECTING and (efficiency or 1) < _LITTLE:
        told.append(
            "drive.ftl.over_provisioning decides what a collection gains: "
            f"{units.percent(efficiency)} of the blocks that were erased. With more spare space "
            "there are fewer collections."
        )
    return told
