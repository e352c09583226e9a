"""Figure 1: read tails."""

from __future__ import annotations

import polars as pl

from flashscape.reproduce import Answer, Exhibit, Figure, percentile, plots

from . import _runs

exhibit = Exhibit()
exhibit.runs(_runs.tails)


def longest(runs, scheme):
    """The longest read of a scheme."""
    reads = runs[scheme].result.read
    return Figure(reads.max, reads.requests)


@exhibit.measures("X-1")
@exhibit.measures("X-2")
def longest_reads(runs):
    """Return both schemes' longest reads."""
    waiting, suspending = longest(runs, "waiting"), longest(runs, "suspending")
    figures = {"waiting_read_max_ns": waiting, "suspending_read_max_ns": suspending}
    ours = f"{waiting.text('ns')} against {suspending.text('ns')}"
    return Answer(ours, figures, "Reads wait for programs, too.")


@exhibit.measures("X-3")
def waiting_alone(runs):
    """The longest read of one scheme."""
    waiting = longest(runs, "waiting")
    return Answer(waiting.text("ns"), {"waiting_read_max_ns": waiting})


@exhibit.measures("X-4")
@exhibit.measures("X-5")
def far_percentile(runs):
    """Two percentiles."""
    reads = runs["waiting"].result.read
    far, near = percentile(reads, 99.9), percentile(reads, 90)
    figures = {"waiting_read_p99_9_ns": far, "waiting_read_p90_ns": near}
    return Answer(f"p90 {near.text('ns')}", figures)


@exhibit.draws("read-tails")
def read_tails(runs):
    """Tails of reads and writes."""
    results = {scheme: runs[scheme].result for scheme in _runs.SCHEDULERS}
    panels = {
        "reads": {scheme: result.read for scheme, result in results.items()},
        "writes": {scheme: result.write for scheme, result in results.items()},
    }
    references = {"reads": [plots.Reference(1e6, "paper: 1 ms")]}
    return plots.tails(panels, _runs.LOOKS, title="Tails", references=references)


@exhibit.draws("course")
def course(runs):
    """Draw writes over the time of the run."""
    results = {scheme: runs[scheme].result for scheme in _runs.SCHEDULERS}
    return plots.course(results, _runs.LOOKS, kind="read", slow_ns=3e6, title="Course")


@exhibit.tabulates("percentiles")
def percentiles(runs):
    """A row for each scheme."""
    rows = [
        {"scheme": scheme, "p50_ns": runs[scheme].result.read.p50} for scheme in _runs.SCHEDULERS
    ]
    return pl.DataFrame(rows)
