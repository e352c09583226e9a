"""A pool of processes for an agenda: tasks are handed out one by one, and a crash loses one task.

Workers are started once and import flashscape once. They run a program of their
own instead of the caller's, so a script needs no ``if __name__ == "__main__"``, and
threads of the caller do no harm, as they might after a fork.
"""

from __future__ import annotations

import contextlib
import selectors
from typing import TYPE_CHECKING, Any

from flashscape.errors import OutputError, SimulatorError
from flashscape.sweep import sharing
from flashscape.sweep.executor import Ended, Prepared
from flashscape.sweep.observer import cores
from flashscape.sweep.process import WorkerProcess
from flashscape.sweep.sharing import Group

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape.sweep.agenda import Start
    from flashscape.sweep.executor import Task, Work
    from flashscape.sweep.point import Point
    from flashscape.sweep.store import Store

_TICK_SECONDS = 0.5
"""Seconds between two reports of progress."""

_STILLBORN_MOST = 3
"""Number of processes that may die before they take a point: more are no accident."""


class Local:
    """The executor of this machine: ``jobs`` processes at a time, by default one for each core."""

    def __init__(self, jobs: int | None = None) -> None:
        self.slots = jobs or cores()

    def available_bytes(self, here: int | None) -> int | None:
        """Return the memory that is available."""
        return here

    def free_bytes(self, store: Store) -> int | None:
        """Return the free bytes of the disk of the results."""
        return sharing.free_bytes(store.folder)

    def run(self, work: Work, jobs: int, before: Callable[[], None]) -> None:
        """Do all tasks with so many processes."""
        _Pool(work).run(jobs, before)


class _Pool:
    """Workers that share an agenda."""

    def __init__(self, work: Work) -> None:
        self._agenda, self._store, self._watcher = work
        self._selector = selectors.DefaultSelector()
        self._workers: list[WorkerProcess] = []
        self._parked: list[WorkerProcess] = []
        """Workers that wait for a drive that another one prepares."""
        self._told_idle = False
        self._stillborn = 0

    def run(self, jobs: int, before: Callable[[], None]) -> None:
        """Do all tasks of the agenda with so many processes; call ``before`` while they start."""
        try:
            for _ in range(jobs):
                self._start()
            before()
            while self._workers:
                self._turn()
        finally:
            self._close()

    def _start(self) -> None:
        worker = WorkerProcess()
        self._workers.append(worker)
        self._selector.register(worker.answers, selectors.EVENT_READ, worker)

    def _turn(self) -> None:
        for key, _ in self._selector.select(_TICK_SECONDS):
            worker: WorkerProcess = key.data
            messages = worker.listen()
            if messages is None:
                self._bury(worker)
                continue
            for message in messages:
                self._hear(worker, message)
        shares = {w.task.number: w.share for w in self._workers if w.task is not None}
        self._watcher.tick(shares)

    def _hear(self, worker: WorkerProcess, message: dict[str, Any]) -> None:
        if "stopped" in message:
            raise OutputError(message["stopped"])
        task = worker.task
        if "phase" in message:
            if message["phase"] == "running" or isinstance(task, Group):
                worker.share = message["share"] or 0.0
            return
        worker.task = None
        if "prepared" in message:
            assert isinstance(task, Group)
            self._prepared(task, message["prepared"])
            # Hand out the next task first: the watcher may take a while.
            self._next(worker)
            self._watcher.prepared(Prepared(task, message["lost"], message["cpu_seconds"]))
        elif "ended" in message:
            assert task is not None
            assert not isinstance(task, Group)
            self._ended(task)
            self._next(worker)
            error, kind, spent = (message[key] for key in ("error", "kind", "cpu_seconds"))
            self._watcher.ended(Ended(task, error, spent, kind))
        else:
            self._next(worker)

    def _prepared(self, group: Group, start: Start) -> None:
        self._agenda.prepared(group, start)
        self._wake()

    def _ended(self, point: Point) -> None:
        group = self._agenda.ended(point)
        if group is not None:
            self._store.drive_of(group.name).unlink(missing_ok=True)
            self._wake()

    def _wake(self) -> None:
        """Try to hand out tasks to waiting workers."""
        parked, self._parked = self._parked, []
        for worker in parked:
            self._next(worker)

    def _next(self, worker: WorkerProcess) -> None:
        task = self._agenda.take()
        if task is not None:
            worker.task, worker.share = task, 0.0
            worker.give(self._order(task))
        elif self._agenda.is_open:
            self._parked.append(worker)
        else:
            self._dismiss(worker)
            if self._workers and not self._told_idle:
                self._told_idle = True
                self._watcher.idle()

    def _order(self, task: Task) -> dict[str, Any]:
        """Return the order for a worker."""
        if isinstance(task, Group):
            return {
                "keep": str(self._store.drive_of(task.name)),
                "experiment": task.points[0].experiment.as_json(),
                "shared_by": len(task.points),
            }
        return {
            "folder": str(self._store.path_of(str(task.key))),
            "key": task.key,
            "experiment": task.experiment.as_json(),
            "start": self._agenda.start(task),
            "tables": list(task.tables),
            "beside": self._store.beside(str(task.key)),
        }

    def _bury(self, worker: WorkerProcess) -> None:
        """Handle the death of a worker: its task has failed, and a new worker replaces it."""
        why = worker.epitaph()
        task = worker.task
        self._dismiss(worker)
        if task is None:
            self._stillborn += 1
            if self._stillborn > _STILLBORN_MOST:
                raise SimulatorError(f"processes for points cannot be started; {why}")
        elif isinstance(task, Group):
            self._store.drive_of(task.name).unlink(missing_ok=True)
            self._prepared(task, {})
        else:
            self._ended(task)
        if self._agenda.is_open:
            self._start()
        if isinstance(task, Group):
            self._watcher.prepared(Prepared(task, why, 0.0))
        elif task is not None:
            self._watcher.ended(Ended(task, why, 0.0))

    def _dismiss(self, worker: WorkerProcess) -> None:
        self._selector.unregister(worker.answers)
        self._workers.remove(worker)
        if worker in self._parked:
            self._parked.remove(worker)
        worker.end()

    def _close(self) -> None:
        for worker in self._workers:
            # End all workers first and wait then, so that they end at the same time.
            with contextlib.suppress(OSError):
                assert worker.process.stdin is not None
                worker.process.stdin.close()
        for worker in self._workers:
            worker.end()
        self._workers.clear()
        self._selector.close()
