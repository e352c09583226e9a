"""Result of an import: an experiment, and a verdict on each key."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from flashscape import units
from flashscape.errors import ConfigError, Problem

if TYPE_CHECKING:
    from flashscape.experiment import Experiment


class Verdict(StrEnum):
    """Verdict on a key."""

    MAPPED = "mapped"
    """The key has the same effect here."""
    APPROXIMATED = "approximated"
    """The key has an effect here that differs as the reason says."""
    IGNORED = "ignored"
    """The key has an effect in the other program and none here."""
    INERT = "inert"
    """The key changes nothing that a drive sees, here or there."""
    UNKNOWN = "unknown"
    """The other program does not know the key, and does not say so."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of another program's file, with the verdict on it."""

    file: str
    """File that the key is in, or would be."""
    line: int | None
    """Line, from 1; None if the key is missing and a default applies."""
    section: str
    """Element or section of the key; flows of MQSim are numbered from 0, as there."""
    name: str
    value: str
    """Value as written, or the default."""
    verdict: Verdict
    becomes: str
    """Key of an experiment that it sets; empty if there is none."""
    why: str
    """Details of the conversion, or the reason for none."""


@dataclass(frozen=True, slots=True)
class Imported:
    """An experiment made from the files of another program."""

    experiment: Experiment
    """Experiment, checked and ready to run."""
    toml: str
    """Text of the experiment, with the imported key beside each value."""
    keys: list[Key]
    """Every key of the files, and every missing key whose default matters."""
    scenario: int = 1
    """For MQSim: number of the scenario, from 1."""
    scenarios: int = 1
    """For MQSim: number of scenarios in the workload file."""
    warnings: list[str] = field(default_factory=list)
    """Differences from the other program that can be large, each with its likely size."""


class Faults:
    """Collector of all faults."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, path: str, file: str, line: int | None, message: str) -> None:
        """Note a fault."""
        self.problems.append(Problem(path, file, line, message))


def refusal(problems: list[Problem]) -> ConfigError:
    """Return one error with all faults, file by file."""
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
