"""A start of a sweep, and those who are told how it goes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from flashscape.sweep import sharing
from flashscape.sweep.agenda import Agenda

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.sweep.point import Point
    from flashscape.sweep.pool import Ended, Prepared
    from flashscape.sweep.store import Store

_WORKER_BYTES = 64 << 20
"""Memory of a worker beside the drive: Python, and what tables take."""


class SweepObserver(Protocol):
    """Who is told how a sweep goes."""

    def checking(self, done: int, of: int) -> None:
        """So many points were checked."""

    def begins(self, begin: Begin) -> None:
        """All points are sound, and some are now run."""

    def prepared(self, prepared: Prepared) -> None:
        """A drive that points share is ready, or will not be."""

    def ended(self, ended: Ended) -> None:
        """A point has ended."""

    def tick(self, shares: dict[int, float]) -> None:
        """Time has passed; ``shares`` says how far what is being done has come, by number."""

    def over(self) -> None:
        """Nothing runs any more."""


class SilentSweep:
    """An observer that says nothing."""

    def checking(self, done: int, of: int) -> None:
        """Say nothing."""

    def begins(self, begin: Begin) -> None:
        """Say nothing."""

    def prepared(self, prepared: Prepared) -> None:
        """Say nothing."""

    def ended(self, ended: Ended) -> None:
        """Say nothing."""

    def tick(self, shares: dict[int, float]) -> None:
        """Say nothing."""

    def over(self) -> None:
        """Say nothing."""


class Begin:
    """What a start of a sweep is going to do."""

    def __init__(
        self,
        store: Store,
        points: Sequence[Point],
        available_bytes: int | None,
        *,
        jobs: int | None,
        share: bool,
    ) -> None:
        self.points = points
        valid = [point for point in self.points if point.key is not None]
        distinct = {str(point.key): point for point in reversed(valid)}
        self.alike = len(valid) - len(distinct)
        """Points with the inputs of an earlier one, whose results they share."""
        self.kept: set[str] = set()
        """Keys of points that were run before."""
        self.without_tables: set[str] = set()
        """Keys of points that were run before, but not as is wanted now."""
        for key, point in distinct.items():
            if (done := store.done(key)) is None:
                continue
            lacking = done.summary is not None and not store.has_tables(key, point.tables)
            (self.without_tables if lacking else self.kept).add(key)
        self.left_over = len(store.keys() - set(distinct))
        """Points that the directory has and the sweep no longer."""
        to_run = [point for key, point in distinct.items() if key not in self.kept]
        self.to_run = sorted(to_run, key=lambda point: point.number)
        self.asked = jobs or cores()
        self.jobs = self.asked
        self.available = available_bytes
        self.shared = sharing.share(self.to_run if share else (), sharing.free_bytes(store.folder))

    def fit(self) -> None:
        """Take as many jobs as fit the memory. That each point does alone was checked with it."""
        needs = sorted((point.memory_bytes for point in self.to_run), reverse=True)
        most = max(1, min(self.asked, len(self.to_run)))
        self.jobs = jobs_that_fit(needs, most, self.available)

    def agenda(self) -> Agenda:
        """What there is to do."""
        return Agenda(self.to_run, self.shared, jobs=self.jobs)


def jobs_that_fit(needs: list[int], jobs: int, available: int | None) -> int:
    """How many points may run at a time, were they those that need most, which come first."""
    if available is None:
        return jobs
    while jobs > 1 and sum(needs[:jobs]) + jobs * _WORKER_BYTES > available:
        jobs -= 1
    return jobs


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
