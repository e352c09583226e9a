"""Figures over a swept parameter, a line for each scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce.figures import shown
from flashscape.reproduce.plots import curves
from flashscape.reproduce.plots.looks import OVERLOADED, label_values, legend_below, new_figure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.reproduce.plots.looks import Looks, Reference

    Points = Sequence[tuple[float, float]]

_TICKS_MOST = 12

_APART = 0.014
"""Share of the axis by which overlapping schemes are moved apart."""


def lines(
    panels: Mapping[str, Mapping[str, Points]],
    looks: Looks,
    *,
    x_label: str,
    x_unit: str = "",
    units: Mapping[str, str] | None = None,
    log_x: bool = True,
    log: bool = False,
    title: str = "",
    papers: Mapping[str, Mapping[str, Points]] | None = None,
    references: Mapping[str, Sequence[Reference]] | None = None,
    apart: bool = False,
    overloaded: Collection[tuple[str, float]] = (),
) -> Figure:
    """Draw a panel for each figure, with a line through the points of each scheme.

    Numbers are in base units, ``x_unit`` along the axis and ``units`` by panel (none: bare
    numbers). By panel, too, ``papers`` has the paper's points by scheme (open marks on a dashed
    line) and ``references`` single values (dashed lines across). With ``apart``, schemes are
    moved apart a little, with different dashes, so that equal ones are all visible; the
    ticks stay correct. ``overloaded``, by scheme and x, are hollow points: they show only
    how long an overload lasts.
    """
    figure, all_axes = new_figure(len(panels), title)
    for axes, (name, schemes) in zip(all_axes, panels.items(), strict=True):
        axes.set_title(name)
        axes.set_xlabel(x_label)
        swept = sorted({x for points in schemes.values() for x, _ in points})
        for at, scheme in enumerate(looks.ordered(schemes)):
            look: Any = {"color": looks[scheme].colour, "marker": looks[scheme].marker}
            ours = sorted(schemes[scheme])
            beside = (at - (len(schemes) - 1) / 2) * _APART if apart else 0.0
            places = [_moved(x, swept, beside, log=log_x) for x, _ in ours]
            values = [y for _, y in ours]
            if apart:
                look["linestyle"] = looks[scheme].dash
            axes.plot(places, values, linewidth=1.6, markersize=5, label=scheme, **look)
            if hollow := [n for n, (x, _) in enumerate(ours) if (scheme, x) in overloaded]:
                look |= {"linestyle": "none", "markerfacecolor": "white", "markersize": 6}
                axes.plot([places[n] for n in hollow], [values[n] for n in hollow], **look)
        if overloaded:
            axes.scatter([], [], 36, **OVERLOADED)
        for scheme, points in (papers or {}).get(name, {}).items():
            look = {"color": looks[scheme].colour, "marker": looks[scheme].marker}
            look |= {"markerfacecolor": "none", "linestyle": "--", "linewidth": 1.0}
            axes.plot(*_columns(sorted(points)), label=f"{scheme}, paper", **look)
        for at, reference in enumerate((references or {}).get(name, ())):
            axes.axhline(reference.value, **looks.of_reference(reference, at))
        _axes(axes, schemes, x_unit, (units or {}).get(name, ""), log_x=log_x, log=log)
    legend_below(figure, all_axes)
    labels = {"x_label": x_label, "x_unit": x_unit}
    rows = [
        {**row, **labels, "y_unit": (units or {}).get(row["panel"], "")}
        for row in _rows(panels, papers or {}, references or {}, overloaded)
    ]
    return curves.keep(figure, rows)


def _rows(
    panels: Mapping[str, Mapping[str, Points]],
    papers: Mapping[str, Mapping[str, Points]],
    references: Mapping[str, Sequence[Reference]],
    overloaded: Collection[tuple[str, float]],
) -> Iterator[dict[str, Any]]:
    """Yield a row for each point, at its own place of the axis, and for each of the paper's."""
    for source, of_source in ((None, panels), ("paper", papers)):
        for panel, schemes in of_source.items():
            for scheme, points in schemes.items():
                for x, y in sorted(points):
                    row = {**curves.point(panel, scheme, source), "x": float(x), "y": float(y)}
                    yield {**row, "is_hollow": source is None and (scheme, x) in overloaded}
    for panel, lines_across in references.items():
        for each in lines_across:
            row = {**curves.point(panel, each.scheme, each.label), "x": None, "y": each.value}
            yield {**row, "is_hollow": False}


def _moved(x: float, swept: Sequence[float], share: float, *, log: bool) -> float:
    """Move a place on the axis by a share of the swept range."""
    if log:
        return float(x * (swept[-1] / swept[0]) ** share)
    return x + (swept[-1] - swept[0]) * share


def _columns(points: Points) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _axes(
    axes: Axes, schemes: Mapping[str, Points], x_unit: str, unit: str, *, log_x: bool, log: bool
) -> None:
    if log_x:
        axes.set_xscale("log")
        axes.xaxis.minorticks_off()
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0.0)
    swept = sorted({x for points in schemes.values() for x, _ in points})
    if len(swept) <= _TICKS_MOST:
        slanted: Any = {"rotation": 35, "ha": "right"} if len(swept) > 6 else {}
        axes.set_xticks(swept, [shown(x, x_unit) for x in swept], **slanted)
    else:
        label_values(axes.xaxis, x_unit, log=log_x)
    axes.grid(which="major")
    label_values(axes.yaxis, unit, log=log)
