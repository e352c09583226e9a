"""Running an experiment: in slices, so that it can be watched and interrupted."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from flashscape import _flashscape, signals, units
from flashscape._flashscape import Session
from flashscape.errors import Interrupted, OutputError
from flashscape.experiment import Experiment
from flashscape.output import Directory
from flashscape.result import Result
from flashscape.snapshot import Snapshot, claim

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

_SLICE_SECONDS = 0.1
"""How long the simulator works on its own before it is asked how it stands."""


class Observer(Protocol):
    """Who is told how a run goes.

    One that has a method ``saving(complete: bool)`` is also told when results are
    put together, of the whole run or of a part of it.
    """

    def surveyed(self, announcement: str) -> None:
        """A trace was read; ``announcement`` says what was understood."""

    def preconditioning(self, share: float) -> None:
        """The drive is being filled and aged; ``share`` of that is done."""

    def running(self, simulated_ns: int, requests: int, share: float | None) -> None:
        """The run has come so far; ``share`` is None where no end is known."""

    def ended(self) -> None:
        """The run is over; nothing more will be told of it."""


class Silent:
    """An observer that says nothing."""

    def surveyed(self, announcement: str) -> None:
        """Say nothing."""

    def preconditioning(self, share: float) -> None:
        """Say nothing."""

    def running(self, simulated_ns: int, requests: int, share: float | None) -> None:
        """Say nothing."""

    def ended(self) -> None:
        """Say nothing."""


class _Whereabouts:
    """Passes on how a run goes, and remembers how far it has come."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self.now = "while reading the traces"

    def preconditioning(self, share: float) -> None:
        self.now = f"while filling and ageing the drive, {units.percent(share)} done"
        self._observer.preconditioning(share)

    def running(self, simulated_ns: int, requests: int, share: float | None) -> None:
        done = "" if share is None else f"{units.percent(share)} done, "
        self.now = f"while running, {done}{units.duration(simulated_ns)} simulated"
        self._observer.running(simulated_ns, requests, share)


def run(
    experiment: Experiment | Mapping[str, Any] | str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    progress: bool | Observer = False,
    snapshot: Snapshot | str | PathLike[str] | None = None,
    save_drive: str | PathLike[str] | None = None,
) -> Result:
    """Run an experiment and return what was measured.

    ``out`` is a directory for the results, refused at once where it is in use
    unless ``force`` says to overwrite them. ``progress`` shows a bar on stderr,
    or tells an :class:`Observer`. Other Python threads go on meanwhile.

    With ``snapshot`` (one, or a file's path) the drive is started from that, in
    the place of what the experiment says of preconditioning. With ``save_drive``
    the drive is shut down after the run and kept in that file, which is refused
    where it is there unless ``force`` says to overwrite it.

    Raises ConfigError, TraceError, SnapshotError, SpaceError, OutputError, and on Ctrl-C
    Interrupted, which carries (and has saved) what was measured until then.
    """
    experiment = Experiment.of(experiment)
    observer = _observer(progress)
    start = None if snapshot is None else Snapshot.of(snapshot).inner
    if save_drive is not None:
        claim(save_drive, force=force)
    with nullcontext() if out is None else Directory.claim(out, force=force) as directory:
        session, result = _run(experiment, start, directory, observer)
    if save_drive is not None:
        Snapshot(session.snapshot()).save(save_drive, force=force)
    return result


def run_prepared(
    experiment: Experiment, prepare: Callable[[Session], None], observer: Observer
) -> Result:
    """Run an experiment whose drive ``prepare`` makes ready, in the place of preconditioning.

    It is asked once the traces are read, so what is wrong with those comes first, as ever.
    """
    return _run(experiment, None, None, observer, prepare)[1]


def _run(
    experiment: Experiment,
    start: _flashscape.Snapshot | None,
    directory: Directory | None,
    observer: Observer,
    prepare: Callable[[Session], None] | None = None,
) -> tuple[Session, Result]:
    whereabouts = _Whereabouts(observer)
    started = time.thread_time()
    session = _surveyed(experiment, start, observer, whereabouts)
    try:
        complete = _simulate(session, whereabouts, prepare)
    finally:
        observer.ended()
    result = None
    try:
        # A second Ctrl-C, out of impatience, must not cost what the first one kept.
        with signals.deferred():
            if (saving := getattr(observer, "saving", None)) is not None:
                saving(complete)
            result = _measured(session, experiment, time.thread_time() - started, complete)
            if directory is not None:
                result.write_to(directory)
        if directory is not None:
            result.draw_to(directory)
    except OutputError as error:
        error.result = result
        raise
    except KeyboardInterrupt:
        where = "while saving results" if complete else whereabouts.now
        raise Interrupted(result, where) from None
    if not complete:
        raise Interrupted(result, whereabouts.now)
    return session, result


def _surveyed(
    experiment: Experiment,
    start: _flashscape.Snapshot | None,
    observer: Observer,
    whereabouts: _Whereabouts,
) -> Session:
    try:
        session = Session(experiment.plan, start)
        for announcement in session.surveys():
            if announcement is not None:
                observer.surveyed(announcement)
    except KeyboardInterrupt:
        raise Interrupted(None, whereabouts.now) from None
    return session


def _measured(
    session: Session, experiment: Experiment, cpu_seconds: float, complete: bool
) -> Result:
    summary = json.loads(session.summary(cpu_seconds, complete))
    # Results without a name are told apart by their files'.
    summary["title"] = summary["title"] or Path(experiment.title).name
    return Result(summary, {table.name: table for table in session.tables()})


def _observer(progress: bool | Observer) -> Observer:
    if progress is True:
        from flashscape.progress import Bar

        return Bar()
    return progress or Silent()


def _simulate(
    session: Session, whereabouts: _Whereabouts, prepare: Callable[[Session], None] | None
) -> bool:
    """Go to the end; False where the user ended it before."""
    try:
        if prepare is None:
            session.precondition(whereabouts.preconditioning)
        else:
            prepare(session)
    except KeyboardInterrupt:
        raise Interrupted(None, whereabouts.now) from None
    try:
        events = 1 << 14
        while True:
            begun = time.perf_counter()
            if not session.advance(events):
                return True
            whereabouts.running(*session.progress())
            took = time.perf_counter() - begun
            events = max(1 << 10, int(events * min(2.0, _SLICE_SECONDS / max(took, 1e-9))))
    except KeyboardInterrupt:
        return False
