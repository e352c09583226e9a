"""``flashscape run``."""

from __future__ import annotations

from pathlib import Path

import click

from flashscape import again
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
    group_reporting: bool,
    force: bool,
    document: Path | None,
    percentiles: str | None,
    quiet: bool,
    snapshot: Path | None,
    save_drive: Path | None,
) -> None:
    """Run the experiment that FILE describes; - is the standard input.

    Results, named by their directory or their summary.json, are run again.
    """
    experiment = options.experiment(file, overrides, snapshot_given=snapshot is not None)
    targets = Targets(out, requests, fio_json, group_reporting, force, snapshot, save_drive)
    if snapshot is not None and not quiet:
        say_replaced(experiment, snapshot)
    printed = Printed(document, percentiles, quiet=quiet)
    result = run_and_show(experiment, targets, printed, plot=plot)
    if again.is_result(file) and not printed.are_tables_off:
        _say_if_equal(file, result.digest)


def _say_if_equal(earlier: Path, digest: str) -> None:
    """Say if the run is the same as the one whose results were named."""
    from flashscape.result import Result

    folder = earlier if earlier.is_dir() else earlier.parent
    before = Result.load(folder).digest
    if digest == before:
        click.echo(f"The run is the same as in {folder}, to the last bit (digest {digest}).")
    else:
        click.echo(
            f"The run differs from the one in {folder} (digest {digest}, and {before} there): "
            "settings, files or the version of flashscape have changed."
        )
