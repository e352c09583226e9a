"""Table 4: Exchange on packages that share a bus: whole gangs of 16 or 8, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flashscape.reproduce import Answer, Exhibit, plots

from ._drives import joined, shared_bus
from ._loads import (
    LOADS,
    exchange_of_one,
    in_short,
    loaded,
    mean,
    overloaded,
)
from ._pictures import beside_memory

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

    from ._drives import Drive

exhibit = Exhibit()

GANGS = (1, 8, 16)

_PACKAGES = 16
"""Number of packages: one gang of 16, so its 900 requests a second compare with two gangs of 8."""

_SECONDS = 10
"""Duration of runs with large logical pages, under which requests pile up."""


_TENTH = "tenth-"
"""Prefix of runs with a tenth of the load: the trace is that of ten drives."""


class Way(NamedTuple):
    """A gang, with an interpretation of the paper's 32 KB and 64 KB."""

    gang: int
    stripe_kib: int
    page_kib: int = 4

    @property
    def run(self) -> str:
        """Name of its run, without the workload."""
        if self.page_kib > 4:
            return f"bus-{self.gang}-of-16-pages"
        wide = "" if self.stripe_kib == 4 * self.gang else "-narrow"
        return f"bus-{self.gang}-of-16{wide}"

    @property
    def drive(self) -> Drive:
        """Drive of this way."""
        drive = shared_bus(self.gang, _PACKAGES)
        if self.page_kib > 4:
            # Blocks of larger logical pages have no summary page.
            changes: Drive = {"unit": f"{self.page_kib} KiB", "summary_page": False}
        else:
            changes = {"allocation": {"stripe": f"{self.stripe_kib} KiB"}}
        return joined(drive, {"ftl": changes})


WAYS = (
    *(Way(gang, 4 * gang) for gang in GANGS),
    *(Way(gang, 4) for gang in GANGS[1:]),
    *(Way(gang, 4 * gang, 4 * gang) for gang in GANGS[1:]),
)
"""Stripes as wide as a gang, which the claims are judged by; stripes of a page; large pages."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return 16 packages on 16 buses, two, or one; also with one drive's share of the load."""
    found = []
    for way in WAYS:
        short = {"run": {"time": f"{_SECONDS} s"}} if way.page_kib > 4 else {}
        found.append(loaded(setting, way.run, "exchange", way.drive, **short))
    return found + [
        loaded(setting, f"{_TENTH}{way.run}", "exchange", way.drive, **exchange_of_one())
        for way in WAYS[:3]
    ]


def _ns(runs: Outcomes, way: Way) -> float:
    return mean(runs[f"exchange-{way.run}"])


def _spread(runs: Outcomes, way: Way) -> float:
    """Return the utilisation of the busiest gang relative to the mean."""
    units = runs[f"exchange-{way.run}"].result.summary["utilisation"]["units"]
    return float(units["max"] / units["mean"])


def _figures(runs: Outcomes) -> dict[str, float]:
    figures = {}
    for way, name in zip(WAYS, ("none", "gang_8", "gang_16"), strict=False):
        figures[f"{name}_mean_ns"] = _ns(runs, way)
        figures[f"{name}_requests_per_second"] = 1e9 / _ns(runs, way)
    return figures


def _means(runs: Outcomes, ways: tuple[Way, ...]) -> str:
    told = (
        f"{_ns(runs, way) / 1e3:,.0f}{' (overloaded)' if _piles_up(runs, way) else ''}"
        for way in ways
    )
    return f"{' / '.join(told)} us"


def _piles_up(runs: Outcomes, way: Way) -> bool:
    return overloaded(runs[f"exchange-{way.run}"])


@exhibit.measures("A-10")
def fast_enough(runs: Outcomes) -> Answer:
    """Return mean latency by gang, and the rate that a gang of 16 serves."""
    figures = _figures(runs)
    del figures["none_requests_per_second"], figures["gang_8_requests_per_second"]
    ours = (
        f"{_means(runs, WAYS[:3])}; a gang of 16 "
        f"{figures['gang_16_requests_per_second']:.0f} IOPS; the busier of two gangs of 8 has "
        f"{_spread(runs, WAYS[1]):.3f} times the mean load; gangs of 8 and 16 with stripes of 4 KB "
        f"{_means(runs, WAYS[3:5])}, with logical pages of 32 and 64 KB {_means(runs, WAYS[5:])}"
    )
    return Answer(ours, figures)


@exhibit.measures("A-10n")
def numbers(runs: Outcomes) -> Answer:
    """Return mean latency, and requests a second of a gang that serves one at a time."""
    rates = " / ".join(f"{1e9 / _ns(runs, way):.0f}" for way in WAYS[:3])
    tenth = " / ".join(
        f"{mean(runs[f'exchange-{_TENTH}{way.run}']) / 1e3:,.0f}" for way in WAYS[:3]
    )
    busy = runs["exchange-bus-16-of-16"].result.summary["utilisation"]["units"]["mean"]
    return Answer(
        f"{_means(runs, WAYS[:3])}; {rates} IOPS a gang. With a tenth of the load, the share of "
        f"one of ten drives, {tenth} us. The synthetic trace's sizes (exponential, mean "
        "8 KB) and Poisson arrivals are not the trace's, which is not public; the gang of 16 is "
        f"busy for {busy:.0%} of the time"
    )


def _name(way: Way) -> str:
    return "no gang" if way.gang == 1 else f"gang of {way.gang},\nstripes of {4 * way.gang} KB"


@exhibit.draws("by-gang")
def drawn(runs: Outcomes) -> Picture:
    """Draw means beside the paper's values, which are quoted from memory."""
    told = LOADS["exchange"]
    groups: dict[str, dict[str, float | None]] = {
        _name(way): {told: _ns(runs, way)} for way in WAYS[:3]
    }
    paper = dict(zip(groups, ((237e3,), (553e3,), (746e3,)), strict=True))
    return beside_memory(groups, plots.Looks(told), paper, "Gangs on a shared bus")


@exhibit.tabulates("by-gang")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the paper's table, with the possible meanings of its page sizes."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "workload": LOADS["exchange"],
                "gang": way.gang,
                "stripe_kib": way.stripe_kib,
                "logical_page_kib": way.page_kib,
                **in_short(runs[f"exchange-{way.run}"]),
                "requests_per_second_of_a_gang": 1e9 / _ns(runs, way),
                "busiest_over_mean": _spread(runs, way),
            }
            for way in WAYS
        ]
    )
