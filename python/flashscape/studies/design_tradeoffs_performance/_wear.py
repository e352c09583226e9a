"""The drive's whole life under IOzone, with three ways to level wear: tables 7 and 8.

The drive is the paper's, with its 32 GB and the life of 50 erases of its study; nothing is scaled.
The trace is written again and again, without time, and with all three the same amount: six times,
221 GB. That is about as much as wears out the blocks in circulation: what of the reserve lies
above the threshold, a tenth of the blocks, and the 1.06 GiB that the trace writes, 3.4 % of them;
50 times these are 227 GB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Run, plots
from flashscape.studies.design_tradeoffs_performance._drives import baseline
from flashscape.studies.design_tradeoffs_performance._loads import FRESH, TRACES

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Setting

LIFE = 50
"""Erases of a block in the paper's study."""

_TIMES = 6

ALGORITHMS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "rate-limiting": {"age_variance": "20 %"},
    "migration": {"age_variance": "20 %", "retirement_age": "85 %"},
}
"""The shares are the paper's."""

NAMES = {
    "greedy": "greedy",
    "rate-limiting": "+ rate-limiting",
    "migration": "+ migration",
}

LOOKS = plots.Looks(*NAMES.values())


def runs(setting: Setting) -> list[Run]:
    """The same writes with each algorithm."""
    trace = {
        "file": str(setting.trace(TRACES["iozone"])),
        "format": "disksim",
        "repeat": _TIMES,
    }
    found = []
    for name, wear in ALGORITHMS.items():
        drive = baseline(nand={"endurance": LIFE}, **({"ftl": {"wear": wear}} if wear else {}))
        found.append(
            Run(
                f"wear-{name}",
                {
                    "title": f"IOzone {_TIMES} times, {NAMES[name]}",
                    "drive": drive,
                    "precondition": FRESH,
                    "workload": [{"name": "iozone", "trace": trace}],
                    "run": {"untimed": True},
                },
                tables=("wear",),
            )
        )
    return found


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
