"""The part of the drive that a job uses: devices, files, sizes and offsets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashscape import spelling, written
from flashscape.fio_jobs import ways
from flashscape.fio_jobs.region import Region
from flashscape.fio_jobs.values import Percent
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from flashscape.fio_jobs.job import Job
    from flashscape.fio_jobs.load import Load
    from flashscape.written import Row, Value

_SECTOR = 512
_BOUNDARY = 2**20
"""Alignment of files."""

_DEVICE = re.compile(r"/dev/(?!shm/)|\\\\\.\\")
_COLON = re.compile(r"(?<!\\):")


@dataclass(frozen=True, slots=True)
class Place:
    """Regions of a job's clones, and the amount of data."""

    regions: list[Region]
    is_device: bool
    limit: int | None
    """Bytes after which a clone ends by ``io_size``; None if it ends with a pass or ``size``."""
    size: int | None
    """Bytes after which a clone ends by ``size``, if it is given in bytes."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A device or files."""

    names: tuple[str, ...]
    """Names that all clones share; none if each clone has its own files."""
    is_device: bool
    files: int
    real: int | None
    """Bytes of the device, or of the files by ``filesize``; None if not given."""
    cap: int | None
    """Bytes that ``filesize`` leaves of the device or files."""


def of(job: Job, drive_bytes: int, load: Load) -> Place:
    """Return the regions of a job's clones, before files get addresses on the drive."""
    clones = job.whole("numjobs", 1, 1)
    why = "each clone is an initiator of its own" if clones > 1 else ""
    job.say("numjobs", Verdict.MAPPED, "workload", why)
    use = spelling.option(
        "`flashscape run FILE --fio-json FILE --group-reporting`",
        "flashscape.run(..., fio_json=..., group_reporting=True)",
    )
    why = f"results have each initiator, and all together; for one job in fio's fields use {use}"
    job.say("group_reporting", Verdict.INERT, "", why)
    target = _target(job, drive_bytes, is_random=load.order.is_random)
    regions = []
    for clone in range(clones):
        begin = _begin(job, target, clone, load.sizes.least)
        if target.cap is not None and begin >= target.cap:
            _refuse_begin(job, clone, target.cap)
            break
        size = _size(job, target, begin, load.sizes.least)
        if size is None:
            break
        regions.append(_region(job, target, clone, begin, size, load))
    least = load.sizes.first.least
    if load.sizes.is_fixed and regions and not regions[0].requests:
        is_cut = target.cap is not None and target.cap - regions[0].offset < least
        name = _by(job, "filesize", "size") if is_cut else "size"
        job.refuse(name, f"leaves no room for a request of {written.size(least)}; write more")
    return Place(regions, target.is_device, *_limits(job, regions[0].size if regions else 0))


def _by(job: Job, *names: str) -> str:
    """Return the first of the options that is given; the first of all if none is."""
    return next((name for name in names if job.has(name)), names[0])


def _refuse_begin(job: Job, clone: int, end: int) -> None:
    step = job.has("offset_increment")
    told = f"clone {clone} begins" if step else "begins"
    job.refuse(
        "offset_increment" if step else "offset",
        f"{told} behind the end, {written.size(end)}; write a smaller one",
    )


