"""``tail.svg``: the latency tail, latency over time, and the slowest requests with their causes.

Reads come before writes, each kind in its own colours. A picture shows a limited number of
curves, so that the pictures of two runs can be laid side by side. Needs matplotlib
(``pip install 'flashscape[plot]'``), which is imported only here.
"""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import drawing, outages, together, units
from flashscape.causes import CAUSES, OTHER, by_cause
from flashscape.explain import explain
from flashscape.latency import KINDS
from flashscape.parts import parts

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

    from flashscape.measured import Measured
    from flashscape.request_group import Group

_COLOURS = {
    "read": ("#1b6ca8", "#6baed6", "#08306b"),
    "write": ("#d95f02", "#fdae6b", "#7f2704"),
    "trim": ("#1b9e77", "#66c2a5", "#00441b"),
    "flush": ("#7570b3", "#bcbddc", "#3f007d"),
    "write_zeroes": ("#e7298a", "#f4a6cd", "#67001f"),
}
"""Colours of each kind: of all together or the worst initiator, then of those after it."""

_CURVES = 6
_PANELS = 3
_BARS = 48
_VISIBLE = 0.005
"""Part of a panel's height below which a colour cannot be seen."""

_SAME_SCALE = 10
"""Largest ratio of heights of panels that share a scale."""

_HEADROOM = 1.15
"""Height of the axis of write amplification, as a multiple of the largest value."""

_LATEST_WRITES = 0.05
"""Part of all written bytes over which write amplification is averaged in its curve."""


def why_not(result: Measured) -> str | None:
    """Say why nothing can be drawn; None if a picture is possible."""
    if result.untimed:
        return "the run took no simulated time (run.untimed)"
    if not result.groups():
        return "no request was counted"
    return None if drawing.is_available() else drawing.NOT_INSTALLED


def svg(result: Measured) -> bytes:
    """Draw a result that has requests, as SVG."""
    with drawing.styled():
        return drawing.encoded(draw(result), "svg")


def draw(result: Measured) -> Figure:
    """Draw a result that has requests, as a figure of matplotlib."""
    import matplotlib as mpl

    with mpl.rc_context(drawing.STYLE):
        return _draw(result)


def _draw(result: Measured) -> Figure:
    from flashscape.canvas import Figure

    figure = Figure(figsize=(11, 9.6), layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=(1.15, 1.0, 1.15))
    figure.suptitle(_title(result), x=0.01, ha="left", fontsize=10, color="#555555")
    groups = _worth_drawing(result)
    _tail(figure.add_subplot(grid[0]), result, groups)
    _course(figure.add_subplot(grid[1]), result)
    _slowest(figure, grid[2], result, groups)
    return figure


def _title(result: Measured) -> str:
    lines = textwrap.wrap(str(result.summary["title"] or "flashscape"), 130)
    if len(lines) > 2:
        lines = [lines[0], f"{lines[1][:120]} …"]
    partial = f" – {result.cut_short}, partial results" if result.cut_short else ""
    return "\n".join(lines) + partial + _unanswered(result)


def _unanswered(result: Measured) -> str:
    """Return a line about unanswered requests that waited longer than any request in the curves."""
    waiting = (result.starvation or {}).get("outstanding", ())
    oldest = max((each["oldest_ns"] for each in waiting), default=0)
    longest = max((each["latency_ns"]["max"] for _, _, each in result.groups()), default=0)
    if oldest <= longest:
        return ""
    number = units.many(sum(each["requests"] for each in waiting), "request")
    waited = drawing.duration(oldest)
    return f"\nNot in the curves: {number} without an answer, the oldest for {waited}"


def _worth_drawing(result: Measured) -> list[Group]:
    """Return the groups that get a curve: reads first, of each kind all together first.

    Then follow the initiators, the longest tail first.
    """
    explained = explain(result)
    # Requests without latency have no place on a logarithmic axis; those that never wait no tail.
    groups = [*explained.joint, *explained.groups]
    groups = [group for group in groups if group.figures["latency_ns"]["max"]]
    groups = [group for group in groups if group.waits] or groups
    if len(groups) > _CURVES:
        groups = [g for g in explained.shown if g.figures["latency_ns"]["max"]] or groups

    def order(group: Group) -> tuple[int, bool, int]:
        tail = group.figures["latency_ns"]["p99_9"]
        return KINDS.index(group.kind), group not in explained.joint, -tail

    return sorted(groups, key=order)[:_CURVES]


