"""A figure of two runs, and the error of its difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from flashscape.compare import statistics
from flashscape.compare.words import signed, unsigned

if TYPE_CHECKING:
    from flashscape.compare.statistics import Estimate, Figure

_BETTER_MORE = {"iops", "worn_out_bytes"}

UNSTEADY = "write amplification is not known to be steady in "
"""Beginning of the clause of figures that a longer run could judge."""

Outcome = Literal["baseline", "other", "small", "open", "none"]
"""The better side; or a difference that is too small to count, that is likely and not certain, or
that was not found."""

Method = Literal[
    "seeds", "paired blocks", "blocks", "intervals of the means", "slowest requests", "none"
]


@dataclass(frozen=True)
class Difference:
    """A figure of two runs; times in nanoseconds."""

    initiator: str
    """Empty for a figure of the whole drive."""
    kind: str
    """Of a figure of the drive, its part: ``drive 0`` of an array, or ``set 1``; else empty."""
    figure: str
    """``mean``, ``p50`` …, ``iops``, ``write_amplification``, ``erases``; of untimed runs
    also ``worn_out_bytes`` and ``erase_count_stddev``, after power cuts ``recovery_mean_ns``
    and ``recovery_pages``."""
    baseline: float
    """Value in the first run; the mean over seeds."""
    other: float
    """Value in the other run."""
    samples: tuple[int, int]
    """Requests behind it in each run (at or beyond a percentile), over all seeds."""
    method: Method
    """Method of the interval."""
    estimate: Estimate | None
    """Difference, other less baseline, with its error; None if the error is not known."""
    corrected: float | None = None
    """Probability of such a difference by chance, corrected for all compared figures."""
    alpha: float = 0.05
    counts: bool = True
    """True if the verdict counts it; False if ``--for`` leaves it out."""
    unjudged: str | None = None
    """Clause that says why no side is better by it; None if the figure is judged."""
    fewest: tuple[int, int] | None = None
    """Fewest requests at or beyond a percentile in a run of each side, if either has too few
    for a test; None if there are enough."""
    least: float = 0.0
    """Share of the baseline's value below which a difference makes no side better."""

    @property
    def difference(self) -> float:
        """Other less baseline."""
        return self.estimate.value if self.estimate else self.other - self.baseline

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of the difference, at a confidence of 1 - alpha, not corrected."""
        return self.estimate.interval(1 - self.alpha) if self.estimate else None

    @property
    def is_significant(self) -> bool:
        """True if chance is ruled out, after the correction for all comparisons."""
        return self.corrected is not None and self.corrected < self.alpha

    @property
    def winner(self) -> Literal["baseline", "other"] | None:
        """The significantly better side: by a higher rate, a longer life, or less of all else.

        None if the difference is too small to count.
        """
        return self.looks_better if self.is_significant and self._counts(self.difference) else None

    @property
    def is_small(self) -> bool:
        """True if there is a difference that is too small to count."""
        if self.corrected is None or self.winner is not None or not self._excludes_zero:
            return False
        return self.is_significant or not any(map(self._counts, self.interval or ()))

    @property
    def is_open(self) -> bool:
        """True if a difference is likely, and not certain after the correction.

        Its interval excludes 0, and it may be large enough to count.
        """
        is_tested = self.corrected is not None and not self.is_significant
        return is_tested and self._excludes_zero and not self.is_small

    @property
    def outcome(self) -> Outcome | None:
        """The finding; None if nothing was tested."""
        if self.corrected is None:
            return None
        if self.winner is not None:
            return self.winner
        return "small" if self.is_small else "open" if self.is_open else "none"

    @property
    def factor(self) -> float:
        """Factor by which the correction has increased the probability; 1 without any."""
        if self.estimate is None or self.corrected is None or not self.estimate.p:
            return 1.0
        return max(1.0, self.corrected / self.estimate.p)

    @property
    def _excludes_zero(self) -> bool:
        low, high = self.interval or (0.0, 0.0)
        return low > 0 or high < 0

    def _counts(self, difference: float) -> bool:
        """Return True if a difference is not too small."""
        return abs(difference) >= self.least * abs(self.baseline)

    @property
    def looks_better(self) -> Literal["baseline", "other"] | None:
        """The better side by the bare values, significant or not; None if they are equal."""
        if not self.difference:
            return None
        grows = self.difference > 0
        return "other" if grows == (self.figure in _BETTER_MORE) else "baseline"

    def text(self, difference: float) -> str:
        """Return a difference of this figure with its sign and unit."""
        return signed(self.figure, difference, self._size)

    def half_text(self, half: float) -> str:
        """Return half the width of an interval around 0, with its unit."""
        return unsigned(self.figure, half, self._size)

    @property
    def _size(self) -> float:
        return max(abs(self.baseline), abs(self.other))

    @property
    def group(self) -> tuple[str, str]:
        """Initiator and kind."""
        return self.initiator, self.kind


def paired_by_seed(
    initiator: str, kind: str, figure: str, of: list[list[Figure]], samples: tuple[int, int]
) -> Difference:
    """A figure of runs that are paired by their seeds: means, and the error of the difference."""
    estimate = statistics.of_pairs(list(zip(*of, strict=True)))
    before, after = (math.fsum(each.value for each in side) / len(side) for side in of)
    method: Method = "seeds" if estimate else "none"
    return Difference(initiator, kind, figure, before, after, samples, method, estimate)
