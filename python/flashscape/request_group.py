"""The requests of one kind by an initiator, or by several, and the causes of their time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashscape import units

if TYPE_CHECKING:
    from flashscape.causes import Cause
    from flashscape.regions import Region

NAMED_SHARE = 0.1
"""Causes below this share of the time are not named in sentences."""


@dataclass(frozen=True)
class Group:
    """The requests of one kind, with the causes of their latency."""

    initiator: str
    """Name of the initiator, or a name for several."""
    kind: str
    figures: dict[str, Any]
    """Figures, as in the summary."""
    mean_ns: dict[Cause, float]
    """Mean time of a request by cause, over all requests."""
    regions: list[Region]
    """Regions above p50, from percentile to percentile; none if there are few requests."""
    tail: Region | None
    """Requests beyond p99.9, or beyond the farthest percentile with enough samples."""
    initiators: tuple[str, ...] = ()
    """Names of all initiators that issued them."""

    @property
    def name(self) -> str:
        """Name, such as ``pgbench read``."""
        return f"{self.initiator} {self.kind.replace('_', '-')}"

    @property
    def mean(self) -> dict[Cause, float]:
        """Share of each cause in the time of all requests."""
        return _shares(self.mean_ns)

    @property
    def tail_ns(self) -> dict[Cause, float]:
        """Mean time of a request of the tail by cause; empty if there is no tail."""
        return self.tail.each_ns if self.tail else {}

    @property
    def tail_share(self) -> dict[Cause, float]:
        """Share of each cause in the time of the tail; empty if there is no tail."""
        return _shares(self.tail_ns)

    @property
    def waits(self) -> bool:
        """False if all of the time is the requests' own service."""
        return not all(cause.is_own for cause in self.mean_ns)

    @property
    def main_cause(self) -> Cause | None:
        """Cause with the largest share of the tail's time."""
        return max(self.tail_ns, key=lambda cause: self.tail_ns[cause], default=None)

    @property
    def sentences(self) -> list[str]:
        """Sentences about the requests."""
        latency = self.figures["latency_ns"]
        kind = f"{self.kind.replace('_', '-')} request"
        many = len(self.initiators)
        whose = f" of {many:,} initiators" if many > 1 else ""
        far = f"p{self.tail.above:g}" if self.tail else "p50"
        sentences = [
            f"{units.many(self.figures['requests'], kind)}{whose} took "
            f"{units.duration(latency['mean'])} in the mean, "
            f"{units.duration(latency[far.replace('.', '_')])} at "
            f"{far} and {units.duration(latency['max'])} at worst. "
            f"Of the mean, {_listed(self.mean_ns)}."
        ]
        if self.tail:
            each = units.duration(sum(self.tail_ns.values()))
            those = f"The {self.tail.requests:,.0f} beyond {far} took {each} in the mean"
            sentences.append(f"{those}: {_listed(self.tail_ns)}.")
        return sentences


def _shares(times: dict[Cause, float]) -> dict[Cause, float]:
    total = sum(times.values())
    return {cause: ns / total for cause, ns in times.items()}


def _listed(times: dict[Cause, float]) -> str:
    total = sum(times.values())
    ranked = sorted(times.items(), key=lambda item: -item[1])
    named = [item for item in ranked if item[1] >= NAMED_SHARE * total] or ranked[:1]
    parts = [f"{units.duration(ns)} ({units.percent(ns / total)})" for _, ns in named]
    parts = [f"{part} to {cause.phrase}" for part, (cause, _) in zip(parts, named, strict=True)]
    parts[0] = parts[0].replace(") to", ") went to", 1)
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
