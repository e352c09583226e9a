"""Expected effort of a point, for the order of points and the time left.

Only ratios count: the speed of the sweep so far converts them to seconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from flashscape.quantities import quantity

_FILL = 0.03
_AGE = 0.1
_REQUEST = 0.4
"""Microseconds of CPU time for a unit filled, a unit overwritten, and a request."""

_STARTING = 20_000.0
"""Microseconds of CPU time of any point."""

_ANSWER_NS = 200_000.0
"""Typical latency of a request, if nothing else limits the number of requests."""

_SLICE_BYTES = 4096.0


_KEEP = 0.03
_TAKE_UP = 0.005
"""Microseconds of CPU time to save a unit of a drive, and to start from a saved one."""


class Effort(NamedTuple):
    """Microseconds of CPU time, very roughly."""

    preparing: float
    """Time to fill and age the drive."""
    running: float
    """Time of the rest."""
    keeping: float
    """Time to write the drive to a file after it is filled and aged."""
    taking_up: float
    """Time to start from that file."""

    @property
    def whole(self) -> float:
        """Time of a point that prepares its own drive."""
        return self.preparing + self.running


def effort(config: dict[str, Any], derived: dict[str, Any]) -> Effort:
    """Estimate the effort of a point with this complete configuration."""
    # Each drive of an array is prepared, and may get every command.
    drives = (config.get("array") or {}).get("drives", 1)
    units = drives * derived["capacity"]["logical_units"]
    requests = drives * _requests(config, derived)
    running = _STARTING + _REQUEST * requests + _cloning(config, units)
    return Effort(_preparation(config, units), running, _KEEP * units, _TAKE_UP * units)


def _cloning(config: dict[str, Any], logical_units: int) -> float:
    """Return the time of the further ageing of a clone."""
    bounds = (config.get("clone") or {}).get("overwrites")
    if bounds is None:
        return 0.0
    share = _number(config.get("precondition", {}).get("share", "100 %"))
    mean: float = (bounds["from"] + bounds["to"]) / 2
    return _AGE * logical_units * share * mean


def _preparation(config: dict[str, Any], logical_units: int) -> float:
    wanted = config.get("precondition", {})
    if wanted.get("fill", "empty") == "empty":
        return 0.0
    units = logical_units * _number(wanted.get("share", "100 %"))
    age: float = wanted.get("age", {}).get("overwrites", 0.0)
    return float(units * (_FILL + _AGE * age))


def _requests(config: dict[str, Any], derived: dict[str, Any]) -> float:
    """Return the requests until the first limit of the run."""
    run = config["run"]
    limits = [float(run["requests"])] if "requests" in run else []
    if "bytes" in run:
        limits.append(_number(run["bytes"]) / _SLICE_BYTES)
    ends = [_of_workload(each, run, derived) for each in config["workload"]]
    known = [requests for requests in ends if requests is not None]
    if len(known) == len(ends):
        limits.append(sum(known))
    return min(limits, default=0.0)


def _of_workload(
    workload: dict[str, Any], run: dict[str, Any], derived: dict[str, Any]
) -> float | None:
    stop = workload.get("stop", {})
    limits = [float(stop["requests"])] if "requests" in stop else []
    spans = [_number(each["time"]) for each in (stop, run) if "time" in each]
    if spans:
        limits.append(min(spans) / 1e9 * _rate(workload, derived))
    if "trace" in workload and not limits:
        # The rows of a trace are not counted before it runs.
        limits.append(100_000.0)
    return min(limits, default=None)


def _rate(workload: dict[str, Any], derived: dict[str, Any]) -> float:
    """Return requests a second."""
    if "arrivals" in workload:
        return _number(workload["arrivals"]["rate"])
    depth: float | str = workload.get("queue_depth", 1)
    if isinstance(depth, str):
        # An open loop without a limit.
        depth = 1
    fastest: float = derived["limits"]["array_read_bytes_per_second"] / _SLICE_BYTES
    return min(depth * 1e9 / _ANSWER_NS, fastest)


def _number(text: str) -> float:
    found = quantity(text)
    return 1.0 if found is None else float(found.amount)
