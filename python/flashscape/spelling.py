"""Options in messages: as a command has them, or as a function of Python has them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_is_command = False


def of_command(*, is_command: bool) -> None:
    """Choose the spelling of all further messages: that of commands, or that of Python."""
    global _is_command
    _is_command = is_command


def option(command: str, python: str) -> str:
    """Return an option as the user writes it: ``--out DIR`` in a command, else ``out=...``."""
    return command if _is_command else python


def how_to_repeat(folder: Path) -> str:
    """Return how to run the run again whose results are in a directory, with all tables."""
    return option(
        f"flashscape run {shlex.quote(str(folder))} --out DIR",
        f"flashscape.run({str(folder)!r}, out=...)",
    )
