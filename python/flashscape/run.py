"""Running an experiment: in slices, so that it can be watched and interrupted."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Protocol

from flashscape._flashscape import Session
from flashscape.errors import Interrupted
from flashscape.experiment import Experiment
from flashscape.output import Directory
from flashscape.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

_SLICE_SECONDS = 0.1
"""How long the simulator works on its own before it is asked how it stands."""


class Observer(Protocol):
    """Who is told how a run goes."""

    def surveyed(self, announcement: str) -> None:
        """A trace was read; ``announcement`` says what was understood."""

    def preconditioning(self, share: float) -> None:
        """The drive is being filled and aged; ``share`` of that is done."""

    def running(self, simulated_ns: int, requests: int, share: float | None) -> None:
        """The run has come so far; ``share`` is None where no end is known."""

    def ended(self) -> None:
        """Nothing more will be told."""


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


def run(
    experiment: Experiment | Mapping[str, Any] | str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    progress: bool | Observer = False,
) -> Result:
    """Run an experiment and return what was measured.

    ``out`` is a directory for the results, refused at once where it is in use
    unless ``force`` says to overwrite them. ``progress`` shows a bar on stderr,
    or tells an :class:`Observer`. Other Python threads go on meanwhile.

    Raises ConfigError, TraceError, SpaceError, OutputError, and on Ctrl-C
    Interrupted, which carries (and has saved) what was measured until then.
    """
    experiment = Experiment.of(experiment)
    directory = None if out is None else Directory.claim(out, force=force)
    observer = _observer(progress)
    started = time.thread_time()
    session = Session(experiment.plan)
    for announcement in session.surveys():
        if announcement is not None:
            observer.surveyed(announcement)
    try:
        complete = _simulate(session, observer)
    finally:
        observer.ended()
    summary = session.summary(time.thread_time() - started, complete)
    result = Result(json.loads(summary), {table.name: table for table in session.tables()})
    if directory is not None:
        result.write_to(directory)
    if not complete:
        raise Interrupted(result)
    return result


def _observer(progress: bool | Observer) -> Observer:
    if progress is True:
        from flashscape.progress import Bar

        return Bar()
    return progress or Silent()


def _simulate(session: Session, observer: Observer) -> bool:
    """Go to the end; False where the user ended it before."""
    try:
        session.precondition(observer.preconditioning)
    except KeyboardInterrupt:
        raise Interrupted(None) from None
    try:
        events = 1 << 14
        while True:
            begun = time.perf_counter()
            if not session.advance(events):
                return True
            observer.running(*session.progress())
            took = time.perf_counter() - begun
            events = max(1 << 10, int(events * min(2.0, _SLICE_SECONDS / max(took, 1e-9))))
    except KeyboardInterrupt:
        return False
