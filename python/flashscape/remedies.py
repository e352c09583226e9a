"""Settings that influence the causes of latency, and their values in the run.

A remedy is a setting of which another value shortens waits of some causes. For other causes there
is a setting that decides how long waits last, but no value that is better in every case
(:mod:`flashscape.deciders`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import deciders, interruptions, units
from flashscape.catalogue import derived_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape.measured import Measured

_LITTLE = 0.5
"""Cleaning efficiency below which more spare space is worth naming."""

_MUCH = 1.0
"""Bytes that collection moves for each byte of hosts, from which that is worth naming, too."""

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
    free = derived_of(drive)["gc_free_blocks_per_bin"]
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
        frozenset({"reserved flash", "GC programs", "GC reads", "erases"}),
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


def _states(named: dict[str, set[str]], result: Measured) -> set[str]:
    """Return the states in which requests of the kinds with named causes spent time."""
    return {
        state
        for _, kind, figures in result.groups()
        if kind in named
        for state, ns in figures["blame_ns"].items()
        if ns
    }


def sentences(named: dict[str, set[str]], result: Measured) -> list[str]:
    """Return sentences on the settings behind the named causes, by kind of request."""
    drive = result.summary["config"]["drive"]
    everything: set[str] = set().union(*named.values())
    collected = result.summary["collection"]["blocks"] > 0
    told, paths = [], set()
    for remedy in REMEDIES:
        causes = {cause for kind in remedy.kinds & named.keys() for cause in named[kind]}
        is_of_gc = remedy.path.startswith("drive.ftl.gc.")
        if causes & remedy.causes and (collected or not is_of_gc) and remedy.applies(drive):
            paths.add(remedy.path)
            told.append(
                f"{remedy.path} = {remedy.value} would {remedy.effect} (it is {remedy.now(drive)})."
            )
    decided = deciders.sentences(everything, _states(named, result), drive)
    told += [each for each in decided if each.split()[0] not in paths]
    return [*told, *deciders.padding(result), *_spare(everything, result)]


def _spare(named: set[str], result: Measured) -> list[str]:
    """Return the sentence on over-provisioning, if collection moves much or writes wait for it."""
    efficiency = result.summary["collection"]["cleaning_efficiency"]
    if efficiency is None or not named & _COLLECTING:
        return []
    moved = result.summary["write_amplification"]["gc"] or 0
    if efficiency >= _LITTLE and moved < _MUCH and "no free space" not in named:
        return []
    return [
        f"Garbage collection gained {units.percent(efficiency)} of each block that it erased, in "
        "the mean; the rest was valid data that it moved. More spare space "
        "(drive.ftl.over_provisioning) makes collections gain more, so there are fewer of them."
    ]
