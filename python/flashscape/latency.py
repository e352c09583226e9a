"""Latencies of a kind of request, over one initiator or several."""

from __future__ import annotations

from dataclasses import dataclass

from flashscape import units
from flashscape.arguments import checks_arguments
from flashscape.refusal import ConfigError

KINDS = ("read", "write", "trim", "flush", "write_zeroes")
"""Every kind of request, in the order of the results."""

PERCENTILES = {
    "p50": 500_000_000,
    "p90": 900_000_000,
    "p95": 950_000_000,
    "p99": 990_000_000,
    "p99_9": 999_000_000,
    "p99_99": 999_900_000,
    "p99_999": 999_990_000,
    "p99_9999": 999_999_000,
}
"""Percentiles of a summary, in billionths."""


@dataclass(frozen=True, repr=False)
class Latency:
    """Latencies in nanoseconds; None if there were no requests, or the run was untimed.

    Percentiles come from buckets at most 0.1 % wide and are their upper edges.
    """

    requests: int
    mean: float | None
    min: int | None
    max: int | None
    buckets: tuple[tuple[int, int], ...]
    """Upper edge and requests of each bucket, by rising latency."""

    def __repr__(self) -> str:
        shown = ("mean", "p50", "p99", "p99_9", "max")
        parts = [f"{n.replace('_', '.')} {units.duration(getattr(self, n))}" for n in shown]
        return f"<Latency of {units.many(self.requests, 'request')}: {', '.join(parts)}>"

    @checks_arguments
    def percentile(self, percent: float) -> int | None:
        """Return the latency that this percentage of the requests did not exceed."""
        if not 0 <= percent <= 100:
            raise ConfigError(f"percent: {percent} is not between 0 and 100")
        return self._at(round(percent * 10_000_000))

    @property
    def p50(self) -> int | None:
        """The median."""
        return self._at(PERCENTILES["p50"])

    @property
    def p90(self) -> int | None:
        """Latency that one request in 10 exceeded."""
        return self._at(PERCENTILES["p90"])

    @property
    def p95(self) -> int | None:
        """Latency that one request in 20 exceeded."""
        return self._at(PERCENTILES["p95"])

    @property
    def p99(self) -> int | None:
        """Latency that one request in 100 exceeded."""
        return self._at(PERCENTILES["p99"])

    @property
    def p99_9(self) -> int | None:
        """Latency that one request in 1,000 exceeded."""
        return self._at(PERCENTILES["p99_9"])

    @property
    def p99_99(self) -> int | None:
        """Latency that one request in 10,000 exceeded."""
        return self._at(PERCENTILES["p99_99"])

    @property
    def p99_999(self) -> int | None:
        """Latency that one request in 100,000 exceeded."""
        return self._at(PERCENTILES["p99_999"])

    @property
    def p99_9999(self) -> int | None:
        """Latency that one request in 1,000,000 exceeded."""
        return self._at(PERCENTILES["p99_9999"])

    def _at(self, billionths: int) -> int | None:
        if self.min is None or self.max is None:
            return None
        # Integers: in floating point the rank may come out one too high.
        rank = max(1, -(-billionths * self.requests // 1_000_000_000))
        passed = 0
        for upper, requests in self.buckets:
            passed += requests
            if passed >= rank:
                return min(max(upper, self.min), self.max)
        raise AssertionError("the buckets hold all requests")
