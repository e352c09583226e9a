"""Conditions that a drive must meet to pass.

A drive passes the performance test if fewer than 5 % of its small reads take longer than 1 ms,
fewer than 1 % longer than 8 ms and fewer than 0.1 % longer than 64 ms, and if the mean
service time of each kind of request is less than its issue period. The stress test requires
only the condition on service times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from flashscape import units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashscape.act.load import Stream


class Limit(NamedTuple):
    """Largest share of small reads that may be slower than a threshold."""

    threshold_ns: int
    per_mille: int
    """Requests of a thousand: fewer than these may be slower."""

    @property
    def label(self) -> str:
        """Return the threshold as people write it: ``8 ms``."""
        return f"{self.threshold_ns // 1_000_000} ms"


LIMITS = (Limit(1_000_000, 50), Limit(8_000_000, 10), Limit(64_000_000, 1))
"""The first three conditions, as the tool documents them."""

Bucket = tuple[int, int, int]
"""A bucket of a histogram: least and greatest latency in nanoseconds (both included), requests."""


@dataclass(frozen=True)
class Share:
    """Requests that are slower than a threshold: an exact number or a lower and an upper bound.

    A histogram knows latencies to 0.1 %, so the requests of the bucket that holds the threshold
    may be on either side.
    """

    threshold_ns: int
    limit_share: float
    """Limit: the share must be less than this."""
    requests: int
    slower_least: int
    """Requests that are certainly slower."""
    slower_most: int
    """Upper bound of the slower requests."""

    @classmethod
    def of(cls, limit: Limit, buckets: Iterable[Bucket]) -> Share:
        """Count the slower requests in a histogram."""
        requests = least = most = 0
        for low, high, count in buckets:
            requests += count
            least += count if low > limit.threshold_ns else 0
            most += count if high > limit.threshold_ns else 0
        return cls(limit.threshold_ns, limit.per_mille / 1000, requests, least, most)

    @property
    def share(self) -> float:
        """Upper bound of the share of slower requests; 0 without requests."""
        return self.slower_most / self.requests if self.requests else 0.0

    @property
    def share_least(self) -> float:
        """Lower bound of the share of slower requests; 0 without requests."""
        return self.slower_least / self.requests if self.requests else 0.0

    @property
    def passes(self) -> bool | None:
        """True if few enough requests are slower; None if the histogram cannot tell."""
        allowed = round(self.limit_share * 1000) * self.requests
        if self.slower_most * 1000 < allowed:
            return True
        return None if self.slower_least * 1000 < allowed else False

    def counted(self, slower: int) -> Share:
        """Return the same share with the exact number of slower requests."""
        return Share(self.threshold_ns, self.limit_share, self.requests, slower, slower)


@dataclass(frozen=True)
class Service:
    """The fourth condition for one stream: the issuing threads keep up."""

    stream: str
    """``small-reads``, ``large-reads`` or ``large-writes``."""
    requests: int
    """Counted requests."""
    bytes: int
    """Bytes that the counted requests asked for."""
    rate_per_second: int
    threads: int
    """Threads that issue the stream's requests in turn."""
    mean_ns: float
    """Mean service time: from the time at which a request is due to its answer."""

    @property
    def period_ns(self) -> float:
        """Time from one request of a thread to its next."""
        return self.threads * 1e9 / self.rate_per_second

    @property
    def under_way(self) -> float:
        """Mean number of outstanding requests, by Little's law; must be less than ``threads``."""
        return self.mean_ns * self.rate_per_second / 1e9

    @property
    def passes(self) -> bool:
        """True if the mean service time is less than the issue period."""
        return self.mean_ns < self.period_ns


def service_of(
    stream: Stream, multiplier: int, threads: int, latencies: Sequence[tuple[int, int, float]]
) -> Service:
    """Join the requests, bytes and mean latencies of a stream's initiators."""
    requests = sum(count for count, _, _ in latencies)
    total = sum(count * mean for count, _, mean in latencies)
    return Service(
        stream=stream.name,
        requests=requests,
        bytes=sum(size for _, size, _ in latencies),
        rate_per_second=stream.per_second * multiplier,
        threads=threads,
        mean_ns=total / requests if requests else 0.0,
    )


def why_slow(share: Share) -> str:
    """Describe a share that does not pass."""
    return (
        f"{100 * share.share:.3g} % of small reads slower than "
        f"{units.duration(share.threshold_ns)}, limit {100 * share.limit_share:.3g} %"
    )


def why_behind(service: Service) -> str:
    """Describe a stream that does not keep up."""
    name = service.stream.replace("-", " ")
    of = f" of each of {service.threads} threads" if service.threads > 1 else ""
    return (
        f"{name} take {units.duration(service.mean_ns)} in the mean, issue period{of} "
        f"{units.duration(service.period_ns)}"
    )
