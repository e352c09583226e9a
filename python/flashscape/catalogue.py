"""What flashscape knows by name: presets, blame states, and the schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import _flashscape
from flashscape.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike


class Preset(NamedTuple):
    """A drive that ships with flashscape."""

    name: str
    """What ``preset = "..."`` calls it."""
    about: str
    """What it is, in a line."""
    text: str
    """Its ``[drive]`` table in TOML, with the source of each figure."""


def presets() -> dict[str, Preset]:
    """Every preset by its name."""
    return {name: Preset(name, about, text) for name, about, text in _flashscape.presets()}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of an experiment, for editors."""
    found: dict[str, Any] = json.loads(_flashscape.schema())
    return found


def check(experiment: Experiment | Mapping[str, Any] | str | PathLike[str]) -> dict[str, Any]:
    """Check an experiment with its traces and return the figures that follow from it.

    Raises ConfigError with every fault at once, or TraceError.
    """
    checked = Experiment.of(experiment)
    checked.traces()
    return checked.derived
