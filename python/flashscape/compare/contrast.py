"""Two sides: the winner, and the differences as sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from flashscape import outages, percentiles, units
from flashscape.compare import effects, untested
from flashscape.compare.difference import UNSTEADY
from flashscape.compare.side import lost_apart
from flashscape.compare.untested import Compared
from flashscape.compare.wanted import Wanted, default
from flashscape.compare.words import COSTS, OF_WEAR, figure_name, part_name, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.compare.arrivals import Arrivals
    from flashscape.compare.difference import Difference
    from flashscape.compare.side import Side
    from flashscape.compare.tail import Tail
    from flashscape.compare.untested import Untested
    from flashscape.result import Result

_NUMBER = re.compile(r"\d[\d.,]*( [nuµm]?s\b)?")
"""Number or time in a reason."""

_NAMED = 0.1
"""Causes below this share of the tail's difference are not named."""

_NAMED_MOST = 4
"""Most figures that a verdict names."""


@dataclass(frozen=True, repr=False)
class Contrast:
    """Two sides: one compared with the other, which is the baseline."""

    baseline: Side
    other: Side
    arrivals: Arrivals
    """Agreement between the requests of both sides."""
    differences: list[Difference]
    """A row for each figure."""
    tails: list[Tail]
    """Cause of the tail's difference, for each initiator and kind."""
    has_logs: bool
    """True if logs of all runs existed at the comparison; some are not kept."""
    wanted: Wanted = field(default_factory=default)
    """Figures that were compared, and figures that the verdict counts."""

    @property
    def partial(self) -> str | None:
        """Clause that says why its figures cannot be compared; None if they can."""
        return self.baseline.partial or self.other.partial

    @property
    def lost_apart(self) -> str | None:
        """Clause about requests lost to power cuts, if these forbid comparing hosts' figures."""
        return lost_apart(self.baseline, self.other)

    @property
    def untimed(self) -> bool:
        """True if the runs were untimed; either all runs of a comparison are, or none."""
        return self.baseline.results[0].untimed

    @property
    def are_identical(self) -> bool:
        """True if every run is identical to its counterpart, to the last completion."""
        sides = (self.baseline.results, self.other.results)
        return [_course(run) for run in sides[0]] == [_course(run) for run in sides[1]]

    @property
    def winner(self) -> Side | None:
        """The side that is better in every figure with a significant difference.

        Figures are those of hosts, or those that were chosen to count. None if there is
        no such difference, or if each side is better in some.
        """
        named = {row.winner for row in self._counted if row.winner}
        if len(named) != 1:
            return None
        return self.other if named == {"other"} else self.baseline

    @property
    def _counted(self) -> list[Difference]:
        """Figures that the verdict counts: those of hosts, or the chosen ones."""
        chosen = bool(self.wanted.counted)
        return [row for row in self.differences if row.counts and (chosen or row.initiator)]

    @cached_property
    def untested(self) -> list[Untested]:
        """Figures that count and could not be tested, with the reasons; none for equal runs."""
        if self.are_identical:
            return []
        sides = (self.baseline, self.other)
        return untested.of(Compared(*sides, self.differences, self.has_logs, self.wanted))

    def difference(self, initiator: str, kind: str, figure: str) -> Difference:
        """Return one row; raise KeyError if it was not compared."""
        for row in self.differences:
            if (row.initiator, row.kind, row.figure) == (initiator, kind, figure):
                return row
        raise KeyError((initiator, kind, figure))

    @property
    def verdict(self) -> str:
        """Verdict of the contrast, as a sentence."""
        a, b = self.baseline.shown, self.other.shown
        if self.are_identical:
            last = "command" if self.untimed else "completion"
            return f"{a} and {b} are the same run, to the last {last}."
        if self.partial is not None:
            return (
                f"No winner: {self.partial}, so its figures leave out requests that were not "
                "answered, and are not comparable."
            )
        if self.untimed and not self.wanted.counted:
            fates = (self.baseline.fate, self.other.fate)
            each = f"{a} {fates[0]}, {b} {fates[1]}"
            if fates[0] == fates[1]:
                each = f"{a} and {b} {fates[0].replace('was ', 'were ')}"
            return f"{each}; no winner, as untimed runs have no latencies."
        if self.lost_apart is not None and any(row.initiator for row in self._counted):
            return (
                f"No winner: {self.lost_apart}; latencies and rates do not include those, so "
                "hosts' figures are not comparable."
            )
        return self._judgement(a, b)

    def _judgement(self, a: str, b: str) -> str:
        """Return the verdict on two comparable runs, by the figures that count."""
        tested = [row for row in self._counted if row.corrected is not None]
        left = self.untested if self.wanted.counted else untested.of_hosts(self.untested)
        missed = sum(len(each.names) for each in left)
        if not tested:
            which = "the figure" if missed == 1 else f"none of {missed:,} figures"
            which += "" if self.wanted.counted else " of hosts"
            return f"Undecided: {which} could {'not ' if missed == 1 else ''}be tested."
        # Without --for, a verdict leaves out the figures of the drive, which the table has.
        of_hosts = "" if self.wanted.counted else " of hosts"
        figures = f"{units.many(len(tested), 'tested figure')}{of_hosts}"
        rest = f"; {missed:,} more{of_hosts} could not be tested" if missed else ""
        significant = [row for row in tested if row.winner]
        if not significant:
            return f"{self._nothing_won(tested, figures)}{rest}.{self._of_drive}"
        count = len(significant)
        differ = "differs" if count == 1 else "differ"
        small = sum(row.is_small for row in tested)
        if small:
            rest = f"; {small:,} {_differ_less(small, tested[0])}{rest}"
        if self.winner is not None:
            won = f"{count} of {figures} {differ} significantly{_named(significant)}"
            favour = "in its favour" if count == 1 else "all in its favour"
            against = self._against_winner()
            return f"{self.winner.shown} wins: {won}, {favour}{rest}.{against}{self._of_drive}"
        wins = sum(row.winner == "other" for row in significant)
        return (
            f"Mixed: {count} of {figures} differ significantly; {b} is better in {wins}, {a} in "
            f"{count - wins}{rest}.{self._of_drive}"
        )

    def _nothing_won(self, tested: list[Difference], figures: str) -> str:
        """Return the verdict on tested figures in which no side is better."""
        if doubtful := sorted((row for row in tested if row.is_open), key=_probability):
            return f"Undecided: {_doubts(doubtful)}"
        if small := [row for row in tested if row.is_small]:
            return (
                f"No difference of {_least(tested[0])} or more in {figures}; {len(small):,} "
                f"{_differ_less(len(small), tested[0])}{_named(small)}"
            )
        return f"No significant difference in {figures}{_named(tested)}"

    @property
    def _of_drive(self) -> str:
        """Sentence about significant figures of the drive that the verdict leaves out."""
        rows = [row for row in self.differences if row.winner and row not in self._counted]
        if not rows:
            return ""
        differ = "differs" if len(rows) == 1 else "differ"
        those = units.many(len(rows), "figure")
        return f" {those} of the drive {differ}, too, and {_does(rows)} not count."

    def _against_winner(self) -> str:
        """Return sentences about figures that may be better on the losing side."""
        is_baseline = self.winner is not self.baseline
        loser = "baseline" if is_baseline else "other"
        side = self.baseline if is_baseline else self.other
        rows = [row for row in self._counted if row.looks_better == loser]
        told = ""
        for what, of in (
            ("Undecided", [row for row in rows if row.is_open]),
            ("Not tested", [row for row in rows if row.corrected is None]),
        ):
            more = f" and {len(of) - _NAMED_MOST:,} more" if len(of) > _NAMED_MOST else ""
            those = ", ".join(map(_title, of[:_NAMED_MOST]))
            told += f" {what}, and better in {side.shown}: {those}{more}." if of else ""
        return told

    @property
    def sentences(self) -> list[str]:
        """Sentences about starvation, power cuts, initiators, kinds, drive costs and lifetimes."""
        those = [told for side in (self.baseline, self.other) if (told := side.starved)]
        groups = dict.fromkeys(r.group for r in self.differences if r.initiator and r.counts)
        of_groups = [self._of_group(*group) for group in groups]
        steady = [] if self.are_identical else self._steadiness()
        return [*those, *self._cuts(), *of_groups, *self._costs(), *self._lives(), *steady]

    def _of_group(self, initiator: str, kind: str) -> str:
        name = f"{initiator} {kind.replace('_', '-')}"
        rows = [r for r in self.differences if r.group == (initiator, kind) and r.counts]
        if won := [row for row in rows if row.winner]:
            far = self._farthest(won) or [won[-1]]
            told = [_moves(row) for row in dict.fromkeys([*far, *_mean(won)])]
            return f"{name}: {', '.join(told)}.{self._tail(initiator, kind)}"
        doubtful = [row for row in rows if row.is_open]
        small = [row for row in rows if row.is_small]
        tested = [row for row in rows if row.outcome == "none"]
        others = [row for row in rows if row.corrected is None]
        told = []
        if doubtful:
            told.append(f"undecided: {', '.join(map(_moves, self._few(doubtful)))}")
        if small:
            figures = ", ".join(map(_moves, self._few(small)))
            told.append(f"a difference below {_least(small[0])}: {figures}")
        if tested:
            figures = "; ".join(_against(row, self) for row in self._few(tested))
            what = "the other tested figures" if doubtful or small else "what was tested"
            told.append(f"no significant difference in {what} ({figures})")
        if others:
            figures = "; ".join(_against(row, self) for row in self._few(others))
            told.append(f"not tested: {figures}")
        return f"{name}: {'; '.join(told)}."

    def _few(self, rows: list[Difference]) -> list[Difference]:
        """Return the mean and the farthest percentile of some rows; else the first of them."""
        return list(dict.fromkeys([*_mean(rows), *self._farthest(rows)])) or rows[:1]

    @staticmethod
    def _farthest(rows: list[Difference]) -> list[Difference]:
        """Return the farthest percentile."""
        return [row for row in rows if percentiles.billionths(row.figure) is not None][-1:]

    def _tail(self, initiator: str, kind: str) -> str:
        for tail in self.tails:
            if (tail.initiator, tail.kind) != (initiator, kind):
                continue
            before, after = tail.total_ns
            change = after - before
            # Keep the causes that change in the direction of the total.
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
        """Sentences about the power cuts of both sides, if either had one."""
        sides = (self.baseline, self.other)
        if not any(outages.of_run(run) for side in sides for run in side.results):
            return []
        return [side.cuts for side in sides]

    def _steadiness(self) -> list[str]:
        """Sentences about figures that count and are not known to be steady.

        Wear is then not judged (:func:`.analysis.contrasts`). Latencies are: both sides answer the
        same requests, and one may well answer these sooner. But a longer run may differ.
        """
        counted = [row for row in self.differences if row.counts]
        figures = []
        if any(row.figure in OF_WEAR for row in counted):
            figures.append("write_amplification")
        if any(row.initiator for row in counted):
            figures.append("latency")
        told = self._unsteady(figures)
        sides = (self.baseline, self.other)
        if "latency" in figures and any(side.unsteady("latency") for side in sides):
            told.append("Differences of latency hold for runs of this length only.")
        return told

    def _unsteady(self, figures: Sequence[str]) -> list[str]:
        """Sentences about unsteady figures: one for those and for sides with the same reason.

        If reasons differ in numbers only, that of the first side is told.
        """
        alike: dict[tuple[tuple[str, ...], str], dict[str, str]] = {}
        for side in (self.baseline, self.other):
            of_side: dict[tuple[str, str], list[str]] = {}
            for figure in figures:
                if (found := side.unsteady(figure)) is not None:
                    of_side.setdefault(found, []).append(figure.replace("_", " "))
            for (whose, why), called in of_side.items():
                alike.setdefault((tuple(called), _NUMBER.sub("", why)), {})[whose] = why
        told = []
        for (names, _), of in alike.items():
            (first, why), *_ = of.items()
            are = "is" if len(names) == 1 else "are"
            which = "" if len(set(of.values())) == 1 else f"in {first}, "
            told.append(
                f"{' and '.join(names).capitalize()} {are} not known to be steady in "
                f"{' and '.join(of)}: {which}{why}."
            )
        return told

    def _lives(self) -> list[str]:
        """Sentences about the drives' lifetimes, if some survived and no figure tells."""
        if not self.untimed or any(row.figure == "worn_out_bytes" for row in self.differences):
            return []
        return [self.baseline.life, self.other.life]

    def _costs(self) -> list[str]:
        rows = [row for row in self.differences if row.figure in COSTS and row.counts]
        return [f"{_title(row).capitalize()}: {_against(row, self)}." for row in rows]


