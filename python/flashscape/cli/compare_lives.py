"""``flashscape compare`` of projected lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flashscape.cli import documents, show
from flashscape.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flashscape.lifetime import LifetimeComparison


def are_lives(sides: tuple[str, ...]) -> bool:
    """Return True if the sides are projected lives; raise ConfigError if only some of them are."""
    from flashscape.lifetime import is_life

    lives = [side for side in sides if is_life(side)]
    if lives and len(lives) < len(sides):
        other = next(side for side in sides if side not in lives)
        raise ConfigError(
            f"{lives[0]}: is a projected life, and {other} is none; compare lives with lives, and "
            "runs with runs"
        )
    return bool(lives)


def compare(
    sides: tuple[str, ...],
    names: Sequence[str] | None,
    others: Sequence[str],
    *,
    out: Path | None,
    plot: bool,
    document: Path | None,
    force: bool,
    quiet: bool,
) -> None:
    """Compare lives; ``others`` are the given options that lives do not have."""
    from flashscape.lifetime import compare_lifetimes

    if others:
        raise click.UsageError(
            f"{others[0]}: projected lives were run before; only --names and options of the output "
            "go with them"
        )
    if len(sides) < 2:
        raise ConfigError(f"{sides[0]}: is a projected life; name another one to compare it with")
    with documents.claimed(document, [], force=force) as written:
        compared = compare_lifetimes(*sides, names=names)
        if out is not None:
            compared.save(out, force=force)
        if written is not None:
            written.store(compared.to_json())
    is_printed = not quiet and document != documents.STDOUT
    if is_printed:
        _print(compared)
    if out is not None and plot:
        show.draw(out, quiet=not is_printed)
    elif out is not None and is_printed:
        click.echo(f"\nThe comparison is in {out}.")
        show.say_left("lifetimes.svg", out, None)


def _print(compared: LifetimeComparison) -> None:
    from flashscape.report import lifetimes, text

    text.print_all([lifetimes.table(compared.rows)], compared.sentences)
