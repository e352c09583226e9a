"""What an import gives: an experiment, and what became of each key."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashscape.experiment import Experiment


class Verdict(StrEnum):
    """What became of a key."""

    MAPPED = "mapped"
    """It has the same effect here."""
    APPROXIMATED = "approximated"
    """It has an effect here that differs as the reason says."""
    IGNORED = "ignored"
    """It has an effect in MQSim and none here."""
    INERT = "inert"
    """MQSim reads it, and it has no effect there either."""
    UNKNOWN = "unknown"
    """MQSim does not know it, and says nothing."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of MQSim's and what became of it."""

    file: str
    """The file that it is in, or would be."""
    line: int | None
    """The line, from 1; None where it is missing and a default stands."""
    section: str
    """The element that it is in; flows are numbered from 0, as MQSim does."""
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
    """An experiment made from MQSim's files."""

    experiment: Experiment
    """Checked, ready to run."""
    toml: str
    """The same as text, with the key of MQSim's beside each value."""
    keys: list[Key]
    """Every key of both files, and every missing one whose default counts."""
    scenario: int
    """Which scenario it is, from 1."""
    scenarios: int
    """How many the workload file has."""
