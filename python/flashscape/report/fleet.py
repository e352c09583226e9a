"""A fleet as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.fleet.nouns import NOUNS
from flashscape.report.table import Rows

if TYPE_CHECKING:
    from collections.abc import Mapping

_PERCENTILES = ("p50", "p99", "p99_9", "p99_99", "p99_999")
_SOURCES_SHOWN = 32
"""Most rows of a table of sources: a drive has at most 31 NVM sets."""
_SPREAD = {
    "iops": "IOPS",
    "read_mean_ns": "read, mean",
    "read_p99_ns": "read, p99",
    "read_p99_9_ns": "read, p99.9",
    "write_mean_ns": "write, mean",
    "write_p99_9_ns": "write, p99.9",
    "write_amplification": "WAF",
    "erases": "erases",
    "aged_units": "units aged",
}


def everything(document: Mapping[str, Any]) -> list[Rows]:
    """Return the tables of a fleet."""
    tables = [requests(document)]
    if document["spread"] and document["drives"] > 1:
        tables.append(spread(document))
    if document["fanout"] is not None:
        tables += of_fanout(document["fanout"])
    return tables


def asked(document: Mapping[str, Any]) -> list[Rows]:
    """Return the tables of queries over runs."""
    return [sources(document), *of_fanout(document["fanout"])]


def of_fanout(fanout: Mapping[str, Any]) -> list[Rows]:
    """Return the table of queries, and one for each further limit of slow reads."""
    return [queries(fanout), *(slow(fanout, each) for each in fanout["limits"])]


def sources(document: Mapping[str, Any]) -> Rows:
    """Return a row for each source; of very many, the ones with the most slow reads."""
    noun, found = NOUNS[document["over"]], document["sources"]
    title = f"Reads of {len(found):,} {noun.many}"
    if len(found) > _SOURCES_SHOWN:
        found = sorted(found, key=lambda each: -each["slow_reads"])[:_SOURCES_SHOWN]
        title += f"; the {_SOURCES_SHOWN} with the largest share of slow reads"
    head = (noun.single, "reads", "slow", "mean", "p50", "p99", "p99.9", "max")
    columns = ("mean_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns")
    rows = [
        (
            each["name"],
            f"{each['reads']:,}",
            units.percent(each["slow_reads"]),
            *(units.duration(each[column]) for column in columns),
        )
        for each in found
    ]
    return Rows(title, head, rows, 1)


def requests(document: Mapping[str, Any]) -> Rows:
    """Return a row for each initiator and kind, of all drives together."""
    several = len({each["initiator"] for each in document["requests"]}) > 1
    head = ("initiator", "kind", "requests", "IOPS", "mean")
    names = (*head, *(name.replace("_", ".") for name in _PERCENTILES), "max")
    rows = [_requests(each, each["initiator"]) for each in document["requests"]]
    if several:
        rows += [_requests(each, "all") for each in document["kinds"]]
    amplification = document["write_amplification"]["total"]
    waf = "" if amplification is None else f"; WAF {amplification:.2f}"
    title = f"All {document['drives']:,} drives together{waf}{_collected(document)}"
    return Rows(title, names, rows, 2)


def _collected(document: Mapping[str, Any]) -> str:
    """Return a clause on the drives that collected, for the title."""
    # Fleets of earlier versions lack it.
    if (found := document["collection"]) is None:
        return ""
    count, done = found["drives"], document["drives"] - len(document["failed"])
    some = f"{count:,} of {done:,} collected"
    return f"; {'none collected' if not count else 'all collected' if count == done else some}"


def _requests(figures: Mapping[str, Any], name: str) -> tuple[str, ...]:
    latency = figures["latency_ns"]
    return (
        name,
        figures["kind"].replace("_", "-"),
        f"{figures['requests']:,}",
        units.count(figures["iops"]) if figures["iops"] else "–",
        units.duration(latency["mean"]),
        *(units.duration(latency[each]) for each in _PERCENTILES),
        units.duration(latency["max"]),
    )


def spread(document: Mapping[str, Any]) -> Rows:
    """Return a row for each figure: least, median and greatest value over the drives."""
    head = ("figure", "least", "drive", "median", "most", "drive")
    rows = []
    for name, label in _SPREAD.items():
        if (found := document["spread"].get(name)) is None:
            continue
        least, median, most = (_shown(name, found[key]) for key in ("least", "median", "most"))
        drives = (f"{found[key]:,}" for key in ("least_drive", "most_drive"))
        first, last = drives
        rows.append((label, least, first, median, most, last))
    return Rows("From drive to drive", head, rows, 1)


def _shown(name: str, value: float) -> str:
    if name.endswith("_ns"):
        return units.duration(value)
    return f"{value:.2f}" if name == "write_amplification" else units.count(value)


def queries(fanout: Mapping[str, Any]) -> Rows:
    """Return a row for each number of reads: slow queries and latencies, both ways."""
    stages, limit = fanout["stages"], units.duration(fanout["slow_above_ns"])
    many = NOUNS[fanout["over"]].many
    of = "one stage" if stages == 1 else f"{stages} stages"
    title = (
        f"Queries of {of}. Slow: with a read above {limit}. "
        f"Pooled: each read from all latencies; same: {many} asked at the same moments"
    )
    head = ["reads", "slow, pooled"]
    both = fanout["why_no_moments"] is None
    head += ["slow, same", "slow, apart"] if both else []
    columns = ("mean", "p50", "p99")
    for name in columns:
        head += [f"{name}, pooled", *([f"{name}, same"] if both else [])]
    rows = []
    for row in fanout["rows"]:
        cells = [f"{row['reads']:,}", units.percent(row["slow_pooled"])]
        if both:
            cells += [units.percent(row[key]) for key in ("slow_moments", "slow_apart")]
        for name in columns:
            cells.append(units.duration(row[f"{name}_pooled_ns"]))
            if both:
                cells.append(units.duration(row[f"{name}_moments_ns"]))
        rows.append(tuple(cells))
    return Rows(title, tuple(head), rows, 0)


def slow(fanout: Mapping[str, Any], limit: Mapping[str, Any]) -> Rows:
    """Return a row for each number of reads: queries that are slow by a further limit."""
    above, share = units.duration(limit["slow_above_ns"]), units.percent(limit["slow_reads"])
    title = f"The same queries; slow: with a read above {above}, as {share} of all reads"
    columns = {"slow_pooled": "slow, pooled"}
    if fanout["why_no_moments"] is None:
        columns |= {"slow_moments": "slow, same", "slow_apart": "slow, apart"}
    rows = [
        (f"{row['reads']:,}", *(units.percent(row[column]) for column in columns))
        for row in limit["rows"]
    ]
    return Rows(title, ("reads", *columns.values()), rows, 0)
