"""The figure that all pictures are drawn on. Needs matplotlib: import it where one is drawn."""

from __future__ import annotations

from matplotlib import figure

from flashscape import drawing


class Figure(figure.Figure):
    """A figure of matplotlib that notebooks show, whether pyplot was imported or not."""

    def _repr_png_(self) -> bytes:
        return drawing.encoded(self, "png")
