"""Analysis from results to contrasts: the statistics of every figure, corrected together."""

from __future__ import annotations

import dataclasses
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from flashscape.compare import arrivals, differences, drives
from flashscape.compare.contrast import Contrast
from flashscape.compare.difference import UNSTEADY
from flashscape.compare.side import Side, lost_apart
from flashscape.compare.tail import tails
from flashscape.compare.words import OF_WEAR
from flashscape.errors import OutputError

if TYPE_CHECKING:
    from flashscape.compare.difference import Difference
    from flashscape.compare.differences import Tell
    from flashscape.compare.wanted import Wanted


class Rules(NamedTuple):
    """The figures that are compared, and the rules by which a side wins."""

    wanted: Wanted
    alpha: float
    least: float
    """Share of a figure below which a difference does not count."""
    all_pairs: bool = True
    """False to compare the others with the first side only."""


def contrasts(sides: list[Side], rules: Rules, tell: Tell) -> list[Contrast]:
    """Compare the sides in pairs; ``tell`` is called with the share done."""
    wanted = rules.wanted
    pairs = [pair for pair in combinations(sides, 2) if rules.all_pairs or pair[0] is sides[0]]
    found = []
    for at, (baseline, other) in enumerate(pairs):
        tell(at / len(pairs))
        likeness = arrivals.compare(baseline.results[0], other.results[0])

        def part(share: float, at: int = at) -> None:
            tell((at + share) / len(pairs))

        rows = _differences(baseline, other, likeness, wanted, part)
        found.append((baseline, other, likeness, rows))
    # All figures that are tested are corrected together.
    every = [row for *_, rows in found for row in rows]
    rows = differences.corrected(every, rules.alpha, wanted, rules.least)
    made, at = [], 0
    for baseline, other, likeness, own in found:
        mine, at = rows[at : at + len(own)], at + len(own)
        groups = list(dict.fromkeys(row.group for row in mine if row.initiator))
        far = tails(baseline, other, groups)
        logs = [run.log for side in (baseline, other) for run in side.results]
        made.append(Contrast(baseline, other, likeness, mine, far, None not in logs, wanted))
    return made


def _differences(
    baseline: Side, other: Side, likeness: arrivals.Arrivals, wanted: Wanted, tell: Tell
) -> list[Difference]:
    rows = _comparable(baseline, other, likeness, wanted, tell)
    sides = (baseline, other)
    whose = [found[0] for side in sides if (found := side.unsteady("write_amplification"))]
    if not whose or baseline.partial or other.partial:
        return rows
    # With other seeds, a run that has used up more of the free space, or collected other blocks,
    # does so each time: the difference is significant, and would still vanish in longer runs.
    why = UNSTEADY + " and ".join(whose)
    return [_unjudged(row, why) if row.figure in OF_WEAR else row for row in rows]


def _unjudged(row: Difference, why: str) -> Difference:
    """Return a figure that makes no side better; the first reason for this stays."""
    return dataclasses.replace(row, estimate=None, method="none", unjudged=row.unjudged or why)


def _comparable(
    baseline: Side, other: Side, likeness: arrivals.Arrivals, wanted: Wanted, tell: Tell
) -> list[Difference]:
    one, two = baseline.results[0], other.results[0]
    if one.untimed:
        rows = drives.of_lives(baseline.results, other.results)
    elif len(baseline.results) > 1:
        rows = differences.of_seeds(baseline.results, other.results, wanted, tell)
    elif one.log is not None and two.log is not None:
        rows = differences.of_logs(one, two, likeness, wanted, tell)
    else:
        rows = differences.of_summaries(one, two, wanted, tell)
    if not (one.untimed or any(row.initiator for row in rows)):
        raise OutputError(
            f"{baseline.label} and {other.label} have no initiator and kind of request in common"
        )
    if baseline.partial or other.partial:
        # Unanswered requests are missing, and they were the slowest: no figure can be tested.
        return [dataclasses.replace(row, estimate=None, method="none") for row in rows]
    if lost_apart(baseline, other) is not None:
        # The drives' own figures are known nevertheless.
        return [
            dataclasses.replace(row, estimate=None, method="none") if row.initiator else row
            for row in rows
        ]
    return rows
