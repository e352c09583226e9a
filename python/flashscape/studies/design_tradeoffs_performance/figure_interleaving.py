"""Interleaving inside packages, by workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Run, along, plots

from ._drives import INTERLEAVED, interleaved
from ._loads import (
    FRESH,
    LOADS,
    TRACES,
    by_organisation,
    in_short,
    mean,
    overloaded,
    pages_queued,
    traced,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

_LOOKS = plots.Looks(*LOADS.values())

_DEPTH = 8
"""Queue depth for traces that are replayed as fast as possible: one request per package."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return every workload at its own pace, and the traces as fast as the drive serves them."""
    names = [_name(degree) for degree in INTERLEAVED]
    fast = [_fast(setting, load, degree) for load in TRACES for degree in INTERLEAVED]
    return by_organisation(setting, LOADS, names) + fast


def _name(degree: int) -> str:
    return "baseline" if degree == 1 else f"interleaved-{degree}"


def _fast(setting: Setting, load: str, degree: int) -> Run:
    streams, run = traced(setting, load, depth=_DEPTH)
    return Run(
        f"{load}-fast-{degree}",
        {
            "title": f"{LOADS[load]} as fast as it goes, interleaved by {degree}",
            "drive": interleaved(degree),
            "precondition": FRESH,
            "workload": streams,
            "run": run,
        },
    )


def _ns(runs: Outcomes, load: str, degree: int) -> float:
    return mean(runs[f"{load}-{_name(degree)}"])


def _rate(runs: Outcomes, load: str, degree: int) -> float:
    """Return requests a second of a trace that is replayed as fast as possible."""
    [host] = runs[f"{load}-fast-{degree}"].result.summary["initiators"]
    return float(host["read"]["iops"]) + float(host["write"]["iops"])


@exhibit.measures("A-7")
def even(runs: Outcomes) -> Answer:
    """Return mean latencies by degree and queued pages, for loads of few and small requests."""
    figures: dict[str, object] = {}
    told = []
    for load in ("tpcc", "exchange"):
        means = [_ns(runs, load, degree) for degree in INTERLEAVED]
        queue = pages_queued(runs[f"{load}-baseline"])
        figures[f"{load}_mean_ns"] = means[0]
        figures[f"{load}_interleaved_mean_ns"] = along(means[1:])
        figures[f"{load}_pages_queued"] = queue
        changes = ", ".join(f"{each / means[0] - 1:+.1%}" for each in means[1:])
        told.append(f"{LOADS[load]} {changes}, {queue:.3f} pages a package")
    return Answer("; ".join(told), figures)


@exhibit.measures("A-8")
def throughput(runs: Outcomes) -> Answer:
    """Return requests a second of the traces, by degree."""
    gains = {
        load: [_rate(runs, load, k) / _rate(runs, load, 1) - 1 for k in (2, 4)] for load in TRACES
    }
    figures = {f"{load}_gain_share": along(gain) for load, gain in gains.items()}
    figures |= {f"{load}_most_gain_share": along(gain[-1:]) for load, gain in gains.items()}
    ours = "; ".join(
        f"{LOADS[load]} {gain[0]:+.0%} by 2 and {gain[1]:+.0%} by 4, "
        f"{pages_queued(runs[f'{load}-baseline']):.1f} pages a package at its own pace"
        for load, gain in gains.items()
    )
    return Answer(ours, figures)


@exhibit.draws("by-degree")
def drawn(runs: Outcomes) -> Picture:
    """Draw mean latency at each workload's own pace, and throughput of the traces."""
    latency = {
        told: [(float(k), _ns(runs, load, k) / _ns(runs, load, 1)) for k in INTERLEAVED]
        for load, told in LOADS.items()
    }
    rates = {
        LOADS[load]: [(float(k), _rate(runs, load, k) / _rate(runs, load, 1)) for k in INTERLEAVED]
        for load in TRACES
    }
    panels = {
        "at their own pace: mean latency, over serial": latency,
        f"{_DEPTH} requests at a time: throughput, over serial": rates,
    }
    return plots.lines(
        panels,
        _LOOKS,
        x_label="operations of a package at a time",
        title="Interleaving inside packages, by workload; equal points are drawn beside each other",
        apart=True,
        overloaded={
            (told, float(k))
            for load, told in LOADS.items()
            for k in INTERLEAVED
            if overloaded(runs[f"{load}-{_name(k)}"])
        },
    )


@exhibit.tabulates("by-degree")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the figures behind the plot."""
    import polars as pl

    rows = []
    for load, told in LOADS.items():
        for degree, unit in INTERLEAVED.items():
            outcome = runs[f"{load}-{_name(degree)}"]
            rows.append(
                {
                    "workload": told,
                    "unit": unit,
                    **in_short(outcome),
                    "pages_queued": pages_queued(outcome),
                    "requests_per_second": _rate(runs, load, degree) if load in TRACES else None,
                }
            )
    return pl.DataFrame(rows)
