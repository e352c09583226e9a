"""``flashscape plot``."""

from __future__ import annotations

from pathlib import Path

import click

from flashscape.cli import options, show


@click.command("plot")
@click.argument("directory", metavar="DIR", type=options.Named(path_type=Path))
@click.option("--quiet", is_flag=True, help="Do not say where the pictures are.")
def command(directory: Path, quiet: bool) -> None:
    """Draw all pictures of the results in DIR, in the place of earlier ones.

    Of a run that is tail.svg, of a comparison comparison.svg and the tail.svg of each of its
    runs, of a sweep sweep.svg. Needs matplotlib.
    """
    show.draw(directory, quiet=quiet)
