"""The figures of hosts that two runs differ in, each with what is known of its error."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashscape._flashscape import student_quantile
from flashscape.compare import statistics
from flashscape.compare.arrivals import is_open, open_loops, pairs
from flashscape.compare.difference import Difference, Method, paired_by_seed
from flashscape.compare.drives import of_drives
from flashscape.compare.statistics import Blocks, Estimate, Figure
from flashscape.latency import PERCENTILES
from flashscape.regions import FOUNDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from flashscape.compare.arrivals import Arrivals
    from flashscape.result import Result

FAR = ("p50", "p90", "p99", "p99_9", "p99_99", "p99_999", "p99_9999")
"""The percentiles that are compared, where enough samples stand behind them."""

_BATCHES_MOST = 64
"""At so many batches two and two are joined in a summary's interval of the mean."""


def of_seeds(baselines: Sequence[Result], others: Sequence[Result]) -> list[Difference]:
    """Differences over runs that are paired by their seeds."""
    rows = []
    for first in _common_groups(baselines, others):
        rows += _over_seeds(first, baselines, others)
    return rows + of_drives(baselines, others)


def of_logs(one: Result, other: Result, arrivals: Arrivals) -> list[Difference]:
    """Differences between two runs with logs: request by request where they are the same."""
    rows = []
    for group in _common_groups([one], [other]):
        columns = _latencies(one, other, group, paired=arrivals.are_paired)
        rows += _in_blocks(group, columns, paired=arrivals.are_paired)
        rows += [_untested(one, other, group, figure) for figure in _rate(one, group)]
    return rows + of_drives([one], [other])


def of_summaries(one: Result, other: Result) -> list[Difference]:
    """Differences between two runs without logs: only means have an interval."""
    rows = []
    for group in _common_groups([one], [other]):
        for figure in ("mean", *_founded([one], [other], group), *_rate(one, group)):
            row = _untested(one, other, group, figure)
            if figure == "mean" and (estimate := _of_means(one, other, group)):
                row = replace(row, estimate=estimate, method="intervals of the means")
            rows.append(row)
    return rows + of_drives([one], [other])


def corrected(rows: Sequence[Difference], alpha: float) -> list[Difference]:
    """The same with probabilities corrected for how many there are."""
    tested = [at for at, row in enumerate(rows) if row.estimate is not None]
    p_values = [estimate.p for row in rows if (estimate := row.estimate) is not None]
    by_row = dict(zip(tested, statistics.holm(p_values), strict=True))
    return [replace(row, corrected=by_row.get(at), alpha=alpha) for at, row in enumerate(rows)]


def _common_groups(ones: Sequence[Result], others: Sequence[Result]) -> list[tuple[str, str]]:
    """Initiators and kinds that were asked in every run."""
    asked = [{(name, kind) for name, kind, _ in run.groups()} for run in (*ones, *others)]
    common = set.intersection(*asked)
    return [(name, kind) for name, kind, _ in ones[0].groups() if (name, kind) in common]


def _figures(run: Result, group: tuple[str, str]) -> dict[str, Any]:
    return next(f for name, kind, f in run.groups() if (name, kind) == group)


def _rate(run: Result, group: tuple[str, str]) -> list[str]:
    """The rate of requests, where it is the drive's: an open loop has that of its arrivals."""
    return [] if is_open(group[0], open_loops(run)) else ["iops"]


def _value(run: Result, group: tuple[str, str], figure: str) -> float:
    figures = _figures(run, group)
    return float(figures["iops"] if figure == "iops" else figures["latency_ns"][figure])


def _samples(runs: Sequence[Result], group: tuple[str, str], figure: str) -> int:
    def of(run: Result) -> int:
        figures = _figures(run, group)
        beyond = figures["latency_ns"]["samples_beyond"]
        return int(beyond.get(figure, figures["requests"]))

    return sum(map(of, runs))


def _founded(ones: Sequence[Result], others: Sequence[Result], group: tuple[str, str]) -> list[str]:
    """Percentiles with enough samples behind them in every run."""
    runs = (*ones, *others)
    return [p for p in FAR if min(_samples([run], group, p) for run in runs) >= FOUNDED]


def _over_seeds(
    group: tuple[str, str], baselines: Sequence[Result], others: Sequence[Result]
) -> list[Difference]:
    rows = []
    far = _founded(baselines, others, group)
    known = [[_of_run(run, group, far) for run in runs] for runs in (baselines, others)]
    for figure in ("mean", *far, *_rate(baselines[0], group)):
        of = [[run[figure] for run in runs] for runs in known]
        samples = (_samples(baselines, group, figure), _samples(others, group, figure))
        rows.append(paired_by_seed(*group, figure, of, samples))
    return rows


