"""Overloaded workloads of a run: the simulator writes them to the notes of a summary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

BEGINNING = "overload: "
"""Beginning of a note, or of an error, of an overloaded workload."""

_NOTE = re.compile(
    rf'{BEGINNING}[0-9,]+ of the [0-9,]+ requests of "(?P<name>.*)" had not completed'
)


def initiators(notes: Iterable[str]) -> list[str]:
    """Return the names of the overloaded initiators."""
    return [found["name"] for note in notes if (found := _NOTE.match(note)) is not None]
