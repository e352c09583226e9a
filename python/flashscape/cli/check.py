"""``flashscape check``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from flashscape.cli import documents, options

_READ_WHOLE_BELOW = 256 << 20
"""Bytes of a trace that can be read within seconds."""


@click.command("check", cls=documents.Command)
@click.argument("file", type=click.Path(path_type=Path))
@documents.option("the figures")
@click.option("--force", is_flag=True, help="Overwrite the file of --json.")
@options.overrides
def command(
    file: Path, overrides: tuple[tuple[str, str], ...], document: Path | None, force: bool
) -> None:
    """Check the experiment that FILE describes (- is the standard input), print what follows.

    If the experiment has problems, all of them are listed with path and line. Traces
    are read, too; of very large ones only the beginning.
    """
    experiment = options.experiment(file, overrides)
    figures = experiment.derived
    experiment.check_snapshot()
    traces = experiment.traces(_READ_WHOLE_BELOW)
    if document is not None:
        with documents.claimed(document, experiment.files, force=force) as written:
            assert written is not None, "there is a document"
            written.store(json.dumps(figures, indent=2) + "\n")
    if document == documents.STDOUT:
        return
    from flashscape.cli import collecting
    from flashscape.report import derived, text

    console = text.console()
    for table in derived.tables(figures, experiment.config["drive"]):
        console.print(text.table(table))
    for trace in traces:
        console.print(trace, markup=False, highlight=False, soft_wrap=True)
    for note in figures["notes"]:
        console.print(f"note: {note}", style="yellow")
    if (told := collecting.note(experiment, traces)) is not None:
        # Commands in it are not broken into lines.
        click.secho(told, fg="yellow")
    console.print(f"{file}: no problems", style="green")
