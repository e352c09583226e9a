"""Lost data of an old drive whose re-reads end after three, for all data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit

from . import _measures
from ._drives import ABOVE, Recovery
from ._runs import Case

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Run, Setting
    from flashscape.result import Result

exhibit = Exhibit()

_EARLY = ABOVE["early"]

CASES = [
    Case("old", scheme, recovery)
    for scheme, recovery in (
        ("none", Recovery(is_limited=True)),
        ("r", Recovery(is_limited=True)),
        ("rows", Recovery(is_limited=True)),
        ("h", Recovery(is_limited=True)),
        ("h", Recovery(above=_EARLY, is_limited=True)),
        ("h", Recovery(cut_off=1, above=_EARLY, is_limited=True)),
    )
]


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each case with each seed."""
    return [run for case in CASES for run in case.runs(setting)]


@exhibit.measures("X-10")
def lost(runs: Outcomes) -> Answer:
    """Return the lost mapping units of each case, as a median and a range."""
    told = []
    for case in CASES:
        figures = case.figures(runs, _measures.lost)
        range_of = "stops" if figures is None else f"{min(figures):,.0f} to {max(figures):,.0f}"
        told.append(f"{case.title}: {range_of}")
    return Answer("; ".join(told))


_BY_HOLDER = ("unrecovered_units", "rebuilds", "rebuild_failures")
"""Counters by what reads: those that are 0 are left out of the summary."""


def errors_of(result: Result, keys: tuple[str, ...]) -> float:
    """Return a figure of the errors of a run; one that does not exist is an error."""
    found: Any = result.summary["errors"]
    for depth, key in enumerate(keys):
        found = found.get(key, 0) if depth and keys[0] in _BY_HOLDER else found[key]
    return float(found or 0)


@exhibit.tabulates("lost")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the lost data of each case, and the counters that tell why."""
    import polars as pl

    columns: dict[str, tuple[str, ...]] = {
        "units_of_hosts": ("uber", "units"),
        "units_of_moves": ("uber", "moved_units"),
        "lost_by_gc": ("unrecovered_units", "gc_read"),
        "lost_by_scrubbing": ("unrecovered_units", "scrub"),
        "rebuilds_of_scrubbing": ("rebuilds", "scrub"),
        "failed_rebuilds_of_scrubbing": ("rebuild_failures", "scrub"),
        "reads_for_rebuilds": ("reads_for_rebuilds",),
        "errors_of_host_reads": ("first_decodes", "host", "mean_errors"),
        "errors_of_internal_reads": ("first_decodes", "internal", "mean_errors"),
        "counted_uber": ("uber", "counted"),
        "expected_uber": ("uber", "expected"),
    }
    rows: list[dict[str, Any]] = []
    for case in CASES:
        made: dict[str, Any] = {"scheme": case.title}
        for name, keys in columns.items():
            made[name] = case.middle(runs, partial(errors_of, keys=keys))
        made["read_p99_99_ns"] = case.middle(runs, _measures.tail)
        made["write_amplification"] = case.middle(runs, _measures.writes)
        rows.append(made)
    return pl.DataFrame(rows)
