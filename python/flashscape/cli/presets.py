"""``flashscape presets``."""

from __future__ import annotations

import click

from flashscape.catalogue import presets
from flashscape.near import listed


@click.command("presets")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the drives that ship with flashscape, or show NAME with the source of each figure."""
    known = presets()
    if name is None:
        from flashscape.report import text

        text.console().print(text.presets(known))
    elif name in known:
        click.echo(known[name].text, nl=False)
    else:
        raise click.UsageError(f"no preset {name!r} {listed(name, known)}")
