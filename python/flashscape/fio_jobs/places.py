"""The part of the drive that a job uses: devices, files, sizes and offsets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.fio_jobs.values import Percent
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from flashscape.fio_jobs.job import Job
    from flashscape.written import Row, Value

_SECTOR = 512
_BOUNDARY = 2**20
"""Alignment of files."""

_DEVICE = re.compile(r"/dev/(?!shm/)|\\\\\.\\")
_COLON = re.compile(r"(?<!\\):")


@dataclass(frozen=True, slots=True)
class Region:
    """Part of a device or of files that a clone of a job uses."""

    where: tuple[str, ...]
    """Names of the files; one device, or files side by side."""
    is_device: bool
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Place:
    """Regions of a job's clones, and the amount of data."""

    regions: list[Region]
    limit: int | None
    """Bytes after which a clone ends, unless it runs by time; None for the size of its region."""


def of(job: Job, drive_bytes: int, least: int, *, is_random: bool) -> Place:
    """Return the regions of a job's clones, before files get addresses on the drive."""
    clones = job.whole("numjobs", 1, 1)
    why = "each clone is an initiator of its own" if clones > 1 else ""
    job.say("numjobs", Verdict.MAPPED, "workload", why)
    why = (
        "results have each initiator, and all together; for one job in fio's fields use "
        "`flashscape run FILE --fio-json FILE --group-reporting`"
    )
    job.say("group_reporting", Verdict.INERT, "", why)
    names, is_device = _names(job, is_random=is_random)
    whole = _whole(job, drive_bytes, len(names or "1"), is_device=is_device)
    offset = _amount(job, "offset", whole, least, is_device=is_device)
    step = _amount(job, "offset_increment", whole, least, is_device=is_device)
    if len(names) > 1 and (offset or step):
        job.refuse("offset", "an offset in each of several files has no counterpart here")
    regions = []
    for clone in range(clones):
        begin = offset + clone * step
        size = _size(job, whole, begin, is_device=is_device)
        if size <= 0:
            told = f"clone {clone} begins" if step else "begins"
            job.refuse(
                "offset_increment" if step else "offset", f"{told} behind the end, {whole} B"
            )
            break
        where = names or _own(job, clone)
        regions.append(Region(where, is_device, begin, size))
    return Place(regions, _limit(job, regions[0].size if regions else 0))


def _own(job: Job, clone: int) -> tuple[str, ...]:
    """Return the names of the files that fio generates for a clone."""
    return tuple(f"{job.title}.{clone}.{number}" for number in range(job.whole("nrfiles", 1, 1)))


def _names(job: Job, *, is_random: bool) -> tuple[tuple[str, ...], bool]:
    """Return the files that all clones share (none if each has its own), and True for a device."""
    text = job.text("filename")
    files = job.whole("nrfiles", 1, 1)
    folder = job.text("directory") or ""
    job.say("directory", Verdict.INERT, "", "files have no names here, and lie on the drive")
    if text is None:
        names: tuple[str, ...] = ()
        why = "files side by side, as one" if files > 1 else ""
        job.say("nrfiles", Verdict.APPROXIMATED if files > 1 else Verdict.MAPPED, "", why)
    else:
        names = tuple(f"{folder}/{name}" if folder else name for name in _COLON.split(text))
        job.say("nrfiles", Verdict.INERT, "", "filename stands beside it")
    devices = [bool(_DEVICE.match(name)) for name in names]
    several = max(len(names), files if text is None else 1)
    if several > 1 and not is_random:
        job.refuse(
            "filename" if text is not None else "nrfiles",
            "a sequential job that goes from file to file has no counterpart here; name one file",
        )
    if any(devices) and len(names) > 1:
        job.refuse("filename", "names several devices, and one drive is simulated; name one")
    is_device = any(devices)
    if is_device:
        job.say("filename", Verdict.MAPPED, "workload.region", "the drive")
    else:
        why = "files lie one behind the other, each from a multiple of 1 MiB on"
        job.say("filename", Verdict.APPROXIMATED, "workload.region", why)
        if text is None:
            job.assume("filename", "own", Verdict.APPROXIMATED, "workload.region", why)
    return names, is_device


def _whole(job: Job, drive_bytes: int, files: int, *, is_device: bool) -> int | None:
    """Return bytes of the device, or of the files by ``filesize``; None if not given."""
    fills = job.truth("fill_device")
    job.say("fill_device", Verdict.MAPPED, "workload.region", "the whole drive" if fills else "")
    if is_device:
        job.say("filesize", Verdict.INERT, "", "a device has its size")
        return drive_bytes
    if fills:
        job.refuse("fill_device", "it is unknown how much fits beside other files; give size")
    text = job.text("filesize")
    if text is None:
        return None
    if "-" in text or ":" in text:
        job.refuse("filesize", f"{text!r} lets fio draw a size; write the size of each file")
        return None
    size = job.value("filesize", job.plain_bytes, 0)
    job.say("filesize", Verdict.MAPPED, "workload.region")
    if job.text("filename") is None:
        files = job.whole("nrfiles", 1, 1)
    return size * files


