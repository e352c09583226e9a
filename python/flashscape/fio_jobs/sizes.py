"""Sizes of requests: ``bs``, ``bsrange`` and ``bssplit``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.fio_jobs import values
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape.fio_jobs.job import Job
    from flashscape.written import Row, Value

DEFAULT = 4096
SECTOR = 512
_PAGE = 4096
"""Unit in which a file system of Linux writes."""
_MOST = 1024
"""Most different sizes of a range."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of one direction, with the share of requests of each."""

    entries: tuple[tuple[int, Fraction], ...]
    name: str
    """Option that gives the sizes."""

    @property
    def mean(self) -> Fraction:
        """The mean size in bytes."""
        return sum((size * share for size, share in self.entries), Fraction())

    @property
    def least(self) -> int:
        """The smallest size."""
        return min(size for size, _ in self.entries)

    @property
    def step(self) -> int:
        """The largest number of bytes of which all sizes are multiples."""
        return math.gcd(*(size for size, _ in self.entries))

    @property
    def is_fixed(self) -> bool:
        """True if all requests have one size."""
        return len(self.entries) == 1

    def value(self) -> Value:
        """The sizes as a configuration has them."""
        if self.is_fixed:
            return written.size(self.entries[0][0])
        shares = values.percents([share for _, share in self.entries])
        entries: list[dict[str, Value]] = [
            {"size": written.size(size), "share": share}
            for (size, _), share in zip(self.entries, shares, strict=True)
        ]
        return entries


@dataclass(frozen=True, slots=True)
class BySize:
    """Sizes of the directions of a job."""

    used: dict[int, Sizes]
    """Sizes of each direction that the job has."""
    all: list[Sizes]
    """Sizes of each direction, also of those that the job does not have."""

    @property
    def least(self) -> int:
        """The smallest size of any direction: fio rounds shares of a device to it."""
        return min(sizes.least for sizes in self.all)

    @property
    def first(self) -> Sizes:
        """Sizes of the first direction."""
        return next(iter(self.used.values()))

    @property
    def are_alike(self) -> bool:
        """True if all directions have the same sizes."""
        return all(sizes.entries == self.first.entries for sizes in self.used.values())

    @property
    def is_fixed(self) -> bool:
        """True if all requests have one size."""
        return self.are_alike and self.first.is_fixed

    @property
    def names(self) -> list[str]:
        """Options that give the sizes."""
        return list(dict.fromkeys(sizes.name for sizes in self.used.values()))

    def row(self, job: Job, *, is_by_kind: bool) -> Row:
        """Return ``size`` of a workload: for all kinds, or for each."""
        if not is_by_kind:
            return job.row("size", self.first.value(), *self.names)
        table = {values.DIRECTIONS[at]: sizes.value() for at, sizes in self.used.items()}
        return job.row("size", table, *self.names)


def of(job: Job, directions: list[int]) -> BySize:
    """Return the sizes of a job; record a fault if one is no multiple of a sector."""
    found = [_of_direction(job, direction) for direction in range(len(values.DIRECTIONS))]
    for direction, sizes in enumerate(found):
        odd = next((size for size, _ in sizes.entries if size % SECTOR or not size), None)
        if odd is not None and direction in directions:
            job.refuse(sizes.name, _refused(job, sizes.name, odd))
        if odd == 0:
            found[direction] = Sizes(((DEFAULT, Fraction(1)),), sizes.name)
    whole = BySize({direction: found[direction] for direction in directions}, found)
    for name in ("bs", "bsrange", "bssplit"):
        if name in whole.names:
            job.say(name, Verdict.MAPPED, "workload.size", _unused(job, name, directions))
        else:
            job.say(name, Verdict.INERT, "", f"{' and '.join(whole.names)} comes before it")
    if "bs" in whole.names:
        job.assume("bs", "4k", Verdict.MAPPED, "workload.size", "fio's default")
    return whole


def _refused(job: Job, name: str, odd: int) -> str:
    """Return the reason against a size, and what to write instead."""
    told = f"{odd:,} B is no multiple of 512 B, the sector of a drive"
    if not odd:
        return "a request has at least 512 B; write 4k"
    if job.truth("direct"):
        return f"{told}; write {-(-odd // SECTOR) * SECTOR}"
    pages = -(-odd // _PAGE) * _PAGE
    entry = f"{name}={pages // 1024}k" if name == "bs" else f"{pages // 1024}k"
    return (
        f"{told}; without direct=1 the page cache sends whole pages of 4 KiB to it: write {entry}"
    )


def _unused(job: Job, name: str, directions: list[int]) -> str:
    """Return a note if values are given for directions that the job does not use."""
    if "," not in (job.text(name) or "") or len(directions) > 1:
        return ""
    return f"the value for {values.DIRECTIONS[directions[0]]}s; the job has no others"


def _of_direction(job: Job, direction: int) -> Sizes:
    readers: tuple[tuple[str, Callable[[Job, str], Sizes]], ...] = (
        ("bssplit", _split),
        ("bsrange", _range),
        ("bs", _one),
    )
    for name, read in readers:
        texts = job.value(name, values.directions, ("", "", ""))
        if texts[direction]:
            try:
                return read(job, texts[direction])
            except values.RefusedError as refused:
                job.refuse(name, str(refused))
    return Sizes(((DEFAULT, Fraction(1)),), "bs")


def _one(job: Job, text: str) -> Sizes:
    return Sizes(((job.plain_bytes(text), Fraction(1)),), "bs")


def _range(job: Job, text: str) -> Sizes:
    """Return every multiple of the least up to the most, as often as fio's formula draws it.

    fio draws evenly from an interval that begins at the least and is as long as the most, rounds
    down to a multiple of the least, and caps at the most (get_next_buflen in io_u.c).
    """
    ends = text.replace(":", "-").split("-")
    if len(ends) != 2:
        raise values.RefusedError(f"{text!r} is no range; write one such as 4k-64k")
    least, most = sorted(map(job.plain_bytes, ends))
    if not least:
        raise values.RefusedError(f"{text!r} begins at 0 B; a request has at least 512 B")
    steps = math.ceil(most / least)
    if steps > _MOST:
        raise values.RefusedError(
            f"{text!r} has {steps:,} sizes, and {_MOST:,} is the most here; use bssplit"
        )
    entries = [
        (
            min(step * least, most),
            Fraction(min((step + 1) * least, least + most) - step * least, most),
        )
        for step in range(1, steps + 1)
    ]
    return Sizes(tuple(entries), "bsrange")


def _split(job: Job, text: str) -> Sizes:
    given = values.pairs(text)
    sizes = [job.plain_bytes(size) for size, _ in given]
    shares = [Fraction(values.whole(share), 100) if share else None for _, share in given]
    told = sum((share for share in shares if share is not None), Fraction())
    left = shares.count(None)
    if told > 1 or (told < 1 and not left):
        raise values.RefusedError(
            f"the shares of {text!r} add up to {values.percent(told)}, not to 100 %"
        )
    rest = (1 - told) / left if left else Fraction()
    found: dict[int, Fraction] = {}
    for size, share in zip(sizes, shares, strict=True):
        found[size] = found.get(size, Fraction()) + (rest if share is None else share)
    return Sizes(tuple((size, share) for size, share in found.items() if share), "bssplit")