def _does(rows: list[Difference]) -> str:
    return "does" if len(rows) == 1 else "do"


def _title(row: Difference) -> str:
    """Return a name such as ``host read p99.9``, or ``write amplification of drive 0``."""
    if not row.initiator:
        return figure_name(row.figure) + (f" of {part_name(row.kind)}" if row.kind else "")
    return f"{row.initiator} {row.kind.replace('_', '-')} {figure_name(row.figure)}"


def _named(rows: list[Difference]) -> str:
    """Return the names of a few figures in brackets; nothing for many, which the table has."""
    return f" ({', '.join(map(_title, rows))})" if len(rows) <= _NAMED_MOST else ""


def _course(run: Result) -> tuple[object, ...]:
    """Return a run's identity: its digest (of commands alone if untimed) and the flash's wear."""
    return run.digest, run.summary["wear"], run.summary["write_amplification"]


def _mean(rows: list[Difference]) -> list[Difference]:
    return [row for row in rows if row.figure == "mean"]


def _moves(row: Difference, what: str = "") -> str:
    verb = "rises" if row.difference > 0 else "falls"
    what = what or ("the mean" if row.figure == "mean" else figure_name(row.figure))
    low, high = row.interval or (row.difference, row.difference)
    percent = f"{100 * (1 - row.alpha):.4g}"
    return (
        f"{what} {verb} from {shown(row.figure, row.baseline)} to {shown(row.figure, row.other)} "
        f"({row.text(row.difference)}; {percent} %: {row.text(low)} to {row.text(high)})"
    )


