"""``flashscape explain``."""

from __future__ import annotations

from pathlib import Path

import click

from flashscape.explain import explain
from flashscape.result import Result


@click.command("explain")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--all", "everything", is_flag=True, help="Explain every initiator, not only the worst ones."
)
def command(directory: Path, everything: bool) -> None:
    """Explain the latency tail of the run whose results are in DIR."""
    result = Result.load(directory)
    try:
        explained = explain(result, everything=everything)
    except (KeyError, TypeError) as error:
        raise result.other_version(directory, str(error)) from error
    from flashscape.report import text

    text.console().print(text.explanation(explained, result))
