"""Latency percentiles of several schemes, on an axis of nines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flashscape import drawing
from flashscape.regions import FOUNDED
from flashscape.reproduce.plots import curves
from flashscape.reproduce.plots.looks import legend_below, new_figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flashscape.latency import Latency
    from flashscape.reproduce.plots.looks import Looks, Reference, Style

_NINES_MOST = 7


def tails(
    panels: Mapping[str, Mapping[str, Latency]],
    looks: Looks,
    *,
    title: str = "",
    references: Mapping[str, Sequence[Reference]] | None = None,
    repeats: Mapping[str, Mapping[str, Sequence[Latency]]] | None = None,
) -> Figure:
    """Draw a panel for each kind of request, with a curve for each scheme, to its longest request.

    A curve is thin and dotted where fewer than ten requests lie beyond: it says little there.
    ``repeats`` has the same of other seeds, by panel and scheme, drawn as thin lines.
    ``references`` has latencies of the paper's by panel, drawn as dashed lines.
    """
    figure, all_axes = new_figure(len(panels), title)
    for axes, (name, schemes) in zip(all_axes, panels.items(), strict=True):
        axes.set_title(name)
        axes.set(xscale="log", yscale="log", xlabel="latency", ylabel="percentile of requests")
        drawn = {scheme: one for scheme, one in schemes.items() if one.requests}
        for scheme in looks.ordered(drawn):
            for again in (repeats or {}).get(name, {}).get(scheme, ()):
                _thin_curve(axes, again, looks[scheme])
            _curve(axes, drawn[scheme], looks[scheme], scheme)
        for at, reference in enumerate((references or {}).get(name, ())):
            axes.axvline(reference.value, **looks.of_reference(reference, at))
        _nines(axes, max((one.requests for one in drawn.values()), default=10))
    legend_below(figure, all_axes)
    return curves.keep(figure, _rows(panels, repeats or {}, references or {}))


def _rows(
    panels: Mapping[str, Mapping[str, Latency]],
    repeats: Mapping[str, Mapping[str, Sequence[Latency]]],
    references: Mapping[str, Sequence[Reference]],
) -> Iterator[dict[str, Any]]:
    """Yield a row for each bucket of latency, whether it is seen or not, and for each reference.

    ``repeat`` counts the runs with other seeds from 1; the curve itself has 0.
    """
    for panel, schemes in panels.items():
        for scheme, latency in schemes.items():
            others = repeats.get(panel, {}).get(scheme, ())
            for repeat, one in enumerate((latency, *others)):
                left = one.requests
                for upper, requests in one.buckets:
                    left -= requests
                    assert one.max is not None
                    yield {
                        **curves.point(panel, scheme),
                        "repeat": repeat,
                        "latency_ns": min(upper, one.max),
                        "requests": requests,
                        "slower_share": left / one.requests,
                    }
    for panel, lines_across in references.items():
        for each in lines_across:
            row = {**curves.point(panel, each.scheme, each.label), "repeat": 0}
            yield {**row, "latency_ns": round(each.value), "requests": None, "slower_share": None}


def _thin_curve(axes: Axes, latency: Latency, look: Style) -> None:
    """Draw another seed; its distance shows how much a curve may differ by chance."""
    if latency.requests:
        times, beyond = _points(latency)
        axes.step(times, beyond, linewidth=0.6, alpha=0.6, color=look.colour, where="post")


def _points(latency: Latency) -> tuple[Sequence[float], Sequence[float]]:
    """Return latencies, and the shares of requests beyond them."""
    assert latency.min is not None
    assert latency.max is not None
    times, beyond, passed = [float(max(1, latency.min))], [1.0], 0
    for upper, requests in latency.buckets:
        passed += requests
        times.append(float(max(1, min(upper, latency.max))))
        # No request lies beyond the last point, and a logarithm has no zero: count the last itself.
        beyond.append(max(latency.requests - passed, 1) / latency.requests)
    return drawing.thinned(times, beyond)


def _curve(axes: Axes, latency: Latency, look: Style, scheme: str) -> None:
    drawn_times, drawn_shares = _points(latency)
    cut = next(
        (at for at, share in enumerate(drawn_shares) if share * latency.requests < FOUNDED),
        len(drawn_shares),
    )
    style: Any = {"color": look.colour, "where": "post"}
    axes.step(
        drawn_times[:cut],
        drawn_shares[:cut],
        linewidth=1.7,
        linestyle=look.dash,
        marker=look.marker,
        markersize=4.5,
        markevery=_marks(drawn_shares[:cut]),
        label=scheme,
        **style,
    )
    first = max(cut - 1, 0)
    axes.step(drawn_times[first:], drawn_shares[first:], linewidth=0.9, linestyle=":", **style)


def _marks(shares: Sequence[float]) -> list[int]:
    """Return the index in a curve of each full nine that it reaches."""
    places = []
    for nines in range(1, _NINES_MOST + 1):
        reached = [at for at, share in enumerate(shares) if share <= 10.0**-nines]
        places += reached[:1]
    return sorted(set(places))


def _nines(axes: Axes, requests: int) -> None:
    """Label the percentiles upwards, as far as there are requests."""
    drawing.log_durations(axes.xaxis)
    most = min(_NINES_MOST, max(1, math.ceil(math.log10(requests))))
    levels = [10.0**-nines for nines in range(most + 1)]
    # Upside down: the rarest latencies are on top.
    axes.set_ylim(1.25, 0.7 / requests)
    axes.set_yticks(levels, [_name(nines) for nines in range(most + 1)])
    axes.yaxis.minorticks_off()
    axes.grid(which="major")


def _name(nines: int) -> str:
    if nines < 2:
        return ("0", "90")[nines]
    return "99" + (f".{'9' * (nines - 2)}" if nines > 2 else "")
