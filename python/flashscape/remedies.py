"""Settings behind the causes of latency: which one decides, and what it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import interruptions, units

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape.measured import Measured

_LITTLE = 0.5
"""Cleaning efficiency below which more spare space is worth naming."""

Drive = dict[str, Any]


class Remedy(NamedTuple):
    """A setting that another value of would shorten waits of some causes."""

    causes: frozenset[str]
    kinds: frozenset[str]
    """Kinds of requests that it is for."""
    path: str
    value: str
    """As TOML has it."""
    effect: str
    """What it does, after "would"."""
    applies: Callable[[Drive], bool]
    """Whether the drive lacks it, and may have it."""
    now: Callable[[Drive], str]


def _scheme(key: str) -> Callable[[Drive], str]:
    return lambda drive: f'"{interruptions.scheme(drive, key)}"'


def _is_free(drive: Drive) -> bool:
    """Whether operations begin as soon as their unit is free, and not in rounds."""
    return bool(drive["scheduler"].get("rounds", "none") == "none")


def _keeps_units(drive: Drive) -> bool:
    """Whether a collection keeps its unit, so that nothing goes in between."""
    return drive["ftl"]["gc"]["preemptible"] is False


def _never_interrupted(key: str) -> Callable[[Drive], bool]:
    def applies(drive: Drive) -> bool:
        is_never = interruptions.scheme(drive, key) == "baseline"
        return is_never and _is_free(drive) and not _keeps_units(drive)

    return applies


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
        lambda drive: (
            _never_interrupted("program_suspension")(drive)
            and drive["nand"].get("program_steps") is not None
        ),
        _scheme("program_suspension"),
    ),
    Remedy(
        frozenset({*_PROGRAMS, "GC reads", "erases"}),
        _READS,
        "drive.scheduler.bypass",
        '"batch"',
        "let reads go before what waits for the same flash",
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
        frozenset({"no free space", "GC programs", "GC reads", "erases", "write buffer"}),
        _WRITES,
        "drive.ftl.gc.pacing",
        '"proportional"',
        "spread collection over the writes that make it necessary",
        lambda drive: drive["ftl"]["gc"]["pacing"] == "none" and _is_free(drive),
        lambda _: '"none"',
    ),
)


def sentences(named: dict[str, set[str]], result: Measured) -> list[str]:
    """What decides the causes that are named, by kind of request."""
    drive = result.summary["config"]["drive"]
    told = []
    for remedy in REMEDIES:
        causes = {cause for kind in remedy.kinds & named.keys() for cause in named[kind]}
        if causes & remedy.causes and remedy.applies(drive):
            told.append(
                f"{remedy.path} = {remedy.value} would {remedy.effect} (it is {remedy.now(drive)})."
            )
    collecting = {"no free space", "GC programs", "GC reads", "erases"}
    efficiency = result.summary["collection"]["cleaning_efficiency"]
    if any(causes & collecting for causes in named.values()) and (efficiency or 1) < _LITTLE:
        told.append(
            "drive.ftl.over_provisioning decides what a collection gains: "
            f"{units.percent(efficiency)} of the blocks that were erased. With more spare space "
            "there are fewer collections."
        )
    return told
