"""Figure 6: read and write tails of TPC-C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Figure, plots

from ._runs import (
    DENSER,
    LOOKS,
    SCHEMES,
    lambda_t,
    tpcc,
    tpcc_name,
    tpcc_trace,
)
from ._shares import erase_shares

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return the synthetic trace at the trace's pace and denser, and the trace itself."""
    synthetic = [tpcc(setting, s, denser) for denser in (1, DENSER) for s in SCHEMES]
    return [*synthetic, *tpcc_trace(setting)]


def longest(runs: Outcomes, scheme: str, kind: str, denser: int = 1) -> Figure:
    """Return the longest request of a kind."""
    latency = runs[tpcc_name(scheme, denser)].measured.of_kind(kind)
    return Figure(latency.max, latency.requests)


@exhibit.measures("E-13")
def bounded(runs: Outcomes) -> Answer:
    """Return the longest write with T-ES(64), and that of collection alone, under Baseline."""
    ours, alone = longest(runs, "t-es-64", "write"), longest(runs, "baseline", "write")
    figures = {"t_es_write_max_ns": ours, "baseline_write_max_ns": alone}
    return Answer(f"{ours.text('ns')}; Baseline {alone.text('ns')}", figures)


@exhibit.measures("E-14")
def tails(runs: Outcomes) -> Answer:
    """Return the schemes that end, with dense reads and at the trace's pace, and the tails."""
    figures: dict[str, object] = {
        "es_completed": _ends(runs, "es", DENSER),
        "i_es_completed": _ends(runs, "i-es", DENSER),
    }
    for scheme, name in (("baseline", "baseline"), ("d-es", "d_es"), ("t-es-64", "t_es")):
        figures[f"{name}_read_max_ns"] = longest(runs, scheme, "read", DENSER)
        figures[f"{name}_write_max_ns"] = longest(runs, scheme, "write", DENSER)
    figures["ideal_es_write_max_ns"] = longest(runs, "ideal-es", "write", DENSER)
    compared = ("baseline", "d-es", "t-es-64")
    reads = ", ".join(
        f"{SCHEMES[s]} {longest(runs, s, 'read', DENSER).text('ns')}" for s in compared
    )
    dense, own = (
        f"{_told(runs, 'es', denser)} and {_told(runs, 'i-es', denser)}" for denser in (DENSER, 1)
    )
    ours = (
        f"at {DENSER} times the trace's pace (lambda t_step {lambda_t(DENSER):.0f}) {dense}, "
        f"longest read {reads}; at its own pace ({lambda_t():.0f}) {own}"
    )
    return Answer(ours, figures)


def _ends(runs: Outcomes, scheme: str, denser: int) -> bool:
    return runs[tpcc_name(scheme, denser)].error is None


def _told(runs: Outcomes, scheme: str, denser: int) -> str:
    return f"{SCHEMES[scheme]} {'ends' if _ends(runs, scheme, denser) else 'starves'}"


def _drawn(runs: Outcomes, denser: int) -> Picture:
    results = {name: runs[tpcc_name(s, denser)].measured for s, name in SCHEMES.items()}
    starved = [SCHEMES[s] for s in SCHEMES if not _ends(runs, s, denser)]
    pace = "the trace's pace" if denser == 1 else f"{denser} times the trace's pace"
    title = f"{pace}; {', '.join(starved)} starved" if starved else pace
    panels = {
        "reads": {name: result.read for name, result in results.items()},
        "writes": {name: result.write for name, result in results.items()},
    }
    references = {
        "reads": [plots.Reference(1e6, "paper: D-ES and T-ES about 1 ms", "D-ES")],
        "writes": [plots.Reference(88e6, "paper: T-ES 24 + 64 ms", "T-ES(64)")],
    }
    return plots.tails(panels, LOOKS, title=title, references=references)


@exhibit.draws("tails")
def drawn(runs: Outcomes) -> Picture:
    """Draw reads and writes at the trace's pace; for a starving scheme, until the starvation."""
    return _drawn(runs, 1)


@exhibit.draws("tails-denser")
def drawn_denser(runs: Outcomes) -> Picture:
    """Draw the same with denser reads."""
    return _drawn(runs, DENSER)


@exhibit.tabulates("trace")
def trace(runs: Outcomes) -> pl.DataFrame:
    """Return the trace itself, at its own pace; no rows if it is absent.

    It has more writes than a full drive can absorb, so they pile up.
    """
    import polars as pl

    rows = []
    for scheme in SCHEMES:
        if f"tpcc-trace-{scheme}" in runs:
            measured = runs[f"tpcc-trace-{scheme}"].measured
            read, write = measured.read, measured.write
            rows.append(
                {
                    "scheme": scheme,
                    "reads": read.requests,
                    "read_mean_ns": read.mean,
                    "read_p99_9_ns": read.percentile(99.9),
                    "read_max_ns": read.max,
                    "writes": write.requests,
                    "write_max_ns": write.max,
                }
            )
    return pl.DataFrame(rows)


@exhibit.tabulates("causes")
def causes(runs: Outcomes) -> pl.DataFrame:
    """Return the causes of read latency, by scheme."""
    return erase_shares({s: runs[tpcc_name(s)].measured for s in SCHEMES})


@exhibit.tabulates("requests")
def requests(runs: Outcomes) -> pl.DataFrame:
    """Return the served reads and writes of each scheme: delayed writers issue fewer writes."""
    import polars as pl

    rows = []
    for denser in (1, DENSER):
        for scheme in SCHEMES:
            measured = runs[tpcc_name(scheme, denser)].measured
            rows.append(
                {
                    "scheme": scheme,
                    "times_the_traces_pace": denser,
                    "ends": _ends(runs, scheme, denser),
                    "reads": measured.read.requests,
                    "writes": measured.write.requests,
                }
            )
    return pl.DataFrame(rows)
