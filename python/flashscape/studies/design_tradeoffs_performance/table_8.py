"""Table 8: distribution of the remaining lives of blocks after the same writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots

from . import _wear
from ._wear import (
    ALGORITHMS,
    LIFE,
    LOOKS,
    NAMES,
    lives,
    spread,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

_STEP = 5
"""Erases in a class of the distribution."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return IOzone with each algorithm: the runs of table 7."""
    return _wear.runs(setting)


@exhibit.measures("A-16")
def concentrated(runs: Outcomes) -> Answer:
    """Return variances of life."""
    variances = {name: spread(runs, name)[1] ** 2 for name in ALGORITHMS}
    figures = {
        "greedy_life_variance": variances["greedy"],
        "migration_life_variance": variances["migration"],
    }
    ours = ", ".join(f"{NAMES[name]} {value:.1f}" for name, value in variances.items())
    return Answer(f"variance of life: {ours}", figures)


def _classes() -> list[tuple[int, int]]:
    """Return classes of remaining lives, from and to, both included."""
    return [(0, 0), *((low, low + _STEP - 1) for low in range(1, LIFE, _STEP))]


def _shares(runs: Outcomes, name: str) -> list[float]:
    left = lives(runs, name)
    return [int(left.is_between(low, high).sum()) / len(left) for low, high in _classes()]


def _told(low: int, high: int) -> str:
    return "expired" if high == 0 else f"{low}–{high}"


@exhibit.draws("lives")
def drawn(runs: Outcomes) -> Picture:
    """Draw the share of blocks by remaining life."""
    groups: dict[str, dict[str, float | None]] = {
        _told(*each): {NAMES[name]: _shares(runs, name)[at] for name in ALGORITHMS}
        for at, each in enumerate(_classes())
    }
    title = f"What is left of blocks' {LIFE} erases after the same writes of IOzone"
    return plots.bars(
        groups, LOOKS, unit="share", label="share of blocks", x_label="erases left", title=title
    )


@exhibit.tabulates("lives")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the distribution as a table."""
    import polars as pl

    columns = {f"{name}_share": _shares(runs, name) for name in ALGORITHMS}
    return pl.DataFrame({"erases_left": [_told(*each) for each in _classes()]} | columns)
