"""Figure 3: large reads without a gap beside large writes, and which writes starve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Figure, percentile, plots
from flashscape.studies.erase_suspension._runs import LOOKS, SCHEMES, micro

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

_SCHEMES = ("baseline", "es", "i-es", "d-es", "t-es-64")


@exhibit.runs
def runs(_: Setting) -> list[Run]:
    """Runs of T and of 4 T."""
    return micro(_SCHEMES)


@exhibit.measures("E-9")
def growth(runs: Outcomes) -> Answer:
    """The tail of writes in a run of T and in one of 4 T."""
    figures, told = {}, []
    for scheme in ("baseline", "es", "i-es"):
        name = scheme.replace("-", "_")
        texts = []
        for times in (1, 4):
            writes = runs[f"micro-{scheme}-{times}"].result.write
            # At a queue depth of 1 one write starves: of some hundred it is the tail.
            tail = percentile(writes, 99.9)
            figures[f"{name}_write_p99_9_{times}t_ns"] = Figure(tail.value, writes.requests)
            texts.append(tail.text("ns"))
        told.append(f"{SCHEMES[scheme]} {texts[0]} and {texts[1]}")
    return Answer(f"p99.9 in T and in 4 T: {'; '.join(told)}", figures)


@exhibit.draws("writes")
def drawn(runs: Outcomes) -> Picture:
    """Writes of the longer run in time."""
    results = {SCHEMES[s]: runs[f"micro-{s}-4"].measured for s in _SCHEMES}
    return plots.course(results, LOOKS, kind="write", slow_ns=200_000_000)
