"""Closed loops of reads and of writes, by their depths: a map of the ratios of the floor demo.

Fixed depths, not a fixed mix: 20 times the reads and a quarter of the writes would shift a mix
80-fold. Without sets both loops use all channels; with sets the writes have some of the sets, and
the reads all others. By Little's law the mean read improves as the rate of reads does,
so that the 50 times of the demo are another statistic.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape.reproduce import Answer, Exhibit, Figure, Run, along, percentile, plots

from . import _drives
from ._cases import STARVATION, length
from ._loads import closed
from ._reads import NO_BETTER, PERCENT, completed, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result

exhibit = Exhibit()

Loops = tuple[list[dict[str, Any]], list[dict[str, Any]]]
"""Loops of reads, and loops of writes."""

READ_DEPTHS = (1, 16, 256)
WRITE_DEPTHS = (1, 4, 16, 256)
WRITTEN_SETS = (1, 2, 4, 8)


class Point(NamedTuple):
    """Depths of both loops, and the number of sets that are written."""

    reads: int
    writes: int
    written: int = 4
    """A quarter of the sets: chosen by the demo's quarter of the writes, so that N-3 judges no
    more than the order."""


BY_DEPTH = [Point(*depths) for depths in product(READ_DEPTHS, WRITE_DEPTHS)]

BY_SHARE = [
    Point(reads, WRITE_DEPTHS[-1], written) for reads, written in product(READ_DEPTHS, WRITTEN_SETS)
]

BASES = {
    "bands": ("bands, reads first in batches", _drives.bands()),
    "first_come": ("bands, first come", _drives.bands(_drives.FIRST_COME)),
}
"""Drives without sets: what their firmware does with reads is not in the slides."""

RATE, FEWER = "read IOPS, 10 to 30 times", "writes, 2 to 6 times fewer"

_TOLERANCES = {
    RATE: ("read_rate_times", 10.0, 30.0),
    FEWER: ("fewer_writes_times", 2.0, 6.0),
    "mean read, 20 times or more": ("mean_times", 20.0, None),
    "p99 of reads, 20 times or more": ("p99_times", 20.0, None),
    "p99.9 of reads, 20 times or more": ("p99_9_times", 20.0, None),
}
"""Marks of the map: the slides' ratios with their tolerances, and the statistic of each."""

FASTEST = 255_000
"""Writes a second that a drive without sets can take."""

TABLES = ("latency", "series")
"""Tables of a run that its ratios need."""

LOOKS = plots.Looks(*_TOLERANCES)


@exhibit.runs
def runs(setting: Setting) -> Iterator[Run]:
    """Return each point, without sets and with them."""
    for point in dict.fromkeys((*BY_DEPTH, *BY_SHARE)):
        if point.written == Point(1, 1).written:
            for base in BASES:
                yield without_sets(setting, base, point)
        written = range(1, point.written + 1)
        read = range(point.written + 1, _drives.CHANNELS + 1)
        loops = closed("reads", point.reads, read), closed("writes", point.writes, written)
        title = f"{point.written} sets written"
        experiment = beside_writes(setting, title, _drives.sets(), loops, FASTEST)
        yield Run(_name("sets", point), experiment, tables=TABLES)


def without_sets(setting: Setting, base: str, point: Point) -> Run:
    """Return a run in which both loops use all channels."""
    title, drive = BASES[base]
    loops = closed("reads", point.reads), closed("writes", point.writes)
    experiment = beside_writes(setting, title, drive, loops, FASTEST)
    return Run(_name(base, point), experiment, tables=TABLES)


def beside_writes(
    setting: Setting, title: str, drive: dict[str, Any], loops: Loops, fastest: float
) -> dict[str, Any]:
    """Return loops of reads and writes; reads begin where counting begins.

    ``fastest`` has the writes a second that the drive takes alone: before counting it gets as many
    as four cycles of collection take, so that it has used up what free blocks it uses up.
    """
    reads, writes = loops
    space = _drives.CHANNEL_TURN * _drives.CHANNELS
    before, counted = 4 * space / fastest, setting.pick(short=3, full=30) * space / FASTEST
    return {
        "title": f"Floor demo: {title}",
        "drive": drive,
        "precondition": _drives.AGED,
        "workload": [*(each | {"start": f"{before:.3f} s"} for each in reads), *writes],
        "run": length(before, counted) | STARVATION,
    }


def _name(base: str, point: Point) -> str:
    written = f"-{point.written}" if base == "sets" else ""
    return f"floor-{base.replace('_', '-')}-{point.reads}-{point.writes}{written}"


def _both(runs: Outcomes, base: str, point: Point) -> tuple[Result, Result]:
    """Return the results without sets and with them."""
    return runs[_name(base, point)].result, runs[_name("sets", point)].result


def times(runs: Outcomes, base: str, point: Point) -> dict[str, float | None]:
    """Return the ratios of a point: what sets improve, and how many writes they cost."""
    return improved(*_both(runs, base, point))


def improved(without: Result, within: Result) -> dict[str, float | None]:
    """Return how many times better reads are, and how many times fewer writes complete."""
    before, after = without.read, within.read
    return {
        "read_rate_times": ratio(completed(within, "read"), completed(without, "read")),
        "fewer_writes_times": ratio(completed(without), completed(within)),
        "mean_times": ratio(before.mean, after.mean),
        "p99_times": ratio(before.percentile(99), after.percentile(99)),
        "p99_9_times": ratio(before.percentile(PERCENT), after.percentile(PERCENT)),
    }


_PERCENTS = {"p99_times": 99.0, "p99_9_times": PERCENT}


