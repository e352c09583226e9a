"""``flashscape act``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashscape import output
from flashscape.cli import documents, options, show

if TYPE_CHECKING:
    from flashscape.act import Search, Trial


@click.command("act")
@click.argument("drive", metavar="DRIVE")
@click.option(
    "-k",
    "--multiplier",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run this multiplier only. Without -k the highest ones that pass are searched for.",
)
@click.option(
    "--step", type=click.IntRange(min=1), metavar="N", help="Search among multiples of N. [1]"
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    metavar="N",
    help="Highest multiplier of the search. [1000]",
)
@click.option("--time", metavar="TIME", help="Measured time of all slices; default: as needed.")
@click.option(
    "--warm-up", metavar="TIME", help="Time before it, which is not counted; default: as needed."
)
@click.option(
    "--slices",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="Parts of the measured time; the worst one decides.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Threads that issue small reads in turn: the fourth condition is for each of them.",
)
@click.option(
    "--arrivals",
    type=options.Choice(["constant", "poisson"]),
    default="constant",
    show_default=True,
    help="Arrival process of a stream.",
)
@click.option(
    "--overwrites",
    type=float,
    metavar="X",
    help="Overwrite the filled drive X times before the test. [1]",
)
@options.overrides
@click.option(
    "--snapshot",
    type=options.Named(path_type=Path),
    metavar="FILE",
    help="Start from this drive instead of filling and ageing one.",
)
@click.option(
    "--save-drive",
    type=options.Named(path_type=Path),
    metavar="FILE",
    help="Save the drive as it is before the test, for --snapshot.",
)
@options.workers
@documents.option("all figures")
@click.option(
    "--picture",
    type=options.Named(path_type=Path),
    metavar="FILE",
    help="Draw latencies over multipliers: .svg or .png.",
)
@click.option(
    "--out",
    type=options.Named(path_type=Path),
    metavar="DIR",
    help="With -k: all results of the run, for `flashscape explain`.",
)
@click.option("--force", is_flag=True, help="Overwrite earlier results.")
@click.option("--quiet", is_flag=True, help="No progress, no table.")
def command(
    drive: str,
    multiplier: int | None,
    step: int | None,
    most: int | None,
    jobs: int | None,
    cluster: str | None,
    document: Path | None,
    picture: Path | None,
    out: Path | None,
    force: bool,
    quiet: bool,
    snapshot: Path | None,
    save_drive: Path | None,
    **choices: Any,
) -> None:
    """Certify DRIVE as the Aerospike Certification Tool does: a preset, or an experiment file.

    Multiplier N is 2000 N small reads a second beside 24 N large reads and 24 N large
    writes. The search finds the highest N that pass the performance test (small reads
    within 1, 8 and 64 ms) and the stress test (all streams keep up). Of a file only the
    drive and the seed are used. A failing drive is a result: the exit code is 0.

    \b
    flashscape act dc-tlc -k 30
    flashscape act mixed.toml --threads 64 --picture act.svg
    """  # noqa: D301 - click wants the character itself
    of_search = {"step": step, "most": most, "jobs": jobs, "cluster": cluster}
    _refuse_mixtures(multiplier, **of_search, picture=picture, out=out)
    from flashscape import act
    from flashscape.act import picture as pictures

    form = None if picture is None else pictures.form_of(picture)
    common = {
        **choices,
        "snapshot": snapshot,
        "save_drive": save_drive,
        "force": force,
        "progress": not quiet,
    }
    with ExitStack() as claimed:

        def file(path: Path | None, option: str) -> output.File | None:
            if path is None or path == documents.STDOUT:
                return None
            inputs = [each for each in (Path(drive), snapshot) if each is not None]
            output.refuse_inputs([path], inputs)
            return claimed.enter_context(output.File.claim(path, option, force=force))

        written, drawing = file(document, "--json"), file(picture, "--picture")
        others = [each for each in (written, drawing) if each is not None]
        output.must_differ(None, None, others)
        found: Trial | Search
        if multiplier is not None:
            found = act.run(drive, multiplier, out=out, **common)
        else:
            found = act.search(
                drive, step=step or 1, most=most or 1000, jobs=jobs, cluster=cluster, **common
            )
        if written is not None:
            written.store(found.to_json().encode())
        if drawing is not None and form is not None and isinstance(found, act.Search):
            drawing.store(found.drawn(form))
    if document == documents.STDOUT:
        click.echo(found.to_json(), nl=False)
    elif not quiet:
        _print(found)
        result = None if isinstance(found, act.Search) else found.result
        if out is not None and result is not None:
            show.say_where(out, result)


def _refuse_mixtures(multiplier: int | None, *, out: Path | None, **of_search: Any) -> None:
    if multiplier is None:
        if out is not None:
            raise click.UsageError("--out saves the results of one run; name that run with -k")
        return
    for name, given in of_search.items():
        if given is not None:
            raise click.UsageError(f"--{name} controls the search, and -k runs none; leave one out")


def _print(found: Trial | Search) -> None:
    from flashscape.act import Search
    from flashscape.cli import ratings
    from flashscape.report import text

    console = text.console()
    if isinstance(found, Search):
        trials, lines = found.trials, ratings.of_search(found)
    else:
        trials, lines = (found,), ratings.of_trial(found)
    console.print(text.table(ratings.table(trials)))
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
