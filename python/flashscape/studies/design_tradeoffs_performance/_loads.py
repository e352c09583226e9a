"""Workloads that the exhibits share, and the states of drives that they begin in.

TPC-C and Exchange are synthetic: their traces are not public. They are made from what is known of
them, and marked wherever they occur. IOzone and Postmark are the authors' own traces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Run
from flashscape.studies.design_tradeoffs_performance._drives import (
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
"""The paper's workloads by the names of their runs."""

FRESH: dict[str, Any] = {"fill": "sequential"}
"""As the authors' simulator begins: all that is exported holds data, all of the reserve is free."""

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

With greedy collection of uniform writes a victim has 30 % of its pages valid where valid pages are
58 % of those in circulation (u = 0.3 in (u - 1) / ln u). In circulation are the pages that are
written and what of the reserve lies above the threshold, a tenth of the blocks: 0.58 (w + 0.1) = w,
so w is 0.139 of the blocks, 16 % of the exported space. Uniform over 85 % of the space, as reads
are, efficiency would be 25 %, and skew makes it less.
"""


def cleaned(written: float) -> dict[str, Any]:
    """The same after as many writes as all space has, to a share of it: cleaning is under way."""
    hot = {"hot_space": f"{written * 100:.4g} %", "hot_accesses": "100 %"}
    addresses = {"pattern": "hot-cold"} | hot
    return {"fill": "sequential", "age": {"overwrites": 1.0, "addresses": addresses}}


CLEANED = cleaned(TPCC_WRITTEN)
"""As the synthetic TPC-C writes, six times over."""

_EXCHANGE_PER_SECOND = 900
_EXCHANGE_READS = 0.6
_EXCHANGE_BYTES = 25_000_000_000
"""Of ten drives' 250 GB."""
_EXCHANGE_SECONDS = 900
_EXCHANGE_DRIVES = 10

TRACES = {"iozone": "iozone-100k.trace", "postmark": "postmark.trace"}
"""From the authors' SSD add-on to DiskSim 4.0. Both profiles replay all of them."""


def _size(share: float, total: int, unit: int) -> str:
    return f"{int(share * total) // unit * unit} B"


def _tpcc(per_second: float, read: str = "8 KiB") -> list[dict[str, Any]]:
    """8 KiB, so many requests a second (Poisson), 66 % reads: those over 85 % of the space."""
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
    """300 requests a second."""
    seconds = _TPCC_SECONDS // setting.pick(short=6, full=1)
    return _tpcc(TPCC_PER_SECOND), {"time": f"{seconds} s"}


def tpcc_by_whole_pages() -> list[dict[str, Any]]:
    """The same where a read takes the logical page of 256 KiB that it lies in."""
    return _tpcc(TPCC_PER_SECOND, "256 KiB")


def tpcc_of_one(per_second: float) -> dict[str, Any]:
    """One of six drives' share of the trace, as long as the trace."""
    return {"workload": _tpcc(per_second), "run": {"time": f"{_TPCC_SECONDS} s"}}


def _exchange(per_second: float) -> dict[str, Any]:
    """Three reads to two writes, so many a second (Poisson), uniform over 25 GB.

    Sizes vary; how is not known: exponential with mean 8 KiB, rounded up to 4 KiB.
    """
    return {
        "name": "exchange",
        "reads": f"{_EXCHANGE_READS * 100:g} %",
        "size": {"mean": "8 KiB"},
        "region": {"size": f"{_EXCHANGE_BYTES // 262_144 * 262_144} B"},
        "arrivals": {"process": "poisson", "rate": f"{per_second:g} IOPS"},
    }


def exchange_written() -> float:
    """The share of the exported space that the synthetic trace writes to."""
    return _EXCHANGE_BYTES / exported_bytes()


def exchange(setting: Setting) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """900 requests a second."""
    seconds = _EXCHANGE_SECONDS // setting.pick(short=9, full=1)
    return [_exchange(_EXCHANGE_PER_SECOND)], {"time": f"{seconds} s"}


def exchange_of_one() -> dict[str, Any]:
    """A tenth of them, as long as the trace."""
    stream = _exchange(_EXCHANGE_PER_SECOND / _EXCHANGE_DRIVES)
    return {"workload": [stream], "run": {"time": f"{_EXCHANGE_SECONDS} s"}}


def traced(
    setting: Setting, name: str, *, depth: int | None = None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A whole trace at its own pace, or, with a queue depth, as fast as it goes."""
    trace: dict[str, Any] = {"file": str(setting.trace(TRACES[name])), "format": "disksim"}
    stream: dict[str, Any] = {"name": name, "trace": trace}
    if depth is not None:
        trace["mode"] = "closed"
        stream["queue_depth"] = depth
    return [stream], {}


def experiment(
    setting: Setting, load: str, drive: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """A drive under one of the four workloads; it begins as the authors' simulator does."""
    if load in TRACES:
        streams, run = traced(setting, load)
    else:
        streams, run = (tpcc if load == "tpcc" else exchange)(setting)
    return {"drive": drive, "precondition": FRESH, "workload": streams, "run": run} | more


def loaded(
    setting: Setting, organisation: str, load: str, drive: Mapping[str, Any], **more: Any
) -> Run:
    """The run of an organisation under a workload, ``LOAD-ORGANISATION``."""
    title = f"{LOADS[load]}: {organisation}"
    return Run(
        f"{load}-{organisation}", experiment(setting, load, drive, **more) | {"title": title}
    )


def by_organisation(
    setting: Setting, loads: Iterable[str], names: Iterable[str], state: str = "", **more: Any
) -> list[Run]:
    """The runs of some organisations under some workloads, named after the state of the drive."""
    organisations = list(names)
    return [
        loaded(setting, state + name, load, ORGANISATIONS[name](), **more)
        for load in loads
        for name in organisations
    ]


_PILED_UP = 64
"""Requests in the drive in the mean: eight for each package, which serves one. The drive's own note
has as many for the least backlog."""


def overloaded(outcome: Outcome) -> bool:
    """Whether requests came faster than the drive serves them, throughout or for long.

    Then latencies tell how long that lasted. The drive's note looks at what is waiting when the
    last request comes, and a trace that ends with few requests has none then: so does what was
    waiting in the mean count, which is far above what any drive has that keeps up.
    """
    summary = outcome.result.summary
    noted = any(note.startswith("overload") for note in summary["notes"])
    return noted or float(summary["mean_outstanding"]) >= _PILED_UP


def mean(outcome: Outcome) -> float:
    """The mean latency of all requests, in nanoseconds."""
    result = outcome.result
    read, write = result.read, result.write
    total: float = sum((of.mean or 0.0) * of.requests for of in (read, write))
    return total / (read.requests + write.requests)


def in_short(outcome: Outcome) -> dict[str, object]:
    """What tables say of any run."""
    return {"mean_ns": mean(outcome), "overloaded": overloaded(outcome)}


def pages_queued(outcome: Outcome) -> float:
    """Pages of requests that are in the drive, waiting or served, for each package: about so many.

    It is the mean number of requests in the drive times the pages of a mean request; a page counts
    until the whole of its request is done.
    """
    summary = outcome.result.summary
    outstanding = float(summary["mean_outstanding"])
    kinds = [of[kind] for of in summary["initiators"] for kind in ("read", "write")]
    asked = float(sum(of["bytes"] for of in kinds) / sum(of["requests"] for of in kinds))
    return outstanding * asked / PAGE_BYTES / PACKAGES
