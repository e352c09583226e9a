"""Addresses of a job's requests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.fio_jobs import values, ways
from flashscape.fio_jobs.sizes import SECTOR
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from flashscape.fio_jobs.job import Job
    from flashscape.fio_jobs.sizes import BySize
    from flashscape.written import Row, Value

_ZIPF = "1.1"
"""Exponent if none is given (FIO_DEF_ZIPF)."""

_THETA_MOST = 3.0
_JESD219 = [(50, 5), (30, 15), (20, 80)]

_RANDOM = ("random_distribution", "percentage_random", "random_generator", "norandommap", "ba")
"""Options without meaning for sequential jobs."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Order in which a job goes through its region."""

    is_random: bool
    gap: int
    """Bytes that a sequential job leaves out behind each request."""
    is_mapped: bool
    """True if a random job asks for each place once, before it begins again."""


def of(
    job: Job, directions: list[int], sizes: BySize, postfix: str, *, is_random: bool
) -> Addresses:
    """Return the order of addresses, and refuse one that has no counterpart here."""
    if is_random and _percent_random(job, directions) == 0:
        job.say("percentage_random", Verdict.MAPPED, "workload.addresses", "0: sequential")
        is_random = False
    if not is_random:
        return Addresses(False, _gap(job, sizes, postfix), False)
    if postfix not in ("", "1"):
        job.refuse("rw", _no_postfix(f":{postfix}", "runs of sequential requests"))
    job.say("rw_sequencer", Verdict.INERT, "", "rw has no number behind it")
    return Addresses(True, 0, _is_mapped(job, sizes))


def rows(job: Job, sizes: BySize, order: Addresses) -> list[Row]:
    """Return ``align`` and ``addresses`` of a workload."""
    if order.is_random:
        return [*_align(job, sizes), _distribution(job, sizes, order)]
    return _sequential(job, sizes, order)


def _is_mapped(job: Job, sizes: BySize) -> bool:
    """Return True if fio asks for each place once: by its map, or by the order of ``lfsr``."""
    name = (job.text("random_distribution") or "random").partition(":")[0]
    if name != "random":
        return False
    if job.text("random_generator") == "lfsr":
        return True
    aligned = _aligned(job)
    is_default = all(sizes.all[at].least == unit for at, unit in aligned.items())
    return is_default and not job.truth("norandommap")


def _aligned(job: Job) -> dict[int, int]:
    """Return the alignment of each direction that ``ba`` gives one."""
    nothing: dict[int, int] = {}
    return job.value("ba", lambda text: _units(job, text), nothing)


def _units(job: Job, text: str) -> dict[int, int]:
    units = {at: part for at, part in enumerate(values.directions(text)) if part}
    return {at: unit for at, part in units.items() if (unit := job.plain_bytes(part))}


def _no_postfix(postfix: str, what: str) -> str:
    return f"{postfix} makes {what}, which have no counterpart here; take it out"


def _percent_random(job: Job, directions: list[int]) -> int:
    texts = job.value("percentage_random", values.directions, ("", "", ""))
    shares = {texts[direction] or "100" for direction in directions}
    if len(shares) == 1 and (only := next(iter(shares))) in ("0", "100"):
        job.say("percentage_random", Verdict.MAPPED, "workload.addresses")
        return int(only)
    job.refuse(
        "percentage_random",
        "sequential and random requests in one job have no counterpart here; make it two jobs, or "
        f"import with {ways.without('percentage_random')}",
    )
    return 100


def _gap(job: Job, sizes: BySize, postfix: str) -> int:
    """Return the bytes that ``rw=write:4k`` leaves out behind each request."""
    if not postfix:
        return 0
    if postfix.startswith("-"):
        job.refuse("rw", _no_postfix(f":{postfix}", "steps backwards"))
        return 0
    try:
        gap = job.plain_bytes(postfix)
    except values.RefusedError as refused:
        job.refuse("rw", f"{refused}, which is expected behind the colon")
        return 0
    if not sizes.is_fixed:
        job.refuse("rw", _no_postfix(f":{postfix}", "gaps behind requests of several sizes"))
    elif gap % SECTOR:
        job.refuse("rw", f":{postfix} leaves gaps that are no multiple of 512 B; write one that is")
        return 0
    return gap


def _sequential(job: Job, sizes: BySize, order: Addresses) -> list[Row]:
    for name in _RANDOM:
        if not job.is_said(name):
            job.say(name, Verdict.INERT, "", "the job is sequential")
    job.say("rw_sequencer", Verdict.INERT, "", "the job is sequential")
    size = sizes.first.least
    if not order.gap:
        steps = {at: of.step for at, of in sizes.used.items() if of.step != of.least}
        align = [_by_kind(job, "align", steps, *sizes.names)] if steps else []
        return [*align, job.row("addresses", {"pattern": "sequential"}, "rw")]
    unit = math.gcd(size, order.gap)
    align = [] if unit == size else [job.row("align", written.size(unit), "rw", "bs")]
    stride: dict[str, Value] = {"pattern": "strided", "stride": written.size(size + order.gap)}
    return [*align, job.row("addresses", stride, "rw", "bs")]


