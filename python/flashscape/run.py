"""Running an experiment in slices, so that it can be observed and interrupted."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from flashscape import _flashscape, signals, spelling, units
from flashscape._flashscape import Session, __version__
from flashscape.arguments import checks_arguments
from flashscape.errors import (
    ConfigError,
    FlashscapeError,
    Interrupted,
    OutputError,
    StarvationError,
)
from flashscape.experiment import Experiment
from flashscape.output import Directory, File, must_differ, refuse_inputs, refuse_other_format
from flashscape.result import Result
from flashscape.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

_SLICE_SECONDS = 0.1
"""Seconds for which the simulator works before it reports its progress."""


class Observer(Protocol):
    """Observer of a run: its methods are called as the run advances.

    If it has a method ``saving(complete: bool)``, that is called when results are
    written, of the whole run or of its part before an interruption.
    """

    def surveyed(self, announcement: str) -> None:
        """Called after a trace was read; ``announcement`` describes it."""

    def preconditioning(self, share: float) -> None:
        """Called while the drive is filled and aged; ``share`` of that is done."""

    def running(self, simulated_ns: int, requests: int, share: float | None) -> None:
        """Called while the run advances; ``share`` is None if no end is known."""

    def ended(self) -> None:
        """Called when the run is over; no call follows."""


class Silent:
    """An observer that prints nothing."""

    def surveyed(self, announcement: str) -> None:
        """Do nothing."""

    def preconditioning(self, share: float) -> None:
        """Do nothing."""

    def running(self, simulated_ns: int, requests: int, share: float | None) -> None:
        """Do nothing."""

    def ended(self) -> None:
        """Do nothing."""


class _Whereabouts:
    """Forwards the progress of a run to an observer, and remembers it."""

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


@checks_arguments
def run(
    experiment: Experiment | Mapping[str, Any] | str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    requests: str | PathLike[str] | None = None,
    fio_json: str | PathLike[str] | None = None,
    group_reporting: bool = False,
    force: bool = False,
    progress: bool | Observer = False,
    snapshot: Snapshot | str | PathLike[str] | None = None,
    save_drive: str | PathLike[str] | None = None,
) -> Result:
    """Run an experiment and return its results.

    ``out`` is a directory for the results, which :func:`flashscape.plot` draws; ``requests``
    a Parquet file for every counted request with its blame, written during the run;
    ``fio_json`` a file with the fields of fio's json+, in which ``group_reporting`` makes all
    initiators one job; ``save_drive`` a file for the drive
    after the run (unless it was interrupted), from which other runs can start. All are
    refused at once if they exist, unless ``force`` says to overwrite them, and
    always if the experiment reads them.
    ``progress`` shows a bar on stderr, or calls an :class:`Observer`. Other Python
    threads can run meanwhile.

    With ``snapshot`` (a Snapshot or a file's path) the drive is started from it, in
    place of the experiment's preconditioning, which overrides must then not change.

    Raises ConfigError, TraceError, SnapshotError, SpaceError, OutputError, if a request
    starves (``run.starvation``) StarvationError, and on Ctrl-C Interrupted. The last two carry
    (and have saved) the results until then.
    """
    experiment = Experiment.of(experiment, snapshot_given=snapshot is not None)
    if snapshot is not None:
        experiment.refuse_preconditioning()
    if save_drive is not None and "array" in experiment.config:
        raise ConfigError(
            "array: a snapshot holds one drive; leave "
            f"{spelling.option('--save-drive', 'save_drive')} out, or array"
        )
    observer = _observer(progress)
    if group_reporting and fio_json is None:
        raise ConfigError("group_reporting: goes with fio_json, the file that it is about")
    if fio_json is not None:
        from flashscape import fio

        fio.refuse_untimed(untimed=bool(experiment.config["run"].get("untimed", False)))
    refuse_inputs((out, requests, fio_json, save_drive), experiment.files)
    if snapshot is not None:
        # The new snapshot may replace the old one, which is read to its end before.
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
            grouped=group_reporting,
        )
        others = [each for each in (targets.fio_json, targets.drive) if each is not None]
        must_differ(directory, targets.requests, others)
        return _run(experiment, start, targets, observer)


class _Targets(NamedTuple):
    """Targets of the results, all of them claimed."""

    directory: Directory | None
    requests: File | None
    fio_json: File | None
    drive: File | None
    grouped: bool = False
    """True if the file of fio's fields has one job for all initiators."""

    def store(self, session: Session, result: Result) -> None:
        """Write all results."""
        if self.directory is not None:
            result.write_to(self.directory)
        if self.requests is not None:
            self._end_log(self.requests, session, result)
        if self.fio_json is not None:
            from flashscape import fio

            self.fio_json.store(fio.text(result, grouped=self.grouped).encode())
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
    experiment: Experiment,
    prepare: Callable[[Session], None],
    observer: Observer,
    *,
    requests: Path | None = None,
) -> Result:
    """Run an experiment whose drive ``prepare`` makes ready, instead of preconditioning it.

    ``prepare`` is called after the traces are read, so faults of traces are reported first.
    ``requests`` is a new file for a log of requests.
    """
    with ExitStack() as claimed:
        log = None
        if requests is not None:
            log = claimed.enter_context(File.claim(requests, "--requests", force=False))
        return _run(experiment, None, _Targets(None, log, None, None), observer, prepare)


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
        # The log has filled the disk: keep the results until then.
        complete, failed = False, error
        targets = targets._replace(requests=None)
    finally:
        observer.ended()
    try:
        # A second Ctrl-C must not lose the results that the first one saved.
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
    # Results without a title are told apart by their file names.
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
    """Run to the end; False if the user interrupted it; OutputError for the log."""
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
    """Return a function that advances with a log of requests."""

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
