"""Begin and end of jobs, and the warm-up before counting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.fio_jobs import values
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from fractions import Fraction

    from flashscape.fio_jobs.job import Job
    from flashscape.written import Row, Value


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a job, in nanoseconds."""

    start: int
    ramp: int
    runtime: int
    """0 if it runs until all requests are issued."""
    is_timed: bool
    """True if it runs for this time, regardless of the amount of requests."""

    @property
    def end(self) -> int | None:
        """Latest time of its last request; None if it is unknown before the run."""
        return self.start + self.ramp + self.runtime if self.runtime else None


def of(job: Job, before: list[tuple[Job, Times]]) -> Times:
    """Return the times of a job; ``before`` has the jobs above it."""
    delay = _delay(job)
    runtime, is_timed = job.time("runtime", "s"), job.truth("time_based")
    job.say("runtime", Verdict.MAPPED, "workload.stop.time" if runtime else "")
    job.say("time_based", Verdict.MAPPED, "workload.stop")
    if is_timed and not runtime:
        job.refuse("time_based", "fio needs a runtime with it; give runtime")
    return Times(_begin(job, before) + delay, job.time("ramp_time", "s"), runtime, is_timed)


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


def _begin(job: Job, before: list[tuple[Job, Times]]) -> int:
    """Return the time at which the jobs that it waits for have ended."""
    awaited: list[tuple[Job, Times]] = []
    name = "stonewall"
    if job.truth("stonewall"):
        awaited = before
    waits_for = job.text("wait_for")
    if waits_for is not None:
        name = "wait_for"
        named = [pair for pair in before if pair[0].title == waits_for]
        awaited = [*awaited, *named]
        if not named:
            job.refuse("wait_for", f"there is no job [{waits_for}] above")
    if not awaited:
        job.say("stonewall", Verdict.INERT, "", "there is no job to wait for")
        job.say("wait_for", Verdict.INERT, "", "there is no job to wait for")
        return 0
    ends = [times.end for _, times in awaited]
    endless = [other.title for other, times in awaited if times.end is None]
    if endless:
        job.refuse(
            name,
            f"the end of [{endless[0]}] is unknown before the run; give it a runtime, or import "
            f"one job at a time with --section {job.title!r}",
        )
        return 0
    if all(times.is_timed for _, times in awaited):
        verdict, why = Verdict.MAPPED, "the jobs before end by time"
    else:
        verdict = Verdict.APPROXIMATED
        why = "begins when the runtime of the jobs before is over; in fio sooner if they end sooner"
    for each in ("stonewall", "wait_for"):
        job.say(each, verdict, "workload.start", why)
    return max(end for end in ends if end is not None)


def rows(job: Job, times: Times, limit: int, requests_per_io: Fraction) -> list[Row]:
    """Return ``start`` and ``stop`` of a workload."""
    found: list[Row] = []
    if times.start:
        names = ("startdelay", "stonewall", "wait_for")
        found.append(job.row("start", written.time(times.start), *names))
    stop: dict[str, Value] = {}
    if times.runtime:
        stop["time"] = written.time(times.ramp + times.runtime)
    loops = job.whole("loops", 1, 1)
    number = job.whole("number_ios")
    if times.is_timed:
        told = "time_based: the job goes on until its runtime is over"
        for name in ("loops", "number_ios", "io_size"):
            job.say(name, Verdict.INERT, "", told)
    else:
        stop["bytes"] = written.size(limit * loops)
        job.say("loops", Verdict.MAPPED, "workload.stop.bytes")
        if number:
            stop["requests"] = int(number * loops * requests_per_io)
        job.say("number_ios", Verdict.MAPPED, "workload.stop.requests" if number else "")
    sources = ("runtime", "ramp_time", "io_size", "size", "loops", "number_ios")
    found.append(job.row("stop", stop, *sources))
    return found


def warm_up(jobs: list[tuple[Job, Times]]) -> list[Row]:
    """Return ``run.warm_up``: counting starts after the longest ramp."""
    ends = [times.start + times.ramp if times.ramp else 0 for _, times in jobs]
    longest = max(ends, default=0)
    for (job, times), end in zip(jobs, ends, strict=True):
        if end != longest:
            verdict = Verdict.APPROXIMATED
            why = f"nothing counts until {written.time(longest)}, when the longest ramp is over"
        elif len(set(ends)) == 1 and times.is_timed:
            verdict, why = Verdict.MAPPED, ""
        else:
            verdict = Verdict.APPROXIMATED
            why = "what is asked for in the ramp counts towards the end of the job"
            if times.is_timed:
                why = "jobs without this ramp do not count until it is over"
        job.say("ramp_time", verdict if times.ramp else Verdict.INERT, "run.warm_up", why)
    if not longest:
        return []
    first = next(job for (job, _), end in zip(jobs, ends, strict=True) if end == longest)
    return [first.row("warm_up", {"time": written.time(longest)}, "ramp_time")]
