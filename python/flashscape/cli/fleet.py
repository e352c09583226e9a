"""``flashscape fleet``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashscape.cli import documents, options, show

if TYPE_CHECKING:
    from flashscape.fleet import Fleet
    from flashscape.fleet.reading import Options
    from flashscape.fleet.wanted import Wanted


@click.command("fleet")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--drives", type=int, metavar="N", help="Number of drives.")
@click.option(
    "--age",
    metavar="LOW..HIGH",
    help="Further overwrites of each drive, drawn between these shares of the filled space.",
)
@click.option(
    "--fanout",
    callback=options.reads,
    metavar="1,10,100",
    help="Sample queries that wait for the slowest of this many reads.",
)
@click.option("--stages", type=int, metavar="N", help="Stages of a query, one after another. [1]")
@click.option("--queries", type=int, metavar="N", help="Queries that are sampled. [10000]")
@options.slow_above
@options.workers
@click.option(
    "--dry-run", is_flag=True, help="Check the drives and estimate the time; run nothing."
)
@click.option(
    "--show",
    "results",
    type=options.Named(path_type=Path),
    metavar="DIR",
    help="Print results again.",
)
@click.option(
    "-o",
    "--out",
    type=options.Named(path_type=Path),
    metavar="DIR",
    help="Save fleet.json and the drives; finished drives are not run again.",
)
@options.plot("DIR/fleet.svg")
@documents.option("all figures")
@click.option("--force", is_flag=True, help="Overwrite the file of --json.")
@click.option("--quiet", is_flag=True, help="No progress, no tables.")
@options.overrides
def command(
    file: Path | None,
    drives: int | None,
    age: str | None,
    fanout: list[int] | None,
    stages: int | None,
    queries: int | None,
    slow_above: str | None,
    jobs: int | None,
    cluster: str | None,
    dry_run: bool,
    results: Path | None,
    out: Path | None,
    plot: bool,
    document: Path | None,
    force: bool,
    quiet: bool,
    overrides: tuple[tuple[str, str], ...],
) -> int:
    """Run many drives that begin alike, and merge their results.

    FILE is an experiment, or a fleet file with `base` and `[fleet]`. Drive i is the experiment with
    clone.number = i: the prepared drive with random streams of its own, and with --age an amount of
    ageing of its own. `flashscape run` runs it alone, with the same results.

    \b
    flashscape fleet examples/fleet/fleet.toml --out fleet --plot
    flashscape fleet mine.toml --drives 64 --age 0..25% --fanout 1,10,100
    flashscape run mine.toml --set clone.number=17
    """  # noqa: D301 - click wants the character itself
    from flashscape.fleet.reading import Options

    given = Options(drives, age, fanout, stages, queries, slow_above)
    if results is not None:
        _refuse_with_show(file, *given, jobs, cluster, dry_run, out, quiet, overrides)
        return _show_again(results, document, force=force, plot=plot)
    if file is None:
        raise click.UsageError("name an experiment or a fleet file, or results to --show")
    if dry_run:
        _refuse_with_dry_run(cluster, document, plot=plot)
        return _list(file, overrides, given, out, jobs)
    if plot:
        options.refuse_plot(out)
    from flashscape.fleet import reading, run

    wanted = reading.of_file(file, overrides, given)
    with documents.claimed(document, [file], force=force) as written:
        fleet = run.run_fleet(wanted, out=out, jobs=jobs, cluster=cluster, progress=not quiet)
        if written is not None:
            written.store(fleet.to_json())
    is_printed = not quiet and document != documents.STDOUT
    if is_printed:
        _print(fleet)
        _say_alone(wanted, fleet)
    if out is not None:
        _say_where(out, plot=plot, is_printed=is_printed)
    return 1 if fleet.failures else 0


def _refuse_with_show(*others: object) -> None:
    if any(each not in (None, False, ()) for each in others):
        raise click.UsageError(
            "--show prints saved results; only --plot and --json can be combined with it"
        )


def _refuse_with_dry_run(cluster: str | None, document: Path | None, *, plot: bool) -> None:
    if cluster is not None or document is not None or plot:
        raise click.UsageError("--dry-run runs nothing; leave --cluster, --json and --plot out")


def _say_where(out: Path, *, plot: bool, is_printed: bool) -> None:
    if plot:
        show.draw(out, quiet=not is_printed)
    elif is_printed:
        click.echo(f"Results are in {out}; of each drive: flashscape sweep --show {_word(out)}")
        show.say_left("fleet.svg", out, None)


def _say_alone(wanted: Wanted, fleet: Fleet) -> None:
    """Tell how to look at the drive with the longest tail."""
    from flashscape.fleet.alone import command

    found = fleet.spread.get("read_p99_9_ns") or fleet.spread.get("write_p99_9_ns")
    if found is not None and (line := command(wanted, found["most_drive"])) is not None:
        click.echo(f"To run the drive with the highest p99.9 alone: {line}")


def _word(path: Path) -> str:
    return shlex.quote(str(path))


def _show_again(results: Path, document: Path | None, *, force: bool, plot: bool) -> int:
    from flashscape.fleet import Fleet

    fleet = Fleet.load(results)
    with documents.claimed(document, [], force=force) as written:
        if written is not None:
            written.store(fleet.to_json())
    if document != documents.STDOUT:
        _print(fleet)
    if plot:
        show.draw(results, quiet=document == documents.STDOUT)
    return 0


def _list(
    file: Path,
    overrides: tuple[tuple[str, str], ...],
    given: Options,
    out: Path | None,
    jobs: int | None,
) -> int:
    from flashscape.fleet import reading, run
    from flashscape.sweep import SilentSweep
    from flashscape.sweep.estimate import estimate

    points = run.check(reading.of_file(file, overrides, given), SilentSweep())
    for line in estimate(points, out, jobs, share=True):
        click.echo(line)
    return 0


def _print(fleet: Fleet) -> None:
    from flashscape.report import fleet as tables
    from flashscape.report import text

    text.print_all(tables.everything(fleet.document), fleet.sentences)
