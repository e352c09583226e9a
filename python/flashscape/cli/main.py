"""Entry and exit of the command line: every error becomes one message and an exit code.

0: success. 1: the run failed. 2: wrong usage, configuration or trace. 128 plus a signal's
number: the signal ended the run; 130 is Ctrl-C.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
from importlib import import_module
from typing import Any, TextIO, cast

import click

from flashscape import signals, spelling
from flashscape._flashscape import __version__
from flashscape.cli import options
from flashscape.errors import (
    ConfigError,
    FlashscapeError,
    Interrupted,
    PolicyError,
    SnapshotError,
    StudyError,
    TraceError,
)

_COMMANDS = {
    "run": "Run an experiment.",
    "replay": "Replay a trace on a preset drive, without any file.",
    "check": "Check an experiment and print what follows from it.",
    "sweep": "Run variations of an experiment over the cores.",
    "fleet": "Run many drives that begin alike, and merge their results.",
    "fanout": "Report how often queries over many reads are slow, from saved results.",
    "compare": "Compare runs; name a winner only if significant.",
    "lifetime": "Project the life of a drive: TBW and DWPD until a limit of UBER or wear.",
    "act": "Certify a drive as the Aerospike Certification Tool does.",
    "reproduce": "Run a paper's experiments and judge its claims.",
    "trace": "Describe a trace, convert it, or make a synthetic trace like it.",
    "explain": "Explain the latency tail of a run.",
    "plot": "Draw the pictures of results.",
    "snapshot": "Save a drive, and start runs from it.",
    "policies": "List the policies of a drive.",
    "import-fio": "Turn a job file of fio into an experiment.",
    "import-mqsim": "Turn a configuration of MQSim into an experiment.",
    "presets": "List the drives that ship with flashscape, or show one.",
    "schema": "Print the JSON Schema of experiments, for editors.",
}

_TRACEBACK = "FLASHSCAPE_TRACEBACK"
"""Environment variable that shows where an error comes from, for developers."""


class _Commands(options.Commands):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(
            f"flashscape.cli.{cmd_name.replace('-', '_')}"
        ).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        spelling.of_command(is_command=True)
        try:
            return super().invoke(ctx)
        except ConfigError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            raise ConfigError(options.spelled(str(error), command)) from error
        except KeyboardInterrupt as error:
            # Handle it before click does, which would print an empty line.
            ctx.exit(_interrupted(error))
        except BrokenPipeError:
            # Handle it before click does, which would exit with 1: the reader has read enough.
            _abandon_output()
            ctx.exit(0)
        finally:
            spelling.of_command(is_command=False)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="flashscape")
def cli() -> None:
    """Say what latency tail an SSD shows its host, and why.

    Begin with `flashscape replay TRACE --drive dc-tlc --out results`, then
    `flashscape explain results` and `flashscape plot results`.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    _print_what_can_be()
    signals.guard()
    try:
        status = _status(arguments)
    except KeyboardInterrupt as error:
        status = _interrupted(error)
    signals.ignore()
    sys.exit(status)


def _print_what_can_be() -> None:
    """Print characters that an encoding lacks, such as ± in ASCII, as question marks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _status(arguments: list[str] | None) -> int:
    if sys.stdout is None:
        # A closed standard output may be intended: fail only if something is printed.
        sys.stdout = cast("TextIO", _Closed())
    try:
        status = cli(arguments, prog_name="flashscape", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort as error:
        return _interrupted(error)
    except BrokenPipeError:
        _abandon_output()
        return 0
    except Exception as error:
        return failed(error)
    return int(status or 0)


class _Closed(io.TextIOBase):
    """A standard output that was closed before the program began."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "is closed")


def _abandon_output() -> None:
    """Drop the unwritten output, so that Python does not complain about it at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted(error: BaseException) -> int:
    number = signals.first()
    how = "interrupted" if number == signal.SIGINT else f"interrupted by {number.name}"
    result, kept = None, ""
    if isinstance(error, Interrupted):
        how, result, kept = f"{how} {error.where}", error.result, error.kept
    # The terminal may have gone.
    with contextlib.suppress(OSError):
        if result is None:
            _say(f"{how}; {kept or 'there are no results'}")
        elif result.complete:
            _say(f"{how}; they are complete")
        else:
            _say(f"{how}; results are partial")
    return 128 + number


def failed(error: Exception) -> int:
    """Say what went wrong; return the exit code."""
    if os.environ.get(_TRACEBACK):
        raise error
    if isinstance(error, (ConfigError, PolicyError, SnapshotError, StudyError, TraceError)):
        _say(str(error))
        return 2
    if isinstance(error, FlashscapeError):
        _say(str(error))
    elif isinstance(error, MemoryError):
        _say("out of memory; choose a smaller drive or a larger mapping unit")
    elif isinstance(error, OSError) and error.filename is None:
        # All files are opened by name.
        _abandon_output()
        _say(f"standard output: cannot be written: {error.strerror or error}")
    elif isinstance(error, OSError):
        _say(f"{error.filename}: {error.strerror or error}")
    else:
        _say(
            f"this is a bug of flashscape, please report it: {type(error).__name__}: {error} "
            f"(set {_TRACEBACK}=1 to see where)"
        )
    return 1


def _say(message: str) -> None:
    click.echo(f"{click.style('error', fg='red', bold=True)}: {message}", err=True)
