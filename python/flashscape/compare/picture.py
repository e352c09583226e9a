"""``comparison.svg``: both sides' latency tails laid over each other, a panel for each kind."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import drawing
from flashscape.compare import groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.compare.side import Side

_COLOURS = ("#1b6ca8", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#666666")
_DASHES: Any = ("-", (0, (5, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)))
_PANELS = 6
_COLUMNS = 2
_LINE = 80
"""Characters of the verdict per column of panels."""


class Row(NamedTuple):
    """A compared figure, with the fields that the picture needs."""

    group: tuple[str, str]
    """Initiator and kind; the initiator is empty for a figure of the whole drive."""
    is_won: bool
    """True if one side is better by it."""


class Subject(NamedTuple):
    """A comparison, with the fields that the picture needs."""

    sides: Sequence[Side]
    rows: Sequence[Row]
    verdicts: Sequence[str]


def why_not(compared: Subject) -> str | None:
    """Say why nothing can be drawn; None if a picture is possible."""
    if compared.sides[0].results[0].untimed:
        return "the runs took no simulated time (run.untimed)"
    return None if drawing.is_available() else drawing.NOT_INSTALLED


def svg(compared: Subject) -> bytes:
    """Draw a comparison as SVG; needs matplotlib."""
    with drawing.styled():
        return drawing.encoded(draw(compared), "svg")


def draw(compared: Subject) -> Figure:
    """Draw a comparison as a figure of matplotlib."""
    import matplotlib as mpl

    with mpl.rc_context(drawing.STYLE):
        return _draw(compared)


def _draw(compared: Subject) -> Figure:
    from flashscape.canvas import Figure

    drawn = _groups(compared)
    rows = -(-len(drawn) // _COLUMNS)
    columns = min(len(drawn), _COLUMNS)
    figure = Figure(figsize=(5.5 * columns + 0.5, 4 * rows + 0.9), layout="constrained")
    lines = (textwrap.wrap(verdict, _LINE * columns) for verdict in compared.verdicts)
    verdict = "\n".join(line for wrapped in lines for line in wrapped)
    figure.suptitle(verdict, x=0.01, ha="left", fontsize=10, color="#555555")
    panels = figure.subplots(rows, columns, squeeze=False).flatten()
    for axes, group in zip(panels, drawn, strict=False):
        _panel(axes, compared.sides, group)
    for axes in panels[len(drawn) :]:
        axes.set_axis_off()
    return figure


def _groups(compared: Subject) -> list[tuple[str, str]]:
    """Kinds with a significant difference first, then reads before writes in their order."""
    found = list(dict.fromkeys(row.group for row in compared.rows if row.group[0]))
    # Kinds without latency have no curve.
    found = [group for group in found if _takes_time(compared.sides, *group)] or found
    moved = {row.group for row in compared.rows if row.is_won}
    return sorted(found, key=lambda group: group not in moved)[:_PANELS]


def _takes_time(sides: Sequence[Side], name: str, kind: str) -> bool:
    results = [result for side in sides for result in side.results]
    return any(result.of_kind(kind, groups.initiator((name, kind))).max for result in results)


def _panel(axes: Axes, sides: Sequence[Side], group: tuple[str, str]) -> None:
    name, kind = group
    axes.set_title(f"{drawing.short(name, 28)} {kind.replace('_', '-')}")
    axes.set(xscale="log", yscale="log", xlabel="latency", ylabel="percentile of requests")
    lines, labels = [], []
    for at, side in enumerate(sides):
        look: Any = {"color": _COLOURS[at % 6], "linestyle": _DASHES[at % 4]}
        # The curves of seeds are thin lines of one colour; their spread shows the interval.
        look["linewidth"] = 1.8 if len(side.results) == 1 else 0.9
        for number, result in enumerate(side.results):
            drawn = axes.step(*_curve(result, name, kind), where="post", **look)
            if not number:
                lines += drawn
                many = f", {len(side.results)} seeds" if len(side.results) > 1 else ""
                # The slowest requests are missing from such a curve, so it looks too good.
                partial = " – partial" if side.partial is not None else ""
                labels.append(f"{side.label}: {drawing.short(side.name, 40)}{many}{partial}")
    drawing.label_tail(axes)
    # Curves begin at the upper left, so this corner is mostly free.
    legend = axes.legend(lines, labels, loc="lower left", frameon=True, edgecolor="none")
    legend.set_in_layout(False)


def _curve(result: Any, name: str, kind: str) -> tuple[Any, Any]:
    latency = result.of_kind(kind, groups.initiator((name, kind)))
    # A logarithmic axis has no zero: that part of a curve lies to the left of it.
    least = min((upper for upper, _ in latency.buckets if upper > 0), default=1)
    begin = latency.min or min(least, max(1, latency.max))
    passed, latencies, shares = 0, [begin], [1.0]
    for upper, requests in latency.buckets:
        passed += requests
        latencies.append(max(begin, min(upper, latency.max)))
        shares.append((latency.requests - passed) / latency.requests)
    # No request lies beyond the last bucket, and a logarithmic axis has no zero.
    shares[-1] = 1 / latency.requests
    return drawing.thinned(latencies, [max(share, math.ulp(0.0)) for share in shares])
