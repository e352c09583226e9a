"""The base class of all errors, and the error for a configuration or an argument that is wrong.

:mod:`flashscape.errors` has these classes, too. They are here because the results of runs raise
them, and other errors carry results.
"""

from __future__ import annotations

from typing import NamedTuple


class FlashscapeError(Exception):
    """Base class of all errors of flashscape."""


class Problem(NamedTuple):
    """One fault of a configuration."""

    path: str
    """Path of the key, such as ``drive.ftl.gc.victim``; empty for the whole file."""
    file: str
    """File that has the fault, or ``override``."""
    line: int | None
    """Line in that file, from 1, if known."""
    message: str
    """Description of the fault, and the remedy."""


class ConfigError(FlashscapeError, ValueError):
    """A configuration or an argument was refused.

    ``problems`` lists all faults of a configuration.
    """

    def __init__(
        self, text: str, problems: list[tuple[str, str, int | None, str]] | None = None
    ) -> None:
        super().__init__(text)
        self.problems = [Problem(*problem) for problem in problems or []]
