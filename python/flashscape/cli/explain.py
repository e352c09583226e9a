"""``flashscape explain``."""

from __future__ import annotations

from pathlib import Path

import click

from flashscape.explain import explain
from flashscape.result import Result


@click.command("explain")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
def command(directory: Path) -> None:
    """Say where the tail of the run comes from whose results are in DIR."""
    result = Result.load(directory)
    try:
        explained = explain(result)
    except (KeyError, TypeError) as error:
        raise result.other_version(directory, str(error)) from error
    from flashscape.report import text

    text.console().print(text.explanation(explained))
