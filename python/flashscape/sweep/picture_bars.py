"""Bars for words, such as the names of variations: a panel for each figure, with its numbers."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import units
from flashscape.regions import FOUNDED
from flashscape.sweep.picture_plan import (
    COLOURS,
    OVERLOAD,
    Point,
    unsteady,
    untimed,
    values_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.sweep.picture_plan import Bars

_LETTERS = 30
"""Letters of a line of a label."""
_LETTERS_OF_TITLE = 26
"""Letters of a line of a panel's title."""
_LINES_MOST = 3
_PANEL, _LABELS = 2.3, 0.075
"""Width of a panel, and of a letter of the labels, in inches."""
_BAR, _LINE, _HEAD = 0.19, 0.15, 0.85
"""Heights of a bar, of a line of its label, and of a row's titles and axis, in inches."""
_THICK = 0.8
"""Share of the height of a value for its bars."""
_ROOM = 1.45
"""Length of an axis over the longest bar: the numbers stand beside the bars."""
_LONG, _CUT = 3.0, 1.15
"""Length from which a bar of an overloaded latency is cut, and of the rest, over the longest one of
other points."""
_HATCH = "////"
_INK = "#2b2b2b"
_WAF = "write_amplification"


class _Panel(NamedTuple):
    """A figure of a group of requests, or of the drive."""

    title: str
    metric: str
    frame: pl.DataFrame


def draw(plan: Bars) -> Figure:
    """Draw the panels of a sweep in the style that is set."""
    from flashscape.canvas import Figure

    rows = _rows(plan)
    points = plan.subject.points
    categories = values_of(plan.axis, points)
    curves = [None] if plan.curves is None else values_of(plan.curves, points)
    labels = [_wrapped(plan.axis.told(key)) for key in categories]
    lines = max(label.count("\n") + 1 for label in labels)
    letters = max(len(line) for label in labels for line in label.split("\n"))
    height = max(_BAR * len(curves) / _THICK, _LINE * lines + 0.05) * len(categories)
    columns = max(map(len, rows))
    size = (_PANEL * columns + _LABELS * letters + 0.4, (height + _HEAD) * len(rows) + 0.7)
    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(_title(plan), x=0.01, ha="left", fontsize=10, color="#555555")
    all_axes = figure.subplots(len(rows), columns, squeeze=False, sharey=True)
    drawn: list[Point] = []
    for of_row, panels in zip(all_axes, rows, strict=True):
        for axes, panel in zip(of_row, panels, strict=False):
            drawn += _draw(axes, plan, panel, categories, curves)
        for unused in of_row[len(panels) :]:
            unused.set_axis_off()
        of_row[0].set_yticks(range(len(categories)), labels)
        of_row[0].set_ylim(len(categories) - 0.5, -0.5)
    _legend(figure, plan, curves, drawn)
    return figure


def _title(plan: Bars) -> str:
    """Return the title of the sweep, with the names of values that stand side by side."""
    title = plan.subject.title or "Sweep"
    return f"{title}\n{plan.axis.label}" if len(plan.axis.columns) > 1 else title


def _unsteady(plan: Bars) -> str:
    """Say which figures have no interval, because they are not known to be steady."""
    rows = list(plan.subject.drives.iter_rows(named=True))
    counts = {"latency": unsteady(rows, "p50_ns"), "write amplification": unsteady(rows, _WAF)}
    told = [f"{name} in {count}" for name, count in counts.items() if count is not None]
    return f"not known to be steady, so without interval: {', '.join(told)}" if told else ""


def _wrapped(text: str) -> str:
    """Break a label into a few lines; dots stand for the rest."""
    return "\n".join(
        textwrap.wrap(text, _LETTERS, max_lines=_LINES_MOST, placeholder=" …") or [text]
    )


def _rows(plan: Bars) -> list[list[_Panel]]:
    """Return the panels: a row for each group of requests, and one for the drive."""
    subject = plan.subject
    drives = subject.drives
    if subject.is_untimed:
        return [[_Panel(title, name, drives) for name, title in untimed(drives).items()]]
    rows = [
        [
            *(
                _Panel(f"{name} {each.replace('_', '.')}", f"{each}_ns", frame)
                for each in subject.percentiles
            ),
            _Panel(f"{name} IOPS", "iops", frame),
        ]
        for name, frame in subject.groups
    ]
    of_drive = {
        _WAF: "write amplification",
        "unit_utilisation_mean": "flash units busy",
    }
    found = [
        _Panel(title, name, drives)
        for name, title in of_drive.items()
        if drives[name].null_count() < len(drives)
    ]
    return [*rows, found]


