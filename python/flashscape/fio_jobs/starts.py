"""Starts of jobs: startdelay, stonewall and wait_for, in the order in which fio asks for them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flashscape.fio_jobs import ways
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.fio_jobs.ending import Times
    from flashscape.fio_jobs.job import Job


@dataclass(slots=True)
class _Entry:
    """A job and what delays it. Numbers of jobs are positions in the file."""

    job: Job
    times: Times
    is_stonewalled: bool
    waitees: list[int]
    """Jobs that ``wait_for`` names."""
    start: int = 0
    holds: dict[str, list[int]] = field(default_factory=dict)
    """Jobs waited for at last, by the option that waits."""
    awaited: set[int] = field(default_factory=set)
    """All jobs whose ends decide about the start."""
    behind: str = ""
    """Title of the job above whose stonewall holds this one, too."""
    is_refused: bool = False


def scheduled(jobs: list[tuple[Job, Times]]) -> list[Times]:
    """Return the times with their starts, and say what becomes of ``stonewall`` and ``wait_for``.

    fio's ``run_threads`` goes through the jobs in the order of the file, again and again. It skips
    a job until its ``startdelay`` since the start of all jobs is over. A stonewalled job with
    others running ends the pass, so no job below it starts either. A job whose waitee has not
    ended is skipped.
    """
    schedule = _Schedule(jobs)
    schedule.run()
    return schedule.settled()


class _Schedule:
    """Passes through the jobs, at each time at which a delay or a job is over."""

    def __init__(self, jobs: list[tuple[Job, Times]]) -> None:
        self._entries: list[_Entry] = []
        for number, (job, times) in enumerate(jobs):
            waitees = _waitees(job, [above for above, _ in jobs[:number]])
            self._entries.append(_Entry(job, times, job.truth("stonewall"), waitees))
        self._pending = list(range(len(jobs)))
        self._ends: dict[int, int | None] = {}
        """Ends of the jobs that run; None if unknown."""

    def run(self) -> None:
        """Give every job its start; refuse those that wait for an unknown end."""
        now = 0
        while self._pending:
            self._start(now)
            delays = [self._entries[number].times.delay for number in self._pending]
            events = [end for end in self._ends.values() if end is not None]
            events += [delay for delay in delays if delay > now]
            if events:
                now = min(events)
                self._ends = {job: end for job, end in self._ends.items() if end != now}
            elif self._pending:
                self._refuse()
                # To find the faults below, go on as if these jobs had ended.
                self._ends = {}

    def _start(self, now: int) -> None:
        """Make one pass."""
        wall: _Entry | None = None
        for number in list(self._pending):
            entry = self._entries[number]
            if entry.times.delay > now:
                continue
            entry.holds = {name: [] for name in entry.holds}
            unfinished = [job for job in entry.waitees if job in self._ends or job in self._pending]
            if wall is not None:
                entry.behind = wall.job.title
                entry.awaited |= wall.awaited
            elif entry.is_stonewalled and self._ends:
                self._hold(entry, "stonewall", self._ends)
                wall = entry
            elif unfinished:
                self._hold(entry, "wait_for", unfinished)
            else:
                entry.start = now
                self._pending.remove(number)
                self._ends[number] = replace(entry.times, start=now).end

    def _hold(self, entry: _Entry, name: str, others: Iterable[int]) -> None:
        entry.holds[name] = list(others)
        for other in others:
            entry.awaited |= {other} | self._entries[other].awaited

    def _refuse(self) -> None:
        """Refuse the jobs that wait for one of unknown end, each once."""
        for number in self._pending:
            entry = self._entries[number]
            for name, others in entry.holds.items():
                endless = [other for other in others if other in self._ends]
                if endless and not entry.is_refused:
                    entry.is_refused = True
                    title = self._entries[endless[0]].job.title
                    entry.job.refuse(
                        name,
                        f"the end of [{title}] is unknown before the run; give it a runtime, or "
                        f"import one job at a time with {ways.section(entry.job.title)}",
                    )

    def settled(self) -> list[Times]:
        """Return the times, and record the verdicts."""
        for entry in self._entries:
            for name in ("stonewall", "wait_for"):
                if name not in entry.holds:
                    why = "no job runs that it would wait for"
                    entry.job.say(name, Verdict.INERT, "", why)
                elif all(self._entries[other].times.is_timed for other in entry.awaited):
                    why = "the jobs before end by time"
                    entry.job.say(name, Verdict.MAPPED, "workload.start", why)
                else:
                    why = (
                        "begins when the runtime of the jobs before is over; in fio sooner if "
                        "they end sooner"
                    )
                    entry.job.say(name, Verdict.APPROXIMATED, "workload.start", why)
        return [
            replace(entry.times, start=entry.start, behind=entry.behind) for entry in self._entries
        ]


def _waitees(job: Job, above: list[Job]) -> list[int]:
    """Return the jobs that ``wait_for`` names."""
    name = job.text("wait_for")
    if name is None:
        return []
    if name == job.title:
        job.refuse("wait_for", "a job cannot wait for itself; name another, or take it out")
        return []
    found = [number for number, other in enumerate(above) if other.name == name]
    if not found:
        known = ", ".join(dict.fromkeys(other.name for other in above)) or "none"
        job.refuse("wait_for", f"there is no job {name} above (there are: {known})")
    return found
