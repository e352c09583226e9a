"""Progress of a sweep: a bar on a terminal, elsewhere a line for each finished point."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from flashscape import units
from flashscape.sweep import sharing

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from flashscape.sweep.executor import Ended, Prepared
    from flashscape.sweep.observer import Begin
    from flashscape.sweep.point import Point
    from flashscape.sweep.sharing import Group

_CHECK_SHOWN_AFTER = 1.0
"""Seconds of checking after which its progress is shown."""

_DRAW_SECONDS = 0.4
"""Shortest time between two drawings of a bar: each takes milliseconds from the runs."""


class Lines:
    """Prints the plan of a sweep, and how each point has ended, on stderr."""

    _tells_all = True
    """True if points that succeeded get a line, too."""

    def __init__(self, console: Console, noun: str = "point", failed: str = "failed") -> None:
        self._console = console
        self._noun = noun
        self._failed = failed
        self._done = 0
        self._total = 0
        self._effort_left = 0.0
        self._effort_done = 0.0
        self._effort_of: dict[int, float] = {}
        self._cpu_seconds = 0.0
        self._jobs = 1
        self._began = time.monotonic()

    @staticmethod
    def on_stderr(noun: str = "point", failed: str = "failed") -> Lines:
        """Return the observer for standard error: a bar on a terminal, else lines.

        A point is called ``noun``, and one that has ended with an error has ``failed``.
        """
        from flashscape.terminal import Page

        console = Page(stderr=True, highlight=False)
        how = Bar if console.is_terminal else Lines
        return how(console, noun, failed)

    def checking(self, done: int, of: int) -> None:
        """Print nothing: checking takes milliseconds a point."""

    def begins(self, begin: Begin) -> None:
        """Print the plan of the sweep."""
        self._total = len(begin.to_run)
        agenda = begin.agenda()
        tasks: list[Point | Group] = [*begin.to_run, *begin.shared.groups]
        self._effort_of = {task.number: agenda.effort(task) for task in tasks}
        self._effort_left = sum(self._effort_of.values())
        self._jobs = begin.jobs
        self._began = time.monotonic()
        for line in announcement(begin, self._noun):
            self._print(line)

    def prepared(self, prepared: Prepared) -> None:
        """Say that a drive is ready, or why each point prepares its own."""
        group = prepared.group
        self._has_done(group.number)
        if prepared.lost is not None:
            for point in group.points:
                more = point.effort.whole - self._effort_of[point.number]
                self._effort_of[point.number] += more
                self._effort_left += more
            self._print(
                f"note: {len(group.points)} {self._noun}s fill and age drives of their own, as the "
                f"one that they were to share was lost: {prepared.lost}"
            )
        elif self._tells_all:
            took = units.duration(prepared.cpu_seconds * 1e9)
            self._print(f"the drive of {len(group.points)} {self._noun}s: {took}")

    def _has_done(self, number: int) -> None:
        effort = self._effort_of.get(number, 0.0)
        self._effort_left -= effort
        self._effort_done += effort

    def ended(self, ended: Ended) -> None:
        """Print how a point has ended."""
        self._done += 1
        self._has_done(ended.point.number)
        self._cpu_seconds += ended.cpu_seconds
        if self._tells_all or ended.error is not None:
            self._print(self._line(ended))

    def _line(self, ended: Ended) -> str:
        counted = f"[{self._done}/{self._total}] {ended.point.name}"
        if ended.error is not None:
            return f"{counted}: {self._failed}: {ended.error}"
        left = self.seconds_left({})
        more = "" if left is None or self._done == self._total else f", about {clock(left)} left"
        return f"{counted}: {units.duration(ended.cpu_seconds * 1e9)}{more}"

    def tick(self, shares: dict[int, float]) -> None:
        """Print nothing: only finished points get a line."""

    def over(self) -> None:
        """Do nothing: no bar is left to remove."""

    def seconds_left(self, shares: dict[int, float]) -> float | None:
        """Estimate the remaining time, by effort, at the speed so far."""
        under_way = sum(self._effort_of.get(n, 0.0) * share for n, share in shares.items())
        done = self._effort_done + under_way
        if self._effort_done <= 0:
            return None
        return (time.monotonic() - self._began) * (self._effort_left - under_way) / done

    def _print(self, line: str) -> None:
        # The terminal may have gone.
        with suppress(OSError):
            self._console.print(line, markup=False, soft_wrap=True)


class Bar(Lines):
    """A bar below the lines of failed points; successful points only move the bar."""

    _tells_all = False

    def __init__(self, console: Console, noun: str = "point", failed: str = "failed") -> None:
        super().__init__(console, noun, failed)
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._checking_since = time.monotonic()
        self._drawn = -math.inf

    def checking(self, done: int, of: int) -> None:
        """Show the progress of the check, if it takes a while."""
        if time.monotonic() - self._checking_since > _CHECK_SHOWN_AFTER and done % 100 == 0:
            self._show("checking", done, of, "")

    def begins(self, begin: Begin) -> None:
        """Print the plan of the sweep, and begin the bar."""
        self.over()
        super().begins(begin)
        if begin.to_run:
            self._show("running", 0, self._total, "")

    def tick(self, shares: dict[int, float]) -> None:
        """Move the bar."""
        if time.monotonic() - self._drawn < _DRAW_SECONDS:
            return
        left = self.seconds_left(shares)
        text = f"{self._done}/{self._total} {self._noun}s"
        if left is not None:
            text += f", about {clock(left)} left"
        under_way = sum(share for number, share in shares.items() if number > 0)
        self._show("running", self._done + under_way, self._total, text)

    def over(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            with suppress(OSError):
                self._progress.stop()
        self._progress = self._task = None

    def _show(self, what: str, done: float, of: int, text: str) -> None:
        with suppress(OSError):
            if self._progress is None or self._task is None:
                self._begin(what)
            if self._progress is not None and self._task is not None:
                self._progress.update(
                    self._task, description=what, completed=done, total=of, text=text
                )
                # Draw from here: a thread that draws ten times a second would take time from runs.
                self._progress.refresh()
                self._drawn = time.monotonic()

    def _begin(self, what: str) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[text]}"),
            console=self._console,
            transient=True,
            auto_refresh=False,
        )
        self._task = self._progress.add_task(what, total=None, text="")
        self._progress.start()


def announcement(begin: Begin, noun: str = "point") -> list[str]:
    """Return the plan of a start of a sweep, as sentences; a point is called ``noun``."""
    if not begin.points:
        return []
    lines = []
    invalid = sum(point.fault is not None for point in begin.points)
    count = len(begin.points)
    parts = [f"{count:,} {noun}{'s' if count != 1 else ''}"]
    if invalid:
        parts.append(f"{invalid:,} impossible and skipped")
    if begin.alike:
        parts.append(f"{begin.alike:,} with the inputs of another, whose results they share")
    if begin.kept:
        parts.append(f"{len(begin.kept):,} done before")
    if begin.without_tables:
        parts.append(f"{len(begin.without_tables):,} done without tables and run again")
    if begin.to_run:
        jobs = f"{begin.jobs} job{'s' if begin.jobs != 1 else ''}"
        parts.append(f"{len(begin.to_run):,} to run with {jobs}")
    else:
        parts.append("nothing to run")
    lines.append("; ".join(parts))
    lines += sharing.announcement(begin.shared, noun)
    if begin.available is not None and begin.jobs < min(begin.asked, len(begin.to_run)):
        lines.append(
            f"note: {begin.jobs} instead of {begin.asked} jobs, as the drives of more would "
            f"not fit the {units.size(begin.available)} of memory that are available"
        )
    if begin.left_over:
        lines.append(
            f"note: {begin.left_over:,} earlier {noun}s are no longer asked for; "
            "they stay in the directory and are not in its results"
        )
    return lines


def clock(seconds: float) -> str:
    """Format a duration as hours, minutes and seconds."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
