"""``fleet.svg``: the latencies of all drives together, and slow queries over the number of reads.

Needs matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape import drawing
from flashscape.latency import KINDS

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"read": "#1b6ca8", "write": "#d95f02", "trim": "#1b9e77", "flush": "#7570b3"}
_OTHER, _MOMENTS, _APART, _INK = "#666666", "#d95f02", "#1b9e77", "#1b6ca8"


def why_not(document: dict[str, Any]) -> str | None:
    """Say why nothing can be drawn; None if a picture is possible."""
    if all(each["latency_ns"]["max"] is None for each in document["kinds"]):
        return "untimed runs have no latencies"
    return None if drawing.is_available() else drawing.NOT_INSTALLED


def draw(document: dict[str, Any], histogram: pl.DataFrame) -> Figure:
    """Draw a fleet as a figure of matplotlib."""
    import matplotlib as mpl

    with mpl.rc_context(drawing.STYLE):
        return _draw(document, histogram)


def _draw(document: dict[str, Any], histogram: pl.DataFrame) -> Figure:
    from flashscape.canvas import Figure

    fanout = document["fanout"]
    figure = Figure(figsize=(8.8, 3.8 if fanout is None else 7.2), layout="constrained")
    title = drawing.short(document["title"], 90)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, color="#555555")
    panels = figure.subplots(1 if fanout is None else 2, 1, squeeze=False)[:, 0]
    _tails(panels[0], document, histogram)
    if fanout is not None:
        _queries(panels[1], fanout)
    for axes in panels:
        axes.set_axisbelow(True)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    return figure


def _tails(axes: Axes, document: dict[str, Any], histogram: pl.DataFrame) -> None:
    import polars as pl

    axes.set_title(f"Latency of {document['drives']:,} drives together")
    axes.set(xscale="log", yscale="log", ylabel="percentile")
    for kind in KINDS:
        rows = histogram.filter(pl.col("kind") == kind)
        joined = rows.group_by("high_ns").agg(pl.col("requests").sum()).sort("high_ns")
        if joined.is_empty():
            continue
        (most,) = [e["latency_ns"]["max"] for e in document["kinds"] if e["kind"] == kind]
        total = int(joined["requests"].sum())
        edges = [min(edge, most) for edge in joined["high_ns"]]
        before = [0, *joined["requests"].cum_sum().to_list()[:-1]]
        shares = [(total - passed) / total for passed in before]
        curve = drawing.thinned(edges, shares) if len(edges) > 1 else (edges, shares)
        axes.plot(*curve, color=_COLOURS.get(kind, _OTHER), label=f"{kind}s".replace("_", "-"))
    found = document["spread"].get("read_p99_9_ns")
    if found is not None:
        axes.plot(
            [found["least"], found["most"]],
            [1e-3, 1e-3],
            "|-",
            color=_COLOURS["read"],
            markersize=9,
            linewidth=1.0,
            label="p99.9 of reads,\nbest to worst drive",
        )
    drawing.label_tail(axes)


def _queries(axes: Axes, fanout: dict[str, Any]) -> None:
    rows = fanout["rows"]
    stages = fanout["stages"]
    of = "one stage" if stages == 1 else f"{stages} stages"
    axes.set_title(f"Queries of {of} with a read above p99 of all reads")
    axes.set(xscale="log", xlabel="reads of a stage", ylabel="share of queries")
    reads = [row["reads"] for row in rows]
    curves = [
        ("slow_pooled", _INK, "o-", "reads from all latencies,\neach independent"),
        ("slow_apart", _APART, "^--", "drives asked at moments\nof their own"),
        ("slow_moments", _MOMENTS, "s-", "drives asked at the\nsame moments"),
    ]
    for column, colour, style, label in curves:
        if all(column in row for row in rows):
            shares = [row[column] for row in rows]
            axes.plot(reads, shares, style, color=colour, markersize=3.5, label=label)
    axes.set_ylim(0.0, 1.02)
    axes.xaxis.set_major_formatter(lambda at, _: f"{at:,.0f}")
    axes.grid(which="major")
