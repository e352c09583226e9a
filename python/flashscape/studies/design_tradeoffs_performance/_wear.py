"""The drive's whole life under IOzone, with three ways to level wear: tables 7 and 8.

The drive is the paper's, with its 32 GB and the life of 50 erases of its study; nothing is scaled.
The trace is written again and again, untimed, and with all three the same amount: what the
paper wrote, as its mean life tells. Each erase makes room for 63 pages and nothing moves, so its
43.82 erases that are left of 50 are 209 GB, 5.67 times the trace. A sum, and not a choice; but the
mean under greedy is no finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Run, plots
from flashscape.studies.design_tradeoffs_performance._drives import (
    PACKAGES,
    PAGE_BYTES,
    baseline,
)
from flashscape.studies.design_tradeoffs_performance._loads import FRESH, TRACES

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Setting

LIFE = 50
"""Erases of a block in the paper's study."""

_PAPER_LIFE = 43.82
"""The mean of erases left under greedy [from memory of the paper]."""

_BLOCKS = PACKAGES * 8 * 2048

WRITTEN_BYTES = round((LIFE - _PAPER_LIFE) * _BLOCKS) * 63 * PAGE_BYTES
"""What was erased and then written: 63 pages of data a block."""

_TIMES = 6
"""The trace lasts for as much."""

ALGORITHMS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "rate-limiting": {"age_variance": "20 %"},
    "migration": {"age_variance": "20 %", "retirement_age": "85 %"},
}
"""The shares are the paper's."""

NAMES = {
    "greedy": "greedy",
    "rate-limiting": "+ rate-limiting",
    "migration": "+ rate-limiting and migration",
}

LOOKS = plots.Looks(*NAMES.values())


def runs(setting: Setting) -> list[Run]:
    """The same writes with each algorithm."""
    return [_run(setting, name, name, {}) for name in ALGORITHMS]


def runs_of_drawn(setting: Setting) -> list[Run]:
    """Those without migration, where any of equal victims is taken, not the last."""
    gc = {"gc": {"victim": {"policy": "greedy", "ties": "random"}}}
    return [_run(setting, f"{name}-drawn", name, gc) for name in ("greedy", "rate-limiting")]


def _run(setting: Setting, name: str, algorithm: str, ftl: dict[str, Any]) -> Run:
    file = str(setting.trace(TRACES["iozone"]))
    trace = {"file": file, "format": "disksim", "repeat": _TIMES}
    wear = ALGORITHMS[algorithm]
    ftl = ftl | ({"wear": wear} if wear else {})
    return Run(
        f"wear-{name}",
        {
            "title": f"{WRITTEN_BYTES / 1e9:.0f} GB of IOzone, {name}",
            "drive": baseline(nand={"endurance": LIFE}, ftl=ftl),
            "precondition": FRESH,
            "workload": [{"name": "iozone", "trace": trace}],
            "run": {"untimed": True, "bytes": f"{WRITTEN_BYTES} B"},
        },
        tables=("wear",),
    )


def lives(runs: Outcomes, name: str) -> pl.Series:
    """Erases that each block has left; none where it expired."""
    return LIFE - runs[f"wear-{name}"].result.wear["erases"].cast(int)


def expired(runs: Outcomes, name: str) -> int:
    """Blocks that reached the end of their lives."""
    wear = runs[f"wear-{name}"].result.wear
    return int((wear["state"] == "bad").sum())


def spread(runs: Outcomes, name: str) -> tuple[float, float]:
    """The mean of lives, and their standard deviation."""
    import polars as pl

    left = lives(runs, name).cast(pl.Float64)
    [row] = (
        pl.DataFrame({"left": left})
        .select(mean=pl.col("left").mean(), stddev=pl.col("left").std())
        .rows()
    )
    return float(row[0]), float(row[1])


def figure_of(name: str) -> str:
    """How the claims call an algorithm."""
    return name.replace("-", "_")
