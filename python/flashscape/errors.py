"""What can go wrong: one family, so that one ``except`` catches all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from os import PathLike

    from flashscape.measured import Measured


class FlashscapeError(Exception):
    """Anything that flashscape refuses or fails at."""


class Problem(NamedTuple):
    """One fault of a configuration."""

    path: str
    """Where it is, such as ``drive.ftl.gc.victim``; empty for the whole file."""
    file: str
    """The file it was written in, or ``override``."""
    line: int | None
    """The line in that file, from 1, where known."""
    message: str
    """What is wrong, and the remedy."""


class ConfigError(FlashscapeError, ValueError):
    """A configuration was refused. ``problems`` lists every fault at once."""

    def __init__(
        self, text: str, problems: list[tuple[str, str, int | None, str]] | None = None
    ) -> None:
        super().__init__(text)
        self.problems = [Problem(*problem) for problem in problems or []]


class StudyError(FlashscapeError, ValueError):
    """A study of a paper is not known, or its data and its code do not fit each other."""

    def __init__(self, text: str, problems: list[Problem] | None = None) -> None:
        super().__init__(text)
        self.problems = problems or []
        """Every fault of the study's files at once."""


class TraceError(FlashscapeError, ValueError):
    """A trace is missing, damaged, ambiguous, or does not fit the drive."""

    def __init__(
        self, text: str, file: str | None = None, line: int | None = None, problem: str = ""
    ) -> None:
        super().__init__(text)
        self.file = file
        """The trace."""
        self.line = line
        """The line, from 1, where the fault belongs to one."""
        self.problem = problem
        """What is wrong, and the remedy."""


class PolicyError(FlashscapeError):
    """A policy in Python raised an exception, or decided what cannot be done."""


class SnapshotError(FlashscapeError, ValueError):
    """A file holds no snapshot that can be used, or a drive cannot be shut down."""

    def __init__(
        self, text: str, file: str | PathLike[str] | None = None, problem: str = ""
    ) -> None:
        super().__init__(text)
        self.file = None if file is None else str(file)
        """The file, where there is one."""
        self.problem = problem
        """What is wrong, and the remedy."""


class SpaceError(FlashscapeError):
    """The drive has no free space left and no way to make any."""


class StarvedRequest(NamedTuple):
    """A request that the drive had for ``run.starvation.limit`` and had not answered."""

    initiator: str
    """Who submitted it."""
    kind: str
    """What was asked for: ``read``, ``write``, ``trim``, ``flush`` or ``write_zeroes``."""
    offset_bytes: int
    """Where; 0 for a flush."""
    length_bytes: int
    """How much; 0 for a flush."""
    arrived_ns: int
    """When the host wanted to submit it."""
    submitted_ns: int
    """When the drive got it: its age counts from here."""
    starved_ns: int
    """When it reached the limit."""
    age_ns: int
    """The limit, its age then."""
    outstanding: int
    """Requests under way then, this one included."""
    why: str
    """What it waited for, in a sentence."""
    standings: list[dict[str, Any]]
    """Where its unfinished parts stood, and behind what (docs/results.md)."""
    blame_ns: dict[str, int]
    """What it is charged with so far, by state."""


class StarvationError(FlashscapeError):
    """A request starved, and ``run.starvation`` says that this ends the run."""

    def __init__(self, text: str, record: str | None = None, id: int | None = None) -> None:
        super().__init__(text)
        self.request = None if record is None else StarvedRequest(**json.loads(record))
        """The request, and what was in its way."""
        self.id = id
        """What ``Drive.submit`` returned for it; None in a run."""
        self.result: Measured | None = None
        """What a run had measured until then, marked ``complete: false``."""

    def __reduce__(self) -> tuple[Any, ...]:
        """All goes along where it is sent to another process."""
        return StarvationError, (str(self),), dict(self.__dict__)


class OutputError(FlashscapeError, OSError):
    """Results cannot be written or read: a full disk, or a directory that is in use."""

    result: Measured | None = None
    """What a run had measured when it could not be written."""


def unread(path: str | PathLike[str], error: OSError) -> str:
    """Say why a file cannot be read; of one that is not there, where it was looked for."""
    if isinstance(error, FileNotFoundError):
        place = Path.cwd() / path
        looked = "" if Path(path).is_absolute() else f" (looked for {place})"
        return f"{path}: there is no such file{looked}"
    return f"{path}: cannot be read: {error.strerror}"


class SimulatorError(FlashscapeError):
    """flashscape contradicts itself: a bug of the simulator, not of its user."""

    def __str__(self) -> str:
        return f"this is a bug of flashscape, please report it: {super().__str__()}"


class Interrupted(KeyboardInterrupt):
    """A run was interrupted. ``result`` has what was measured until then."""

    def __init__(self, result: Measured | None, where: str = "") -> None:
        super().__init__(f"interrupted {where}".rstrip())
        self.result = result
        """Marked ``complete: false``; None where the run itself had not begun."""
        self.where = where
        """Such as ``while running, 40.0 % done``."""
        self.kept = ""
        """What is kept on disk beside ``result``, in a clause; empty for nothing."""