def _amount(job: Job, name: str, whole: int | None, least: int, *, is_device: bool) -> int:
    """Return an offset in bytes: shares are of the whole, rounded up to requests."""
    found = job.size(name)
    align = job.size("offset_align") or least
    job.say("offset_align", Verdict.MAPPED, "workload.region")
    job.say(name, Verdict.MAPPED, "workload.region")
    if not isinstance(found, Percent):
        return found or 0
    if whole is None or isinstance(align, Percent):
        job.refuse(name, "is a share of a file whose size is not given; write it in bytes")
        return 0
    return -(-(whole * found.number // 100) // align) * align


def _size(job: Job, whole: int | None, begin: int, *, is_device: bool) -> int:
    """Return the bytes of a region from ``begin`` on."""
    found = job.size("size")
    left = None if whole is None else whole - begin
    if whole is not None and not is_device:
        job.say("size", Verdict.INERT, "", "filesize stands beside it; it says how much is asked")
        return whole - begin
    job.say("size", Verdict.MAPPED, "workload.region")
    if isinstance(found, Percent):
        if whole is None or left is None:
            job.refuse("size", "is a share of a file whose size is not given; write it in bytes")
            return _SECTOR
        return min(whole * found.number // 100, left) // _SECTOR * _SECTOR
    if found is not None:
        return found
    if left is None:
        job.refuse(
            "size", "is missing: fio takes the size of the existing file, which is unknown here"
        )
        return _SECTOR
    why = "fio takes the whole device"
    job.assume("size", "all", Verdict.MAPPED, "workload.region", why)
    return left // _SECTOR * _SECTOR


def _limit(job: Job, region: int) -> int | None:
    """Return the bytes that a clone asks for: ``io_size``, else ``size``; None for its region."""
    asked = job.size("io_size")
    job.say("io_size", Verdict.MAPPED, "workload.stop.bytes")
    if isinstance(asked, Percent):
        return region * asked.number // 100
    if asked is not None:
        return asked
    size = job.size("size")
    return size if isinstance(size, int) else None


def laid_out(places: list[tuple[Job, Place]], drive_bytes: int) -> dict[tuple[str, ...], int]:
    """Assign addresses on the drive to every device and file, in the order of the jobs."""
    found: dict[tuple[str, ...], int] = {}
    owners: dict[str, tuple[str, ...]] = {}
    lengths: dict[tuple[str, ...], int] = {}
    jobs: dict[tuple[str, ...], Job] = {}
    kinds = {region.is_device for _, place in places for region in place.regions}
    for job, place in places:
        for region in place.regions:
            key = region.where
            lengths[key] = max(lengths.get(key, 0), region.offset + region.size)
            jobs.setdefault(key, job)
            shared = [name for name in key if owners.setdefault(name, key) != key]
            if shared:
                job.refuse("filename", f"shares {shared[0]} with another job, and not all files")
    if len(kinds) > 1:
        places[0][0].refuse(
            "filename",
            "some jobs use a device and others files, whose places on it are unknown; import "
            "one kind at a time with --section JOB",
        )
    if True in kinds and len(lengths) > 1:
        names = " and ".join(name for key in lengths for name in key)
        places[-1][0].refuse(
            "filename",
            f"the jobs use {names}, and one drive is simulated; import one at a time "
            "with --section JOB",
        )
    at = 0
    for key, length in lengths.items():
        found[key] = at
        if at + length > drive_bytes:
            jobs[key].refuse(
                "size",
                f"the region ends at {written.size(at + length)}, and the drive exports "
                f"{written.size(drive_bytes)}; take a larger drive (--drive, --set) or a smaller "
                "size",
            )
            break
        at = -(-(at + length) // _BOUNDARY) * _BOUNDARY
    return found


def row(job: Job, region: Region, base: int, drive_bytes: int) -> list[Row]:
    """Return ``region`` of a workload; none for the whole drive."""
    if base + region.offset == 0 and region.size == drive_bytes:
        return []
    names = ("filename", "size", "offset", "offset_increment", "filesize")
    for name in names:
        text = job.text(name)
        if text is not None and (region.offset % _SECTOR or region.size % _SECTOR):
            job.refuse(name, "parts of a drive begin and end at multiples of 512 B")
            return []
    table: dict[str, Value] = {
        "offset": written.size(base + region.offset),
        "size": written.size(region.size),
    }
    return [job.row("region", table, *names)]
