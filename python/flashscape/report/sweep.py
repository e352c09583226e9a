"""A sweep as a table for the terminal: varied values and the main figures."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Protocol

from flashscape import overload, percentiles, units
from flashscape.errors import ConfigError
from flashscape.latency import PERCENTILES
from flashscape.regions import FOUNDED
from flashscape.report.rows import behind
from flashscape.report.table import Rows
from flashscape.steadiness import FIGURES
from flashscape.sweep.design import labels, shown
from flashscape.sweep.seeds import OVERLOADED, UNSTEADY, WORN_OUT, unsteady_seeds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

ROWS_MOST = 60
"""Most rows of the table; the Parquet file has all of them."""

_FAILURES_MOST = 20
_FEW = 100
_NAMES_MOST = 3
_NOTES_MOST = 5
_PERCENTILES = ("p50", "p99", "p99_9", "p99_99")
_UNTIMED = ("requests", "bytes", "write_amplification", "erases", "migrations", "worn_out_bytes")
_UNTIMED_HEAD = ("requests", "bytes", "WAF", "erases", "migrations", "worn out after")
"""Head of the table for untimed runs."""


class Sweep(Protocol):
    """The results of a sweep, as far as reports use them."""

    paths: tuple[str, ...]
    is_seeded: bool
    told_by_name: frozenset[str]

    @property
    def varied(self) -> tuple[str, ...]:
        """Columns that vary; ``variation`` stands for the paths that named variations set."""

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each point, initiator and kind."""

    @property
    def counts(self) -> dict[str, int]:
        """Number of points by status."""

    @property
    def failures(self) -> list[tuple[str, str]]:
        """Names of failed points, with reasons."""

    def over_seeds(self) -> pl.DataFrame:
        """Return means over seeds."""

    def __len__(self) -> int: ...


def table(sweep: Sweep, chosen: str | Iterable[float | str] | None = None) -> Rows:
    """Return a row for each point (or mean over seeds), initiator and kind.

    Raises ConfigError for percentiles that the summaries of points do not have.
    """
    far = _PERCENTILES if chosen is None else kept(chosen)
    averaged = sweep.is_seeded
    frame = sweep.over_seeds() if averaged else sweep.frame.filter(status="done")
    # A sweep without any rate consists of untimed runs.
    has_time = frame["iops"].null_count() < len(frame) or not len(frame)
    metrics = (
        ("iops", "mean_ns", *(f"{name}_ns" for name in far), "write_amplification")
        if has_time
        else _UNTIMED
    )
    shown = ("IOPS", "mean", *(name.replace("_", ".") for name in far), "WAF")
    figures = shown if has_time else _UNTIMED_HEAD
    short = labels(sweep.paths)
    # Include paths that have only one value among the finished points.
    named = "variation" in sweep.varied
    # A path with one value is shown, unless the names of variations stand for it.
    varied = [path for path in sweep.paths if not (named and path in sweep.told_by_name)]
    several = frame["initiator"].n_unique() > 1
    is_flagged = any(_overload(row) for row in frame.iter_rows(named=True))
    head = [*(["variation"] if named else []), *(short[path] for path in varied)]
    head += [*(["initiator"] if several else []), "kind", *(["load"] if is_flagged else [])]
    head += figures
    body = []
    for row in frame.head(ROWS_MOST).iter_rows(named=True):
        cells = [row["variation"] or "–"] if named else []
        cells += [_cell(row[path]) for path in varied]
        cells += [row["initiator"] or "–"] if several else []
        cells.append((row["kind"] or "–").replace("_", "-"))
        cells += [_overload(row)] if is_flagged else []
        cells += [_figure(row, metric) for metric in metrics]
        body.append(tuple(cells))
    title = "Points"
    if averaged:
        title = "Means over seeds, ± 95 % confidence" + _without_interval(frame, metrics)
    if has_time:
        title += f"; in brackets: samples at or beyond the percentile, if below {_FEW}"
        if any("!)" in cell for row in body for cell in row):
            title += f" (!: fewer than {FOUNDED}, so not reliable)"
    if len(frame) > ROWS_MOST:
        title += f" (the first {ROWS_MOST} of {len(frame):,} rows)"
    names = len(head) - len(figures)
    return Rows(title, tuple(head), body, names)


def _overload(row: Mapping[str, Any]) -> str:
    """Return the mark of an overloaded point, with the number of its seeds if there are others."""
    if OVERLOADED not in row:
        return "overloaded" if row["overloaded"] else ""
    count, seeds = row[OVERLOADED], row["seeds"]
    if not count:
        return ""
    return "overloaded" if count == seeds else f"overloaded in {count} of {seeds}"


def _without_interval(frame: pl.DataFrame, metrics: Iterable[str]) -> str:
    """Say why figures have no interval, if some have none."""
    spreads = [frame[f"{metric}_ci95"] for metric in metrics if f"{metric}_ci95" in frame.columns]
    reasons = ["seeds agree"] if any((spread == 0).any() for spread in spreads) else []
    reasons += ["one seed alone"] if (frame["seeds"] == 1).any() else []
    unsteady = [column for column in UNSTEADY.values() if frame[column].sum()]
    reasons += ["not known to be steady"] if unsteady else []
    return f" (without ±: {' or '.join(reasons)})" if reasons else ""


