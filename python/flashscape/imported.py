"""What an import gives: an experiment, and what became of each key."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from flashscape import units
from flashscape.errors import ConfigError, Problem

if TYPE_CHECKING:
    from flashscape.experiment import Experiment


class Verdict(StrEnum):
    """What became of a key."""

    MAPPED = "mapped"
    """It has the same effect here."""
    APPROXIMATED = "approximated"
    """It has an effect here that differs as the reason says."""
    IGNORED = "ignored"
    """It has an effect in the other program and none here."""
    INERT = "inert"
    """It changes nothing that a drive sees, here or there."""
    UNKNOWN = "unknown"
    """The other program does not know it, and says nothing."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of another program's file and what became of it."""

    file: str
    """The file that it is in, or would be."""
    line: int | None
    """The line, from 1; None where it is missing and a default stands."""
    section: str
    """The element or section that it is in; flows of MQSim are numbered from 0, as there."""
    name: str
    value: str
    """As it is written, or the default."""
    verdict: Verdict
    becomes: str
    """The key of an experiment that it sets; empty where there is none."""
    why: str
    """How, or why not."""


@dataclass(frozen=True, slots=True)
class Imported:
    """An experiment made from the files of another program."""

    experiment: Experiment
    """Checked, ready to run."""
    toml: str
    """The same as text, with the imported key beside each value."""
    keys: list[Key]
    """Every key of the files, and every missing one whose default counts."""
    scenario: int = 1
    """Of MQSim: which scenario it is, from 1."""
    scenarios: int = 1
    """Of MQSim: how many the workload file has."""


class Faults:
    """All that is wrong, as it is found."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, path: str, file: str, line: int | None, message: str) -> None:
        """Note a fault."""
        self.problems.append(Problem(path, file, line, message))


def refusal(problems: list[Problem]) -> ConfigError:
    """One error with all faults, file by file."""
    text = []
    for file in dict.fromkeys(problem.file for problem in problems):
        mine = [problem for problem in problems if problem.file == file]
        count = units.many(len(mine), "problem")
        text.append(f"{file}: {count}")
        text += [f"  {_place(problem)}: {problem.message}" for problem in mine]
    return ConfigError("\n".join(text), [(p.path, p.file, p.line, p.message) for p in problems])


def _place(problem: Problem) -> str:
    return ", ".join(
        part for part in (f"line {problem.line}" if problem.line else "", problem.path) if part
    )
