"""A Dask worker's part: files and drives that are here, and processes that run tasks.

Everything in this module runs on the worker. Files and prepared drives are blobs in a directory
of the worker, named by a hash of what they hold. Other workers read them from here in pieces,
over Dask's connections. A task runs in a process of its own, so a task that is cancelled or
crashes does not harm the worker.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import select
import shutil
import threading
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from distributed import get_worker
from distributed.utils import sync

from flashscape.sweep import store
from flashscape.sweep.process import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from distributed import Worker

_ATTRIBUTE = "flashscape_host"
_PIECE = "flashscape_piece"
"""Name of the handler that other workers call."""

PIECE_BYTES = 4 << 20
"""Bytes of a message with a part of a blob."""

_FIRST_SECONDS, _PIECE_SECONDS = 5.0, 60.0
"""Longest wait for the first piece of a blob, and for others: then its source counts as lost."""

_POLL_SECONDS = 0.25
"""Seconds between two checks if a running task is still wanted."""


class Host:
    """Blobs and idle processes of one Dask worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._folder = Path(worker.local_directory) / "flashscape"
        self._blobs = self._folder / "blobs"
        self._blobs.mkdir(parents=True, exist_ok=True)
        self._idle: list[WorkerProcess] = []
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        """Lock of each blob: no two tasks copy the same one at a time."""
        self._arriving: dict[str, Any] = {}
        """Hash of each file that the client is sending."""
        self.arrived: list[str] = []
        """Names of blobs that came from elsewhere, each time that one came."""
        worker.handlers[_PIECE] = self._piece

    def greeting(self) -> dict[str, Any]:
        """Return what the client has to know."""
        names = [file.name for file in self._blobs.iterdir()]
        has = [name for name in names if not name.startswith(".") and not name.endswith(".part")]
        return {"has": has, "free_bytes": shutil.disk_usage(self._folder).free}

    def receive(self, blob: str, offset: int, piece: bytes, *, is_last: bool) -> str:
        """Append a piece of a file from the client; return the hash so far."""
        part = self._blobs / f"{blob}.part"
        if offset == 0:
            self._arriving[blob] = hashlib.sha256()
        self._arriving[blob].update(piece)
        with part.open("wb" if offset == 0 else "ab") as file:
            file.write(piece)
        digest = str(self._arriving[blob].hexdigest())
        if is_last:
            del self._arriving[blob]
            if digest == blob:
                part.replace(self._blobs / blob)
                self.arrived.append(blob)
            else:
                part.unlink()
        return digest

    def drop(self, blobs: Sequence[str]) -> None:
        """Delete drives that no point needs any more."""
        for blob in blobs:
            (self._blobs / blob).unlink(missing_ok=True)

    def rest(self) -> None:
        """End all idle processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def perform(self, order: dict[str, Any]) -> dict[str, Any]:
        """Do a task; return the answer of its process, with the files of its results."""
        try:
            lacking = [name for name, of in order["needs"] if not self._obtain(name, of)]
            if lacking:
                return {"lacks": lacking}
            with TemporaryDirectory(dir=self._folder, prefix="task-") as folder:
                return self._perform(order, Path(folder))
        except OSError as error:
            return {"stopped": f"its disk cannot be used: {error.strerror or error}"}

    def _perform(self, order: dict[str, Any], folder: Path) -> dict[str, Any]:
        given = dict(order["task"])
        given["files"] = [
            [path, str(self._named(blob, name)), original]
            for path, blob, name, original in order["files"]
        ]
        if (drive := order["keep"]) is not None:
            given["keep"] = str(self._blobs / drive)
        else:
            given["folder"] = str(folder / given["key"])
            if "drive" in given["start"]:
                given["start"] = {**given["start"], "drive": str(self._blobs / order["drive"])}
        answer = self._answer(given, order["topic"], order["number"])
        if "ended" in answer:
            answer["stored"] = store.packed(Path(given["folder"]))
        return answer

    def _answer(self, given: dict[str, Any], topic: str, number: int) -> dict[str, Any]:
        """Run a task in a process to its end, unless it is cancelled or its process dies."""
        process, has_ended = self._take(), False
        key = self._worker.get_current_task()
        try:
            process.give(given)
            while self._is_wanted(key):
                if not select.select([process.answers], [], [], _POLL_SECONDS)[0]:
                    continue
                if (messages := process.listen()) is None:
                    return {"died": process.epitaph()}
                for message in messages:
                    if "phase" in message:
                        self._worker.log_event(topic, [number, message["phase"], message["share"]])
                    elif "ready" not in message:
                        has_ended = "stopped" not in message
                        return message
            return {"cancelled": True}
        finally:
            if has_ended:
                with self._lock:
                    self._idle.append(process)
            else:
                process.kill()

    def _is_wanted(self, key: str) -> bool:
        """Return False if the client has cancelled the task, or is gone."""
        task = self._worker.state.tasks.get(key)
        return task is not None and task.state in ("executing", "long-running")

    def _take(self) -> WorkerProcess:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.process.poll() is None:
                    return process
                process.end()
        return WorkerProcess()

    def _obtain(self, blob: str, sources: Sequence[str]) -> bool:
        """Copy a blob from another worker if it is not here; return False if that fails."""
        with self._lock_of(blob):
            if (self._blobs / blob).exists():
                return True
            part = self._blobs / f"{blob}.part"
            for source in sources:
                with part.open("wb") as file:
                    if self._copy(blob, source, file):
                        part.replace(self._blobs / blob)
                        self.arrived.append(blob)
                        return True
            part.unlink(missing_ok=True)
            return False

    def _copy(self, blob: str, source: str, file: Any) -> bool:
        while True:
            try:
                # The reply of a worker that began anew meanwhile has no pieces.
                piece, is_last = sync(self._worker.loop, self._ask, source, blob, file.tell())
            except (TimeoutError, OSError, TypeError):
                return False
            file.write(piece)
            if is_last:
                return True

    async def _ask(self, source: str, blob: str, offset: int) -> tuple[bytes, bool]:
        asked = getattr(self._worker.rpc(source), _PIECE)(blob=blob, offset=offset)
        # Dask alone would try to connect to a worker that is gone for half a minute.
        reply = await asyncio.wait_for(asked, _PIECE_SECONDS if offset else _FIRST_SECONDS)
        return reply["piece"], reply["is_last"]

    async def _piece(self, blob: str, offset: int) -> dict[str, Any]:
        """Return a piece of a blob to another worker."""
        with (self._blobs / blob).open("rb") as file:
            file.seek(offset)
            piece = file.read(PIECE_BYTES)
            return {"piece": piece, "is_last": file.tell() == os.fstat(file.fileno()).st_size}

    def _named(self, blob: str, name: str) -> Path:
        """Return a file with this content and this name: the name is part of a point's key."""
        file = self._folder / "named" / blob / name
        with self._lock_of(blob):
            if not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                try:
                    os.link(self._blobs / blob, file)
                except OSError:
                    # The disk has no links.
                    shutil.copyfile(self._blobs / blob, file)
        return file

    @contextmanager
    def _lock_of(self, blob: str) -> Iterator[None]:
        with self._lock:
            lock = self._locks.setdefault(blob, threading.Lock())
        with lock:
            yield


