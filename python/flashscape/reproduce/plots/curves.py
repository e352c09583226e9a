"""Curves of a plot as numbers: every plot has them beside its picture.

The functions of this package keep them with the figure. For a figure that a study draws by itself,
:func:`keep` does so; else its lines are read back.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl
    from matplotlib.figure import Figure

_OURS = "ours"
"""Source of our figures; the paper's have the label of their line."""

_kept: weakref.WeakKeyDictionary[Figure, list[dict[str, Any]]] = weakref.WeakKeyDictionary()


def keep(figure: Figure, rows: Iterable[Mapping[str, Any]]) -> Figure:
    """Keep the numbers that a figure shows, a row for each point, and return the figure."""
    _kept[figure] = [dict(row) for row in rows]
    return figure


def of(figure: Figure) -> pl.DataFrame:
    """Return the numbers that a figure shows."""
    import polars as pl

    rows = _kept.get(figure)
    return pl.DataFrame(_lines(figure) if rows is None else rows, infer_schema_length=None)


def point(panel: str, scheme: str | None, source: str | None = None) -> dict[str, Any]:
    """Return the beginning of a row: its panel, its scheme, and ``ours`` or the paper's label."""
    return {"panel": panel, "scheme": scheme, "source": _OURS if source is None else source}


def _lines(figure: Figure) -> list[dict[str, Any]]:
    """Read the points of all lines back, in the numbers of the axes."""
    rows = []
    for axes in figure.get_axes():
        panel = axes.get_title() or axes.get_title(loc="left")
        for at, line in enumerate(axes.get_lines()):
            label = str(line.get_label())
            of_line = {"panel": panel, "curve": f"line {at + 1}" if label[0] == "_" else label}
            points: Any = line.get_xydata()
            rows += [{**of_line, "x": float(x), "y": float(y)} for x, y in points]
    return rows
