"""Grouped bars: a group for each workload or condition, in it a bar for each scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce.plots import curves
from flashscape.reproduce.plots.looks import OVERLOADED, label_values, legend_below, new_figure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.reproduce.plots.looks import Looks

_WIDTH = 0.8
_HATCHES = ("", "//", "..", "\\\\", "xx", "--", "++", "oo")
"""Hatches besides colours, for print without colours."""


def bars(
    groups: Mapping[str, Mapping[str, float | None]],
    looks: Looks,
    *,
    unit: str = "",
    label: str = "",
    x_label: str = "",
    title: str = "",
    log: bool = False,
    references: Mapping[tuple[str, str], float] | None = None,
    overloaded: Collection[tuple[str, str]] = (),
    hollow: str = OVERLOADED["label"],
) -> Figure:
    """Draw bars of figures in a base unit; None leaves the place of a bar empty.

    On a logarithmic axis, which has no zero for bars to stand on, they are points.

    ``references`` has the paper's figures by group and scheme: a dashed line across the bar.
    ``overloaded``, by group and scheme, are hollow: they show only how long the overload lasts.
    ``hollow`` is the legend's text for hollow bars.
    """
    schemes = looks.ordered({scheme for group in groups.values() for scheme in group})
    width = _WIDTH / len(schemes)
    figure, [axes] = new_figure(1, title, max(1.0, len(groups) * len(schemes) / 12))
    if log:
        axes.set_yscale("log")
    for at, scheme in enumerate(schemes):
        drawn = [(n, name, g[scheme]) for n, (name, g) in enumerate(groups.items()) if scheme in g]
        drawn = [each for each in drawn if each[2] is not None]
        places = [n + (at - (len(schemes) - 1) / 2) * width for n, _, _ in drawn]
        values = [float(value or 0.0) for _, _, value in drawn]
        colour = looks[scheme].colour
        faces = ["white" if (name, scheme) in overloaded else colour for _, name, _ in drawn]
        # The legend shows the scheme's bar without overload.
        if log:
            style: Any = {"marker": looks[scheme].marker, "edgecolors": colour}
            axes.scatter(places, values, 36, facecolors=faces, **style)
            axes.scatter([], [], 36, facecolors=colour, label=scheme, **style)
            continue
        style = {"hatch": _HATCHES[looks.schemes.index(scheme)], "linewidth": 0.4}
        edges = [colour if face == "white" else "white" for face in faces]
        axes.bar(places, values, width * 0.92, color=faces, edgecolor=edges, **style)
        axes.bar([0], [0], color=colour, edgecolor="white", label=scheme, **style)
    if overloaded:
        axes.scatter([], [], 36, **{**OVERLOADED, "label": hollow})
    _reference_lines(axes, groups, schemes, width, references or {})
    axes.set_xticks(range(len(groups)), list(groups))
    axes.set_xlabel(x_label)
    axes.set_ylabel(label)
    axes.set_axisbelow(True)
    axes.grid(which="major", axis="y")
    label_values(axes.yaxis, unit, log=log)
    legend_below(figure, [axes])
    return curves.keep(figure, _rows(groups, unit, references or {}, overloaded))


def _rows(
    groups: Mapping[str, Mapping[str, float | None]],
    unit: str,
    references: Mapping[tuple[str, str], float],
    overloaded: Collection[tuple[str, str]],
) -> Iterator[dict[str, Any]]:
    """Yield a row for each bar, and for each figure of the paper."""
    for group, schemes in groups.items():
        for scheme, value in schemes.items():
            row = {**curves.point(group, scheme), "value": value, "unit": unit}
            yield {**row, "is_hollow": (group, scheme) in overloaded}
    for (group, scheme), value in references.items():
        row = {**curves.point(group, scheme, "paper"), "value": float(value), "unit": unit}
        yield {**row, "is_hollow": False}


def _reference_lines(
    axes: Axes,
    groups: Mapping[str, object],
    schemes: list[str],
    width: float,
    references: Mapping[tuple[str, str], float],
) -> None:
    names = list(groups)
    label = "paper"
    for (group, scheme), value in references.items():
        middle = names.index(group) + (schemes.index(scheme) - (len(schemes) - 1) / 2) * width
        ends, heights = [middle - width / 2, middle + width / 2], [value, value]
        # Draw on white, so that the line is visible on any colour, and not wider, to show bar ends.
        axes.plot(ends, heights, color="white", linewidth=1.5, solid_capstyle="butt")
        dashes: Any = {"linestyle": (0, (2.5, 1.2)), "dash_capstyle": "butt"}
        axes.plot(ends, heights, color="black", linewidth=1.5, label=label, **dashes)
        label = "_nolegend_"
