"""Reads of a set that is written, too: first come, reads first, pressure management, suspension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Figure, Run, along, percentile, plots

from . import _cases
from ._firmware import FIRMWARE
from ._reads import (
    NO_BETTER,
    PERCENT,
    by_rate,
    mean,
    rows,
    tail,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

REASON = (
    "A limit takes nothing from the time for which programs and erases occupy dies: it spreads "
    "bursts, so that fewer dies are busy at a time and for longer, and a closed loop, which hardly "
    "reads in a burst, then meets more of them"
)
"""Reason for which the mean read is not shorter; docs/reproduce.md has the figures."""

DRAWN = {name: case for name, case in FIRMWARE.items() if name != "same-3"}
"""Firmware of the picture: as many kinds as can be told apart."""

LOOKS = plots.Looks(*(case.title for case in DRAWN.values()))


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each kind of firmware, undisturbed and with each of its rates of writes."""
    return _cases.runs(setting, FIRMWARE) + [
        Run(_open_name(name, rate), _open(setting, name, rate))
        for name in PAIR.values()
        for rate in FIRMWARE["same-1"].rates
    ]


BESIDE = {"sets": "same-batches", "managed": "same-4"}
"""The preset, and pressure management: reads first, and at most a program for each die."""

LEAST = 1_600
"""Least rate of writes that is judged: with fewer, hardly any program waits, with any firmware."""

PAIR = {"unlimited": "same-reads-first", "managed": "same-1"}
"""Both serve reads first, so that only a limit of one program of the set differs."""

SUSPENDED = {"suspension": "same-suspends", "managed": "same-1-suspends"}
"""The same beside suspension."""

OPEN_READS = {"process": "poisson", "rate": "2 kIOPS"}
"""Reads that come whatever the drive does: a closed loop reads least when the set is busiest."""


def _open_name(name: str, rate: int) -> str:
    return f"{name}-open-{rate}"


def _open(setting: Setting, name: str, rate: int) -> dict[str, Any]:
    """Return the experiment of a kind of firmware with reads at random moments."""
    experiment = FIRMWARE[name].experiment(setting, rate)
    [reads, *others] = experiment["workload"]
    reads = {key: value for key, value in reads.items() if key != "queue_depth"}
    title = f"{experiment['title']}, reads at random moments"
    workload = [reads | {"arrivals": OPEN_READS}, *others]
    return experiment | {"title": title, "workload": workload}


def _closed(runs: Outcomes, cases: dict[str, str], least: int = 0) -> dict[str, Figure]:
    """Return mean and p99.9 of both cases at the rates that a set takes in the managed one."""
    rates = [rate for rate in FIRMWARE[cases["managed"]].rates if rate >= least]
    return {
        f"{name}_{what}_ns": along(measure(runs, case, rate) for rate in rates)
        for name, case in cases.items()
        for what, measure in (("read_mean", mean), ("read_p99_9", tail))
    }


def _told(figures: dict[str, Figure], without: str) -> str:
    return "; ".join(
        f"{what} {figures[f'managed_read_{key}_ns'].text('ns')}, without "
        f"{figures[f'{without}_read_{key}_ns'].text('ns')}"
        for what, key in (("mean", "mean"), ("p99.9", "p99_9"))
    )


@exhibit.measures("N-6")
def managed(runs: Outcomes) -> Answer:
    """Return the reads of a set that is written, with pressure management and without."""
    figures = _closed(runs, BESIDE, LEAST)
    return Answer(_told(figures, "sets"), figures, no_better=NO_BETTER)


@exhibit.measures("N-6l")
def limited(runs: Outcomes) -> Answer:
    """Return the same with reads first in both, and with a limit of one program of the set."""
    figures = _closed(runs, PAIR)
    return Answer(_told(figures, "unlimited"), figures, reason=REASON, no_better=NO_BETTER)


@exhibit.measures("N-6o")
def managed_open(runs: Outcomes) -> Answer:
    """Return the same with reads at random moments."""
    rates = FIRMWARE["same-1"].rates
    figures = {}
    for name, case in PAIR.items():
        reads = [runs[_open_name(case, rate)].result.read for rate in rates]
        figures[f"{name}_read_mean_ns"] = along(Figure(each.mean, each.requests) for each in reads)
        figures[f"{name}_read_p99_9_ns"] = along(percentile(each, PERCENT) for each in reads)
    return Answer(_told(figures, "unlimited"))


@exhibit.measures("N-6s")
def managed_suspended(runs: Outcomes) -> Answer:
    """Return the reads of a set with suspension, with a limit of programs and without."""
    figures = _closed(runs, SUSPENDED)
    return Answer(_told(figures, "suspension"), figures, no_better=NO_BETTER)


@exhibit.tabulates("firmware")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each kind of firmware and rate."""
    import polars as pl

    return pl.DataFrame(rows(runs, FIRMWARE))


@exhibit.draws("firmware")
def drawn(runs: Outcomes) -> Picture:
    """Draw mean and p99.9 of reads by the rate of writes."""
    return by_rate(runs, DRAWN, LOOKS)
