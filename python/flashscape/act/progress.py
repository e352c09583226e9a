"""Progress of a search: a line for each multiplier, and on a terminal a bar below them."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from rich.console import Console

from flashscape import progress, units
from flashscape.sweep import SilentSweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import Progress, TaskID

    from flashscape.act.trial import Trial
    from flashscape.sweep import Begin, Ended, SweepObserver

_DRAW_SECONDS = 0.4
"""Shortest time between two drawings of a bar: each takes milliseconds from the runs."""


class Watch:
    """Reports progress and the verdict of each multiplier on stderr."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False)

    def ageing(self) -> progress.Bar:
        """Start the bar of filling and overwriting the drive."""
        self._print("filling and ageing the drive")
        return _Ageing(self._console)

    def running(self) -> progress.Bar:
        """Start the bar of one multiplier."""
        return _Running(self._console)

    def trying(self, multipliers: Sequence[int]) -> SweepObserver:
        """Start the bar of multipliers that run at the same time."""
        names = "trying " + ", ".join(f"{multiplier}x" for multiplier in multipliers)
        if not self._console.is_terminal:
            self._print(names)
            return SilentSweep()
        return _Trying(self._console, names, len(multipliers))

    def tried(self, trial: Trial) -> None:
        """Print the verdict of a multiplier."""
        latency = trial.small_reads
        tail = f"p99 {units.duration(latency.p99)}: " if latency.requests else ""
        self._print(f"{trial.multiplier}x: {tail}{verdict(trial)}")

    def over(self) -> None:
        """Do nothing: no bar is left to remove."""

    def _print(self, line: str) -> None:
        # The terminal may have been closed.
        with suppress(OSError):
            self._console.print(line, markup=False, soft_wrap=True)


def verdict(trial: Trial) -> str:
    """Return the tests that a multiplier passes, or the first condition that it fails."""
    if trial.passes_performance:
        return "passes"
    if trial.passes_stress:
        return f"passes stress only: {trial.failures[0]}"
    return f"fails: {trial.stress_failures[0]}"


class _Running(progress.Bar):
    """A bar for one multiplier."""

    def saving(self, complete: bool) -> None:
        """Print nothing: without --out, an interrupted run keeps no results."""


class _Ageing(_Running):
    """A bar for the writes that age a drive."""

    def running(self, simulated_ns: int, requests: int, share: float | None) -> None:
        """Show the share of the overwriting that is done."""
        self.passing("ageing", requests, share or 0.0)


class _Trying(SilentSweep):
    """A bar for the multipliers that run at the same time."""

    def __init__(self, console: Console, name: str, total: int) -> None:
        self._console = console
        self._name = name
        self._total = total
        self._done = 0
        self._drawn = 0.0
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def begins(self, begin: Begin) -> None:
        """Begin the bar."""
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
        self._progress = Progress(
            *columns, console=self._console, transient=True, auto_refresh=False
        )
        self._task = self._progress.add_task(self._name, total=self._total)
        self._progress.start()

    def ended(self, ended: Ended) -> None:
        """Count a multiplier that has ended."""
        self._done += 1

    def tick(self, shares: dict[int, float]) -> None:
        """Move the bar."""
        if time.monotonic() - self._drawn < _DRAW_SECONDS:
            return
        self._drawn = time.monotonic()
        if self._progress is not None and self._task is not None:
            with suppress(OSError):
                self._progress.update(self._task, completed=self._done + sum(shares.values()))
                # Draw from here: a drawing thread would take time from the runs.
                self._progress.refresh()

    def over(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            with suppress(OSError):
                self._progress.stop()
        self._progress = self._task = None