def _region(job: Job, target: _Target, clone: int, begin: int, size: int, load: Load) -> Region:
    """Return the part that the requests of a clone cover.

    fio makes whole requests. Those of a sequential job may end behind ``size``, if the device is
    larger, and those of a random one end inside.
    """
    where = target.names or _own(job, clone)
    if begin % _SECTOR:
        name = "offset" if job.has("offset") and clone == 0 else "offset_increment"
        job.refuse(
            name,
            f"the job begins at {begin:,} B, which is no multiple of 512 B, the sector of a drive; "
            f"write {begin // _SECTOR * _SECTOR} or {-(-begin // _SECTOR) * _SECTOR}",
        )
    if not load.sizes.is_fixed:
        return Region(where, begin, size // _SECTOR * _SECTOR, 0)
    least = load.sizes.first.least
    if load.order.is_random:
        return Region(where, begin, size // _SECTOR * _SECTOR, size // least)
    stride = least + load.order.gap
    requests = -(-size // stride)
    # The end of a device, or of the files as fio makes them.
    end = size if target.real is None else target.real - begin
    if not target.is_device:
        end = min(end, size)
    if (requests - 1) * stride + least > end:
        requests -= 1
    if requests == 1 and load.order.gap:
        # Each pass asks for the same place.
        return Region(where, begin, least, 1)
    covered = (requests - 1) * stride + least if requests else 0
    return Region(where, begin, max(covered, size // _SECTOR * _SECTOR), requests)


def _own(job: Job, clone: int) -> tuple[str, ...]:
    """Return the names of the files that fio generates for a clone."""
    return tuple(f"{job.title}.{clone}.{number}" for number in range(job.whole("nrfiles", 1, 1)))


def _target(job: Job, drive_bytes: int, *, is_random: bool) -> _Target:
    """Return the device or the files of a job."""
    text = job.text("filename")
    nrfiles = job.whole("nrfiles", 1, 1)
    folder = job.text("directory") or ""
    job.say("directory", Verdict.INERT, "", "files have no names here, and lie on the drive")
    if text is None:
        names: tuple[str, ...] = ()
        why = "files side by side, as one" if nrfiles > 1 else ""
        job.say("nrfiles", Verdict.APPROXIMATED if nrfiles > 1 else Verdict.MAPPED, "", why)
    else:
        names = tuple(f"{folder}/{name}" if folder else name for name in _COLON.split(text))
        job.say("nrfiles", Verdict.INERT, "", "filename stands beside it")
    files = len(names) or nrfiles
    if files > 1 and not is_random:
        job.refuse(
            "filename" if names else "nrfiles",
            "a sequential job that goes from file to file has no counterpart here; name one file",
        )
    is_device = any(_DEVICE.match(name) for name in names)
    if is_device and len(names) > 1:
        job.refuse("filename", "names several devices, and one drive is simulated; name one")
    if is_device:
        job.say("filename", Verdict.MAPPED, "workload.region", "the drive")
    else:
        why = "regions of files lie one behind the other, each from a multiple of 1 MiB on"
        job.say("filename", Verdict.APPROXIMATED, "workload.region", why)
        if not names:
            job.assume("filename", "own", Verdict.APPROXIMATED, "workload.region", why)
    for name in ("offset", "offset_increment"):
        if files > 1 and job.size(name):
            told = "an offset in each of several files has no counterpart here; take it out"
            job.refuse(name, told)
    own = _filesize(job, files)
    fills = job.truth("fill_device")
    job.say("fill_device", Verdict.MAPPED, "workload.region", "the whole drive" if fills else "")
    if fills and not is_device:
        job.refuse("fill_device", "it is unknown how much fits beside other files; give size")
    if not is_device:
        return _Target(names, False, files, own, own)
    return _Target(names, True, 1, drive_bytes, drive_bytes if own is None else own)


def _filesize(job: Job, files: int) -> int | None:
    """Return the bytes of all files by ``filesize``, which bounds a device, too."""
    text = job.text("filesize")
    if text is None:
        return None
    if "-" in text or ":" in text:
        job.refuse("filesize", f"{text!r} lets fio draw a size; write the size of each file")
        return None
    size = job.value("filesize", job.plain_bytes, 0)
    job.say("filesize", Verdict.MAPPED, "workload.region")
    return size * files or None


def _begin(job: Job, target: _Target, clone: int, least: int) -> int:
    """Return the first byte of a clone. If there is a share in it, fio rounds it up to requests."""
    amounts = {}
    for name in ("offset", "offset_increment"):
        found = job.size(name) or 0
        job.say(name, Verdict.MAPPED, "workload.region")
        if not isinstance(found, Percent):
            amounts[name] = found
            continue
        if target.real is None:
            job.refuse(name, "is a share of a file whose size is not given; write it in bytes")
            return 0
        if not target.is_device:
            why = "of the file; fio takes 0 bytes if it makes the file itself"
            job.say(name, Verdict.APPROXIMATED, "workload.region", why)
        amounts[name] = target.real * found.number // 100
    begin = amounts["offset"] + clone * amounts["offset_increment"]
    shares = [isinstance(job.size(name), Percent) for name in amounts]
    align = job.value("offset_align", job.plain_bytes, 0) or least
    told = "rounds shares" if any(shares) else "no offset is a share"
    job.say("offset_align", Verdict.MAPPED if any(shares) else Verdict.INERT, "", told)
    return -(-begin // align) * align if any(shares) else begin


def _size(job: Job, target: _Target, begin: int, least: int) -> int | None:
    """Return the bytes of a clone's part from ``begin`` on, as fio counts them; None if refused."""
    found = job.size("size")
    job.say("size", Verdict.MAPPED, "workload.region")
    left = None if target.cap is None else target.cap - begin
    if isinstance(found, Percent):
        if left is None:
            job.refuse("size", "is a share of a file whose size is not given; write it in bytes")
            return None
        share = min((target.cap or 0) * found.number // 100, left)
        return share if found.number == 100 else share // least * least
    if job.text("filesize") is not None and left is not None:
        why = "filesize stands beside it, and gives the region; size ends the job"
        job.say("size", Verdict.MAPPED, "workload.stop.bytes", why)
        return left
    if found is not None:
        return found
    if job.is_refused("size"):
        return None
    if left is None:
        job.refuse(
            "size",
            "is missing: fio takes the size of the existing file, which is unknown here; write "
            "size=1g or another, or filename=/dev/nvme0n1 for the whole drive",
        )
        return None
    job.assume("size", "all", Verdict.MAPPED, "workload.region", "fio takes the whole device")
    return left


def _limits(job: Job, region: int) -> tuple[int | None, int | None]:
    """Return the bytes that ``io_size`` and ``size`` let a clone ask for."""
    asked, size = job.size("io_size"), job.size("size")
    job.say("io_size", Verdict.MAPPED, "workload.stop.bytes")
    if isinstance(asked, Percent):
        asked = region * asked.number // 100
    return asked, size if isinstance(size, int) else None


def laid_out(places: list[tuple[Job, Place]], drive_bytes: int) -> dict[tuple[str, ...], int]:
    """Assign addresses on the drive to every device and file, in the order of the jobs."""
    found: dict[tuple[str, ...], int] = {}
    owners: dict[str, tuple[str, ...]] = {}
    lengths: dict[tuple[str, ...], int] = {}
    last: dict[tuple[str, ...], tuple[Job, Region]] = {}
    for job, place in places:
        for region in place.regions:
            key = region.where
            end = region.offset + region.size
            if end > lengths.get(key, 0):
                lengths[key], last[key] = end, (job, region)
            shared = [name for name in key if owners.setdefault(name, key) != key]
            if shared:
                told = f"shares {shared[0]} with another job, and not all files"
                job.refuse("filename", f"{told}; import one at a time with {ways.section()}")
    _refuse_mixed(places, list(lengths))
    at = 0
    for key, length in lengths.items():
        found[key] = at
        if at + length > drive_bytes:
            job, region = last[key]
            is_behind = region.offset >= drive_bytes
            sizes, offsets = ("size", "filesize"), ("offset", "offset_increment")
            names = (*offsets, *sizes) if is_behind else (*sizes, *offsets)
            job.refuse(
                _by(job, *names),
                f"the region ends at {written.size(at + length)}, and the drive exports "
                f"{written.size(drive_bytes)}; take a larger drive "
                f"({spelling.option('--drive, --set', 'drive, overrides')}) or a smaller "
                f"{'offset' if is_behind else 'size'}",
            )
            break
        at = -(-(at + length) // _BOUNDARY) * _BOUNDARY
    return found


def _refuse_mixed(places: list[tuple[Job, Place]], keys: list[tuple[str, ...]]) -> None:
    """Refuse devices beside files, and several devices."""
    kinds = {place.is_device for _, place in places if place.regions}
    if len(kinds) > 1:
        places[0][0].refuse(
            "filename",
            "some jobs use a device and others files, whose places on it are unknown; import "
            f"one kind at a time with {ways.section()}",
        )
    if True in kinds and len(keys) > 1:
        names = " and ".join(name for key in keys for name in key)
        places[-1][0].refuse(
            "filename",
            f"the jobs use {names}, and one drive is simulated; import one at a time "
            f"with {ways.section()}",
        )


def row(job: Job, region: Region, base: int, drive_bytes: int) -> list[Row]:
    """Return ``region`` of a workload; none for the whole drive."""
    if base + region.offset == 0 and region.size == drive_bytes:
        return []
    names = ("filename", "size", "offset", "offset_increment", "filesize")
    table: dict[str, Value] = {
        "offset": written.size(base + region.offset),
        "size": written.size(region.size),
    }
    return [job.row("region", table, *names)]
