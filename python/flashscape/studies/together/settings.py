"""HRM on an old drive by its two parameters that no paper gives: its cut-off and its threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit

from . import _measures
from ._drives import ABOVE, CUT_OFFS, Recovery
from ._measures import effect
from ._runs import Case
from .combinations import row

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

SCHEMES = ("h", "rh")

RECOVERIES = [Recovery(cut_off=cut_off) for cut_off in CUT_OFFS] + [Recovery(above=ABOVE["early"])]

CASES = [Case("old", scheme, recovery) for scheme in SCHEMES for recovery in RECOVERIES]

_BASELINES = [Case("old", "none"), Case("old", "rows")]


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return HRM alone and beside reconstruction, with each parameter, and their baselines."""
    return [run for case in CASES + _BASELINES for run in case.runs(setting)]


@exhibit.measures("X-9")
def parameters(runs: Outcomes) -> Answer:
    """Return the mean read, the tail and write amplification by the parameters of HRM."""
    told = []
    for case in CASES:
        measures = {"mean": _measures.mean, "tail": _measures.tail, "writes": _measures.writes}
        words = [f"{name} {effect(case, runs, of).text}" for name, of in measures.items()]
        if case.middle(runs, _measures.tail) is None:
            words = [f"stops with {case.results(runs).count(None)} of {len(case.results(runs))}"]
        told.append(f"{case.title}: {', '.join(words)}")
    return Answer("; ".join(told))


@exhibit.tabulates("parameters")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each parameter."""
    import polars as pl

    return pl.DataFrame(
        [{"cut_off": c.recovery.cut_off, "above": c.recovery.above} | row(c, runs) for c in CASES]
    )
