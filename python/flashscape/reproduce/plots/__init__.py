"""Plots of the kinds that papers use, uniform in all studies; needs matplotlib.

Each function returns a figure of matplotlib. Schemes keep their colour, marker and dash in
all plots of a study (:class:`Looks`); the paper's values are dashed lines or open marks.
Numbers of a plot stay with its figure (:mod:`curves`).
"""

from flashscape.drawing import encoded, styled
from flashscape.reproduce.plots import curves
from flashscape.reproduce.plots.bars import bars
from flashscape.reproduce.plots.course import course
from flashscape.reproduce.plots.curves import keep
from flashscape.reproduce.plots.lines import lines
from flashscape.reproduce.plots.looks import Looks, Reference
from flashscape.reproduce.plots.marks import marks
from flashscape.reproduce.plots.spans import spans
from flashscape.reproduce.plots.tails import tails

__all__ = [
    "Looks",
    "Reference",
    "bars",
    "course",
    "curves",
    "encoded",
    "keep",
    "lines",
    "marks",
    "spans",
    "styled",
    "tails",
]
