"""Requests of one kind from several initiators, told as those of one.

Equal jobs, such as the clones of fio's ``numjobs``, differ by chance only. Reports tell of all of
them, and not of the one whose tail happens to be the longest.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flashscape.latency import PERCENTILES, Latency
from flashscape.percentiles import beyond

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from flashscape.measured import Measured

ALL = "all"
"""Name of all initiators together; the configuration refuses it as the name of one."""

ADDED = ("requests", "bytes", "unmapped", "failed", "failed_units")
"""Figures of a group that are counts."""

_OWN = ("name", "start")
"""Keys of a workload in which equal jobs differ; the offset of their region is another."""


def joint(summary: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return kind and figures of all requests of each kind that several initiators have issued."""
    # Summaries of earlier versions lack these figures.
    kinds: dict[str, dict[str, Any]] = summary.get("kinds", {})
    return [
        (kind, figures)
        for kind, figures in kinds.items()
        if sum(1 for each in summary["initiators"] if each[kind]["requests"]) > 1
    ]


def alike(result: Measured) -> list[tuple[str, ...]]:
    """Return the names of initiators, those with equal workloads together.

    The workloads of equal jobs differ by name, by start, and by the place of their region.
    """
    workloads = {each["name"]: each for each in result.summary["config"]["workload"]}
    units: dict[str, list[str]] = {}
    for initiator in result.summary["initiators"]:
        name = initiator["name"]
        # The devices of a trace are initiators without a workload of their own, and differ.
        workload = _without_own(workloads[name]) if name in workloads else {"name": name}
        units.setdefault(json.dumps(workload, sort_keys=True), []).append(name)
    return [tuple(names) for names in units.values()]


def _without_own(workload: Mapping[str, Any]) -> dict[str, Any]:
    shared = {key: value for key, value in workload.items() if key not in _OWN}
    if "region" in shared:
        shared["region"] = {k: v for k, v in shared["region"].items() if k != "offset"}
    return shared


def name_of(names: Sequence[str]) -> str:
    """Return a name for initiators with equal workloads."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} alike"


def figures(result: Measured, kind: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the figures of requests of a kind from several initiators, as a summary has them."""
    of = [
        each[kind]
        for each in result.summary["initiators"]
        if each["name"] in names and each[kind]["requests"]
    ]
    total = added(of)
    assert total is not None, "they have issued requests"
    return as_summary(total, latency_of(result.latency, total, names, kind))


def added(groups: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Add up counts, rates and blame of groups, and find their extremes; None without a group."""
    total: dict[str, Any] | None = None
    for group in groups:
        latency = group.get("latency_ns", group)
        if total is None:
            total = {**dict.fromkeys(ADDED, 0), "iops": 0.0, "min": None, "max": None}
            total["blame_ns"] = {}
        for key in ADDED:
            total[key] += group[key]
        total["iops"] += group["iops"] or 0.0
        for key, choose in (("min", min), ("max", max)):
            found = [v for v in (total[key], latency[key]) if v is not None]
            total[key] = choose(found) if found else None
        for state, ns in group["blame_ns"].items():
            total["blame_ns"][state] = total["blame_ns"].get(state, 0) + ns
    return total


def latency_of(
    histogram: pl.DataFrame, group: Mapping[str, Any], names: Sequence[str] | None, kind: str
) -> Latency:
    """Return the latencies of a group from the rows of a histogram; None: of all initiators."""
    import polars as pl

    rows = histogram.filter(pl.col("kind") == kind)
    if names is not None:
        rows = rows.filter(pl.col("initiator").is_in(list(names)))
    joined = rows.group_by("high_ns").agg(pl.col("requests").sum()).sort("high_ns")
    buckets = tuple(joined.iter_rows())
    if not buckets:
        # An untimed run.
        return Latency(group["requests"], None, None, None, ())
    mean = sum(group["blame_ns"].values()) / group["requests"]
    return Latency(group["requests"], mean, group["min"], group["max"], buckets)


def as_summary(group: Mapping[str, Any], latency: Latency) -> dict[str, Any]:
    """Return a group in the form of a summary."""
    samples = 0 if latency.max is None else latency.requests
    at = {name: latency.percentile(share / 10_000_000) for name, share in PERCENTILES.items()}
    return {
        **{key: group[key] for key in ADDED},
        "iops": group["iops"],
        "latency_ns": {
            "samples": samples,
            "mean": latency.mean,
            "min": latency.min,
            "max": latency.max,
            **at,
            "samples_beyond": {
                name: beyond(share, samples) if samples else 0
                for name, share in PERCENTILES.items()
            },
        },
        "blame_ns": group["blame_ns"],
    }


def bands(result: Measured, kind: str, names: Sequence[str]) -> pl.DataFrame:
    """Return the blame by latency of requests of a kind from several initiators."""
    import polars as pl

    own = result.bands.filter(pl.col("kind") == kind, pl.col("initiator").is_in(list(names)))
    if len(names) == 1:
        return own
    edges = ("low_ns", "high_ns")
    summed = pl.exclude("initiator", "kind", *edges).sum()
    return own.group_by(edges).agg(summed).sort("low_ns")


def slowest(result: Measured, kind: str, names: Sequence[str]) -> pl.DataFrame:
    """Return the slowest requests of a kind from several initiators, the slowest first.

    A table of each has its slowest only. Below the fastest of one table others may be missing.
    """
    import polars as pl

    own = result.slowest.filter(pl.col("kind") == kind, pl.col("initiator").is_in(list(names)))
    counts = {
        each["name"]: each[kind]["requests"]
        for each in result.summary["initiators"]
        if each["name"] in names
    }
    limit = 0
    for name, rows in own.group_by("initiator"):
        if len(rows) < counts[str(name[0])]:
            limit = max(limit, min(rows["latency_ns"].to_list()))
    complete = own.filter(pl.col("latency_ns") >= limit)
    return complete.sort("latency_ns", descending=True, maintain_order=True)