def _by_kind(job: Job, key: str, bytes_of: dict[int, int], *names: str) -> Row:
    table: Value = {values.DIRECTIONS[at]: written.size(size) for at, size in bytes_of.items()}
    return job.row(key, table, *names)


def _align(job: Job, sizes: BySize) -> list[Row]:
    """Convert ``ba``; by default requests begin at multiples of the smallest size, as in fio."""
    given = _aligned(job)
    units = {at: unit for at, unit in given.items() if at in sizes.used}
    if not units:
        job.say("ba", Verdict.INERT, "", "it gives no value for the kinds of the job")
        return []
    job.say("ba", Verdict.MAPPED, "workload.align")
    if len(units) == len(sizes.used) and len(set(units.values())) == 1:
        return [job.row("align", written.size(next(iter(units.values()))), "ba")]
    return [_by_kind(job, "align", units, "ba")]


def _distribution(job: Job, sizes: BySize, order: Addresses) -> Row:
    text = job.text("random_distribution") or "random"
    name, _, parameters = text.partition(":")
    readers = {"zipf": _zipf, "zoned": _zoned}
    value: Value = "uniform"
    try:
        if name in readers:
            value = readers[name](job, parameters, list(sizes.used))
        elif name == "random":
            value = _uniform(job, sizes, order)
        else:
            raise values.RefusedError(
                f"{name!r} has no counterpart here (random, zipf, some of zoned have); choose one "
                f"of those, or import with {ways.without('random_distribution')}"
            )
    except values.RefusedError as refused:
        job.refuse("random_distribution", str(refused))
    if not order.is_mapped:
        job.say("norandommap", Verdict.MAPPED, "workload.addresses")
        job.say("random_generator", Verdict.INERT, "", "random numbers are drawn another way here")
    return job.row("addresses", value, "rw", "random_distribution", "norandommap")


def _uniform(job: Job, sizes: BySize, order: Addresses) -> Value:
    """Return the pattern of uniform addresses: drawn again and again, or each place once."""
    job.say("random_distribution", Verdict.MAPPED, "workload.addresses")
    if not order.is_mapped:
        return "uniform"
    pattern, verdict, why = "shuffled", Verdict.MAPPED, "each place once, before the next pass"
    if not all(of.is_fixed for of in sizes.used.values()):
        pattern, verdict = "uniform", Verdict.APPROXIMATED
        why = "places are drawn again and again; fio asks for each once, and cuts requests for that"
    elif not sizes.is_fixed:
        verdict = Verdict.APPROXIMATED
        why = "each kind asks for each of its places once; fio has one map for all kinds"
    for name in ("norandommap", "random_generator"):
        job.say(name, verdict, "workload.addresses", why)
    job.assume("norandommap", "0", verdict, "workload.addresses", why)
    return pattern


def _zipf(job: Job, parameters: str, _directions: list[int]) -> Value:
    given, _, centre = parameters.partition(":")
    try:
        theta = float(given or _ZIPF)
    except ValueError:
        raise values.RefusedError(f"{given!r} is no number for zipf") from None
    if theta == 1.0:
        raise values.RefusedError(
            "fio refuses zipf:1, where its formula divides by 0; write 0.99 or 1.01"
        )
    if not 0 <= theta <= _THETA_MOST:
        raise values.RefusedError(f"zipf takes 0 to {_THETA_MOST:g} here, not {given}")
    why = "the hottest places are scattered, in another order than fio's"
    job.say("random_distribution", Verdict.MAPPED, "workload.addresses", why)
    if centre:
        why = f"fio places the hottest block at {centre} of the region, and scatters the others"
        job.say("random_distribution", Verdict.APPROXIMATED, "workload.addresses", why)
    return {"pattern": "zipf", "theta": theta}


def _zoned(job: Job, parameters: str, directions: list[int]) -> Value:
    texts = {values.directions(parameters)[direction] for direction in directions}
    if len(texts) > 1:
        raise values.RefusedError("reads and writes have different zones; make it two jobs")
    given = values.pairs(texts.pop())
    spaces = [values.whole(space) if space else None for _, space in given]
    if spaces.count(None) == 1:
        # fio gives the remaining share to a zone without a number.
        spaces[spaces.index(None)] = 100 - sum(space for space in spaces if space is not None)
    zones = [
        (values.whole(accesses), space or 0)
        for (accesses, _), space in zip(given, spaces, strict=True)
    ]
    if any(sum(part) != 100 for part in zip(*zones, strict=True)) or None in spaces:
        raise values.RefusedError("the zones do not add up to 100 % of accesses and of space")
    job.say("random_distribution", Verdict.MAPPED, "workload.addresses")
    if zones == _JESD219:
        return "jesd219"
    if len(zones) == 1:
        return "uniform"
    if len(zones) == 2:
        accesses, space = (values.percent(Fraction(part, 100)) for part in zones[0])
        return {"pattern": "hot-cold", "hot_space": space, "hot_accesses": accesses}
    raise values.RefusedError(
        "zoned has a counterpart here with two zones, and with those of JESD219 "
        f"(50/5:30/15:20/80); give two, or import with {ways.without('random_distribution')}"
    )
