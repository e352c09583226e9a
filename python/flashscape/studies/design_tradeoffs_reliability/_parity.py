"""Runs with parity inside the drive, which figures 6 and 7 share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Figure, Run, along, percentile, plots

from ._drives import TLC, drive, errors, parity
from ._runs import (
    amplification,
    experiment,
    rebuilds,
    times,
    unrecovered,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result

STRIPES: dict[str, int | None] = {"none": None, "s15": 15, "s7": 7}
"""Data pages of a stripe, by their names in runs and claims."""

TITLES = {"none": "re-reads alone", "s15": "15 data pages", "s7": "7 data pages"}

LOOKS = plots.Looks(*TITLES.values())

PARITY = ("s15", "s7")


def name(cycles: int, stripe: str, re_reads: int | None) -> str:
    """Return the name of a run; without parity re-reads have no limit."""
    if STRIPES[stripe] is None:
        return f"parity-{cycles // 1000}k-none"
    return f"parity-{cycles // 1000}k-{stripe}-{re_reads}"


def run(setting: Setting, cycles: int, stripe: str, re_reads: int | None) -> Run:
    """Return a run of TLC with such stripes, which are used after so many re-reads."""
    data_pages = STRIPES[stripe]
    limit = None if data_pages is None else re_reads
    made = drive(setting, errors(TLC, cycles, TLC.strong), **parity(data_pages, limit))
    title = f"{TLC.title} at {cycles} cycles: {TITLES[stripe]}"
    if limit is not None:
        title += f", after {limit} re-reads"
    return Run(name(cycles, stripe, re_reads), experiment(setting, title, made))


def runs_of(setting: Setting, re_reads: int) -> list[Run]:
    """Return each wear with each stripe."""
    return [run(setting, cycles, stripe, re_reads) for cycles in TLC.cycles for stripe in STRIPES]


def names(re_reads: int, cycles: Iterable[int] = TLC.cycles) -> list[str]:
    """Return the names of runs with parity."""
    return [name(of, stripe, re_reads) for of in cycles for stripe in PARITY]


def result(runs: Outcomes, cycles: int, stripe: str, re_reads: int) -> Result:
    """Return the results of a run."""
    return runs[name(cycles, stripe, re_reads)].result


def mean_times(runs: Outcomes, stripe: str, re_reads: int) -> Figure:
    """Return the mean read by wear, in multiples of that with re-reads alone."""
    pairs = [
        (result(runs, cycles, stripe, re_reads), result(runs, cycles, "none", re_reads))
        for cycles in TLC.cycles
    ]
    samples = min(ours.read.requests for ours, _ in pairs)
    return Figure(tuple(times(ours, over) for ours, over in pairs), samples)


def tail_times(runs: Outcomes, stripe: str, re_reads: int) -> Figure:
    """Return p99.9 of reads by wear, in multiples of that with re-reads alone."""
    figures = []
    for cycles in TLC.cycles:
        ours, over = (
            percentile(result(runs, cycles, each, re_reads).read, 99.9) for each in (stripe, "none")
        )
        ratio = float(ours.numbers[0] / over.numbers[0])
        figures.append(Figure(ratio, ours.samples, ours.beyond))
    return along(figures)


def table(runs: Outcomes, re_reads: int) -> pl.DataFrame:
    """Return reads, recovery and write amplification of each run."""
    import polars as pl

    rows = []
    for cycles in TLC.cycles:
        for stripe, title in TITLES.items():
            found = result(runs, cycles, stripe, re_reads)
            uber = found.summary["errors"]["uber"]
            rows.append(
                {
                    "cycles": cycles,
                    "stripes": title,
                    "read_mean_ns": found.read.mean,
                    "read_p99_9_ns": found.read.percentile(99.9),
                    "rebuilds": rebuilds(found),
                    "unrecovered_units": unrecovered(found),
                    "expected_unrecovered_units": uber["expected_units"],
                    "expected_uber": uber["expected"],
                    "write_amplification": amplification(found),
                    "of_hosts": amplification(found, "host"),
                    "of_gc": amplification(found, "gc"),
                    "of_parity": amplification(found, "parity"),
                }
            )
    return pl.DataFrame(rows)
