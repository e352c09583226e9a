"""Ping-pong by its period: the shortest one with which reads are flat.

A period that is too short leaves a member no time to collect what it has written before it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots

from . import _cases
from ._cases import PERIOD_S, ping_pong_case
from ._reads import (
    PERCENT,
    mean,
    number,
    ratio,
    result,
    rows,
    tail,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

    from ._cases import Case
    from ._reads import Measure

exhibit = Exhibit()

PERIODS = (0.5, 1, 2, 3, 4, 8)
"""Seconds for which a member writes."""

RATES = (3_200, 6_400)
"""Writes a second: the two highest rates of the disturbance, 40 and 80 % of what a member takes."""

FLAT = 1.2
"""Greatest multiple of the undisturbed read that is flat: the reading of N-5."""


def _name(period: float) -> str:
    return "ping-pong" if period == PERIOD_S else f"ping-pong-{period:g}s"


CASES: dict[str, Case] = {
    _name(period): ping_pong_case(
        _cases.CASES["ping-pong"].title
        if period == PERIOD_S
        else f"ping-pong over two sets, periods of {period:g} s",
        RATES,
        period,
    )
    for period in PERIODS
}
"""Ping-pong by period."""

_TITLES = {rate: f"{rate:,} writes/s" for rate in RATES}

LOOKS = plots.Looks(*_TITLES.values())


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each period, undisturbed and with each rate of writes."""
    return _cases.runs(setting, CASES)


def _swaps(runs: Outcomes, period: float, rate: int) -> tuple[int, int]:
    """Return the swaps, and the members that still collected at one."""
    plan = result(runs, _name(period), rate).summary["array"]["plan"]
    return plan["swaps"], plan["collecting_at_swaps"]


def flat(runs: Outcomes, period: float, rate: int) -> bool | None:
    """Return whether mean and p99.9 are flat; None if there are too few reads to tell."""
    found = [_times(runs, period, rate, each) for each in (mean, tail)]
    return None if None in found else max(each or 0.0 for each in found) <= FLAT


def _times(runs: Outcomes, period: float, rate: int, measure: Measure) -> float | None:
    name = _name(period)
    return ratio(number(measure(runs, name, rate)), number(measure(runs, name, 0)) or 0.0)


@exhibit.measures("N-17")
def by_period(runs: Outcomes) -> Answer:
    """Return p99.9 by period, in multiples of the undisturbed one, and members that collected."""
    told = []
    for rate in RATES:
        parts = []
        for period in PERIODS:
            swaps, collecting = _swaps(runs, period, rate)
            value = _times(runs, period, rate, tail)
            shown = "of too few reads" if value is None else f"{value:.2f} times"
            parts.append(f"{period:g} s {shown} ({collecting} of {swaps} swaps collecting)")
        told.append(f"{_TITLES[rate]}: {', '.join(parts)}")
    return Answer(f"p{PERCENT:g} by period: {'; '.join(told)}")


@exhibit.tabulates("periods")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each period and rate."""
    import polars as pl

    made = []
    points = [(period, rate) for period in PERIODS for rate in (0, *RATES)]
    for row, (period, rate) in zip(rows(runs, CASES), points, strict=True):
        swaps, collecting = _swaps(runs, period, rate) if rate else (None, None)
        more = {"period_s": float(period), "swaps": swaps, "collecting_at_swaps": collecting}
        made.append(row | more | {"flat": flat(runs, period, rate) if rate else None})
    return pl.DataFrame(made, infer_schema_length=None)


@exhibit.draws("periods")
def drawn(runs: Outcomes) -> Picture:
    """Draw mean and p99.9 of reads by period, with the limit of what is flat."""
    measures: dict[str, Measure] = {"mean read": mean, f"p{PERCENT:g} of reads": tail}
    panels = {
        label: {
            _TITLES[rate]: [
                (period * 1e9, number(measure(runs, _name(period), rate)) or 0.0)
                for period in PERIODS
            ]
            for rate in RATES
        }
        for label, measure in measures.items()
    }
    lines = {}
    for label, measure in measures.items():
        alone = number(measure(runs, _name(PERIOD_S), 0)) or 0.0
        text = f"flat: {FLAT:g} times the undisturbed read"
        lines[label] = [plots.Reference(FLAT * alone, text)]
    return plots.lines(
        panels,
        LOOKS,
        x_label="period",
        x_unit="ns",
        units=dict.fromkeys(panels, "ns"),
        log=True,
        references=lines,
        apart=True,
    )
