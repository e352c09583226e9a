"""Standard output and error, as rich writes to them."""

from __future__ import annotations

from rich.console import Console


class Page(Console):
    """A console that raises the error of a closed pipe."""

    def on_broken_pipe(self) -> None:
        """Raise the error; rich would end the process with an exit code of 1."""
        self.quiet = True
        raise BrokenPipeError
