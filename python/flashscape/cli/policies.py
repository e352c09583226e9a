"""``flashscape policies``."""

from __future__ import annotations

import click

from flashscape.catalogue import Family, policies
from flashscape.near import listed


@click.command("policies")
@click.argument("path", required=False)
@click.option("--markdown", is_flag=True, help="As docs/policies.md has them.")
def command(path: str | None, markdown: bool) -> None:
    """List the policies of a drive by family, or those at PATH."""
    known = policies()
    if path is not None:
        if path not in known:
            raise click.UsageError(f"no policies at {path!r} {listed(path, known)}")
        known = {path: known[path]}
    page = _page(list(known.values())) if markdown else "\n".join(map(_lines, known.values()))
    click.echo(page, nl=not markdown)


def _lines(family: Family) -> str:
    lines = [f"{family.path}: {family.about}"]
    width = max(map(len, family.policies))
    for policy in family.policies.values():
        lines.append(f"  {policy.name:<{width}}  {policy.about}")
        lines.extend(f"    {key}: {meaning}" for key, meaning in policy.parameters.items())
    return "\n".join(lines) + "\n"


_HEAD = """# Policies

What decides inside a drive. Each family is a key of the configuration
([configuration](configuration.md)), and each policy a value of it. A family that has `python` also
takes a function of yours: [add a policy](how-to/add-a-policy.md).

This page is made from the code: `flashscape policies --markdown > docs/policies.md`.
"""


def _page(families: list[Family]) -> str:
    parts = [_HEAD]
    for family in families:
        rows = [
            f"| `{policy.name}` | {policy.about} | {_parameters(policy.parameters)} |"
            for policy in family.policies.values()
        ]
        head = ["| policy | what it does | parameters |", "|---|---|---|"]
        parts.append("\n".join([f"## `{family.path}`", "", family.about, "", *head, *rows, ""]))
    return "\n".join(parts)


def _parameters(parameters: dict[str, str]) -> str:
    return (
        "; ".join(f"`{key}`: {meaning.rstrip('.')}" for key, meaning in parameters.items()) or "–"
    )
