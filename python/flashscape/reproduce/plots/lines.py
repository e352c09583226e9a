"""Figures over a swept parameter, a line for each scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce.figures import shown
from flashscape.reproduce.plots.looks import label_values, legend_below, new_figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.reproduce.plots.looks import Looks, Reference

    Points = Sequence[tuple[float, float]]

_TICKS_MOST = 12


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
) -> Figure:
    """A panel for each figure, in it a line through the points of each scheme.

    Numbers are in base units, ``x_unit`` along the axis and ``units`` by panel (none: bare
    numbers). By panel, too, ``papers`` has the paper's points by scheme (open marks on a dashed
    line) and ``references`` single values (dashed lines across).
    """
    figure, all_axes = new_figure(len(panels), title)
    for axes, (name, schemes) in zip(all_axes, panels.items(), strict=True):
        axes.set_title(name)
        axes.set_xlabel(x_label)
        for scheme in looks.ordered(schemes):
            look: Any = {"color": looks[scheme].colour, "marker": looks[scheme].marker}
            columns = _columns(sorted(schemes[scheme]))
            axes.plot(*columns, linewidth=1.6, markersize=5, label=scheme, **look)
        for scheme, points in (papers or {}).get(name, {}).items():
            look = {"color": looks[scheme].colour, "marker": looks[scheme].marker}
            look |= {"markerfacecolor": "none", "linestyle": "--", "linewidth": 1.0}
            axes.plot(*_columns(sorted(points)), label=f"{scheme}, paper", **look)
        for at, reference in enumerate((references or {}).get(name, ())):
            axes.axhline(reference.value, **looks.of_reference(reference, at))
        _axes(axes, schemes, x_unit, (units or {}).get(name, ""), log_x=log_x, log=log)
    legend_below(figure, all_axes)
    return figure


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
