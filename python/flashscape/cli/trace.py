"""``flashscape trace``: what traces are like, conversions, synthetic traces."""

from __future__ import annotations

import contextlib
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from flashscape import trace, units
from flashscape.cli import options
from flashscape.cli.replay import devices as device_numbers
from flashscape.cli.replay import number
from flashscape.errors import FlashscapeError
from flashscape.near import listed
from flashscape.output import refuse_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashscape.trace import TraceInfo

    Command = TypeVar("Command", bound=Callable[..., Any])

_KINDS = ("read", "write", "trim", "flush", "write-zeroes")


def _size(text: str) -> str:
    """Parse a size such as ``512 MiB``, by the rules of configurations."""
    try:
        size = units.size_of(text)
    except ValueError as refusal:
        raise click.BadParameter(str(refusal)) from None
    if size == 0:
        raise click.BadParameter(f"{text!r} is nothing; it must be more than 0 B")
    return text


def _duration(text: str) -> int:
    """Parse a time such as ``1.5 s``, by the rules of configurations."""
    try:
        return units.nanoseconds(text)
    except ValueError as refusal:
        raise click.BadParameter(str(refusal)) from None


def _kinds(text: str) -> list[str]:
    """Split ``trim,flush``."""
    kinds = [kind.strip() for kind in text.split(",")]
    for kind in kinds:
        if kind not in _KINDS:
            raise click.BadParameter(f"no kind {kind!r} {listed(kind, _KINDS)}")
    return [kind.replace("-", "_") for kind in kinds]


class _Formats(click.ParamType):  # type: ignore[type-arg]
    """The name of a format; the formats are looked up only when needed."""

    name = "FORMAT"

    def __init__(self, *, written: bool = False) -> None:
        self._written = written

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        known = [f.name for f in trace.formats().values() if f.is_written or not self._written]
        if value not in known:
            self.fail(f"no format {value!r} {listed(value, known)}", param, ctx)
        return value


_format = click.option(
    "--format", "format_", type=_Formats(), help="The format of FILE; default: detected."
)
_memory = click.option(
    "--memory",
    type=_size,
    default=trace.MEMORY,
    show_default=True,
    metavar="SIZE",
    help="Memory for the footprint; a larger footprint is sampled.",
)
_drop = click.option(
    "--drop", type=_kinds, metavar="KINDS", help="Leave out trim,flush or the like."
)
_force = click.option("--force", is_flag=True, help="Overwrite the output.")
_quiet = click.option("--quiet", is_flag=True, help="No progress, no report.")
_out = click.Path(path_type=Path, dir_okay=False)


@click.group("trace", cls=options.Commands)
def command() -> None:
    """Say what a trace is like, convert it, or make a synthetic trace like it."""


@command.command("info", short_help="Say what traces are like.")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@_format
@options.reading
@_memory
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE|-",
    help="Write the figures of all files as JSON; - is standard output.",
)
@_force
@_quiet
def info(
    files: tuple[Path, ...],
    format_: str | None,
    memory: str,
    json_file: Path | None,
    force: bool,
    quiet: bool,
    **reading: str | None,
) -> None:
    """Say what the traces in FILE... are like: mix, sizes, bursts, footprint, hotness, runs."""
    to_stdout = json_file == Path("-")
    if json_file is not None and not to_stdout:
        trace.refuse_if_there(json_file, force=force)
        refuse_inputs([json_file], files)
    measured: list[TraceInfo] = []
    faults: list[FlashscapeError] = []
    for file in files:
        try:
            with _progress(f"reading {file.name}", quiet=quiet) as ongoing:
                found = trace.info(
                    file, format=format_, memory=memory, ongoing=ongoing, **_checked(reading)
                )
        except FlashscapeError as error:
            faults.append(error)
            continue
        measured.append(found)
        if not (quiet or to_stdout):
            _print(found, is_first=len(measured) == 1)
    if json_file is not None and measured:
        figures = [found.to_dict() for found in measured]
        text = json.dumps(figures[0] if len(files) == 1 else figures, indent=2, ensure_ascii=False)
        if to_stdout:
            click.echo(text)
        else:
            trace.write(json_file, text + "\n", force=force)
    if faults:
        # Every file is measured; the first error carries the text of all.
        faults[0].args = ("\n".join(str(fault) for fault in faults), *faults[0].args[1:])
        raise faults[0]


def _print(found: TraceInfo, *, is_first: bool) -> None:
    from flashscape.report import text

    if not is_first:
        click.echo()
    text.console().print(text.trace(found, wording=options.as_options))


