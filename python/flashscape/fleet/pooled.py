"""Queries whose reads are drawn from the latencies of all drives, each independent of the others.

The slowest of *k* reads is at most *x* with probability F(x)^k. A query of one stage needs no
samples for that; the latencies of several stages are drawn and added.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from flashscape.fleet.quantiles import QUANTILES, at_ranks

if TYPE_CHECKING:
    from flashscape.fleet.wanted import Queries
    from flashscape.latency import Latency


def power(base: float, exponent: int) -> float:
    """Return a power by multiplications alone: the same bits on every machine."""
    result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


class Pooled:
    """Latencies of all reads, with the distribution of the slowest of some."""

    def __init__(self, latency: Latency, seed: int) -> None:
        assert latency.min is not None
        assert latency.max is not None
        self._seed = seed
        least, most = latency.min, latency.max
        self._values = [min(max(upper, least), most) for upper, _ in latency.buckets]
        self._counts: list[int] = []
        passed = 0
        for _, count in latency.buckets:
            passed += count
            self._counts.append(passed)

    def above(self, limit: int) -> float:
        """Return the share of reads above a latency, which is the upper edge of a bucket."""
        at = bisect_right(self._values, limit)
        below = self._counts[at - 1] if at else 0
        return (self._counts[-1] - below) / self._counts[-1]

    def figures(self, wanted: Queries, reads: int) -> dict[str, float]:
        """Return mean and quantiles of the latencies of queries, in nanoseconds."""
        total = self._counts[-1]
        shares = [power(count / total, reads) for count in self._counts]
        before = [0.0, *shares[:-1]]
        steps = zip(self._values, shares, before, strict=True)
        mean = sum(value * (share - last) for value, share, last in steps)
        found: dict[str, float] = {"mean": mean * wanted.stages}
        if wanted.stages == 1:
            for name, share in QUANTILES.items():
                at = bisect_left(shares, share / 1_000_000_000)
                found[name] = self._values[min(at, len(shares) - 1)]
            return found
        drawn = random.Random(f"{self._seed} fleet.fanout.pooled {reads}")
        last = len(shares) - 1
        sums = [
            sum(
                self._values[min(bisect_left(shares, drawn.random()), last)]
                for _ in range(wanted.stages)
            )
            for _ in range(wanted.queries)
        ]
        return found | at_ranks(sums)
