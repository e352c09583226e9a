"""Running an experiment with output on the terminal."""

from __future__ import annotations

import contextlib
import json
import shlex
from typing import TYPE_CHECKING, NamedTuple

import click

from flashscape import drawing, output
from flashscape.cli import documents, options
from flashscape.errors import ConfigError, Interrupted, OutputError, StarvationError
from flashscape.run import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from flashscape.experiment import Experiment
    from flashscape.measured import Measured
    from flashscape.run import Observer


class Targets(NamedTuple):
    """Targets of results besides the terminal."""

    out: Path | None
    requests: Path | None
    fio_json: Path | None
    group_reporting: bool
    force: bool
    snapshot: Path | None
    save_drive: Path | None

    def refuse(self, summary: Path | None) -> None:
        """Refuse options that mean nothing, and a summary's file that is also another output."""
        if self.group_reporting and self.fio_json is None:
            raise click.UsageError("--group-reporting is about fio's fields: it needs --fio-json")
        if summary is None or summary == documents.STDOUT:
            return
        others = [f for f in (self.requests, self.fio_json, self.save_drive) if f is not None]
        directory = None if self.out is None else output.Directory(self.out)
        output.must_differ(directory, None, [output.File(each) for each in (*others, summary)])


class Printed(NamedTuple):
    """Options of the output on the terminal."""

    document: Path | None
    """File of ``--json``; ``-`` for standard output."""
    percentiles: str | None
    """Percentiles that the tables show; None for the usual ones."""
    quiet: bool
    wording: Callable[[str], str] = str
    """Function that rewords notes for the command."""

    @property
    def are_tables_off(self) -> bool:
        """True if standard output is quiet, or for JSON alone."""
        return self.quiet or self.document == documents.STDOUT


def run_and_show(
    experiment: Experiment,
    targets: Targets,
    printed: Printed,
    *,
    plot: bool,
    observer: Observer | None = None,
) -> Measured:
    """Run, with a bar on the terminal, and print the summary; raise what ``run`` raises.

    ``observer`` takes the place of the bar, unless the command is quiet.
    """
    if plot:
        options.refuse_plot(targets.out)
        if experiment.config["run"].get("untimed", False):
            raise ConfigError("--plot: an untimed run (run.untimed) has no picture")
    targets.refuse(printed.document)
    inputs: list[str | Path] = [*experiment.files]
    if targets.snapshot is not None:
        inputs.append(targets.snapshot)
    with documents.claimed(printed.document, inputs, force=targets.force) as written:
        try:
            progress = not printed.quiet and (observer or True)
            result = run(experiment, **targets._asdict(), progress=progress)
        except Interrupted as interrupted:
            # The terminal may have gone; the results are written.
            with contextlib.suppress(OSError):
                _print(interrupted.result, printed, written)
            raise
        except (OutputError, StarvationError) as error:
            _print(error.result, printed, written)
            raise
        _print(result, printed, written)
    quiet = printed.are_tables_off
    if not quiet:
        _say_where(targets, printed, result)
    if plot and targets.out is not None:
        draw(targets.out, quiet=quiet)
    elif targets.out is not None and not quiet:
        _say_left(targets.out, result)
    return result


def _print(result: Measured | None, printed: Printed, written: documents.Document | None) -> None:
    if result is None:
        return
    if written is not None:
        written.store(json.dumps(result.summary, indent=2, ensure_ascii=False) + "\n")
    if not printed.are_tables_off:
        from flashscape.report import text

        notes = [printed.wording(note) for note in result.summary["notes"]]
        text.console().print(text.summary(result, printed.percentiles, notes))


def _say_where(targets: Targets, printed: Printed, result: Measured) -> None:
    out = targets.out
    files = (
        ("The summary is", printed.document),
        ("Requests are", targets.requests),
        ("fio's fields are", targets.fio_json),
    )
    for what, file in files:
        if file is not None:
            click.echo(f"\n{what} in {file}.")
    if out is None and any(file for _, file in files):
        return
    if out is None:
        readers = "`flashscape explain`" if result.untimed else "`flashscape explain` and `plot`"
        click.echo(f"\nThese results were not saved. --out DIR saves them, for {readers}.")
        return
    click.echo(f"\n{_where(out, result)}")


def _where(out: Path, result: Measured) -> str:
    explain = f"flashscape explain {shlex.quote(str(out))}"
    if result.untimed:
        return f"Results are in {out}. To see its cost to the flash: {explain}"
    return f"Results are in {out}. Where the tail comes from: {explain}"


def say_where(out: Path, result: Measured) -> None:
    """Say where the results are, and that their picture is not drawn."""
    click.echo(f"\n{_where(out, result)}")
    _say_left(out, result)


def _say_left(out: Path, result: Measured) -> None:
    from flashscape.picture import why_not

    say_left("tail.svg", out, why_not(result))


def say_left(picture: str, out: Path, why: str | None) -> None:
    """Say that a picture is not drawn; print nothing if there is nothing to draw."""
    if why is None:
        draws = f"flashscape plot {shlex.quote(str(out))}"
        click.echo(f"{picture} is not drawn yet; draw it with: {draws}")
    elif why == drawing.NOT_INSTALLED:
        click.echo(f"no picture: {why}")


def draw(
    out: Path,
    *,
    quiet: bool,
    file: Path | None = None,
    force: bool = False,
    percentiles: str | None = None,
) -> None:
    """Draw the pictures of a directory of results that is complete; say where they are.

    With ``file``, draw only the first of them, to that file. ``percentiles`` are those of a
    sweep's picture.
    """
    from flashscape.plotting import plot
    from flashscape.report import text

    try:
        files = plot(out, file, force=force, percentiles=percentiles)
    except KeyboardInterrupt:
        told = Interrupted(None, "while drawing")
        told.kept = "results are complete, but for the pictures"
        raise told from None
    if not quiet:
        *others, last = map(str, files)
        these = f"{', '.join(others)} and {last}" if others else last
        line = f"The pictures are {these}." if others else f"The picture is {these}."
        text.console().print(text.sentence(line))
