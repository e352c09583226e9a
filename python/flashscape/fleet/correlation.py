"""Correlation of the drives over time: whether their slow moments coincide.

A figure of each drive is a series over intervals, brought to mean 0 and variance 1. The mean
correlation of all pairs follows from the variance *v* of the sum of *n* such series:
(v / n - 1) / (n - 1). Independent drives have 0 up to chance, drives in step have 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.result import Result

_INTERVALS_LEAST = 8
"""Fewest intervals of which a correlation says something."""

_FIGURES = {
    "rate": ("requests", None),
    "read_latency": ("read_latency_sum_ns", "reads"),
    "collection": ("gc_units_programmed", None),
}
"""Column of each figure, and the column that it is divided by."""


class Course:
    """The figures of a drive over the counted part of its run."""

    def __init__(self, result: Result) -> None:
        import polars as pl

        summary = result.summary
        self.begin_ns: int = summary["simulated_ns"] - summary["counted_ns"]
        self.end_ns: int = summary["simulated_ns"]
        columns = sorted({name for pair in _FIGURES.values() for name in pair if name})
        counted = (pl.col("reads") + pl.col("writes")).alias("requests")
        self.rows = result.series.with_columns(counted).select("begin_ns", "end_ns", *columns)
        first = self.rows.row(0, named=True) if len(self.rows) else None
        self.interval_ns: int = 0 if first is None else first["end_ns"] - first["begin_ns"]

    def over(self, interval_ns: int, first: int, count: int) -> dict[str, list[float]]:
        """Return the figures in ``count`` intervals of this length, from number ``first`` on."""
        import polars as pl

        at = (pl.col("begin_ns") // interval_ns).cast(pl.Int64)
        summed = self.rows.drop("end_ns").with_columns(at.alias("at")).group_by("at").sum()
        all_of_them = pl.DataFrame({"at": range(first, first + count)}, schema={"at": pl.Int64})
        whole = all_of_them.join(summed, on="at", how="left", maintain_order="left").fill_null(0)
        found = {}
        for name, (column, by) in _FIGURES.items():
            values = [float(value) for value in whole[column]]
            if by is not None:
                # An interval without reads is like all others.
                counts = [float(value) for value in whole[by]]
                mean = math.fsum(values) / max(1.0, math.fsum(counts))
                pairs = zip(values, counts, strict=True)
                values = [value / count if count else mean for value, count in pairs]
            found[name] = values
        return found


def correlation(courses: Sequence[Course]) -> dict[str, Any] | None:
    """Return the mean correlation of pairs of drives, by figure; None if nothing can be said.

    ``excess`` is the variance of the drives' sum over that of independent drives.
    ``by_chance`` is the standard deviation of the mean correlation of independent drives whose
    intervals are independent, too.
    """
    if len(courses) < 2 or any(not course.interval_ns for course in courses):
        return None
    interval = max(course.interval_ns for course in courses)
    first = -(-max(course.begin_ns for course in courses) // interval)
    count = min(course.end_ns for course in courses) // interval - first
    if count < _INTERVALS_LEAST:
        return None
    sums = {name: [0.0] * count for name in _FIGURES}
    drives = dict.fromkeys(_FIGURES, 0)
    for course in courses:
        for name, values in course.over(interval, first, count).items():
            if (standard := _standard(values)) is not None:
                sums[name] = [a + b for a, b in zip(sums[name], standard, strict=True)]
                drives[name] += 1
    return {
        "interval_ns": interval,
        "intervals": count,
        "figures": {name: _of_pairs(sums[name], drives[name]) for name in _FIGURES},
    }


def _standard(values: list[float]) -> list[float] | None:
    """Return values with mean 0 and variance 1; None if all are equal."""
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    if deviation <= 1e-12 * abs(mean):
        return None
    return [(value - mean) / deviation for value in values]


def _of_pairs(sums: list[float], drives: int) -> dict[str, Any] | None:
    if drives < 2:
        return None
    variance = math.fsum(value * value for value in sums) / len(sums)
    pairs = drives * (drives - 1)
    return {
        "drives": drives,
        "mean_of_pairs": (variance / drives - 1) / (drives - 1),
        "excess": variance / drives,
        "by_chance": math.sqrt(2 / (pairs * (len(sums) - 1))),
    }
