"""The seam between work and what does it: processes of this machine, or workers of a cluster.

Work is an agenda of tasks. A task is a point, or the preparation of a drive that some points
start from. An executor does all tasks, in the order of the agenda, and stores the results of the
points under their keys: these are the same bytes whichever executor is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape.sweep.agenda import Agenda
    from flashscape.sweep.point import Point
    from flashscape.sweep.sharing import Group
    from flashscape.sweep.store import Store

Task: TypeAlias = "Point | Group"
"""A point, or the preparation of the drive that a group of points starts from."""


class Ended(NamedTuple):
    """The end of a point."""

    point: Point
    error: str | None
    cpu_seconds: float
    """CPU time that the worker has used for this point in all."""
    kind: str = ""
    """Type of the exception; empty if it is not known, or if there was none."""


class Prepared(NamedTuple):
    """The end of the preparation of a shared drive."""

    group: Group
    lost: str | None
    """Reason for which the points prepare drives of their own; None if the drive is ready."""
    cpu_seconds: float


class Watcher(Protocol):
    """Observer of an executor."""

    def prepared(self, prepared: Prepared) -> None:
        """Called when a drive that points share is ready or lost."""

    def ended(self, ended: Ended) -> None:
        """Called when a point has ended."""

    def tick(self, shares: dict[int, float]) -> None:
        """Called from time to time; ``shares`` has the progress of running tasks, by number."""

    def idle(self) -> None:
        """Called when nothing is left to hand out, while some points still run."""


class Work(NamedTuple):
    """Tasks to do, the place of their results, and who watches."""

    agenda: Agenda
    store: Store
    watcher: Watcher


class Executor(Protocol):
    """Processes or machines that do the tasks of an agenda."""

    @property
    def slots(self) -> int:
        """Number of tasks that can run at a time, as far as is known before they begin."""

    def available_bytes(self, here: int | None) -> int | None:
        """Return the memory that all tasks share, of which ``here`` is available on this machine.

        None if it is not known, or if the executor itself runs only as many tasks as fit.
        """

    def free_bytes(self, store: Store) -> int | None:
        """Return the free bytes of the disk that holds prepared drives; None if not known."""

    def run(self, work: Work, jobs: int, before: Callable[[], None]) -> None:
        """Do all tasks, at most ``jobs`` at a time; call ``before`` while workers start.

        Raises OutputError if results cannot be written. Then, and on Ctrl-C,
        running tasks are abandoned and finished ones are kept.
        """
