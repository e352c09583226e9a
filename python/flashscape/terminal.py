"""The standard output and error as rich writes to them."""

from __future__ import annotations

from rich.console import Console


class Page(Console):
    """A console that leaves it to the command what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        """Pass the error on, where rich would end the process with an exit code of 1."""
        self.quiet = True
        raise BrokenPipeError
