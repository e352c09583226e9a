"""Figures of two compared sides, as rows of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape import units
from flashscape.compare.wanted import DRIVE
from flashscape.compare.words import figure_name, part_name, shown
from flashscape.regions import FOUNDED
from flashscape.report.rows import behind
from flashscape.report.table import Rows

if TYPE_CHECKING:
    from flashscape.compare.contrast import Contrast
    from flashscape.compare.difference import Difference


def differences(contrast: Contrast) -> Rows:
    """Return the figures of two sides, with the statistics of their differences."""
    a, b = contrast.baseline.shown, contrast.other.shown
    rows = []
    for row in contrast.differences:
        whose = row.initiator or part_name(row.kind) or DRIVE
        kind = row.kind.replace("_", "-") if row.initiator else ""
        name = (whose, kind, figure_name(row.figure))
        values = _values(row)
        change = row.text(row.difference)
        winner = {"baseline": a, "other": b, "small": "too small", "open": "undecided"}.get(
            row.outcome or "none", "–"
        )
        rows.append((*name, *values, change, _interval(row), _chance(row), _behind(row), winner))
    percent = units.percent(1 - contrast.differences[0].alpha).replace(".0", "")
    head = ("initiator", "kind", "figure", a, b, "difference")
    more = (f"{percent} interval", "p, corrected", "samples", "winner")
    chosen = contrast.wanted.are_chosen or contrast.untimed
    few_beyond = f"percentiles with fewer than {FOUNDED} requests at or beyond them are left out"
    titles = [] if chosen else [few_beyond]
    if any("±" in row[6] for row in rows):
        titles.append("±: equal values; a difference up to this size is not ruled out")
    if any(row.fewest for row in contrast.differences):
        few = f"! below {FOUNDED}: not tested"
        titles.append(f"in brackets: samples at or beyond the percentile, {few}")
    if any(row.outcome == "small" for row in contrast.differences):
        least = 100 * contrast.differences[0].least
        titles.append(f"too small: a difference below {least:g} %, which does not count")
    if any(row.outcome == "open" for row in contrast.differences):
        titles.append("undecided: significant alone, and not among so many figures")
    title = "; ".join(titles)
    return Rows(title[:1].upper() + title[1:], (*head, *more), rows, 3)


def _values(row: Difference) -> list[str]:
    """Return both values; those of a percentile with too few samples with their number."""
    values = [shown(row.figure, value) for value in (row.baseline, row.other)]
    if row.fewest is None:
        return values
    few = (behind(samples, FOUNDED) for samples in row.fewest)
    return [f"{value}{number}" for value, number in zip(values, few, strict=True)]


def _interval(row: Difference) -> str:
    if row.unjudged is not None:
        return "not judged"
    if row.interval is None:
        return "no interval"
    if row.difference == 0:
        # The interval of equal values is symmetric: its ends would read like a difference.
        half = row.half_text(row.interval[1])
        return half if half == "0" else f"± {half}"
    return " to ".join(row.text(edge) for edge in row.interval)


def _chance(row: Difference) -> str:
    if not row.counts:
        return "not counted"
    if row.corrected is None:
        return "not tested"
    return "< 0.001" if row.corrected < 0.001 else f"{row.corrected:.3f}"


def _behind(row: Difference) -> str:
    if not row.initiator:
        return "–"
    one, other = row.samples
    return f"{one:,}" if one == other else f"{one:,}, {other:,}"
