"""``sweep.svg``: the effects of one or two varied paths at a glance.

A path with numbers is along the axis, else the first path of the file; the other path has a
curve for each value. Needs matplotlib, which is imported only here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import drawing, units
from flashscape.regions import FOUNDED
from flashscape.sweep.design import labels, shown
from flashscape.sweep.seeds import unsteady_seeds
from flashscape.together import ALL

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CURVES_MOST = 8
_GROUPS_MOST = 3
_COLOURS = ("#1b6ca8", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#666666")
_MARKERS = "os^DvPX*"
_WIDTHS = (1.4, 5.0)
"""Least width of a line in points, and the width that the first of many lines has at most."""
_STYLES = {"-": "", "--": " dashed", ":": " dotted", "-.": " dash-dotted"}
"""Lines of a panel's figures, with their names in its title."""
_LOG_FROM = 20
"""Ratio of the last to the first value from which an axis is logarithmic."""
_BAR_MOST = 4
"""Ratio of a value to the lowest end of its bar on a logarithmic axis; longer bars are cut."""


class Subject(NamedTuple):
    """A sweep, with the fields that its picture needs."""

    title: str
    frame: pl.DataFrame
    """Means over seeds: a row for each point, initiator and kind with requests."""
    varied: tuple[str, ...]
    """Columns that vary over all points, measured or not, without the seed."""
    amounts: Mapping[str, str | None]
    """Column with the quantities of each path; None if it has none."""
    percentiles: tuple[str, ...] = ("p50", "p99", "p99_99")
    """Percentiles of latency, rising; the farthest of them are drawn."""


class _Plan(NamedTuple):
    """Choice of the path along the axis, and of the path with curves."""

    frame: pl.DataFrame
    axis: str
    amounts: str | None
    """Column of its numbers; None if it has none."""
    curves: str | None


def why_not(sweep: Subject) -> str | None:
    """Say why nothing can be drawn; None if a picture is possible."""
    if not drawing.is_available():
        return drawing.NOT_INSTALLED
    if sweep.frame.is_empty():
        return "no point has measured anything"
    varied = _varied(sweep)
    if not 1 <= len(varied) <= 2:
        return f"one or two things can be drawn, and {len(varied)} vary"
    if len(varied) == 2 and sweep.frame[varied[1]].n_unique() > _CURVES_MOST:
        return f"{varied[1]} has more than {_CURVES_MOST} values"
    return None


def svg(sweep: Subject) -> bytes:
    """Draw a sweep as SVG; :func:`why_not` must have returned None."""
    with drawing.styled():
        return drawing.encoded(draw(sweep), "svg")


def _plan(sweep: Subject) -> _Plan:
    axis, *curves = _varied(sweep)
    return _Plan(sweep.frame, axis, _amounts(sweep, axis), curves[0] if curves else None)


def _varied(sweep: Subject) -> list[str]:
    """Return the columns that vary; the first, for the axis, has numbers if any column has."""
    return sorted(sweep.varied, key=lambda name: _amounts(sweep, name) is None)


def _amounts(sweep: Subject, name: str) -> str | None:
    """Return the column that has numbers for a varied path."""
    import polars as pl

    frame = sweep.frame
    if frame[name].dtype in (pl.Int64, pl.Float64):
        return name
    amounts = sweep.amounts.get(name)
    return None if amounts is None or frame[amounts].null_count() else amounts


_WITHOUT_TIME = {
    "write_amplification": "write amplification",
    "erases": "erases",
    "worn_out_bytes": "asked for until worn out",
    "erase_count_stddev": "erases of a block: standard deviation",
}
"""Columns and titles of the panels for untimed runs."""


def _draw_untimed(sweep: Subject, plan: _Plan) -> Figure:
    from flashscape.canvas import Figure

    frame = _first(plan.frame)
    drawn = [name for name in _WITHOUT_TIME if frame[name].null_count() < len(frame)]
    figure = Figure(figsize=(4.4 * len(drawn), 3.4), layout="constrained")
    panels = figure.subplots(1, len(drawn), squeeze=False)[0]
    figure.suptitle(sweep.title or "Sweep", x=0.01, ha="left", fontsize=10, color="#555555")
    for axes, name in zip(panels, drawn, strict=True):
        survived = name == "worn_out_bytes" and frame[name].null_count() > 0
        title = _WITHOUT_TIME[name] + ("\n(gaps: drives that survived)" if survived else "")
        _panel(axes, plan, frame, (name,), title)
    handles, names = panels[0].get_legend_handles_labels()
    if names:
        figure.legend(handles, names, loc="outside lower left", ncols=4)
    return figure


def draw(sweep: Subject) -> Figure:
    """Draw a sweep as a figure of matplotlib."""
    import matplotlib as mpl

    with mpl.rc_context(drawing.STYLE):
        return _draw(sweep)


