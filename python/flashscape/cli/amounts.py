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
    share = _share_of_writes(workload)
    size, is_aligned = _size(workload, experiment.derived["capacity"]["mapping_unit_bytes"])
    times = [] if run["untimed"] else [stop.get("time"), run.get("time")]
    seconds = min((_amount(time) / 1e9 for time in times if time), default=math.inf)
    requests = min(
        stop.get("requests", math.inf),
        run.get("requests", math.inf),
        # The last request may pass the limit.
        _amount(stop["bytes"]) / size + 1 if "bytes" in stop else math.inf,
        _rate(experiment, workload, share, size) * _active(workload, seconds),
    )
    if not share:
        return Written(requests, 0, 0, is_bound=True, is_aligned=is_aligned)
    # A drive may have a link that takes no time.
    rate = experiment.derived["limits"]["link_bytes_per_second"]
    programmed = min(requests * share * size, math.inf if rate is None else rate * seconds)
    return Written(requests, requests * share, programmed, is_bound=True, is_aligned=is_aligned)


def _amount(text: str | int) -> float:
    found = quantity(text)
    return float(text) if found is None else float(found.amount)


def _share_of_writes(workload: Mapping[str, Any]) -> float:
    if "mix" in workload:
        return sum((_amount(workload["mix"].get(kind, "0 %")) for kind in _WRITES), 0.0)
    return 1 - _amount(workload["reads"])


def _size(workload: Mapping[str, Any], unit: int) -> tuple[float, bool]:
    """Return the mean size of requests, and True if they all cover whole mapping units."""
    size = workload.get("size", _DEFAULT_SIZE)
    if isinstance(size, dict):
        # Sizes are rounded up.
        return _amount(size["mean"]) + _amount(size.get("round_up_to", _DEFAULT_SIZE)), False
    entries = size if isinstance(size, list) else [{"size": size, "share": "100 %"}]
    sizes = [_amount(entry["size"]) for entry in entries]
    mean = sum(_amount(entry["share"]) * size for entry, size in zip(entries, sizes, strict=True))
    begin = _offset(workload)
    steps = [*sizes, _amount(workload.get("align", min(sizes))), begin]
    return mean, all(step % unit == 0 for step in steps)


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


def _rate(experiment: Experiment, workload: Mapping[str, Any], share: float, size: float) -> float:
    """Return requests a second, at most."""
    if "arrivals" in workload:
        return _amount(str(workload["arrivals"]["rate"]))
    think = workload.get("think_time", "0 s")
    pause = _amount(think["mean"] if isinstance(think, dict) else think)
    least = pause + _least_ns(experiment, workload, share, size)
    # A closed loop has a number.
    depth = int(workload.get("queue_depth", 1))
    return math.inf if least == 0 else depth * 1e9 / least


def _least_ns(
    experiment: Experiment, workload: Mapping[str, Any], share: float, size: float
) -> float:
    """Return the mean time of a request on an idle drive, at least, in nanoseconds."""
    drive, derived = experiment.config["drive"], experiment.derived
    reads = _amount(workload["mix"].get("read", "0 %")) if "mix" in workload else 1 - share
    read, write = (_amount(drive["firmware"][kind]) for kind in ("read", "write"))
    region = _bytes_of_region(workload, derived["capacity"]["exported_bytes"])
    is_on_flash = experiment.config["precondition"]["fill"] != "empty"
    if is_on_flash and region > _FROM_BUFFER * _amount(drive["buffer"]["size"]):
        read += min(derived["durations_ns"]["sense_by_page_type"])
    on_link: float = size / derived["limits"]["link_bytes_per_second"] * 1e9
    return reads * (read + on_link) + share * (write + on_link)
