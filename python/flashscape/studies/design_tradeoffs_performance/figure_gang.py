"""Gangs with shared control lines, asynchronous and synchronous, by workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots
from flashscape.studies.design_tradeoffs_performance._drives import (
    baseline,
    gang_pool,
    gang_rounds,
    synchronous,
)
from flashscape.studies.design_tradeoffs_performance._loads import (
    LOADS,
    by_organisation,
    mean,
    overloaded,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

_DRIVES = {
    "baseline": baseline,
    "gang-pool": gang_pool,
    "gang-rounds": gang_rounds,
    "synchronous": synchronous,
}

WAYS = {
    "baseline": "asynchronous, each package by itself",
    "gang-pool": "asynchronous, packages allocate together",
    "gang-rounds": "asynchronous, rounds in common",
    "synchronous": "synchronous",
}
"""Packages by themselves are those of the baseline, as control lines take no time here."""

_FIGURES = {"baseline": "asynchronous"} | {way: way.replace("-", "_") for way in [*WAYS][1:]}


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """All workloads on gangs of eight packages."""
    return by_organisation(setting, LOADS, {name: made() for name, made in _DRIVES.items()})


def _ns(runs: Outcomes, load: str, way: str) -> float:
    return mean(runs[f"{load}-{way}"])


def _times(runs: Outcomes, load: str, way: str) -> float:
    return _ns(runs, load, way) / _ns(runs, load, "baseline")


@exhibit.measures("A-11")
def worse(runs: Outcomes) -> Answer:
    """Synchronous gangs beside asynchronous ones that have more or less in common."""
    figures = {}
    told = []
    for load, name in LOADS.items():
        for way, figure in _FIGURES.items():
            figures[f"{load}_{figure}_mean_ns"] = _ns(runs, load, way)
        times = _ns(runs, load, "synchronous")
        others = " and ".join(
            f"{times / _ns(runs, load, way):.2f}" for way in ("gang-pool", "gang-rounds")
        )
        told.append(f"{name} {times / _ns(runs, load, 'baseline'):.2f} times ({others})")
    ours = (
        "synchronous over asynchronous packages by themselves (that allocate together, that have "
        f"rounds in common): {', '.join(told)}"
    )
    slower = ", ".join(
        f"{name} {_times(runs, load, 'gang-rounds'):.2f}" for load, name in LOADS.items()
    )
    reason = (
        "Where the operations of all packages begin and end together an asynchronous gang takes "
        f"so many times as long as where each package goes on by itself: {slower}"
    )
    return Answer(ours, figures, reason)


@exhibit.draws("by-control")
def drawn(runs: Outcomes) -> Picture:
    """Means over those of packages by themselves."""
    groups: dict[str, dict[str, float | None]] = {
        told: {name: _times(runs, load, way) for way, name in WAYS.items()}
        for load, told in LOADS.items()
    }
    return plots.bars(
        groups,
        plots.Looks(*WAYS.values()),
        label="mean latency, over packages by themselves",
        title="Gangs of eight packages that share control lines, by workload",
    )


@exhibit.tabulates("by-control")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """The figures behind it."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "workload": told,
                "organisation": name,
                "mean_ns": _ns(runs, load, way),
                "over_packages_by_themselves": _times(runs, load, way),
                "overloaded": overloaded(runs[f"{load}-{way}"]),
            }
            for load, told in LOADS.items()
            for way, name in WAYS.items()
        ]
    )
