"""A worker process that runs points one after another, and stores their results itself.

It also prepares drives that points share. It gets orders on stdin and
answers on stdout, a line of JSON each. Polars stays unimported unless tables are needed:
importing it takes as long as a short run.

Files that an experiment names may be at other places here than where the sweep was started
(``files`` of an order). Results and errors have the names of the start.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from flashscape.errors import (
    ConfigError,
    FlashscapeError,
    OutputError,
    SnapshotError,
    TraceError,
)
from flashscape.experiment import Unchecked, named_files
from flashscape.run import Silent, run, run_prepared
from flashscape.snapshot import Snapshot
from flashscape.sweep import inputs, reads, store

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape._flashscape import Session
    from flashscape.experiment import Experiment
    from flashscape.result import Result

_TELL_SECONDS = 1.0
"""Seconds between two reports of progress."""

ORPHANED = 3
"""Exit code of a worker whose parent has ended."""


class _Teller(Silent):
    """Reports the progress of a run to the parent, now and then."""

    def __init__(self, say: Callable[[dict[str, Any]], None]) -> None:
        self._say = say
        self._told = time.monotonic()

    def preconditioning(self, share: float) -> None:
        """Report the share of preconditioning that is done."""
        self._tell("preconditioning", share)

    def running(self, simulated_ns: int, requests: int, share: float | None) -> None:
        """Report the share of the run that is done."""
        self._tell("running", share)

    def _tell(self, phase: str, share: float | None) -> None:
        now = time.monotonic()
        if now - self._told >= _TELL_SECONDS:
            self._told = now
            self._say({"phase": phase, "share": share})


class _Worker:
    """Orders from the parent, and the channel for answers."""

    def __init__(self, orders: IO[str], answers: IO[str]) -> None:
        self._orders = orders
        self._answers = answers
        self._given = threading.Semaphore(0)
        self._waiting: list[str] = []

    def work(self) -> None:
        """Execute orders until the parent has ended."""
        threading.Thread(target=self._listen, daemon=True).start()
        self._say({"ready": True})
        while True:
            self._given.acquire()
            order = json.loads(self._waiting.pop(0))
            _forget_all_but(order.get("start", {}).get("drive"))
            done = _prepared if "keep" in order else _ended
            self._say(done(order, self._say))

    def _listen(self) -> None:
        """Read orders; end of file means that the parent has ended, in any way."""
        for line in self._orders:
            self._waiting.append(line)
            self._given.release()
        # End even in the middle of a point: no process waits for it any more.
        os._exit(ORPHANED)

    def _say(self, message: dict[str, Any]) -> None:
        try:
            self._answers.write(json.dumps(message, ensure_ascii=False) + "\n")
            self._answers.flush()
        except OSError:
            os._exit(ORPHANED)


def _prepared(order: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Prepare a drive and save it for other points; return the answer to the parent.

    The answer's ``prepared`` is the ``start`` of the points' orders. If the drive could not be
    made for another reason than its configuration, it is empty: the points prepare their
    own, and ``lost`` has the reason.
    """
    began = time.process_time()
    start: dict[str, Any] = {}
    lost: str | None = None
    try:
        teller = _Teller(say)
        experiment = _experiment(order)
        kept = Snapshot.take(experiment, ongoing=teller.preconditioning)
        store.keep_drive(Path(order["keep"]), kept)
        seconds = (time.process_time() - began) / order["shared_by"]
        start = {"drive": order["keep"], "seconds": seconds}
    except (ConfigError, OutputError) as refused:
        lost = str(refused)
    except FlashscapeError as refused:
        start = {"refused": str(refused)}
    except MemoryError:
        lost = "out of memory"
    except Exception as bug:
        lost = f"this is a bug of flashscape: {type(bug).__name__}: {bug}"
    start, lost = _renamed([start, lost], order)
    return {"prepared": start, "lost": lost, "cpu_seconds": time.process_time() - began}


def _experiment(order: dict[str, Any]) -> Experiment:
    """Return the checked experiment of an order, with its files as they are named here."""
    here = {path: name for path, name, _ in order.get("files", ())}
    return Unchecked.from_json(order["experiment"]).over(here).checked()


def _renamed(value: Any, order: dict[str, Any]) -> Any:
    """Replace the names that files have here by those of the start, in all texts of a value."""
    if isinstance(value, dict):
        return {name: _renamed(each, order) for name, each in value.items()}
    if isinstance(value, list):
        return [_renamed(each, order) for each in value]
    if isinstance(value, str):
        for _, here, there in order.get("files", ()):
            value = value.replace(here, there)
    return value


