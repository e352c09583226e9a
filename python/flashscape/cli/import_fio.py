"""``flashscape import-fio``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashscape import output, units
from flashscape.cli import imports, options
from flashscape.cli.replay import number

if TYPE_CHECKING:
    from rich.console import Console

    from flashscape.imported import Imported


@click.command("import-fio")
@click.argument("job", metavar="JOB.fio", type=click.Path(path_type=Path))
@click.option("--drive", required=True, metavar="PRESET", help="See `flashscape presets`.")
@click.option(
    "--set",
    "overrides",
    type=options.override,
    multiple=True,
    metavar="PATH=VALUE",
    help="Change a value of the drive, such as drive.geometry.channels=4. Repeatable.",
)
@click.option(
    "--section",
    "sections",
    multiple=True,
    metavar="NAME",
    help="Import this job only, as fio's --section does. Repeatable.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="OPTION",
    help="Leave an option of fio's out, as if no job gave it. Repeatable.",
)
@click.option(
    "--fill",
    type=options.Choice(["random", "sequential", "empty"]),
    default="sequential",
    show_default=True,
    help="Initial content of the drive.",
)
@click.option("--age", type=number, metavar="X", help="Overwrite it so many times before the run.")
@click.option(
    "--out",
    type=options.Named(path_type=Path),
    metavar="FILE.toml",
    help="File of the experiment; default: standard output.",
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
def command(
    job: Path,
    drive: str,
    overrides: tuple[tuple[str, str], ...],
    sections: tuple[str, ...],
    without: tuple[str, ...],
    fill: str,
    age: float | None,
    out: Path | None,
    force: bool,
) -> None:
    """Turn a job file of fio into an experiment on a preset drive.

    Each option is listed with its verdict: mapped (carried), approximated, ignored
    (not carried) or inert. One that changes the load and has no counterpart here is an
    error. Without --out the list goes to standard error.
    """
    from flashscape.fio_jobs import import_fio
    from flashscape.report import text

    if out is not None:
        imports.refuse_existing(out, force=force)
    output.refuse_inputs([out], [job])
    imported = import_fio(
        job, drive, overrides, sections=sections, without=without, fill=fill, age=age
    )
    output.refuse_inputs([out], [key.file for key in imported.keys])
    console = text.console(stderr=out is None)
    imports.keys(console, imported)
    if out is None:
        click.echo(imported.toml, nl=False)
    else:
        imports.write(out, imported.toml, force=force)
    _gist(console, imported)
    if out is not None:
        imports.written(console, out, imported)


def _gist(console: Console, imported: Imported) -> None:
    """Print the workloads and the drive, in a line each, and notes."""
    from flashscape.cli import collecting

    config, figures = imported.experiment.config, imported.experiment.derived
    for line in (
        f"workloads: {', '.join(workload['name'] for workload in config['workload'])}",
        f"drive: {units.size(figures['capacity']['exported_bytes'])}, "
        f"memory of a run: {units.size(figures['memory_bytes']['total'])}",
    ):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    told = collecting.note(imported.experiment, [], has_own=True, verb="import again with ")
    notes = [*(f"note: {note}" for note in figures["notes"]), *([told] if told else [])]
    for note in notes:
        console.print(note, style="yellow", markup=False, highlight=False, soft_wrap=True)
