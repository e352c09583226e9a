"""``flashscape plot``."""

from __future__ import annotations

from pathlib import Path

import click

from flashscape.cli import options, show


@click.command("plot")
@click.argument("directory", metavar="DIR", type=options.Named(path_type=Path))
@click.option(
    "--out",
    type=options.Named(path_type=Path),
    metavar="FILE",
    help="Draw to this file instead: .png, .pdf or .svg. Of a comparison its own picture only.",
)
@options.percentiles_of("the picture of a sweep: four at most")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@click.option("--quiet", is_flag=True, help="Do not say where the pictures are.")
def command(
    directory: Path, out: Path | None, percentiles: str | None, force: bool, quiet: bool
) -> None:
    """Draw all pictures of the results in DIR, in the place of earlier ones.

    For a run that is tail.svg, for a comparison comparison.svg and the tail.svg of each of its
    runs, for a sweep sweep.svg, for a fleet fleet.svg, for a projected life lifetime.svg beside
    it. Needs matplotlib.
    """
    if force and out is None:
        raise click.UsageError("--force goes with --out: pictures in DIR are replaced anyway")
    show.draw(directory, file=out, force=force, quiet=quiet, percentiles=percentiles)
