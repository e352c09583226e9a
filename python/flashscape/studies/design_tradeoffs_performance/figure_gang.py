"""Gangs with shared control lines, asynchronous and synchronous, by workload."""

from __future__ import annotations

from statistics import geometric_mean
from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots

from ._loads import (
    LOADS,
    by_organisation,
    in_short,
    mean,
    overloaded,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

WAYS = {
    "baseline": "asynchronous, each package by itself",
    "synchronous": "synchronous",
    "gang-pool": "asynchronous, if packages allocate together",
    "gang-rounds": "asynchronous, if rounds are in common",
}
"""The paper's two kinds of gang, and other readings of "asynchronous".

Packages by themselves equal the baseline, because commands occupy the control lines for no time.
"""

_FIGURES = {"asynchronous": "baseline", "synchronous": "synchronous"}
"""Runs that the claim is judged by."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return all workloads on gangs of eight packages."""
    return by_organisation(setting, LOADS, WAYS)


def _times(runs: Outcomes, load: str, way: str, over: str = "baseline") -> float:
    return mean(runs[f"{load}-{way}"]) / mean(runs[f"{load}-{over}"])


def _by_load(runs: Outcomes, way: str, over: str) -> str:
    return ", ".join(f"{name} {_times(runs, load, way, over):.2f}" for load, name in LOADS.items())


@exhibit.measures("A-11")
def worse(runs: Outcomes) -> Answer:
    """Compare synchronous gangs with asynchronous ones, and with those that share more."""
    figures = {
        f"{load}_{figure}_mean_ns": mean(runs[f"{load}-{way}"])
        for load in LOADS
        for figure, way in _FIGURES.items()
    }
    figures["overall_times"] = geometric_mean(_times(runs, load, "synchronous") for load in LOADS)
    ours = (
        f"synchronous over asynchronous: {_by_load(runs, 'synchronous', 'baseline')}. Were "
        f"asynchronous packages to allocate together: {_by_load(runs, 'synchronous', 'gang-pool')};"
        f" were their rounds in common: {_by_load(runs, 'synchronous', 'gang-rounds')}"
    )
    written = ", ".join(
        f"{name} {_written(runs, load, 'synchronous') / _written(runs, load, 'baseline'):.2f}"
        for load, name in LOADS.items()
    )
    reason = f"Bytes that a synchronous gang programs, over those of an asynchronous one: {written}"
    return Answer(ours, figures, reason)


def _written(runs: Outcomes, load: str, way: str) -> float:
    """Return bytes programmed to flash per byte written by hosts."""
    return float(runs[f"{load}-{way}"].result.summary["write_amplification"]["total"])


@exhibit.draws("by-control")
def drawn(runs: Outcomes) -> Picture:
    """Draw mean latencies relative to those of independent packages."""
    groups: dict[str, dict[str, float | None]] = {
        told: {name: _times(runs, load, way) for way, name in WAYS.items()}
        for load, told in LOADS.items()
    }
    return plots.bars(
        groups,
        plots.Looks(*WAYS.values()),
        label="mean latency, over packages by themselves",
        title="Gangs of eight packages that share control lines, by workload",
        overloaded={
            (told, name)
            for load, told in LOADS.items()
            for way, name in WAYS.items()
            if overloaded(runs[f"{load}-{way}"])
        },
    )


@exhibit.tabulates("by-control")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the figures behind the plot."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "workload": told,
                "organisation": name,
                **in_short(runs[f"{load}-{way}"]),
                "over_packages_by_themselves": _times(runs, load, way),
            }
            for load, told in LOADS.items()
            for way, name in WAYS.items()
        ]
    )
