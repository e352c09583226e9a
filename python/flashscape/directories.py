"""Kinds of directories of results: a document in each tells what the directory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


class Kind(NamedTuple):
    """A kind of directories."""

    document: str
    """Name of the file that directories of this kind have."""
    told: str
    """The contents in messages."""

    def is_in(self, folder: Path) -> bool:
        """Return True if a directory has the document; it may be of a kind that has more."""
        return (folder / self.document).is_file()


RUN = Kind("summary.json", "a run")
COMPARISON = Kind("comparison.json", "a comparison")
SWEEP = Kind("sweep.json", "a sweep")
FLEET = Kind("fleet.json", "a fleet")
LIFETIME = Kind("lifetime.json", "a projected life")
LIFETIMES = Kind("lifetimes.json", "a comparison of lives")
REPRODUCTION = Kind("reproduction.json", "a reproduction")

KINDS = (LIFETIMES, LIFETIME, FLEET, SWEEP, COMPARISON, RUN)
"""Kinds that have pictures. A projected life and a fleet have the document of a sweep, too."""


def kind_of(folder: Path) -> Kind | None:
    """Return the kind of a directory of results; None for one without results."""
    return next((kind for kind in KINDS if kind.is_in(folder)), None)
