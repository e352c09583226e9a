"""``flashscape snapshot``: keep a preconditioned drive, and look at one that was kept."""

from __future__ import annotations

import json
from pathlib import Path

import click

from flashscape.cli import options
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
        mib = file.stat().st_size / 2**20
        click.echo(f"{file} ({mib:.1f} MiB): {describe(snapshot.origin)}")


@command.command("show")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="All that the file says, as JSON.")
def show(file: Path, as_json: bool) -> None:
    """Say where the snapshot in FILE comes from."""
    from flashscape.snapshot import describe, origin

    found = origin(file)
    if as_json:
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    click.echo(f"{file}: {describe(found)}")
    click.echo(f"  taken by flashscape {found['flashscape']}, seed {found['seed']}")
    geometry = found["drive"]["geometry"]
    click.echo("  " + ", ".join(f"{key} {value}" for key, value in geometry.items()))