def _tail(axes: Axes, result: Measured, groups: list[Group]) -> None:
    """Draw the share of requests that took longer, on logarithmic axes: the tail to the right."""
    import polars as pl

    axes.set_title("Latency tail")
    axes.set(xscale="log", yscale="log", xlabel="latency", ylabel="percentile of requests")
    drawn: dict[str, int] = {}
    lines, labels = [], []
    for group in groups:
        own = pl.col("initiator").is_in(group.initiators) & (pl.col("kind") == group.kind)
        counted = result.latency.filter(own).group_by("high_ns").agg(pl.col("requests").sum())
        buckets = counted.sort("high_ns")
        total = group.figures["requests"]
        beyond = (total - buckets["requests"].cum_sum()) / total
        longest = group.figures["latency_ns"]["max"]
        # A logarithmic axis has no zero: that part of a curve lies to the left of it.
        least = min((ns for ns in buckets["high_ns"] if ns > 0), default=1)
        begin = group.figures["latency_ns"]["min"] or min(least, max(1, longest))
        latency = [begin, *(max(begin, min(ns, longest)) for ns in buckets["high_ns"])]
        # No request lies beyond the last bucket, and a logarithmic axis has no zero.
        shares = [1.0, *beyond.to_list()[:-1], 1 / total]
        rank = drawn.get(group.kind, 0)
        drawn[group.kind] = rank + 1
        colour = _COLOURS[group.kind][rank % 3]
        points = drawing.thinned(latency, shares)
        lines += axes.step(*points, where="post", color=colour, linewidth=1.6)
        labels.append(f"{drawing.short(group.initiator, 28)} {_words(group.kind)} ({total:,})")
    drawing.label_tail(axes)
    # Curves begin at the upper left, so this corner is mostly free.
    legend = axes.legend(lines, labels, loc="lower left", frameon=True, edgecolor="none")
    legend.set_in_layout(False)
    alone = {group.initiator for group in groups if len(group.initiators) == 1}
    if 0 < len(alone) < len(result.summary["initiators"]):
        axes.set_title("Latency tail, the worst initiators of each kind")


def _words(kind: str) -> str:
    return kind.replace("_", "-")


class _Window(NamedTuple):
    """Several intervals of the series as one."""

    end_ns: int
    requests: int
    sum_ns: int
    longest_ns: int


