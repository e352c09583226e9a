"""``sweep.svg``: the effects of what varies at a glance.

Numbers are along an axis, with lines through their points (``picture_lines``). Words, such as the
names of variations, have a bar each (``picture_bars``). Needs matplotlib, which is imported only
here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape import drawing
from flashscape.sweep import picture_bars, picture_lines
from flashscape.sweep.picture_plan import Dimension, Lines, Subject, chosen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Dimension", "Subject", "draw", "svg", "why_not"]


def why_not(sweep: Subject) -> str | None:
    """Say why nothing can be drawn; None if a picture is possible."""
    if not drawing.is_available():
        return drawing.NOT_INSTALLED
    if sweep.frame.is_empty():
        return "no point has measured anything"
    plan = chosen(sweep)
    return plan if isinstance(plan, str) else None


def svg(sweep: Subject) -> bytes:
    """Draw a sweep as SVG; :func:`why_not` must have returned None."""
    with drawing.styled():
        return drawing.encoded(draw(sweep), "svg")


def draw(sweep: Subject) -> Figure:
    """Draw a sweep as a figure of matplotlib; :func:`why_not` must have returned None."""
    import matplotlib as mpl

    plan = chosen(sweep)
    assert not isinstance(plan, str), plan
    with mpl.rc_context(drawing.STYLE):
        if isinstance(plan, Lines):
            return picture_lines.draw(plan)
        return picture_bars.draw(plan)
