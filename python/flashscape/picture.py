"""``tail.svg``: the latency tail, its course in time, and what the slowest of each kind waited for.

Needs matplotlib (``pip install 'flashscape[plot]'``), which is imported only here.
"""

from __future__ import annotations

import io
import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.causes import CAUSES, OTHER, by_cause

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

    from flashscape.result import Result

_COLOURS = ("#1b6ca8", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#66a61e", "#666666")
_INK = "#2b2b2b"
_SLOWEST_SHOWN = 48
_KINDS_SHOWN = 3
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.edgecolor": "#9a9a9a",
    "axes.labelcolor": _INK,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "svg.hashsalt": "flashscape",
}


def is_available() -> bool:
    """True where matplotlib is installed."""
    return find_spec("matplotlib") is not None


def svg(result: Result) -> bytes:
    """Draw a result that has requests."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context(_STYLE):
        # Without a date, so that equal runs draw equal files.
        draw(result).savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def draw(result: Result) -> Figure:
    """Draw a result that has requests, as a figure of matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 9.6), layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=(1.15, 1.0, 1.15))
    figure.suptitle(_title(result), x=0.01, ha="left", fontsize=10, color="#555555")
    _tail(figure.add_subplot(grid[0]), result)
    _course(figure.add_subplot(grid[1]), result)
    _slowest(figure, grid[2], result)
    return figure


def _title(result: Result) -> str:
    summary = result.summary
    partial = "" if result.complete else " – interrupted, partial results"
    return f"{summary['title'] or 'flashscape'}{partial}"


def _tail(axes: Axes, result: Result) -> None:
    """Share of requests that took longer, on logarithmic axes: the tail to the right."""
    import polars as pl

    for (name, kind, figures), colour in zip(_timed(result), _COLOURS * 9, strict=False):
        own = (pl.col("initiator") == name) & (pl.col("kind") == kind)
        buckets = result.latency.filter(own).sort("high_ns")
        total = figures["requests"]
        beyond = (total - buckets["requests"].cum_sum()) / total
        longest = figures["latency_ns"]["max"]
        latency = [figures["latency_ns"]["min"], *buckets["high_ns"].clip(upper_bound=longest)]
        # The last bucket has nothing beyond it, which a logarithm cannot show.
        shares = [1.0, *beyond.to_list()[:-1], 1 / total]
        label = f"{name} {kind.replace('_', '-')} ({total:,})"
        axes.step(latency, shares, where="post", color=colour, label=label, linewidth=1.6)
    axes.set(xscale="log", yscale="log", title="Latency tail", xlabel="latency")
    axes.set_ylabel("share of requests that took longer")
    _durations(axes.xaxis)
    levels = [10.0**-exponent for exponent in range(7)]
    floor = min(axes.get_ylim()[0], 0.5)
    axes.set_yticks([level for level in levels if level >= floor])
    axes.set_yticklabels([_level(level) for level in levels if level >= floor])
    axes.grid(which="major")
    _legend_beside_title(axes)


def _durations(axis: Axis) -> None:
    """Label an axis of nanoseconds with units that suit."""
    axis.set_major_formatter(lambda ns, _: units.duration(ns))


def _legend_beside_title(axes: Axes) -> None:
    """Put the legend where no line can run through it."""
    handles, _ = axes.get_legend_handles_labels()
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 0.985),
        ncols=max(1, len(handles)),
        fontsize=8,
        borderaxespad=0.2,
        columnspacing=1.2,
        handlelength=1.4,
    )


def _timed(result: Result) -> list[tuple[str, str, dict[str, Any]]]:
    """What has a latency worth drawing: flushes that take no time have none."""
    return [group for group in result.groups() if group[2]["latency_ns"]["max"]]


def _level(share: float) -> str:
    names = {1.0: "all", 0.1: "10 % (p90)", 0.01: "1 % (p99)", 1e-3: "p99.9", 1e-4: "p99.99"}
    return names.get(share, f"p{100 - share * 100:.4f}".rstrip("0"))


