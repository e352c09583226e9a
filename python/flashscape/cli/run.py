"""``flashscape run``."""

from __future__ import annotations

from pathlib import Path

import click

from flashscape.cli import documents, options
from flashscape.cli.replaced import say_replaced
from flashscape.cli.show import Printed, Targets, run_and_show


@click.command("run", cls=documents.Command)
@click.argument("file", type=click.Path(path_type=Path))
@options.overrides
@options.snapshots
@options.percentiles
@documents.option("summary.json")
@options.results
def command(
    file: Path,
    overrides: tuple[tuple[str, str], ...],
    out: Path | None,
    plot: bool,
    requests: Path | None,
    fio_json: Path | None,
    force: bool,
    document: Path | None,
    percentiles: str | None,
    quiet: bool,
    snapshot: Path | None,
    save_drive: Path | None,
) -> None:
    """Run the experiment that FILE describes; - is the standard input."""
    experiment = options.experiment(file, overrides, snapshot_given=snapshot is not None)
    targets = Targets(out, requests, fio_json, force, snapshot, save_drive)
    if snapshot is not None and not quiet:
        say_replaced(experiment, snapshot)
    run_and_show(experiment, targets, Printed(document, percentiles, quiet=quiet), plot=plot)
