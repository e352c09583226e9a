"""Load of a job: kinds, sizes, addresses and arrivals of requests."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.fio_jobs import addresses, sizes, values
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from flashscape.fio_jobs.job import Job
    from flashscape.fio_jobs.sizes import Sizes
    from flashscape.written import Row, Value

_READ, _WRITE, _TRIM = range(3)
_KINDS = {
    "read": [_READ],
    "write": [_WRITE],
    "trim": [_TRIM],
    "rw": [_READ, _WRITE],
    "readwrite": [_READ, _WRITE],
}
_ONE_AT_A_TIME = ("psync", "sync", "vsync", "pvsync", "pvsync2", "mmap", "splice")
_SEVERAL = (
    *("libaio", "io_uring", "io_uring_cmd", "posixaio", "solarisaio", "windowsaio", "sg"),
    *("libblkio", "xnvme", "null"),
)
_DEFAULT_ENGINE = "psync"


@dataclass(frozen=True, slots=True)
class Load:
    """Load of a job."""

    rows: list[Row]
    sizes: Sizes
    requests_per_io: Fraction
    """Requests per read, write or trim: more than one if flushes come between."""


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Meaning of ``rw``."""

    directions: list[int]
    is_random: bool
    postfix: str


def of(job: Job) -> Load:
    """Return the rows of a workload without its name, region, start and stop."""
    kinds = _kinds(job)
    found = sizes.of(job, kinds.directions)
    reads = _share_of_reads(job, kinds)
    arrivals, reads = _arrivals(job, kinds, found, reads)
    mix, requests_per_io = _mix(job, kinds, reads)
    rows = [mix, job.row("size", found.value(), found.name)]
    rows += addresses.rows(job, kinds.directions, found, kinds.postfix, is_random=kinds.is_random)
    rows += _pace(job, arrivals)
    _verify(job, kinds)
    return Load(rows, found, requests_per_io)


def _kinds(job: Job) -> _Kinds:
    text = job.text("rw") or "read"
    name, _, postfix = text.partition(":")
    is_random = name.startswith("rand")
    plain = name.removeprefix("rand")
    if plain not in _KINDS or name == "randreadwrite":
        told = (
            "trims each place before it writes it, which has no counterpart here; make it two jobs"
            if plain == "trimwrite"
            else "is none of read, write, trim, rw, randread, randwrite, randtrim, randrw"
        )
        job.refuse("rw", f"{name!r} {told}")
        plain, is_random, postfix = "read", False, ""
    job.assume("rw", "read", Verdict.MAPPED, "workload.reads", "fio's default")
    return _Kinds(_KINDS[plain], is_random, postfix)


def _share_of_reads(job: Job, kinds: _Kinds) -> Fraction:
    """Return the share of reads; the later one of ``rwmixread`` and ``rwmixwrite`` counts."""
    names = sorted(("rwmixread", "rwmixwrite"), key=job.order)
    if len(kinds.directions) == 1:
        for name in names:
            job.say(name, Verdict.INERT, "", "the job has one kind of request")
        return Fraction(kinds.directions == [_READ])
    last = names[-1]
    percent = job.whole(last, 50)
    if percent > 100:
        job.refuse(last, f"{percent} is more than 100 %")
        percent = 50
    job.say(names[0], Verdict.MAPPED, "workload.reads", f"{last} comes later, and counts")
    job.say(last, Verdict.MAPPED, "workload.reads")
    job.assume("rwmixread", "50", Verdict.MAPPED, "workload.reads", "fio's default")
    return Fraction(100 - percent if last == "rwmixwrite" else percent, 100)


def _mix(job: Job, kinds: _Kinds, reads: Fraction) -> tuple[Row, Fraction]:
    """Return the kinds of requests, and the number of requests per read, write or trim."""
    names = ("rw", "rwmixread", "rwmixwrite")
    job.say("rw", Verdict.MAPPED, "workload.mix" if _TRIM in kinds.directions else "workload.reads")
    flushes = Fraction()
    for name in ("fsync", "fdatasync"):
        every = job.whole(name)
        if not every or _WRITE not in kinds.directions:
            job.say(name, Verdict.INERT, "", "switched off, or nothing is written")
            continue
        flushes += (1 - reads) / every
        why = (
            f"a flush for every {every} writes in the mean, at random; in fio after each {every}th"
        )
        job.say(name, Verdict.APPROXIMATED, "workload.mix", why)
    if kinds.directions == [_TRIM]:
        return job.row("mix", {"trim": "100 %"}, "rw"), Fraction(1)
    if not flushes:
        return job.row("reads", values.percent(reads), *names), Fraction(1)
    total = 1 + flushes
    shares = {"read": reads / total, "write": (1 - reads) / total, "flush": flushes / total}
    asked = {kind: share for kind, share in shares.items() if share}
    shown = zip(asked, values.percents(list(asked.values())), strict=True)
    mix: dict[str, Value] = dict(shown)
    return job.row("mix", mix, *names, "fsync", "fdatasync"), total


