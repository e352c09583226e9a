"""A point of a sweep: one experiment, and what running it takes."""

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
    """From 1, in the order of the file."""
    name: str
    variation: str | None
    seed: int | None
    """None where the point is invalid, and so is not known to have one."""
    values: dict[str, Any]
    """Of everything that varies: as written, else what holds without it."""
    amounts: dict[str, Any]
    """The same in the words of the resolved configuration."""
    experiment: Unchecked
    key: str | None
    """Names its results; None where it is invalid."""
    memory_bytes: int
    effort: Effort
    preparation: str | None = None
    """Names how the drive is filled and aged; None where it is not."""
    kept_bytes: int = 0
    """Of a file with the drive when it is filled and aged, at most."""
    fault: str | None = None
    """Why it cannot be run."""
    tables: tuple[str, ...] = ()
    """Those that are kept of its results, besides the summary."""
