"""The way in and the way out: every error becomes one message and an exit code.

0: done. 1: the run failed. 2: bad usage, configuration or trace. 130: interrupted.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from flashscape._flashscape import __version__
from flashscape.errors import ConfigError, FlashscapeError, Interrupted, TraceError

_COMMANDS = {
    "run": "Run an experiment.",
    "replay": "Replay a trace on a preset drive, without any file.",
    "check": "Check an experiment and print what follows from it.",
    "explain": "Say where the tail of a run comes from.",
    "presets": "List the drives that ship with flashscape, or show one.",
    "schema": "Print the JSON Schema of experiments, for editors.",
}

_TRACEBACK = "FLASHSCAPE_TRACEBACK"
"""Environment variable that shows where an error comes from, for developers."""


class _Commands(click.Group):
    """Knows the commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"flashscape.cli.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            # Before click sees it, which would print an empty line.
            ctx.exit(_interrupted(error))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="flashscape")
def cli() -> None:
    """Say what latency tail an SSD shows its host, and why.

    Begin with `flashscape replay TRACE --drive dc-tlc --out results`, then
    `flashscape explain results`.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    sys.exit(_status(arguments))


def _status(arguments: list[str] | None) -> int:
    try:
        status = cli(arguments, prog_name="flashscape", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return 2
    except BrokenPipeError:
        # Whoever read our output has enough; Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return failed(error)
    return int(status or 0)


def _interrupted(error: BaseException) -> int:
    is_partial = isinstance(error, Interrupted) and error.result is not None
    _say("interrupted; results are partial" if is_partial else "interrupted; there are no results")
    return 130


def failed(error: Exception) -> int:
    """Say what went wrong; return the exit code."""
    if os.environ.get(_TRACEBACK):
        raise error
    if isinstance(error, (ConfigError, TraceError)):
        _say(str(error))
        return 2
    if isinstance(error, FlashscapeError):
        _say(str(error))
    elif isinstance(error, MemoryError):
        _say("out of memory; choose a smaller drive or a larger mapping unit")
    elif isinstance(error, OSError):
        _say(f"{error.filename or 'input or output'}: {error.strerror or error}")
    else:
        _say(
            f"this is a bug of flashscape, please report it: {type(error).__name__}: {error} "
            f"(set {_TRACEBACK}=1 to see where)"
        )
    return 1


def _say(message: str) -> None:
    click.echo(f"{click.style('error', fg='red', bold=True)}: {message}", err=True)
