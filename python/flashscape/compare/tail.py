"""Requests beyond a percentile of both runs: the causes of their latency, and its change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashscape import together
from flashscape.compare import groups
from flashscape.regions import FOUNDED, region

if TYPE_CHECKING:
    from flashscape.causes import Cause
    from flashscape.compare.side import Side
    from flashscape.result import Result

_FAR = (99.9, 99.0, 90.0, 50.0)


@dataclass(frozen=True)
class Tail:
    """Requests beyond a percentile, in both runs, with the causes of their latency."""

    initiator: str
    kind: str
    above: float
    """The percentile."""
    each_ns: tuple[dict[Cause, float], dict[Cause, float]]
    """Mean time of a request by cause, over the seeds; of baseline and other."""

    @property
    def change_ns(self) -> dict[Cause, float]:
        """Other less baseline, by cause, the largest change first."""
        before, after = self.each_ns
        causes = [*before, *(cause for cause in after if cause not in before)]
        changes = {cause: after.get(cause, 0) - before.get(cause, 0) for cause in causes}
        return dict(sorted(changes.items(), key=lambda item: -abs(item[1])))

    @property
    def total_ns(self) -> tuple[float, float]:
        """Mean latency of these requests."""
        return sum(self.each_ns[0].values()), sum(self.each_ns[1].values())


def tails(one: Side, other: Side, of: list[tuple[str, str]]) -> list[Tail]:
    """Return the causes of latency beyond the farthest percentile that has enough samples."""
    found = []
    for group in of:
        runs = (*one.results, *other.results)
        fewest = min(groups.figures(run, group)["requests"] for run in runs)
        founded = (p for p in _FAR if round(fewest * (100 - p) / 100, 6) >= FOUNDED)
        if (above := next(founded, None)) is None:
            continue
        each = [_mean_blame([_blame(run, group, above) for run in s.results]) for s in (one, other)]
        found.append(Tail(*group, above, (each[0], each[1])))
    return found


def _blame(run: Result, group: tuple[str, str], above: float) -> dict[Cause, float]:
    own = (run, group[1], groups.members(run, group))
    return region(together.bands(*own), together.slowest(*own), above).each_ns


def _mean_blame(each: list[dict[Cause, float]]) -> dict[Cause, float]:
    causes = dict.fromkeys(cause for one in each for cause in one)
    return {cause: sum(one.get(cause, 0) for one in each) / len(each) for cause in causes}
