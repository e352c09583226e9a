"""The levels of the paper: cumulative curves of reads as one technique follows the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, along, plots

from ._drives import FULL, LEVELS, LOOKS, STEPS
from ._runs import listed, no_better, reads, runs_of, tail
from ._traces import TRACES

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Figure, Outcomes, Run, Setting

exhibit = Exhibit()

_NAMES = {"base-rain": "base", "pb": "pb", "gtr": "gtr", FULL: "ttflash"}
"""Levels of the claim, by their names in its figures; rotation and flush are one step there."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each trace at each level."""
    return runs_of(setting, LEVELS)


def _tails(runs: Outcomes, level: str, percent: float) -> Figure:
    return along(tail(runs, trace, level, percent) for trace in TRACES)


@exhibit.measures("T-10")
def steps(runs: Outcomes) -> Answer:
    """Return two percentiles of reads at each level."""
    figures = {
        f"{name}_p{percent:g}_ns".replace(".", "_"): _tails(runs, level, percent)
        for percent in (99, 99.9)
        for level, name in _NAMES.items()
    }
    told = (f"{LEVELS[level]} {listed(_tails(runs, level, 99.9), 'ns')}" for level in STEPS)
    return Answer(f"p99.9: {'; '.join(told)}", figures, no_better=no_better(runs))


@exhibit.draws("reads")
def drawn(runs: Outcomes) -> Picture:
    """Draw the cumulative curve of reads of each trace, a curve for each level."""
    panels = {
        f"{trace.title}{'' if no_better(runs) is None else ' (synthetic)'}": {
            title: reads(runs, name, level) for level, title in LEVELS.items()
        }
        for name, trace in TRACES.items()
    }
    return plots.tails(panels, LOOKS)
