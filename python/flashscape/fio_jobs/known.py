"""Every option that fio knows, and what becomes of those that no code here reads."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

READ, REFUSED = "read", "refused"
"""Beside the verdicts: options that code here reads, and those that change the load too much."""

OFF = ("0", "none", "false", "off")
"""Values by which an option is switched off."""


@dataclass(frozen=True, slots=True)
class Known:
    """What becomes of an option."""

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
    """An option by fio's first name of it."""
    return _table()[0][name]


def first_name(name: str) -> str | None:
    """The first of the names that fio has for an option; None where it knows none."""
    options, aliases = _table()
    first = aliases.get(name, name)
    return first if first in options else None


def near(name: str) -> str | None:
    """The name that may have been meant."""
    options, aliases = _table()
    return next(iter(difflib.get_close_matches(name, [*options, *aliases], 1)), None)


def names() -> set[str]:
    """First names of all options."""
    return set(_table()[0])
