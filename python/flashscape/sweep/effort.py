"""How much work a point is likely to be: for the order of points and the time that is left.

Only ratios count: what a sweep has measured so far turns them into seconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from flashscape.quantities import quantity

_FILL = 0.03
_AGE = 0.1
_REQUEST = 0.4
"""Microseconds of CPU time for a unit filled, a unit overwritten, and a request."""

_STARTING = 20_000.0
"""Microseconds that any point takes."""

_ANSWER_NS = 200_000.0
"""About how long a request takes, where nothing else says how many there will be."""

_SLICE_BYTES = 4096.0


_KEEP = 0.03
_TAKE_UP = 0.005
"""Microseconds of CPU time to keep a unit of a drive, and to start from one that was kept."""


class Effort(NamedTuple):
    """Microseconds of CPU time, very roughly."""

    preparing: float
    """To fill and age the drive."""
    running: float
    """All the rest."""
    keeping: float
    """To write the drive to a file once it is filled and aged."""
    taking_up: float
    """To start from that file."""

    @property
    def whole(self) -> float:
        """Of a point that does all of it itself."""
        return self.preparing + self.running


def effort(config: dict[str, Any], derived: dict[str, Any]) -> Effort:
    """How much work a point with this complete configuration is likely to be."""
    units = derived["capacity"]["logical_units"]
    running = _STARTING + _REQUEST * _requests(config, derived)
    return Effort(_preparation(config, units), running, _KEEP * units, _TAKE_UP * units)


def _preparation(config: dict[str, Any], logical_units: int) -> float:
    wanted = config.get("precondition", {})
    if wanted.get("fill", "empty") == "empty":
        return 0.0
    units = logical_units * _number(wanted.get("share", "100 %"))
    age: float = wanted.get("age", {}).get("overwrites", 0.0)
    return float(units * (_FILL + _AGE * age))


def _requests(config: dict[str, Any], derived: dict[str, Any]) -> float:
    """Requests until the first limit of the run."""
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
        # Its rows are not counted before it runs.
        limits.append(100_000.0)
    return min(limits, default=None)


def _rate(workload: dict[str, Any], derived: dict[str, Any]) -> float:
    """Requests a second."""
    if "arrivals" in workload:
        return _number(workload["arrivals"]["rate"])
    depth: float = workload.get("queue_depth", 1)
    fastest: float = derived["limits"]["array_read_bytes_per_second"] / _SLICE_BYTES
    return min(depth * 1e9 / _ANSWER_NS, fastest)


def _number(text: str) -> float:
    found = quantity(text)
    return 1.0 if found is None else float(found.amount)