def _draw(
    axes: Axes,
    plan: Bars,
    panel: _Panel,
    categories: Sequence[tuple[Any, ...]],
    curves: Sequence[tuple[Any, ...] | None],
) -> list[Point]:
    """Draw a panel; return its points."""
    rows = list(panel.frame.iter_rows(named=True))
    axes.set_title("\n".join(textwrap.wrap(panel.title, _LETTERS_OF_TITLE)))
    of_place = {_place(plan, row): row for row in rows}
    height = _THICK / len(curves)
    points: list[Point] = []
    colours = []
    for index, curve in enumerate(curves):
        for at, category in enumerate(categories):
            y = at + (index - (len(curves) - 1) / 2) * height
            row = of_place.get((category, curve))
            point = None if row is None else Point.of(row, panel.metric, y)
            if point is None or math.isnan(point.value):
                axes.text(0, y, f" {_absence(plan, category, curve)}", **_SMALL, color="#777777")
                continue
            points.append(point)
            colours.append(COLOURS[index])
    end = _end(panel.metric, points)
    for point, colour in zip(points, colours, strict=True):
        _bar(axes, panel.metric, point, end, height * 0.92, colour)
    axes.set_xlim(0.0, end * _ROOM)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return points


def _end(metric: str, points: Sequence[Point]) -> float:
    """Return the length of the longest bar.

    Latencies of an overloaded point may be a thousand times those of others, which would be
    invisible beside its bar. So it is cut.
    """
    ends = {each: each.value + each.around for each in points}
    most = max(ends.values(), default=0.0)
    sound = max((end for point, end in ends.items() if not point.is_overloaded), default=0.0)
    is_cut = metric.endswith("_ns") and 0.0 < _LONG * sound < most
    return (_CUT * sound if is_cut else most) or 1.0


def _place(plan: Bars, row: Mapping[str, Any]) -> tuple[Any, Any]:
    return plan.axis.key(row), None if plan.curves is None else plan.curves.key(row)


def _absence(plan: Bars, category: tuple[Any, ...], curve: tuple[Any, ...] | None) -> str:
    """Return the reason for which a combination has no bar."""
    states = {
        str(point["status"])
        for point in plan.subject.points
        if plan.axis.key(point) == category
        and (plan.curves is None or plan.curves.key(point) == curve)
    }
    if not states:
        return ""
    [state, *more] = sorted(states)
    return "none" if more or state == "done" else _STATES.get(state, state)


_STATES = {"open": "not run yet", "invalid": "impossible"}
"""Words for states of points, if others than the state itself."""

_SMALL: dict[str, Any] = {"fontsize": 7.5, "va": "center", "clip_on": False}


def _bar(axes: Axes, metric: str, point: Point, end: float, height: float, colour: str) -> None:
    """Draw a bar, which ends at ``end`` at most, with its number beside it."""
    is_filled = not (point.is_few or point.is_overloaded)
    style: Any = {"facecolor": colour if is_filled else "white", "edgecolor": colour}
    if point.is_overloaded:
        style["hatch"] = _HATCH
    whole = point.value + point.around
    is_cut = whole > end
    axes.barh(point.at, end if is_cut else point.value, height, linewidth=1.0, **style)
    if point.around and not is_cut:
        ends = [[min(point.around, point.value)], [point.around]]
        axes.errorbar(point.value, point.at, xerr=ends, fmt="none", ecolor=_INK, elinewidth=0.8)
    told = _told(metric, point.value) + (" (cut)" if is_cut else "")
    axes.text(min(whole, end) + 0.02 * end, point.at, told, **_SMALL)


def _told(metric: str, value: float) -> str:
    if metric.endswith("_ns"):
        return units.duration(value)
    if metric.endswith("_bytes"):
        return units.size(value)
    if metric == "unit_utilisation_mean":
        return units.percent(value)
    return f"{value:.2f}" if metric == _WAF else units.count(value)


def _legend(
    figure: Figure, plan: Bars, curves: Sequence[tuple[Any, ...] | None], drawn: Sequence[Point]
) -> None:
    from matplotlib.patches import Patch

    handles = []
    if plan.curves is not None:
        for colour, curve in zip(COLOURS, curves, strict=False):
            assert curve is not None
            handles.append(Patch(facecolor=colour, label=plan.curves.told(curve)))
    if any(point.is_few for point in drawn):
        few = f"hollow: fewer than {FOUNDED} requests at or beyond it"
        handles.append(Patch(facecolor="white", edgecolor=_INK, label=few))
    if any(point.is_overloaded for point in drawn):
        style: Any = {"facecolor": "white", "edgecolor": _INK, "hatch": _HATCH}
        handles.append(Patch(**style, label=OVERLOAD))
    if told := _unsteady(plan):
        # A legend does not break its lines.
        lines = textwrap.fill(told, int(figure.get_figwidth() / _LABELS) - 8)
        handles.append(Patch(facecolor="none", edgecolor="none", label=lines))
    if handles:
        title = None if plan.curves is None else plan.curves.label
        columns = 2 if len(handles) > 2 else 1
        figure.legend(
            handles=handles, loc="outside lower left", ncols=columns, title=title, alignment="left"
        )
