"""What requests waited for, by how long they took compared with all of their kind.

From the table ``bands``, which sums blame over requests of about the same
latency (a band is an eighth wide at most): it has all requests, not only the
slowest that were kept. A band that a percentile cuts is divided by its requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashscape.causes import by_cause

if TYPE_CHECKING:
    import polars as pl

    from flashscape.causes import Cause

FOUNDED = 10
"""Samples that a percentile needs behind it, lest it be about one odd request."""

_DESCRIBED = ("initiator", "kind", "low_ns", "high_ns", "requests")
_BOUNDS = (50.0, 90.0, 99.0, 99.9, 99.99)


@dataclass(frozen=True)
class Region:
    """Requests between two percentiles of their kind's latency."""

    above: float
    """The percentile that they lie above."""
    below: float
    """The one that they lie below; 100 for the slowest."""
    requests: float
    """How many."""
    each_ns: dict[Cause, float]
    """Time of a request by cause, in the mean."""

    @property
    def name(self) -> str:
        """Such as ``p90 – p99`` or ``beyond p99.9``."""
        if self.below == 100:
            return f"beyond p{self.above:g}"
        return f"p{self.above:g} – p{self.below:g}"


def regions(bands: pl.DataFrame) -> list[Region]:
    """Divide the requests of a kind: above p50, by the percentiles with enough beyond them."""
    total = int(bands["requests"].sum())
    bounds = [bound for bound in _BOUNDS if total * (100 - bound) / 100 >= FOUNDED]
    return [
        region(bands, above, below)
        for above, below in zip(bounds, [*bounds[1:], 100.0], strict=False)
    ]


def region(bands: pl.DataFrame, above: float, below: float = 100.0) -> Region:
    """Sum the blame of the requests between two percentiles."""
    total = int(bands["requests"].sum())
    first, behind = total * above / 100, total * below / 100
    columns = [column for column in bands.columns if column not in _DESCRIBED]
    times = dict.fromkeys(columns, 0.0)
    seen = 0
    for row in bands.sort("low_ns").iter_rows(named=True):
        inside = min(seen + row["requests"], behind) - max(seen, first)
        seen += row["requests"]
        if inside > 0:
            for column in columns:
                times[column] += row[column] * inside / row["requests"]
    requests = behind - first
    causes = by_cause({name.removesuffix("_ns"): ns for name, ns in times.items() if ns > 0})
    return Region(above, below, requests, {cause: ns / requests for cause, ns in causes.items()})
