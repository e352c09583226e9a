"""The result of a fleet as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.fleet.nouns import NOUNS
from flashscape.window_counts import warnings

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIGURES = {"rate": "requests", "read_latency": "read latency", "collection": "GC"}
_NOTES_MOST = 4
_CLEAR = 4.0
"""Standard deviations beyond which a correlation is no accident."""


def sentences(document: dict[str, Any]) -> list[str]:
    """Return what a reader should know besides the tables."""
    lines = [*_failures(document), _age(document), *_collected(document), *_worst(document)]
    lines += _windows(document)
    lines.append(_correlation(document["correlation"]))
    fanout = document["fanout"]
    if fanout is not None:
        lines += of_fanout(fanout)
    return lines + _notes(document)


def _notes(document: dict[str, Any]) -> list[str]:
    """Return the notes of most drives."""
    found, count = document["notes"], document["drives"]
    lines = [
        f"note ({each['drives']:,} of {units.many(count, 'drive')}), for example: {each['such_as']}"
        for each in found[:_NOTES_MOST]
    ]
    if (more := len(found) - _NOTES_MOST) > 0:
        lines.append(f"note: and {units.many(more, 'more kind')} of notes, in fleet.json")
    return lines


def _failures(document: dict[str, Any]) -> list[str]:
    failed = document["failed"]
    if not failed:
        return []
    name, why = failed[0]
    return [
        f"note: {len(failed)} of {units.many(document['drives'], 'drive')} failed and are in no "
        f"figure; for example, {name}: {why}"
    ]


def _age(document: dict[str, Any]) -> str:
    age = document["age"]
    drives = units.many(document["drives"], "drive")
    if age is None:
        return f"{drives} begin alike and differ by their random streams."
    return (
        f"{drives} begin alike, each aged by another amount, from {units.percent(age['from'])} to "
        f"{units.percent(age['to'])} of the filled space. Bad blocks are common to all."
    )


def _collected(document: dict[str, Any]) -> list[str]:
    """Return a note if some drives did not collect, although hosts write to them."""
    found = document["collection"]
    done = document["drives"] - len(document["failed"])
    has_written = document["write_amplification"]["host_bytes"] > 0
    if found is None or found["drives"] == done or not has_written:
        return []
    some = f"only {found['drives']:,} of {units.many(done, 'drive')}"
    return [
        f"note: {some if found['drives'] else 'no drive'} collected blocks while the run was "
        "counted. A drive that never collects has no tail of GC, and its write amplification is "
        "too low; run longer, until each drive collects."
    ]


def _worst(document: dict[str, Any]) -> list[str]:
    found = document["spread"].get("read_p99_9_ns") or document["spread"].get("write_p99_9_ns")
    if found is None or document["drives"] < 2:
        return []
    kind = "reads" if "read_p99_9_ns" in document["spread"] else "writes"
    return [
        f"p99.9 of {kind}: {units.duration(found['least'])} in drive {found['least_drive']}, "
        f"{units.duration(found['median'])} in the median, {units.duration(found['most'])} in "
        f"drive {found['most_drive']}."
    ]


def _windows(document: dict[str, Any]) -> list[str]:
    found = document["windows"]
    if found is None:
        return []
    ends = found["ends"]
    total, time = sum(ends.values()), found["dtwin_ns"] + found["ndwin_ns"]
    if not found["asked"] or not total:
        none = "was asked for" if not found["asked"] else "has ended"
        return [f"Deterministic windows: none {none}."]
    own = {cause: count for cause, count in ends.items() if cause != "host" and count}
    waited, broken = (units.percent(found[key] / time) for key in ("waited_ns", "broken_ns"))
    told = "none was broken"
    if own:
        by_cause = ", ".join(f"{count:,} by {cause}" for cause, count in own.items())
        told = f"the drives ended {by_cause} (`flashscape explain` of a drive has remedies)"
    return [
        f"Deterministic windows: of {total:,} that ended, the host ended {ends['host']:,}; {told}. "
        f"Broken for {broken} of the time of drives and sets; waits to begin took {waited}."
        f"{_warned(found)}"
    ]


def _warned(windows: dict[str, Any]) -> str:
    """Return a sentence on warnings, after a space; nothing without any."""
    told = [
        f"{of['count']:,} of {kind}"
        + (
            ""
            if of["shortest_ns"] is None
            else f" (at least {units.duration(of['shortest_ns'])} before a broken end)"
        )
        for kind, of in warnings(windows).items()
        if of["count"]
    ]
    return f" Warnings: {', '.join(told)}." if told else ""


def _correlation(found: dict[str, Any] | None) -> str:
    if found is None:
        return (
            "Nothing can be said of correlation: there is one drive, or too little time in common."
        )
    parts = []
    for name, figure in found["figures"].items():
        if figure is None:
            parts.append(f"{_FIGURES[name]} the same in all intervals")
            continue
        mean, chance = figure["mean_of_pairs"], figure["by_chance"]
        clear = "" if abs(mean) > _CLEAR * chance else " (chance)"
        parts.append(f"{_FIGURES[name]} {mean:+.3f}{clear}")
    interval = units.duration(found["interval_ns"])
    return (
        f"Correlation that is left (mean of pairs, over {found['intervals']:,} intervals of "
        f"{interval}): {', '.join(parts)}."
    )


def of_queries(document: Mapping[str, Any]) -> list[str]:
    """Return what a reader should know besides the tables of queries over runs."""
    notes = [f"note: {note}" for note in document["notes"]]
    return [*of_fanout(document["fanout"]), *notes]


def of_fanout(fanout: Mapping[str, Any]) -> list[str]:
    """Return what a reader should know besides the table of queries."""
    limit = units.duration(fanout["slow_above_ns"])
    share = units.percent(fanout["slow_reads"])
    lines = [f"A read is slow above {limit}, p99 of all reads: {share} are."]
    if fanout["why_no_moments"] is not None:
        lines.append(f"note: no query at the same moments: {fanout['why_no_moments']}")
    else:
        lines.append(
            f"Of the reads that {NOUNS[fanout['over']].many} are asked for at random moments, "
            f"{units.percent(fanout['slow_at_moments'])} are slow."
        )
    return lines