def _pace(job: Job, arrivals: list[Row]) -> list[Row]:
    """Return the queue depth, and the pauses between requests."""
    depth = _depth(job)
    think = job.time("thinktime", "us")
    rows = [*arrivals]
    for name in ("thinktime_blocks", "thinktime_blocks_type", "thinktime_iotime"):
        job.say(name, Verdict.INERT, "", "there is no thinktime")
    if not think:
        job.say("thinktime", Verdict.INERT, "", "switched off")
        return [*rows, job.row("queue_depth", depth, "iodepth", "ioengine")]
    if arrivals:
        job.refuse(
            "thinktime",
            "a rate and pauses together have no counterpart here; take one of them out, or "
            "import with --without thinktime",
        )
    if busy := job.time("thinktime_iotime", "s"):
        return [*rows, *_bursts(job, busy, think, depth)]
    every = job.whole("thinktime_blocks", 1)
    issue = (job.text("thinktime_blocks_type") or "complete") != "complete"
    if every != 1 or issue:
        name = "thinktime_blocks_type" if issue else "thinktime_blocks"
        job.refuse(
            name,
            "a pause after several requests, or from the submission on, has no counterpart here; "
            f"use thinktime_iotime, or import with --without {name}",
        )
    for name in ("thinktime_blocks", "thinktime_blocks_type"):
        job.say(name, Verdict.MAPPED, "workload.think_time")
    job.say("thinktime", Verdict.MAPPED, "workload.think_time")
    if depth > 1:
        why = "fio waits for the answer before each thinktime, so one request is outstanding"
        job.say("iodepth", Verdict.INERT, "workload.queue_depth", why)
    return [
        *rows,
        job.row("queue_depth", 1, "iodepth", "thinktime"),
        job.row("think_time", written.time(think), "thinktime"),
    ]


def _bursts(job: Job, busy: int, think: int, depth: int) -> list[Row]:
    if job.whole("thinktime_blocks", 0):
        job.refuse(
            "thinktime_blocks",
            "pauses by requests and by time together have no counterpart here; import with "
            "--without thinktime_blocks",
        )
    for name in ("thinktime", "thinktime_iotime"):
        job.say(name, Verdict.MAPPED, "workload.bursts")
    job.say("thinktime_blocks", Verdict.INERT, "", "thinktime_iotime stands beside it")
    bursts: dict[str, Value] = {"on": written.time(busy), "off": written.time(think)}
    return [
        job.row("queue_depth", depth, "iodepth", "ioengine"),
        job.row("bursts", bursts, "thinktime", "thinktime_iotime"),
    ]


def _depth(job: Job) -> int:
    """Return the queue depth: ``iodepth``, or 1 with an engine that waits for each answer."""
    engine = (job.text("ioengine") or _DEFAULT_ENGINE).partition(":")[0]
    depth = job.whole("iodepth", 1, 1)
    direct = _is_direct(job)
    if engine not in (*_ONE_AT_A_TIME, *_SEVERAL):
        job.refuse(
            "ioengine",
            f"{engine!r} sends no requests to a local drive, or fio has no such engine; write "
            "ioengine=libaio or ioengine=psync",
        )
        return depth
    if engine in _ONE_AT_A_TIME:
        why = f"{engine} waits for each answer, so one request is outstanding"
        job.say("ioengine", Verdict.MAPPED, "workload.queue_depth", why)
        job.assume("ioengine", engine, Verdict.MAPPED, "workload.queue_depth", f"default; {why}")
        why = f"{why}; write ioengine=libaio for more" if depth > 1 else why
        job.say("iodepth", Verdict.INERT, "", why)
        return 1
    moves_nothing = "fio's null moves no data; here the drive serves the requests"
    why = moves_nothing if engine == "null" else "a queue of requests"
    verdict = Verdict.APPROXIMATED if engine == "null" else Verdict.MAPPED
    job.say("ioengine", verdict, "workload.queue_depth", why)
    if engine == "libaio" and not direct:
        why = "Linux keeps one request outstanding with libaio without direct=1; here all of them"
        job.say("iodepth", Verdict.APPROXIMATED, "workload.queue_depth", why)
    else:
        job.say("iodepth", Verdict.MAPPED, "workload.queue_depth")
    job.assume("iodepth", "1", Verdict.MAPPED, "workload.queue_depth", "fio's default")
    return depth


