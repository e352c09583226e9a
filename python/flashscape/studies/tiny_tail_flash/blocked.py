"""Reads that wait for collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Figure, plots

from ._drives import FULL, LEVELS, LOOKS
from ._runs import (
    RATES,
    drawn_with,
    emptiest,
    listed,
    no_better,
    result,
    runs_of,
    share,
    shares,
)
from ._traces import TRACES

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

_LEVELS = [level for level in LEVELS if not level.startswith("nogc")]


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each trace at each level that collects."""
    return runs_of(setting, _LEVELS)


def _drops(base: Figure, ttflash: Figure) -> list[float]:
    """Return the factors by which shares fall; no blocked read counts as one."""
    reads = ttflash.samples or 1
    return [
        float(before) / max(float(after), 1 / reads)
        for before, after in zip(base.numbers, ttflash.numbers, strict=True)
    ]


@exhibit.measures("T-6")
def blocked(runs: Outcomes) -> Answer:
    """Return the shares of blocked reads under Base and with ttFlash."""
    base, ttflash = (shares(runs, level, "blocked") for level in ("base", FULL))
    figures = {
        "base_blocked_share": base,
        "ttflash_blocked_share": ttflash,
        "least_drop_times": round(min(_drops(base, ttflash)), 1),
    }
    ours = f"Base {listed(base, 'share')}; ttFlash {listed(ttflash, 'share')}"
    return Answer(ours, figures, f"{emptiest(runs)}. {RATES}", no_better(runs))


@exhibit.draws("blocked")
def drawn(runs: Outcomes) -> Picture:
    """Draw the share of blocked reads of each trace and level."""
    groups = {
        trace.title: {
            LEVELS[level]: share(result(runs, name, level), "blocked") for level in _LEVELS
        }
        for name, trace in TRACES.items()
    }
    return plots.bars(
        groups,
        LOOKS,
        unit="share",
        label="reads that wait for collection",
        log=True,
        title=drawn_with(runs),
    )
