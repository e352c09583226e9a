"""``flashscape sweep``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashscape.cli import options, show

if TYPE_CHECKING:
    from flashscape.sweep.result import Sweep

_SHOWN_OF_DRY_RUN = 200


@click.command("sweep")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=options.Named(path_type=Path),
    metavar="DIR",
    help="Save results here, point by point; finished points are not run again.",
)
@options.workers
@click.option("--dry-run", is_flag=True, help="Check and list the points; run nothing.")
@click.option(
    "--show",
    "results",
    type=options.Named(path_type=Path),
    metavar="DIR",
    help="Print results again.",
)
@click.option("--tables", is_flag=True, help="Save the Parquet tables of every point, too.")
@click.option("--skip-invalid", is_flag=True, help="Leave out impossible points and note them.")
@click.option("--retry-failed", is_flag=True, help="Run failed points of an earlier sweep again.")
@click.option("--no-sharing", is_flag=True, help="Fill and age a separate drive for each point.")
@options.percentiles_of("the table, and in the picture: four at most there")
@options.plot("DIR/sweep.svg, if one or two things vary")
@click.option("--quiet", is_flag=True, help="No progress, no table.")
@options.overrides
def command(
    file: Path | None,
    out: Path | None,
    jobs: int | None,
    cluster: str | None,
    dry_run: bool,
    results: Path | None,
    tables: bool,
    skip_invalid: bool,
    retry_failed: bool,
    no_sharing: bool,
    percentiles: str | None,
    plot: bool,
    quiet: bool,
    overrides: tuple[tuple[str, str], ...],
) -> int:
    """Run the sweep that FILE describes over the cores: a grid or a list of variations.

    Each point is stored as soon as it ends. The same command continues an earlier one,
    and runs only points that are missing or have changed. All results are in
    DIR/sweep.parquet.
    """
    if results is not None:
        others = (file, out, jobs, cluster, dry_run, tables, skip_invalid, retry_failed)
        if any((*others, no_sharing, quiet, overrides)):
            raise click.UsageError(
                "--show prints saved results; only --plot and --percentiles can be combined with it"
            )
        return _show_again(results, percentiles, plot=plot)
    _check(percentiles, cluster, dry_run=dry_run, plot=plot)
    if file is None:
        raise click.UsageError("name a sweep file, or results to --show")
    if dry_run:
        return _list(file, out, jobs, overrides, skip_invalid=skip_invalid, share=not no_sharing)
    if out is None:
        raise click.UsageError(
            "name a directory for the results with --out DIR, or list the points with --dry-run"
        )
    if plot:
        options.refuse_plot(out)
    from flashscape.sweep import SweepInterrupted, sweep_file

    try:
        swept = sweep_file(
            file,
            overrides=overrides,
            out=out,
            jobs=jobs,
            cluster=cluster,
            tables=tables,
            skip_invalid=skip_invalid,
            retry_failed=retry_failed,
            share=not no_sharing,
            progress=not quiet,
        )
    except SweepInterrupted as interrupted:
        # The terminal may have gone; the results are written.
        with contextlib.suppress(OSError):
            _print(interrupted.sweep, percentiles, quiet=quiet)
        raise
    _print(swept, percentiles, quiet=quiet)
    if plot:
        show.draw(swept.folder, quiet=quiet, percentiles=percentiles)
    elif not quiet:
        show.say_left("sweep.svg", swept.folder, swept.why_not_drawn())
    return _status(swept)


def _check(percentiles: str | None, cluster: str | None, *, dry_run: bool, plot: bool) -> None:
    """Refuse options that mean nothing, before anything runs."""
    if percentiles is not None:
        from flashscape.report.sweep import kept
        from flashscape.sweep.picture_plan import shown_percentiles

        names = kept(percentiles)
        if plot:
            shown_percentiles(names)
    if dry_run and cluster is not None:
        raise click.UsageError("--dry-run runs nothing; leave --cluster out")


def _status(swept: Sweep) -> int:
    """Return 1 if a point has failed; impossible points were skipped on demand."""
    return 1 if swept.counts["failed"] else 0


def _show_again(results: Path, percentiles: str | None, *, plot: bool) -> int:
    from flashscape.sweep.result import Sweep

    swept = Sweep.load(results)
    _print(swept, percentiles, quiet=False)
    if plot:
        show.draw(results, quiet=False, percentiles=percentiles)
    return 0


def _print(swept: Sweep, percentiles: str | None, *, quiet: bool) -> None:
    from flashscape.report import sweep, text

    lines = sweep.closing(swept)
    if quiet:
        return
    console = text.console()
    if swept.counts["done"]:
        console.print(text.table(sweep.table(swept, percentiles)))
    for line in lines:
        console.print(text.sentence(line))
    console.print(f"Results are in {swept.folder / 'sweep.parquet'}.", soft_wrap=True)


def _list(
    file: Path,
    out: Path | None,
    jobs: int | None,
    overrides: tuple[tuple[str, str], ...],
    *,
    skip_invalid: bool,
    share: bool,
) -> int:
    from flashscape.sweep import reading
    from flashscape.sweep.estimate import estimate
    from flashscape.sweep.observer import SilentSweep
    from flashscape.sweep.run import checked

    points = checked(reading.of_file(file, overrides), SilentSweep(), skip_invalid=skip_invalid)
    for point in points.points[:_SHOWN_OF_DRY_RUN]:
        fault = f": impossible: {point.fault}" if point.fault is not None else ""
        click.echo(f"{point.number:>6}  {point.name}{fault}")
    if (more := len(points.points) - _SHOWN_OF_DRY_RUN) > 0:
        click.echo(f"        and {more:,} more")
    for line in estimate(points, out, jobs, share=share):
        click.echo(line)
    return 0
