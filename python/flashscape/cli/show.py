"""Running an experiment for somebody who watches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from flashscape.errors import Interrupted
from flashscape.run import run

if TYPE_CHECKING:
    from pathlib import Path

    from flashscape.experiment import Experiment
    from flashscape.result import Result


def run_and_show(
    experiment: Experiment, *, out: Path | None, force: bool, as_json: bool, quiet: bool
) -> None:
    """Run, with a bar on the terminal, and print the summary; raise what ``run`` raises."""
    try:
        result = run(experiment, out=out, force=force, progress=not quiet)
    except Interrupted as interrupted:
        if interrupted.result is not None:
            _print(interrupted.result, out, as_json=as_json, quiet=quiet)
        raise
    _print(result, out, as_json=as_json, quiet=quiet)


def _print(result: Result, out: Path | None, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        click.echo(json.dumps(result.summary, indent=2, ensure_ascii=False))
        return
    if quiet:
        return
    from flashscape.report import text

    console = text.console()
    console.print(text.summary(result))
    console.print()
    if out is None:
        console.print("Nothing was kept. With --out DIR: tables, a picture, and `explain`.")
    else:
        console.print(f"Results are in {out}. Where the tail comes from: flashscape explain {out}")
