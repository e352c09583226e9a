"""One side against the baseline: who wins, and what differs, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashscape import outages, units
from flashscape.compare import differences as of
from flashscape.compare.side import lost_apart
from flashscape.compare.words import COSTS, figure_name, shown, signed

if TYPE_CHECKING:
    from flashscape.compare.arrivals import Arrivals
    from flashscape.compare.difference import Difference
    from flashscape.compare.side import Side
    from flashscape.compare.tail import Tail
    from flashscape.result import Result

_NAMED = 0.1
"""Causes below this share of the tail's difference are not named."""


@dataclass(frozen=True, repr=False)
class Contrast:
    """One side against the baseline."""

    baseline: Side
    other: Side
    arrivals: Arrivals
    """What the sides have in common in what was asked of them."""
    differences: list[Difference]
    """A row for each figure."""
    tails: list[Tail]
    """For each initiator and kind where the tail's difference comes from."""
    has_logs: bool
    """Whether there were logs of all runs when they were compared; some are not kept."""

    @property
    def partial(self) -> str | None:
        """Why its figures cannot be compared, in a clause; None where they can."""
        return self.baseline.partial or self.other.partial

    @property
    def lost_apart(self) -> str | None:
        """Why requests lost to power cuts keep hosts' figures from being compared, in a clause."""
        return lost_apart(self.baseline, self.other)

    @property
    def untimed(self) -> bool:
        """Whether the runs took no simulated time, as all of a comparison do or none."""
        return self.baseline.results[0].untimed

    @property
    def are_identical(self) -> bool:
        """True where every run went as its like, to the last completion."""
        sides = (self.baseline.results, self.other.results)
        return [_course(run) for run in sides[0]] == [_course(run) for run in sides[1]]

    @property
    def winner(self) -> Side | None:
        """The side that serves hosts better in every figure with a significant difference.

        None where there is no such difference, or where each side has its own.
        """
        named = {row.winner for row in self.differences if row.initiator and row.winner}
        if len(named) != 1:
            return None
        return self.other if named == {"other"} else self.baseline

    def difference(self, initiator: str, kind: str, figure: str) -> Difference:
        """Return one row; raise KeyError where it was not compared."""
        for row in self.differences:
            if (row.initiator, row.kind, row.figure) == (initiator, kind, figure):
                return row
        raise KeyError((initiator, kind, figure))

    @property
    def verdict(self) -> str:
        """Who wins, in a sentence."""
        a, b = self.baseline.label, self.other.label
        if self.are_identical:
            last = "command" if self.untimed else "completion"
            return f"{a} and {b} are the same run, to the last {last}."
        if self.partial is not None:
            return (
                f"No winner: {self.partial}, so its figures leave out requests that were not "
                "answered, and are not comparable."
            )
        if self.untimed:
            fates = (self.baseline.fate, self.other.fate)
            each = f"{a} {fates[0]}, {b} {fates[1]}"
            if fates[0] == fates[1]:
                each = f"{a} and {b} {fates[0].replace('was ', 'were ')}"
            return f"{each}; no winner, as runs without time have no latencies."
        if self.lost_apart is not None:
            return (
                f"No winner: {self.lost_apart}; no latency and no rate counts those, so what hosts "
                "saw is not comparable."
            )
        tested = [row for row in self.differences if row.corrected is not None and row.initiator]
        if not tested:
            return "No difference has an interval, so neither can be named the winner."
        significant = [row for row in tested if row.winner]
        of_all = f"{len(significant)} of {len(tested)} latencies and rates"
        if not significant:
            rest = sum(row.corrected is None and bool(row.initiator) for row in self.differences)
            more = f"; {rest} more have no interval" if rest else ""
            return f"No significant difference in any of {len(tested)} latencies and rates{more}."
        if self.winner is not None:
            return f"{self.winner.label} wins: {of_all} differ significantly, all in its favour."
        wins = sum(row.winner == "other" for row in significant)
        return (
            f"Neither wins: of {of_all} that differ significantly {b} is better in {wins}, "
            f"{a} in {len(significant) - wins}."
        )

    @property
    def sentences(self) -> list[str]:
        """Who starved, power cuts, each initiator and kind, then costs of the drive, and lives."""
        those = [told for side in (self.baseline, self.other) if (told := side.starved)]
        groups = dict.fromkeys(row.group for row in self.differences if row.initiator)
        of_groups = [self._of_group(*group) for group in groups]
        return [*those, *self._cuts(), *of_groups, *self._costs(), *self._lives()]

    def _of_group(self, initiator: str, kind: str) -> str:
        name = f"{initiator} {kind.replace('_', '-')}"
        rows = [row for row in self.differences if row.group == (initiator, kind)]
        shown = [row for row in rows if row.winner] or [rows[0], *self._farthest(rows)]
        if not any(row.winner for row in rows):
            figures = "; ".join(_against(row, self) for row in dict.fromkeys(shown))
            if any(row.corrected is not None for row in rows):
                return f"{name}: no significant difference ({figures})."
            return f"{name}: {figures}; without an interval, {self._why_none()}."
        far = self._farthest(shown) or [shown[-1]]
        told = [_moves(row) for row in dict.fromkeys([*far, *_mean(shown)])]
        return f"{name}: {', '.join(told)}.{self._tail(initiator, kind)}"

    def _why_none(self) -> str:
        if self.partial is not None:
            return f"as {self.partial}"
        if self.lost_apart is not None:
            return f"as {self.lost_apart}"
        if not self.has_logs:
            return "as there are no logs of both runs"
        return (
            "as requests are too few or resemble each other for too long: run longer, or "
            "several seeds"
        )

    @staticmethod
    def _farthest(rows: list[Difference]) -> list[Difference]:
        """The farthest percentile, up to p99.9 where there is a choice."""
        far = [row for row in rows if row.figure in of.FAR]
        upto = [row for row in far if of.FAR.index(row.figure) <= of.FAR.index("p99_9")]
        return (upto or far)[-1:]

    def _tail(self, initiator: str, kind: str) -> str:
        for tail in self.tails:
            if (tail.initiator, tail.kind) != (initiator, kind):
                continue
            before, after = tail.total_ns
            change = after - before
            # What goes the way of the whole, which the rest may partly undo.
            parts = [
                f"{units.duration(abs(ns))} {'more' if change > 0 else 'less'} {cause.phrase}"
                for cause, ns in tail.change_ns.items()
                if ns * change > 0 and abs(ns) >= _NAMED * abs(change)
            ]
            if not parts:
                continue
            return (
                f" Requests beyond p{tail.above:g} take {units.duration(abs(change))} "
                f"{'more' if change > 0 else 'less'} in the mean: {', '.join(parts)}."
            )
        return ""

    def _cuts(self) -> list[str]:
        """Of both sides, where the power of one of them was cut."""
        sides = (self.baseline, self.other)
        if not any(outages.of_run(run) for side in sides for run in side.results):
            return []
        return [side.cuts for side in sides]

    def _lives(self) -> list[str]:
        """How long drives lived, where that is no figure, as some survived."""
        if not self.untimed or any(row.figure == "worn_out_bytes" for row in self.differences):
            return []
        return [self.baseline.life, self.other.life]

    def _costs(self) -> list[str]:
        rows = [row for row in self.differences if row.figure in COSTS]
        return [f"{COSTS[row.figure].capitalize()}: {_against(row, self)}." for row in rows]


