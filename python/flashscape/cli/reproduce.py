"""``flashscape reproduce``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashscape import output
from flashscape.cli import documents, options
from flashscape.errors import OutputError
from flashscape.reproduce.api import TRACES, reproduce
from flashscape.reproduce.claims import PROFILES

if TYPE_CHECKING:
    from flashscape.reproduce import Reproduction


@click.command("reproduce")
@click.argument("paper", required=False, metavar="[PAPER[/EXHIBIT]]")
@click.option(
    "--profile",
    type=options.Choice(PROFILES),
    default="short",
    show_default=True,
    help="Minutes for a whole paper, or enough requests for p99.999.",
)
@click.option(
    "--out",
    type=options.Named(path_type=Path),
    metavar="DIR",
    help="Keep plots, tables, experiments, a report and finished runs, which are not made again.",
)
@documents.option("every claim with its figures and verdict; an earlier such file is replaced,")
@click.option(
    "--traces",
    type=options.Named(path_type=Path),
    show_default=TRACES,
    metavar="DIR",
    help="Directory of papers' traces that do not ship with flashscape.",
)
@options.workers
@options.overrides
@click.option(
    "--copy",
    "copied",
    type=options.Named(path_type=Path),
    metavar="FOLDER",
    help="Copy the study to FOLDER, to change it there; run nothing.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 if a claim is missed or direction.")
@click.option("--quiet", is_flag=True, help="No progress, no tables.")
def command(
    paper: str | None,
    profile: str,
    out: Path | None,
    document: Path | None,
    traces: Path | None,
    jobs: int | None,
    cluster: str | None,
    overrides: tuple[tuple[str, str], ...],
    copied: Path | None,
    strict: bool,
    quiet: bool,
) -> int:
    """Run a paper's experiments and judge its claims; without PAPER list what there is.

    Each claim gets a verdict: reproduced (within bounds that ship as data), direction
    (right order, wrong size), missed, not-run (a trace is absent, or the profile is too
    short to tell) or context (no number to check). The exit code is 0 if every run
    could be made, for any verdicts.

    \b
    flashscape reproduce erase-suspension/figure-4
    flashscape reproduce erase-suspension --profile full --out results
    flashscape reproduce erase-suspension/figure-4 --set drive.buffer.size="4 MiB"
    flashscape reproduce erase-suspension --copy mine && flashscape reproduce mine
    """  # noqa: D301 - click wants the character itself
    if copied is not None:
        others = (out, document, traces, jobs, cluster, strict, quiet, overrides)
        _copy(paper, copied, is_alone=profile == "short" and not any(others))
        return 0
    if paper is None:
        if any((out, document, overrides)):
            raise click.UsageError("name a paper: without one there is nothing to run")
        _list()
        return 0
    to_stdout = document == documents.STDOUT
    file = None if document is None or to_stdout else _claimed(document)
    try:
        reproduction = reproduce(
            paper,
            profile=profile,
            out=out,
            jobs=jobs,
            cluster=cluster,
            traces=traces,
            overrides=overrides,
            progress=not quiet,
        )
        if file is not None:
            file.store(reproduction.to_json().encode())
    finally:
        if file is not None:
            file.release()
    if to_stdout:
        click.echo(reproduction.to_json(), nl=False)
    elif not quiet:
        _show(reproduction, out)
    return _status(reproduction, strict=strict)


def _copy(paper: str | None, folder: Path, *, is_alone: bool) -> None:
    from flashscape.reproduce import copying, study

    if paper is None or not is_alone:
        raise click.UsageError("--copy copies the study PAPER and runs nothing: no other options")
    copying.copy(study.shipped_folder(paper), folder)
    click.echo(f"{folder} is a copy of the study {paper}. `flashscape reproduce {folder}` runs it.")


def _claimed(document: Path) -> output.File:
    """Claim the file of ``--json``; an earlier list of claims may be replaced."""
    if document.exists() and not document.is_dir() and not _is_ours(document):
        problem = "is there already, and is no list of claims; choose another name, or remove it"
        raise OutputError(f"{document}: {problem}")
    return output.File.claim(document, "--json", force=True)


def _is_ours(document: Path) -> bool:
    try:
        found = json.loads(document.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, list) and all(
        isinstance(each, dict) and {"id", "claim", "verdict"} <= each.keys() for each in found
    )


def _status(reproduction: Reproduction, *, strict: bool) -> int:
    counts = reproduction.counts
    fell_short = counts["missed"] + counts["direction"]
    return 1 if reproduction.failures or (strict and fell_short) else 0


def _show(reproduction: Reproduction, out: Path | None) -> None:
    from flashscape.cli import claims
    from flashscape.report import text

    console = text.console()
    console.print(claims.printed(reproduction, console))
    if out is not None:
        click.echo(f"The report is {out / 'report.md'}{_beside(out)}.")


def _beside(out: Path) -> str:
    """Return a clause about the files beside the report."""
    of = {"plots": "*/*.png", "tables": "*/*.csv", "runs": "runs/*"}
    found = [name for name, files in of.items() if next(out.glob(files), None) is not None]
    if not found:
        return ""
    *first, last = found
    return f"; {', '.join(first)} and {last} are beside it" if first else f"; {last} are beside it"


def _list() -> None:
    from flashscape.cli import claims
    from flashscape.report import text
    from flashscape.reproduce import study

    known = [study.of_name(name) for name in study.names()]
    if not known:
        click.echo("No papers yet; a folder with a paper.toml will do")
        return
    console = text.console()
    for table in claims.listing(known):
        console.print(text.table(table))
