"""Style, latency axes and thinned curves that all pictures share.

Needs matplotlib, which is imported only for drawing.
"""

from __future__ import annotations

import io
import logging
import math
import warnings
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import output, units
from flashscape.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_INK = "#2b2b2b"

POINTS = 300
"""Points of a curve: more than the eye resolves, and few enough for a small file."""

STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.edgecolor": "#9a9a9a",
    "axes.labelcolor": _INK,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "legend.fontsize": 8,
    # Users choose names, and a name may contain a dollar sign.
    "text.parse_math": False,
    "svg.hashsalt": "flashscape",
}


NOT_INSTALLED = 'matplotlib is not installed (pip install "flashscape[plot]")'
"""Reason for missing pictures if :func:`is_available` is False."""


def is_available() -> bool:
    """True if matplotlib is installed."""
    return find_spec("matplotlib") is not None


@contextmanager
def quiet() -> Iterator[None]:
    """Keep matplotlib's messages about fonts, caches and layout out of a command's output."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


@contextmanager
def styled() -> Iterator[None]:
    """Draw with the style of all pictures, and without output on stderr."""
    with quiet():
        import matplotlib as mpl

        with mpl.rc_context(STYLE):
            yield


FORMS = ("png", "pdf", "svg")
"""Forms of picture files, by suffix."""

_DOTS = 150
"""Dots per inch of a PNG."""

_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}
"""No date and no version of the drawing program, so that equal figures give equal files."""


def encoded(figure: Figure, form: str) -> bytes:
    """Encode a figure as ``png``, ``pdf`` or ``svg``: equal figures, equal bytes."""
    buffer = io.BytesIO()
    with styled():
        figure.savefig(buffer, format=form, dpi=_DOTS, metadata=_METADATA[form])
    return buffer.getvalue()


def form_of(path: str | PathLike[str]) -> str:
    """Return the form of a file by its suffix; raise OutputError for an unknown one."""
    suffix = Path(path).suffix.lower()
    if suffix.removeprefix(".") not in FORMS:
        told = f"no picture has the suffix {suffix!r}" if suffix else "the name has no suffix"
        raise OutputError(f"{path}: {told}; name a file that ends in .png, .pdf or .svg")
    return suffix.removeprefix(".")


def refuse(why: str | None) -> None:
    """Raise OutputError if there is a reason not to draw."""
    if why is not None:
        raise OutputError(f"no picture: {why}")


def write(draw: Callable[[], Figure], path: str | PathLike[str], *, force: bool = False) -> None:
    """Draw to a PNG, PDF or SVG file, chosen by its suffix, whole or not at all.

    Raises OutputError for another suffix, and if the file exists already without
    ``force``: both before anything is drawn.
    """
    form = form_of(path)
    with output.File.claim(path, "--out", force=force) as file:
        file.store(encoded(draw(), form))


def short(name: str, length: int) -> str:
    """Shorten a name in its middle: names differ at their ends."""
    if len(name) <= length:
        return name
    half = (length - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def label_tail(axes: Axes) -> None:
    """Label logarithmic axes of latency and of percentiles."""
    log_durations(axes.xaxis)
    levels = [10.0**-exponent for exponent in range(9)]
    floor = min(axes.get_ylim()[0], 0.05)
    axes.set_ylim(floor, 1.4)
    shown = [level for level in levels if level >= floor]
    axes.set_yticks(shown, [_level(level) for level in shown])
    axes.yaxis.minorticks_off()
    axes.grid(which="major")


def thinned(
    latency: Sequence[float], shares: Sequence[float]
) -> tuple[Sequence[float], Sequence[float]]:
    """Leave out steps that are too small to be seen."""
    wide = max(math.log(latency[-1] / latency[0]), 1e-9) / POINTS
    high = max(-math.log(min(shares)), 1e-9) / POINTS
    kept = [0]
    for at in range(1, len(latency) - 1):
        moved = math.log(latency[at] / latency[kept[-1]]) > wide
        if moved or math.log(shares[kept[-1]] / shares[at]) > high:
            kept.append(at)
    kept.append(len(latency) - 1)
    return [latency[at] for at in kept], [shares[at] for at in kept]


def _level(share: float) -> str:
    return f"p{100 - share * 100:.6f}".rstrip("0").rstrip(".") if share < 1 else "p0"


def duration(ns: float, _: object = None) -> str:
    """Format a duration as an axis label: ``3 ms``."""
    number, unit = units.duration(round(ns, 3)).split()
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return f"{number} {unit}" if ns else "0"


def log_durations(axis: Axis) -> None:
    """Label a logarithmic axis of nanoseconds with at least four ticks, also if it is narrow."""
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

    low, high = axis.get_view_interval()
    if high / low < 1.5:
        low, high = low / 1.25, high * 1.25
        axis.axes.set(**{"xlim" if axis is axis.axes.xaxis else "ylim": (low, high)})
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1,), (1, 3), (1, 2, 5)):
        ticks = [digit * 10.0**decade for decade in decades for digit in digits]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= 4:
            break
    else:
        ticks = [t for t in MaxNLocator(5).tick_values(low, high) if low <= t <= high and t > 0]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(duration)
    axis.set_minor_locator(NullLocator())
