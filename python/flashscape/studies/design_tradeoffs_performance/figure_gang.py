"""Gangs with shared control lines, asynchronous and synchronous, by workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots
from flashscape.studies.design_tradeoffs_performance._drives import (
    asynchronous,
    gang_rounds,
    synchronous,
)
from flashscape.studies.design_tradeoffs_performance._loads import LOADS, loaded, mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

WAYS = {
    "baseline": "asynchronous",
    "gang-rounds": "asynchronous, rounds of the gang",
    "synchronous": "synchronous",
}
"""Asynchronous packages are those of the baseline: control lines take no time here."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """All workloads on gangs of eight packages."""
    drives = {
        "baseline": asynchronous(),
        "gang-rounds": gang_rounds(),
        "synchronous": synchronous(),
    }
    return [loaded(setting, name, load, drive) for load in LOADS for name, drive in drives.items()]


def _ns(runs: Outcomes, load: str, way: str) -> float:
    return mean(runs[f"{load}-{way}"])


@exhibit.measures("A-11")
def worse(runs: Outcomes) -> Answer:
    """Synchronous beside asynchronous; and beside a gang of which rounds are common."""
    figures = {}
    told = []
    for load, name in LOADS.items():
        means = {way: _ns(runs, load, way) for way in WAYS}
        figures[f"{load}_asynchronous_mean_ns"] = means["baseline"]
        figures[f"{load}_synchronous_mean_ns"] = means["synchronous"]
        times = means["synchronous"] / means["baseline"]
        common = means["gang-rounds"] / means["baseline"]
        told.append(f"{name} {times:.2f} times ({common:.2f} with rounds of the gang)")
    return Answer(", ".join(told), figures)


@exhibit.draws("by-control")
def drawn(runs: Outcomes) -> Picture:
    """Means over that of the baseline."""
    groups: dict[str, dict[str, float | None]] = {
        told: {
            name: _ns(runs, load, way) / _ns(runs, load, "baseline") for way, name in WAYS.items()
        }
        for load, told in LOADS.items()
    }
    return plots.bars(groups, plots.Looks(*WAYS.values()), label="mean latency, over asynchronous")
