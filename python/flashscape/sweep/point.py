"""A point of a sweep: one experiment, and its estimated cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashscape.experiment import Unchecked
    from flashscape.sweep.effort import Effort


@dataclass(frozen=True)
class Point:
    """One experiment of a sweep."""

    number: int
    """Number, from 1, in the order of the file."""
    name: str
    variation: str | None
    seed: int | None
    """Seed; None if the point is invalid, and so has no known seed."""
    values: dict[str, Any]
    """Value of each varied path: as written, else the value that applies by default."""
    amounts: dict[str, Any]
    """Values of the varied paths in the resolved configuration."""
    experiment: Unchecked
    key: str | None
    """Name of its results; None if it is invalid."""
    memory_bytes: int
    effort: Effort
    preparation: str | None = None
    """Name of the filled and aged drive; None without preconditioning."""
    kept_bytes: int = 0
    """Upper bound of the size of a file with the filled and aged drive."""
    fault: str | None = None
    """Reason for which it cannot be run."""
    tables: tuple[str, ...] = ()
    """Tables of its results to store, besides the summary."""
