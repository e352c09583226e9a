"""Reads at queue depth 1 against write disturbance: bands, sets, ping-pong, suspension alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Figure, plots

from . import _cases
from ._cases import CASES, LARGE
from ._reads import (
    NO_BETTER,
    by_rate,
    listed,
    mean,
    rows,
    tail,
    times,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

LOOKS = plots.Looks(*(case.title for case in CASES.values()))


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each configuration, undisturbed and with each of its rates of writes."""
    return _cases.runs(setting, CASES)


@exhibit.measures("N-4")
def single_drive(runs: Outcomes) -> Answer:
    """Return p99.9 of reads without sets and with them, at the greatest disturbance."""
    without, within = tail(runs, "bands", LARGE[-1]), tail(runs, "others", LARGE[-1])
    figures = {"bands_read_p99_9_ns": without, "sets_read_p99_9_ns": within}
    ours = f"{without.text('ns')} without sets, {within.text('ns')} with them"
    return Answer(ours, figures, no_better=NO_BETTER)


@exhibit.measures("N-5")
def flat(runs: Outcomes) -> Answer:
    """Return mean and p99.9 by disturbance in multiples of the undisturbed ones."""
    figures = {
        f"{name}_{what}_times": times(runs, case, CASES[case].rates, measure)
        for name, case in (
            ("bands", "bands"),
            ("sets", "others"),
            ("another", "another"),
            ("ping_pong", "ping-pong"),
        )
        for what, measure in (("mean", mean), ("p99_9", tail))
    }
    ours = "; ".join(
        f"{title} {listed(figures[f'{name}_p99_9_times'])}"
        for name, title in (
            ("bands", "p99.9 of bands"),
            ("sets", "sets"),
            ("ping_pong", "ping-pong"),
        )
    )
    return Answer(ours, figures, no_better=NO_BETTER)


@exhibit.measures("N-9")
def suspended(runs: Outcomes) -> Answer:
    """Return the greatest p99.9 with suspension alone, in multiples of the undisturbed one."""
    found, without = (times(runs, case, LARGE, tail) for case in ("suspends", "bands"))
    values = found.value if isinstance(found.value, tuple) else ()
    most = max((each for each in values if each is not None), default=None)
    ours = f"p99.9 {listed(found)} times the undisturbed one; without it {listed(without)} times"
    figure = Figure(most, found.samples, found.beyond)
    return Answer(ours, {"suspension_most_times": figure}, no_better=NO_BETTER)


@exhibit.tabulates("reads")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each configuration and rate."""
    import polars as pl

    return pl.DataFrame(rows(runs, CASES))


@exhibit.draws("reads")
def drawn(runs: Outcomes) -> Picture:
    """Draw mean and p99.9 of reads by the rate of writes."""
    return by_rate(runs, CASES, LOOKS)