def _windows(result: Measured, kind: str) -> list[_Window]:
    """Group the series of a kind into as many windows as the eye can resolve."""
    series = result.series
    width = -(-len(series) // drawing.POINTS)
    ends, requests, sums, longest = (
        series[name].to_list()
        for name in ("end_ns", f"{kind}s", f"{kind}_latency_sum_ns", f"{kind}_latency_max_ns")
    )
    windows = []
    for begin in range(0, len(series), width):
        cut = slice(begin, begin + width)
        windows.append(
            _Window(ends[cut][-1], sum(requests[cut]), sum(sums[cut]), max(longest[cut]))
        )
    return windows


def _course(axes: Axes, result: Measured) -> None:
    """Draw mean and longest latency in each window, and write amplification beside them."""
    axes.set_title("In the course of the run")
    axes.set(yscale="log", xlabel="simulated time", ylabel="latency")
    lines, labels = [], []
    for kind in ("read", "write"):
        windows = _windows(result, kind)
        if not any(window.longest_ns for window in windows):
            continue
        colour = _COLOURS[kind][0]
        ends = [window.end_ns for window in windows]
        # A window without requests interrupts the line.
        asked = [window.longest_ns > 0 for window in windows]
        means = [
            w.sum_ns / w.requests if a else math.nan for w, a in zip(windows, asked, strict=True)
        ]
        longest = [w.longest_ns if a else math.nan for w, a in zip(windows, asked, strict=True)]
        dots: Any = {"linestyle": "none", "marker": ".", "markersize": 3.5, "alpha": 0.55}
        lines += axes.plot(ends, means, color=colour, linewidth=1.4)
        lines += axes.plot(ends, longest, color=colour, **dots)
        labels += [f"{kind}, mean", f"{kind}, longest"]
    if not lines:
        axes.set_title("In the course of the run: neither reads nor writes")
        axes.set_axis_off()
        return
    axes.set_xlim(0, result.series["end_ns"][-1])
    axes.xaxis.set_major_formatter(drawing.duration)
    drawing.log_durations(axes.yaxis)
    axes.grid(which="major")
    _stretches(axes, result)
    if bands := _recoveries(axes, result):
        lines.append(bands[0])
        labels.append("power cut")
    if (shaded := _deterministic(axes, result)) is not None:
        lines.append(shaded)
        labels.append(_of_windows(result))
    lines += _amplification_beside(axes, result)
    if len(lines) > len(labels):
        whole = result.write_amplification
        in_all = "" if whole is None else f" ({whole:.2f} in all)"
        labels.append(f"write amplification{in_all}")
    place: Any = {"loc": "lower right", "bbox_to_anchor": (1.0, 0.985), "borderaxespad": 0.2}
    legend = axes.legend(lines, labels, ncols=6, columnspacing=1.0, handlelength=1.6, **place)
    legend.set_in_layout(False)


def _stretches(axes: Axes, result: Measured) -> None:
    """Mark the warm-up, and the time from which latency is steady."""
    summary = result.summary
    over: Any = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5}
    place: Any = {"transform": axes.get_xaxis_transform(), "fontsize": 8, "color": "#777777"}
    place |= {"clip_on": True, "bbox": over}
    if (warm_up := summary["simulated_ns"] - summary["counted_ns"]) > 0:
        axes.axvspan(0, warm_up, color="#f1f1f1", zorder=0)
        axes.text(0, 0.12, " warm-up, not counted", **place)
    steady = summary["steady_state"]["latency"]
    if steady["reached"] and steady["from_ns"] > warm_up:
        axes.axvline(steady["from_ns"], color="#777777", linewidth=1.0, linestyle=":")
        axes.text(steady["from_ns"], 0.03, " latency steady from here", **place)


def _recoveries(axes: Axes, result: Measured) -> list[Any]:
    """Shade the time from each power cut to the end of its recovery; the edge shows short ones."""
    looks: Any = {"facecolor": "#f3c6c6", "edgecolor": "#c44e52", "linewidth": 0.8, "zorder": 0.5}
    spans = [(cut["at_ns"], cut["at_ns"] + cut["duration_ns"]) for cut in outages.of_run(result)]
    return [axes.axvspan(*span, **looks) for span in spans]


def _deterministic(axes: Axes, result: Measured) -> Any:
    """Shade the deterministic windows that have ended; a strip for each NVM set or member."""
    looks: Any = {"facecolor": "#d5ead5", "edgecolor": "none", "zorder": 0.4}
    strips = _window_spans(result)
    drawn = None
    for index, spans in enumerate(strips):
        # The first part is at the top. Strips of several parts have a gap between them.
        height = 1 / len(strips)
        place = (1 - (index + 1) * height, height * (0.8 if len(strips) > 1 else 1))
        if spans:
            drawn = axes.broken_barh(spans, place, transform=axes.get_xaxis_transform(), **looks)
    return drawn


def _window_spans(result: Measured) -> list[list[tuple[int, int]]]:
    """Return beginnings and lengths of the deterministic windows that are known, by part."""
    # Summaries of earlier versions lack the beginnings.
    return [
        [
            (event["began_ns"], event["at_ns"] - event["began_ns"])
            for event in of["events"]
            if "began_ns" in event
        ]
        for _, of in parts(result, "windows")
    ]


def _of_windows(result: Measured) -> str:
    """Return the label of deterministic windows, with what is not drawn of them."""
    found = [of for _, of in parts(result, "windows")]
    is_cut = any(sum(of["ends"].values()) > len(of["events"]) for of in found)
    return "first DTWINs" if is_cut else "DTWIN"


