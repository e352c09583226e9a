"""Figures of the reads beside writes of some rate, and their tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.reproduce import Figure, along, percentile, plots

from ._cases import run_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes
    from flashscape.result import Result

    from ._cases import Case

    Measure = Callable[[Outcomes, str, int], Figure]

NO_BETTER = (
    "the slides give ratios and no parameters: the drive and the load are ours, so that the order "
    "is all that these figures can support"
)
"""Reason for which no claim with a ratio is better than ``direction``."""

PERCENT = 99.9

_TOLD = 0.01
"""Least share of the waits that is named."""


def result(runs: Outcomes, case: str, rate: int) -> Result:
    """Return the results of a case beside so many writes a second."""
    return runs[run_name(case, rate)].result


def mean(runs: Outcomes, case: str, rate: int) -> Figure:
    """Return the mean read."""
    reads = result(runs, case, rate).read
    return Figure(reads.mean, reads.requests)


def tail(runs: Outcomes, case: str, rate: int) -> Figure:
    """Return p99.9 of reads."""
    return percentile(result(runs, case, rate).read, PERCENT)


def times(runs: Outcomes, case: str, rates: Iterable[int], measure: Measure) -> Figure:
    """Return a measure at each rate in multiples of the undisturbed one, to two decimals."""
    alone = number(measure(runs, case, 0))
    found = [measure(runs, case, rate) for rate in rates]
    return along(Figure(ratio(number(each), alone), each.samples, each.beyond) for each in found)


def number(figure: Figure) -> float | None:
    """Return the value of a figure that is one number."""
    return None if figure.value is None else float(figure.value)  # type: ignore[arg-type]


def ratio(value: float | None, alone: float | None) -> float | None:
    """Return a quotient to two decimals; None without a value."""
    return None if value is None or not alone else round(value / alone, 2)


def listed(figure: Figure) -> str:
    """Format the numbers of a figure."""
    values = figure.value if isinstance(figure.value, tuple) else (figure.value,)
    return ", ".join("–" if value is None else f"{value:.2f}" for value in values)


def rows(runs: Outcomes, cases: Mapping[str, Case]) -> list[dict[str, Any]]:
    """Return a row for each configuration and rate."""
    return [
        {"configuration": case.title, "writes_per_second": rate} | row(runs, name, rate)
        for name, case in cases.items()
        for rate in (0, *case.rates)
    ]


def row(runs: Outcomes, case: str, rate: int) -> dict[str, Any]:
    """Return the columns of a run."""
    found, alone = result(runs, case, rate), result(runs, case, 0).read
    reads, writes = found.read, found.write
    return {
        "reads": reads.requests,
        "read_mean_ns": reads.mean,
        "read_p99_9_ns": reads.percentile(PERCENT),
        "read_p99_99_ns": reads.percentile(99.99),
        "read_max_ns": reads.max,
        "mean_times": ratio(reads.mean, alone.mean),
        "p99_9_times": ratio(reads.percentile(PERCENT), alone.percentile(PERCENT)),
        "writes": writes.requests,
        "writes_share": taken(found, rate),
        "write_p99_ns": writes.percentile(99),
        "write_p99_9_ns": writes.percentile(PERCENT),
        "write_max_ns": writes.max,
        "starved": starved(found),
        "programmed_for_each_write": found.summary["write_amplification"]["total"],
        "waits_beyond_p99_9": waits(found),
    }


def total(found: Result, kind: str) -> float:
    """Return the reads or writes a second of all initiators."""
    return sum(float(each[kind]["iops"] or 0.0) for each in found.summary["initiators"])


def taken(found: Result, rate: float) -> float | None:
    """Return completed writes over those that come, while they come."""
    return round(completed(found) / rate, 3) if rate else None


def completed(found: Result, kind: str = "write") -> float:
    """Return the reads or writes a second that complete while counting, until no more come.

    A run goes on until all writes are answered: without reads, which end before. An overloaded
    drive then writes faster than beside them, so that writes over the time of the whole run
    would hide that they had no turn.
    """
    import polars as pl

    run = found.summary["config"]["run"]
    warm_up = run["warm_up"]["time"] if run.get("warm_up") else "0 s"
    begin, end = (units.nanoseconds(each) for each in (warm_up, run["time"]))
    within = (pl.col("begin_ns") >= begin) & (pl.col("end_ns") <= end)
    intervals = found.series.filter(within)
    lasted = int((intervals["end_ns"] - intervals["begin_ns"]).sum())
    return int(intervals[f"{kind}s"].sum()) * 1e9 / lasted


def starved(found: Result) -> int | None:
    """Return the requests that took longer than ``STARVATION`` says; None if nobody counted."""
    counted: dict[str, int] | None = found.summary["starvation"]
    return None if counted is None else counted["requests"]


def waits(found: Result) -> str:
    """Name the two states that reads beyond p99.9 wait in for longest, with their shares."""
    import polars as pl

    bands = found.bands.filter(pl.col("kind") == "read").sort("low_ns")
    # The bands of a run end at percentiles; the last ones hold what lies beyond p99.9.
    beyond = bands.filter(pl.col("low_ns") >= (found.read.percentile(PERCENT) or 0))
    states = [name for name in bands.columns if name.startswith(("wait", "withheld"))]
    totals = {name: float(beyond[name].sum() or 0) for name in states}
    whole = sum(totals.values())
    ranked = sorted(totals, key=lambda name: -totals[name])[:2]
    told = [(name.removesuffix("_ns"), totals[name] / (whole or 1.0)) for name in ranked]
    return ", ".join(f"{name} {share:.0%}" for name, share in told if share >= _TOLD)


def by_rate(runs: Outcomes, cases: Mapping[str, Case], looks: plots.Looks) -> Picture:
    """Draw mean and p99.9 of reads by the rate of writes."""
    measures: dict[str, Measure] = {"mean read": mean, "p99.9 of reads": tail}
    panels = {
        label: {
            case.title: [(rate, number(measure(runs, name, rate)) or 0.0) for rate in case.rates]
            for name, case in cases.items()
        }
        for label, measure in measures.items()
    }
    alone = number(mean(runs, next(iter(cases)), 0)) or 0.0
    line = plots.Reference(alone, f"undisturbed: {units.duration(round(alone))}")
    return plots.lines(
        panels,
        looks,
        x_label="writes of 4 KiB a second",
        units=dict.fromkeys(panels, "ns"),
        log=True,
        references={label: [line] for label in panels},
        apart=True,
    )
