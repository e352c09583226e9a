"""Differences with their errors: batch means, bootstrap of blocks, Student's t, Holm's correction.

Latencies of neighbouring requests resemble each other, so requests are never treated as
independent. Blocks of many requests nearly are. If the blocks are not, the error is
widened, or not given. A run with regular cycles is divided into whole ones: then no block has a
wave of collection more than another. docs/compare.md describes the method and its sources.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from itertools import pairwise
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from flashscape._flashscape import student_cdf, student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

BLOCKS = (40, 20, 10)
"""Numbers of blocks to try, in this order, until their means are independent."""

BLOCK_LEAST = 10
"""Least number of requests in a block."""

RESAMPLES = 400
_SEED = 20231107
"""Seed of the bootstrap: it draws the same blocks in every run."""

ONE_SIDED_95 = 1.645


class Estimate(NamedTuple):
    """A difference, its standard error, and the degrees of freedom of that."""

    value: float
    error: float
    freedom: int
    bias: float = 0.0
    """Value of all requests less that of whole cycles, which the error belongs to."""

    def half(self, confidence: float) -> float:
        """Return half the width of the interval of this confidence."""
        return reach(self.bias, self.error, self.freedom, confidence)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the interval that covers the true difference with this probability."""
        half = self.half(confidence)
        return self.value - half, self.value + half

    @property
    def p(self) -> float:
        """Probability of a difference as large as this if there is none."""
        if self.error == 0:
            return 1.0 if abs(self.value) <= abs(self.bias) else 0.0
        return _beyond(abs(self.value), self.bias, self.error, self.freedom)


def reach(bias: float, error: float, freedom: int, confidence: float) -> float:
    """Return the distance from a value within which the truth lies with this probability.

    The value is off by ``bias``, and the rest of its error is Student's t with this standard
    ``error``. Without a bias the distance is that of Student's t.
    """
    bias = abs(bias)
    without = student_quantile((1 + confidence) / 2, freedom) * error
    if bias == 0 or error == 0:
        return bias + without
    low, high = without, bias + without
    while low < (middle := (low + high) / 2) < high:
        if _beyond(middle, bias, error, freedom) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _beyond(distance: float, bias: float, error: float, freedom: int) -> float:
    """Return the probability that bias and error together are at least so far from 0."""
    above, below = (
        1 - student_cdf((distance + side * abs(bias)) / error, freedom) for side in (-1, 1)
    )
    return above + below


