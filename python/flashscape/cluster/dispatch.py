"""Tasks of an agenda over the workers of a cluster.

The client gives each worker as many tasks as it runs at a time, and Dask carries them. A task that
a worker takes with it when it goes is given to another one. So is a drive: if all workers that
have it are gone, it is prepared again. Results are stored here, by the code of the local pool.
"""

from __future__ import annotations

import queue
import uuid
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from distributed import KilledWorker

from flashscape import signals
from flashscape.cluster import host, orders
from flashscape.sweep import store
from flashscape.sweep.executor import Ended, Prepared
from flashscape.sweep.observer import jobs_that_fit
from flashscape.sweep.sharing import Group

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Future

    from flashscape.cluster.link import Link, Remote
    from flashscape.cluster.orders import Blob
    from flashscape.sweep.agenda import Start
    from flashscape.sweep.executor import Task, Work
    from flashscape.sweep.point import Point

_TICK_SECONDS = 0.25
"""Longest wait for an answer before workers are looked for and progress is told."""

TRIES_MOST = 3
"""Workers that may go while they have a task: more are no accident."""


class _Errand(NamedTuple):
    """A task that a worker has."""

    task: Task
    worker: Remote
    future: Future
    blobs: list[str]
    """Files and drives that the worker has afterwards."""


