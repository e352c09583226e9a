"""Delays and ends of jobs, and the warm-up before counting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.fio_jobs import values, ways
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from flashscape.fio_jobs.job import Job
    from flashscape.fio_jobs.load import Load
    from flashscape.fio_jobs.places import Place
    from flashscape.fio_jobs.region import Region
    from flashscape.written import Row, Value


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a job, in nanoseconds."""

    delay: int
    """Earliest start, since the start of all jobs."""
    ramp: int
    runtime: int
    """0 if it runs until all requests are issued."""
    is_timed: bool
    """True if it runs for this time, regardless of the amount of requests."""
    start: int = 0
    behind: str = ""
    """Title of the job whose stonewall holds this one, too; see :mod:`starts`."""

    @property
    def end(self) -> int | None:
        """Latest time of its last request; None if it is unknown before the run."""
        return self.start + self.ramp + self.runtime if self.runtime else None


def of(job: Job) -> Times:
    """Return the times of a job; its start depends on others and comes later."""
    delay = _delay(job)
    runtime, is_timed = job.time("runtime", "s"), job.truth("time_based")
    job.say("runtime", Verdict.MAPPED, "workload.stop.time" if runtime else "")
    job.say("time_based", Verdict.MAPPED, "workload.stop")
    if is_timed and not runtime and not job.is_refused("runtime"):
        job.refuse("time_based", "fio needs a runtime with it; give runtime")
    return Times(delay, job.time("ramp_time", "s"), runtime, is_timed)


def _delay(job: Job) -> int:
    text = job.text("startdelay")
    if text is None:
        return 0
    ends = text.replace(":", "-").split("-")
    try:
        found = [values.time(end, "s") for end in ends]
    except values.RefusedError as refused:
        job.refuse("startdelay", str(refused))
        return 0
    if len(found) == 1:
        job.say("startdelay", Verdict.MAPPED, "workload.start")
        return found[0]
    why = "the middle of the range, from which fio draws"
    job.say("startdelay", Verdict.APPROXIMATED, "workload.start", why)
    return sum(found) // len(found)


def rows(job: Job, times: Times, load: Load, place: Place, region: Region) -> list[Row]:
    """Return ``start`` and ``stop`` of a workload."""
    found: list[Row] = []
    if times.start:
        names = ("startdelay", "stonewall", "wait_for")
        remark = f"stonewall of [{times.behind}]" if times.behind else ""
        found.append(job.row("start", written.time(times.start), *names, remark=remark))
    stop: dict[str, Value] = {}
    if times.runtime:
        stop["time"] = written.time(times.ramp + times.runtime)
    if times.is_timed:
        told = "time_based: the job goes on until its runtime is over"
        for name in ("loops", "number_ios", "io_size"):
            job.say(name, Verdict.INERT, "", told)
    else:
        stop |= _amount(job, load, place, region)
    sources = ("runtime", "ramp_time", "io_size", "size", "loops", "number_ios")
    found.append(job.row("stop", stop, *sources))
    return found


def _amount(job: Job, load: Load, place: Place, region: Region) -> dict[str, Value]:
    """Return the bytes and requests after which a job without ``time_based`` ends.

    A pass ends with the region, also if ``size`` asks for more. With ``io_size`` the job begins
    again. Flushes ask for no bytes.
    """
    loops, number = job.whole("loops", 1, 1), job.whole("number_ios")
    job.say("loops", Verdict.MAPPED, "workload.stop.bytes")
    job.say("number_ios", Verdict.MAPPED, "workload.stop" if number else "")
    size = region.size if place.size is None else min(place.size, region.size)
    if not load.sizes.is_fixed:
        stop: dict[str, Value] = {"bytes": written.size((place.limit or size) * loops)}
        if number:
            stop["requests"] = _with_flushes(load, number * loops)
            if load.flushes.names:
                why = "reads and writes, and the flushes between them in the mean"
                job.say("number_ios", Verdict.APPROXIMATED, "workload.stop.requests", why)
        return stop
    least = load.sizes.first.least
    requests = -(-(place.limit or size) // least)
    if place.limit is None:
        requests = _of_pass(job, load, region, requests)
    if number:
        requests = min(requests, number)
    return {"bytes": written.size(requests * least * loops)}


def _of_pass(job: Job, load: Load, region: Region, asked: int) -> int:
    """Return the requests of a pass of which ``asked`` would have the bytes of ``size``."""
    if load.order.is_random:
        return min(asked, region.requests) if load.order.is_mapped else asked
    kinds = len(load.sizes.used)
    if kinds > 1 and load.order.gap:
        why = "ends when both kinds have made their passes in the mean; in fio with the first"
        job.say("rw", Verdict.APPROXIMATED, "workload.stop.bytes", why)
    return min(asked, kinds * region.requests)


def _with_flushes(load: Load, requests: int) -> int:
    """Return the number of requests with the flushes between them, in the mean."""
    writes = 1 - load.reads
    share = load.flushes.share + (writes / load.flushes.every if load.flushes.every else 0)
    return int(requests * (1 + share))


def warm_up(jobs: list[tuple[Job, Times]]) -> list[Row]:
    """Return ``run.warm_up``: counting starts when the last ramp is over.

    fio has a warm-up for each job. A run has one for all, so a job that ends before it is refused.
    """
    ends = [times.start + times.ramp if times.ramp else 0 for _, times in jobs]
    longest = max(ends, default=0)
    last = jobs[ends.index(longest)][0] if longest else None
    for job, times in jobs:
        if last is not None and times.end is not None and times.end <= longest:
            last.refuse(
                "ramp_time",
                f"a run has one warm-up, here until the ramp of [{last.title}] is over at "
                f"{written.time(longest)}, and [{job.title}] ends at {written.time(times.end)}, so "
                f"none of its requests would count; import one job at a time with "
                f"{ways.section()}, or leave ramp_time out with {ways.without('ramp_time')}",
            )
    for (job, times), end in zip(jobs, ends, strict=True):
        if end != longest:
            verdict = Verdict.APPROXIMATED
            why = f"nothing counts until {written.time(longest)}, when the last ramp is over"
        elif len(set(ends)) == 1 and times.is_timed:
            verdict, why = Verdict.MAPPED, ""
        else:
            verdict = Verdict.APPROXIMATED
            why = "what is asked for in the ramp counts towards the end of the job"
            if times.is_timed:
                why = "jobs without this ramp do not count until it is over"
        job.say("ramp_time", verdict if times.ramp else Verdict.INERT, "run.warm_up", why)
    if last is None:
        return []
    return [last.row("warm_up", {"time": written.time(longest)}, "ramp_time")]
