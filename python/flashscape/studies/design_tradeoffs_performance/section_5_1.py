"""Section 5.1: logical pages of 4 KB and 256 KB, and stripes of 4 KB and 8 KB, under TPC-C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots
from flashscape.studies.design_tradeoffs_performance._drives import (
    PACKAGES,
    baseline,
    large_pages,
    striped,
)
from flashscape.studies.design_tradeoffs_performance._loads import loaded, mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """The baseline, large logical pages, and stripes of a whole request with any interleaving."""
    drives = {
        "baseline": baseline(),
        "page-256k": large_pages(),
        **{f"stripe-8k-{degree}": striped(8, degree) for degree in (1, 2, 4)},
    }
    return [loaded(setting, name, "tpcc", drive) for name, drive in drives.items()]


@exhibit.measures("A-5")
def large(runs: Outcomes) -> Answer:
    """Pages of 256 KB beside those of 4 KB."""
    small, big = mean(runs["tpcc-baseline"]), mean(runs["tpcc-page-256k"])
    result = runs["tpcc-page-256k"].result
    busy = result.summary["utilisation"]["units"]["mean"]
    reason = (
        f"Packages are busy for {busy:.0%} of the time under Poisson requests: a write, which "
        f"reads and programs 64 pages, takes {(result.write.mean or 0) / 1e6:.1f} ms in the mean, "
        f"a read, which senses only what is asked for, {(result.read.mean or 0) / 1e6:.1f} ms"
    )
    figures = {"large_page_mean_ns": big, "small_page_mean_ns": small}
    return Answer(f"{big / 1e6:.1f} ms, {big / small:.0f} times as long", figures, reason)


@exhibit.measures("A-6")
def small(runs: Outcomes) -> Answer:
    """The mean on the baseline, and eight packages over it."""
    latency = mean(runs["tpcc-baseline"])
    rate = PACKAGES * 1e9 / latency
    figures = {"mean_ns": latency, "served_requests_per_second": rate}
    return Answer(f"{latency / 1e3:.0f} us, {rate:,.0f} IOPS", figures)


@exhibit.measures("A-9")
def split(runs: Outcomes) -> Answer:
    """Requests in two packages, or in one that interleaves."""
    figures = {"split_mean_ns": mean(runs["tpcc-baseline"])}
    for degree in (2, 4):
        figures[f"stripe_interleaved_{degree}_mean_ns"] = mean(runs[f"tpcc-stripe-8k-{degree}"])
    told = ", ".join(f"{value / 1e3:.0f} us" for value in list(figures.values())[1:])
    ours = f"stripes of 4 KB {figures['split_mean_ns'] / 1e3:.0f} us, of 8 KB interleaved {told}"
    return Answer(ours, figures)


@exhibit.draws("organisations")
def drawn(runs: Outcomes) -> Picture:
    """Means of all of them."""
    names = {
        "4 KB pages,\nstripes of 4 KB": "tpcc-baseline",
        "stripes of 8 KB": "tpcc-stripe-8k-1",
        "stripes of 8 KB,\ninterleaved by 4": "tpcc-stripe-8k-4",
        "256 KB pages": "tpcc-page-256k",
    }
    scheme = "TPC-C (stand-in)"
    groups: dict[str, dict[str, float | None]] = {
        told: {scheme: mean(runs[name])} for told, name in names.items()
    }
    return plots.bars(groups, plots.Looks(scheme), unit="ns", label="mean latency", log=True)
