"""A progress bar with simulated time, speed and time left, for terminals and notebooks."""

from __future__ import annotations

import time
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from flashscape import units
from flashscape.terminal import Page

if TYPE_CHECKING:
    from rich.console import Console

_LEFT = 36
"""Columns that are not for the speed: spinner, phase, bar, percentage, time left."""


class Bar:
    """Shows a run's progress on stderr or in a notebook; nothing if there is neither."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Page(stderr=True)
        # In notebooks, rich draws with a package of its own.
        in_notebook = self._console.is_jupyter
        is_drawn = find_spec("ipywidgets") is not None if in_notebook else self._console.is_terminal
        self._lacks = in_notebook and not is_drawn
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            # On a narrow terminal, shorten the bar and keep the time.
            TimeRemainingColumn(table_column=Column(no_wrap=True, min_width=len("0:00:00"))),
            TextColumn("{task.fields[speed]}"),
            console=self._console,
            transient=True,
            disable=not is_drawn,
        )
        self._task: TaskID | None = None
        self._phase = ""
        self._begun = 0.0
        # A phase starts at the last report of the previous one.
        self._heard = time.perf_counter()

    def surveyed(self, announcement: str) -> None:
        """Print a description of a trace that was read."""
        # The reader of stderr may have gone, which is no reason to end a run.
        with suppress(OSError):
            is_whole = not self._console.is_terminal
            self._console.print(announcement, highlight=False, markup=False, soft_wrap=is_whole)

    def preconditioning(self, share: float) -> None:
        """Show the share of filling and ageing that is done."""
        self._show("filling and ageing", share, "")

    def running(self, simulated_ns: int, requests: int, share: float | None) -> None:
        """Show the progress and the speed of the run."""
        self._begin("running")
        seconds = max(time.perf_counter() - self._begun, 1e-9)
        parts = (
            f"{units.duration(simulated_ns)} simulated",
            f"{units.count(requests / seconds)} requests/s",
            f"{simulated_ns / 1e9 / seconds:.3g} simulated s per s",
        )
        self._show("running", share, self._fitting(parts))

    def passing(self, phase: str, requests: int, share: float) -> None:
        """Show the progress of reading or writing a trace."""
        self._begin(phase)
        seconds = max(time.perf_counter() - self._begun, 1e-9)
        parts = (f"{units.count(requests)} requests", f"{units.count(requests / seconds)} a second")
        self._show(phase, share, self._fitting(parts))

    def comparing(self, share: float) -> None:
        """Show the progress of comparing runs."""
        self._show("comparing", share, "")

    def _fitting(self, parts: tuple[str, ...]) -> str:
        """Return as many of the parts as there is room for."""
        room = self._console.width - _LEFT
        texts = (", ".join(parts[:count]) for count in range(len(parts), 0, -1))
        return next((text for text in texts if len(text) <= room), "")

    def ended(self) -> None:
        """Remove the bar."""
        # The terminal may have gone.
        with suppress(OSError):
            self._progress.stop()

    def saving(self, complete: bool) -> None:
        """Tell a user who has interrupted the run that partial results are being saved."""
        if not complete:
            with suppress(OSError):
                self._console.print("interrupted: saving partial results", highlight=False)

    def _begin(self, phase: str) -> None:
        if phase == self._phase:
            return
        self._phase = phase
        self._begun = self._heard
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(phase, total=None, speed="")
        self._progress.start()
        if self._lacks:
            self._console.print(f"{phase} … (for a bar: pip install ipywidgets)", highlight=False)

    def _show(self, phase: str, share: float | None, speed: str) -> None:
        self._begin(phase)
        self._heard = time.perf_counter()
        if self._task is not None:
            total = None if share is None else 1.0
            self._progress.update(self._task, total=total, completed=share or 0.0, speed=speed)
