"""Figure 3: large reads without gaps beside large writes, and the writes that starve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Figure, plots

from ._runs import LOOKS, MICRO_MS, MICRO_TIMES, SCHEMES, micro

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

_SCHEMES = ("baseline", "es", "i-es", "d-es", "t-es-64")


@exhibit.runs
def runs(_: Setting) -> list[Run]:
    """Return runs of T, 2 T and 4 T."""
    return micro(_SCHEMES)


def _longest(runs: Outcomes, scheme: str, times: int) -> Figure:
    writes = runs[f"micro-{scheme}-{times}"].measured.write
    return Figure(writes.max, writes.requests)


@exhibit.measures("E-9")
def growth(runs: Outcomes) -> Answer:
    """Return the longest write in a run of T and in one of 4 T."""
    figures, told = {}, []
    for scheme in ("baseline", "es", "i-es"):
        longest = {times: _longest(runs, scheme, times) for times in (1, 4)}
        for times, figure in longest.items():
            figures[f"{scheme.replace('-', '_')}_write_max_{times}t_ns"] = figure
        told.append(f"{SCHEMES[scheme]} {longest[1].text('ns')} and {longest[4].text('ns')}")
    return Answer(f"longest in T and in 4 T: {'; '.join(told)}", figures)


@exhibit.draws("writes")
def drawn(runs: Outcomes) -> Picture:
    """Draw the longest write by the length of the run."""
    points = {
        SCHEMES[s]: [
            (times * MICRO_MS * 1e6, float(_longest(runs, s, times).numbers[0]))
            for times in MICRO_TIMES
        ]
        for s in _SCHEMES
    }
    return plots.lines(
        {"longest write": points},
        LOOKS,
        x_label="length of the run",
        x_unit="ns",
        units={"longest write": "ns"},
        log=True,
    )
