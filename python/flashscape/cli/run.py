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
    # The run may replace the earlier results.
    before = _digest_in(file) if again.is_result(file) and not printed.are_tables_off else None
    result = run_and_show(experiment, targets, printed, plot=plot)
    if before is not None:
        _say_if_equal(_folder_of(file), before, result.digest)


def _folder_of(results: Path) -> Path:
    """Return the directory of results that are named by it, or by their summary.json."""
    return results if results.is_dir() else results.parent


def _digest_in(results: Path) -> str:
    from flashscape.result import Result

    return Result.load(_folder_of(results)).digest


def _say_if_equal(folder: Path, before: str, digest: str) -> None:
    """Say if the run is the same as the one whose results were named."""
    if digest == before:
        click.echo(f"The run is the same as in {folder}, to the last bit (digest {digest}).")
    else:
        click.echo(
            f"The run differs from the one in {folder} (digest {digest}, and {before} there): "
            "settings, files or the version of flashscape have changed."
        )
