"""``flashscape fanout``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashscape.cli import documents, options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flashscape.fleet import QueriesOver
    from flashscape.output import File


@click.command("fanout")
@click.argument(
    "directories", metavar="DIR...", nargs=-1, required=True, type=options.Named(path_type=Path)
)
@click.option(
    "--reads",
    callback=options.reads,
    default="1,10,100",
    metavar="1,10,100",
    help="Reads in each stage of a query; each number is a case. [1,10,100]",
)
@click.option("--stages", type=int, default=1, metavar="N", help="Stages of a query. [1]")
@click.option("--queries", type=int, default=10_000, metavar="N", help="Sampled queries. [10000]")
@options.slow_above
@click.option("--seed", type=int, default=1, metavar="N", help="Seed of the samples. [1]")
@click.option(
    "--over",
    type=options.Choice(["drives", "sets", "initiators"]),
    help="Sources of the reads. By default drives if there are several DIR, else NVM sets, else "
    "initiators.",
)
@documents.option("all figures")
@click.option(
    "--plot",
    type=options.Named(path_type=Path),
    metavar="FILE",
    help="Draw latencies and slow queries: .png, .pdf or .svg.",
)
@click.option("--force", is_flag=True, help="Overwrite the files of --json and --plot.")
@click.option("--quiet", is_flag=True, help="Print nothing.")
def command(
    directories: tuple[Path, ...],
    reads: list[int],
    stages: int,
    queries: int,
    slow_above: str | None,
    seed: int,
    over: str | None,
    document: Path | None,
    plot: Path | None,
    force: bool,
    quiet: bool,
) -> None:
    """Say how often queries are slow that wait for the slowest of many reads.

    DIR has the results of a run that has kept its reads. Of one DIR, queries ask the NVM sets of
    the drive, or its initiators; of several, each DIR is a drive.

    \b
    flashscape run examples/sets.toml --out sets --requests sets/requests.parquet
    flashscape fanout sets --reads 1,2,4 --plot fanout.svg
    flashscape fanout one two three --reads 1,10,100 --stages 2
    """  # noqa: D301 - click wants the character itself
    from flashscape import drawing
    from flashscape.fleet import queries_over
    from flashscape.output import OURS, PICTURE
    from flashscape.sweep.reads import READS

    folders = [each if each.is_dir() else each.parent for each in directories]
    names = [name for name in (*OURS, f"{READS}.parquet") if name != PICTURE]
    inputs = [folder / name for folder in folders for name in names]
    with (
        documents.claimed(document, inputs, force=force) as written,
        _claimed(plot, inputs, force=force) as drawn,
    ):
        asked = queries_over(
            directories,
            reads,
            over=over,
            stages=stages,
            queries=queries,
            slow_above=slow_above,
            seed=seed,
        )
        if drawn is not None:
            drawn.store(drawing.encoded(asked.figure(), drawing.form_of(drawn.path)))
        if written is not None:
            written.store(asked.to_json())
    if not quiet and document != documents.STDOUT:
        _print(asked, document, plot)


@contextlib.contextmanager
def _claimed(picture: Path | None, inputs: Sequence[Path], *, force: bool) -> Iterator[File | None]:
    """Claim the file of the picture before anything is read; raise OutputError."""
    from flashscape import drawing, output

    if picture is None:
        yield None
        return
    drawing.form_of(picture)
    drawing.refuse(None if drawing.is_available() else drawing.NOT_INSTALLED)
    output.refuse_inputs([picture], inputs)
    with output.File.claim(picture, "--plot", force=force) as file:
        yield file


def _print(asked: QueriesOver, document: Path | None, picture: Path | None) -> None:
    from flashscape.report import fleet as tables
    from flashscape.report import text

    lines = [*asked.sentences]
    if document is not None:
        lines.append(f"The figures are in {document}.")
    if picture is not None:
        lines.append(f"The picture is {picture}.")
    text.print_all(tables.asked(asked.document), lines)