def _course(run: Result) -> tuple[object, ...]:
    """What a run did: its digest, which without time is of commands alone, and the flash's wear."""
    return run.digest, run.summary["wear"], run.summary["write_amplification"]


def _mean(rows: list[Difference]) -> list[Difference]:
    return [row for row in rows if row.figure == "mean"]


def _moves(row: Difference) -> str:
    verb = "rises" if row.difference > 0 else "falls"
    what = "the mean" if row.figure == "mean" else figure_name(row.figure)
    low, high = row.interval or (row.difference, row.difference)
    percent = f"{100 * (1 - row.alpha):.4g}"
    return (
        f"{what} {verb} from {shown(row.figure, row.baseline)} to {shown(row.figure, row.other)} "
        f"({signed(row.figure, row.difference)}; {percent} %: {signed(row.figure, low)} to "
        f"{signed(row.figure, high)})"
    )


def _against(row: Difference, contrast: Contrast) -> str:
    name = "" if row.figure in COSTS else f"{figure_name(row.figure)} "
    told = (
        f"{name}{shown(row.figure, row.baseline)} in {contrast.baseline.label}, "
        f"{shown(row.figure, row.other)} in {contrast.other.label}"
    )
    if row.figure in COSTS and row.corrected is not None:
        told += ", a significant difference" if row.is_significant else ", not significant"
    if row.unjudged is not None and row.difference:
        told += f"; not judged, as {row.unjudged}"
    return told