_drive: tuple[str, Snapshot] | None = None
"""File and content of the last shared drive, with which one point after another begins."""


def _shared(file: str) -> Snapshot:
    """Return the drive in a file, which is read and verified once."""
    global _drive
    if _drive is None or _drive[0] != file:
        _drive = (file, Snapshot.load(file))
    return _drive[1]


def _forget_all_but(file: str | None) -> None:
    """Release another drive: its file takes room on the disk as long as it is open."""
    global _drive
    if _drive is not None and _drive[0] != file:
        _drive = None


def _result(
    experiment: Experiment, start: dict[str, Any], teller: _Teller, log: Path | None
) -> Result:
    """Run a point, which gets its drive as ``start`` says; log its requests if there is a file."""

    def take_over(session: Session) -> None:
        if "refused" in start:
            raise FlashscapeError(start["refused"])
        session.take_over(_shared(start["drive"]).inner)

    if not start:
        return run(experiment, progress=teller, requests=log)
    result = run_prepared(experiment, take_over, teller, requests=log)
    # CPU time of the shared drive counts for each of its points.
    result.summary["host_cpu_seconds"] += start["seconds"]
    return result


class _ChangedError(Exception):
    """An input of a point has changed since its key was made."""


def _refuse_changed(experiment: Experiment, key: str) -> None:
    """Check the inputs again: results under a key must belong to the inputs that it names.

    Files are read again only if they have changed since this process read them.
    """
    config = experiment.config
    try:
        now = inputs.key(config)
    except (OSError, SnapshotError) as error:
        raise _ChangedError(f"an input cannot be read any more: {error}") from error
    if now != key:
        named = ", ".join(named_files(config)) or "the simulator"
        raise _ChangedError(f"an input has changed since the sweep began ({named}); start it again")


def _ended(order: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Run a point and store its results or its failure; return the answer to the parent."""
    folder, key = Path(order["folder"]), order["key"]
    tables = [name for name in order["tables"] if name not in reads.OF_LOGS]
    beside = [(name, text.encode()) for name, text in order.get("beside", {}).items()]
    began = time.process_time()
    error: str | None = None
    kind, partial = "", None
    lasting = True
    try:
        experiment = _experiment(order)
        try:
            with reads.log_for(order["tables"], folder) as log:
                result = _result(experiment, order["start"], _Teller(say), log)
                if log is not None and reads.READS in order["tables"]:
                    beside.append((f"{reads.READS}.parquet", reads.table_of(log)))
        except FlashscapeError:
            # A failure from other inputs says nothing about this point.
            _refuse_changed(experiment, key)
            raise
        _refuse_changed(experiment, key)
        result.summary = _renamed(result.summary, order)
        store.keep(folder, result, tables, beside)
    except OutputError as full:
        return {"stopped": str(full)}
    except _ChangedError as changed:
        error, lasting = str(changed), False
    except ConfigError as refused:
        # The check has accepted this point; memory may have become short since.
        error, kind, lasting = str(refused), "ConfigError", False
    except SnapshotError as damaged:
        # The check has accepted this snapshot; it may be repaired under the same header.
        error, kind, lasting = str(damaged), "SnapshotError", False
    except TraceError as refused:
        # An error without a line is a reading error, which may not occur again.
        error, kind, lasting = str(refused), "TraceError", refused.line is not None
    except FlashscapeError as ended:
        error, kind, partial = str(ended), type(ended).__name__, getattr(ended, "result", None)
    except MemoryError:
        # A worker does not know if the user has a command line or Python.
        error, lasting = "out of memory; fewer processes (jobs) leave more to each", False
    except Exception as bug:
        error, lasting = f"this is a bug of flashscape: {type(bug).__name__}: {bug}", False
    error = _renamed(error, order)
    if error is not None and lasting:
        if partial is not None:
            partial.summary = _renamed(partial.summary, order)
        try:
            store.keep_failure(folder, error, kind, partial, tables, beside)
        except OutputError as full:
            return {"stopped": str(full)}
    spent = time.process_time() - began
    return {"ended": key, "error": error, "kind": kind, "cpu_seconds": spent}


def main() -> None:
    """Work for the process at the other end of stdin and stdout."""
    # Ctrl-C reaches all processes of a terminal; the parent ends this one when it is ready.
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Other output on stdout must not be mistaken for an answer.
    os.dup2(2, 1)
    _Worker(sys.stdin, answers).work()