def kept(chosen: str | Iterable[float | str]) -> tuple[str, ...]:
    """Return names of percentiles; raise ConfigError for one that the summaries do not have."""
    names = tuple(percentiles.chosen(chosen))
    if unknown := [name for name in names if name not in PERCENTILES]:
        known = ", ".join(name[1:].replace("_", ".") for name in PERCENTILES)
        raise ConfigError(
            f"percentiles: {unknown[0][1:].replace('_', '.')} is not among those that the points "
            f"of a sweep keep ({known})"
        )
    return names


def _cell(value: Any) -> str:
    return "–" if value is None else shown(value)


def _figure(row: dict[str, Any], metric: str) -> str:
    value = row[metric]
    if value is None:
        # Some drives were worn out, and others survived.
        some = row.get(WORN_OUT) if metric == "worn_out_bytes" else None
        return f"– ({some} of {row['seeds']} seeds)" if some else "–"
    spread = row.get(f"{metric}_ci95")
    if spread and unsteady_seeds(row, metric):
        # Runs with other seeds drift alike, so their spread says nothing about a longer run.
        spread = None
    around = f" ± {units.percent(spread / value)}" if spread and value else ""
    beyond = row.get(f"{metric.removesuffix('_ns')}_samples_beyond")
    around += behind(beyond, _FEW)
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
    """Return the sentences below the table."""
    counts = sweep.counts
    alike: dict[str, list[str]] = {}
    for name, why in sweep.failures:
        alike.setdefault(why, []).append(name)
    lines = [_failed(why, names) for why, names in list(alike.items())[:_FAILURES_MOST]]
    if (more := len(alike) - _FAILURES_MOST) > 0:
        lines.append(f"and points that failed for {units.many(more, 'more reason')}")
    lines += overloads(sweep)
    lines += _notes(sweep)
    lines += steadiness(sweep)
    said = ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)
    lines.append(f"{units.many(len(sweep), 'point')}: {said}")
    return lines


def overloads(sweep: Sweep) -> list[str]:
    """Return a sentence on overloaded points; none if there are none."""
    points = sweep.frame.unique("point", keep="first", maintain_order=True)
    found = points.filter(points["overloaded"].list.len() > 0)
    if found.is_empty():
        return []
    names = [
        f"{name} ({', '.join(initiators)})"
        for name, initiators in found.select("name", "overloaded").head(_NAMES_MOST).iter_rows()
    ]
    more = f"; and {len(found) - _NAMES_MOST} more" if len(found) > _NAMES_MOST else ""
    count = f"{len(found):,} of {units.many(len(sweep), 'point')}"
    return [
        f"{count} {'is' if len(found) == 1 else 'are'} overloaded: {'; '.join(names)}{more}. "
        "Their requests come faster than the drive serves them, so that their latencies show only "
        "how long the run was."
    ]


def steadiness(sweep: Sweep) -> list[str]:
    """Return a sentence for each figure that is not known to be steady in some points."""
    points = sweep.frame.unique("point", keep="first", maintain_order=True)
    lines = []
    for figure in FIGURES:
        reason = f"{figure}_steady_reason"
        found = points.filter(points[reason].is_not_null())
        if found.is_empty():
            continue
        lines.append(
            f"{figure.replace('_', ' ').capitalize()} is not known to be steady in {len(found):,} "
            f"of {units.many(len(sweep), 'point')}. {_point(found, reason)}."
        )
    return lines


def _point(found: pl.DataFrame, column: str) -> str:
    """Return the name of the only point, or of one of several, and its text in a column."""
    name = json.dumps(found["name"][0], ensure_ascii=False)
    begin = "For example, point" if len(found) > 1 else "Point"
    return f"{begin} {name}: {found[column][0]}"


def _failed(why: str, names: list[str]) -> str:
    """Say why some points have no results, and name them."""
    more = f"; and {len(names) - _NAMES_MOST} more" if len(names) > _NAMES_MOST else ""
    return f"no results: {'; '.join(names[:_NAMES_MOST])}{more}: {why}"


def _notes(sweep: Sweep) -> list[str]:
    """Return the notes of the summaries, each once, with the number of points that have it."""
    points = sweep.frame.unique("point", keep="first", maintain_order=True)
    alike: dict[str, list[str]] = {}
    every = (note for notes in points["notes"] if notes is not None for note in notes)
    for note in (each for each in every if not overload.initiators([each])):
        # Most of them differ only in their figures.
        alike.setdefault(re.sub(r"[0-9.,]+", "", note), []).append(note)
    ranked = sorted(alike.values(), key=len, reverse=True)
    lines = []
    for found in ranked[:_NOTES_MOST]:
        example = ", for example" if len(set(found)) > 1 else ""
        lines.append(
            f"note ({len(found):,} of {units.many(len(sweep), 'point')}){example}: {found[0]}"
        )
    if (more := len(ranked) - _NOTES_MOST) > 0:
        lines.append(f"and {units.many(more, 'more note')}, in the column notes")
    return lines
