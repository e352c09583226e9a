"""A map of two swept parameters: at each point a mark for each statement, filled if it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce.plots import curves
from flashscape.reproduce.plots.looks import legend_below, new_figure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from matplotlib.figure import Figure

    from flashscape.reproduce.plots.looks import Looks

    Points = Mapping[tuple[float, float], Collection[str]]

_WIDTH = 0.7
"""Share of the space between two points for the marks of one."""


def marks(
    panels: Mapping[str, Points],
    looks: Looks,
    *,
    labels: tuple[str, str],
    title: str = "",
) -> Figure:
    """Draw a panel for each name; each point (x, y) has the names in ``looks`` that hold there.

    Points stand at equal distances, in rising order; ``labels`` are those of both axes.
    """
    figure, all_axes = new_figure(len(panels), title)
    names = looks.schemes
    for axes, (panel, points) in zip(all_axes, panels.items(), strict=True):
        axes.set_title(panel)
        columns = sorted({x for x, _ in points})
        rows = sorted({y for _, y in points})
        for at, name in enumerate(names):
            beside = (at - (len(names) - 1) / 2) * _WIDTH / len(names)
            places = [(columns.index(x) + beside, rows.index(y)) for x, y in points]
            colour = looks[name].colour
            faces = [colour if name in holding else "white" for holding in points.values()]
            style: Any = {"marker": looks[name].marker, "edgecolors": colour}
            axes.scatter([x for x, _ in places], [y for _, y in places], 60, faces, **style)
            axes.scatter([], [], 60, colour, label=name, **style)
        axes.set_xticks(range(len(columns)), [f"{x:g}" for x in columns])
        axes.set_yticks(range(len(rows)), [f"{y:g}" for y in rows])
        axes.set_xlim(-0.6, len(columns) - 0.4)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
    legend_below(figure, all_axes)
    return curves.keep(figure, _rows(panels, names, labels))


def _rows(
    panels: Mapping[str, Points], names: Iterable[str], labels: tuple[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each statement at each point."""
    x_label, y_label = labels
    for panel, points in panels.items():
        for (x, y), holding in points.items():
            at = {"x": x, "x_label": x_label, "y": y, "y_label": y_label}
            for name in names:
                yield {**curves.point(panel, name), **at, "holds": name in holding}
