"""The drive's whole life under IOzone, with three wear-leveling algorithms: tables 7 and 8.

The drive is the paper's: 32 GB, and blocks that last for 50 erases. Nothing is scaled.
The trace is written repeatedly, untimed. All three algorithms get the same amount of data, which
follows from the paper's mean life. Each erase makes room for 63 pages and nothing moves, so the
paper's 43.82 remaining erases of 50 mean 209 GB, 5.67 times the trace. That is an arithmetic
consequence; but therefore the mean under greedy is no finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Run, plots

from ._drives import (
    PACKAGES,
    PAGE_BYTES,
    baseline,
)
from ._loads import FRESH, TRACES

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Setting

LIFE = 50
"""Erases of a block in the paper's study."""

_PAPER_LIFE = 43.82
"""Mean of remaining erases under greedy [from memory of the paper]."""

_BLOCKS = PACKAGES * 8 * 2048

WRITTEN_BYTES = round((LIFE - _PAPER_LIFE) * _BLOCKS) * 63 * PAGE_BYTES
"""Bytes written to the erased blocks: 63 pages of data a block."""

_TIMES = 6
"""Repetitions of the trace that hold so many bytes."""

ALGORITHMS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "rate-limiting": {"age_variance": "20 %"},
    "migration": {"age_variance": "20 %", "retirement_age": "85 %"},
}
"""Wear-leveling settings of each algorithm; the shares are the paper's."""

NAMES = {
    "greedy": "greedy",
    "rate-limiting": "+ rate-limiting",
    "migration": "+ rate-limiting and migration",
}

LOOKS = plots.Looks(*NAMES.values())


def runs(setting: Setting) -> list[Run]:
    """Return runs of the same writes with each algorithm."""
    return [_run(setting, name, name, {}) for name in ALGORITHMS]


def runs_of_drawn(setting: Setting) -> list[Run]:
    """Return runs without migration that draw among equal victims instead of taking the last."""
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
    """Return the remaining erases of each block; 0 for an expired one."""
    return LIFE - runs[f"wear-{name}"].result.wear["erases"].cast(int)


def expired(runs: Outcomes, name: str) -> int:
    """Return the number of blocks that reached the end of their lives."""
    wear = runs[f"wear-{name}"].result.wear
    return int((wear["state"] == "bad").sum())


def spread(runs: Outcomes, name: str) -> tuple[float, float]:
    """Return the mean of lives and their standard deviation."""
    import polars as pl

    left = lives(runs, name).cast(pl.Float64)
    [row] = (
        pl.DataFrame({"left": left})
        .select(mean=pl.col("left").mean(), stddev=pl.col("left").std())
        .rows()
    )
    return float(row[0]), float(row[1])


def figure_of(name: str) -> str:
    """Return the name of an algorithm in the claims."""
    return name.replace("-", "_")
