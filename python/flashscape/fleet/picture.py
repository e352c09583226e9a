"""Pictures of the latencies of all drives together, and of slow queries over the number of reads.

A fleet has both in ``fleet.svg``. Needs matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import drawing, units
from flashscape.fleet.nouns import NOUNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.latency import Latency

_COLOURS = {"read": "#1b6ca8", "write": "#d95f02", "trim": "#1b9e77", "flush": "#7570b3"}
_OTHER, _MOMENTS, _APART, _INK = "#666666", "#d95f02", "#1b9e77", "#1b6ca8"


def why_not(document: dict[str, Any]) -> str | None:
    """Say why nothing can be drawn; None if a picture is possible."""
    if all(each["latency_ns"]["max"] is None for each in document["kinds"]):
        return "untimed runs have no latencies"
    return None if drawing.is_available() else drawing.NOT_INSTALLED


def draw(document: Mapping[str, Any], latencies: Mapping[str, Latency]) -> Figure:
    """Draw a fleet, with its latencies by kind of request, as a figure of matplotlib."""
    title = f"Latency of {document['drives']:,} drives together"
    spread = document["spread"].get("read_p99_9_ns")
    bounds = None if spread is None else (spread["least"], spread["most"])
    tails = Tails(title, latencies, bounds, "best to worst drive")
    return draw_panels(document["title"], tails, document["fanout"])


class Tails(NamedTuple):
    """Contents of the panel of latencies."""

    title: str
    latencies: Mapping[str, Latency]
    """Latencies of all sources together, by kind of request."""
    bounds: tuple[float, float] | None
    """Least and greatest p99.9 of reads over the sources; None if some have no reads."""
    of_bounds: str
    """The sources that have these."""


def draw_panels(title: str, tails: Tails, fanout: Mapping[str, Any] | None) -> Figure:
    """Draw latencies, and queries if there are any, as a figure of matplotlib."""
    import matplotlib as mpl

    with mpl.rc_context(drawing.STYLE):
        return _draw(title, tails, fanout)


def _draw(title: str, tails: Tails, fanout: Mapping[str, Any] | None) -> Figure:
    from flashscape.canvas import Figure

    by_limit = [] if fanout is None else _by_limit(fanout)
    figure = Figure(figsize=(8.8, 3.8 + 3.4 * len(by_limit)), layout="constrained")
    figure.suptitle(drawing.short(title, 90), x=0.01, ha="left", fontsize=10, color="#555555")
    panels = figure.subplots(1 + len(by_limit), 1, squeeze=False)[:, 0]
    _tails(panels[0], tails)
    for axes, (above, rows) in zip(panels[1:], by_limit, strict=True):
        assert fanout is not None
        _queries(axes, fanout, above, rows)
    for axes in panels:
        axes.set_axisbelow(True)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    return figure


def _tails(axes: Axes, tails: Tails) -> None:
    axes.set_title(tails.title)
    axes.set(xscale="log", yscale="log", ylabel="percentile")
    for kind, latency in tails.latencies.items():
        if latency.max is not None:
            curve = _tail(latency.buckets, latency.max)
            axes.plot(*curve, color=_COLOURS.get(kind, _OTHER), label=f"{kind}s".replace("_", "-"))
    if tails.bounds is not None:
        axes.plot(
            tails.bounds,
            [1e-3, 1e-3],
            "|-",
            color=_COLOURS["read"],
            markersize=9,
            linewidth=1.0,
            label=f"p99.9 of reads,\n{tails.of_bounds}",
        )
    drawing.label_tail(axes)


def _tail(buckets: Sequence[tuple[int, int]], most: int) -> tuple[Sequence[float], Sequence[float]]:
    """Return the latencies of a curve, and the share of requests that are no faster."""
    left = total = sum(requests for _, requests in buckets)
    # A logarithmic axis has no zero: requests that took no time lie at the least other latency.
    least = min(min((edge for edge, _ in buckets if edge > 0), default=1), max(1, most))
    edges, shares = [], []
    for edge, requests in buckets:
        edges.append(max(least, min(edge, most)))
        shares.append(left / total)
        left -= requests
    return drawing.thinned(edges, shares) if len(edges) > 1 else (edges, shares)


def _by_limit(fanout: Mapping[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return each limit of slow reads in words, with its shares of slow queries."""
    limits = [(units.duration(each["slow_above_ns"]), each["rows"]) for each in fanout["limits"]]
    return [
        (f"p99 of all reads, {units.duration(fanout['slow_above_ns'])}", fanout["rows"]),
        *limits,
    ]


def _queries(
    axes: Axes, fanout: Mapping[str, Any], above: str, rows: Sequence[Mapping[str, Any]]
) -> None:
    stages = fanout["stages"]
    many = NOUNS[fanout["over"]].many
    of = "one stage" if stages == 1 else f"{stages} stages"
    axes.set_title(f"Queries of {of} with a read above {above}")
    axes.set(xscale="log", xlabel="reads of a stage", ylabel="share of queries")
    reads = [row["reads"] for row in rows]
    curves = [
        ("slow_pooled", _INK, "o-", "reads from all latencies,\neach independent"),
        ("slow_apart", _APART, "^--", f"{many} asked at moments\nof their own"),
        ("slow_moments", _MOMENTS, "s-", f"{many} asked at the\nsame moments"),
    ]
    for column, colour, style, label in curves:
        if all(column in row for row in rows):
            shares = [row[column] for row in rows]
            axes.plot(reads, shares, style, color=colour, markersize=3.5, label=label)
    most = max(row[column] for row in rows for column, *_ in curves if column in row)
    # Few reads are rarely slow, and would lie on the axis.
    axes.set_ylim(0.0, 1.15 * most if 0.0 < most < 0.5 else 1.02)
    if max(reads) < 10 * min(reads):
        # Within a decade, the numbers themselves are the ticks.
        axes.set_xticks(reads)
        axes.xaxis.minorticks_off()
    axes.xaxis.set_major_formatter(lambda at, _: f"{at:,.0f}")
    axes.grid(which="major")
