"""Choice of what a sweep's picture shows: lines over numbers, or bars for words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import units
from flashscape.errors import ConfigError
from flashscape.regions import FOUNDED
from flashscape.sweep.design import labels, shown
from flashscape.sweep.seeds import OVERLOADED, unsteady_seeds
from flashscape.together import ALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

PERCENTILES = ("p50", "p99", "p99_9")
"""Percentiles of latency if none are chosen, rising."""

PERCENTILES_MOST = 4

CURVES_MOST = 8
"""Most values that colours tell apart."""

GROUPS_MOST = 3
"""Most pairs of initiator and kind of request."""

_BARS_MOST = 48
"""Most bars of a panel: more are no picture, but a table."""

COLOURS = ("#1b6ca8", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#666666")

OVERLOAD = "overloaded: latencies show only how long the run was"
"""Text of a legend for points of an overloaded workload."""


class Dimension(NamedTuple):
    """Columns that vary together, as one thing that varies."""

    columns: tuple[str, ...]
    amounts: str | None
    """Column with the numbers of the first one that has any; None for words."""

    @property
    def label(self) -> str:
        """Name on an axis or in a legend."""
        return ", ".join(labels(self.columns).values())

    def key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the value of a row."""
        return tuple(row[column] for column in self.columns)

    def told(self, key: tuple[Any, ...]) -> str:
        """Format a value."""
        return ", ".join("–" if value is None else shown(value) for value in key)


class Subject(NamedTuple):
    """A sweep, with the fields that its picture needs."""

    title: str
    frame: pl.DataFrame
    """Means over seeds: a row for each point, initiator and kind with requests."""
    dimensions: tuple[Dimension, ...]
    """Columns that vary over all points, measured or not, without the seed."""
    points: tuple[dict[str, Any], ...]
    """Values of these columns, and ``status``, of all points in the order of the file."""
    percentiles: tuple[str, ...] = PERCENTILES
    """Percentiles of latency, rising."""

    @property
    def groups(self) -> list[tuple[str, pl.DataFrame]]:
        """Name and rows of each pair of initiator and kind, as many as there is room for.

        All initiators together come first.
        """
        found = self.frame.select("initiator", "kind").unique(maintain_order=True).rows()
        found.sort(key=lambda pair: pair[0] != ALL)
        several = self.frame["initiator"].n_unique() > 1
        return [
            (
                " ".join(([initiator] if several else []) + [kind.replace("_", "-")]),
                self.frame.filter(initiator=initiator, kind=kind),
            )
            for initiator, kind in found[:GROUPS_MOST]
        ]

    @property
    def drives(self) -> pl.DataFrame:
        """One row of each point: the drive's figures are equal in all of them."""
        return self.frame.unique("point", keep="first", maintain_order=True)

    @property
    def is_untimed(self) -> bool:
        """True if no point has a rate."""
        return self.frame["iops"].null_count() == len(self.frame)


