"""Running an experiment: in slices, so that it can be watched and interrupted."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from flashscape import _flashscape, signals, units
from flashscape._flashscape import Session, __version__
from flashscape.errors import FlashscapeError, Interrupted, OutputError, StarvationError
from flashscape.experiment import Experiment
from flashscape.output import Directory, File, must_differ, refuse_inputs, refuse_other_format
from flashscape.result import Result
from flashscape.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

_SLICE_SECONDS = 0.1
"""How long the simulator works on its own before it is asked how it stands."""


class Observer(Protocol):
    """Who is told how a run goes.

    One that has a method ``saving(complete: bool)`` is also told when results are
    written, of the whole run or of what was done when it was interrupted. One that has
    ``comparing(share: float)`` is told by :func:`flashscape.compare` how far that is.
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
    requests: str | PathLike[str] | None = None,
    fio_json: str | PathLike[str] | None = None,
    force: bool = False,
    progress: bool | Observer = False,
    snapshot: Snapshot | str | PathLike[str] | None = None,
    save_drive: str | PathLike[str] | None = None,
) -> Result:
    """Run an experiment and return what was measured.

    ``out`` is a directory for the results, which :func:`flashscape.plot` draws; ``requests``
    a Parquet file for every counted request with its blame, written as the run goes on;
    ``fio_json`` a file with the fields of fio's json+; ``save_drive`` one for the drive as it
    is after the run (not where that was interrupted), to start others from it. All are
    refused at once where they are in use, unless ``force`` says to overwrite them, and
    always where the experiment reads them.
    ``progress`` shows a bar on stderr, or tells an :class:`Observer`. Other Python
    threads go on meanwhile.

    With ``snapshot`` (one, or a file's path) the drive is started from that, in
    the place of what the experiment says of preconditioning.

    Raises ConfigError, TraceError, SnapshotError, SpaceError, OutputError, where a request
    starves (``run.starvation``) StarvationError, and on Ctrl-C Interrupted; these two carry
    (and have saved) what was measured until then.
    """
    experiment = Experiment.of(experiment, snapshot_given=snapshot is not None)
    observer = _observer(progress)
    if fio_json is not None:
        from flashscape import fio

        fio.refuse_untimed(untimed=bool(experiment.config["run"].get("untimed", False)))
    refuse_inputs((out, requests, fio_json, save_drive), experiment.files)
    if snapshot is not None:
        # A drive may take the place of the one that it was: that is read to its end before.
        refuse_inputs((out, requests, fio_json), Snapshot.files(snapshot))
    if requests is not None:
        refuse_other_format(requests)
    start = None if snapshot is None else Snapshot.of(snapshot).inner
    with ExitStack() as claimed:

        def file(path: str | PathLike[str] | None, option: str) -> File | None:
            if path is None:
                return None
            return claimed.enter_context(File.claim(path, option, force=force))

        directory = None
        if out is not None:
            directory = claimed.enter_context(Directory.claim(out, force=force))
        targets = _Targets(
            directory,
            file(requests, "--requests"),
            file(fio_json, "--fio-json"),
            file(save_drive, "--save-drive"),
        )
        others = [each for each in (targets.fio_json, targets.drive) if each is not None]
        must_differ(directory, targets.requests, others)
        return _run(experiment, start, targets, observer)


class _Targets(NamedTuple):
    """Where results go, all of it claimed."""

    directory: Directory | None
    requests: File | None
    fio_json: File | None
    drive: File | None

    def store(self, session: Session, result: Result) -> None:
        """Write everything."""
        if self.directory is not None:
            result.write_to(self.directory)
        if self.requests is not None:
            self._end_log(self.requests, session, result)
        if self.fio_json is not None:
            from flashscape import fio

            self.fio_json.store(fio.text(result).encode())
        if self.drive is not None and result.complete:
            Snapshot(session.snapshot()).write_to(self.drive)

    @staticmethod
    def _end_log(file: File, session: Session, result: Result) -> None:
        about = {
            "flashscape": __version__,
            "digest": result.digest,
            "complete": json.dumps(result.complete),
        }
        try:
            session.end_log(list(about.items()))
        except OSError as error:
            raise file.failed(error) from error
        file.keep()
        result.log = file.path


def run_prepared(
    experiment: Experiment, prepare: Callable[[Session], None], observer: Observer
) -> Result:
    """Run an experiment whose drive ``prepare`` makes ready, in the place of preconditioning.

    It is asked once the traces are read, so what is wrong with those comes first, as ever.
    """
    return _run(experiment, None, _Targets(None, None, None, None), observer, prepare)


def _run(
    experiment: Experiment,
    start: _flashscape.Snapshot | None,
    targets: _Targets,
    observer: Observer,
    prepare: Callable[[Session], None] | None = None,
) -> Result:
    whereabouts = _Whereabouts(observer)
    started = time.thread_time()
    session = _surveyed(experiment, start, observer, whereabouts)
    result = None
    failed: OutputError | StarvationError | None = None
    try:
        complete = _simulate(session, whereabouts, targets.requests, prepare)
    except StarvationError as error:
        complete, failed = False, error
    except OutputError as error:
        # The log fills the disk: what was measured until then is not lost.
        complete, failed = False, error
        targets = targets._replace(requests=None)
    finally:
        observer.ended()
    try:
        # A second Ctrl-C, out of impatience, must not cost what the first one kept.
        with signals.deferred():
            saving = getattr(observer, "saving", None)
            if failed is None and any(targets) and saving is not None:
                saving(complete)
            result = _measured(session, experiment, time.thread_time() - started, complete)
            targets.store(session, result)
        if failed is not None:
            raise failed
    except (OutputError, StarvationError) as error:
        error.result = result
        raise
    except KeyboardInterrupt:
        where = "while saving results" if complete else whereabouts.now
        raise Interrupted(result, where) from None
    if not complete:
        raise Interrupted(result, whereabouts.now)
    return result


def _surveyed(
    experiment: Experiment,
    start: _flashscape.Snapshot | None,
    observer: Observer,
    whereabouts: _Whereabouts,
) -> Session:
    try:
        session = Session(experiment.plan, start)
        names = [workload["name"] for workload in experiment.config["workload"]]
        for name, announcement in zip(names, session.surveys(), strict=True):
            if announcement is not None:
                whose = f"{name}: " if len(names) > 1 else ""
                observer.surveyed(whose + announcement)
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
    session: Session,
    whereabouts: _Whereabouts,
    log: File | None,
    prepare: Callable[[Session], None] | None,
) -> bool:
    """Go to the end; False where the user ended it before; OutputError for the log."""
    try:
        if prepare is None:
            session.precondition(whereabouts.preconditioning)
        else:
            prepare(session)
    except KeyboardInterrupt:
        raise Interrupted(None, whereabouts.now) from None
    advance = session.advance if log is None else _logging(session, log)
    try:
        events = 1 << 14
        while True:
            begun = time.perf_counter()
            if not advance(events):
                return True
            whereabouts.running(*session.progress())
            took = time.perf_counter() - begun
            events = max(1 << 10, int(events * min(2.0, _SLICE_SECONDS / max(took, 1e-9))))
    except KeyboardInterrupt:
        return False


def _logging(session: Session, log: File) -> Callable[[int], bool]:
    """Advance with a log of requests."""

    def advance(events: int) -> bool:
        try:
            return session.advance(events)
        except FlashscapeError:
            raise
        except OSError as error:
            raise log.failed(error) from error

    try:
        session.log_requests(log.staging)
    except OSError as error:
        raise log.failed(error) from error
    return advance
