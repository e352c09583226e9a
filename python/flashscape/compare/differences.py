"""Hosts' figures in two runs, each with the error of its difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from flashscape import percentiles, steadiness
from flashscape._flashscape import student_quantile
from flashscape.compare import groups, slowest, statistics
from flashscape.compare.arrivals import is_open, open_loops, pairs
from flashscape.compare.difference import Difference, Method, paired_by_seed
from flashscape.compare.drives import of_drives
from flashscape.compare.statistics import Blocks, Estimate, Figure
from flashscape.compare.wanted import Wanted, default
from flashscape.regions import FOUNDED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from flashscape.compare.arrivals import Arrivals
    from flashscape.result import Result

    Tell = Callable[[float], None]
    """Callback that receives the share done."""


def _unheard(_share: float) -> None:
    """Ignore the share done."""


def of_seeds(
    baselines: Sequence[Result],
    others: Sequence[Result],
    wanted: Wanted | None = None,
    tell: Tell = _unheard,
) -> list[Difference]:
    """Differences over runs that are paired by their seeds."""
    looked = wanted or default()

    def of(group: tuple[str, str]) -> list[Difference]:
        return _over_seeds(group, baselines, others, looked)

    return _of_all(common_groups(baselines, others), of, tell) + of_drives(baselines, others)


def of_logs(
    one: Result, other: Result, arrivals: Arrivals, wanted: Wanted, tell: Tell = _unheard
) -> list[Difference]:
    """Differences between two runs with logs: request by request if they are the same."""

    def of(group: tuple[str, str]) -> list[Difference]:
        sides = _latencies(one, other, group, paired=arrivals.are_paired)
        rows = _in_blocks(group, sides, wanted, paired=arrivals.are_paired)
        return [*rows, *(_untested(one, other, group, figure) for figure in _rate(one, group))]

    return _of_all(common_groups([one], [other]), of, tell) + of_drives([one], [other])


def of_summaries(
    one: Result, other: Result, wanted: Wanted, tell: Tell = _unheard
) -> list[Difference]:
    """Differences between two runs without logs: of means, and of percentiles far out."""

    def of(group: tuple[str, str]) -> list[Difference]:
        far = _compared([one], [other], group, wanted)
        figures = ("mean", *far, *_rate(one, group))
        rows = [_untested(one, other, group, figure) for figure in figures]
        return [_unless_few(_of_kept(r, one, other), far.get(r.figure)) for r in rows]

    return _of_all(common_groups([one], [other]), of, tell) + of_drives([one], [other])


def _of_all(
    common: list[tuple[str, str]], of: Callable[[tuple[str, str]], list[Difference]], tell: Tell
) -> list[Difference]:
    rows = []
    for at, group in enumerate(common):
        tell(at / len(common))
        rows += of(group)
    return rows


def _of_kept(row: Difference, one: Result, other: Result) -> Difference:
    """Return a figure with the error that the tables of a run give; unchanged if they give none."""
    if row.figure == "mean":
        means = _of_means(one, other, row.group)
        return replace(row, estimate=means, method="intervals of the means") if means else row
    if row.figure == "iops":
        return row
    each = [
        slowest.of_run(run, row.group, beyond)
        for run, beyond in zip((one, other), row.samples, strict=True)
    ]
    apart = statistics.of_unpaired(*each)
    if each[0] is None or each[1] is None or apart is None:
        return row
    # Exact values; the summaries have edges of buckets.
    row = replace(row, baseline=each[0].value, other=each[1].value)
    return replace(row, estimate=apart, method="slowest requests")


def corrected(
    rows: Sequence[Difference], alpha: float, wanted: Wanted | None = None, least: float = 0.0
) -> list[Difference]:
    """Return the rows with probabilities corrected for the number of tested rows that count.

    Differences below ``least`` of the baseline's value make no side better.
    """
    looked = wanted or default()
    rows = [replace(row, counts=looked.counts(*row.group, row.figure)) for row in rows]
    tested = [at for at, row in enumerate(rows) if row.estimate is not None and row.counts]
    p_values = [rows[at].estimate.p for at in tested]  # type: ignore[union-attr]
    by_row = dict(zip(tested, statistics.holm(p_values), strict=True))
    return [
        replace(row, corrected=by_row.get(at), alpha=alpha, least=least)
        for at, row in enumerate(rows)
    ]


def common_groups(ones: Sequence[Result], others: Sequence[Result]) -> list[tuple[str, str]]:
    """Initiators and kinds with requests in every run."""
    common = set.intersection(*(set(groups.of_run(run)) for run in (*ones, *others)))
    return [group for group in groups.of_run(ones[0]) if group in common]


def _rate(run: Result, group: tuple[str, str]) -> list[str]:
    """Return the rate of requests if it is the drive's: an open loop has that of its arrivals."""
    loops = open_loops(run)
    return [] if all(is_open(name, loops) for name in groups.members(run, group)) else ["iops"]


