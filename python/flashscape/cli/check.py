"""``flashscape check``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from flashscape.cli import options
from flashscape.experiment import Experiment

_READ_WHOLE_BELOW = 256 << 20
"""Bytes of a trace that are read within seconds."""


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@options.overrides
def command(file: Path, overrides: tuple[tuple[str, str], ...], as_json: bool) -> None:
    """Check the experiment that FILE describes and print what follows from it.

    Where something is wrong, every fault is listed with its path and line. Traces
    are read, too; of very large ones the beginning.
    """
    experiment = Experiment.from_file(file, overrides)
    figures = experiment.derived
    experiment.check_snapshot()
    traces = experiment.traces(_READ_WHOLE_BELOW)
    if as_json:
        click.echo(json.dumps(figures, indent=2))
        return
    from flashscape.report import derived, text

    console = text.console()
    for table in derived.tables(figures, experiment.config["drive"]):
        console.print(text.table(table))
    for trace in traces:
        console.print(trace, markup=False, highlight=False, soft_wrap=True)
    for note in figures["notes"]:
        console.print(f"note: {note}", style="yellow")
    console.print(f"{file}: no faults", style="green")
