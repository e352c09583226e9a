"""Latency over the time of a run, a panel for each scheme, with slow requests marked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flashscape import drawing
from flashscape.reproduce.plots import curves
from flashscape.reproduce.plots.looks import label_values, legend_below, new_figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.reproduce.plots.looks import Looks, Reference, Style
    from flashscape.result import Result

_WINDOWS = 300
"""More windows than the eye resolves."""


def course(
    results: Mapping[str, Result],
    looks: Looks,
    *,
    kind: str,
    slow_ns: float | None = None,
    title: str = "",
    references: Sequence[Reference] = (),
) -> Figure:
    """Draw mean and longest latency of reads or writes in each window of simulated time.

    Requests of at least ``slow_ns`` are marked at their arrival, as far as the run has kept
    them among its slowest. Needs the tables ``series`` and ``slowest`` of each run.
    """
    schemes = looks.ordered(results)
    figure, all_axes = new_figure(len(schemes), title, 0.8)
    for axes, scheme in zip(all_axes, schemes, strict=True):
        axes.set_title(scheme)
        axes.set(yscale="log", xlabel="simulated time", ylabel=f"{kind} latency")
        _windows(axes, results[scheme], kind, looks[scheme])
        if slow_ns is not None:
            _slow(axes, results[scheme], kind, slow_ns)
        for at, reference in enumerate(references):
            axes.axhline(reference.value, **looks.of_reference(reference, at))
        axes.set_xlim(left=0)
        axes.grid(which="major")
    # One scale, so that schemes can be compared.
    low = min(axes.get_ylim()[0] for axes in all_axes)
    high = max(axes.get_ylim()[1] for axes in all_axes)
    for axes in all_axes:
        axes.set_ylim(low, high)
        drawing.log_durations(axes.yaxis)
        label_values(axes.xaxis, "ns", log=False)
    legend_below(figure, all_axes)
    return curves.keep(figure, _rows(results, kind, slow_ns, references))


def _rows(
    results: Mapping[str, Result], kind: str, slow_ns: float | None, references: Sequence[Reference]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each interval of the run, for each slow request, and for each reference."""
    names = ("begin_ns", "end_ns", f"{kind}s", f"{kind}_latency_sum_ns", f"{kind}_latency_max_ns")
    for scheme, result in results.items():
        for begin, end, requests, total, longest in result.series.select(names).iter_rows():
            mean = total / requests if requests else None
            yield _row(scheme, "interval", (begin, end), requests, (mean, longest or None))
        if slow_ns is not None:
            slow = _slow_of(result, kind, slow_ns).select("arrived_ns", "latency_ns")
            for arrived, latency in slow.iter_rows():
                latencies = (float(latency), latency)
                yield _row(scheme, "slow request", (arrived, arrived + latency), 1, latencies)
    for each in references:
        yield _row(each.scheme, each.label, (None, None), None, (float(each.value), None))


def _row(
    scheme: str | None,
    source: str,
    span: tuple[int | None, int | None],
    requests: int | None,
    latencies: tuple[float | None, int | None],
) -> dict[str, Any]:
    begin, end = span
    mean, longest = latencies
    row = {**curves.point(scheme or "", scheme, source), "begin_ns": begin, "end_ns": end}
    return {**row, "requests": requests, "mean_ns": mean, "longest_ns": longest}


def _windows(axes: Axes, result: Result, kind: str, look: Style) -> None:
    series = result.series
    wide = max(1, -(-len(series) // _WINDOWS))
    ends, requests, sums, longest = (
        series[name].to_list()
        for name in ("end_ns", f"{kind}s", f"{kind}_latency_sum_ns", f"{kind}_latency_max_ns")
    )
    moments, means, most = [], [], []
    for begin in range(0, len(ends), wide):
        cut = slice(begin, begin + wide)
        asked = sum(requests[cut])
        moments.append(ends[cut][-1])
        # A window without requests interrupts the line.
        means.append(sum(sums[cut]) / asked if asked else math.nan)
        most.append(max(longest[cut]) if asked else math.nan)
    axes.plot(moments, most, color=look.colour, linewidth=0.9, alpha=0.55)
    axes.plot(moments, means, color=look.colour, linewidth=1.7)
    style: Any = {"color": "#444444"}
    axes.plot([], [], linewidth=0.9, alpha=0.55, label="longest in each window", **style)
    axes.plot([], [], linewidth=1.7, label="mean in each window", **style)


def _slow(axes: Axes, result: Result, kind: str, slow_ns: float) -> None:
    slow = _slow_of(result, kind, slow_ns)
    axes.plot(
        slow["arrived_ns"].to_list(),
        slow["latency_ns"].to_list(),
        linestyle="none",
        marker="x",
        markersize=4.5,
        color="#b2182b",
        label="slow requests",
    )


def _slow_of(result: Result, kind: str, slow_ns: float) -> pl.DataFrame:
    import polars as pl

    return result.slowest.filter((pl.col("kind") == kind) & (pl.col("latency_ns") >= slow_ns))
