"""Running an experiment for somebody who watches."""

from __future__ import annotations

import contextlib
import json
import shlex
from typing import TYPE_CHECKING, NamedTuple

import click

from flashscape import drawing
from flashscape.cli import options
from flashscape.errors import ConfigError, Interrupted, OutputError, StarvationError
from flashscape.run import run

if TYPE_CHECKING:
    from pathlib import Path

    from flashscape.experiment import Experiment
    from flashscape.measured import Measured


class Targets(NamedTuple):
    """Where results go besides the terminal."""

    out: Path | None
    requests: Path | None
    fio_json: Path | None
    force: bool
    snapshot: Path | None
    save_drive: Path | None


def run_and_show(
    experiment: Experiment, targets: Targets, *, plot: bool, as_json: bool, quiet: bool
) -> None:
    """Run, with a bar on the terminal, and print the summary; raise what ``run`` raises."""
    if plot:
        options.refuse_plot(targets.out)
        if experiment.config["run"].get("untimed", False):
            raise ConfigError("--plot: a run without time (run.untimed) has no picture")
    try:
        result = run(experiment, **targets._asdict(), progress=not quiet)
    except Interrupted as interrupted:
        # A terminal that has gone takes no summary; the results are written.
        with contextlib.suppress(OSError):
            _print(interrupted.result, as_json=as_json, quiet=quiet)
        raise
    except (OutputError, StarvationError) as error:
        _print(error.result, as_json=as_json, quiet=quiet)
        raise
    _print(result, as_json=as_json, quiet=quiet)
    if not (as_json or quiet):
        _say_where(targets, result)
    if plot and targets.out is not None:
        draw(targets.out, quiet=as_json or quiet)
    elif targets.out is not None and not (as_json or quiet):
        _say_left(targets.out, result)


def _print(result: Measured | None, *, as_json: bool, quiet: bool) -> None:
    if result is None:
        return
    if as_json:
        click.echo(json.dumps(result.summary, indent=2, ensure_ascii=False))
    elif not quiet:
        from flashscape.report import text

        text.console().print(text.summary(result))


def _say_where(targets: Targets, result: Measured) -> None:
    out = targets.out
    for what, file in (("Requests", targets.requests), ("fio's fields", targets.fio_json)):
        if file is not None:
            click.echo(f"\n{what} are in {file}.")
    if out is None and (targets.requests or targets.fio_json):
        return
    if out is None:
        kept = "tables and `explain`" if result.untimed else "tables, `explain` and `plot`"
        click.echo(f"\nNothing was kept. With --out DIR: {kept}.")
        return
    click.echo(f"\n{_where(out, result)}")


def _where(out: Path, result: Measured) -> str:
    explain = f"flashscape explain {shlex.quote(str(out))}"
    if result.untimed:
        return f"Results are in {out}. What it has cost the flash, in words: {explain}"
    return f"Results are in {out}. Where the tail comes from: {explain}"


def say_where(out: Path, result: Measured) -> None:
    """Say where results are, and that their picture is not drawn."""
    click.echo(f"\n{_where(out, result)}")
    _say_left(out, result)


def _say_left(out: Path, result: Measured) -> None:
    from flashscape.picture import why_not

    say_left("tail.svg", out, why_not(result))


def say_left(picture: str, out: Path, why: str | None) -> None:
    """Say that a picture is not drawn; nothing where there is nothing to draw."""
    if why is None:
        draws = f"flashscape plot {shlex.quote(str(out))}"
        click.echo(f"{picture} is not drawn yet; draw it with: {draws}")
    elif why == drawing.NOT_INSTALLED:
        click.echo(f"no picture: {why}")


def draw(out: Path, *, quiet: bool) -> None:
    """Draw the pictures of a directory of results that is complete; say where they are."""
    from flashscape.plotting import plot

    try:
        files = plot(out)
    except KeyboardInterrupt:
        told = Interrupted(None, "while drawing")
        told.kept = "results are complete, but for the pictures"
        raise told from None
    if not quiet:
        *others, last = map(str, files)
        these = f"{', '.join(others)} and {last}" if others else last
        click.echo(f"The pictures are {these}." if others else f"The picture is {these}.")
