"""``flashscape snapshot``: keep a preconditioned drive, and look at one that was kept."""

from __future__ import annotations

import json
from pathlib import Path

import click

from flashscape import units
from flashscape.cli import documents, options
from flashscape.experiment import Experiment


@click.group("snapshot", cls=options.Commands)
def command() -> None:
    """Keep a drive, to start runs from it.

    `flashscape snapshot take EXPERIMENT aged.snap` fills and ages the drive of an
    experiment; `flashscape run EXPERIMENT --snapshot aged.snap` starts from it at once.
    """


@command.command("take")
@click.argument("experiment", type=click.Path(path_type=Path))
@click.argument("file", type=options.Named(path_type=Path))
@options.overrides
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@click.option("--quiet", is_flag=True, help="No progress, no summary.")
def take(
    experiment: Path, file: Path, overrides: tuple[tuple[str, str], ...], force: bool, quiet: bool
) -> None:
    """Fill and age the drive of EXPERIMENT, and keep it in FILE."""
    from flashscape.output import File, refuse_inputs
    from flashscape.progress import Bar
    from flashscape.run import Silent
    from flashscape.snapshot import Snapshot, describe

    planned = Experiment.from_file(experiment, overrides)
    refuse_inputs([file], planned.files)
    observer = Silent() if quiet else Bar()
    with File.claim(file, "the snapshot", force=force) as claimed:
        try:
            snapshot = Snapshot.take(planned, ongoing=observer.preconditioning)
        finally:
            observer.ended()
        snapshot.write_to(claimed)
    if not quiet:
        size = units.size(file.stat().st_size)
        click.echo(f"{file} ({size}): {describe(snapshot.origin)}")


@command.command("show", cls=documents.Command)
@click.argument("file", type=click.Path(path_type=Path))
@documents.option("all that the file says")
@click.option("--force", is_flag=True, help="Overwrite the file of --json.")
def show(file: Path, document: Path | None, force: bool) -> None:
    """Say where the snapshot in FILE comes from."""
    from flashscape.snapshot import describe, origin

    found = origin(file)
    if document is not None:
        with documents.claimed(document, [file], force=force) as written:
            assert written is not None, "there is a document"
            written.store(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    if document == documents.STDOUT:
        return
    click.echo(f"{file}: {describe(found)}")
    click.echo(f"  taken by flashscape {found['flashscape']}, seed {found['seed']}")
    geometry = found["drive"]["geometry"]
    click.echo("  " + ", ".join(f"{key} {value}" for key, value in geometry.items()))
