"""Lines over numbers: a panel for the latencies and the rate of each kind, and for the drive."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import drawing, units
from flashscape.regions import FOUNDED
from flashscape.sweep.design import shown
from flashscape.sweep.picture_plan import (
    COLOURS,
    OVERLOAD,
    Point,
    unsteady,
    untimed,
    values_of,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.sweep.picture_plan import Lines

_MARKERS = "os^DvPX*"
_WIDTHS = (1.4, 5.0)
"""Least width of a line in points, and the width that the first of many lines has at most."""
_STYLES = {"-": "", "--": " dashed", ":": " dotted", "-.": " dash-dotted"}
"""Lines of a panel's figures, with their names in its title."""
_LOG_FROM = 20
"""Ratio of the last to the first value from which an axis is logarithmic."""
_BAR_MOST = 4
"""Ratio of a value to the lowest end of its bar on a logarithmic axis; longer bars are cut."""
_LETTERS_MOST = 44
"""Most letters of the ticks of an axis that stand beside each other."""
_RED = "#b2182b"


def draw(plan: Lines) -> Figure:
    """Draw the panels of a sweep in the style that is set."""
    from flashscape.canvas import Figure

    subject = plan.subject
    titles = untimed(subject.drives) if subject.is_untimed else {}
    groups = [] if titles else subject.groups
    size = (4.4 * len(titles), 3.4) if titles else (4.4 * (len(groups) + 1), 6.4)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1 if titles else 2, len(titles) or len(groups) + 1, squeeze=False)
    figure.suptitle(subject.title or "Sweep", x=0.01, ha="left", fontsize=10, color="#555555")
    for axes, (name, title) in zip(panels[0], titles.items(), strict=False):
        _panel(axes, plan, subject.drives, (name,), title)
    for column, (name, mine) in enumerate(groups):
        far = list(zip(reversed(subject.percentiles), _STYLES.values(), strict=False))
        named = ", ".join(f"{each.replace('_', '.')}{style}" for each, style in far)
        latencies = tuple(f"{each}_ns" for each, _ in far)
        _panel(panels[0][column], plan, mine, latencies, f"{name}: {named}")
        _panel(panels[1][column], plan, mine, ("iops",), f"{name} IOPS")
    if groups:
        drives = subject.drives
        _panel(panels[0][-1], plan, drives, ("write_amplification",), "write amplification")
        _panel(panels[1][-1], plan, drives, ("unit_utilisation_mean",), "flash units busy")
    _legend(figure, list(panels.flat))
    return figure


def _legend(figure: Figure, panels: list[Axes]) -> None:
    named: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if OVERLOAD in named:
        # After the curves.
        named[OVERLOAD] = named.pop(OVERLOAD)
    if named:
        handles = list(named.values())
        figure.legend(handles, list(named), loc="outside lower left", ncols=4)


def _panel(
    axes: Axes, plan: Lines, frame: pl.DataFrame, metrics: tuple[str, ...], title: str
) -> None:
    axes.grid(which="major")
    places = _places(plan)
    every = plan.subject.frame.iter_rows(named=True)
    values = [None] if plan.curves is None else values_of(plan.curves, every)
    rows = list(frame.iter_rows(named=True))
    drawn = [Point.of(row, metric, 0.0) for row in rows for metric in metrics]
    floor = _axes(axes, plan, places, metrics[0], [p for p in drawn if not math.isnan(p.value)])
    for index, value in enumerate(values):
        of_value = [row for row in rows if plan.curves is None or plan.curves.key(row) == value]
        for style, metric in zip(_STYLES, metrics, strict=False):
            points = [Point.of(row, metric, places[plan.axis.key(row)]) for row in of_value]
            label = None
            if plan.curves is not None and value is not None and style == "-":
                label = plan.curves.told(value)
            pen = _Pen.of(index, len(values), style)
            _curve(axes, sorted(points), floor, pen, label)
    notes = []
    if any(point.is_few for point in drawn):
        notes.append(f"hollow: fewer than {FOUNDED} requests at or beyond it")
    if any(point.value - point.around < floor for point in drawn):
        notes.append("bars end at the axis, and reach below it")
    if (count := unsteady(rows, metrics[0])) is not None:
        notes.append(f"{count} not known to be steady")
    axes.set_title("\n".join((title, *notes)))


