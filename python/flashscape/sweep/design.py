"""Design of a sweep: a base, and the varied values.

Every variation is combined with every value of the grid, every row of each zip
and every seed. A point is one such combination: one experiment.
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flashscape.experiment import Unchecked

POINTS_MOST = 100_000
"""Most points of a sweep: checking more takes minutes."""


class Setting(NamedTuple):
    """One value that replaces the base's."""

    path: str
    """Path in the experiment, such as ``drive.ftl.gc.victim``."""
    value: Any
    place: str
    """Path in the sweep file."""


Settings = tuple[Setting, ...]


class Axis(NamedTuple):
    """Paths that change together."""

    place: str
    """Path in the sweep file."""
    rows: tuple[Settings, ...]
    """Settings of all paths, for each step along the axis."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths that change along it."""
        return tuple(setting.path for setting in self.rows[0])


class Variation(NamedTuple):
    """One entry of the list of variations."""

    name: str | None
    settings: Settings
    place: str


@dataclass(frozen=True)
class Combination:
    """Settings of a point, without the seed."""

    variation: str | None
    settings: Settings


@dataclass(frozen=True)
class Design:
    """A sweep, before its points are checked."""

    base: Unchecked
    title: str
    variations: tuple[Variation, ...] = ()
    axes: tuple[Axis, ...] = ()
    """Axes of the grid, then zips; the first changes slowest."""
    seeds: int | tuple[int, ...] | None = None
    """Number of seeds from the base's on, or the seeds; None for the base's alone."""
    file: str = "sweep"
    """Name in errors."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Line of each path in that file, if it is a file."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths that vary or may vary, in the order of the file, without the seed."""
        varied = [s.path for variation in self.variations for s in variation.settings]
        varied += [path for axis in self.axes for path in axis.paths]
        return tuple(path for path in dict.fromkeys(varied) if path != "seed")

    @property
    def is_seeded(self) -> bool:
        """True if seeds vary in any way."""
        if self.seeds is not None or any("seed" in axis.paths for axis in self.axes):
            return True
        return any(s.path == "seed" for variation in self.variations for s in variation.settings)

    @property
    def told_by_name(self) -> frozenset[str]:
        """Paths whose values the names of variations stand for."""
        if any(variation.name is None for variation in self.variations):
            return frozenset()
        return frozenset(s.path for variation in self.variations for s in variation.settings)

    @property
    def size(self) -> int:
        """Number of points."""
        seeds = self.seeds if isinstance(self.seeds, int) else len(self.seeds or (0,))
        steps = math.prod(len(axis.rows) for axis in self.axes)
        return max(1, len(self.variations)) * steps * seeds

    def combinations(self) -> Iterator[Combination]:
        """Yield combinations without seeds, in the order of the file, the last changing fastest."""
        for variation in self.variations or (Variation(None, (), ""),):
            for rows in itertools.product(*(axis.rows for axis in self.axes)):
                settings = (*variation.settings, *itertools.chain(*rows))
                yield Combination(variation.name, settings)


def labels(paths: Sequence[str]) -> dict[str, str]:
    """Return labels of paths: the fewest last keys that are unique."""
    steps = {path: path.split(".") for path in paths}
    short = {}
    for path, keys in steps.items():
        others = [other for at, other in steps.items() if at != path]
        lengths = range(1, len(keys) + 1)
        fits = (n for n in lengths if all(keys[-n:] != other[-n:] for other in others))
        short[path] = ".".join(keys[-next(fits, len(keys)) :])
    return short


def shown(value: Any) -> str:
    """Format a value for names and tables: texts unchanged, tags for their tables."""
    value = plain(value)
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def plain(value: Any) -> Any:
    """Return a choice without parameters as its name, and a list of one as its entry."""
    if isinstance(value, dict) and len(value) == 1:
        [(tag, name)] = value.items()
        if tag in ("policy", "pattern") and isinstance(name, str):
            return name
    if isinstance(value, list) and len(value) == 1:
        return plain(value[0])
    return value