class Dispatch:
    """One agenda, from its first task to its last."""

    def __init__(self, link: Link, work: Work, limit: int | None) -> None:
        self._link = link
        self._agenda, self._store, self._watcher = work
        self._limit = limit
        """Most tasks at a time; None for as many as all workers run."""
        self._needs = self._agenda.memory_needs()
        self._topic = f"flashscape-{uuid.uuid4().hex}"
        self._errands: dict[str, _Errand] = {}
        self._again: deque[Task] = deque()
        """Tasks that were given before, and came back."""
        self._tries: dict[int, int] = {}
        """Workers that each task has lost."""
        self._groups: dict[str, Group] = {}
        """Group of each drive that was ordered."""
        self._starts: dict[str, Start] = {}
        """Present start of each drive's points."""
        self._waiting: dict[str, list[Point]] = {}
        """Points that wait for a drive that is prepared again."""
        self._shares: dict[int, float] = {}
        self._answers: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._gatherers = ThreadPoolExecutor(4, "flashscape-gather")
        self._told_idle = False

    def run(self, before: Callable[[], None]) -> None:
        """Do all tasks; raise OutputError and ClusterError."""
        self._link.client.subscribe_topic(self._topic, self._note_progress)
        try:
            before()
            while self._is_open:
                self._turn()
        finally:
            self._close()

    @property
    def _is_open(self) -> bool:
        return bool(self._agenda.is_open or self._again or self._waiting or self._errands)

    def _turn(self) -> None:
        self._agenda.widen(self._most)
        self._hand_out()
        with suppress(queue.Empty):
            key, answer = self._answers.get(timeout=_TICK_SECONDS)
            self._hear(key, answer)
            while True:
                self._hear(*self._answers.get_nowait())
        for worker in self._link.refresh():
            self._lose(worker, f"worker {worker.address} is gone")
        running = (errand.task.number for errand in self._errands.values())
        self._watcher.tick({number: self._shares.get(number, 0.0) for number in running})

    # Handing out.

    @property
    def _most(self) -> int:
        """Tasks that may run now."""
        slots = sum(self._slots(worker) for worker in self._link.workers)
        return slots if self._limit is None else min(slots, self._limit)

    def _slots(self, worker: Remote) -> int:
        """Tasks that a worker runs at a time, with regard to its memory."""
        return jobs_that_fit(self._needs, worker.slots, worker.memory_bytes)

    def _hand_out(self) -> None:
        """Give tasks to all workers that are free."""
        while len(self._errands) < self._most:
            free = [w for w in self._link.workers if w.running < self._slots(w)]
            task = self._next() if free else None
            if task is None:
                return
            self._begin(task, free)

    def _next(self) -> Task | None:
        if self._again:
            return self._again.popleft()
        task = self._agenda.take()
        if task is None and not self._agenda.is_open and not self._told_idle:
            self._told_idle = True
            self._watcher.idle()
        return task

    def _begin(self, task: Task, free: list[Remote]) -> None:
        """Give a task to the worker that has most of what it needs."""
        start = self._start(task)
        drive = start.get("drive")
        if drive is not None and not self._link.holders(drive):
            self._prepare_again(drive, task)
            return
        try:
            blobs = orders.blobs_of(task)
            worker = min(free, key=lambda each: _lacking(each, blobs, drive))
            sent = all(self._send(worker, blob) for blob in blobs)
        except OSError as error:
            self._fail(task, f"{error.filename or 'a file'}: {error.strerror or error}")
            return
        except Exception as error:
            # The check has accepted this point; a file that it names may have gone since.
            self._fail(task, str(error))
            return
        if not sent:
            self._again.appendleft(task)
            self._link.forget(worker)
            self._lose(worker, f"worker {worker.address} is gone")
            return
        self._submit(task, worker, start, blobs)

    def _submit(self, task: Task, worker: Remote, start: Start, blobs: list[Blob]) -> None:
        beside = {} if isinstance(task, Group) else self._store.beside(str(task.key))
        order = orders.order(task, start, blobs, beside, self._topic)
        names = [blob.content for blob in blobs]
        if order["drive"] is not None:
            names.append(order["drive"])
        order["needs"] = [[name, self._sources(name, worker)] for name in names]
        key = f"flashscape-{uuid.uuid4().hex}"
        future = self._link.client.submit(
            host.perform, order, key=key, workers=[worker.address], pure=False
        )
        if isinstance(task, Group):
            self._groups[order["keep"]] = task
            names.append(order["keep"])
        self._errands[key] = _Errand(task, worker, future, names)
        worker.running += 1
        future.add_done_callback(partial(self._has_ended, key))

    def _send(self, worker: Remote, blob: Blob) -> bool:
        """Send a file, if no worker has it; return False if the worker is gone."""
        try:
            return bool(self._link.holders(blob.content)) or self._link.send(
                worker, blob.content, blob.file
            )
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(blob.file)) from error

    def _sources(self, blob: str, worker: Remote) -> list[str]:
        return [each for each in self._link.holders(blob) if each != worker.address]

    def _start(self, task: Task) -> Start:
        if isinstance(task, Group):
            return {}
        start = self._agenda.start(task)
        return self._starts.get(start["drive"], start) if "drive" in start else start

    def _prepare_again(self, drive: str, point: Task) -> None:
        """Let a point wait for a drive that was lost with the workers that had it."""
        assert not isinstance(point, Group)
        if drive not in self._waiting:
            self._waiting[drive] = []
            self._again.appendleft(self._groups[drive])
        self._waiting[drive].append(point)

    # Listening.

    def _has_ended(self, key: str, future: Future) -> None:
        # After the end nobody waits for an answer.
        with suppress(RuntimeError):
            self._gatherers.submit(self._gather, key, future)

    def _gather(self, key: str, future: Future) -> None:
        """Bring an answer here, in a thread: it may be large, and its worker may go meanwhile."""
        try:
            self._answers.put((key, future.result()))
        except BaseException as error:
            self._answers.put((key, error))

    def _note_progress(self, event: tuple[float, Any]) -> None:
        _, (number, phase, share) = event
        if phase == "running" or number < 0:
            self._shares[number] = share or 0.0

    def _hear(self, key: str, answer: Any) -> None:
        errand = self._errands.pop(key, None)
        if errand is None:
            return
        task, worker = errand.task, errand.worker
        worker.running -= 1
        self._shares.pop(task.number, None)
        if isinstance(answer, dict) and ("ended" in answer or "prepared" in answer):
            worker.blobs.update(errand.blobs)
            self._end(task, answer)
        elif isinstance(answer, dict) and "died" in answer:
            self._fail(task, answer["died"])
        elif isinstance(answer, dict) and "stopped" in answer:
            self._fail(task, f"worker {worker.address}: {answer['stopped']}")
        elif isinstance(answer, dict) and "lacks" in answer:
            for each in self._link.workers:
                each.blobs.difference_update(answer["lacks"])
            self._take_back(task, f"worker {worker.address} cannot get its files")
        elif isinstance(answer, Exception) and not _is_loss(answer):
            bug = f"{type(answer).__name__}: {answer}"
            self._fail(task, f"this is a bug of flashscape: on worker {worker.address}: {bug}")
        else:
            why = f"worker {worker.address} has begun anew"
            self._link.forget(worker)
            self._take_back(task, why)
            self._lose(worker, why)

    def _end(self, task: Task, answer: dict[str, Any]) -> None:
        if isinstance(task, Group):
            self._end_group(task, answer["prepared"], answer["lost"], answer["cpu_seconds"])
            return
        if (stored := answer["stored"]) and task.key is not None:
            # Ctrl-C must not lose a result that is here.
            with signals.deferred():
                store.keep_packed(self._store.path_of(task.key), stored)
        error, kind, spent = (answer[key] for key in ("error", "kind", "cpu_seconds"))
        self._end_point(Ended(task, error, spent, kind))

    def _end_point(self, ended: Ended) -> None:
        if (group := self._agenda.ended(ended.point)) is not None:
            self._link.drop([orders.drive_of(group)])
        self._watcher.ended(ended)

    def _end_group(self, group: Group, start: Start, lost: str | None, seconds: float) -> None:
        drive = orders.drive_of(group)
        if "drive" in start:
            # The worker has told its own path.
            start = {**start, "drive": drive}
        else:
            for each in self._link.workers:
                each.blobs.discard(drive)
        is_first = drive not in self._starts
        self._starts[drive] = start
        if is_first:
            self._agenda.prepared(group, start)
        self._again.extend(self._waiting.pop(drive, ()))
        if is_first:
            self._watcher.prepared(Prepared(group, lost, seconds))

    def _fail(self, task: Task, why: str) -> None:
        """End a task without a result of its own: it is not stored, and may succeed next time."""
        if isinstance(task, Group):
            self._end_group(task, {}, why, 0.0)
        else:
            self._end_point(Ended(task, why, 0.0))

    def _take_back(self, task: Task, why: str) -> None:
        """Give a task that its worker has not done to another one, a few times."""
        tries = self._tries[task.number] = self._tries.get(task.number, 0) + 1
        if tries < TRIES_MOST:
            self._again.appendleft(task)
        else:
            memory = "" if isinstance(task, Group) else "; perhaps memory ran out"
            self._fail(task, f"{tries} workers were lost with it (at last: {why}){memory}")

    def _lose(self, worker: Remote, why: str) -> None:
        """Take back all tasks of a worker that is gone."""
        lost = [key for key, each in self._errands.items() if each.worker is worker]
        taken = [self._errands.pop(key) for key in lost]
        self._cancel([errand.future for errand in taken])
        worker.running = 0
        for errand in taken:
            self._shares.pop(errand.task.number, None)
            self._take_back(errand.task, why)

    # The end.

    def _cancel(self, futures: list[Future]) -> None:
        with suppress(Exception):
            if futures:
                self._link.client.cancel(futures, force=True)

    def _close(self) -> None:
        """Abandon what still runs; drop all drives."""
        self._cancel([errand.future for errand in self._errands.values()])
        self._errands.clear()
        with suppress(Exception):
            self._link.client.unsubscribe_topic(self._topic)
            self._link.drop([*self._groups])
        self._gatherers.shutdown(wait=False, cancel_futures=True)


def _lacking(worker: Remote, blobs: list[Blob], drive: str | None) -> tuple[int, int]:
    """Return how unfit a worker is: what it lacks, then its load."""
    names = {*(blob.content for blob in blobs), *([] if drive is None else [drive])}
    return len(names - worker.blobs), worker.running


def _is_loss(error: BaseException) -> bool:
    """Return True for errors of a worker that has gone, and False for those of a task."""
    if isinstance(error, KilledWorker | OSError):
        return True
    return "Cancelled" in type(error).__name__
