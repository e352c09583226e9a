"""Table 4: Exchange on packages that share a bus, all of a gang or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots
from flashscape.studies.design_tradeoffs_performance._drives import shared_bus
from flashscape.studies.design_tradeoffs_performance._loads import LOADS, loaded, mean

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

GANGS = (1, 8, 16)

_PACKAGES = 16
"""So that there is one gang of 16: its 900 requests a second are two gangs' of 8 in turn."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Sixteen packages on sixteen buses, two, or one."""
    return [
        loaded(setting, f"bus-{gang}-of-16", "exchange", shared_bus(gang, _PACKAGES))
        for gang in GANGS
    ]


def _ns(runs: Outcomes, gang: int) -> float:
    return mean(runs[f"exchange-bus-{gang}-of-16"])


def _spread(runs: Outcomes, gang: int) -> float:
    """The busiest gang over the mean of all."""
    units = runs[f"exchange-bus-{gang}-of-16"].result.summary["utilisation"]["units"]
    return float(units["max"] / units["mean"])


def _figures(runs: Outcomes) -> dict[str, float]:
    figures = {}
    for gang, name in {1: "none", 8: "gang_8", 16: "gang_16"}.items():
        figures[f"{name}_mean_ns"] = _ns(runs, gang)
        figures[f"{name}_requests_per_second"] = 1e9 / _ns(runs, gang)
    return figures


@exhibit.measures("A-10")
def fast_enough(runs: Outcomes) -> Answer:
    """Mean latency by gang, and what one of 16 serves."""
    figures = _figures(runs)
    del figures["none_requests_per_second"], figures["gang_8_requests_per_second"]
    ours = (
        f"{' / '.join(f'{_ns(runs, gang) / 1e3:.0f}' for gang in GANGS)} us; a gang of 16 "
        f"{figures['gang_16_requests_per_second']:.0f} IOPS; the busier of two gangs of 8 has "
        f"{_spread(runs, 8):.3f} times the mean load"
    )
    return Answer(ours, figures)


@exhibit.measures("A-10n")
def numbers(runs: Outcomes) -> Answer:
    """Mean latency, and requests a second of a gang that serves one at a time."""
    ours = (
        f"{' / '.join(f'{_ns(runs, gang) / 1e3:.0f}' for gang in GANGS)} us; "
        f"{' / '.join(f'{1e9 / _ns(runs, gang):.0f}' for gang in GANGS)} IOPS a gang"
    )
    busy = runs["exchange-bus-16-of-16"].result.summary["utilisation"]["units"]["mean"]
    reason = (
        "The stand-in's sizes (exponential, mean 8 KB) and Poisson arrivals are not the trace's, "
        f"which is not public; the gang of 16 is busy for {busy:.0%} of the time"
    )
    return Answer(ours, _figures(runs), reason)


@exhibit.draws("by-gang")
def drawn(runs: Outcomes) -> Picture:
    """Means beside the paper's, as they are remembered."""
    told = LOADS["exchange"]
    groups: dict[str, dict[str, float | None]] = {}
    references = {}
    for gang, paper in zip(GANGS, (237e3, 553e3, 746e3), strict=True):
        name = "no gang" if gang == 1 else f"gang of {gang}"
        groups[name] = {told: _ns(runs, gang)}
        references[name, told] = paper
    title = "the paper's figures from memory"
    return plots.bars(
        groups,
        plots.Looks(told),
        unit="ns",
        label="mean latency",
        title=title,
        references=references,
    )


@exhibit.tabulates("by-gang")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """The table of the paper."""
    import polars as pl

    return pl.DataFrame(
        {
            "gang": GANGS,
            "mean_ns": [_ns(runs, gang) for gang in GANGS],
            "requests_per_second_of_a_gang": [1e9 / _ns(runs, gang) for gang in GANGS],
            "busiest_over_mean": [_spread(runs, gang) for gang in GANGS],
        }
    )
