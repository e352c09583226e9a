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
    from flashscape.written import Value

DEFAULT = 4096
SECTOR = 512
_MOST = 1024
"""Most different sizes of a range."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes with the share of requests of each."""

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


def of(job: Job, directions: list[int]) -> Sizes:
    """Return the sizes of all directions of a job; record a fault if they differ."""
    found = [_of_direction(job, direction) for direction in directions]
    first = found[0]
    if any(other.entries != first.entries for other in found):
        one, other = (values.DIRECTIONS[direction] for direction in directions[:2])
        job.refuse(
            next(sizes.name for sizes in reversed(found) if job.has(sizes.name)),
            f"{one}s and {other}s have different sizes, and a workload has sizes for all kinds; "
            f"make a job of {one}s and a job of {other}s",
        )
    odd = next((size for size, _ in first.entries if size % SECTOR or not size), None)
    if odd is not None:
        job.refuse(first.name, f"{odd} B is no multiple of 512 B, the sector of a drive")
    for name in ("bs", "bsrange", "bssplit"):
        if name == first.name:
            job.say(name, Verdict.MAPPED, "workload.size", _unused(job, name, directions))
        else:
            job.say(name, Verdict.INERT, "", f"{first.name} stands beside it")
    if first.name == "bs":
        job.assume("bs", "4k", Verdict.MAPPED, "workload.size", "fio's default")
    return first


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
        raise values.RefusedError(f"{text!r} is no range such as 4k-64k")
    least, most = sorted(map(job.plain_bytes, ends))
    if not least:
        raise values.RefusedError(f"{text!r} begins at nothing")
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
