"""Flushes of a job: ``fsync`` and ``fdatasync``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flashscape.imported import Verdict

if TYPE_CHECKING:
    from flashscape.fio_jobs.job import Job

_NAMES = ("fsync", "fdatasync")


@dataclass(frozen=True, slots=True)
class Flushes:
    """Flushes beside the reads and writes of a job."""

    names: tuple[str, ...] = ()
    """Options that ask for them."""
    every: int = 0
    """Number of writes after which one follows; 0 if their times are drawn, or there are none."""
    share: Fraction = Fraction()
    """Flushes for each read or write whose times are drawn."""


def of(job: Job, reads: Fraction, *, writes: bool) -> Flushes:
    """Return the flushes of a job.

    fio counts the writes, and sends one flush when ``fsync`` or ``fdatasync`` or both are due.
    """
    given = {name: job.whole(name) for name in _NAMES}
    asked = {name: every for name, every in given.items() if every and writes}
    for name in _NAMES:
        if name not in asked:
            job.say(name, Verdict.INERT, "", "switched off, or nothing is written")
    if not asked:
        return Flushes()
    least, most = min(asked.values()), max(asked.values())
    if most % least == 0:
        for name, every in asked.items():
            if every == least:
                job.say(name, Verdict.MAPPED, "workload.flush_every")
            else:
                job.say(name, Verdict.INERT, "", "the other option flushes at these writes, too")
        return Flushes(tuple(asked), every=least)
    for name, every in asked.items():
        why = (
            f"a flush for every {every} writes in the mean, at random times; in fio it follows "
            "the last of them"
        )
        job.say(name, Verdict.APPROXIMATED, "workload.mix", why)
    # Both are due at multiples of both, where fio sends one flush.
    rate = sum((Fraction(1, every) for every in asked.values()), Fraction())
    rate -= Fraction(1, math.lcm(*asked.values()))
    return Flushes(tuple(asked), share=rate * (1 - reads))