def amplification(result: Measured) -> tuple[list[int], list[float]]:
    """Return write amplification over the run: times in nanoseconds, and values.

    The ratio of bytes programmed to bytes written, as in the summary, covers the latest part
    of the writes, because it is undefined while hosts pause.
    """
    series = result.series
    unit = units.size_of(result.summary["config"]["drive"]["ftl"]["unit"])
    programmed = series.select(
        column for column in series.columns if column.endswith("_units_programmed")
    ).sum_horizontal()
    ends = series["end_ns"].to_list()
    written = [0, *series["write_bytes"].cum_sum().to_list()]
    flash = [0, *(programmed.cum_sum() * unit).to_list()]
    needed = max(1, math.ceil(written[-1] * _LATEST_WRITES))
    moments, values = [], []
    begin = 0
    for at in range(1, len(written)):
        if written[at] < needed:
            continue
        while written[at] - written[begin + 1] >= needed:
            begin += 1
        moments.append(ends[at - 1])
        values.append((flash[at] - flash[begin]) / (written[at] - written[begin]))
    return moments, values


def _amplification_beside(axes: Axes, result: Measured) -> list[Any]:
    moments, values = amplification(result)
    if not values:
        return []
    beside = axes.twinx()
    beside.spines["right"].set_visible(True)
    step = -(-len(values) // drawing.POINTS)
    # Always keep the last value: the end of the run.
    drawn = sorted({*range(0, len(values), step), len(values) - 1})
    lines = beside.plot(
        [moments[at] for at in drawn],
        [values[at] for at in drawn],
        color="#7a7a7a",
        linewidth=1.2,
        linestyle=(0, (4, 2)),
    )
    part = units.percent(_LATEST_WRITES).replace(".0", "")
    beside.set_ylabel(f"write amplification\n(of the latest {part} of writes)", color="#6a6a6a")
    # A line at the edge would look like the frame.
    beside.set_ylim(0.0, (max(values) or 1.0) * _HEADROOM)
    return lines


def _slowest(figure: Figure, place: SubplotSpec, result: Measured, groups: list[Group]) -> None:
    """Draw the slowest requests of the slowest kinds, each as a bar of its causes of latency."""
    import polars as pl

    chosen = _panels(groups)
    if not chosen:
        return
    heights = [group.figures["latency_ns"]["max"] for group in chosen]
    is_same = max(heights) <= _SAME_SCALE * min(heights)
    panels = place.subgridspec(1, len(chosen)).subplots(squeeze=False, sharey=is_same)[0]
    legend: dict[str, Any] = {}
    for axes, group in zip(panels, chosen, strict=True):
        own = together.slowest(result, group.kind, group.initiators)
        shown = own.filter(pl.col("latency_ns") > 0).head(_BARS // len(chosen))
        _bars(axes, shown, legend, max(heights) if is_same else group.figures["latency_ns"]["max"])
        name = f"{drawing.short(group.initiator, 48 // len(chosen))} {_words(group.kind)}"
        scale = "" if is_same else "\n(on a scale of its own)"
        axes.set_title(f"{len(shown)} slowest: {name}{scale}")
    panels[0].set_ylabel("latency")
    order = [cause.name for cause in (*CAUSES, OTHER) if cause.name in legend]
    figure.legend(
        [legend[name] for name in order],
        order,
        loc="outside lower center",
        ncols=min(6, len(order)),
        columnspacing=1.2,
        handlelength=1.4,
    )


def _panels(groups: list[Group]) -> list[Group]:
    """Return the worst group of each kind that waits, or of all kinds if none does; reads first."""
    kept = [group for group in groups if group.tail_ns]
    kept = [group for group in kept if group.waits] or kept
    worst = [
        next(g for g in kept if g.kind == kind) for kind in dict.fromkeys(g.kind for g in kept)
    ]
    chosen = worst[:_PANELS] if len(kept) > _PANELS else kept
    return sorted(chosen, key=lambda group: KINDS.index(group.kind))


def _bars(axes: Axes, shown: pl.DataFrame, legend: dict[str, Any], height: float) -> None:
    """Draw a bar for each request; add new visible causes to the legend."""
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
        if max(heights) >= _VISIBLE * height:
            legend.setdefault(cause.name, drawn)
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
    axes.set_xticks([])
    axes.set_xlabel("request, slowest first")
    axes.yaxis.set_major_formatter(drawing.duration)
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.margins(x=0.01)
