"""The option ``--json FILE`` of all commands that have it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashscape import output
from flashscape.cli.options import Named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

STDOUT = Path("-")
_OPTION = "--json"


def option(what: str) -> Callable[[Any], Any]:
    """Return the option ``--json FILE``, which writes ``what``; ``-`` is the standard output."""
    return click.option(
        _OPTION,
        "document",
        type=Named(path_type=Path, allow_dash=True),
        metavar="FILE",
        help=f"Write {what} as JSON; - is standard output, and nothing else goes there.",
    )


class Command(click.Command):
    """A command that still accepts ``--json`` alone, the old form of ``--json -``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the standard output after an option that lacks its file."""
        at = args.index(_OPTION) if _OPTION in args else None
        if at is not None and "--" not in args[:at] and not _is_file(args[at + 1 : at + 2]):
            with contextlib.suppress(OSError):
                click.echo(f"note: {_OPTION} alone is an old form of {_OPTION} -", err=True)
            args = [*args[: at + 1], str(STDOUT), *args[at + 1 :]]
        return super().parse_args(ctx, args)


def _is_file(behind: Sequence[str]) -> bool:
    """Return True if the next argument is meant as the file of ``--json``.

    An existing file without the suffix .json, or a directory, is the command's input, as in
    command lines from the time when the option took no file.
    """
    if not behind:
        return False
    (given,) = behind
    if given in (str(STDOUT), "") or given.endswith(".json"):
        return True
    return not (given.startswith("-") or Path(given).exists())


class Document:
    """Target of the JSON text."""

    def __init__(self, file: output.File | None) -> None:
        self._file = file

    def store(self, text: str) -> None:
        """Write the text; raise OutputError."""
        if self._file is None:
            click.echo(text, nl=not text.endswith("\n"))
        else:
            self._file.store(text.encode())


@contextlib.contextmanager
def claimed(
    document: Path | None, inputs: Sequence[str | PathLike[str]], *, force: bool
) -> Iterator[Document | None]:
    """Claim the file before anything runs; raise OutputError if it cannot be written."""
    if document is None or document == STDOUT:
        yield None if document is None else Document(None)
        return
    output.refuse_inputs([document], inputs)
    with output.File.claim(document, _OPTION, force=force) as file:
        yield Document(file)
