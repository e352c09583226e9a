"""Causes of latency in ranges of percentiles.

They come from the table ``slowest`` if it has all requests of the range, which is exact, else
from ``bands``, which sums blame over requests of similar latency. A band is at most
1.6 % wide; a band that contains a percentile is divided by its number of requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from flashscape._flashscape import states
from flashscape.causes import by_cause

if TYPE_CHECKING:
    import polars as pl

    from flashscape.causes import Cause

FOUNDED = 10
"""Samples that a percentile needs at or beyond it, so that it does not show one odd request."""

_BOUNDS = (50.0, 90.0, 99.0, 99.9, 99.99)


@dataclass(frozen=True)
class Region:
    """Requests between two percentiles of their kind's latency."""

    above: float
    """Percentile below the range."""
    below: float
    """Percentile above the range; 100 for the slowest."""
    requests: float
    """Number of requests."""
    each_ns: dict[Cause, float]
    """Mean time of a request by cause."""

    @property
    def name(self) -> str:
        """Name, such as ``p90–99`` or ``> p99.9``."""
        if self.below == 100:
            return f"> p{self.above:g}"
        return f"p{self.above:g}–{self.below:g}"


def regions(bands: pl.DataFrame, slowest: pl.DataFrame) -> list[Region]:
    """Divide the requests of a kind above p50 at percentiles with enough samples beyond."""
    total = int(bands["requests"].sum())
    # Rounded, because 0.1 % of 10,000 computes as 9.99….
    bounds = [b for b in _BOUNDS if round(total * (100 - b) / 100, 6) >= FOUNDED]
    return [
        region(bands, slowest, above, below)
        for above, below in zip(bounds, [*bounds[1:], 100.0], strict=False)
    ]


def region(
    bands: pl.DataFrame, slowest: pl.DataFrame, above: float, below: float = 100.0
) -> Region:
    """Sum the blame of the requests of a kind between two percentiles."""
    total = int(bands["requests"].sum())
    first, behind = total * above / 100, total * below / 100
    if total - first <= len(slowest):
        # Each request is a band of its own, at its rank among all.
        bands = slowest.with_columns(low_ns="latency_ns", requests=1)
    columns = [column for column in bands.columns if column.removesuffix("_ns") in _states()]
    times = dict.fromkeys(columns, 0.0)
    seen = total - int(bands["requests"].sum())
    for row in bands.sort("low_ns").iter_rows(named=True):
        inside = min(seen + row["requests"], behind) - max(seen, first)
        seen += row["requests"]
        if inside > 0:
            for column in columns:
                times[column] += row[column] * inside / row["requests"]
    requests = behind - first
    causes = by_cause({name.removesuffix("_ns"): ns for name, ns in times.items() if ns > 0})
    return Region(above, below, requests, {cause: ns / requests for cause, ns in causes.items()})


@cache
def _states() -> frozenset[str]:
    return frozenset(name for name, _ in states())
