"""A figure of two runs, and the error of its difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from flashscape.compare import statistics

if TYPE_CHECKING:
    from flashscape.compare.statistics import Estimate, Figure

_BETTER_MORE = {"iops", "worn_out_bytes"}

UNSTEADY = "write amplification is not known to be steady in "
"""Beginning of the clause of figures that a longer run could judge."""

Method = Literal[
    "seeds", "paired blocks", "blocks", "intervals of the means", "slowest requests", "none"
]


@dataclass(frozen=True)
class Difference:
    """A figure of two runs; times in nanoseconds."""

    initiator: str
    """Empty for a figure of the whole drive."""
    kind: str
    """Empty for a figure of the whole drive."""
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
        """The significantly better side: by a higher rate, a longer life, or less of all else."""
        return self.looks_better if self.is_significant else None

    @property
    def looks_better(self) -> Literal["baseline", "other"] | None:
        """The better side by the bare values, significant or not; None if they are equal."""
        if not self.difference:
            return None
        grows = self.difference > 0
        return "other" if grows == (self.figure in _BETTER_MORE) else "baseline"

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
