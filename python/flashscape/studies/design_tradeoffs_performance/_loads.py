"""Workloads that the exhibits share, and the initial states of drives.

TPC-C and Exchange are synthetic: their traces are not public. They are made from the known facts
about them, and marked in every figure. IOzone and Postmark are the authors' own traces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Run

from ._drives import (
    ORGANISATIONS,
    PACKAGES,
    PAGE_BYTES,
    exported_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flashscape.reproduce import Outcome, Setting

LOADS = {
    "tpcc": "TPC-C (synthetic)",
    "exchange": "Exchange (synthetic)",
    "iozone": "IOzone",
    "postmark": "Postmark",
}
"""Workloads of the paper, by the names of their runs."""

FRESH: dict[str, Any] = {"fill": "sequential"}
"""Initial state in the authors' simulator: all exported space holds data, the reserve is free."""

TPCC_PER_SECOND = 300
_TPCC_READS = 0.66
_TPCC_SPACE = 0.85
_TPCC_SECONDS = 1800
_TPCC_RECORDS = 6_800_000
_TPCC_DRIVES = 6

TPCC_MOST_PER_SECOND = _TPCC_RECORDS / _TPCC_SECONDS / _TPCC_DRIVES
"""Requests a second of one drive by the records of the trace, 630; the notes say 300."""

TPCC_WRITTEN = 0.16
"""Share of the exported space that synthetic TPC-C writes to, for a cleaning efficiency of 70 %.

With greedy collection of uniform writes a victim has 30 % of its pages valid if valid pages are
58 % of those in circulation (u = 0.3 in (u - 1) / ln u). In circulation are the pages that are
written and what of the reserve lies above the threshold, a tenth of the blocks: 0.58 (w + 0.1) = w,
so w is 0.139 of the blocks, 16 % of the exported space. Uniform over 85 % of the space, as reads
are, efficiency would be 25 %, and skew makes it less.
"""


def cleaned(written: float) -> dict[str, Any]:
    """Return the precondition after writing the whole space's amount to a share of the space."""
    hot = {"hot_space": f"{written * 100:.4g} %", "hot_accesses": "100 %"}
    addresses = {"pattern": "hot-cold"} | hot
    return {"fill": "sequential", "age": {"overwrites": 1.0, "addresses": addresses}}


CLEANED = cleaned(TPCC_WRITTEN)
"""Initial state for synthetic TPC-C: its region is written six times over."""

_EXCHANGE_PER_SECOND = 900
_EXCHANGE_READS = 0.6
_EXCHANGE_BYTES = 25_000_000_000
"""A tenth of the 250 GB of ten drives."""
_EXCHANGE_SECONDS = 900
_EXCHANGE_DRIVES = 10

TRACES = {"iozone": "iozone-100k.trace", "postmark": "postmark.trace"}
"""Traces from the authors' SSD add-on to DiskSim 4.0. Both profiles replay all of them."""


def _size(share: float, total: int, unit: int) -> str:
    return f"{int(share * total) // unit * unit} B"


def _tpcc(per_second: float, read: str = "8 KiB") -> list[dict[str, Any]]:
    """Return 8 KiB requests (Poisson arrivals), 66 % reads, which cover 85 % of the space."""
    total = exported_bytes()
    streams = []
    for name, reads, share, space, size in (
        ("reads", "100 %", _TPCC_READS, _TPCC_SPACE, read),
        ("writes", "0 %", 1 - _TPCC_READS, TPCC_WRITTEN, "8 KiB"),
    ):
        page = {"size": size, "align": size}
        rate = {"process": "poisson", "rate": f"{per_second * share:g} IOPS"}
        region = {"size": _size(space, total, 262_144)}
        streams.append({"name": name, "reads": reads, **page, "region": region, "arrivals": rate})
    return streams


def tpcc(setting: Setting) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return synthetic TPC-C at 300 requests a second."""
    seconds = _TPCC_SECONDS // setting.pick(short=6, full=1)
    return _tpcc(TPCC_PER_SECOND), {"time": f"{seconds} s"}


def tpcc_by_whole_pages() -> list[dict[str, Any]]:
    """Return synthetic TPC-C whose reads take the whole logical page of 256 KiB."""
    return _tpcc(TPCC_PER_SECOND, "256 KiB")


def tpcc_of_one(per_second: float) -> dict[str, Any]:
    """Return one drive's share of the trace of six drives, as long as the trace."""
    return {"workload": _tpcc(per_second), "run": {"time": f"{_TPCC_SECONDS} s"}}


