"""Mean reads of ttFlash beside Base with RAIN, and beside a drive without collection and RAIN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots

from ._drives import FULL, LEVELS, LOOKS
from ._runs import (
    RATES,
    check_no_collection,
    drawn_with,
    emptiest,
    listed,
    mean_times,
    no_better,
    reads,
    runs_of,
)
from ._traces import TRACES

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

_LEVELS = ("base", "base-rain", FULL, "nogc", "nogc-plain")


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each trace at the compared levels."""
    return runs_of(setting, _LEVELS)


@exhibit.measures("T-7")
def faster(runs: Outcomes) -> Answer:
    """Return the mean read under Base with RAIN in multiples of ttFlash's."""
    ours = mean_times(runs, "base-rain", FULL)
    figures = {"base_rain_mean_times": ours}
    return Answer(listed(ours), figures, f"{emptiest(runs)}. {RATES}", no_better(runs))


@exhibit.measures("T-8")
def slower(runs: Outcomes) -> Answer:
    """Return ttFlash's mean read in multiples of that without collection and RAIN."""
    check_no_collection(runs)
    ours = mean_times(runs, FULL, "nogc-plain")
    reason = "Parity delays few reads of a trace that writes little, such as EXCH"
    return Answer(listed(ours), {"ttflash_mean_times": ours}, reason, no_better(runs))


@exhibit.draws("means")
def drawn(runs: Outcomes) -> Picture:
    """Draw the mean read of each trace and level."""
    groups = {
        trace.title: {LEVELS[level]: reads(runs, name, level).mean for level in _LEVELS}
        for name, trace in TRACES.items()
    }
    return plots.bars(groups, LOOKS, unit="ns", label="mean read", log=True, title=drawn_with(runs))
