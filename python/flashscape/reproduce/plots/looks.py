"""Uniform appearance of schemes, and reproducible encoding of pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import drawing
from flashscape.near import listed
from flashscape.reproduce.figures import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8c6d31")
"""Colours of Okabe and Ito, which any kind of colour blindness can tell apart; a brown replaces
yellow, which is too pale for a line."""
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES: tuple[Any, ...] = ("-", (0, (6, 1.5)), (0, (4, 1, 1, 1)), (0, (2.5, 1)))

PAPER = "#6b6b6b"
"""Colour of the paper's values for all schemes."""

OVERLOADED: dict[str, Any] = {
    "marker": "o",
    "facecolors": "white",
    "edgecolors": PAPER,
    "label": "hollow: overloaded, tells how long that lasts",
}
"""Legend entry for figures of a drive that gets requests faster than it serves them."""

PANEL = (5.4, 4.0)
"""Size of a panel in inches."""

_IN_A_ROW = 3


_HANDLE, _LETTER = 0.6, 0.075
"""Width of a legend's entry, and of a letter in it, in inches."""


class Style(NamedTuple):
    """Appearance of one scheme."""

    colour: str
    marker: str
    dash: Any


class Reference(NamedTuple):
    """A value from the paper, drawn beside ours."""

    value: float
    """Value in the base unit of the axis."""
    label: str
    """Text, such as "paper: about 5 ms"."""
    scheme: str | None = None
    """Scheme that it belongs to, whose colour it gets; None for all."""


class Looks:
    """The schemes of a study, in the order in which all its plots list them."""

    def __init__(self, *schemes: str) -> None:
        if not schemes or len(set(schemes)) < len(schemes):
            raise ValueError("schemes have names, each its own")
        if len(schemes) > len(_COLOURS):
            raise ValueError(f"{len(schemes)} schemes are more than can be told apart")
        self.schemes = schemes

    def __getitem__(self, scheme: str) -> Style:
        """Return a scheme's style; raise KeyError with the valid names."""
        if scheme not in self.schemes:
            raise KeyError(f"no scheme {scheme!r} {listed(scheme, self.schemes)}")
        at = self.schemes.index(scheme)
        return Style(_COLOURS[at], _MARKERS[at], _DASHES[at % len(_DASHES)])

    def of_reference(self, reference: Reference, at: int) -> dict[str, Any]:
        """Return the line style of a reference, the ``at``-th in its panel."""
        colour = PAPER if reference.scheme is None else self[reference.scheme].colour
        dash = ("--", (0, (2, 1.5)), (0, (6, 2, 1, 2)))[at % 3]
        return {"color": colour, "linestyle": dash, "linewidth": 1.1, "label": reference.label}

    def ordered(self, drawn: Any) -> list[str]:
        """Return the drawn schemes in the study's order; raise KeyError for others."""
        for scheme in drawn:
            self[scheme]
        return [scheme for scheme in self.schemes if scheme in drawn]


def new_figure(panels: int, title: str, width: float = 1.0) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels, a few in a row; ``width`` is relative to the usual width."""
    from matplotlib.figure import Figure

    rows = -(-panels // _IN_A_ROW)
    columns = -(-panels // rows)
    size = (PANEL[0] * width * columns + 0.4, PANEL[1] * rows + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, color="#555555")
    axes = list(figure.subplots(rows, columns, squeeze=False).flatten())
    for unused in axes[panels:]:
        unused.set_axis_off()
    return figure, axes[:panels]


def legend_below(figure: Figure, axes: list[Axes]) -> None:
    """Add one legend for all panels, with each name once."""
    named: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if named:
        longest = max(map(len, named))
        columns = int((figure.get_figwidth() - 0.3) / (_HANDLE + _LETTER * longest))
        columns = max(1, min(columns, len(named)))
        figure.legend(list(named.values()), list(named), loc="outside lower left", ncols=columns)


def label_values(axis: Axis, unit: str, *, log: bool) -> None:
    """Label an axis with values in a unit, for the drawn range."""
    if unit == "ns" and log:
        drawing.log_durations(axis)
        return
    axis.set_major_formatter(lambda value, _: shown(value, unit) if value else "0")
    if log:
        from matplotlib.ticker import NullLocator

        axis.set_minor_locator(NullLocator())
