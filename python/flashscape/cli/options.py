"""Options that several commands share."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from flashscape.near import meant, near
from flashscape.trace import CHOICES

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape.experiment import Experiment

    Command = TypeVar("Command", bound=Callable[..., Any])


class Choice(click.Choice):  # type: ignore[type-arg]
    """One of some names; the error suggests the most similar one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Find a name; fail with the most similar one."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            hint = meant(value, map(str, self.choices)).rstrip()
            if not hint:
                raise
            self.fail(f"{error.message} {hint[0].upper()}{hint[1:]}", param, ctx)


class Commands(click.Group):
    """A group of commands that suggests the correct name for a mistyped one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; fail with the most similar name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            found = near(args[0], self.list_commands(ctx))
            # Click's own groups suggest it themselves in later versions.
            if found is None or "Did you mean" in error.format_message():
                raise
            raise click.UsageError(f"{error.message} Did you mean {found!r}?", ctx) from None


def spelled(message: str, command: click.Command | None) -> str:
    """Return the message of an error with the command's option where it begins with an argument.

    Functions begin it with the name of the argument that is wrong.
    """
    name, colon, rest = message.partition(": ")
    groups = command.commands.values() if isinstance(command, click.Group) else ()
    for each in (command, *groups):
        for option in each.params if each is not None else ():
            if option.name == name and isinstance(option, click.Option):
                return f"{max(option.opts, key=len)}{colon}{rest}"
    return message


def experiment(
    file: Path, overrides: tuple[tuple[str, str], ...], *, snapshot_given: bool = False
) -> Experiment:
    """Read the experiment in a file, or on the standard input for ``-``; raise ConfigError."""
    from flashscape.experiment import Experiment

    if file != Path("-"):
        return Experiment.from_file(file, overrides, snapshot_given=snapshot_given)
    with click.open_file("-", encoding="utf-8") as stream:
        text = stream.read()
    return Experiment.from_text(
        text, overrides, name="standard input", snapshot_given=snapshot_given
    )


def override(text: str) -> tuple[str, str]:
    """Split ``drive.ftl.gc.victim=fifo`` into a path and a value."""
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise click.BadParameter(f"{text!r} is not of the form path=value")
    return path.strip(), value.strip()


def overrides(command: Command) -> Command:
    """Add ``--set path=value``, any number of times."""
    return click.option(
        "--set",
        "overrides",
        type=override,
        multiple=True,
        metavar="PATH=VALUE",
        help="Change a value of the configuration, such as drive.ftl.gc.victim=fifo. Repeatable.",
    )(command)


def workers(command: Command) -> Command:
    """Add ``--jobs N`` and ``--cluster tcp://HOST:8786``: the processes that do the runs."""
    for option in (
        click.option(
            "--cluster",
            metavar="WHERE",
            help="Run on the workers of a Dask scheduler (tcp://HOST:8786), or in a file's jobs.",
        ),
        click.option(
            "--jobs",
            type=click.IntRange(min=1),
            metavar="N",
            help="Processes; default: cores.",
        ),
    ):
        command = option(command)
    return command


def numbers(text: str, form: str) -> list[int]:
    """Split whole numbers; raise BadParameter with the form, such as ``1,10,100``."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is not of the form {form}") from None


def reads(_: click.Context, __: click.Parameter, text: str | None) -> list[int] | None:
    """Parse numbers of reads."""
    return None if text is None else numbers(text, "1,10,100")


def slow_above(command: Command) -> Command:
    """Add ``--slow-above 1ms``."""
    return click.option(
        "--slow-above",
        metavar="1ms",
        help="Also count queries with a read above this time, besides p99. Several: 500us,1ms.",
    )(command)


class Named(click.Path):
    """A path that is not empty: a shell's unset variable must not mean the current directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse the empty path."""
        if value == "":
            self.fail("a name is missing", param, ctx)
        return super().convert(value, param, ctx)


def snapshots(command: Command) -> Command:
    """Add ``--snapshot`` and ``--save-drive``."""
    for option in (
        click.option(
            "--save-drive",
            type=Named(path_type=Path),
            metavar="FILE",
            help="Save the drive as it is after the run, to start other runs from it.",
        ),
        click.option(
            "--snapshot",
            type=Named(path_type=Path),
            metavar="FILE",
            help="Start from this drive, in place of [precondition].",
        ),
    ):
        command = option(command)
    return command


