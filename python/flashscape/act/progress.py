"""How a search goes: a line for each multiplier, and on a terminal a bar below them."""

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
"""How often a bar is drawn at most: each time takes milliseconds from the runs."""


class Watch:
    """Says on stderr what is done, and how each multiplier has ended."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False)

    def ageing(self) -> progress.Bar:
        """The drive is going to be filled and overwritten."""
        self._print("filling and ageing the drive")
        return _Ageing(self._console)

    def running(self) -> progress.Bar:
        """One multiplier is going to be run."""
        return _Running(self._console)

    def trying(self, multipliers: Sequence[int]) -> SweepObserver:
        """These multipliers are going to be run at the same time."""
        names = "trying " + ", ".join(f"{multiplier}x" for multiplier in multipliers)
        if not self._console.is_terminal:
            self._print(names)
            return SilentSweep()
        return _Trying(self._console, names, len(multipliers))

    def tried(self, trial: Trial) -> None:
        """Say how a multiplier has ended."""
        latency = trial.small_reads
        tail = f"p99 {units.duration(latency.p99)}: " if latency.requests else ""
        self._print(f"{trial.multiplier}x: {tail}{verdict(trial)}")

    def over(self) -> None:
        """Nothing is left to take away."""

    def _print(self, line: str) -> None:
        # The terminal may be what has gone.
        with suppress(OSError):
            self._console.print(line, markup=False, soft_wrap=True)


def verdict(trial: Trial) -> str:
    """What a multiplier passes, or the first condition that it fails."""
    if trial.passes_performance:
        return "passes"
    if trial.passes_stress:
        return f"passes stress only: {trial.failures[0]}"
    return f"fails: {trial.stress_failures[0]}"


class _Running(progress.Bar):
    """A bar for one multiplier."""

    def saving(self, complete: bool) -> None:
        """Say nothing: what was measured until an interruption is only kept with --out."""


class _Ageing(_Running):
    """A bar for the writes that a drive is aged by."""

    def running(self, simulated_ns: int, requests: int, share: float | None) -> None:
        """Show how far the drive is overwritten."""
        self.passing("ageing", requests, share or 0.0)


class _Trying(SilentSweep):
    """A bar for the multipliers that are run at the same time."""

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
        """One of them has ended."""
        self._done += 1

    def tick(self, shares: dict[int, float]) -> None:
        """Move the bar."""
        if time.monotonic() - self._drawn < _DRAW_SECONDS:
            return
        self._drawn = time.monotonic()
        if self._progress is not None and self._task is not None:
            with suppress(OSError):
                self._progress.update(self._task, completed=self._done + sum(shares.values()))
                # By hand: a thread that draws would take time from the runs.
                self._progress.refresh()

    def over(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            with suppress(OSError):
                self._progress.stop()
        self._progress = self._task = None
