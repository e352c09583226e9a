"""The threshold of cleaning, by workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Run, along, plots

from ._drives import PAGE_BYTES, threshold
from ._loads import (
    LOADS,
    TPCC_MOST_PER_SECOND,
    TPCC_PER_SECOND,
    TPCC_WRITTEN,
    TRACES,
    cleaned,
    exchange_of_one,
    exchange_written,
    in_short,
    loaded,
    mean,
    overloaded,
    tpcc_of_one,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

PERCENT = (2, 5, 8, 10)
"""Thresholds around the paper's 5 %; the reserve is 15 %."""

_PAGES = 63
"""Data pages of a block."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return all workloads at all thresholds, on full drives with a free reserve.

    TPC-C ran on six drives and Exchange on ten; each run has one drive's share: for TPC-C by the
    trace's records, and by the lower rate that the paper states. Synthetic traces are as long as
    the originals in both profiles, because the threshold decides when a drive begins to clean.
    Both loads also run on drives that clean all the time.
    """
    found = []
    for load in LOADS:
        more = _share(load)
        found += [
            loaded(setting, f"threshold-{percent}", load, threshold(percent), **more)
            for percent in PERCENT
        ]
    found += [
        loaded(setting, _slow(percent), "tpcc", threshold(percent), **tpcc_of_one(TPCC_PER_SECOND))
        for percent in PERCENT
    ]
    for load, written in (("tpcc", TPCC_WRITTEN), ("exchange", exchange_written())):
        more = _share(load) | {"precondition": cleaned(written)}
        found += [
            loaded(setting, f"steady-threshold-{percent}", load, threshold(percent), **more)
            for percent in (PERCENT[0], PERCENT[-1])
        ]
    return found


def _slow(percent: int) -> str:
    return f"threshold-{percent}-at-{TPCC_PER_SECOND}"


def _share(load: str) -> dict[str, Any]:
    """Return one drive's share of a load; traces are of one drive."""
    if load in TRACES:
        return {}
    return tpcc_of_one(TPCC_MOST_PER_SECOND) if load == "tpcc" else exchange_of_one()


def _ns(runs: Outcomes, load: str, percent: int) -> float:
    return mean(runs[f"{load}-threshold-{percent}"])


def _moved(runs: Outcomes, load: str, percent: int) -> float:
    """Return pages moved per page that hosts wrote."""
    wa = runs[f"{load}-threshold-{percent}"].result.summary["write_amplification"]
    return float(wa["gc"])


def _blocks(runs: Outcomes, load: str, percent: int) -> int:
    return _cleaned(runs, f"{load}-threshold-{percent}")


def _cleaned(runs: Outcomes, run: str) -> int:
    return int(runs[run].result.summary["collection"]["blocks"])


def _paid(runs: Outcomes, load: str, percent: int) -> float:
    """Return blocks cleaned per block that hosts fill: 1 if the drive cleans all the time."""
    host = runs[f"{load}-threshold-{percent}"].result.summary["write_amplification"]["host_bytes"]
    return _blocks(runs, load, percent) * _PAGES * PAGE_BYTES / float(host)


def _rise(runs: Outcomes, load: str) -> str:
    """Return the relative rise of the mean from the lowest to the highest threshold."""
    return f"{_ns(runs, load, PERCENT[-1]) / _ns(runs, load, PERCENT[0]) - 1:+.1%}"


@exhibit.measures("A-14")
def slopes(runs: Outcomes) -> Answer:
    """Return mean latencies and moved pages by threshold."""
    figures: dict[str, object] = {
        "tpcc_mean_ns": along(_ns(runs, "tpcc", percent) for percent in PERCENT),
        "tpcc_moved": along(_moved(runs, "tpcc", percent) for percent in PERCENT),
        "tpcc_least_mean_ns": _ns(runs, "tpcc", PERCENT[0]),
        "tpcc_most_mean_ns": _ns(runs, "tpcc", PERCENT[-1]),
        "tpcc_slow_least_mean_ns": mean(runs[f"tpcc-{_slow(PERCENT[0])}"]),
        "tpcc_slow_most_mean_ns": mean(runs[f"tpcc-{_slow(PERCENT[-1])}"]),
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
    paid = ", ".join(
        f"{name} {' to '.join(f'{_paid(runs, load, percent):.2f}' for percent in ends)}"
        for load, name in LOADS.items()
    )
    slow = mean(runs[f"tpcc-{_slow(PERCENT[-1])}"]) / mean(runs[f"tpcc-{_slow(PERCENT[0])}"]) - 1
    ours = (
        f"from {PERCENT[0]} % to {PERCENT[-1]} %: {told}; TPC-C at {TPCC_PER_SECOND} a second "
        f"instead of {TPCC_MOST_PER_SECOND:.0f} {slow:+.1%}; on drives that clean all the time "
        f"TPC-C {_rise(runs, 'tpcc-steady')} and Exchange {_rise(runs, 'exchange-steady')}; pages "
        f"moved for each written: {moved}; blocks cleaned for each that a workload fills: {paid}"
    )
    return Answer(ours, figures, _why(runs))


def _why(runs: Outcomes) -> str:
    """Return the blocks cleaned at each threshold, and what follows, for the loads of low rate."""
    slow = [_cleaned(runs, f"tpcc-{_slow(percent)}") for percent in PERCENT]
    exchange = [_blocks(runs, "exchange", percent) for percent in PERCENT]
    tpcc = f"TPC-C at {TPCC_PER_SECOND} a second"
    return f"{_told(tpcc, slow)}; {_told('Exchange', exchange)}"


def _told(load: str, blocks: list[int]) -> str:
    """Return the sentence on a load: the drive cleans at no threshold, at some or at all."""
    counts = (
        f"{load}: {_listed(blocks)} blocks cleaned at thresholds of {_listed(PERCENT)} %, because "
    )
    idle = [percent for percent, count in zip(PERCENT, blocks, strict=True) if not count]
    if not idle:
        return f"{counts}the reserve outlasts the trace at none"
    if len(idle) < len(PERCENT):
        return f"{counts}the reserve outlasts the trace only at {_listed(idle)} %"
    return (
        f"{counts}the reserve outlasts the trace at all of them; the mean therefore cannot "
        "depend on the threshold"
    )


def _listed(numbers: Iterable[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last


@exhibit.draws("by-threshold")
def drawn(runs: Outcomes) -> Picture:
    """Draw means relative to that at the lowest threshold, and moved pages."""
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
    """Return the figures behind the plot."""
    import polars as pl

    states = [(f"threshold-{percent}", percent, "fresh") for percent in PERCENT]
    steady = [(f"steady-threshold-{p}", p, "cleaning") for p in (PERCENT[0], PERCENT[-1])]
    slow = [(_slow(p), p, f"fresh, {TPCC_PER_SECOND} a second") for p in PERCENT]
    more = {"tpcc": [*slow, *steady], "exchange": steady}
    rows = []
    for load in LOADS:
        for name, percent, state in [*states, *more.get(load, [])]:
            rows.append((load, f"{load}-{name}", percent, state))
    return pl.DataFrame(
        [
            {
                "workload": LOADS[load],
                "drive": state,
                "threshold_percent": percent,
                **in_short(runs[run]),
                "moved_for_each_written": float(
                    runs[run].result.summary["write_amplification"]["gc"]
                ),
                "cleaned_blocks": _cleaned(runs, run),
            }
            for load, run, percent, state in rows
        ]
    )
