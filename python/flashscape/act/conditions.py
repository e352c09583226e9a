"""What a drive has to do to pass.

A performance test passes where, of the small reads, fewer than 5 % take longer than 1 ms,
fewer than 1 % longer than 8 ms and fewer than 0.1 % longer than 64 ms, and where the mean
service time of each kind of request is less than its issue period. A stress test asks for
the last one alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from flashscape import units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashscape.act.load import Stream


class Limit(NamedTuple):
    """How many small reads may be slower than a threshold."""

    threshold_ns: int
    per_mille: int
    """Fewer than this, of a thousand."""

    @property
    def label(self) -> str:
        """The threshold as people write it: ``8 ms``."""
        return f"{self.threshold_ns // 1_000_000} ms"


LIMITS = (Limit(1_000_000, 50), Limit(8_000_000, 10), Limit(64_000_000, 1))
"""The first three conditions, as the tool's documentation has them."""

Bucket = tuple[int, int, int]
"""Of a histogram: the least and greatest latency in nanoseconds, both included; requests."""


@dataclass(frozen=True)
class Share:
    """How many requests are slower than a threshold: exactly, or between two numbers.

    A histogram knows latencies to 0.1 %, so the bucket in which the threshold lies may be
    on either side.
    """

    threshold_ns: int
    limit_share: float
    """The share must be less than this."""
    requests: int
    slower_least: int
    """So many are slower for certain."""
    slower_most: int
    """No more than these are."""

    @classmethod
    def of(cls, limit: Limit, buckets: Iterable[Bucket]) -> Share:
        """Count in a histogram."""
        requests = least = most = 0
        for low, high, count in buckets:
            requests += count
            least += count if low > limit.threshold_ns else 0
            most += count if high > limit.threshold_ns else 0
        return cls(limit.threshold_ns, limit.per_mille / 1000, requests, least, most)

    @property
    def share(self) -> float:
        """Slower requests over all, at most; 0 without requests."""
        return self.slower_most / self.requests if self.requests else 0.0

    @property
    def share_least(self) -> float:
        """Slower requests over all, at least."""
        return self.slower_least / self.requests if self.requests else 0.0

    @property
    def passes(self) -> bool | None:
        """Whether few enough are slower; None where the histogram cannot tell."""
        allowed = round(self.limit_share * 1000) * self.requests
        if self.slower_most * 1000 < allowed:
            return True
        return None if self.slower_least * 1000 < allowed else False

    def counted(self, slower: int) -> Share:
        """The same with the exact number."""
        return Share(self.threshold_ns, self.limit_share, self.requests, slower, slower)


@dataclass(frozen=True)
class Service:
    """The fourth condition for one stream: whether whoever issues its requests keeps up."""

    stream: str
    """``small-reads``, ``large-reads`` or ``large-writes``."""
    requests: int
    """Counted ones."""
    bytes: int
    """What these asked for."""
    rate_per_second: int
    threads: int
    """That issue the stream's requests in turn."""
    mean_ns: float
    """Mean service time: from a request's moment to its answer."""

    @property
    def period_ns(self) -> float:
        """Time from one request of a thread to its next."""
        return self.threads * 1e9 / self.rate_per_second

    @property
    def under_way(self) -> float:
        """Mean number of requests under way, by Little's law: less than ``threads`` passes."""
        return self.mean_ns * self.rate_per_second / 1e9

    @property
    def passes(self) -> bool:
        """Whether the mean service time is less than the issue period."""
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
    """A share that does not pass, in words."""
    return (
        f"{100 * share.share:.3g} % of small reads slower than "
        f"{units.duration(share.threshold_ns)}, limit {100 * share.limit_share:.3g} %"
    )


def why_behind(service: Service) -> str:
    """A stream that does not keep up, in words."""
    name = service.stream.replace("-", " ")
    of = f" of each of {service.threads} threads" if service.threads > 1 else ""
    return (
        f"{name} take {units.duration(service.mean_ns)} in the mean, issue period{of} "
        f"{units.duration(service.period_ns)}"
    )
