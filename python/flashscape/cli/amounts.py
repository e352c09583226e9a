"""Bytes that workloads write: read from a trace's announcement, or bounded from the configuration.

A closed loop has no rate. Its requests are bounded by its queue: each of them takes at least
the time of its commands on an idle drive. Written bytes are also bounded by the link.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape.quantities import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashscape.experiment import Experiment

_KIND = re.compile(
    r"^  ([a-z_]{1,12}) *([0-9,]+) \([0-9.]+ %\), (\d+) B in the mean$", re.MULTILINE
)
"""Line of a trace's announcement: a kind, its requests, and their mean size."""

_DEVICE = re.compile(r"^  device .*\bbytes \d+ to (\d+)", re.MULTILINE)
"""Line of an announcement with the addresses of a device."""

_PART = re.compile(r"^  not read whole", re.MULTILINE)
"""Line of an announcement of a trace whose first rows alone were read."""

_WRITES = frozenset({"write", "write_zeroes"})
"""Kinds that program mapping units: zeroes only those that they cover in part."""

_FROM_BUFFER = 64
"""Ratio of region and buffer below which reads may come from the buffer, at no flash time."""

_DEFAULT_SIZE = 4096
_SHARE_ALIGNMENT = 4096
"""Bytes to whose multiples a region that is a share of the drive is rounded."""


class Written(NamedTuple):
    """Requests of a workload."""

    requests: float
    """Requests of all kinds."""
    writes: float
    """Writes and write-zeroes."""
    bytes: float
    """Bytes of the writes; of a trace to within half a byte a request."""
    end: float = math.inf
    """Address that none of its requests passes; infinite if it is not known."""
    is_bound: bool = False
    """True if the numbers are upper bounds."""
    is_aligned: bool = False
    """True if each write covers whole mapping units."""


def written(announcement: str, repeat: int = 1) -> Written:
    """Read an announcement of a trace that is played ``repeat`` times."""
    kinds = [
        (kind, int(many.replace(",", "")), int(mean))
        for kind, many, mean in _KIND.findall(announcement)
    ]
    ends = [int(end) for end in _DEVICE.findall(announcement)]
    are_all = ends and not announcement.count(" more devices")
    return Written(
        repeat * sum(many for _, many, _ in kinds),
        repeat * sum(many for kind, many, _ in kinds if kind in _WRITES),
        repeat * sum(many * mean for kind, many, mean in kinds if kind == "write"),
        sum(ends) if are_all else math.inf,
    )


def of_workloads(experiment: Experiment, announcements: list[str]) -> list[Written] | None:
    """Return what each workload writes; None if that is not known of all.

    ``announcements`` are those of the traces, in the order of the workloads.
    """
    found, texts = [], iter(announcements)
    for workload in experiment.config["workload"]:
        if "trace" not in workload:
            found.append(bound(experiment, workload))
            continue
        text = next(texts, "not read")
        if not _KIND.search(text) or _PART.search(text):
            return None
        found.append(written(text, workload["trace"].get("repeat", 1)))
    return found


def bound(experiment: Experiment, workload: Mapping[str, Any]) -> Written:
    """Return upper bounds of what a synthetic workload asks for; infinite if there are none."""
    run, stop = experiment.config["run"], workload.get("stop", {})
    shares = _shares(workload)
    share = sum(shares.get(kind, 0) for kind in _WRITES)
    is_aligned = _are_aligned(workload, experiment.derived["capacity"]["mapping_unit_bytes"])
    asked = sum(part * _mean(workload, kind) for kind, part in shares.items() if kind != "flush")
    times = [] if run["untimed"] else [stop.get("time"), run.get("time")]
    seconds = min((_amount(time) / 1e9 for time in times if time), default=math.inf)
    requests = min(
        stop.get("requests", math.inf),
        run.get("requests", math.inf),
        # The last request may pass the limit.
        _amount(stop["bytes"]) / asked + 1 if "bytes" in stop and asked else math.inf,
        _rate(experiment, workload, shares) * _active(workload, seconds),
    )
    if not share:
        return Written(requests, 0, 0, is_bound=True, is_aligned=is_aligned)
    # A drive may have a link that takes no time.
    rate = experiment.derived["limits"]["link_bytes_per_second"]
    size = sum(shares.get(kind, 0) * _mean(workload, kind) for kind in _WRITES)
    programmed = min(requests * size, math.inf if rate is None else rate * seconds)
    return Written(requests, requests * share, programmed, is_bound=True, is_aligned=is_aligned)


