"""Load of a job: kinds, sizes, addresses and arrivals of requests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.fio_jobs import addresses, flushes, rates, sizes, values, ways
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from flashscape.fio_jobs.addresses import Addresses
    from flashscape.fio_jobs.flushes import Flushes
    from flashscape.fio_jobs.job import Job
    from flashscape.fio_jobs.region import Region
    from flashscape.fio_jobs.sizes import BySize
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
    sizes: BySize
    order: Addresses
    reads: Fraction
    """Share of reads among reads and writes."""
    flushes: Flushes

    def rows_of(self, region: Region) -> list[Row]:
        """Return the rows of a clone: in a pass of one request no gap is left."""
        if not (self.order.gap and region.requests == 1):
            return self.rows
        sequential: Value = {"pattern": "sequential"}
        one = [row for row in self.rows if row.key != "align"]
        return [replace(row, value=sequential) if row.key == "addresses" else row for row in one]


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Meaning of ``rw``."""

    directions: list[int]
    is_random: bool
    postfix: str


def of(job: Job, *, is_alone: bool) -> Load:
    """Return the rows of a workload without its name, region, start and stop.

    ``is_alone`` is False if other clones or jobs run beside it.
    """
    kinds = _kinds(job)
    found = sizes.of(job, kinds.directions)
    order = addresses.of(job, kinds.directions, found, kinds.postfix, is_random=kinds.is_random)
    # Each kind of a sequential job makes its own pass.
    is_by_kind = not found.are_alike or (len(kinds.directions) > 1 and not order.is_random)
    reads = _share_of_reads(job, kinds)
    flushed = flushes.of(job, reads, writes=_WRITE in kinds.directions)
    depth = _depth(job)
    arrivals, reads = rates.of(job, found, reads, flushed, depth=depth, is_alone=is_alone)
    rows = [*_mix(job, kinds, reads, flushed), found.row(job, is_by_kind=is_by_kind)]
    rows += addresses.rows(job, found, order)
    rows += _pace(job, depth, arrivals, flushed)
    _verify(job, kinds)
    return Load(rows, found, order, reads, flushed)


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


def _mix(job: Job, kinds: _Kinds, reads: Fraction, flushed: Flushes) -> list[Row]:
    """Return the kinds of requests."""
    names = ("rw", "rwmixread", "rwmixwrite")
    job.say("rw", Verdict.MAPPED, "workload.mix" if _TRIM in kinds.directions else "workload.reads")
    if kinds.directions == [_TRIM]:
        return [job.row("mix", {"trim": "100 %"}, "rw")]
    if flushed.every:
        every = job.row("flush_every", flushed.every, *flushed.names)
        return [job.row("reads", values.percent(reads), *names), every]
    if not flushed.share:
        return [job.row("reads", values.percent(reads), *names)]
    shares = {"read": reads, "write": 1 - reads, "flush": flushed.share}
    asked = {kind: share / (1 + flushed.share) for kind, share in shares.items() if share}
    shown = zip(asked, values.percents(list(asked.values())), strict=True)
    mix: dict[str, Value] = dict(shown)
    return [job.row("mix", mix, *names, *flushed.names)]


def _pace(job: Job, depth: int, arrivals: list[Row], flushed: Flushes) -> list[Row]:
    """Return the queue depth, and the pauses between requests."""
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
            f"import with {ways.without('thinktime')}",
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
            f"use thinktime_iotime, or import with {ways.without(name)}",
        )
    for name in ("thinktime_blocks", "thinktime_blocks_type"):
        job.say(name, Verdict.MAPPED, "workload.think_time")
    job.say("thinktime", Verdict.MAPPED, "workload.think_time")
    if flushed.every:
        why = "the flush comes before the pause; in fio behind it"
        job.say("thinktime", Verdict.APPROXIMATED, "workload.think_time", why)
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
            f"{ways.without('thinktime_blocks')}",
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
    """Return the queue depth: ``iodepth``, or 1 with an engine that waits for each answer.

    With ``io_submit_mode=offload`` fio has a thread for each place in the queue.
    """
    is_offloaded = job.text("io_submit_mode") == "offload"
    why = "a thread for each place in the queue" if is_offloaded else "fio's default"
    job.say("io_submit_mode", Verdict.MAPPED, "workload.queue_depth", why)
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
    if engine in _ONE_AT_A_TIME and not is_offloaded:
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
    if engine == "libaio" and not direct and not is_offloaded:
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
            f"import with {ways.without('verify')} (run.audit checks what the drive returns)",
        )
