"""Results in the form of fio's ``--output-format=json+``, for scripts that read fio's output.

An initiator is a job; with ``group_reporting`` all initiators together are one. Fields that fio
takes from the host's operating system are 0, because the simulated host has none; docs/results.md
gives the meaning of each field.
"""

from __future__ import annotations

import json
import math
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import spelling, together, units
from flashscape._flashscape import __version__
from flashscape.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.latency import Latency
    from flashscape.measured import Measured

_LAYOUT = "fio-3.36"
"""Version of fio whose fields these are; scripts read its number."""

_DIRECTIONS = ("read", "write", "trim")
_PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""Percentiles that fio shows by default."""

_SIZE = "4 KiB"
"""Size of requests if a workload gives none."""

_BELOW_1000 = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
_DEPTHS = ("1", "2", "4", "8", "16", "32", ">=64")
_TRANSFERS = ("0", "4", "8", "16", "32", "64", ">=64")

_Bins = list[tuple[int, int]]
"""Upper edge in nanoseconds and requests of each bucket, by rising latency."""


def text(result: Measured, *, grouped: bool = False) -> str:
    """Return the document as JSON text; with ``grouped`` all initiators are one job."""
    return json.dumps(document(result, grouped=grouped), indent=2, ensure_ascii=False) + "\n"


def refuse_untimed(*, untimed: bool) -> None:
    """Raise OutputError for a run without latencies and rates, which fio's fields need."""
    if untimed:
        raise OutputError(
            "an untimed run (run.untimed) has no latencies and no rates, which are what fio's "
            "fields tell; requests and bytes are in summary.json; leave this out: "
            f"{spelling.option('--fio-json', 'fio_json')}"
        )


def document(result: Measured, *, grouped: bool = False) -> dict[str, Any]:
    """Return the document that fio would write about the run; raise OutputError if untimed.

    With ``grouped`` all initiators are one job, as with fio's ``group_reporting``.
    """
    refuse_untimed(untimed=result.untimed)
    now = time.time()
    common = {"ioengine": "flashscape"}
    jobs = [_Job(each["name"], (each["name"],), each) for each in result.summary["initiators"]]
    if grouped:
        common["group_reporting"] = "1"
        jobs = [_joined(result, jobs)]
    return {
        "fio version": f"{_LAYOUT}-flashscape-{__version__}",
        "timestamp": int(now),
        "timestamp_ms": int(now * 1000),
        "time": time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(now)),
        "global options": common,
        "jobs": [_told(result, job) for job in jobs],
    }


class _Job(NamedTuple):
    """A job of the document."""

    name: str
    initiators: tuple[str, ...]
    kinds: dict[str, dict[str, Any]]
    """Figures of each kind of request."""

    def latency(self, result: Measured, kind: str) -> Latency:
        """Return the latencies of a kind of request; there are some."""
        own = self.kinds[kind]
        edges = {key: own["latency_ns"][key] for key in ("min", "max")}
        return together.latency_of(result.latency, {**own, **edges}, self.initiators, kind)


def _joined(result: Measured, jobs: list[_Job]) -> _Job:
    """Return all jobs as one, which has the name of the first, as in fio."""
    names = tuple(job.name for job in jobs)
    # Kinds that did not occur are in the figures of each initiator only.
    return _Job(names[0], names, {**jobs[0].kinds, **result.summary["kinds"]})


def _told(result: Measured, job: _Job) -> dict[str, Any]:
    options = _options(result, job)
    none = dict.fromkeys(_TRANSFERS, 0.0)
    told = {
        "jobname": job.name,
        "groupid": 0,
        "error": 0,
        "eta": 0,
        "elapsed": math.ceil(result.summary["simulated_ns"] / 1e9),
        "job options": options,
    }
    told |= {kind: _direction(result, job, kind) for kind in _DIRECTIONS}
    told["sync"] = {
        "total_ios": job.kinds["flush"]["requests"],
        "lat_ns": _latency(result, job, "flush", detailed=True),
    }
    if job.kinds["write_zeroes"]["requests"]:
        told["write_zeroes"] = _direction(result, job, "write_zeroes")
    told |= {
        # fio adds up the times of the jobs of a group.
        "job_runtime": _milliseconds(result) * len(job.initiators),
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": dict.fromkeys(_DEPTHS, 0.0),
        "iodepth_submit": dict(none),
        "iodepth_complete": dict(none),
    }
    told |= _shares(result, job)
    told |= {
        "latency_depth": int(options.get("iodepth", 0)),
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }
    return told


