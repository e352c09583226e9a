"""``flashscape run``."""

from __future__ import annotations

from pathlib import Path

import click

from flashscape.cli import options
from flashscape.cli.show import Targets, run_and_show
from flashscape.experiment import Experiment


@click.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@options.overrides
@options.snapshots
@options.results
def command(
    file: Path,
    overrides: tuple[tuple[str, str], ...],
    out: Path | None,
    plot: bool,
    requests: Path | None,
    fio_json: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    snapshot: Path | None,
    save_drive: Path | None,
) -> None:
    """Run the experiment that FILE describes."""
    experiment = Experiment.from_file(file, overrides, snapshot_given=snapshot is not None)
    targets = Targets(out, requests, fio_json, force, snapshot, save_drive)
    run_and_show(experiment, targets, plot=plot, as_json=as_json, quiet=quiet)
