"""Exceptions of flashscape: one family, so that one ``except`` catches all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape.refusal import ConfigError as ConfigError
from flashscape.refusal import FlashscapeError as FlashscapeError
from flashscape.refusal import Problem as Problem

if TYPE_CHECKING:
    from os import PathLike

    from flashscape.measured import Measured


class StudyError(FlashscapeError, ValueError):
    """A study of a paper is unknown, or its data and its code do not match."""

    def __init__(self, text: str, problems: list[Problem] | None = None) -> None:
        super().__init__(text)
        self.problems = problems or []
        """All faults of the study's files."""


class TraceError(FlashscapeError, ValueError):
    """A trace is missing, damaged, ambiguous, or does not fit the drive."""

    def __init__(
        self, text: str, file: str | None = None, line: int | None = None, problem: str = ""
    ) -> None:
        super().__init__(text)
        self.file = file
        """File of the trace."""
        self.line = line
        """Line, from 1, if the fault belongs to one line."""
        self.problem = problem
        """Description of the fault, and the remedy."""


class PolicyError(FlashscapeError):
    """A policy in Python raised an exception, or returned a decision that is not possible."""


class SnapshotError(FlashscapeError, ValueError):
    """A file holds no usable snapshot, or a drive cannot be shut down."""

    def __init__(
        self, text: str, file: str | PathLike[str] | None = None, problem: str = ""
    ) -> None:
        super().__init__(text)
        self.file = None if file is None else str(file)
        """The file, if there is one."""
        self.problem = problem
        """Description of the fault, and the remedy."""


class SpaceError(FlashscapeError):
    """The drive has no free space left and cannot free any."""


class StarvedRequest(NamedTuple):
    """A request that the drive had not answered ``run.starvation.limit`` after its submission."""

    initiator: str
    """Initiator that submitted the request."""
    kind: str
    """Kind of request: ``read``, ``write``, ``trim``, ``flush`` or ``write_zeroes``."""
    offset_bytes: int
    """First byte; 0 for a flush."""
    length_bytes: int
    """Length; 0 for a flush."""
    arrived_ns: int
    """Time at which the host wanted to submit it."""
    submitted_ns: int
    """Time at which the drive received it; its age counts from here."""
    starved_ns: int
    """Time at which it reached the limit."""
    age_ns: int
    """Age at that time: the limit."""
    outstanding: int
    """Outstanding requests at that time, including this one."""
    why: str
    """Sentence that says what it waited for."""
    standings: list[dict[str, Any]]
    """Positions of its unfinished parts, with the operations ahead of them (docs/results.md)."""
    blame_ns: dict[str, int]
    """Time that it has been charged with so far, by state."""


class StarvationError(FlashscapeError):
    """A request starved, and ``run.starvation`` ends the run in this case."""

    def __init__(self, text: str, record: str | None = None, id: int | None = None) -> None:
        super().__init__(text)
        self.request = None if record is None else StarvedRequest(**json.loads(record))
        """The request, and the operations that it waited for."""
        self.id = id
        """Id of the request, as ``Drive.submit`` returned it; None in a run."""
        self.result: Measured | None = None
        """Results until the starvation, marked ``complete: false``."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all attributes, so that the error can be sent to another process."""
        return StarvationError, (str(self),), dict(self.__dict__)


class ClusterError(FlashscapeError):
    """A cluster cannot be used: its scheduler does not answer, or its workers do not fit."""


class OutputError(FlashscapeError, OSError):
    """Results cannot be written or read: the disk is full, or the directory is in use."""

    result: Measured | None = None
    """Results of a run that could not be written."""


def unread(path: str | PathLike[str], error: OSError) -> str:
    """Say why a file cannot be read; for a missing file, name the path that was tried."""
    if isinstance(error, FileNotFoundError):
        place = Path.cwd() / path
        looked = "" if Path(path).is_absolute() else f" (looked for {place})"
        return f"{path}: there is no such file{looked}"
    return f"{path}: cannot be read: {error.strerror}"


class SimulatorError(FlashscapeError):
    """A contradiction inside flashscape: a bug of the simulator, not of its user."""

    def __str__(self) -> str:
        return f"this is a bug of flashscape, please report it: {super().__str__()}"


class Interrupted(KeyboardInterrupt):
    """A run was interrupted. ``result`` has the figures measured until then."""

    def __init__(self, result: Measured | None, where: str = "") -> None:
        super().__init__(f"interrupted {where}".rstrip())
        self.result = result
        """Results so far, marked ``complete: false``; None if the run itself had not begun."""
        self.where = where
        """Progress at the interruption, such as ``while running, 40.0 % done``."""
        self.kept = ""
        """Clause about files that are kept on disk besides ``result``; empty for none."""
