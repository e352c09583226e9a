"""Region of the drive that a clone of a job uses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Region:
    """Part of a device or of files that a clone of a job uses."""

    where: tuple[str, ...]
    """Names of the files; one device, or files side by side."""
    offset: int
    size: int
    """Bytes of the part, a multiple of a sector."""
    requests: int
    """Requests of a pass through it, of a job with one size; 0 if it is unknown."""
