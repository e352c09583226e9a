"""Wear-leveling from set to set as a plan of the host: it swaps the data of a hot and a cold set.

A set never gives wear to another, so the host must move data. In a phase, writes go to the data
that is hot. Between two phases the host reads both sets and writes each to the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Run
from flashscape.studies.io_determinism import _drives
from flashscape.studies.io_determinism._reads import PERCENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

SWAPS = (0, 1, 3, 7)
"""Numbers of swaps of the same writes: odd, so that each set is hot for half of the time."""

RATE = 6_400
"""Writes a second of the hot data: 40 % of what a set takes."""

SET_UNITS = _drives.CHANNEL_BYTES // _drives.UNIT_BYTES
"""Mapping units of a set, in whole ones."""

COPY_S = 60
"""Seconds for a swap. Writes of the host wait meanwhile."""

_BLOCK = 131_072


def hot_s(setting: Setting, swaps: int) -> float:
    """Return the seconds of a phase: in all, the hot data is overwritten some times."""
    overwrites = float(setting.pick(short=8, full=32))
    return overwrites * SET_UNITS / RATE / (swaps + 1)


@exhibit.runs
def runs(setting: Setting) -> Iterator[Run]:
    """Return the same writes with each number of swaps."""
    for swaps in SWAPS:
        phase = hot_s(setting, swaps)
        loads = []
        for at in range(swaps + 1):
            begin = at * (phase + COPY_S)
            loads += [_hot(at, begin, phase), _reads(at, begin, phase)]
            if at < swaps:
                loads += _copies(at, begin + phase)
        yield Run(
            _name(swaps),
            {
                "title": f"Hot and cold set, {swaps} swaps",
                "drive": _drives.sets(channels=2),
                "precondition": _drives.AGED,
                "workload": loads,
                "run": {"time": f"{(swaps + 1) * phase + swaps * COPY_S:.3f} s"},
            },
        )


def _name(swaps: int) -> str:
    return f"wear-plan-{swaps}"


def _hot(phase: int, begin: float, seconds: float) -> dict[str, Any]:
    return {
        "name": f"hot-{phase}",
        "nvm_set": 1 + phase % 2,
        "reads": "0 %",
        "arrivals": {"process": "poisson", "rate": f"{RATE} IOPS"},
        "start": f"{begin:.3f} s",
        "stop": {"time": f"{seconds:.3f} s"},
    }


def _reads(phase: int, begin: float, seconds: float) -> dict[str, Any]:
    """Return reads of the cold data, also while it is copied: they stay at its old place then."""
    return {
        "name": f"cold-{phase}",
        "nvm_set": 2 - phase % 2,
        "reads": "100 %",
        "arrivals": {"process": "poisson", "rate": "200 IOPS"},
        "start": f"{begin:.3f} s",
        "stop": {"time": f"{seconds + COPY_S:.3f} s"},
    }


def _copies(phase: int, begin: float) -> list[dict[str, Any]]:
    """Return the reads and the writes of a swap; reads begin a second earlier."""
    size = SET_UNITS * _drives.UNIT_BYTES // _BLOCK * _BLOCK
    return [
        {
            "name": f"copy-{kind}-{phase}-{nvm_set}",
            "nvm_set": nvm_set,
            "reads": reads,
            "size": f"{_BLOCK} B",
            "addresses": {"pattern": "sequential"},
            "queue_depth": 4,
            "start": f"{begin + later:.3f} s",
            "stop": {"bytes": f"{size} B"},
        }
        for nvm_set in (1, 2)
        for kind, reads, later in (("reads", "100 %", 0.0), ("writes", "0 %", 1.0))
    ]


def figures(runs: Outcomes, swaps: int) -> dict[str, Any]:
    """Return the erases of both sets, and the units of the host and of the copies."""
    result = runs[_name(swaps)].result
    summary = result.summary
    erases = [each["erases"] for each in summary["sets"]]
    units = {"hot": 0, "copy": 0}
    slow = 0
    for each in summary["initiators"]:
        kind = each["name"].split("-")[0]
        if kind in units:
            units[kind] += each["write"]["bytes"] // _drives.UNIT_BYTES
        elif kind == "cold":
            slow = max(slow, each["read"]["latency_ns"]["p99_9"] or 0)
    blocks = _drives.DIES * _drives.BLOCKS
    return {
        "swaps": swaps,
        "written_units": units["hot"],
        "copied_units": units["copy"],
        "copied_for_each_write": units["copy"] / units["hot"],
        "erases_of_a_block_set_1": erases[0] / blocks,
        "erases_of_a_block_set_2": erases[1] / blocks,
        "difference": abs(erases[0] - erases[1]) / blocks,
        "most_over_mean": max(erases) / (sum(erases) / 2),
        "erases_in_all": sum(erases) / blocks,
        "cold_read_p99_9_ns": slow,
        "copying_s": swaps * COPY_S,
    }


@exhibit.measures("N-13")
def leveled(runs: Outcomes) -> Answer:
    """Return the wear of both sets by the number of swaps, and what these move."""
    told = []
    for swaps in SWAPS:
        found = figures(runs, swaps)
        sets = f"{found['erases_of_a_block_set_1']:.1f} and {found['erases_of_a_block_set_2']:.1f}"
        copied = f"{found['copied_units']:,} units copied ({found['copied_for_each_write']:.0%})"
        told.append(f"{swaps} swaps: {sets} erases of a block, {copied}")
    return Answer(f"{'; '.join(told)}; p{PERCENT:g} of cold reads is in the table")


@exhibit.tabulates("wear")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each number of swaps."""
    import polars as pl

    return pl.DataFrame([figures(runs, swaps) for swaps in SWAPS])