def reading(command: Command) -> Command:
    """Add the options that resolve ambiguities of trace formats."""
    for option in (
        click.option(
            "--spread",
            type=Choice(CHOICES["spread"]),
            help="Spread requests of equal stamps over the stamps' unit.",
        ),
        click.option(
            "--truncated",
            type=Choice(CHOICES["truncated"]),
            help="A file whose end was cut: refuse it, or end before its last line.",
        ),
        click.option(
            "--length-unit",
            metavar="SIZE",
            help="The unit of lengths, such as '1 B'; default: that of addresses, or the format's.",
        ),
        click.option(
            "--block-size",
            metavar="SIZE",
            help="The unit of addresses and lengths (SPC: of addresses); default: the format's.",
        ),
        click.option(
            "--waits",
            type=Choice(CHOICES["waits"]),
            help="fio, version 2: the meaning of a wait; default: gaps.",
        ),
        click.option(
            "--time-unit",
            type=Choice(CHOICES["time_unit"]),
            help="The unit of stamps and of fio's waits; default: the format's.",
        ),
        click.option(
            "--event",
            type=Choice(CHOICES["event"]),
            help="blkparse: the event that is the request; default: queue.",
        ),
    ):
        command = option(command)
    return command


_KEYS = (
    (r'\bmode = "closed"', "--closed"),
    (
        r"\b(format|combine|disorder|out_of_range|spread|time_unit|block_size|length_unit|truncated)"
        r' = "([^"]+)"',
        lambda found: f"--{found[1].replace('_', '-')} {shlex.quote(found[2])}",
    ),
    (r"\bevent = \.\.\.", "--event ..."),
    (r"\bdevices = \[\.\.\.\]", "--devices 0,1,..."),
    (r"\bsay so with time_unit\b", "say so with --time-unit"),
)
"""Patterns of configuration keys in messages about traces, and the options that replace them."""


def as_options(advice: str) -> str:
    """Return advice on a trace with options of a command in the place of configuration keys."""
    for key, option in _KEYS:
        advice = re.sub(key, option, advice)
    return advice


def percentiles(command: Command) -> Command:
    """Add ``--percentiles 50,99.9`` for the tables of a command."""
    return percentiles_of("the tables")(command)


def percentiles_of(what: str) -> Callable[[Command], Command]:
    """Return the option ``--percentiles 50,99.9``, for what it names."""
    return click.option(
        "--percentiles",
        metavar="50,99.9",
        callback=_checked,
        help=f"Percentiles of latency in {what}.",
    )


def _checked(_context: click.Context, _option: click.Parameter, given: str | None) -> str | None:
    """Refuse texts that are no percentiles, before anything runs."""
    from flashscape.errors import ConfigError
    from flashscape.percentiles import chosen

    if given is not None:
        try:
            chosen(given)
        except ConfigError as error:
            raise click.BadParameter(str(error).removeprefix("percentiles: ")) from None
    return given


def results(command: Command) -> Command:
    """Add ``--out``, ``--plot``, ``--requests``, ``--fio-json`` and related options."""
    for option in (
        click.option("--quiet", is_flag=True, help="No progress, no announcements, no summary."),
        click.option("--force", is_flag=True, help="Overwrite earlier results."),
        click.option(
            "--group-reporting",
            is_flag=True,
            help="--fio-json: one job for all initiators, as with fio's option.",
        ),
        click.option(
            "--fio-json",
            type=Named(path_type=Path),
            metavar="FILE",
            help="Write the results as fio's json+ has them.",
        ),
        click.option(
            "--requests",
            type=Named(path_type=Path),
            metavar="FILE",
            help="Write every counted request with its blame, as Parquet.",
        ),
        plot("DIR/tail.svg"),
        click.option(
            "--out",
            type=Named(path_type=Path),
            metavar="DIR",
            help="Write summary.json and Parquet tables.",
        ),
    ):
        command = option(command)
    return command


def plot(what: str) -> Callable[[Command], Command]:
    """Return the option ``--plot``, which draws ``what``."""
    return click.option(
        "--plot", is_flag=True, help=f"Draw {what}, too; `flashscape plot DIR` does so later."
    )


def refuse_plot(out: Path | None) -> None:
    """Refuse ``--plot`` at once if nothing could be drawn in the end."""
    from flashscape import drawing
    from flashscape.errors import OutputError

    if out is None:
        raise click.UsageError("--plot draws next to the results; name their directory with --out")
    if not drawing.is_available():
        raise OutputError(f"no picture: {drawing.NOT_INSTALLED}")