class _Pen(NamedTuple):
    """Appearance of a curve."""

    colour: str
    style: str
    marker: str
    width: float

    @classmethod
    def of(cls, index: int, curves: int, style: str) -> _Pen:
        """Return the appearance of one of several curves of a style.

        Later curves are drawn over earlier ones and are thinner, so that the earlier ones stay
        visible where curves coincide.
        """
        least, most = _WIDTHS
        step = min(1.4, (most - least) / max(1, curves - 1))
        width = least + step * (curves - 1 - index)
        return cls(COLOURS[index], style, _MARKERS[index], width)

    @property
    def size(self) -> float:
        """Size of the markers, which stick out from the line."""
        return self.width + 2.1


def _places(plan: Lines) -> dict[Any, float]:
    """Return the place of each value on the axis: its number."""
    assert plan.axis.amounts is not None
    rows = plan.subject.frame.iter_rows(named=True)
    return {plan.axis.key(row): float(row[plan.axis.amounts]) for row in rows}


def _curve(axes: Axes, points: list[Point], floor: float, pen: _Pen, label: str | None) -> None:
    if all(math.isnan(point.value) for point in points):
        return
    # Figures are never negative, and a logarithmic axis has no zero.
    below = [max(0.0, min(point.around, point.value - floor)) for point in points]
    above = [point.around for point in points]
    # A value that is not there interrupts the line, which would seem to lead through.
    (line, _, _) = axes.errorbar(
        [point.at for point in points],
        [point.value for point in points],
        yerr=[below, above] if any(above) else None,
        color=pen.colour,
        linestyle=pen.style,
        marker=pen.marker,
        markersize=pen.size,
        linewidth=pen.width,
        elinewidth=0.8,
        label=label,
    )
    above_line = line.get_zorder() + 1
    if few := [point for point in points if point.is_few]:
        at, values = [point.at for point in few], [point.value for point in few]
        (hollow,) = axes.plot(at, values, pen.marker, ms=pen.size, mec=pen.colour, mfc="white")
        hollow.set_zorder(above_line)
    if over := [point for point in points if point.is_overloaded]:
        at, values = [point.at for point in over], [point.value for point in over]
        (crossed,) = axes.plot(at, values, "x", ms=9, mec=_RED, mew=1.6, label=OVERLOAD)
        crossed.set_zorder(above_line + 1)


def _axes(
    axes: Axes, plan: Lines, places: dict[Any, float], metric: str, drawn: list[Point]
) -> float:
    """Scale and label the axes; return the value at the lower end of the vertical one."""
    axes.set_xlabel(plan.axis.label)
    if max(places.values()) >= _LOG_FROM * min(places.values()) > 0:
        axes.set_xscale("log")
        axes.xaxis.minorticks_off()
    ticks = [", ".join(map(shown, key)) for key in places]
    slanted: Any = {"rotation": 35, "ha": "right"} if sum(map(len, ticks)) > _LETTERS_MOST else {}
    axes.set_xticks(list(places.values()), ticks, **slanted)
    high = max((point.value + point.around for point in drawn), default=0.0)
    if metric.endswith("_ns"):
        low = min((point.value for point in drawn), default=0.0)
        if max((point.value for point in drawn), default=0.0) > _LOG_FROM * low > 0:
            axes.set_yscale("log")
            edges = (max(p.value - p.around, p.value / _BAR_MOST) for p in drawn)
            floor = min(edges) / 1.3
            axes.set_ylim(floor, high * 1.3)
            drawing.log_durations(axes.yaxis)
            return floor
        axes.yaxis.set_major_formatter(lambda ns, _: units.duration(ns) if ns else "0")
    if metric == "iops":
        axes.yaxis.set_major_formatter(lambda count, _: units.count(count))
    if metric.endswith("_bytes"):
        axes.yaxis.set_major_formatter(lambda count, _: units.size(count))
    axes.set_ylim(0.0, high * 1.05 or 1.0)
    return 0.0