def _is_direct(job: Job) -> bool:
    """Return True with ``direct=1``. Requests always bypass the host's cache here; record it."""
    last = max(("direct", "buffered"), key=job.order)
    is_direct = job.truth(last) == (last == "direct") if job.has(last) else False
    why = "no page cache is simulated: every request goes to the drive, as with direct=1"
    for name in ("direct", "buffered"):
        if is_direct:
            job.say(name, Verdict.MAPPED, "", "every request goes to the drive")
        else:
            job.say(name, Verdict.IGNORED, "", why)
    if not job.has("buffered"):
        job.assume("direct", "0", Verdict.IGNORED, "", why)
    return is_direct


def _arrivals(job: Job, kinds: _Kinds, found: Sizes, reads: Fraction) -> tuple[list[Row], Fraction]:
    """Return arrivals by the clock if a rate caps requests, and the resulting share of reads."""
    process = job.text("rate_process") or "linear"
    names = ("rate", "rate_iops")
    given = [name for name in names if (job.text(name) or "0").strip("0,")]
    if len(given) == 2:
        job.refuse("rate", "fio refuses rate and rate_iops together; take one of them out")
    rates = _rates(job, kinds, found, process) if given else []
    if not any(rates):
        for name in (*names, "rate_process"):
            job.say(name, Verdict.INERT, "", "no rate is given")
        return [], reads
    name = given[0]
    if not all(rates):
        job.refuse(
            name,
            "caps one kind of request and lets the other run freely, which has no counterpart "
            "here; give both rates",
        )
        return [], reads
    if process not in ("linear", "poisson"):
        job.refuse("rate_process", f"{process!r} is neither linear nor poisson")
    total = sum(rates, Fraction())
    why = "if the drive is slower than that, requests wait in the host, and fio catches up alike"
    verdict = Verdict.MAPPED
    if not found.is_fixed and not (name == "rate_iops" and found.name == "bssplit"):
        verdict = Verdict.APPROXIMATED
        why = f"fio paces bytes; here requests come at the rate for the mean size; {why}"
    if len(rates) == 2:
        verdict = Verdict.APPROXIMATED
        share = rates[0] / total
        why = f"one stream at the sum of both rates, {values.percent(share)} of it reads; {why}"
        if share != reads:
            told = "fio lets both kinds reach their rates, whatever the share of reads"
            for mixed in ("rwmixread", "rwmixwrite"):
                job.say(mixed, Verdict.INERT, "", told)
        reads = share
    job.say(name, verdict, "workload.arrivals", why)
    job.say("rate_process", Verdict.MAPPED, "workload.arrivals")
    for other in names:
        if other != name:
            job.say(other, Verdict.INERT, "", "switched off")
    shown = f"{written.decimal(round(Decimal(total.numerator) / total.denominator, 6))} IOPS"
    table: dict[str, Value] = {
        "process": "poisson" if process == "poisson" else "constant",
        "rate": shown,
    }
    return [job.row("arrivals", table, name, "rate_process")], reads


def _rates(job: Job, kinds: _Kinds, found: Sizes, process: str) -> list[Fraction]:
    """Return requests a second of each direction of the job; 0 if none is given.

    fio converts ``rate_iops`` to bytes of the smallest size and paces bytes, except for
    ``bssplit`` and Poisson arrivals (usec_for_io in backend.c).
    """
    by_bytes = job.value("rate", values.directions, ("", "", ""))
    by_number = job.value("rate_iops", values.directions, ("", "", ""))
    rates = []
    for direction in kinds.directions:
        size, number = by_bytes[direction], by_number[direction]
        try:
            rate = Fraction(job.plain_bytes(size)) if size else Fraction()
            iops = Fraction(job.plain_bytes(number)) if number else Fraction()
        except values.RefusedError as refused:
            job.refuse("rate" if size else "rate_iops", str(refused))
            return []
        if process == "poisson":
            rates.append(iops or rate // found.least * Fraction(1))
        elif found.name == "bssplit" and iops:
            rates.append(iops)
        else:
            rates.append((rate or iops * found.least) / found.mean)
    return rates


def _verify(job: Job, kinds: _Kinds) -> None:
    checks = job.text("verify")
    if checks is None or checks in ("0", "none"):
        job.say("verify", Verdict.INERT, "", "switched off")
    elif _WRITE not in kinds.directions:
        job.say("verify", Verdict.INERT, "", "comparing what is read asks for nothing more")
    elif job.has("do_verify") and not job.truth("do_verify"):
        job.say("verify", Verdict.INERT, "", "do_verify=0: nothing is read back")
    else:
        job.refuse(
            "verify",
            "reads all back that was written, which has no counterpart here; set do_verify=0, or "
            "import with --without verify (run.audit checks what the drive returns)",
        )
