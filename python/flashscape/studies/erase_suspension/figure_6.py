"""Figure 6: read and write tails of TPC-C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Figure, plots
from flashscape.studies.erase_suspension._runs import LOOKS, SCHEMES, lambda_t, tpcc, tpcc_trace
from flashscape.studies.erase_suspension._shares import erase_shares

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """The stand-in under each scheme, and the trace itself."""
    return [*(tpcc(scheme) for scheme in SCHEMES), *tpcc_trace(setting)]


def longest(runs: Outcomes, scheme: str, kind: str) -> Figure:
    """The longest request of a kind."""
    latency = runs[f"tpcc-{scheme}"].measured.of_kind(kind)
    return Figure(latency.max, latency.requests)


def collection(runs: Outcomes) -> Figure:
    """The longest time that a write waits for collection in this drive: under Baseline."""
    return longest(runs, "baseline", "write")


@exhibit.measures("E-13")
def bounded(runs: Outcomes) -> Answer:
    """The longest write with T-ES(64)."""
    ours, alone = longest(runs, "t-es-64", "write"), collection(runs)
    figures = {"t_es_write_max_ns": ours, "gc_max_ns": alone, "baseline_write_max_ns": alone}
    return Answer(f"{ours.text('ns')}; Baseline {alone.text('ns')}", figures)


@exhibit.measures("E-14")
def tails(runs: Outcomes) -> Answer:
    """Who ends, and the longest requests."""
    figures: dict[str, object] = {
        "es_completed": runs["tpcc-es"].error is None,
        "i_es_completed": runs["tpcc-i-es"].error is None,
    }
    for scheme, name in (("baseline", "baseline"), ("d-es", "d_es"), ("t-es-64", "t_es")):
        figures[f"{name}_read_max_ns"] = longest(runs, scheme, "read")
        figures[f"{name}_write_max_ns"] = longest(runs, scheme, "write")
    figures["ideal_es_write_max_ns"] = longest(runs, "ideal-es", "write")

    def end(scheme: str) -> str:
        return f"{SCHEMES[scheme]} {'ends' if runs[f'tpcc-{scheme}'].error is None else 'starves'}"

    compared = ("baseline", "d-es", "t-es-64")
    reads = ", ".join(f"{SCHEMES[s]} {longest(runs, s, 'read').text('ns')}" for s in compared)
    dense = f"lambda t_step {lambda_t():.0f}"
    return Answer(f"{end('es')}, {end('i-es')} ({dense}); longest read {reads}", figures)


@exhibit.draws("tails")
def drawn(runs: Outcomes) -> Picture:
    """Reads and writes of the schemes; of one that starves what it had until then."""
    results = {name: runs[f"tpcc-{scheme}"].measured for scheme, name in SCHEMES.items()}
    panels = {
        "reads": {name: result.read for name, result in results.items()},
        "writes": {name: result.write for name, result in results.items()},
    }
    references = {
        "reads": [plots.Reference(1e6, "paper: D-ES and T-ES about 1 ms", "D-ES")],
        "writes": [plots.Reference(88e6, "paper: T-ES 24 + 64 ms", "T-ES(64)")],
    }
    return plots.tails(panels, LOOKS, references=references)


@exhibit.tabulates("trace")
def trace(runs: Outcomes) -> pl.DataFrame:
    """The trace itself, at its own pace; no rows where it is absent.

    It has more writes than the drive can place when it is full, so those pile up.
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
    """What reads wait for, by scheme."""
    return erase_shares({s: runs[f"tpcc-{s}"].measured for s in SCHEMES})