def _value(run: Result, group: tuple[str, str], figure: str) -> float:
    figures = groups.figures(run, group)
    if percentiles.billionths(figure) is not None:
        of = (groups.initiator(group), group[1])
        return float(percentiles.of_group(run, of, figures, figure)[0])
    return float(figures["iops"] if figure == "iops" else figures["latency_ns"][figure])


def samples(runs: Sequence[Result], group: tuple[str, str], figure: str) -> int:
    """Requests behind a figure, or at or beyond it if it is a percentile, over all runs."""
    share = percentiles.billionths(figure)
    counts = [int(groups.figures(run, group)["requests"]) for run in runs]
    return sum(count if share is None else percentiles.beyond(share, count) for count in counts)


def fewest(
    ones: Sequence[Result], others: Sequence[Result], group: tuple[str, str], figure: str
) -> tuple[int, int]:
    """Fewest requests behind a figure in a run of each side."""
    one, other = (min(samples([run], group, figure) for run in runs) for runs in (ones, others))
    return one, other


def _compared(
    ones: Sequence[Result], others: Sequence[Result], group: tuple[str, str], wanted: Wanted
) -> dict[str, tuple[int, int] | None]:
    """Percentiles to compare; see :func:`_asked_or_founded`."""
    found = {each: fewest(ones, others, group, each) for each in wanted.shares}
    return _asked_or_founded(found, group, wanted)


def _asked_or_founded(
    found: dict[str, tuple[int, int]], group: tuple[str, str], wanted: Wanted
) -> dict[str, tuple[int, int] | None]:
    """Percentiles with enough samples (None), and those asked for with too few (their numbers)."""
    return {
        each: None if min(behind) >= FOUNDED else behind
        for each, behind in found.items()
        if min(behind) >= FOUNDED or wanted.asks(*group, each)
    }


def _unless_few(row: Difference, few: tuple[int, int] | None) -> Difference:
    """Return the row; without an error if a run has too few samples for one."""
    return row if few is None else replace(row, estimate=None, method="none", fewest=few)


def _over_seeds(
    group: tuple[str, str], baselines: Sequence[Result], others: Sequence[Result], wanted: Wanted
) -> list[Difference]:
    rows = []
    far = _compared(baselines, others, group, wanted)
    shares = {name: wanted.shares[name] for name in far}
    known = [[_of_run(run, group, shares) for run in runs] for runs in (baselines, others)]
    for figure in ("mean", *far, *_rate(baselines[0], group)):
        of = [[run[figure] for run in runs] for runs in known]
        behind = (samples(baselines, group, figure), samples(others, group, figure))
        rows.append(_unless_few(paired_by_seed(*group, figure, of, behind), far.get(figure)))
    return rows


def _of_run(run: Result, group: tuple[str, str], far: dict[str, int]) -> dict[str, Figure]:
    """Return the figures of a run; percentiles from its log, as the summary has only buckets."""
    column = _in_log(run, group).collect()["latency_ns"]
    exact = {name: statistics.quantile(column, share / 1e9) for name, share in far.items()}
    mean, iops = (_value(run, group, figure) for figure in ("mean", "iops"))
    # One request moves the mean by this much if it meets the next possible latency; by
    # Little's law, the rate of a closed loop changes by the same share.
    step = statistics.gap(column.sort()) / len(column)
    # Requests without latency have no step.
    faster = iops * step / mean if mean else 0.0
    return {"mean": Figure(mean, step), "iops": Figure(iops, faster), **exact}


def _untested(one: Result, other: Result, group: tuple[str, str], figure: str) -> Difference:
    before, after = (_value(run, group, figure) for run in (one, other))
    behind = (samples([one], group, figure), samples([other], group, figure))
    return Difference(*group, figure, before, after, behind, "none", None)


