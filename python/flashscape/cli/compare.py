"""``flashscape compare``: two or more experiments or results, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from flashscape.again import is_result
from flashscape.cli import compare_lives, documents, options, show
from flashscape.compare import Options, compare_sides, effects, inputs
from flashscape.compare.picture import why_not
from flashscape.errors import ConfigError
from flashscape.experiment import Experiment
from flashscape.result import Result
from flashscape.sides import checked_names

if TYPE_CHECKING:
    from flashscape.compare import Comparison, Pairs


def _names(_: click.Context, __: click.Parameter, text: str | None) -> list[str] | None:
    """Split ``old,new``."""
    return None if text is None else [name.strip() for name in text.split(",")]


@click.command("compare", cls=documents.Command)
@click.argument("sides", metavar="A [B]...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--vary",
    "varied",
    type=options.override,
    multiple=True,
    metavar="PATH=VALUE",
    help="Compare A with itself under this change. Repeatable: all of them make up B.",
)
@options.overrides
@click.option(
    "--names",
    callback=_names,
    metavar="OLD,NEW",
    help="What the output calls the sides, instead of A and B.",
)
@click.option(
    "--pairs",
    type=options.Choice(["all", "first"]),
    default="all",
    show_default=True,
    help="Compare each side with each other one, or all with the first.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Run each experiment with N seeds, its own and the next ones; pair runs of a seed.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Chance, over all figures, of calling any difference significant by mistake.",
)
@click.option(
    "--least",
    default=effects.LEAST,
    show_default=True,
    metavar="1%",
    help="Smallest difference that counts, as a share of the figure.",
)
@click.option(
    "--for",
    "figures",
    multiple=True,
    metavar="FIGURE",
    help="Judge by this figure alone, such as host.read.p99_99. Repeatable.",
)
@options.percentiles
@click.option(
    "--out",
    type=options.Named(path_type=Path),
    metavar="DIR",
    help="Save all results and logs, and the comparison; finished runs are not run again.",
)
@options.workers
@options.plot("DIR/comparison.svg and the tail.svg of each run")
@documents.option("the comparison")
@click.option("--force", is_flag=True, help="Overwrite earlier results.")
@click.option("--quiet", is_flag=True, help="No progress, no announcements, no table.")
def command(
    sides: tuple[str, ...],
    varied: tuple[tuple[str, str], ...],
    overrides: tuple[tuple[str, str], ...],
    names: list[str] | None,
    pairs: Pairs,
    seeds: int,
    alpha: float,
    least: str,
    figures: tuple[str, ...],
    percentiles: str | None,
    out: Path | None,
    jobs: int | None,
    cluster: str | None,
    plot: bool,
    document: Path | None,
    force: bool,
    quiet: bool,
) -> None:
    """Set runs side by side under the same arrivals.

    Each of A, B, … is an experiment file, which is run, or a directory of results, which is run
    again if --seeds, --set or --vary ask for it. A winner is named only if the difference is
    significant, and not too small to count. If all are directories of `flashscape lifetime`, the
    projected lives are compared.

    \b
    flashscape compare exp.toml --vary drive.ftl.gc.victim=fifo --seeds 5
    flashscape compare results/greedy results/fifo --names greedy,fifo
    """  # noqa: D301 - click wants the character itself
    if plot:
        options.refuse_plot(out)
    if compare_lives.are_lives(sides):
        compare_lives.compare(
            sides,
            names,
            _given(),
            out=out,
            plot=plot,
            document=document,
            force=force,
            quiet=quiet,
        )
        return
    named = _sides(sides, overrides, varied, again=seeds > 1)
    given = list(named.values())
    called = list(named) if names is None else checked_names(names, len(given))
    read = [] if document is None else inputs(given)
    with documents.claimed(document, read, force=force) as written:
        comparison = compare_sides(
            called,
            given,
            Options(seeds, alpha, least, pairs, percentiles, figures),
            is_named=names is not None,
            out=out,
            force=force,
            jobs=jobs,
            cluster=cluster,
            progress=not quiet,
        )
        if written is not None:
            written.store(comparison.to_json())
    quiet = quiet or document == documents.STDOUT
    if not quiet:
        _show(comparison, out)
    if plot and out is not None:
        show.draw(out, quiet=quiet)
    elif out is not None and not quiet:
        show.say_left("comparison.svg", out, why_not(comparison.pictured()))


def _given() -> list[str]:
    """Return the options of comparisons of runs that the command line has."""
    context = click.get_current_context()
    of_both = ("sides", "names", "out", "plot", "document", "force", "quiet")
    return [
        option.opts[0]
        for option in context.command.params
        if option.name not in of_both
        and context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    ]


def _sides(
    paths: tuple[str, ...],
    overrides: tuple[tuple[str, str], ...],
    varied: tuple[tuple[str, str], ...],
    *,
    again: bool,
) -> dict[str, Experiment | Result]:
    """Return the sides of the comparison by name; raise ConfigError if they do not match.

    With ``again``, or if something is changed, results stand for their experiments.
    """
    if varied and len(paths) > 1:
        raise ConfigError("--vary changes one experiment, and two are named; --set changes all")
    if not varied and len(paths) == 1:
        raise ConfigError(
            f"{paths[0]}: a comparison needs two sides; name another one, or change this one with "
            "--vary PATH=VALUE"
        )
    keys = [key for key, _ in varied]
    if double := [key for key in keys if keys.count(key) > 1]:
        raise ConfigError(
            f"--vary {double[0]}: is given twice, and all --vary make up one variation; compare "
            "one value at a time, or run `flashscape sweep` over them"
        )
    if double := [path for path in paths if paths.count(path) > 1]:
        raise ConfigError(f"{double[0]}: is named twice; --vary compares it with a variation")
    named: dict[str, Experiment | Result] = {}
    again = again or bool(varied or overrides)
    for path in paths:
        named[path] = _side(Path(path), overrides, again=again)
    if varied:
        changes = ", ".join(f"{key}={value}" for key, value in varied)
        named[changes] = Experiment.from_file(paths[0], (*overrides, *varied))
    return named


def _side(
    path: Path, overrides: tuple[tuple[str, str], ...], *, again: bool
) -> Experiment | Result:
    if str(path) != "-" and not path.exists() and path.suffix not in (".toml", ".json"):
        looked = "" if path.is_absolute() else f" (looked for {Path.cwd() / path})"
        raise ConfigError(
            f"{path}: there is no such directory of results, nor such an experiment file{looked}"
        )
    if is_result(path) and not again:
        return Result.load(path)
    return Experiment.from_file(path, overrides)


def _show(comparison: Comparison, out: Path | None) -> None:
    from flashscape.report import text

    text.console().print(text.comparison(comparison))
    if out is not None:
        click.echo(f"\nResults and comparison are in {out}.")
