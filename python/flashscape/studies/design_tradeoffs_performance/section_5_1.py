"""Section 5.1: logical pages of 4 KB and 256 KB, and stripes of 4 KB and 8 KB, under TPC-C."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots

from ._drives import PACKAGES, large_pages
from ._loads import (
    LOADS,
    by_organisation,
    in_short,
    loaded,
    mean,
    overloaded,
    tpcc_by_whole_pages,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

NAMES = {
    "baseline": "4 KB pages, stripes of 4 KB",
    "stripe-8k-1": "stripes of 8 KB",
    "stripe-8k-2": "stripes of 8 KB, interleaved by 2",
    "stripe-8k-4": "stripes of 8 KB, interleaved by 4",
    "stripe-8k-at-once": "stripes of 8 KB, interleaved by 2, no rounds",
    "page-256k": "256 KB pages",
    "page-256k-whole": "256 KB pages, read as a whole",
}
"""Schemes by run; logical pages are 4 KB except in the last two."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return the baseline, large logical pages, and stripes of a whole request."""
    whole = {"workload": tpcc_by_whole_pages()}
    by_pages = loaded(setting, "page-256k-whole", "tpcc", large_pages(), **whole)
    return [*by_organisation(setting, ("tpcc",), list(NAMES)[:-1]), by_pages]


@exhibit.measures("A-5")
def large(runs: Outcomes) -> Answer:
    """Compare logical pages of 256 KB with those of 4 KB."""
    small, parts, whole = (
        mean(runs[f"tpcc-{way}"]) for way in ("baseline", "page-256k", "page-256k-whole")
    )
    result = runs["tpcc-page-256k-whole"].result
    busy = result.summary["utilisation"]["units"]["mean"]
    ours = (
        f"{whole / 1e6:.1f} ms, {whole / small:.0f} times as long, if a read senses its whole "
        f"logical page and packages are busy for {busy:.0%} of the time; {parts / 1e6:.1f} ms, "
        f"{parts / small:.0f} times as long, if it senses only the requested part"
    )
    return Answer(ours, {"large_page_mean_ns": whole, "small_page_mean_ns": small})


@exhibit.measures("A-6")
def small(runs: Outcomes) -> Answer:
    """Return the mean on the baseline, and the rate of eight packages at this latency."""
    latency = mean(runs["tpcc-baseline"])
    rate = PACKAGES * 1e9 / latency
    figures = {"mean_ns": latency, "served_requests_per_second": rate}
    return Answer(f"{latency / 1e3:.0f} us, {rate:,.0f} IOPS", figures)


@exhibit.measures("A-9")
def split(runs: Outcomes) -> Answer:
    """Compare requests over two packages with requests in one, interleaved or not."""
    figures = {"split_mean_ns": mean(runs["tpcc-baseline"])}
    for degree in (2, 4):
        figures[f"stripe_interleaved_{degree}_mean_ns"] = mean(runs[f"tpcc-stripe-8k-{degree}"])
    figures["stripe_at_once_mean_ns"] = mean(runs["tpcc-stripe-8k-at-once"])
    serial = mean(runs["tpcc-stripe-8k-1"])
    ways = zip(
        ("by 2", "by 4", "by 2 dies without rounds"), list(figures.values())[1:], strict=True
    )
    told = ", ".join(f"{way} {v / 1e3:.0f} us ({v / serial - 1:+.1%})" for way, v in ways)
    ours = (
        f"stripes of 4 KB {figures['split_mean_ns'] / 1e3:.0f} us; of 8 KB {serial / 1e3:.0f} us "
        f"without interleaving, {told}"
    )
    return Answer(ours, figures)


def _narrow(told: str) -> str:
    """Break a name into lines, to fit beside five others."""
    return told.replace(", ", ",\n").replace(" of ", "\nof ").replace(" by ", "\nby ")


@exhibit.draws("organisations")
def drawn(runs: Outcomes) -> Picture:
    """Draw the means of all schemes."""
    scheme = LOADS["tpcc"]
    groups: dict[str, dict[str, float | None]] = {
        _narrow(told): {scheme: mean(runs[f"tpcc-{name}"])} for name, told in NAMES.items()
    }
    return plots.bars(
        groups,
        plots.Looks(scheme),
        unit="ns",
        label="mean latency",
        title="Logical pages of 4 KB and 256 KB, and stripes, under TPC-C (synthetic)",
        log=True,
        overloaded={
            (_narrow(told), scheme)
            for name, told in NAMES.items()
            if overloaded(runs[f"tpcc-{name}"])
        },
    )


@exhibit.tabulates("organisations")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the figures behind the plot."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "workload": LOADS["tpcc"],
                "organisation": told,
                **in_short(runs[f"tpcc-{name}"]),
            }
            for name, told in NAMES.items()
        ]
    )