def holm(p_values: Sequence[float]) -> list[float]:
    """Return probabilities corrected for their number (Holm 1979), in the same order.

    If those below alpha are called significant, the chance that any of them is called so
    by mistake is at most alpha, however they depend on each other.
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    corrected = [1.0] * len(p_values)
    least = 0.0
    for rank, at in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[at]))
        corrected[at] = least
    return corrected


class Figure(NamedTuple):
    """A figure of one run."""

    value: float
    step: float = 0.0
    """Distance to the next value that the figure could have had."""


def of_pairs(pairs: Sequence[tuple[Figure, Figure]]) -> Estimate | None:
    """Return the mean of independent differences, one for each seed; None for fewer than two.

    Figures with discrete steps often have equal differences, which do not prove a small
    error: a step adds the variance of rounding, a twelfth of its square.
    """
    count = len(pairs)
    if count < 2:
        return None
    differences = [other.value - one.value for one, other in pairs]
    mean = math.fsum(differences) / count
    squares = math.fsum((each - mean) ** 2 for each in differences)
    steps = math.fsum(one.step**2 + other.step**2 for one, other in pairs) / 12
    error = math.sqrt(squares / (count - 1) / count + steps / count**2)
    return Estimate(mean, error, count - 1)


def of_unpaired(one: Estimate | None, other: Estimate | None) -> Estimate | None:
    """Return the second less the first, which are independent (Welch)."""
    if one is None or other is None:
        return None
    squares = (one.error**2, other.error**2)
    value, error = other.value - one.value, math.sqrt(sum(squares))
    bias = other.bias - one.bias
    if error == 0:
        return Estimate(value, 0.0, min(one.freedom, other.freedom), bias)
    spread = squares[0] ** 2 / one.freedom + squares[1] ** 2 / other.freedom
    return Estimate(value, error, max(1, math.floor(sum(squares) ** 2 / spread)), bias)


class Blocks:
    """Latencies of one run in the order of arrival, or of two runs with the same requests.

    ``divisions`` are the edges of blocks to try, in this order, until their means are independent;
    by default :data:`BLOCKS` blocks of equal length.
    """

    def __init__(
        self, columns: Sequence[pl.Series], divisions: Sequence[Sequence[int]] | None = None
    ) -> None:
        import polars as pl

        self.columns = [column.cast(pl.Float64).rename(str(i)) for i, column in enumerate(columns)]
        self.edges, self.widening = self._division(divisions or equal(len(self.columns[0])))

    @property
    def count(self) -> int:
        """Number of blocks; 0 if there are not enough."""
        return len(self.edges) - 1

    @property
    def are_enough(self) -> bool:
        """False if there are too few requests, or they resemble each other for too long."""
        return self.count > 0

    def mean(self) -> Estimate | None:
        """Return the mean, or the mean difference of the second less the first."""
        if not self.are_enough:
            return None
        value = float(self._value().mean())  # type: ignore[arg-type]
        means = self._means(self._value(), self.edges)
        lengths = [high - low for low, high in pairwise(self.edges)]
        whole = math.fsum(map(mul, lengths, means)) / sum(lengths)
        # Blocks of equal time may differ in length: a long one counts more.
        weights = [length * self.count / sum(lengths) for length in lengths]
        excess = (weight * (mean - whole) for weight, mean in zip(weights, means, strict=True))
        spread = math.fsum(each**2 for each in excess) / (self.count - 1)
        error = math.sqrt(spread / self.count * self.widening)
        bias = 0.0 if self._has_all else value - whole
        return Estimate(value, error, self.count - 1, bias)

    def quantiles(
        self, quantiles: Sequence[float], resamples: int = RESAMPLES
    ) -> list[Estimate] | None:
        """Return quantiles, or the differences of quantiles, by resampling whole blocks.

        Each is of all requests; the error is the standard deviation over
        resamples, in which both columns are made of the same blocks. The bias is
        the distance to the quantile of the requests in blocks.
        """
        if not self.are_enough:
            return None
        exact = [exact_quantiles(column, quantiles) for column in self.columns]
        inside = exact
        if not self._has_all:
            inside = [exact_quantiles(self._inside(column), quantiles) for column in self.columns]
        drawn = [self._resampled(column, quantiles, resamples) for column in self.columns]
        if len(self.columns) == 2 and self.columns[0].equals(self.columns[1], check_names=False):
            return [Estimate(0.0, 0.0, self.count - 1) for _ in quantiles]
        estimates = []
        for at in range(len(quantiles)):
            values = [_less(of_one) for of_one in zip(*(d[at] for d in drawn), strict=True)]
            mean = math.fsum(values) / len(values)
            spread = math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1)
            # A resample knows a value only to its bucket.
            steps = math.fsum((_width(of[at]) ** 2) / 12 for of in exact)
            widened = spread * self.count / (self.count - 1) * self.widening + steps
            value, whole = (_less([of[at] for of in each]) for each in (exact, inside))
            estimates.append(Estimate(value, math.sqrt(widened), self.count - 1, value - whole))
        return estimates

    @property
    def _has_all(self) -> bool:
        """True if every request is in a block."""
        return self.edges[0] == 0 and self.edges[-1] == len(self.columns[0])

    def _inside(self, column: pl.Series) -> pl.Series:
        """Return the part of a column that is in blocks."""
        return column[self.edges[0] : self.edges[-1]]

    def _value(self) -> pl.Series:
        return self.columns[0] if len(self.columns) == 1 else self.columns[1] - self.columns[0]

    def _division(self, divisions: Sequence[Sequence[int]]) -> tuple[Sequence[int], float]:
        """Return the edges of the blocks, and the widening for the correlation of their means."""
        checked = [self._value(), *(self.columns if len(self.columns) > 1 else ())]
        for edges in divisions:
            if min(high - low for low, high in pairwise(edges)) < BLOCK_LEAST:
                continue
            correlations = [correlation(self._means(column, edges)) for column in checked]
            if max(correlations) <= ONE_SIDED_95 / math.sqrt(len(edges) - 1):
                return edges, 1 + 2 * max(0.0, *correlations)
        return (0,), 1.0

    def _means(self, column: pl.Series, edges: Sequence[int]) -> list[float]:
        """Return the mean of each block."""
        return [float(column[low:high].mean()) for low, high in pairwise(edges)]  # type: ignore[arg-type]

    def _resampled(
        self, column: pl.Series, quantiles: Sequence[float], resamples: int
    ) -> list[list[float]]:
        """Return each quantile's value in every resample."""
        import random

        values, passed = self._histograms(column)
        draw = random.Random(_SEED)
        found: list[list[float]] = [[] for _ in quantiles]
        for _ in range(resamples):
            drawn = Counter(draw.choices(range(self.count), k=self.count))
            times = [drawn[block] for block in range(self.count)]

            def upto(bucket: int, times: list[int] = times) -> int:
                return sum(map(mul, times, passed[bucket]))

            total = upto(len(values) - 1)
            for of, quantile in zip(found, quantiles, strict=True):
                needed = rank(quantile, total)
                of.append(values[bisect_left(range(len(values)), needed, key=upto)])
        return found

    def _histograms(self, column: pl.Series) -> tuple[list[float], list[tuple[int, ...]]]:
        """Return middles of buckets 0.1 % wide, and each block's cumulative counts."""
        import polars as pl

        at = pl.Series(self.edges[1:]).search_sorted(
            pl.int_range(self.edges[0], self.edges[-1], eager=True), side="right"
        )
        width = (pl.lit(2.0) ** (pl.col("value").clip(1).log(2).floor() - 10)).clip(1.0)
        middle = (pl.col("value") / width).floor() * width + (width - 1) / 2
        counted = (
            pl.DataFrame({"value": self._inside(column), "block": at})
            .select(middle.alias("middle"), pl.col("block").cast(pl.Int64))
            .group_by("middle", "block")
            .agg(pl.len().cast(pl.Int64).alias("requests"))
            .sort("middle", "block")
        )
        table = (
            counted.pivot("block", index="middle", values="requests").fill_null(0).sort("middle")
        )
        blocks = table.select(pl.col(str(block)).cum_sum() for block in range(self.count))
        return table["middle"].to_list(), blocks.rows()


