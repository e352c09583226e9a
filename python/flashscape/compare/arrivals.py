"""Comparison of the requests of two runs: the same commands, at the same times or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flashscape.latency import KINDS

if TYPE_CHECKING:
    import polars as pl

    from flashscape.result import Result

Likeness = Literal["same", "commands", "unproven", "different"]

_DRIVE = (("geometry",), ("ftl", "over_provisioning"), ("ftl", "unit"), ("ftl", "bad_blocks"))
"""Keys that the capacity depends on, and with it the addresses that workloads draw."""

_COMMAND = ("kind", "offset_bytes", "length_bytes")


@dataclass(frozen=True)
class Arrivals:
    """Agreement between the requests of two runs."""

    likeness: Likeness
    """``same``: the same commands at the same times; ``commands``: the same sequence of
    commands, issued when the drive had a free place in the queue, or untimed; ``unproven``:
    the data do not tell; ``different``."""
    sentence: str
    """The finding as a sentence, with the reason."""

    @property
    def are_paired(self) -> bool:
        """True if each request of one run has a counterpart in the other."""
        return self.likeness in ("same", "commands")


def compare(one: Result, other: Result) -> Arrivals:
    """Compare the logs, else the configurations; raise OutputError for a damaged log."""
    logs = one.requests, other.requests
    if one.untimed:
        # In an untimed run no request completes, and the log is empty.
        return _untimed(one, other)
    if logs[0] is None or logs[1] is None:
        return _by_configuration(one, other)
    return _by_logs(one, logs[0], logs[1])


def open_loops(result: Result) -> set[str]:
    """Names of workloads whose requests arrive by their own clock."""
    workloads = result.summary["config"]["workload"]
    return {one["name"] for one in workloads if _is_open(one)}


def is_open(initiator: str, loops: set[str]) -> bool:
    """Return True if an initiator, or the trace that it is a device of, is an open loop."""
    return initiator in loops or initiator.rpartition(".")[0] in loops


def _is_open(workload: dict[str, Any]) -> bool:
    if trace := workload.get("trace"):
        return bool(trace["mode"] == "open")
    return "arrivals" in workload


def pairs(one: pl.LazyFrame, other: pl.LazyFrame) -> pl.LazyFrame:
    """Join each request with its counterpart: columns of the second end in ``_other``."""
    return one.join(other, on=["initiator", "index"], how="full", suffix="_other", coalesce=True)


def _by_logs(run: Result, one: pl.LazyFrame, other: pl.LazyFrame) -> Arrivals:
    import polars as pl

    columns = ["initiator", "index", *_COMMAND, "arrived_ns"]
    same = [pl.col(name).eq_missing(pl.col(f"{name}_other")) for name in _COMMAND]
    both = pl.col("kind").is_not_null() & pl.col("kind_other").is_not_null()
    found = (
        pairs(one.select(columns), other.select(columns))
        .group_by("initiator")
        .agg(
            both.sum().alias("both"),
            (both & ~pl.all_horizontal(same)).sum().alias("differ"),
            (both & (pl.col("arrived_ns") != pl.col("arrived_ns_other"))).sum().alias("moved"),
            (~both).sum().alias("alone"),
            pl.col("index").filter(both & ~pl.all_horizontal(same)).min().alias("first"),
        )
        .sort("initiator")
        .collect()
    )
    if not found["both"].sum():
        return Arrivals("different", "The runs have no request in common.")
    for row in found.filter(pl.col("differ") > 0).iter_rows(named=True):
        return Arrivals(
            "different",
            f"The runs did not get the same requests: {_share(row['differ'], row['both'])} of "
            f"{row['initiator']} have another kind, address or length in the other run, from "
            f"request {row['first']:,} on (counted from 0, as in the logs). Usual reasons are "
            "another seed, another workload, or drives of different exported capacities.",
        )
    loops = open_loops(run)
    moved = found.filter(pl.col("moved") > 0)
    for row in moved.iter_rows(named=True):
        if is_open(row["initiator"], loops):
            return Arrivals(
                "different",
                f"The runs got the requests at different times: "
                f"{_share(row['moved'], row['both'])} of {row['initiator']} arrive at another "
                "time in the other run.",
            )
    alone = int(found["alone"].sum())
    rest = ""
    if alone:
        those = "request was" if alone == 1 else "requests were"
        rest = f" {alone:,} more {those} counted in only one of the runs, and not compared."
    number = f"{int(found['both'].sum()):,}"
    if moved.is_empty():
        return Arrivals("same", f"The same {number} requests at the same moments.{rest}")
    return Arrivals(
        "commands",
        f"The same {number} commands in the same order, but at different times: in a closed loop "
        f"each arrives when an earlier one has ended.{rest}",
    )


def _share(some: int, both: int) -> str:
    return f"all {both:,} requests" if some == both else f"{some:,} of the {both:,} requests"


def _untimed(one: Result, other: Result) -> Arrivals:
    """Compare untimed runs: their digests cover commands alone, and they have no times."""
    lengths = [_requests(each) for each in (one, other)]
    if one.digest == other.digest and lengths[0] == lengths[1]:
        return Arrivals("commands", f"The same {lengths[0]:,} commands in the same order.")
    if (unlike := _unlike(one, other)) is not None:
        return unlike
    if not _have_like_drives(one, other):
        return Arrivals(
            "unproven",
            "It is unknown if the runs got the same requests: they did not get equally far, and on "
            "drives of different geometry addresses may be drawn differently.",
        )
    # Here no request depends on the drive, so one run is the beginning of the other.
    return Arrivals(
        "commands",
        "The same commands in the same order, by the configurations, as far as both runs went.",
    )


def _requests(run: Result) -> int:
    """Number of requests of all initiators and kinds."""
    return sum(asked[kind]["requests"] for asked in run.summary["initiators"] for kind in KINDS)


def _unlike(one: Result, other: Result) -> Arrivals | None:
    """Describe the differences between the workloads and traces; None if there are none."""
    left, right = one.summary["config"], other.summary["config"]
    asked = [_asked(each) for each in (one, other)]
    parts: dict[str, tuple[Any, Any]] = {
        "seed": (left.get("seed"), right.get("seed")),
        "workloads": (asked[0], asked[1]),
        "traces": (_traces(one), _traces(other)),
    }
    unlike = [name for name, (of_one, of_other) in parts.items() if of_one != of_other]
    return Arrivals("different", f"The runs differ in {' and '.join(unlike)}.") if unlike else None


def _have_like_drives(one: Result, other: Result) -> bool:
    """Return True if all keys are alike that the capacity, and so the addresses, depend on."""
    configs = [each.summary["config"]["drive"] for each in (one, other)]
    drives = [[_at(config, keys) for keys in _DRIVE] for config in configs]
    return drives[0] == drives[1]


def _by_configuration(one: Result, other: Result) -> Arrivals:
    if (unlike := _unlike(one, other)) is not None:
        return unlike
    left, right = one.summary["config"], other.summary["config"]
    if not _have_like_drives(one, other):
        return Arrivals(
            "unproven",
            "It is unknown if the runs got the same requests: drives of different geometry may get "
            "other addresses, which only logs of requests of both runs show.",
        )
    if _at(left, ("run",)) != _at(right, ("run",)):
        return Arrivals("unproven", "The runs have the same workloads, but different limits.")
    if len(open_loops(one)) == len(left["workload"]):
        return Arrivals("same", "The same requests at the same moments, by the configurations.")
    return Arrivals(
        "commands",
        "The same commands in the same order, by the configurations, but at different times: in "
        "a closed loop each arrives when an earlier one has ended.",
    )


def _asked(result: Result) -> list[dict[str, Any]]:
    """Return the workloads without keys that change neither requests nor arrival times."""
    workloads = []
    for workload in result.summary["config"]["workload"]:
        # Untimed runs have no queue.
        is_free = _is_open(workload) or result.untimed
        ignored = {"priority", "read_recovery_level"} | ({"queue_depth"} if is_free else set())
        kept = {key: value for key, value in workload.items() if key not in ignored}
        if "trace" in kept:
            kept["trace"] = {k: v for k, v in kept["trace"].items() if k != "file"}
        workloads.append(kept)
    return workloads


def _traces(result: Result) -> list[dict[str, Any]]:
    return [{k: v for k, v in trace.items() if k != "file"} for trace in result.summary["traces"]]


def _at(table: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        table = (table or {}).get(key)
    return {k: v for k, v in table.items() if k != "audit"} if keys == ("run",) and table else table
