"""``flashscape schema``."""

from __future__ import annotations

import json

import click

from flashscape.catalogue import schema


@click.command("schema")
@click.option("--sweep", "of_sweeps", is_flag=True, help="Of the files of `flashscape sweep`.")
def command(of_sweeps: bool) -> None:
    """Print the JSON Schema of experiments, for editors."""
    if of_sweeps:
        from flashscape.sweep import schema as sweeps

        click.echo(json.dumps(sweeps.schema(), indent=2))
        return
    click.echo(json.dumps(schema(), indent=2))