def _least(row: Difference) -> str:
    """Return the smallest difference that counts, as a share."""
    return f"{100 * row.least:g} %"


def _differ_less(count: int, row: Difference) -> str:
    return f"{'differs' if count == 1 else 'differ'} by less than {_least(row)}"


def _probability(row: Difference) -> float:
    return row.estimate.p if row.estimate else 1.0


def _doubts(rows: list[Difference]) -> str:
    """Say of the clearest of some likely differences what it lacks; name the others."""
    row = rows[0]
    assert row.estimate is not None, "it was tested"
    moves = _moves(row, _title(row))
    chance = f"p {row.corrected:.2g}, corrected"
    told = f"{moves}, but among so many figures this may be chance ({chance})"
    if row.method == "seeds":
        seeds = effects.seeds_needed(row.estimate, row.factor, row.alpha)
        before = row.estimate.freedom + 1
        lacks = "" if seeds is None else f"some {seeds:,} seeds instead of {before}"
    else:
        times = effects.requests_needed(row.estimate, row.factor, row.alpha)
        lacks = f"some {times:.1f} times as many requests, or several seeds" if times else ""
    if lacks:
        told += f"; it takes {lacks} to prove a difference of this size"
    if others := rows[1:]:
        names = _named(others) or f" ({', '.join(map(_title, others[:_NAMED_MOST]))}, …)"
        told += f"; the same holds for {len(others):,} more{names}"
    return told


def _finding(row: Difference) -> str:
    """Return the finding on a figure of the drive, as a clause."""
    if row.is_open:
        low, high = row.interval or (0.0, 0.0)
        return f", undecided ({row.text(low)} to {row.text(high)})"
    if row.is_small:
        return f", a difference below {_least(row)}"
    return ", a significant difference" if row.is_significant else ", not significant"


def _against(row: Difference, contrast: Contrast) -> str:
    name = "" if row.figure in COSTS else f"{figure_name(row.figure)} "
    told = (
        f"{name}{shown(row.figure, row.baseline)} in {contrast.baseline.shown}, "
        f"{shown(row.figure, row.other)} in {contrast.other.shown}"
    )
    if row.figure in COSTS and row.corrected is not None:
        told += _finding(row)
    if row.unjudged is not None and row.difference:
        is_unsteady = row.unjudged.startswith(UNSTEADY)
        told += f"; not judged, as {'not known to be steady' if is_unsteady else row.unjudged}"
    return told