def _of(dask_worker: Worker) -> Host:
    """Return the host of a worker, new at the first call."""
    host = getattr(dask_worker, _ATTRIBUTE, None)
    if host is None:
        host = Host(dask_worker)
        setattr(dask_worker, _ATTRIBUTE, host)
    assert isinstance(host, Host)
    return host


# Functions that the client calls on a worker; Dask adds the worker.


def greet(dask_worker: Worker) -> dict[str, Any]:
    """Make the worker ready for tasks; return what is there."""
    return _of(dask_worker).greeting()


def receive(blob: str, offset: int, piece: bytes, is_last: bool, dask_worker: Worker) -> str:
    """Take a piece of a file from the client."""
    return _of(dask_worker).receive(blob, offset, piece, is_last=is_last)


def drop(blobs: Sequence[str], dask_worker: Worker) -> None:
    """Delete drives."""
    _of(dask_worker).drop(blobs)


def rest(dask_worker: Worker) -> None:
    """End idle processes."""
    _of(dask_worker).rest()


def arrived(dask_worker: Worker) -> list[str]:
    """Return the names of all blobs that came from elsewhere, once for each time."""
    return list(_of(dask_worker).arrived)


def perform(order: dict[str, Any]) -> dict[str, Any]:
    """Do a task of a client, in a thread of the worker."""
    host = getattr(get_worker(), _ATTRIBUTE, None)
    if host is None:
        # The worker began anew at its former address, and has not been greeted.
        return {"stranger": True}
    assert isinstance(host, Host)
    return host.perform(order)
