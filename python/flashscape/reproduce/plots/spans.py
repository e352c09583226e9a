"""Figures with their ranges: a panel for each condition, a row for each scheme."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from flashscape.reproduce.plots import curves
from flashscape.reproduce.plots.looks import PAPER, label_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

_PANEL, _NAMES, _ROW, _EDGE = 3.1, 2.9, 0.27, 1.1
"""Widths of a panel and of the names, heights of a row and of all that is not a row, in inches."""

_COLOUR = "#0072B2"


def spans(
    panels: Mapping[str, Mapping[str, Sequence[float] | None]],
    *,
    unit: str = "",
    label: str = "",
    absent: str = "not measured",
) -> Figure:
    """Draw a dot at the median and a line from the least to the greatest, on a logarithmic axis.

    None, in place of the figures of a scheme, is written as ``absent``.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    size = (_NAMES + _PANEL * len(panels), _EDGE + _ROW * len(names))
    figure = Figure(figsize=size, layout="constrained")
    all_axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (panel, figures) in zip(all_axes, panels.items(), strict=True):
        axes.set_title(panel, fontsize=10)
        axes.set_xscale("log")
        for at, name in enumerate(names):
            values = figures.get(name)
            if values is None:
                style: Any = {"transform": axes.get_yaxis_transform(), "color": "#b2182b"}
                axes.text(0.97, at, absent, ha="right", va="center", fontsize=8, **style)
                continue
            axes.plot([min(values), max(values)], [at, at], color=_COLOUR, linewidth=2.5, alpha=0.5)
            axes.plot([median(values)], [at], "o", color=_COLOUR, markersize=5)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlabel(label)
        axes.set_axisbelow(True)
        axes.grid(which="major", axis="x")
        axes.grid(which="major", axis="y", color=PAPER, alpha=0.15)
        label_values(axes.xaxis, unit, log=True)
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    return curves.keep(figure, _rows(panels, unit))


def _rows(
    panels: Mapping[str, Mapping[str, Sequence[float] | None]], unit: str
) -> Iterator[dict[str, Any]]:
    """Yield a row for each figure; one without a value for figures that do not exist."""
    for panel, figures in panels.items():
        for scheme, values in figures.items():
            for value in [None] if values is None else values:
                yield {**curves.point(panel, scheme), "value": value, "unit": unit}
