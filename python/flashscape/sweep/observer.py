"""A start of a sweep, and the observers of its progress."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from flashscape.sweep import sharing
from flashscape.sweep.agenda import Agenda

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.sweep.executor import Ended, Executor, Prepared
    from flashscape.sweep.point import Point
    from flashscape.sweep.store import Store

_WORKER_BYTES = 64 << 20
"""Memory of a worker besides the drive: Python and tables."""


class SweepObserver(Protocol):
    """Observer of a sweep: its methods are called as the sweep advances."""

    def checking(self, done: int, of: int) -> None:
        """Called while points are checked."""

    def begins(self, begin: Begin) -> None:
        """Called when all points are valid, before some are run."""

    def prepared(self, prepared: Prepared) -> None:
        """Called when a drive that points share is ready or lost."""

    def ended(self, ended: Ended) -> None:
        """Called when a point has ended."""

    def tick(self, shares: dict[int, float]) -> None:
        """Called from time to time; ``shares`` has the progress of running tasks, by number."""

    def over(self) -> None:
        """Called when nothing runs any more."""


class SilentSweep:
    """An observer that prints nothing."""

    def checking(self, done: int, of: int) -> None:
        """Do nothing."""

    def begins(self, begin: Begin) -> None:
        """Do nothing."""

    def prepared(self, prepared: Prepared) -> None:
        """Do nothing."""

    def ended(self, ended: Ended) -> None:
        """Do nothing."""

    def tick(self, shares: dict[int, float]) -> None:
        """Do nothing."""

    def over(self) -> None:
        """Do nothing."""


class Begin:
    """Plan of a start of a sweep."""

    def __init__(
        self,
        store: Store,
        points: Sequence[Point],
        available_bytes: int | None,
        *,
        executor: Executor,
        share: bool,
    ) -> None:
        self.points = points
        self.executor = executor
        valid = [point for point in self.points if point.key is not None]
        distinct = {str(point.key): point for point in reversed(valid)}
        self.alike = len(valid) - len(distinct)
        """Points with the inputs of an earlier one, whose results they share."""
        self.kept: set[str] = set()
        """Keys of points that were run before."""
        self.without_tables: set[str] = set()
        """Keys of points that were run before, but without the tables needed now."""
        for key, point in distinct.items():
            if (done := store.done(key)) is None:
                continue
            lacking = done.summary is not None and not store.has_tables(key, point.tables)
            (self.without_tables if lacking else self.kept).add(key)
        self.left_over = len(store.keys() - set(distinct))
        """Points in the directory that the sweep has no longer."""
        to_run = [point for key, point in distinct.items() if key not in self.kept]
        self.to_run = sorted(to_run, key=lambda point: point.number)
        self.asked = executor.slots
        self.jobs = self.asked
        self.available = executor.available_bytes(available_bytes)
        self.shared = sharing.share(self.to_run if share else (), executor.free_bytes(store))

    def fit(self) -> None:
        """Use as many jobs as fit the memory. The check of each point ensures that one fits."""
        needs = sorted((point.memory_bytes for point in self.to_run), reverse=True)
        most = max(1, min(self.asked, len(self.to_run)))
        self.jobs = jobs_that_fit(needs, most, self.available)

    def agenda(self) -> Agenda:
        """Return the tasks to do."""
        return Agenda(self.to_run, self.shared, jobs=self.jobs)


def jobs_that_fit(needs: list[int], jobs: int, available: int | None) -> int:
    """Return the number of points that fit at a time, if they need most; ``needs`` falls."""
    if available is None:
        return jobs
    while jobs > 1 and sum(needs[:jobs]) + jobs * _WORKER_BYTES > available:
        jobs -= 1
    return jobs


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