def _workload(result: Measured, name: str) -> dict[str, Any]:
    """Return the configuration of an initiator; a trace's devices share that of the trace."""
    configured = {one["name"]: one for one in result.summary["config"]["workload"]}
    return configured.get(name) or configured.get(name.rpartition(".")[0]) or {}


def _options(result: Measured, job: _Job) -> dict[str, str]:
    """Return the options of fio that describe a job; of a group those that its jobs share."""
    of = [_of_workload(_workload(result, name)) for name in job.initiators]
    shared = {key: value for key, value in of[0].items() if all(o.get(key) == value for o in of)}
    # Jobs that do not differ are clones of one.
    clones = len(of) if all(each == of[0] for each in of) else 1
    return {"name": job.name, "numjobs": str(clones), **shared}


def _of_workload(workload: dict[str, Any]) -> dict[str, str]:
    """Return the settings for which fio has an option of the same meaning."""
    trace = workload.get("trace")
    options = _access(workload) if trace is None else {"read_iolog": str(trace["file"])}
    is_open = "arrivals" in workload or (trace or {}).get("mode", "closed") == "open"
    depth = workload.get("queue_depth", "none" if is_open else 1)
    if depth != "none":
        options["iodepth"] = str(depth)
    return options


def _access(workload: dict[str, Any]) -> dict[str, str]:
    """Return ``rw``, ``bs`` and the like, each if it describes the workload completely."""
    options: dict[str, str] = {}
    shares = {kind: _percent(share) for kind, share in (workload.get("mix") or {}).items()}
    if (reads := workload.get("reads")) is not None:
        shares = {"read": _percent(reads), "write": 100 - _percent(reads)}
    asked = {kind: share for kind, share in shares.items() if share}
    pattern = (workload.get("addresses") or {}).get("pattern", "uniform")
    is_sequential = pattern == "sequential"
    names = {("read",): "read", ("write",): "write", ("trim",): "trim", ("read", "write"): "rw"}
    if (rw := names.get(tuple(sorted(asked)))) is not None:
        options["rw"] = rw if is_sequential else f"rand{rw}"
        if rw == "rw":
            options["rwmixread"] = f"{asked['read']:g}"
        if pattern == "uniform":
            options["norandommap"] = "1"
    size = workload.get("size", _SIZE)
    sizes = [size.get("read"), size.get("write")] if isinstance(size, dict) else [size]
    fixed = [str(units.size_of(each)) for each in sizes if isinstance(each, str)]
    if len(fixed) == len(sizes):
        options["bs"] = ",".join(fixed)
    if (every := workload.get("flush_every")) is not None:
        options["fsync"] = str(every)
    return options


def _percent(share: str | float) -> float:
    return float(str(share).removesuffix("%"))


def _milliseconds(result: Measured) -> int:
    """Counted time; never 0, because scripts divide by it."""
    milliseconds: int = round(result.summary["counted_ns"] / 1e6)
    return max(1, milliseconds)


def _direction(result: Measured, job: _Job, kind: str) -> dict[str, Any]:
    figures = job.kinds[kind]
    seconds = result.summary["counted_ns"] / 1e9
    rate = int(figures["bytes"] / seconds) if seconds else 0
    samples = _samples(result, job, kind)
    return {
        "io_bytes": figures["bytes"],
        "io_kbytes": figures["bytes"] >> 10,
        "bw_bytes": rate,
        "bw": rate >> 10,
        "iops": figures["iops"],
        "runtime": _milliseconds(result) if figures["requests"] else 0,
        "total_ios": figures["requests"],
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": _no_latency(),
        "clat_ns": _latency(result, job, kind, detailed=True),
        "lat_ns": _latency(result, job, kind, detailed=False),
    } | _course(samples)


def _no_latency() -> dict[str, Any]:
    return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}


