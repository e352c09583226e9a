"""Latencies of a kind of request, over one initiator or several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashscape import units

if TYPE_CHECKING:
    from flashscape.result import Result

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
"""The percentiles of a summary, in billionths."""


@dataclass(frozen=True, repr=False)
class Latency:
    """Latencies in nanoseconds; None where there were no requests, or the run took no time.

    Percentiles come from buckets at most 0.1 % wide and are their upper edges.
    """

    requests: int
    mean: float | None
    min: int | None
    max: int | None
    buckets: tuple[tuple[int, int], ...]
    """Upper edge and requests of each bucket, by rising latency."""

    @classmethod
    def of(cls, result: Result, kind: str, initiator: str | None) -> Latency:
        """Join the initiators' histograms; raise ValueError for an unknown name."""
        chosen = _figures(result, kind, initiator)
        asked = [of_one for of_one in chosen if of_one["requests"]]
        if not asked:
            return cls(0, None, None, None, ())
        requests = sum(of_one["requests"] for of_one in asked)
        if result.untimed:
            return cls(requests, None, None, None, ())
        latencies = [of_one["latency_ns"] for of_one in asked]
        total = sum(one["mean"] * of["requests"] for one, of in zip(latencies, asked, strict=True))
        return cls(
            requests=requests,
            mean=total / requests,
            min=min(one["min"] for one in latencies),
            max=max(one["max"] for one in latencies),
            buckets=_buckets(result, kind, initiator),
        )

    def __repr__(self) -> str:
        shown = ("mean", "p50", "p99", "p99_9", "max")
        parts = [f"{n.replace('_', '.')} {units.duration(getattr(self, n))}" for n in shown]
        return f"<Latency of {units.many(self.requests, 'request')}: {', '.join(parts)}>"

    def percentile(self, percent: float) -> int | None:
        """Return the latency that so many percent of the requests did not exceed."""
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentile lies between 0 and 100, not {percent}")
        return self._at(round(percent * 10_000_000))

    @property
    def p50(self) -> int | None:
        """The median."""
        return self._at(PERCENTILES["p50"])

    @property
    def p90(self) -> int | None:
        """One request in 10 took longer."""
        return self._at(PERCENTILES["p90"])

    @property
    def p95(self) -> int | None:
        """One request in 20 took longer."""
        return self._at(PERCENTILES["p95"])

    @property
    def p99(self) -> int | None:
        """One request in 100 took longer."""
        return self._at(PERCENTILES["p99"])

    @property
    def p99_9(self) -> int | None:
        """One request in 1,000 took longer."""
        return self._at(PERCENTILES["p99_9"])

    @property
    def p99_99(self) -> int | None:
        """One request in 10,000 took longer."""
        return self._at(PERCENTILES["p99_99"])

    @property
    def p99_999(self) -> int | None:
        """One request in 100,000 took longer."""
        return self._at(PERCENTILES["p99_999"])

    @property
    def p99_9999(self) -> int | None:
        """One request in 1,000,000 took longer."""
        return self._at(PERCENTILES["p99_9999"])

    def _at(self, billionths: int) -> int | None:
        if self.min is None or self.max is None:
            return None
        # In whole numbers: as a float the rank may come out one too high.
        rank = max(1, -(-billionths * self.requests // 1_000_000_000))
        passed = 0
        for upper, requests in self.buckets:
            passed += requests
            if passed >= rank:
                return min(max(upper, self.min), self.max)
        raise AssertionError("the buckets hold all requests")


def _figures(result: Result, kind: str, initiator: str | None) -> list[dict[str, Any]]:
    if kind not in KINDS:
        raise ValueError(f"no kind {kind!r} (there are {', '.join(KINDS)})")
    names = [of_one["name"] for of_one in result.summary["initiators"]]
    if initiator is not None and initiator not in names:
        raise ValueError(f"no initiator {initiator!r} (there are {', '.join(names)})")
    return [of[kind] for of in result.summary["initiators"] if initiator in (None, of["name"])]


def _buckets(result: Result, kind: str, initiator: str | None) -> tuple[tuple[int, int], ...]:
    import polars as pl

    rows = result.latency.filter(pl.col("kind") == kind)
    if initiator is not None:
        rows = rows.filter(pl.col("initiator") == initiator)
    joined = rows.group_by("high_ns").agg(pl.col("requests").sum()).sort("high_ns")
    return tuple(joined.iter_rows())