def _amount(text: str | int) -> float:
    found = quantity(text)
    return float(text) if found is None else float(found.amount)


def _mean(workload: Mapping[str, Any], kind: str) -> float:
    """Return the mean size of requests of a kind; 0 if it has none."""
    size = _of_kind(workload.get("size", _DEFAULT_SIZE), kind)
    if isinstance(size, dict):
        # Sizes are rounded up.
        return _amount(size["mean"]) + _amount(size.get("round_up_to", _DEFAULT_SIZE))
    entries = size if isinstance(size, list) else [{"size": size, "share": "100 %"}]
    return sum(_amount(entry["share"]) * _amount(entry["size"]) for entry in entries)


def _are_aligned(workload: Mapping[str, Any], unit: int) -> bool:
    """Return True if all writes cover whole mapping units."""
    begin = _offset(workload)
    for kind in _shares(workload).keys() & _WRITES:
        size = _of_kind(workload.get("size", _DEFAULT_SIZE), kind)
        if isinstance(size, dict):
            return False
        entries = size if isinstance(size, list) else [{"size": size}]
        sizes = [_amount(entry["size"]) for entry in entries]
        given = _of_kind(workload.get("align"), kind)
        align = _amount(given) if given else min(sizes)
        if any(step % unit for step in (*sizes, align, begin)):
            return False
    return True


def _of_kind(setting: Any, kind: str) -> Any:
    """Return a setting for a kind: the one for all, or its own (0 if there is none)."""
    is_by_kind = isinstance(setting, dict) and "mean" not in setting
    return setting.get(kind, 0) if is_by_kind else setting


def _shares(workload: Mapping[str, Any]) -> dict[str, float]:
    """Return the share of each kind that a workload asks for."""
    reads = _amount(workload.get("reads", "0 %"))
    given = {kind: _amount(share) for kind, share in workload.get("mix", {}).items()}
    shares = given or {"read": reads, "write": 1 - reads}
    return {kind: share for kind, share in shares.items() if share}


def _offset(workload: Mapping[str, Any]) -> float:
    """Return the first byte of the region; that of a share is a multiple of 4 KiB."""
    offset = workload.get("region", {}).get("offset", "0 B")
    return _SHARE_ALIGNMENT if offset.endswith("%") else _amount(offset)


def _bytes_of_region(workload: Mapping[str, Any], exported: int) -> float:
    size = workload.get("region", {}).get("size", exported)
    is_share = isinstance(size, str) and size.endswith("%")
    return _amount(size) * exported if is_share else _amount(size)


def _active(workload: Mapping[str, Any], seconds: float) -> float:
    """Return the seconds in which requests may arrive, of so many."""
    bursts = workload.get("bursts")
    if bursts is None or seconds == math.inf:
        return seconds
    on, off = (_amount(bursts[phase]) / 1e9 for phase in ("on", "off"))
    return min(seconds, on * math.ceil(seconds / (on + off)))


def _rate(
    experiment: Experiment, workload: Mapping[str, Any], shares: Mapping[str, float]
) -> float:
    """Return requests a second, at most."""
    if "arrivals" in workload:
        return _amount(str(workload["arrivals"]["rate"]))
    think = workload.get("think_time", "0 s")
    pause = _amount(think["mean"] if isinstance(think, dict) else think)
    least = pause + _least_ns(experiment, workload, shares)
    # A closed loop has a number.
    depth = int(workload.get("queue_depth", 1))
    return math.inf if least == 0 else depth * 1e9 / least


def _least_ns(
    experiment: Experiment, workload: Mapping[str, Any], shares: Mapping[str, float]
) -> float:
    """Return the mean time of a request on an idle drive, at least, in nanoseconds."""
    drive, derived = experiment.config["drive"], experiment.derived
    read, write = (_amount(drive["firmware"][kind]) for kind in ("read", "write"))
    region = _bytes_of_region(workload, derived["capacity"]["exported_bytes"])
    is_on_flash = experiment.config["precondition"]["fill"] != "empty"
    if is_on_flash and region > _FROM_BUFFER * _amount(drive["buffer"]["size"]):
        read += min(derived["durations_ns"]["sense_by_page_type"])
    link = derived["limits"]["link_bytes_per_second"] or math.inf
    times = {"read": read, "write": write, "write_zeroes": write}
    return sum(
        shares.get(kind, 0) * (time + _mean(workload, kind) / link * 1e9)
        for kind, time in times.items()
    )