def equal(requests: int) -> list[list[int]]:
    """Return divisions into blocks of equal length; it differs by one at most."""
    return [[requests * at // count for at in range(count + 1)] for count in BLOCKS]


def whole_cycles(moments: Sequence[int] | pl.Series, begin: int, cycle: float) -> list[list[int]]:
    """Return divisions of requests into blocks of whole cycles, by their moments in rising order.

    The first cycle begins at ``begin``. Requests of the unfinished last one are in no block. There
    are :data:`BLOCKS` blocks at most, and never fewer than its least number.
    """
    if not len(moments):
        return []
    cycles = int((moments[-1] - begin) / cycle)
    divisions = []
    for most in BLOCKS:
        # As many cycles in each block as are needed.
        times = max(1, math.ceil(cycles / most))
        count = cycles // times
        if count < BLOCKS[-1]:
            break
        starts = (begin + at * times * cycle for at in range(count + 1))
        edges = [bisect_left(moments, start) for start in starts]
        if edges not in divisions:
            divisions.append(edges)
    return divisions


def correlation(means: Sequence[float]) -> float:
    """Return the correlation of each mean with the one before it, from -1 to 1."""
    mean = math.fsum(means) / len(means)
    squares = math.fsum((each - mean) ** 2 for each in means)
    if squares == 0:
        return 0.0
    return math.fsum((a - mean) * (b - mean) for a, b in pairwise(means)) / squares


def rank(quantile: float, samples: int) -> int:
    """Return the rank of a quantile among samples in rising order, from 1."""
    billionths = round(quantile * 1_000_000_000)
    return max(1, -(-billionths * samples // 1_000_000_000))


def exact_quantiles(column: pl.Series, quantiles: Sequence[float]) -> list[float]:
    """Return the least values that at least the shares ``quantiles`` do not exceed."""
    risen = column.sort()
    return [float(risen[rank(quantile, len(risen)) - 1]) for quantile in quantiles]


def quantile(column: pl.Series, share: float) -> Figure:
    """Return a quantile, and the largest step between values near it.

    Near means within two standard deviations of the rank (Wilks), which are at least what
    chance moves it by: if latencies have few values, it jumps from one to another.
    """
    risen = column.sort()
    at = rank(share, len(risen)) - 1
    reach = math.ceil(2 * math.sqrt(len(risen) * share * (1 - share)))
    return Figure(float(risen[at]), gap(risen[max(0, at - reach) : at + reach + 1]))


def gap(risen: pl.Series) -> float:
    """Return the largest step between neighbours in rising order; at least 1 ns for latencies."""
    largest = risen.diff().max()
    return max(1.0, float(largest or 0))  # type: ignore[arg-type]


def _less(values: Sequence[float]) -> float:
    return values[0] if len(values) == 1 else values[1] - values[0]


def _width(value: float) -> float:
    """Width of the bucket that a value is in; below 2 µs a nanosecond, which is exact."""
    return 2.0 ** max(0, math.floor(math.log2(max(value, 1))) - 10) - 1
