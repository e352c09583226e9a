"""``flashscape lifetime``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashscape.cli import documents, options, show

if TYPE_CHECKING:
    from flashscape.lifetime import Lifetime

_AUTO = "auto"


def _cycles(_: click.Context, __: click.Parameter, text: str) -> list[int] | None:
    """Parse ``1000,3000,5000`` or ``auto``."""
    return None if text == _AUTO else options.numbers(text, f"1000,3000,5000, or {_AUTO}")


@click.command("lifetime")
@click.argument("file", type=click.Path(path_type=Path))
@options.overrides
@click.option("--uber", type=float, metavar="X", help="Highest UBER. [1e-15; enterprise: 1e-16]")
@click.option(
    "--endurance",
    type=int,
    metavar="CYCLES",
    help="Wear limit; default: drive.nand.endurance, or none.",
)
@click.option(
    "--cycles",
    default=_AUTO,
    show_default=True,
    callback=_cycles,
    metavar="1000,3000",
    help="States of wear to run in any case; more are added at the crossing.",
)
@click.option(
    "--years", type=float, default=5, show_default=True, metavar="N", help="Warranty, for DWPD."
)
@click.option(
    "--retention",
    type=float,
    metavar="DAYS",
    help="Age of data at the beginning of each run (drive.nand.errors.initial_age).",
)
@options.workers
@click.option(
    "--out",
    type=options.Named(path_type=Path),
    metavar="DIR",
    help="Save the runs and lifetime.json; finished runs are not run again.",
)
@options.plot("DIR/lifetime.svg")
@documents.option("all figures")
@click.option("--force", is_flag=True, help="Overwrite the file of --json.")
@click.option("--quiet", is_flag=True, help="No progress, no table.")
def command(
    file: Path,
    overrides: tuple[tuple[str, str], ...],
    uber: float | None,
    endurance: int | None,
    cycles: list[int] | None,
    years: float,
    retention: float | None,
    jobs: int | None,
    cluster: str | None,
    out: Path | None,
    plot: bool,
    document: Path | None,
    force: bool,
    quiet: bool,
) -> None:
    """Project the life of the drive that FILE describes (- is the standard input), under its load.

    The experiment runs at several states of wear. The life ends at the wear at which UBER
    reaches its limit, or at the wear limit. The output has the bytes that hosts can write
    until then (TBW, drive writes per day), and says what it extrapolates.

    \b
    flashscape lifetime examples/lifetime.toml --out life --plot
    flashscape lifetime mine.toml --uber 1e-16 --retention 90 --years 3
    """  # noqa: D301 - click wants the character itself
    if plot:
        options.refuse_plot(out)
    from flashscape.lifetime import lifetime

    experiment = options.experiment(file, overrides)
    with documents.claimed(document, experiment.files, force=force) as written:
        life = lifetime(
            experiment,
            uber=uber,
            cycles=cycles,
            endurance=endurance,
            years=years,
            retention_days=retention,
            out=out,
            jobs=jobs,
            cluster=cluster,
            progress=not quiet,
        )
        if written is not None:
            written.store(life.to_json())
    is_printed = not quiet and document != documents.STDOUT
    if is_printed:
        _print(life)
    if out is None:
        return
    if plot:
        show.draw(out, quiet=not is_printed)
    elif is_printed:
        click.echo(f"Results are in {out}.")
        show.say_left("lifetime.svg", out, None)


def _print(life: Lifetime) -> None:
    from flashscape.report import text, wear_states

    console = text.console()
    console.print(text.table(wear_states.table(life)))
    for line in life.verdict:
        console.print(text.sentence(line))
    for line in life.notes:
        console.print(text.sentence(f"note: {line}"), style="yellow")
    console.print("\nWhat is extrapolated:")
    for line in life.assumptions:
        console.print(text.sentence(f"• {line}"))
