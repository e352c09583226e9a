"""Faults of a study, collected and reported together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flashscape import toml
from flashscape.errors import ConfigError, Problem, StudyError
from flashscape.near import meant

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Faults:
    """The faults of one file, with their lines."""

    def __init__(self, file: Path, lines: dict[str, int] | None = None) -> None:
        self.file = file
        self._lines = lines or {}
        self.problems: list[Problem] = []

    def add(self, place: str, message: str) -> None:
        """Record a fault at a path of the file."""
        self.problems.append(
            Problem(place, str(self.file), toml.line_of(place, self._lines), message)
        )

    def known(self, table: dict[str, Any], keys: Iterable[str], place: str) -> None:
        """Record every key of a table that is not in ``keys``."""
        known = list(keys)
        for key in table:
            if key not in known:
                where = f"{place}.{key}" if place else key
                self.add(where, f"unknown key ({meant(key, known)}valid: {', '.join(known)})")

    def text(self, table: dict[str, Any], key: str, place: str, *, needed: bool = True) -> str:
        """Return the text at a key of a table; empty, with a fault, if there is none."""
        value = table.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if value is not None:
            self.add(f"{place}.{key}" if place else key, f"{found(value)} is not a text")
        elif needed:
            self.add(place, f"{key} is missing")
        return ""


def refuse(faults: Iterable[Faults]) -> None:
    """Raise StudyError with all recorded faults, if there are any."""
    problems = [problem for each in faults for problem in each.problems]
    if not problems:
        return
    lines = [f"{len(problems)} problem{'s' if len(problems) > 1 else ''} in a study"]
    for problem in problems:
        line = "" if problem.line is None else f", line {problem.line}"
        path = f", {problem.path}" if problem.path else ""
        lines.append(f"  {problem.file}{line}{path}: {problem.message}")
    raise StudyError("\n".join(lines), problems)


def read_toml(file: Path) -> tuple[dict[str, Any], Faults]:
    """Return the contents of a data file, and a collector of its faults; raise StudyError."""
    try:
        text = file.read_text(encoding="utf-8")
        values, lines = toml.read(text, str(file))
    except OSError as error:
        raise StudyError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{file}: is not text in UTF-8") from error
    except ConfigError as error:
        raise StudyError(str(error), error.problems) from error
    return values, Faults(file, lines)


def found(value: Any) -> str:
    """Shorten a value for an error."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