def _draw(sweep: Subject) -> Figure:
    from flashscape.canvas import Figure

    plan = _plan(sweep)
    if plan.frame["iops"].null_count() == len(plan.frame):
        return _draw_untimed(sweep, plan)
    groups = plan.frame.select("initiator", "kind").unique(maintain_order=True).rows()
    # All initiators together are drawn first.
    groups = sorted(groups, key=lambda group: group[0] != ALL)[:_GROUPS_MOST]
    figure = Figure(figsize=(4.4 * (len(groups) + 1), 6.4), layout="constrained")
    panels = figure.subplots(2, len(groups) + 1, squeeze=False)
    figure.suptitle(sweep.title or "Sweep", x=0.01, ha="left", fontsize=10, color="#555555")
    several = plan.frame["initiator"].n_unique() > 1
    for column, (initiator, kind) in enumerate(groups):
        name = f"{initiator} {kind}" if several else kind
        mine = plan.frame.filter(initiator=initiator, kind=kind)
        far = list(zip(reversed(sweep.percentiles), _STYLES.values(), strict=False))
        named = ", ".join(f"{each.replace('_', '.')}{style}" for each, style in far)
        latencies = tuple(f"{each}_ns" for each, _ in far)
        _panel(panels[0][column], plan, mine, latencies, f"{name}: {named}")
        _panel(panels[1][column], plan, mine, ("iops",), f"{name}: requests a second")
    _panel(panels[0][-1], plan, _first(plan.frame), ("write_amplification",), "write amplification")
    _panel(panels[1][-1], plan, _first(plan.frame), ("unit_utilisation_mean",), "flash units busy")
    handles, names = panels[0][0].get_legend_handles_labels()
    if names:
        figure.legend(handles, names, loc="outside lower left", ncols=4)
    return figure


def _first(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row of each point: the drive's figures are equal in all of them."""
    return frame.unique("point", keep="first", maintain_order=True)


def _panel(
    axes: Axes, plan: _Plan, frame: pl.DataFrame, metrics: tuple[str, ...], title: str
) -> None:
    axes.grid(which="major")
    places = _places(plan)
    values = (
        [None] if plan.curves is None else list(plan.frame[plan.curves].unique(maintain_order=True))
    )
    rows = list(frame.iter_rows(named=True))
    drawn = [_Point.of(row, metric, 0.0) for row in rows for metric in metrics]
    floor = _axes(axes, plan, places, metrics[0], [p for p in drawn if not math.isnan(p.value)])
    for index, value in enumerate(values):
        of_value = frame if plan.curves is None else frame.filter(_is(plan.curves, value))
        for style, metric in zip(_STYLES, metrics, strict=False):
            points = [
                _Point.of(row, metric, places[row[plan.axis]])
                for row in of_value.iter_rows(named=True)
            ]
            label = shown(value) if value is not None and style == "-" else None
            pen = _Pen.of(index, len(values), style)
            _curve(axes, sorted(points), floor, pen, label)
    notes = []
    if any(point.is_few for point in drawn):
        notes.append(f"hollow: fewer than {FOUNDED} requests at or beyond it")
    if any(point.value - point.around < floor for point in drawn):
        notes.append("bars end at the axis, and reach below it")
    if unsteady := sum(unsteady_seeds(row, metrics[0]) for row in rows):
        all_of = units.many(sum(row["seeds"] for row in rows), "point")
        notes.append(f"{unsteady:,} of {all_of} not known to be steady")
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
        return cls(_COLOURS[index], style, _MARKERS[index], width)

    @property
    def size(self) -> float:
        """Size of the markers, which stick out from the line."""
        return self.width + 2.1


class _Point(NamedTuple):
    """A mean over seeds with its interval."""

    at: float
    value: float
    """NaN if there is no value: it interrupts the line, which would seem to lead through."""
    around: float
    is_few: bool
    """True if a percentile is finer than its samples allow."""

    @classmethod
    def of(cls, row: dict[str, Any], metric: str, at: float) -> _Point:
        """Return the metric of a row, at this place of the axis."""
        value, around = row[metric], row[f"{metric}_ci95"]
        if unsteady_seeds(row, metric):
            around = None
        beyond = row.get(f"{metric.removesuffix('_ns')}_samples_beyond")
        is_few = value is not None and beyond is not None and beyond < FOUNDED
        return cls(at, math.nan if value is None else value, around or 0.0, is_few)


def _is(column: str, value: Any) -> pl.Expr:
    import polars as pl

    return pl.col(column).eq_missing(pl.lit(value))


def _places(plan: _Plan) -> dict[Any, float]:
    """Return the place of each value on the axis: its number, else its order in the file."""
    values = plan.frame[plan.axis].to_list()
    if plan.amounts is None:
        return {value: float(at) for at, value in enumerate(dict.fromkeys(values))}
    return dict(zip(values, plan.frame[plan.amounts].to_list(), strict=True))


def _curve(axes: Axes, points: list[_Point], floor: float, pen: _Pen, label: Any) -> None:
    if all(math.isnan(point.value) for point in points):
        return
    # Figures are never negative, and a logarithmic axis has no zero.
    below = [max(0.0, min(point.around, point.value - floor)) for point in points]
    above = [point.around for point in points]
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
    if few := [point for point in points if point.is_few]:
        at, values = [point.at for point in few], [point.value for point in few]
        (hollow,) = axes.plot(at, values, pen.marker, ms=pen.size, mec=pen.colour, mfc="white")
        hollow.set_zorder(line.get_zorder() + 1)


def _axes(
    axes: Axes, plan: _Plan, places: dict[Any, float], metric: str, drawn: list[_Point]
) -> float:
    """Scale and label the axes; return the value at the lower end of the vertical one."""
    axes.set_xlabel(labels([plan.axis])[plan.axis])
    if plan.amounts is not None and max(places.values()) >= _LOG_FROM * min(places.values()) > 0:
        axes.set_xscale("log")
        axes.xaxis.minorticks_off()
    axes.set_xticks(list(places.values()), [shown(value) for value in places])
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
