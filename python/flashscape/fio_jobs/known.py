"""Every option of fio, with the fate of those that no code here reads."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flashscape import near as similar

READ, REFUSED = "read", "refused"
"""Fates besides the verdicts: options read by code here, and options refused."""

OFF = ("0", "none", "false", "off")
"""Values that switch an option off."""


@dataclass(frozen=True, slots=True)
class Known:
    """Fate of an option."""

    fate: str
    """``read``, ``refused``, or a verdict."""
    why: str


@cache
def _table() -> tuple[dict[str, Known], dict[str, str]]:
    file = Path(__file__).with_name("keys.toml")
    read = tomllib.loads(file.read_text(encoding="utf-8"))
    options = {
        name: Known(group["fate"], group.get("why", ""))
        for group in read["group"]
        for name in group["keys"]
    }
    return options, read["alias"]


def of(name: str) -> Known:
    """Return an option by fio's first name of it."""
    return _table()[0][name]


def first_name(name: str) -> str | None:
    """Return the first of fio's names of an option; None for an unknown one."""
    options, aliases = _table()
    first = aliases.get(name, name)
    return first if first in options else None


def near(name: str) -> str | None:
    """Return the most similar name."""
    options, aliases = _table()
    return similar.near(name, [*options, *aliases])


def names() -> set[str]:
    """Return the first names of all options."""
    return set(_table()[0])
