"""A pool of processes for an agenda: tasks are handed out one by one, and a crash loses one task.

Workers are started once and import flashscape once. They run a program of their
own instead of the caller's, so a script needs no ``if __name__ == "__main__"``, and
threads of the caller do no harm, as they might after a fork.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

from flashscape.errors import OutputError, SimulatorError
from flashscape.sweep.sharing import Group

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape.sweep.agenda import Agenda, Start
    from flashscape.sweep.point import Point
    from flashscape.sweep.store import Store

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from flashscape.sweep.worker import main; main()"
)

_TICK_SECONDS = 0.5
"""Seconds between two reports of progress."""

_STILLBORN_MOST = 3
"""Number of processes that may die before they take a point: more are no accident."""

_LAST_WORDS = 2000
"""Bytes of a crashed worker's last output that are read."""


class Ended(NamedTuple):
    """The end of a point."""

    point: Point
    error: str | None
    cpu_seconds: float
    """CPU time that the worker has used for this point in all."""


class Prepared(NamedTuple):
    """The end of the preparation of a shared drive."""

    group: Group
    lost: str | None
    """Reason for which the points prepare drives of their own; None if the drive is ready."""
    cpu_seconds: float


class Watcher(Protocol):
    """Observer of a pool."""

    def prepared(self, prepared: Prepared) -> None:
        """Called when a drive that points share is ready or lost."""

    def ended(self, ended: Ended) -> None:
        """Called when a point has ended."""

    def tick(self, shares: dict[int, float]) -> None:
        """Called from time to time; ``shares`` has the progress of running tasks, by number."""

    def idle(self) -> None:
        """Called when nothing is left to hand out, while some points still run."""


class _Worker:
    """One process, and its task."""

    def __init__(self) -> None:
        self.task: Point | Group | None = None
        self.share = 0.0
        self._unread = b""
        self._words: IO[bytes] = TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            [
                sys.executable,
                # Without -P, a json.py in the current directory would replace Python's.
                "-P",
                "-c",
                _PROGRAM,
                json.dumps([each for each in sys.path if isinstance(each, str)]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
        )

    @property
    def answers(self) -> int:
        """File descriptor of its answers."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def give(self, task: Point | Group, order: dict[str, Any]) -> None:
        """Hand over a task; a worker that has died is detected when its answers are read."""
        assert self.process.stdin is not None
        self.task, self.share = task, 0.0
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()

    def listen(self) -> list[dict[str, Any]] | None:
        """Return its new answers; None if it has ended."""
        said = os.read(self.answers, 1 << 16)
        if not said:
            return None
        *lines, self._unread = (self._unread + said).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> None:
        """End the worker, regardless of its task."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self._words.close()

    def epitaph(self) -> str:
        """Return the cause of a worker's death, as far as it is known."""
        status = self.process.wait()
        self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, self._words.tell() - _LAST_WORDS))
        words = self._words.read().decode(errors="replace").strip().splitlines()
        said = f": {words[-1].strip()}" if words else ""
        if status >= 0:
            return f"its process ended with exit code {status}{said}"
        with contextlib.suppress(ValueError):
            name = signal.Signals(-status).name
            hint = "; perhaps memory ran out" if name == "SIGKILL" else ""
            return f"its process was ended by {name}{said}{hint}"
        return f"its process was ended by signal {-status}{said}"


class Pool:
    """Workers that share an agenda."""

    def __init__(self, store: Store, watcher: Watcher, agenda: Agenda) -> None:
        self._store = store
        self._watcher = watcher
        self._agenda = agenda
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        self._parked: list[_Worker] = []
        """Workers that wait for a drive that another one prepares."""
        self._told_idle = False
        self._stillborn = 0

    def run(self, jobs: int, before: Callable[[], None]) -> None:
        """Do all tasks of the agenda with so many processes; call ``before`` while they start.

        Raises OutputError if results cannot be written. Then, and on Ctrl-C,
        running tasks are abandoned and finished ones are kept.
        """
        try:
            for _ in range(jobs):
                self._start()
            before()
            while self._workers:
                self._turn()
        finally:
            self._close()

    def _start(self) -> None:
        worker = _Worker()
        self._workers.append(worker)
        self._selector.register(worker.answers, selectors.EVENT_READ, worker)

    def _turn(self) -> None:
        for key, _ in self._selector.select(_TICK_SECONDS):
            worker: _Worker = key.data
            messages = worker.listen()
            if messages is None:
                self._bury(worker)
                continue
            for message in messages:
                self._hear(worker, message)
        shares = {w.task.number: w.share for w in self._workers if w.task is not None}
        self._watcher.tick(shares)

    def _hear(self, worker: _Worker, message: dict[str, Any]) -> None:
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
            self._watcher.ended(Ended(task, message["error"], message["cpu_seconds"]))
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

    def _next(self, worker: _Worker) -> None:
        task = self._agenda.take()
        if task is not None:
            worker.give(task, self._order(task))
        elif self._agenda.is_open:
            self._parked.append(worker)
        else:
            self._dismiss(worker)
            if self._workers and not self._told_idle:
                self._told_idle = True
                self._watcher.idle()

    def _order(self, task: Point | Group) -> dict[str, Any]:
        """Return the order for a worker."""
        if isinstance(task, Group):
            return {
                "keep": str(self._store.drive_of(task.name)),
                "experiment": task.points[0].experiment.as_json(),
                "shared_by": len(task.points),
            }
        return {
            "points": str(self._store.points),
            "key": task.key,
            "experiment": task.experiment.as_json(),
            "start": self._agenda.start(task),
            "tables": list(task.tables),
        }

    def _bury(self, worker: _Worker) -> None:
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

    def _dismiss(self, worker: _Worker) -> None:
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
