"""The threshold of cleaning, by workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Run, along, plots
from flashscape.studies.design_tradeoffs_performance._drives import PAGE_BYTES, threshold
from flashscape.studies.design_tradeoffs_performance._loads import (
    CLEANED,
    EXCHANGE_WHOLE,
    FRESH,
    LOADS,
    TPCC_WRITTEN,
    TRACES,
    cleaned,
    exchange_writing,
    exchange_written,
    in_short,
    loaded,
    mean,
    overloaded,
    traced,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

PERCENT = (2, 5, 8, 10)
"""Around the paper's 5 %; the reserve is 15 %."""

_NARROW = 0.01
"""Share of the space for writes of Exchange that hardly spread."""

_PAGES = 63
"""Of data in a block."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """All workloads at all thresholds, each on a drive that it has made clean before.

    Then what decides how much TPC-C and Exchange rise: where they write, and whether the drive
    cleans from the beginning. With all of the reserve free both are as long as their traces.
    """
    found = []
    for load in LOADS:
        more = _steady(setting, load)
        found += [
            loaded(setting, f"threshold-{percent}", load, threshold(percent), **more)
            for percent in PERCENT
        ]
    states: dict[str, tuple[str, dict[str, Any]]] = {
        "tpcc-fresh": ("tpcc", {"precondition": FRESH, "run": {"time": "1800 s"}}),
        "exchange-fresh": ("exchange", {"precondition": FRESH, "run": EXCHANGE_WHOLE}),
    }
    for name, share in (("exchange-as-tpcc", TPCC_WRITTEN), ("exchange-narrow", _NARROW)):
        writes = {"precondition": cleaned(share), "workload": exchange_writing(share)}
        states[name] = ("exchange", writes)
    for name, (load, more) in states.items():
        state = name.removeprefix(f"{load}-")
        found += [
            loaded(setting, f"{state}-threshold-{percent}", load, threshold(percent), **more)
            for percent in (PERCENT[0], PERCENT[-1])
        ]
    return found


def _steady(setting: Setting, load: str) -> dict[str, Any]:
    """What makes a drive clean all the time, at any threshold.

    Stand-ins overwrite where they write; traces are played before, and the first of their writes
    take all of the reserve. On a drive with that free it would be the threshold that decides when
    cleaning begins, too.
    """
    if load in TRACES:
        streams, run = traced(setting, load, after_itself=True)
        return {"workload": streams, "run": run}
    return {"precondition": CLEANED if load == "tpcc" else cleaned(exchange_written())}


def _ns(runs: Outcomes, load: str, percent: int) -> float:
    return mean(runs[f"{load}-threshold-{percent}"])


def _moved(runs: Outcomes, load: str, percent: int) -> float:
    """Pages moved for each that hosts wrote."""
    wa = runs[f"{load}-threshold-{percent}"].result.summary["write_amplification"]
    return float(wa["gc"])


def _blocks(runs: Outcomes, load: str, percent: int) -> int:
    return int(runs[f"{load}-threshold-{percent}"].result.summary["collection"]["blocks"])


def _paid(runs: Outcomes, load: str, percent: int) -> float:
    """Blocks cleaned for each that hosts fill: 1 where the drive cleans all the time."""
    host = runs[f"{load}-threshold-{percent}"].result.summary["write_amplification"]["host_bytes"]
    return _blocks(runs, load, percent) * _PAGES * PAGE_BYTES / float(host)


def _rise(runs: Outcomes, load: str) -> str:
    """By how much the mean is longer at the highest threshold than at the lowest."""
    return f"{_ns(runs, load, PERCENT[-1]) / _ns(runs, load, PERCENT[0]) - 1:+.1%}"


@exhibit.measures("A-14")
def slopes(runs: Outcomes) -> Answer:
    """Means and pages moved by threshold."""
    figures: dict[str, object] = {
        "tpcc_mean_ns": along(_ns(runs, "tpcc", percent) for percent in PERCENT),
        "tpcc_moved": along(_moved(runs, "tpcc", percent) for percent in PERCENT),
        "tpcc_least_mean_ns": _ns(runs, "tpcc", PERCENT[0]),
        "tpcc_most_mean_ns": _ns(runs, "tpcc", PERCENT[-1]),
    }
    for load in LOADS:
        if load != "tpcc":
            figures[f"{load}_mean_ns"] = along(_ns(runs, load, p) for p in PERCENT[1:])
            figures[f"{load}_least_mean_ns"] = _ns(runs, load, PERCENT[0])
    told = ", ".join(f"{LOADS[load]} {_rise(runs, load)}" for load in LOADS)
    ends = PERCENT[0], PERCENT[-1]
    moved = ", ".join(
        f"{name} {' to '.join(f'{_moved(runs, load, percent):.2f}' for percent in ends)}"
        for load, name in LOADS.items()
    )
    least = min(_paid(runs, load, percent) for load in LOADS for percent in PERCENT)
    ours = (
        f"from {PERCENT[0]} % to {PERCENT[-1]} %: {told}; pages moved for each written: {moved}; "
        f"at least {least:.2f} blocks are cleaned for each that a workload fills"
    )
    reason = (
        f"Exchange writes to {exchange_written():.0%} of the space here, where little of a victim "
        f"is superseded. If its writes go to as little as TPC-C's ({TPCC_WRITTEN:.0%}) it changes "
        f"by {_rise(runs, 'exchange-as-tpcc')}, and by {_rise(runs, 'exchange-narrow')} if they go "
        f"to {_NARROW:.0%}. Where it begins with all of the reserve free it cleans "
        f"{_blocks(runs, 'exchange-fresh', PERCENT[0]):,} blocks in its 15 minutes at "
        f"{PERCENT[0]} % and {_blocks(runs, 'exchange-fresh', PERCENT[-1]):,} at {PERCENT[-1]} %, "
        f"and changes by {_rise(runs, 'exchange-fresh')}, and TPC-C in its 30 by "
        f"{_rise(runs, 'tpcc-fresh')}. So where Exchange writes decides, which is not known"
    )
    return Answer(ours, figures, reason)


@exhibit.draws("by-threshold")
def drawn(runs: Outcomes) -> Picture:
    """Means over those at the lowest threshold, and pages moved."""
    latency = {
        told: [(float(p) / 100, _ns(runs, load, p) / _ns(runs, load, PERCENT[0])) for p in PERCENT]
        for load, told in LOADS.items()
    }
    moved = {
        told: [(float(p) / 100, _moved(runs, load, p)) for p in PERCENT]
        for load, told in LOADS.items()
    }
    panels = {"mean latency, over that at 2 %": latency, "pages moved for each written": moved}
    looks = plots.Looks(*LOADS.values())
    return plots.lines(
        panels,
        looks,
        x_label="free blocks below which the drive cleans",
        x_unit="share",
        log_x=False,
        title="The threshold of cleaning, by workload; equal points are drawn beside each other",
        apart=True,
        overloaded={
            (told, float(percent) / 100)
            for load, told in LOADS.items()
            for percent in PERCENT
            if overloaded(runs[f"{load}-threshold-{percent}"])
        },
    )


@exhibit.tabulates("by-threshold")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """The figures behind it."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "workload": LOADS[load],
                "threshold_percent": percent,
                **in_short(runs[f"{load}-threshold-{percent}"]),
                "moved_for_each_written": _moved(runs, load, percent),
                "cleaned_blocks": _blocks(runs, load, percent),
                "cleaned_for_each_filled": _paid(runs, load, percent),
            }
            for load in LOADS
            for percent in PERCENT
        ]
    )
