"""``lifetime.svg``: UBER over wear with its limit, bytes until the end, and write amplification.

Without bit errors there is one state: its write amplification is shown by source. Needs matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape import drawing, units
from flashscape.lifetime import words
from flashscape.lifetime.life import DAYS_OF_A_YEAR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.lifetime.life import Life
    from flashscape.lifetime.state import WearState

_SUMMED, _COUNTED, _LIMIT, _WEAR = "#1b6ca8", "#d95f02", "#2b2b2b", "#9a9a9a"

_COLOURS = ("#1b6ca8", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#666666")
_SOURCES = {
    "host": "host data",
    "gc": "garbage collection",
    "scrub": "scrubbing",
    "summary": "summary pages",
}
"""Words for sources of programs, if others than their keys."""

_STEPS = 100
"""Steps of the curve of bytes."""

_HEADROOM = 1.15
"""Height of a linear axis, as a multiple of the largest value."""

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

    has_uber, is_one = life.limits.uber is not None, len(life.states) == 1
    heights = [*([3.0] if has_uber else []), 2.6, 1.5 if is_one else 2.6]
    figure = Figure(figsize=(8.8, sum(heights) + 0.6), layout="constrained")
    title = drawing.short(life.conditions.title, 90)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, color="#555555")
    panels = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    over_wear = list(panels[:-1] if is_one else panels)
    if has_uber:
        _uber(panels[0], life)
    _written(panels[-2], life)
    if is_one:
        _sources(panels[-1], life)
    else:
        _amplification(panels[-1], life)
    for axes in over_wear:
        _ends(axes, life, with_figures=axes is panels[-2])
        axes.grid(which="major")
        # Wear is counted in whole cycles, from none on.
        axes.set_xlim(left=0, right=1.05 * max(life.cycles, *(s.cycles for s in life.states), 1))
        axes.xaxis.set_major_formatter(lambda at, _: f"{at:,.0f}")
    over_wear[-1].set_xlabel("program and erase cycles")
    for axes in panels:
        axes.set_axisbelow(True)
        axes.legend(loc="upper left", bbox_to_anchor=(1.11, 1.0), borderaxespad=0.0)
    return figure


def draw_together(lives: Mapping[str, Life]) -> Figure:
    """Draw lives over each other, by their names."""
    import matplotlib as mpl

    with mpl.rc_context(drawing.STYLE):
        return _draw_together(lives)


def _draw_together(lives: Mapping[str, Life]) -> Figure:
    from flashscape.canvas import Figure

    has_uber = any(life.limits.uber is not None for life in lives.values())
    heights = [*([3.0] if has_uber else []), 3.0, 0.9 + 0.35 * len(lives)]
    figure = Figure(figsize=(8.8, sum(heights) + 0.8), layout="constrained")
    figure.suptitle("Projected lives", x=0.01, ha="left", fontsize=10, color="#555555")
    panels = list(figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0])
    *over_wear, amplification = panels
    if has_uber:
        over_wear[0].set_title("Uncorrectable bit error rate (UBER); dashed: its limit")
        over_wear[0].set_yscale("log")
        over_wear[0].yaxis.set_major_formatter(lambda value, _: f"{value:.0e}")
    written = over_wear[-1]
    written.set_title("Bytes that hosts can write, to the end of life")
    written.yaxis.set_major_formatter(lambda count, _: units.size(count) if count else "0")
    for colour, (name, life) in zip(_COLOURS, lives.items(), strict=False):
        if life.limits.uber is not None:
            rates = [(each.cycles, each.uber) for each in life.states if each.uber]
            over_wear[0].plot(*_columns(rates), "o-", color=colour, markersize=3.5, label=name)
            over_wear[0].axhline(life.limits.uber, color=colour, linestyle="--", linewidth=0.9)
        at = _steps(life)
        written.plot(at, [life.bytes_until(each) for each in at], color=colour, label=name)
        written.plot([life.cycles], [life.host_bytes], _end_of(life), color=colour)
    most = max(max(life.cycles, *(each.cycles for each in life.states)) for life in lives.values())
    for axes in over_wear:
        axes.set_xlim(0.0, 1.05 * max(most, 1))
        axes.xaxis.set_major_formatter(lambda at, _: f"{at:,.0f}")
        axes.grid(which="major")
        axes.set_axisbelow(True)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    over_wear[-1].set_xlabel("program and erase cycles")
    written.set_ylim(bottom=0.0)
    _by_source(amplification, {name: _last(life) for name, life in lives.items()})
    return figure


def _last(life: Life) -> WearState:
    """Return the last state of wear that was run before the end of life, else the first."""
    before = [state for state in life.states if state.cycles <= life.cycles]
    return before[-1] if before else life.states[0]


def _end_of(life: Life) -> str:
    """Return the marker of the end: an arrow if no limit is reached."""
    return ">" if life.ends_by is None else "o"


def _steps(life: Life) -> list[float]:
    """Return cycles from none to the end of life, for a curve."""
    return [life.cycles * step / _STEPS for step in range(_STEPS + 1)]


def _written(axes: Axes, life: Life) -> None:
    """Draw the bytes that hosts can write until each number of cycles: TBW for any wear limit."""
    axes.set_title("Bytes that hosts can write")
    at = _steps(life)
    written = [life.bytes_until(each) for each in at]
    axes.plot(at, written, color=_SUMMED, label="until these cycles")
    axes.set_ylim(0.0, max(*written, 1.0) * _HEADROOM)
    axes.yaxis.set_major_formatter(lambda count, _: units.size(count) if count else "0")
    days = DAYS_OF_A_YEAR * life.limits.years
    a_day = life.conditions.exported_bytes * days
    scales: Any = (lambda count: count / a_day, lambda dwpd: dwpd * a_day)
    right = axes.secondary_yaxis("right", functions=scales)
    right.set_ylabel(f"drive writes a day ({words.years(life)})")


def _sources(axes: Axes, life: Life) -> None:
    """Draw the parts of write amplification of the only state."""
    (state,) = life.states
    _by_source(axes, {"": state})


def _by_source(axes: Axes, states: Mapping[str, WearState]) -> None:
    """Draw a bar for each state, with its parts of write amplification by source."""
    axes.set_title("Bytes programmed for each byte written")
    parts = [s.programmed or {"all": s.write_amplification} for s in states.values()]
    ends = [0.0] * len(parts)
    sources = dict.fromkeys(source for each in parts for source in each)
    for colour, source in zip(_COLOURS, sources, strict=False):
        widths = [each.get(source, 0.0) for each in parts]
        name = _SOURCES.get(source, source)
        label = f"{name}: {widths[0]:.2f}" if len(parts) == 1 else name
        style: Any = {"left": list(ends), "color": colour, "edgecolor": "white", "label": label}
        axes.barh(range(len(parts)), widths, 0.6, **style)
        ends = [end + width for end, width in zip(ends, widths, strict=True)]
    for at, end in enumerate(ends):
        axes.text(end, at, f" {end:.2f}", va="center", fontsize=8)
    axes.set_xlim(0.0, max(ends) * _HEADROOM)
    axes.set_ylim(len(parts) - 0.5, -0.5)
    axes.set_yticks(range(len(parts)), [drawing.short(name, 40) for name in states])
    axes.tick_params(axis="y", length=0)
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)


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


def _ends(axes: Axes, life: Life, *, with_figures: bool) -> None:
    """Mark the end of life, and the wear limit if it comes later."""
    if life.ends_by is not None:
        label = f"end of life: {life.cycles:,.0f} cycles"
        if with_figures:
            label += f"\n{life.tbw:.3g} TBW: {life.drive_writes:,.4g} drive writes"
            label += f"\n{life.dwpd:.3g} DWPD over {words.years(life)}"
        axes.axvline(life.cycles, color=_COUNTED, linewidth=1.2, label=label)
    if life.limits.wear is not None and life.ends_by != "wear":
        label = f"wear limit: {life.limits.wear:,} cycles"
        axes.axvline(life.limits.wear, color=_WEAR, linestyle=":", linewidth=1.4, label=label)


def _columns(points: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [cycles for cycles, _ in points], [value for _, value in points]
