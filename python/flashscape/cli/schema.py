"""``flashscape schema``."""

from __future__ import annotations

import json

import click

from flashscape.catalogue import schema


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of experiments, for editors."""
    click.echo(json.dumps(schema(), indent=2))