def shown_percentiles(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the percentiles of a picture; raise ConfigError for too many."""
    if len(names) > PERCENTILES_MOST:
        raise ConfigError(
            f"percentiles: {len(names)} are too many for a picture; choose {PERCENTILES_MOST} at "
            "most (tables take any number)"
        )
    return names


class Lines(NamedTuple):
    """Numbers along an axis, and a line for each value of another thing."""

    subject: Subject
    axis: Dimension
    curves: Dimension | None


class Bars(NamedTuple):
    """A bar for each value, and for each value of another thing in a colour of its own."""

    subject: Subject
    axis: Dimension
    curves: Dimension | None


def values_of(dimension: Dimension, rows: Iterable[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Return the values of a dimension, in the order of the file."""
    return list(dict.fromkeys(dimension.key(row) for row in rows))


def chosen(subject: Subject) -> Lines | Bars | str:
    """Return the plan of a picture, or the reason why there is none."""
    if not subject.dimensions:
        return "nothing varies besides the seed"
    counts = {each: len(values_of(each, subject.points)) for each in subject.dimensions}
    # Numbers come first: they make an axis.
    first, *others = sorted(subject.dimensions, key=lambda each: each.amounts is None)
    if first.amounts is not None and not others:
        return Lines(subject, first, None)
    if first.amounts is not None and len(others) == 1 and counts[others[0]] <= CURVES_MOST:
        return Lines(subject, first, others[0])
    return _bars(subject, list(subject.dimensions), counts)


def _bars(
    subject: Subject, dimensions: list[Dimension], counts: Mapping[Dimension, int]
) -> Bars | str:
    """Return bars for one thing, for two in groups, or for all combinations of several."""
    axis, curves = dimensions[0], None
    if len(dimensions) == 2 and min(counts.values()) <= CURVES_MOST:
        axis, curves = sorted(dimensions, key=lambda each: counts[each] <= CURVES_MOST)
    elif len(dimensions) > 1:
        axis = Dimension(tuple(column for each in dimensions for column in each.columns), None)
    bars = len(values_of(axis, subject.points)) * (1 if curves is None else counts[curves])
    if bars > _BARS_MOST:
        return (
            f"{bars:,} combinations are too many for bars ({_BARS_MOST} at most), and lines need "
            "numbers of one path, with one more that varies"
        )
    return Bars(subject, axis, curves)


def dimensions(
    varied: Sequence[str],
    points: Sequence[Mapping[str, Any]],
    amounts: Mapping[str, str | None],
) -> tuple[Dimension, ...]:
    """Join columns whose values change together in all points, such as those of a zip."""
    groups: list[list[str]] = []
    for column in varied:
        mates = (group for group in groups if _is_one_to_one(points, group[0], column))
        if (group := next(mates, None)) is None:
            groups.append([column])
        else:
            group.append(column)
    return tuple(
        Dimension(tuple(group), next((a for each in group if (a := amounts[each])), None))
        for group in groups
    )


def _is_one_to_one(points: Sequence[Mapping[str, Any]], one: str, other: str) -> bool:
    pairs = {(point[one], point[other]) for point in points}
    firsts, seconds = ({pair[at] for pair in pairs} for at in (0, 1))
    return len(pairs) == len(firsts) == len(seconds)


class Point(NamedTuple):
    """A mean over seeds with its interval."""

    at: float
    value: float
    """NaN if there is no value."""
    around: float
    is_few: bool
    """True if a percentile is finer than its samples allow."""
    is_overloaded: bool
    """True if latencies and rates are those of an overloaded workload, with any seed."""

    @classmethod
    def of(cls, row: Mapping[str, Any], metric: str, at: float) -> Point:
        """Return the metric of a row, at this place of the axis."""
        value, around = row[metric], row[f"{metric}_ci95"]
        if unsteady_seeds(row, metric):
            around = None
        beyond = row.get(f"{metric.removesuffix('_ns')}_samples_beyond")
        is_few = value is not None and beyond is not None and beyond < FOUNDED
        is_of_load = metric == "iops" or metric.endswith("_ns")
        return cls(
            at,
            math.nan if value is None else value,
            around or 0.0,
            is_few,
            is_of_load and value is not None and bool(row[OVERLOADED]),
        )


UNTIMED = {
    "write_amplification": "write amplification",
    "erases": "erases",
    "worn_out_bytes": "asked for until worn out",
    "erase_count_stddev": "erases of a block: standard deviation",
}
"""Columns and titles of the panels for untimed runs."""


def untimed(frame: pl.DataFrame) -> dict[str, str]:
    """Return the columns and titles of the panels for untimed runs, as far as there are figures."""
    titles = {name: of for name, of in UNTIMED.items() if frame[name].null_count() < len(frame)}
    if titles.get("worn_out_bytes") and frame["worn_out_bytes"].null_count():
        titles["worn_out_bytes"] += "\n(gaps: drives that survived)"
    return titles


def unsteady(rows: Sequence[Mapping[str, Any]], metric: str) -> str | None:
    """Return the number of points that are not known to be steady in a metric; None for none."""
    count = sum(unsteady_seeds(row, metric) for row in rows)
    points = units.many(sum(row["seeds"] for row in rows), "point")
    return f"{count:,} of {points}" if count else None
