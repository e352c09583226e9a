"""Work of a sweep that is left, and the choice of the next task.

The longest task comes first. Drives that points share are prepared before the points, but
at most as many at a time as there are processes: so there are always points to run
while a drive is prepared, and few files at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.sweep.sharing import Group, running

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.sweep.point import Point
    from flashscape.sweep.sharing import Shared

Start = dict[str, Any]
"""Order to a worker on how a point gets its drive; empty if it prepares its own."""


class Agenda:
    """Points and shared drives that are still to be handed out."""

    def __init__(self, points: Sequence[Point], shared: Shared, *, jobs: int) -> None:
        self._points = points
        self._jobs = jobs
        self._budget = shared.budget_bytes
        # Sorted by effort, because tasks are taken from the end.
        self._groups = sorted(shared.groups, key=lambda group: (group.effort, group.number))
        self._group_of = {p.number: group for group in shared.groups for p in group.points}
        self._ready = [point for point in points if point.number not in self._group_of]
        self._starts: dict[int, Start] = {}
        self._preparing: set[int] = set()
        self._left: dict[int, int] = {}
        """Unfinished points of each shared drive that exists or is being prepared."""
        self._taken = 0
        self._sort()

    def _sort(self) -> None:
        self._ready.sort(key=lambda point: (self.effort(point), -point.number))

    def effort(self, of: Point | Group) -> float:
        """Microseconds of CPU time, very roughly."""
        if isinstance(of, Group):
            return of.preparing
        return running(of) if of.number in self._group_of else of.effort.whole

    def start(self, point: Point) -> Start:
        """Return the order on how a point gets its drive."""
        return self._starts.get(point.number, {})

    @property
    def is_open(self) -> bool:
        """True if there is, or will be, a task to hand out."""
        return bool(self._ready or self._groups or self._preparing)

    def memory_needs(self) -> list[int]:
        """Return the bytes of memory that the points take, the largest first."""
        return sorted((point.memory_bytes for point in self._points), reverse=True)

    def widen(self, jobs: int) -> None:
        """Let as many drives be prepared at a time as ``jobs`` processes take."""
        self._jobs = max(1, jobs)

    def take(self) -> Point | Group | None:
        """Return the next task; None if none can begin now."""
        group = self._next_group()
        if group is None or (self._ready and self.effort(self._ready[-1]) > group.effort):
            return self._ready.pop() if self._ready else None
        self._groups.remove(group)
        self._preparing.add(group.number)
        self._left[group.number] = len(group.points)
        self._taken += group.bytes
        return group

    def _next_group(self) -> Group | None:
        if len(self._left) >= self._jobs:
            return None
        fits = (g for g in reversed(self._groups) if self._fits(g))
        return next(fits, None)

    def _fits(self, group: Group) -> bool:
        return self._budget is None or self._taken + group.bytes <= self._budget

    def prepared(self, group: Group, start: Start) -> None:
        """Schedule the points of a group, whose drive is ready or lost, with order ``start``."""
        self._preparing.remove(group.number)
        for point in group.points:
            self._starts[point.number] = start
            if not start:
                del self._group_of[point.number]
        if not start:
            self._forget(group)
        self._ready.extend(group.points)
        self._sort()

    def ended(self, point: Point) -> Group | None:
        """Finish a point; return its group if no other point needs the group's drive."""
        group = self._group_of.get(point.number)
        if group is None:
            return None
        self._left[group.number] -= 1
        if self._left[group.number]:
            return None
        self._forget(group)
        return group

    def _forget(self, group: Group) -> None:
        del self._left[group.number]
        self._taken -= group.bytes