def _of_run(run: Result, group: tuple[str, str], far: list[str]) -> dict[str, Figure]:
    """The figures of a run; percentiles from its log, as the summary has them in buckets."""
    column = _in_order(run, group).collect()["latency_ns"]
    exact = {name: statistics.quantile(column, PERCENTILES[name] / 1e9) for name in far}
    mean, iops = (_value(run, group, figure) for figure in ("mean", "iops"))
    # By which one request moves a mean that meets with the next latency there is; and by
    # Little's law a closed loop has as many more requests a second as each is shorter.
    step = statistics.gap(column.sort()) / len(column)
    # What takes no time has no step.
    faster = iops * step / mean if mean else 0.0
    return {"mean": Figure(mean, step), "iops": Figure(iops, faster), **exact}


def _untested(one: Result, other: Result, group: tuple[str, str], figure: str) -> Difference:
    before, after = (_value(run, group, figure) for run in (one, other))
    samples = (_samples([one], group, figure), _samples([other], group, figure))
    return Difference(*group, figure, before, after, samples, "none", None)


def _of_means(one: Result, other: Result, group: tuple[str, str]) -> Estimate | None:
    """From each summary's interval, as if the runs were independent."""
    halves = []
    for run in (one, other):
        latency = _figures(run, group)["latency_ns"]
        if "mean_ci95" not in latency:
            return None
        freedom = batches(_figures(run, group)["requests"]) - 1
        error = latency["mean_ci95"] / student_quantile(0.975, freedom)
        halves.append(Estimate(latency["mean"], error, freedom))
    return statistics.of_unpaired(*halves)


def batches(requests: int) -> int:
    """How many complete batches a summary's interval of a mean stands on (docs/MODEL.md)."""
    length = 1
    while requests // length >= _BATCHES_MOST:
        length *= 2
    return requests // length


def _latencies(
    one: Result, other: Result, group: tuple[str, str], *, paired: bool
) -> list[pl.Series]:
    """Latencies of a group in the order of arrival, of both runs; paired, of the same requests."""
    logs = [_in_order(run, group) for run in (one, other)]
    if not paired:
        return [log.sort("index").collect()["latency_ns"] for log in logs]
    both = pairs(*logs).drop_nulls().sort("index").collect()
    return [both["latency_ns"], both["latency_ns_other"]]


def _in_order(run: Result, group: tuple[str, str]) -> pl.LazyFrame:
    """The requests of a group in a run's log."""
    import polars as pl

    log = run.requests
    assert log is not None, "there is a log"
    own = (pl.col("initiator") == group[0]) & (pl.col("kind") == group[1])
    return log.filter(own).select("initiator", "index", "latency_ns")


def _in_blocks(
    group: tuple[str, str], columns: list[pl.Series], *, paired: bool
) -> list[Difference]:
    lengths = (len(columns[0]), len(columns[1]))
    if not min(lengths):
        return []
    shares = {name: PERCENTILES.get(name, 0) / 1e9 for name in FAR}

    def beyond(length: int, name: str) -> int:
        return length - statistics.rank(shares[name], length) + 1

    names = [name for name in FAR if min(beyond(n, name) for n in lengths) >= FOUNDED]
    quantiles = [shares[name] for name in names]
    values = [statistics.exact_quantiles(column, quantiles) for column in columns]
    means = [float(column.cast(float).mean()) for column in columns]  # type: ignore[arg-type]
    estimates = _estimates(columns, quantiles, paired=paired)
    method: Method = "none"
    if estimates is not None:
        method = "paired blocks" if paired else "blocks"
    rows = []
    for at, name in enumerate(["mean", *names]):
        before, after = means if not at else [side[at - 1] for side in values]
        samples = lengths if not at else (beyond(lengths[0], name), beyond(lengths[1], name))
        estimate = estimates[at] if estimates else None
        rows.append(Difference(*group, name, before, after, samples, method, estimate))
    return rows


def _estimates(
    columns: list[pl.Series], quantiles: list[float], *, paired: bool
) -> list[Estimate] | None:
    """Of the mean, then of each quantile."""

    def of(blocks: Blocks) -> list[Estimate] | None:
        mean, far = blocks.mean(), blocks.quantiles(quantiles)
        return None if mean is None or far is None else [mean, *far]

    if paired:
        return of(Blocks(columns))
    each = [of(Blocks([column])) for column in columns]
    if each[0] is None or each[1] is None:
        return None
    apart = [statistics.of_unpaired(a, b) for a, b in zip(each[0], each[1], strict=True)]
    return [estimate for estimate in apart if estimate is not None]