def _course(axes: Axes, result: Result) -> None:
    """Mean and longest latency in each interval, and what the firmware added beside."""
    series = result.series
    at = (series["end_ns"] / 1e9).to_list()
    for kind, colour in (("read", _COLOURS[0]), ("write", _COLOURS[1])):
        requests = series[f"{kind}s"]
        if not requests.sum():
            continue
        asked = (requests > 0).to_list()
        mean = (series[f"{kind}_latency_sum_ns"] / requests).to_list()
        longest = series[f"{kind}_latency_max_ns"].to_list()
        axes.plot(at, _where(asked, mean), color=colour, linewidth=1.4, label=f"{kind}, mean")
        axes.plot(
            at,
            _where(asked, longest),
            color=colour,
            linestyle="none",
            marker=".",
            markersize=3.5,
            alpha=0.55,
            label=f"{kind}, longest",
        )
    axes.set(yscale="log", title="In the course of the run")
    axes.set_xlabel("simulated time (s)")
    axes.set_ylabel("latency")
    _durations(axes.yaxis)
    axes.grid(which="major")
    _programs(axes, result, at)
    _legend_beside_title(axes)


def _programs(axes: Axes, result: Result, at: list[float]) -> None:
    series = result.series
    host = series["host_units_programmed"]
    programmed = host + series["gc_units_programmed"] + series["padding_units_programmed"]
    if not host.sum():
        return
    beside = axes.twinx()
    beside.spines["right"].set_visible(True)
    # Cumulative: intervals without host writes have no ratio of their own.
    ratio = [
        p / h if h else math.nan for p, h in zip(programmed.cum_sum(), host.cum_sum(), strict=True)
    ]
    beside.plot(at, ratio, color="#7a7a7a", linewidth=1.2, linestyle=(0, (4, 2)))
    beside.set_ylabel("all programs / host programs so far (dashed)", color="#6a6a6a")
    beside.set_ylim(bottom=0.0)


def _where(kept: list[bool], values: list[float | None]) -> list[float]:
    pairs = zip(kept, values, strict=True)
    return [value if keep and value is not None else math.nan for keep, value in pairs]


def _slowest(figure: Figure, place: SubplotSpec, result: Result) -> None:
    """The slowest requests of the slowest kinds, each a bar of what its time went to."""
    import polars as pl

    slowest = result.slowest.filter(pl.col("latency_ns") > 0)
    waits = [name for name in slowest.columns if name.startswith(("wait_", "withheld_"))]
    waited = slowest.filter(pl.sum_horizontal(waits) > 0)
    # As they come: the kind with the slowest request first.
    chosen = slowest if waited.is_empty() else waited
    kinds = chosen.select("initiator", "kind").unique(maintain_order=True).rows()[:_KINDS_SHOWN]
    if not kinds:
        return
    panels = place.subgridspec(1, len(kinds)).subplots(squeeze=False)[0]
    legend: dict[str, Any] = {}
    for axes, (name, kind) in zip(panels, kinds, strict=True):
        own = slowest.filter(pl.col("initiator") == name, pl.col("kind") == kind)
        shown = own.head(_SLOWEST_SHOWN // len(kinds))
        _bars(axes, shown, legend)
        axes.set_title(f"The {len(shown)} slowest: {name} {kind.replace('_', '-')}")
    panels[0].set_ylabel("latency")
    order = [cause.name for cause in (*CAUSES, OTHER) if cause.name in legend]
    figure.legend(
        [legend[name] for name in order],
        order,
        loc="outside lower center",
        ncols=min(6, len(order)),
        fontsize=8,
        columnspacing=1.2,
        handlelength=1.4,
    )


def _bars(axes: Axes, shown: pl.DataFrame, legend: dict[str, Any]) -> None:
    """A bar for each request; new causes are added to the legend."""
    described = {"initiator", "kind", "offset_bytes", "length_bytes", "arrived_ns", "latency_ns"}
    states = [name for name in shown.columns if name not in described]
    bars = [
        by_cause({state.removesuffix("_ns"): row[state] for state in states})
        for row in shown.iter_rows(named=True)
    ]
    bottoms = [0.0] * len(bars)
    for cause in (cause for cause in (*CAUSES, OTHER) if any(cause in bar for bar in bars)):
        heights = [bar.get(cause, 0) for bar in bars]
        drawn = axes.bar(range(len(bars)), heights, bottom=bottoms, color=cause.colour, width=0.82)
        legend.setdefault(cause.name, drawn)
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
    axes.set_xticks([])
    axes.set_xlabel("request, slowest first")
    _durations(axes.yaxis)
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.margins(x=0.01)
