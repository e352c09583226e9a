"""Points over processes: handed out one at a time, and whatever happens to a process, gone on.

Workers are started once and import flashscape once. They have a program of their
own instead of the caller's, so a script needs no ``if __name__ == "__main__"``, and
threads of the caller's do no harm, as they might after a fork.
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flashscape.sweep.check import Point
    from flashscape.sweep.store import Store

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from flashscape.sweep.worker import main; main()"
)

_TICK_SECONDS = 0.5
"""How often somebody who watches sees something move."""

_STILLBORN_MOST = 3
"""Processes that may die before they take a point: more are no accident."""

_LAST_WORDS = 2000
"""Bytes of what a worker has written before it died that are looked at."""


class Ended(NamedTuple):
    """How a point ended."""

    point: Point
    error: str | None
    cpu_seconds: float
    """Of the worker for this point, all told."""


class Watcher(Protocol):
    """Who is told how a pool gets on."""

    def ended(self, ended: Ended) -> None:
        """A point has ended."""

    def tick(self, shares: dict[int, float]) -> None:
        """Time has passed; ``shares`` says how far the points being run have come."""

    def idle(self) -> None:
        """Nothing is left to hand out, while some points still run."""


class _Worker:
    """One process, and what it is at."""

    def __init__(self) -> None:
        self.point: Point | None = None
        self.share = 0.0
        self._unread = b""
        self._words: IO[bytes] = TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            [
                sys.executable,
                # Without -P a json.py in the present directory would take the place of Python's.
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
        """The descriptor that it answers on."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def give(self, point: Point, store: Store, *, tables: bool) -> None:
        """Hand a point over; one that has died meanwhile is found out when it is listened to."""
        assert self.process.stdin is not None
        order = {
            "points": str(store.points),
            "key": point.key,
            "experiment": point.experiment.as_json(),
            "tables": tables,
        }
        self.point, self.share = point, 0.0
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()

    def listen(self) -> list[dict[str, Any]] | None:
        """What it has said; None where it has ended."""
        said = os.read(self.answers, 1 << 16)
        if not said:
            return None
        *lines, self._unread = (self._unread + said).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> None:
        """Let it go, whatever it is at."""
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
        """Why a worker that has died did so, as far as that is known."""
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
    """Workers that share a list of points."""

    def __init__(self, store: Store, watcher: Watcher, *, jobs: int, tables: bool) -> None:
        self._store = store
        self._watcher = watcher
        self._tables = tables
        self._jobs = jobs
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        self._waiting: list[Point] = []
        self._told_idle = False
        self._stillborn = 0

    def run(self, points: Iterable[Point], before: Callable[[], None]) -> None:
        """Run all points, those that take longest first; ``before`` while processes start.

        Raises OutputError where results cannot be written; then, and on Ctrl-C,
        what is under way is given up and what has ended is kept.
        """
        # From the end, which is where they are taken from.
        self._waiting = sorted(points, key=lambda point: (point.effort, -point.number))
        try:
            for _ in range(min(self._jobs, len(self._waiting))):
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
        shares = {w.point.number: w.share for w in self._workers if w.point is not None}
        self._watcher.tick(shares)

    def _hear(self, worker: _Worker, message: dict[str, Any]) -> None:
        if "stopped" in message:
            raise OutputError(message["stopped"])
        if "phase" in message:
            if message["phase"] == "running":
                worker.share = message["share"] or 0.0
            return
        if "ended" in message:
            assert worker.point is not None
            ended = Ended(worker.point, message["error"], message["cpu_seconds"])
            worker.point = None
            # The next one first: whoever is told may take a while.
            self._next(worker)
            self._watcher.ended(ended)
        else:
            self._next(worker)

    def _next(self, worker: _Worker) -> None:
        if self._waiting:
            worker.give(self._waiting.pop(), self._store, tables=self._tables)
            return
        self._dismiss(worker)
        if self._workers and not self._told_idle:
            self._told_idle = True
            self._watcher.idle()

    def _bury(self, worker: _Worker) -> None:
        """A worker has died: its point has failed, and another one takes its place."""
        why = worker.epitaph()
        point = worker.point
        self._dismiss(worker)
        if point is None:
            self._stillborn += 1
            if self._stillborn > _STILLBORN_MOST:
                raise SimulatorError(f"processes for points cannot be started; {why}")
        if self._waiting:
            self._start()
        if point is not None:
            self._watcher.ended(Ended(point, why, 0.0))

    def _dismiss(self, worker: _Worker) -> None:
        self._selector.unregister(worker.answers)
        self._workers.remove(worker)
        worker.end()

    def _close(self) -> None:
        for worker in self._workers:
            # All at once, so that they end at the same time.
            with contextlib.suppress(OSError):
                assert worker.process.stdin is not None
                worker.process.stdin.close()
        for worker in self._workers:
            worker.end()
        self._workers.clear()
        self._selector.close()
