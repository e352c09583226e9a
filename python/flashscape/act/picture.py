"""Latencies and service times over multipliers, with their limits. Needs matplotlib."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import drawing
from flashscape.act.conditions import LIMITS
from flashscape.act.load import STREAMS
from flashscape.errors import ConfigError, OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.act.hunt import Rating
    from flashscape.act.trial import Trial

_FORMS = ("svg", "png")
_PERCENTILES = ("p95", "p99", "p99_9")
"""Percentiles that the first three conditions limit: fewer than 5, 1 and 0.1 % are slower."""

_COLOURS = ("#1b6ca8", "#d95f02", "#1b9e77")
_DPI = 150


def form_of(path: str | Path) -> str:
    """Return the form of a picture file, ``svg`` or ``png``; raise ConfigError or OutputError."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in _FORMS:
        raise ConfigError(f"{path}: a picture is called .svg or .png")
    if not drawing.is_available():
        raise OutputError(f"no picture: {drawing.NOT_INSTALLED}")
    return form


def drawn(drive: str, trials: Sequence[Trial], ratings: Mapping[str, Rating], form: str) -> bytes:
    """Draw the multipliers that were tried on a drive, as ``svg`` or ``png``."""
    buffer = io.BytesIO()
    with drawing.quiet():
        import matplotlib as mpl

        with mpl.rc_context(drawing.STYLE):
            # Write no date, so that equal searches draw equal files.
            metadata = {"Date": None} if form == "svg" else {}
            _draw(drive, trials, ratings).savefig(buffer, format=form, dpi=_DPI, metadata=metadata)
    return buffer.getvalue()


def _draw(drive: str, trials: Sequence[Trial], ratings: Mapping[str, Rating]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.8, 7.2), layout="constrained")
    title = f"Aerospike Certification Tool on {drawing.short(drive, 90)}"
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, color="#555555")
    latencies, services = figure.subplots(2, 1, sharex=True)
    _latencies(latencies, trials)
    _services(services, trials)
    # Beside the panels, so that no curve runs under the legend.
    beside: Any = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    latencies.legend(**beside)
    for axes in (latencies, services):
        _ratings(axes, ratings)
    # Add the legend last, so that it includes the ratings; the panel above has the same lines.
    services.legend(**beside)
    multipliers = [trial.multiplier for trial in trials]
    if max(multipliers) > 10 * min(multipliers):
        services.set_xscale("log", base=2)
    services.xaxis.set_major_formatter(lambda at, _: f"{at:g}x")
    services.set_xlabel("multiplier")
    return figure


def _latencies(axes: Axes, trials: Sequence[Trial]) -> None:
    axes.set_title("Small reads: percentiles, and where each would fail (dashed)")
    axes.set_yscale("log")
    measured = [trial for trial in trials if trial.small_reads.requests]
    where = [trial.multiplier for trial in measured]
    for name, limit, colour in zip(_PERCENTILES, LIMITS, _COLOURS, strict=True):
        spans = [getattr(trial.small_reads, name) for trial in measured]
        label = name.replace("_", ".")
        axes.plot(where, spans, "o-", color=colour, markersize=3.5, label=label)
        axes.axhline(limit.threshold_ns, color=colour, linestyle="--", linewidth=0.9)
    axes.grid(which="major")
    drawing.log_durations(axes.yaxis)


def _services(axes: Axes, trials: Sequence[Trial]) -> None:
    axes.set_title("Mean service time over issue period: fails from 1 on")
    axes.set_yscale("log")
    measured = [trial for trial in trials if trial.services]
    for at, (stream, colour) in enumerate(zip(STREAMS, _COLOURS, strict=True)):
        points = [(t.multiplier, t.services[at]) for t in measured]
        ratios = [service.mean_ns / service.period_ns for _, service in points]
        where = [multiplier for multiplier, _ in points]
        axes.plot(where, ratios, "o-", color=colour, markersize=3.5, label=stream.label)
    axes.axhline(1.0, color="#2b2b2b", linestyle="--", linewidth=0.9)
    axes.grid(which="major")
    axes.yaxis.set_major_formatter(lambda ratio, _: f"{ratio:g}")


def _ratings(axes: Axes, ratings: Mapping[str, Rating]) -> None:
    for (name, rating), style in zip(ratings.items(), ("-", ":"), strict=True):
        if rating.multiplier:
            label = f"{name} rating {rating.multiplier}x"
            where = rating.multiplier
            axes.axvline(where, color="#9a9a9a", linestyle=style, linewidth=1.4, label=label)