def _exchange(per_second: float) -> dict[str, Any]:
    """Return three reads to two writes (Poisson arrivals), uniform over 25 GB.

    Sizes vary by an unknown law; here exponential with mean 8 KiB, rounded up to 4 KiB.
    """
    return {
        "name": "exchange",
        "reads": f"{_EXCHANGE_READS * 100:g} %",
        "size": {"mean": "8 KiB"},
        "region": {"size": f"{_EXCHANGE_BYTES // 262_144 * 262_144} B"},
        "arrivals": {"process": "poisson", "rate": f"{per_second:g} IOPS"},
    }


def exchange_written() -> float:
    """Share of the exported space that the synthetic trace writes to."""
    return _EXCHANGE_BYTES / exported_bytes()


def exchange(setting: Setting) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return synthetic Exchange at 900 requests a second."""
    seconds = _EXCHANGE_SECONDS // setting.pick(short=9, full=1)
    return [_exchange(_EXCHANGE_PER_SECOND)], {"time": f"{seconds} s"}


def exchange_of_one() -> dict[str, Any]:
    """Return a tenth of the Exchange load, as long as the trace."""
    stream = _exchange(_EXCHANGE_PER_SECOND / _EXCHANGE_DRIVES)
    return {"workload": [stream], "run": {"time": f"{_EXCHANGE_SECONDS} s"}}


def traced(
    setting: Setting, name: str, *, depth: int | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return a whole trace at its own pace, or as fast as a queue depth allows."""
    trace: dict[str, Any] = {"file": str(setting.trace(TRACES[name])), "format": "disksim"}
    stream: dict[str, Any] = {"name": name, "trace": trace}
    if depth is not None:
        trace["mode"] = "closed"
        stream["queue_depth"] = depth
    return [stream], {}


def experiment(
    setting: Setting, load: str, drive: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """Return the experiment of a drive under a workload, from the authors' initial state."""
    if load in TRACES:
        streams, run = traced(setting, load)
    else:
        streams, run = (tpcc if load == "tpcc" else exchange)(setting)
    return {"drive": drive, "precondition": FRESH, "workload": streams, "run": run} | more


def loaded(
    setting: Setting, organisation: str, load: str, drive: Mapping[str, Any], **more: Any
) -> Run:
    """Return the run of an organisation under a workload, ``LOAD-ORGANISATION``."""
    title = f"{LOADS[load]}: {organisation}"
    return Run(
        f"{load}-{organisation}", experiment(setting, load, drive, **more) | {"title": title}
    )


def by_organisation(
    setting: Setting, loads: Iterable[str], names: Iterable[str], state: str = "", **more: Any
) -> list[Run]:
    """Return runs of organisations under workloads; ``state`` is part of their names."""
    organisations = list(names)
    return [
        loaded(setting, state + name, load, ORGANISATIONS[name](), **more)
        for load in loads
        for name in organisations
    ]


_PILED_UP = 64
"""Mean number of requests in the drive that counts as overload: eight for each package, which
serves one. The simulator's overload note uses the same number for the least backlog."""


def overloaded(outcome: Outcome) -> bool:
    """Return True if requests arrive faster than the drive serves them, throughout or for long.

    Latencies then show only how long the overload lasted. The overload note checks the
    requests that wait when the last one arrives, and misses a trace that ends with few requests.
    So the mean number of outstanding requests counts, too; a drive that keeps up has far fewer.
    """
    summary = outcome.result.summary
    noted = any(note.startswith("overload") for note in summary["notes"])
    return noted or float(summary["mean_outstanding"]) >= _PILED_UP


def mean(outcome: Outcome) -> float:
    """Return the mean latency of all requests, in nanoseconds."""
    result = outcome.result
    read, write = result.read, result.write
    total: float = sum((of.mean or 0.0) * of.requests for of in (read, write))
    return total / (read.requests + write.requests)


def in_short(outcome: Outcome) -> dict[str, object]:
    """Return the columns that tables have for every run."""
    return {"mean_ns": mean(outcome), "overloaded": overloaded(outcome)}


def pages_queued(outcome: Outcome) -> float:
    """Return the approximate number of pages in the drive per package, waiting or served.

    It is the mean number of outstanding requests times the mean pages of a request; a page counts
    until its whole request is done.
    """
    summary = outcome.result.summary
    outstanding = float(summary["mean_outstanding"])
    kinds = [of[kind] for of in summary["initiators"] for kind in ("read", "write")]
    asked = float(sum(of["bytes"] for of in kinds) / sum(of["requests"] for of in kinds))
    return outstanding * asked / PAGE_BYTES / PACKAGES