def _latency(result: Measured, job: _Job, kind: str, *, detailed: bool) -> dict[str, Any]:
    figures = job.kinds[kind]
    if not figures["requests"]:
        return _no_latency()
    own = figures["latency_ns"]
    latency = job.latency(result, kind)
    bins = [(min(edge, own["max"]), requests) for edge, requests in latency.buckets]
    table = {
        "min": own["min"],
        "max": own["max"],
        "mean": own["mean"],
        "stddev": _deviation(bins, own["mean"]),
        "N": figures["requests"],
    }
    if detailed:
        table["percentile"] = {f"{p:.6f}": latency.percentile(p) for p in _PERCENTILES}
        table["bins"] = {str(edge): requests for edge, requests in bins}
    return table


def _deviation(bins: _Bins, mean: float) -> float:
    """Standard deviation from the histogram, so within 0.1 %; divided by samples - 1, as in fio."""
    samples = sum(requests for _, requests in bins)
    squares = math.fsum(requests * (edge - mean) ** 2 for edge, requests in bins)
    return math.sqrt(squares / (samples - 1)) if samples > 1 else 0.0


def _samples(result: Measured, job: _Job, kind: str) -> list[tuple[float, float]]:
    """Bytes and requests a second in each whole interval that was counted.

    Empty if the figures would be those of other initiators, too.
    """
    is_all = len(job.initiators) == len(result.summary["initiators"])
    if not is_all or kind not in ("read", "write"):
        return []
    counted_from = result.summary["simulated_ns"] - result.summary["counted_ns"]
    columns = ("begin_ns", "end_ns", f"{kind}_bytes", f"{kind}s")
    rows = [row for row in result.series.select(columns).iter_rows() if row[0] >= counted_from]
    # The last interval ends with the run, so it may be shorter.
    whole = rows[:-1] if len(rows) > 1 and _length(rows[-1]) < _length(rows[0]) else rows
    return [
        (size * 1e9 / (end - begin), requests * 1e9 / (end - begin))
        for begin, end, size, requests in whole
        if end > begin
    ]


def _length(row: tuple[Any, ...]) -> int:
    return int(row[1] - row[0])


def _course(samples: list[tuple[float, float]]) -> dict[str, Any]:
    """Return the figures over the course of the run; fio has bandwidth in KiB/s here."""
    sizes = [size / 1024 for size, _ in samples]
    requests = [number for _, number in samples]
    is_any = any(requests)
    of_sizes, of_requests = (_spread(v if is_any else []) for v in (sizes, requests))
    return {
        "bw_min": round(of_sizes["min"]),
        "bw_max": round(of_sizes["max"]),
        "bw_agg": 100.0 if is_any else 0.0,
        "bw_mean": of_sizes["mean"],
        "bw_dev": of_sizes["stddev"],
        "bw_samples": of_sizes["samples"],
        "iops_min": round(of_requests["min"]),
        "iops_max": round(of_requests["max"]),
        "iops_mean": of_requests["mean"],
        "iops_stddev": of_requests["stddev"],
        "iops_samples": of_requests["samples"],
    }


def _spread(values: list[float]) -> dict[str, Any]:
    if not values:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "samples": 0}
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    deviation = math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else 0.0
    return {
        "min": min(values),
        "max": max(values),
        "mean": mean,
        "stddev": deviation,
        "samples": len(values),
    }


def _shares(result: Measured, job: _Job) -> dict[str, dict[str, float]]:
    """Percent of the reads, writes and trims whose latency falls into each of fio's ranges."""
    bins: _Bins = []
    for kind in _DIRECTIONS:
        if job.kinds[kind]["requests"]:
            bins += job.latency(result, kind).buckets
    total = sum(requests for _, requests in bins)

    def percent(low_ns: float, high_ns: float) -> float:
        inside = sum(requests for edge, requests in bins if low_ns <= edge < high_ns)
        return 100.0 * inside / total if total else 0.0

    def ranges(unit_ns: int, limits: Iterable[int], least: int) -> dict[str, float]:
        steps = pairwise((least, *limits))
        return {str(high): percent(low * unit_ns, high * unit_ns) for low, high in steps}

    milliseconds = ranges(1_000_000, (*_BELOW_1000, 2000), 1)
    milliseconds[">=2000"] = percent(2e9, math.inf)
    return {
        "latency_ns": ranges(1, _BELOW_1000, 0),
        "latency_us": ranges(1_000, _BELOW_1000, 1),
        "latency_ms": milliseconds,
    }
