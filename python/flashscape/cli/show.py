"""Running an experiment for somebody who watches."""

from __future__ import annotations

import contextlib
import json
import shlex
from typing import TYPE_CHECKING, NamedTuple

import click

from flashscape.errors import Interrupted, OutputError, StarvationError
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


def run_and_show(experiment: Experiment, targets: Targets, *, as_json: bool, quiet: bool) -> None:
    """Run, with a bar on the terminal, and print the summary; raise what ``run`` raises."""
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


def _print(result: Measured | None, *, as_json: bool, quiet: bool) -> None:
    if result is None:
        return
    if as_json:
        click.echo(json.dumps(result.summary, indent=2, ensure_ascii=False))
    elif not quiet:
        from flashscape.report import text

        text.console().print(text.summary(result))


def _say_where(targets: Targets, result: Measured) -> None:
    from flashscape import picture

    out = targets.out
    for what, file in (("Requests", targets.requests), ("fio's fields", targets.fio_json)):
        if file is not None:
            click.echo(f"\n{what} are in {file}.")
    if out is None and (targets.requests or targets.fio_json):
        return
    if out is None:
        kept = "tables and `explain`" if result.untimed else "tables, a picture, and `explain`"
        click.echo(f"\nNothing was kept. With --out DIR: {kept}.")
        return
    click.echo()
    explain = f"flashscape explain {shlex.quote(str(out))}"
    if result.untimed:
        click.echo(f"Results are in {out}. What it has cost the flash, in words: {explain}")
        return
    if not picture.is_available():
        click.echo('no picture: matplotlib is not installed (pip install "flashscape[plot]")')
    click.echo(f"Results are in {out}. Where the tail comes from: {explain}")
