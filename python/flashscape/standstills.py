"""Standstills of closed loops: times in which all requests of a queue waited for one flash unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import units
from flashscape.causes import by_cause

if TYPE_CHECKING:
    from flashscape.measured import Measured

_TOLD_SHARE = 0.01
"""Least share of the time of which `explain` speaks."""

_CAUSE_SHARE = 0.1
"""Least share of that time of a cause that it names."""


class Queue(NamedTuple):
    """The queue of an initiator that asks in a closed loop."""

    initiator: str
    figures: dict[str, Any]
    """The key ``closed_loop`` of the initiator."""

    @property
    def share(self) -> float:
        """Share of the time in which all of it waited for one flash unit."""
        return float(self.figures["behind_one_unit"]["share"])

    @property
    def whole(self) -> str:
        """The queue in words."""
        depth = self.figures["queue_depth"]
        return "its only request" if depth == 1 else f"all {depth:,} requests of its queue"

    @property
    def told(self) -> str:
        """Share and longest standstill in a clause."""
        longest = units.duration(self.figures["behind_one_unit"]["longest_ns"])
        return f"{self.whole} for {units.percent(self.share)} of the time, {longest} at most"

    @property
    def sentence(self) -> str:
        """What stood still, for how long, and why."""
        waits = by_cause(self.figures["behind_one_unit"]["waits_ns"])
        waited = sum(waits.values())
        causes = sorted(waits.items(), key=lambda cause: -cause[1])
        named = [
            f"{cause.name} ({units.percent(ns / waited)})"
            for rank, (cause, ns) in enumerate(causes)
            if ns >= _CAUSE_SHARE * waited or not rank
        ]
        return (
            f"{self.initiator}: for {units.percent(self.share)} of the time {self.whole} waited "
            f"behind one flash unit, for {' and '.join(named)}. Meanwhile this closed loop sent "
            "nothing, so its results lack the requests that would have waited, too "
            '(see "Open and closed loops" in the documentation).'
        )


def of_run(result: Measured) -> list[Queue]:
    """Return the queues that stood still behind one flash unit."""
    found = [Queue(name, figures) for name, figures in result.closed_loops.items()]
    return [queue for queue in found if queue.share > 0]


def sentences(result: Measured) -> list[str]:
    """Return a sentence about each queue that often stood still."""
    return [queue.sentence for queue in of_run(result) if queue.share >= _TOLD_SHARE]