def _along(runs: Outcomes, base: str, name: str) -> Figure:
    """Return a ratio by depths, with the fewest samples."""
    figures = []
    for point in BY_DEPTH:
        value = times(runs, base, point)[name]
        parts = [
            percentile(each.read, _PERCENTS[name])
            if name in _PERCENTS
            else Figure(0, each.read.requests)
            for each in _both(runs, base, point)
        ]
        found = along(parts)
        figures.append(Figure(value, found.samples, found.beyond))
    return along(figures)


def _holding(runs: Outcomes, base: str, points: list[Point]) -> dict[Point, list[str]]:
    """Return the marks that hold at each point."""
    held = {}
    for point in points:
        found = times(runs, base, point)
        held[point] = [
            mark
            for mark, (name, least, most) in _TOLERANCES.items()
            if (value := found[name]) is not None
            and value >= least
            and (most is None or value <= most)
        ]
    return held


def _count(runs: Outcomes, mark: str) -> int:
    """Return the number of points, by depths and both drives without sets, where a mark holds."""
    return sum(mark in held for base in BASES for held in _holding(runs, base, BY_DEPTH).values())


def _told(runs: Outcomes, name: str) -> str:
    values: Any = [v for base in BASES for v in _along(runs, base, name).value]  # type: ignore[union-attr]
    found = [value for value in values if value is not None]
    return f"{min(found):.2f} to {max(found):.1f} times"


def _figures(runs: Outcomes, name: str, mark: str) -> dict[str, Any]:
    """Return a ratio by depths for each drive without sets, and the points within tolerance."""
    found: dict[str, Any] = {f"{base}_{name}": _along(runs, base, name) for base in BASES}
    return found | {f"points_{name}": _count(runs, mark)}


def _answer(runs: Outcomes, **marks: str) -> Answer:
    figures: dict[str, Any] = {}
    told = []
    for name, mark in marks.items():
        figures |= _figures(runs, name, mark)
        told.append(
            f"{_told(runs, name)} ({mark}: {figures[f'points_{name}']} of {2 * len(BY_DEPTH)})"
        )
    return Answer("; ".join(told), figures, no_better=NO_BETTER)


@exhibit.measures("N-1")
def latency(runs: Outcomes) -> Answer:
    """Return how many times shorter p99 and p99.9 of reads are with sets."""
    marks = {name: mark for mark, (name, *_) in _TOLERANCES.items() if name in _PERCENTS}
    return _answer(runs, **marks)


@exhibit.measures("N-2")
def reads(runs: Outcomes) -> Answer:
    """Return how many times more reads complete with sets."""
    return _answer(runs, read_rate_times=RATE)


@exhibit.measures("N-3")
def writes(runs: Outcomes) -> Answer:
    """Return how many times fewer writes complete with sets.

    Points within 2 to 6 times are not counted, because ``Point.written`` was chosen by the ratio.
    """
    name = "fewer_writes_times"
    figures = {f"{base}_{name}": _along(runs, base, name) for base in BASES}
    return Answer(_told(runs, name), figures, no_better=NO_BETTER)


@exhibit.measures("N-3t")
def together(runs: Outcomes) -> Answer:
    """Return the number of points at which all three ratios hold, by statistic."""
    points = list(dict.fromkeys((*BY_DEPTH, *BY_SHARE)))
    told = []
    for base, (title, _) in BASES.items():
        held = _holding(runs, base, points).values()
        counts = [
            f"{sum({RATE, FEWER, mark} <= set(each) for each in held)} with {mark}"
            for mark in _TOLERANCES
            if mark not in (RATE, FEWER)
        ]
        told.append(f"{title}, of {len(points)} points: {', '.join(counts)}")
    return Answer("; ".join(told))


@exhibit.tabulates("map")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each pair of depths and each drive without sets."""
    import polars as pl

    points = list(dict.fromkeys((*BY_DEPTH, *BY_SHARE)))
    return pl.DataFrame([_row(runs, base, point) for base in BASES for point in points])


def _row(runs: Outcomes, base: str, point: Point) -> dict[str, Any]:
    without, within = _both(runs, base, point)
    return {
        "without_sets": BASES[base][0],
        "read_depth": point.reads,
        "write_depth": point.writes,
        "written_sets": point.written,
        "reads_per_second": completed(without, "read"),
        "reads_per_second_with_sets": completed(within, "read"),
        "writes_per_second": completed(without),
        "writes_per_second_with_sets": completed(within),
    } | times(runs, base, point)


def _mapped(runs: Outcomes, points: list[Point], height: str) -> dict[str, Any]:
    """Return a panel for each drive without sets; ``height`` is the field along the other axis."""
    return {
        f"over {title}": {
            (float(point.reads), float(getattr(point, height))): held
            for point, held in _holding(runs, base, points).items()
        }
        for base, (title, _) in BASES.items()
    }


@exhibit.draws("depths")
def drawn(runs: Outcomes) -> Picture:
    """Draw the map by depths: a mark for each ratio, filled where it lies within its tolerance."""
    title = "Four of 16 sets are written. Filled: within the tolerance of the slides' ratio."
    labels = ("reads at a time", "writes at a time")
    return plots.marks(_mapped(runs, BY_DEPTH, "writes"), LOOKS, labels=labels, title=title)


@exhibit.draws("shares")
def drawn_shares(runs: Outcomes) -> Picture:
    """Draw the map by the sets that are written."""
    depth = WRITE_DEPTHS[-1]
    title = f"{depth} writes at a time. Filled: within the tolerance of the slides' ratio."
    labels = ("reads at a time", "sets written, of 16")
    return plots.marks(_mapped(runs, BY_SHARE, "written"), LOOKS, labels=labels, title=title)
