"""Measures of a run, and the effect of a technique on them.

An effect is told only if it has the same sign with all seeds, and its median is beyond a limit.
Runs of equal seeds are compared: they have the same requests. Latencies of reads that wait for an
erase are far above all others, so a percentile jumps if the number of such reads changes a little.
So an effect on the tail must have the same sign with twice and with half as many reads beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from flashscape.reproduce import percentile

from ._drives import RISE_PER_1000, SCHEMES, TECHNIQUES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.reproduce import Outcomes
    from flashscape.result import Result

    from ._runs import Case, Measure

ALIKE = 0.1
"""Change below which an effect is not told; a choice of ours. Smaller ones change their sign if the
drive is half or twice as large."""

TAIL, NEAR_TAIL = 99.99, (99.98, 99.995)
"""The percentile of the tail, and those beyond which twice and half as many reads are."""

UNIT_BYTES = 4096
"""A mapping unit."""


def tail(result: Result, at: float = TAIL) -> float:
    """Return p99.99 of reads in ns, or another percentile."""
    return float(percentile(result.read, at).numbers[0])


def mean(result: Result) -> float:
    """Return the mean read in ns."""
    return float(result.read.mean or 0.0)


def writes(result: Result) -> float:
    """Return write amplification."""
    return float(result.summary["write_amplification"]["total"])


def _blocks(result: Result) -> float:
    wear = result.summary["wear"]
    return float(wear["erases_since_new"] / wear["erase_count"]["mean"])


def erases_of_a_block(result: Result) -> float:
    """Return the erases of a mean block in the run."""
    return float(result.summary["wear"]["erases"] / _blocks(result))


def wear(result: Result) -> float:
    """Return the erases of a mean block for each time that hosts write what the drive exports."""
    written = result.summary["write_amplification"]["host_bytes"]
    exported = result.summary["precondition"]["filled_units"] * UNIT_BYTES
    return erases_of_a_block(result) * float(exported) / float(written)


def interruptions(result: Result) -> float:
    """Return the pulses that suspension interrupted, for each erase block that was erased."""
    flash = result.summary["flash"]
    erased = flash["erases"].get("erase", {"planes": 0})["planes"]
    return float(flash["extra_ramps"] / max(1, erased))


def rise_of_errors(result: Result, cycles: int) -> float:
    """Return the rise of the error rate of a block that was interrupted so often in all its cycles.

    The rise is taken to be linear beyond the 1,000 interruptions of its source. The run itself has
    only the interruptions of its own erases.
    """
    return interruptions(result) * cycles / 1000 * RISE_PER_1000


def lost(result: Result) -> float:
    """Return mapping units that reads of hosts did not get, or that moves lost."""
    uber = result.summary["errors"]["uber"]
    return float(uber["units"] + uber["moved_units"])


MEASURES: dict[str, Measure] = {"tail": tail, "write amplification": writes, "wear": wear}
"""Measures that are told as multiples, by name."""


IDLE = {"h": "never rebuilds or scrubs"}
"""Words for techniques that are idle but still write: HRM has parity for moved data."""


def told_idle(letter: str) -> str:
    """Return in words that a technique is idle."""
    return f"{TECHNIQUES[letter]} {IDLE.get(letter, 'never acts: no effect')}"


def acts(result: Result, technique: str) -> bool:
    """Return whether a technique did anything for reads in a run."""
    summary = result.summary
    rebuilds = bool(sum(summary["errors"]["rebuilds"].values()))
    scrubs = bool((summary["scrub"] or {}).get("blocks"))
    match technique:
        case "s" | "d":
            return bool(summary["flash"]["erase_suspensions"])
        case "r":
            return rebuilds or bool(summary["detours"]["computed_units"])
        case "h":
            return rebuilds or scrubs
        case _:
            return scrubs


def idle(case: Case, runs: Outcomes) -> str:
    """Return the letters of techniques that did nothing for reads, with any seed."""
    whole = case.whole(runs)
    letters = SCHEMES[case.scheme].techniques
    return "".join(
        each for each in letters if whole and not any(acts(result, each) for result in whole)
    )


@dataclass(frozen=True)
class Effect:
    """Multiples of a figure by seed, sorted; none if the drive stopped."""

    multiples: tuple[float, ...]
    nearby: tuple[float, ...] = ()
    """Multiples at neighbouring percentiles, with all seeds."""

    @classmethod
    def between(cls, ours: Sequence[float] | None, others: Sequence[float] | None) -> Effect:
        """Return the effect on figures by seed; None for a drive that stopped."""
        if ours is None or others is None:
            return cls(())
        return cls(tuple(sorted(a / b for a, b in zip(ours, others, strict=True))))

    @property
    def middle(self) -> float | None:
        """Median over the seeds."""
        return median(self.multiples) if self.multiples else None

    @property
    def word(self) -> str:
        """Effect in a word or two: helps, alike, hurts, at an edge, or stops."""
        if self.middle is None:
            return "stops"
        if self.middle < 1 - ALIKE and max(self.multiples) < 1:
            return "helps" if self.greatest < 1 else "at an edge"
        if self.middle > 1 + ALIKE and min(self.multiples) > 1:
            return "hurts" if min(self.multiples + self.nearby) > 1 else "at an edge"
        return "alike"

    @property
    def greatest(self) -> float:
        """Greatest multiple with any seed, at any of the percentiles."""
        return max(self.multiples + self.nearby)

    @property
    def text(self) -> str:
        """Word, median and range."""
        if self.middle is None:
            return "stops the drive"
        low, high = self.multiples[0], self.multiples[-1]
        return f"{self.word}, {self.middle:.2f} times ({low:.2f} to {high:.2f})"


def effect(case: Case, runs: Outcomes, measure: Measure, other: Case | None = None) -> Effect:
    """Return the effect on a measure; against re-reads alone in the same layout by default."""
    found = _between(case, runs, measure, other)
    if measure is not tail:
        return found
    nearby = (_between(case, runs, partial(tail, at=at), other) for at in NEAR_TAIL)
    return replace(found, nearby=tuple(each for near in nearby for each in near.multiples))


def _between(case: Case, runs: Outcomes, measure: Measure, other: Case | None) -> Effect:
    others = (other or case.baseline).figures(runs, measure)
    return Effect.between(case.figures(runs, measure), others)
