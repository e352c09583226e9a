"""A sweep as a table for the terminal: what varies, and the figures most asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.report.rows import Rows
from flashscape.sweep.design import labels, shown
from flashscape.sweep.seeds import WORN_OUT

if TYPE_CHECKING:
    from flashscape.sweep.result import Sweep

ROWS_MOST = 60
"""Rows of the table; all of them are in the Parquet file."""

_FAILURES_MOST = 20
_FEW = 100
_NAMES_MOST = 3
_NOTES_MOST = 5
_METRICS = ("iops", "mean_ns", "p50_ns", "p99_ns", "p99_9_ns", "write_amplification")
_HEAD = ("IOPS", "mean", "p50", "p99", "p99.9", "WAF")
_UNTIMED = ("requests", "bytes", "write_amplification", "erases", "migrations", "worn_out_bytes")
_UNTIMED_HEAD = ("requests", "bytes", "WAF", "erases", "migrations", "worn out after")
"""The same of runs that take no time."""


def table(sweep: Sweep) -> Rows:
    """A row for each point (or mean over seeds), initiator and kind."""
    averaged = sweep.is_seeded
    frame = sweep.over_seeds() if averaged else sweep.frame.filter(status="done")
    # Where nothing has a rate, nothing took time.
    has_time = frame["iops"].null_count() < len(frame) or not len(frame)
    metrics, figures = (_METRICS, _HEAD) if has_time else (_UNTIMED, _UNTIMED_HEAD)
    short = labels(sweep.paths)
    named = frame["variation"].n_unique() > 1
    varied = [
        path
        for path in sweep.paths
        if frame[path].n_unique() > 1 and not (named and path in sweep.told_by_name)
    ]
    several = frame["initiator"].n_unique() > 1
    head = [*(["variation"] if named else []), *(short[path] for path in varied)]
    head += [*(["initiator"] if several else []), "kind", *figures]
    body = []
    for row in frame.head(ROWS_MOST).iter_rows(named=True):
        cells = [row["variation"] or "–"] if named else []
        cells += [_cell(row[path]) for path in varied]
        cells += [row["initiator"] or "–"] if several else []
        cells.append((row["kind"] or "–").replace("_", "-"))
        cells += [_figure(row, metric) for metric in metrics]
        body.append(tuple(cells))
    title = "Means over seeds, ± 95 % confidence" if averaged else "Points"
    if has_time:
        title += f"; in brackets: samples at or beyond, where below {_FEW}"
    if len(frame) > ROWS_MOST:
        title += f" (the first {ROWS_MOST} of {len(frame):,} rows)"
    names = len(head) - len(figures)
    return Rows(title, tuple(head), body, names)


def _cell(value: Any) -> str:
    return "–" if value is None else shown(value)


def _figure(row: dict[str, Any], metric: str) -> str:
    value = row[metric]
    if value is None:
        # Some drives were worn out, and others survived.
        some = row.get(WORN_OUT) if metric == "worn_out_bytes" else None
        return f"– ({some} of {row['seeds']} seeds)" if some else "–"
    spread = row.get(f"{metric}_ci95")
    around = f" ± {units.percent(spread / value)}" if spread and value else ""
    beyond = row.get(f"{metric.removesuffix('_ns')}_samples_beyond")
    if beyond is not None and beyond < _FEW:
        around += f" ({beyond:.0f})"
    if metric.endswith("bytes"):
        return units.size(value) + around
    if metric in ("requests", "erases", "migrations"):
        return f"{value:,.0f}{around}"
    if metric == "iops":
        return units.count(value) + around
    if metric == "write_amplification":
        return f"{value:.2f}{around}"
    return units.duration(value) + around


def closing(sweep: Sweep) -> list[str]:
    """What there is to say beside the table."""
    counts = sweep.counts
    alike: dict[str, list[str]] = {}
    for name, why in sweep.failures:
        alike.setdefault(why, []).append(name)
    lines = [_failed(why, names) for why, names in list(alike.items())[:_FAILURES_MOST]]
    if (more := len(alike) - _FAILURES_MOST) > 0:
        lines.append(f"and points that failed for {units.many(more, 'more reason')}")
    lines += _notes(sweep)
    said = ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)
    lines.append(f"{units.many(len(sweep), 'point')}: {said}")
    return lines


def _failed(why: str, names: list[str]) -> str:
    """Why some points have no results, and which."""
    more = f"; and {len(names) - _NAMES_MOST} more" if len(names) > _NAMES_MOST else ""
    return f"no results: {'; '.join(names[:_NAMES_MOST])}{more}: {why}"


def _notes(sweep: Sweep) -> list[str]:
    """What the summaries note, each once, with how many points say it."""
    points = sweep.frame.unique("point", keep="first", maintain_order=True)
    alike: dict[str, list[str]] = {}
    for note in (note for notes in points["notes"] if notes is not None for note in notes):
        # Most differ in their figures alone.
        alike.setdefault(re.sub(r"[0-9.,]+", "", note), []).append(note)
    ranked = sorted(alike.values(), key=len, reverse=True)
    lines = []
    for found in ranked[:_NOTES_MOST]:
        such_as = ", such as" if len(set(found)) > 1 else ""
        lines.append(
            f"note ({len(found)} of {units.many(len(sweep), 'point')}){such_as}: {found[0]}"
        )
    if (more := len(ranked) - _NOTES_MOST) > 0:
        lines.append(f"and {units.many(more, 'more note')}, in the column notes")
    return lines