def _of_means(one: Result, other: Result, group: tuple[str, str]) -> Estimate | None:
    """Return the difference of the summaries' intervals, as if the runs were independent."""
    halves = []
    for run in (one, other):
        latency = groups.figures(run, group)["latency_ns"]
        # Summaries of earlier versions have intervals that are not by whole cycles.
        if "mean_freedom" not in latency:
            return None
        freedom = latency["mean_freedom"]
        error = latency["mean_ci95"] / student_quantile(0.975, freedom)
        halves.append(Estimate(latency["mean"], error, freedom))
    return statistics.of_unpaired(*halves)


class _Side(NamedTuple):
    """Requests of a group in a run, in the order in which they were drawn."""

    latencies: pl.Series
    moments: pl.Series
    """Times of arrival, rising."""
    begin_ns: int
    """Beginning of the counted time."""
    cycle_ns: float | None
    """Length of a regular cycle."""

    @classmethod
    def of(cls, run: Result, latencies: pl.Series, arrived: pl.Series) -> _Side:
        begin = run.summary["simulated_ns"] - run.summary["counted_ns"]
        return cls(latencies, arrived.sort(), begin, steadiness.regular_cycle(run.summary))

    def divisions(self) -> list[list[int]] | None:
        """Return divisions into whole cycles; None without regular ones."""
        if self.cycle_ns is None:
            return None
        return statistics.whole_cycles(self.moments, self.begin_ns, self.cycle_ns)


def _latencies(one: Result, other: Result, group: tuple[str, str], *, paired: bool) -> list[_Side]:
    """Latencies of a group in the order of arrival, of both runs; paired, of the same requests."""
    logs = [_in_log(run, group) for run in (one, other)]
    order = groups.order(group)
    if not paired:
        drawn = [log.sort(order).collect() for log in logs]
        return [
            _Side.of(run, rows["latency_ns"], rows["arrived_ns"])
            for run, rows in zip((one, other), drawn, strict=True)
        ]
    both = pairs(*logs).drop_nulls().sort(order).collect()
    return [
        _Side.of(run, both[f"latency_ns{suffix}"], both[f"arrived_ns{suffix}"])
        for run, suffix in ((one, ""), (other, "_other"))
    ]


def _in_log(run: Result, group: tuple[str, str]) -> pl.LazyFrame:
    """The requests of a group in a run's log."""
    log = run.requests
    assert log is not None, "there is a log"
    return groups.in_log(log, group).select("initiator", "index", "arrived_ns", "latency_ns")


def _in_blocks(
    group: tuple[str, str], sides: list[_Side], wanted: Wanted, *, paired: bool
) -> list[Difference]:
    columns = [side.latencies for side in sides]
    lengths = (len(columns[0]), len(columns[1]))
    if not min(lengths):
        return []

    def beyond(share: int) -> tuple[int, int]:
        return percentiles.beyond(share, lengths[0]), percentiles.beyond(share, lengths[1])

    behind_all = {name: beyond(share) for name, share in wanted.shares.items()}
    names = _asked_or_founded(behind_all, group, wanted)
    quantiles = [wanted.shares[name] / 1e9 for name in names]
    values = [statistics.exact_quantiles(column, quantiles) for column in columns]
    means = [float(column.cast(float).mean()) for column in columns]  # type: ignore[arg-type]
    estimates = _estimates(sides, quantiles, paired=paired)
    method: Method = "none"
    if estimates is not None:
        method = "paired blocks" if paired else "blocks"
    rows = []
    for at, name in enumerate(["mean", *names]):
        before, after = means if not at else [side[at - 1] for side in values]
        behind = behind_all[name] if at else lengths
        estimate = estimates[at] if estimates else None
        row = Difference(*group, name, before, after, behind, method, estimate)
        rows.append(_unless_few(row, names.get(name)))
    return rows


def _estimates(
    sides: list[_Side], quantiles: list[float], *, paired: bool
) -> list[Estimate] | None:
    """Return the estimate of the mean, then of each quantile."""

    def of(blocks: Blocks) -> list[Estimate] | None:
        mean, far = blocks.mean(), blocks.quantiles(quantiles)
        return None if mean is None or far is None else [mean, *far]

    if paired:
        # A longer cycle has several of the shorter one, so they matter less in it.
        longest = max(sides, key=lambda side: side.cycle_ns or 0.0)
        return of(Blocks([side.latencies for side in sides], longest.divisions()))
    each = [of(Blocks([side.latencies], side.divisions())) for side in sides]
    if each[0] is None or each[1] is None:
        return None
    apart = [statistics.of_unpaired(a, b) for a, b in zip(each[0], each[1], strict=True)]
    return [estimate for estimate in apart if estimate is not None]
