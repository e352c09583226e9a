"""Table 5: time to clean a block, with copy-back and between planes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit

from ._loads import (
    CLEANED,
    LOADS,
    TRACES,
    by_organisation,
    mean,
    overloaded,
)

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

_WAYS = {
    "baseline": "copy-back",
    "inter-plane": "inter-plane",
    "one-open-block": "inter-plane, unless it happens to be the plane",
}


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return TPC-C on a cleaning drive, in three ways; the traces with and without copy-back."""
    cleaned = by_organisation(setting, ("tpcc",), _WAYS, "cleaned-", precondition=CLEANED)
    return cleaned + by_organisation(setting, TRACES, [*_WAYS][:2])


def _run(load: str, way: str) -> str:
    return f"{load}-cleaned-{way}" if load == "tpcc" else f"{load}-{way}"


def _of(runs: Outcomes, load: str, way: str) -> tuple[float, float]:
    """Return the mean time of a cleaning in nanoseconds, and its efficiency."""
    collection = runs[_run(load, way)].result.summary["collection"]
    return float(collection["mean_ns"]), float(collection["cleaning_efficiency"])


@exhibit.measures("A-12")
def saved(runs: Outcomes) -> Answer:
    """Return the share by which copy-back shortens a cleaning."""
    with_it, efficiency = _of(runs, "tpcc", "baseline")
    without, _ = _of(runs, "tpcc", "inter-plane")
    chance, _ = _of(runs, "tpcc", "one-open-block")
    share = 1 - with_it / without
    ours = (
        f"{share:.1%} at an efficiency of {efficiency:.1%}; {1 - with_it / chance:.1%} against one "
        f"open block a package, where pages may happen to stay in their plane"
    )
    return Answer(ours, {"saved_share": share})


@exhibit.measures("A-12n")
def numbers(runs: Outcomes) -> Answer:
    """Return the times, at the efficiency that the synthetic trace was made for."""
    with_it, efficiency = _of(runs, "tpcc", "baseline")
    without, _ = _of(runs, "tpcc", "inter-plane")
    return Answer(f"{without / 1e6:.2f} ms to {with_it / 1e6:.2f} ms at {efficiency:.1%}")


@exhibit.measures("A-13")
def nothing_moves(runs: Outcomes) -> Answer:
    """Return efficiency under the traces, and cleaning times with and without copy-back."""
    figures = {}
    told = []
    for load in TRACES:
        with_it, efficiency = _of(runs, load, "baseline")
        without, _ = _of(runs, load, "inter-plane")
        figures[f"{load}_efficiency_share"] = efficiency
        figures[f"{load}_copy_back_ns"] = with_it
        figures[f"{load}_inter_plane_ns"] = without
        told.append(
            f"{LOADS[load]} {efficiency:.2%}, {with_it / 1e6:.3f} ms a block with copy-back and "
            f"{without / 1e6:.3f} ms without"
        )
    return Answer("; ".join(told), figures)


@exhibit.tabulates("cleaning")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the paper's table, with the mean latency of requests."""
    import polars as pl

    rows = []
    for load in ("tpcc", *TRACES):
        for way, told in _WAYS.items():
            if (name := _run(load, way)) in runs:
                cleaning, efficiency = _of(runs, load, way)
                rows.append(
                    {
                        "workload": LOADS[load],
                        "pages_move": told,
                        "cleaning_mean_ns": cleaning,
                        "cleaning_efficiency": efficiency,
                        "request_mean_ns": mean(runs[name]),
                        "overloaded": overloaded(runs[name]),
                    }
                )
    return pl.DataFrame(rows)
