"""Suspension alone, with few readers and many: what it leaves of reads, and of writes.

Suspended programs and erases go on when no read waits. So a drive that always has a read for each
die keeps its reads short, and its writes wait.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.reproduce import Answer, Exhibit, plots

from . import _cases, _drives
from ._cases import CASES
from ._reads import (
    PERCENT,
    listed,
    number,
    ratio,
    result,
    rows,
    starved,
    tail,
    taken,
    times,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

    from ._cases import Case

exhibit = Exhibit()

DEPTHS = (1, 16, 256)
"""Reads at a time: 256 are four for each die."""

RATES = (51_200, 204_800)
"""Writes a second: a fifth and four fifths of what the drive takes without reads."""

_LENGTHS: dict[str, Any] = {"least_s": (2, 30), "turns": (1, 8)}
"""Seconds and cycles that count: fewer than elsewhere, because deep readers make runs long."""

_KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "bands": ("bands", _drives.bands()),
    "suspends": ("bands, suspension", _drives.bands(_drives.SUSPENDS)),
    "others": ("sets, writes to all others", _drives.sets()),
}


def _case(kind: str, depth: int) -> Case:
    title, drive = _KINDS[kind]
    like = CASES["others" if kind == "others" else "bands"]
    title = f"{title}, {units.many(depth, 'read')} at a time"
    return replace(like, title=title, drive=drive, rates=RATES, depth=depth, **_LENGTHS)


LOADS: dict[str, Case] = {
    f"{kind}-deep-{depth}": _case(kind, depth) for kind in _KINDS for depth in DEPTHS
}
"""Each drive with each number of reads at a time."""

LOOKS = plots.Looks(*(title for title, _ in _KINDS.values()))


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each drive and depth, undisturbed and with each rate of writes."""
    return _cases.runs(setting, LOADS)


@exhibit.measures("N-16")
def deep(runs: Outcomes) -> Answer:
    """Return p99.9 of reads and the share of writes that complete, by depth and rate."""
    told = []
    for name, case in LOADS.items():
        reads = listed(times(runs, name, RATES, tail))
        found = [result(runs, name, rate) for rate in RATES]
        writes = " and ".join(
            f"{taken(each, rate):.0%}" for each, rate in zip(found, RATES, strict=True)
        )
        late = " and ".join(f"{starved(each) or 0:,}" for each in found)
        told.append(f"{case.title}: p{PERCENT:g} {reads} times, takes {writes}, {late} starve")
    return Answer("; ".join(told))


@exhibit.tabulates("depths")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each drive, number of reads at a time and rate of writes."""
    import polars as pl

    return pl.DataFrame(rows(runs, LOADS), infer_schema_length=None)


@exhibit.draws("tails")
def drawn(runs: Outcomes) -> Picture:
    """Draw p99.9 of reads and of writes by the number of reads at a time."""
    panels = {
        f"p{PERCENT:g} of reads, times the undisturbed one": _by_depth(runs, _slowed),
        f"p{PERCENT:g} of writes": _by_depth(runs, _of_writes),
    }
    of_panels = {list(panels)[1]: "ns"}
    label = "reads at a time"
    return plots.lines(
        panels, LOOKS, x_label=label, units=of_panels, log=True, title=_TITLE, apart=True
    )


@exhibit.draws("writes")
def drawn_writes(runs: Outcomes) -> Picture:
    """Draw the share of writes that complete while they come."""
    name = "completed writes"
    panels = {name: _by_depth(runs, _completed)}
    label = "reads at a time"
    of_panels = {name: "share"}
    return plots.lines(panels, LOOKS, x_label=label, units=of_panels, title=_TITLE, apart=True)


_TITLE = f"{RATES[-1]:,} writes of 4 KiB come a second"


def _by_depth(
    runs: Outcomes, measure: Callable[[Outcomes, str], float | None]
) -> dict[str, list[tuple[float, float]]]:
    return {
        title: [(depth, measure(runs, f"{kind}-deep-{depth}") or 0.0) for depth in DEPTHS]
        for kind, (title, _) in _KINDS.items()
    }


def _slowed(runs: Outcomes, name: str) -> float | None:
    found, alone = (number(tail(runs, name, rate)) for rate in (RATES[-1], 0))
    return ratio(found, alone)


def _of_writes(runs: Outcomes, name: str) -> float | None:
    return result(runs, name, RATES[-1]).write.percentile(PERCENT)


def _completed(runs: Outcomes, name: str) -> float | None:
    return taken(result(runs, name, RATES[-1]), RATES[-1])
