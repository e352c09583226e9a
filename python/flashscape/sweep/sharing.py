"""Drives that several points start from: filled and aged once, kept in a file meanwhile.

Points whose drives are filled and aged alike, to the last bit, form a group. A worker
prepares the drive of a group and saves it as a snapshot; the group's points start from
it, and the file is deleted when the last of them has ended. Sharing changes no results.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from flashscape import units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from flashscape.sweep.point import Point

_TRIVIAL = 100_000.0
"""Microseconds of CPU time that are not worth a file and points that wait for it."""

_SHARE_OF_DISK = 0.5
"""Largest share of the disk's free space for drives; the rest is for results and others."""


@dataclass(frozen=True)
class Group:
    """Points whose drives are filled and aged alike."""

    number: int
    """Number, below 0 to differ from points."""
    name: str
    """Name: equal inputs have equal names."""
    points: tuple[Point, ...]

    @property
    def bytes(self) -> int:
        """Upper bound of the size of the drive's file."""
        return max(point.kept_bytes for point in self.points)

    @property
    def preparing(self) -> float:
        """Microseconds of CPU time to prepare the drive and save it, very roughly."""
        effort = self.points[0].effort
        return effort.preparing + effort.keeping

    @property
    def effort(self) -> float:
        """Microseconds of CPU time of the group, with all its points."""
        return self.preparing + sum(running(point) for point in self.points)

    @property
    def saved(self) -> float:
        """CPU time saved: all points except one prepare nothing."""
        return sum(point.effort.whole for point in self.points) - self.effort


class Shared(NamedTuple):
    """Groups of points that share drives."""

    groups: list[Group]
    budget_bytes: int | None
    """Limit of the size of all drives' files at a time; None if not known."""
    left_out: list[Group]
    """Groups whose drives do not fit the disk."""

    @property
    def effort(self) -> float:
        """Microseconds of CPU time that sharing saves, very roughly."""
        return sum(group.saved for group in self.groups)


def share(points: Iterable[Point], free_bytes: int | None) -> Shared:
    """Group points that start from one drive, if sharing saves time."""
    alike: dict[str, list[Point]] = {}
    for point in points:
        if point.preparation is not None:
            alike.setdefault(point.preparation, []).append(point)
    groups = [Group(-n, name, tuple(each)) for n, (name, each) in enumerate(alike.items(), 1)]
    worthy = [group for group in groups if len(group.points) > 1 and group.saved > _TRIVIAL]
    budget = None if free_bytes is None else int(free_bytes * _SHARE_OF_DISK)
    fits = [group for group in worthy if budget is None or group.bytes <= budget]
    return Shared(fits, budget, [group for group in worthy if group not in fits])


def running(point: Point) -> float:
    """Microseconds of CPU time of a point that starts from a prepared drive."""
    return point.effort.running + point.effort.taking_up


def kept_bytes(map_bytes: int) -> int:
    """Bytes of a file with a drive: its map, and less than a tenth of that for its blocks."""
    return map_bytes + map_bytes // 10 + (1 << 20)


def free_bytes(folder: Path) -> int | None:
    """Return the free bytes of the disk of a directory, which may not exist; None if unknown."""
    there = next((each for each in (folder, *folder.absolute().parents) if each.exists()), None)
    try:
        return None if there is None else shutil.disk_usage(there).free
    except OSError:
        return None


def announcement(shared: Shared, noun: str = "point") -> list[str]:
    """Say which drives are shared and which are not, as sentences; a point is called ``noun``."""
    lines = []
    if groups := shared.groups:
        points = _points(groups)
        drives = "one drive that is" if len(groups) == 1 else f"{len(groups):,} drives that are"
        lines.append(f"{points:,} {noun}s start from {drives} filled and aged once")
    if left_out := shared.left_out:
        most = max(group.bytes for group in left_out)
        lines.append(
            f"note: {_points(left_out):,} {noun}s fill and age drives of their own that they could "
            f"share: a file of {units.size(most)} is more than half of what the disk has free"
        )
    return lines


def _points(groups: Sequence[Group]) -> int:
    return sum(len(group.points) for group in groups)
