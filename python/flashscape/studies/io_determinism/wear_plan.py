"""Wear-leveling from set to set as a plan of the host: chunks of two sets exchange places.

A set never gives wear to another, so the host must move data. All writes go to one half of the
data, which lies at the first of two sets in the beginning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Run

from . import _drives
from ._reads import PERCENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

RATE = 6_400
"""Writes a second of the hot data: 40 % of what a set takes."""

READS = 200
"""Reads a second of the cold data."""

CHUNK_BYTES = 16 << 20

PAGE_BYTES = _drives.PROGRAM_UNITS * _drives.UNIT_BYTES // 4
"""A page of one plane."""

SET_BYTES = _drives.CHANNEL_BYTES // CHUNK_BYTES * CHUNK_BYTES
"""Bytes of a set in whole chunks."""

SET_UNITS = SET_BYTES // _drives.UNIT_BYTES

SPANS = 8
"""Parts of a run of the same length, each with reads of its own."""


@dataclass(frozen=True, slots=True)
class Level:
    """A plan: the gap in overwrites of a set (None: no exchanges) and the share of copies."""

    gap: float | None
    copies: int
    chunk_bytes: int = CHUNK_BYTES
    is_gentle: bool = False
    """True to copy a page of each set at a time."""

    @property
    def title(self) -> str:
        """Return the plan in words."""
        if self.gap is None:
            return "no exchanges"
        chunks = "whole sets, " if self.chunk_bytes == SET_BYTES else ""
        pieces = ", a page at a time" if self.is_gentle else ""
        return f"{chunks}gap {self.gap:g} overwrites, copies up to {self.copies} %{pieces}"

    def plan(self) -> dict[str, Any]:
        """Return the plan of the array."""
        # Hosts never write a PiB.
        gap = 1 << 50 if self.gap is None else int(self.gap * SET_BYTES)
        return {
            "policy": "leveling",
            "chunk": f"{self.chunk_bytes} B",
            "gap": f"{gap} B",
            "copies": f"{self.copies} %",
            **({"piece": f"{PAGE_BYTES} B", "depth": 1} if self.is_gentle else {}),
        }


LEVELS = {
    "never": Level(None, 25),
    "near": Level(0.5, 25),
    "gentle": Level(0.5, 25, is_gentle=True),
    "fast": Level(0.5, 100),
    "far": Level(2, 25),
    "whole": Level(2, 100, SET_BYTES),
}
"""Plans by name."""


def overwrites(setting: Setting) -> int:
    """Return the overwrites of the hot data."""
    return int(setting.pick(short=8, full=32))


def span_s(setting: Setting) -> float:
    """Return the seconds of a part of a run."""
    return overwrites(setting) / SPANS * SET_UNITS / RATE


@exhibit.runs
def runs(setting: Setting) -> Iterator[Run]:
    """Return the same load under each plan."""
    seconds = span_s(setting)
    loads = [_hot(), *(_reads(at, at * seconds, seconds) for at in range(SPANS))]
    for name, level in LEVELS.items():
        yield Run(
            _name(name),
            {
                "title": f"Hot and cold set: {level.title}",
                "drive": _drives.sets(channels=2),
                "array": {"drives": 1, "plan": level.plan()},
                "precondition": _drives.AGED,
                "workload": loads,
                "run": {"time": f"{SPANS * seconds:.3f} s"},
            },
        )


def _name(level: str) -> str:
    return f"wear-plan-{level}"


def _hot() -> dict[str, Any]:
    return {
        "name": "hot",
        "reads": "0 %",
        "arrivals": {"process": "poisson", "rate": f"{RATE} IOPS"},
        "region": {"size": f"{SET_BYTES} B"},
    }


def _reads(span: int, begin: float, seconds: float) -> dict[str, Any]:
    return {
        "name": f"cold-{span}",
        "reads": "100 %",
        "arrivals": {"process": "poisson", "rate": f"{READS} IOPS"},
        "region": {"offset": f"{SET_BYTES} B", "size": f"{SET_BYTES} B"},
        "start": f"{begin:.3f} s",
        "stop": {"time": f"{seconds:.3f} s"},
    }


def figures(runs: Outcomes, level: str) -> dict[str, Any]:
    """Return the wear of both sets, what the plan copied, and latencies."""
    summary = runs[_name(level)].result.summary
    counts = summary["array"]["plan"]
    leveling = counts["leveling"]
    blocks = _drives.DIES * _drives.BLOCKS
    erases = [member["work"]["erases"] / blocks for member in summary["array"]["members"]]
    sent = [member["host_bytes"] + member["copied_bytes"] for member in leveling["members"]]
    cold = [
        each["read"]["latency_ns"]["p99_9"]
        for each in summary["initiators"]
        if each["name"].startswith("cold")
    ]
    hot = next(each for each in summary["initiators"] if each["name"] == "hot")
    return {
        "plan": LEVELS[level].title,
        "written_units": leveling["host_bytes"] // _drives.UNIT_BYTES,
        "exchanges": leveling["exchanges"],
        "copied_units": leveling["copied_bytes"] // _drives.UNIT_BYTES,
        "copied_for_each_write": leveling["copied_bytes"] / leveling["host_bytes"],
        "erases_of_a_block_set_1": erases[0],
        "erases_of_a_block_set_2": erases[1],
        "most_over_mean": max(erases) / (sum(erases) / 2),
        "erases_in_all": sum(erases),
        "difference_in_overwrites": abs(sent[0] - sent[1]) / SET_BYTES,
        "writes_delayed": counts["writes_delayed"],
        "write_p99_9_ns": hot["write"]["latency_ns"]["p99_9"],
        **{f"cold_read_p99_9_ns_{span + 1}": each for span, each in enumerate(cold)},
    }


@exhibit.measures("N-13")
def leveled(runs: Outcomes) -> Answer:
    """Return the wear of both sets under each plan, what it moves, and reads of cold data."""
    told = []
    for level in LEVELS:
        found = figures(runs, level)
        sets = f"{found['erases_of_a_block_set_1']:.1f} and {found['erases_of_a_block_set_2']:.1f}"
        copied = f"{found['copied_units']:,} units copied ({found['copied_for_each_write']:.0%})"
        cold = [found[f"cold_read_p99_9_ns_{span + 1}"] / 1e6 for span in range(SPANS)]
        reads = (
            f"p{PERCENT:g} of cold reads {min(cold):.1f} to {max(cold):.1f} ms in parts of the run"
        )
        writes = f"of writes {found['write_p99_9_ns'] / 1e6:.2g} ms"
        told.append(f"{found['plan']}: {sets} erases of a block, {copied}, {reads}, {writes}")
    return Answer("; ".join(told))


@exhibit.tabulates("wear")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each plan."""
    import polars as pl

    return pl.DataFrame([figures(runs, level) for level in LEVELS])