@command.command("convert", short_help="Write a trace in another format.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("out", type=_out)
@click.option("--to", required=True, type=_Formats(written=True), help="The format of OUT.")
@_format
@options.reading
@_drop
@click.option("--round", "round_", is_flag=True, help="Ranges outwards, stamps down, to fit OUT.")
@click.option("--sort", is_flag=True, help="Put requests in the order of their stamps.")
@click.option("--devices", type=device_numbers, metavar="0,1", help="Keep these devices only.")
@click.option("--start", type=_duration, metavar="TIME", help="Keep from here, since the first.")
@click.option("--end", type=_duration, metavar="TIME", help="Keep what comes before this.")
@click.option("--time-scale", type=number, metavar="X", help="Stretch stamps: 2 is half as fast.")
@click.option("--rebase", is_flag=True, help="Let stamps count from the first request kept.")
@_force
@_quiet
def convert(
    file: Path,
    out: Path,
    to: str,
    format_: str | None,
    drop: list[str] | None,
    round_: bool,
    quiet: bool,
    start: int | None,
    end: int | None,
    **choices: Any,
) -> None:
    """Write the trace in FILE to OUT in another format.

    OUT is compressed if its name ends in .gz or .zst. What the format cannot express is
    refused, unless --drop or --round says what to do about it.
    """
    with _progress(f"converting {file.name}", quiet=quiet) as ongoing:
        done = trace.convert(
            file,
            out,
            to,
            format=format_,
            drop=drop or (),
            round=round_,
            start_ns=start,
            end_ns=end,
            ongoing=ongoing,
            **_checked(choices),
        )
    if quiet:
        return
    click.echo(
        f"{out}: {done['title']}, {done['written']:,} of {units.many(done['read'], 'request')}"
    )
    _say_losses(done)


@command.command("describe", short_help="Write the statistics of a trace.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=_out, metavar="FILE", help="File for the statistics (JSON)."
)
@_format
@options.reading
@_memory
@_force
@_quiet
def describe(
    file: Path,
    out: Path,
    format_: str | None,
    memory: str,
    force: bool,
    quiet: bool,
    **reading: str | None,
) -> None:
    """Write statistics of the trace in FILE, from which a synthetic trace can be made.

    They describe rates over time, sizes, gaps, sequences, rewrites, and the heat of addresses,
    and contain no address and no time of a single request.
    """
    with _progress(f"reading {file.name}", quiet=quiet) as ongoing:
        found = trace.describe(
            file,
            out,
            format=format_,
            memory=memory,
            force=force,
            ongoing=ongoing,
            **_checked(reading),
        )
    if quiet:
        return
    for note in found.notes:
        click.echo(f"note: {options.as_options(note)}", err=True)
    click.echo(f"{out}: the statistics of {units.many(found.requests, 'request')}")
    click.echo(f"A synthetic trace: flashscape trace imitate {out} --out FILE")


@command.command("imitate", short_help="Make a synthetic trace from statistics.")
@click.argument("description", metavar="STATS", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=_out, metavar="FILE", help="Where it goes.")
@click.option(
    "--to", type=_Formats(written=True), default="captured", show_default=True, help="Its format."
)
@click.option("--rows", type=click.IntRange(min=1), metavar="N", help="Requests.")
@click.option("--span", type=_size, metavar="SIZE", help="Size of the address space.")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True)
@_drop
@_force
@_quiet
def imitate(
    description: Path, out: Path, drop: list[str] | None, quiet: bool, **choices: Any
) -> None:
    """Make a synthetic trace for the trace that STATS describes.

    It has similar statistics, and none of the original requests. The order of hot and cold
    addresses is new, and several devices become one. `trace info` measures it. The same seed
    gives the same file.
    """
    with _progress(f"writing {out.name}", quiet=quiet) as ongoing:
        done = trace.imitate(description, out, drop=drop or (), ongoing=ongoing, **choices)
    if quiet:
        return
    click.echo(f"{out}: {done['title']}, {units.many(done['written'], 'request')}")
    click.echo(
        f"note: this is a synthetic trace made from {description}, no trace of a real program; "
        f"flashscape trace info {shlex.quote(str(out))} has its statistics, to compare with "
        "those of the original",
        err=True,
    )
    _say_losses(done)


def _checked(choices: dict[str, Any]) -> dict[str, Any]:
    """Return the options without those that have no value for this command."""
    for key in ("block_size", "length_unit"):
        if (size := choices[key]) is not None:
            try:
                _size(size)
            except click.BadParameter as refusal:
                hint = f"'--{key.replace('_', '-')}'"
                raise click.BadParameter(refusal.message, param_hint=hint) from None
    return choices


def _say_losses(done: dict[str, Any]) -> None:
    for kind, count in done["dropped"].items():
        click.echo(f"left out on request: {count:,} {kind.replace('_', '-')}", err=True)
    if elsewhere := done.get("not_asked_for"):
        click.echo(f"not asked for (other devices or times): {elsewhere:,}", err=True)
    if rounded := done["rounded"]:
        click.echo(f"rounded to what the format has: {rounded:,}", err=True)
    for note in done.get("notes", ()):
        click.echo(f"note: {options.as_options(note)}", err=True)


@contextlib.contextmanager
def _progress(phase: str, *, quiet: bool) -> Iterator[Callable[[int, float], None] | None]:
    """Return a progress bar for reading or writing a trace; put errors in terms of options."""
    from flashscape.progress import Bar

    bar = None if quiet else Bar()
    try:
        yield None if bar is None else lambda read, share: bar.passing(phase, read, share)
    except FlashscapeError as error:
        error.args = (options.as_options(str(error)), *error.args[1:])
        raise
    finally:
        if bar is not None:
            bar.ended()
