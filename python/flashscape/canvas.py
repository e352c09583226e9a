"""The figure class of all pictures. Needs matplotlib: import this module only to draw."""

from __future__ import annotations

from matplotlib import figure

from flashscape import drawing


class Figure(figure.Figure):
    """A figure of matplotlib that notebooks show, even if pyplot is not imported."""

    def _repr_png_(self) -> bytes:
        return drawing.encoded(self, "png")
