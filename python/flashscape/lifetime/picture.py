"""``lifetime.svg``: UBER over wear with its limit, and write amplification. Needs matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape import drawing
from flashscape.lifetime import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.lifetime.life import Life

_SUMMED, _COUNTED, _LIMIT, _WEAR = "#1b6ca8", "#d95f02", "#2b2b2b", "#9a9a9a"

_HEADROOM = 1.15
"""Height of the axis of write amplification, as a multiple of the largest value."""

_DECADES = 12
"""Decades below the limit that the axis of UBER shows at most: far below, it is as good as zero."""


def why_not() -> str | None:
    """Say why nothing can be drawn; None if a picture is possible."""
    return None if drawing.is_available() else drawing.NOT_INSTALLED


def draw(life: Life) -> Figure:
    """Draw a life as a figure of matplotlib."""
    import matplotlib as mpl

    with mpl.rc_context(drawing.STYLE):
        return _draw(life)


def _draw(life: Life) -> Figure:
    from flashscape.canvas import Figure

    has_uber = life.limits.uber is not None
    figure = Figure(figsize=(8.8, 6.4 if has_uber else 3.6), layout="constrained")
    title = drawing.short(life.conditions.title, 90)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, color="#555555")
    panels = figure.subplots(2 if has_uber else 1, 1, sharex=True, squeeze=False)[:, 0]
    if has_uber:
        _uber(panels[0], life)
    _amplification(panels[-1], life)
    for axes in panels:
        _ends(axes, life)
        axes.grid(which="major")
        axes.set_axisbelow(True)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    # Wear is counted in whole cycles, from none on.
    panels[-1].set_xlim(left=0)
    panels[-1].xaxis.set_major_formatter(lambda at, _: f"{at:,.0f}")
    panels[-1].set_xlabel("program and erase cycles")
    return figure


def _uber(axes: Axes, life: Life) -> None:
    axes.set_title("Uncorrectable bit error rate (UBER)")
    axes.set_yscale("log")
    limit = life.limits.uber
    assert limit is not None
    # A logarithmic axis has no zero.
    summed = [(each.cycles, each.uber) for each in life.states if each.uber]
    axes.plot(*_columns(summed), "o-", color=_SUMMED, markersize=3.5, label="summed probabilities")
    counted = [(s.cycles, s.uber_counted) for s in life.states if s.uber_counted]
    if counted:
        axes.plot(*_columns(counted), "x", color=_COUNTED, markersize=5, label="counted")
    axes.axhline(limit, color=_LIMIT, linestyle="--", linewidth=0.9, label=f"limit {limit:g}")
    shown = [limit, *(uber for _, uber in (*summed, *counted))]
    axes.set_ylim(max(min(shown), limit / 10.0**_DECADES) / 3, max(shown) * 3)
    axes.set_ylabel("per bit read")
    # Mathematical text is off: names may contain dollar signs.
    axes.yaxis.set_major_formatter(lambda uber, _: f"{uber:.0e}")


def _amplification(axes: Axes, life: Life) -> None:
    axes.set_title("Write amplification")
    points = [(each.cycles, each.write_amplification) for each in life.states]
    axes.plot(*_columns(points), "o-", color=_SUMMED, markersize=3.5, label="of each run")
    axes.set_ylim(0.0, max(value for _, value in points) * _HEADROOM)
    axes.set_ylabel("bytes programmed per byte written")


def _ends(axes: Axes, life: Life) -> None:
    """Mark the end of life, and the wear limit if it comes later."""
    if life.ends_by is not None:
        figures = f"{life.tbw:.3g} TBW, {life.dwpd:.3g} DWPD ({words.years(life)})"
        label = f"end of life: {life.cycles:,.0f} cycles\n{figures}"
        axes.axvline(life.cycles, color=_COUNTED, linewidth=1.2, label=label)
    if life.limits.wear is not None and life.ends_by != "wear":
        label = f"wear limit: {life.limits.wear:,} cycles"
        axes.axvline(life.limits.wear, color=_WEAR, linestyle=":", linewidth=1.4, label=label)


def _columns(points: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [cycles for cycles, _ in points], [value for _, value in points]
