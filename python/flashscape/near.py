"""Similar names, for errors about a name that does not exist."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def near(name: object, known: Iterable[str]) -> str | None:
    """Return the most similar known name; None if none is similar.

    Upper case counts as lower case, and a dot or a hyphen as an underscore.
    """
    if not isinstance(name, str):
        return None
    named = {_plain(each): each for each in known}
    alike = difflib.get_close_matches(_plain(name), named, 1)
    return named[alike[0]] if alike else None


def meant(name: object, known: Iterable[str]) -> str:
    """Return the most similar name as the beginning of a remark; empty if none is similar."""
    found = near(name, known)
    return "" if found is None else f'did you mean "{found}"? '


def listed(name: object, known: Iterable[str], verb: str = "there are") -> str:
    """Return a remark in brackets with the most similar name and all known ones."""
    names = list(known)
    return f"({meant(name, names)}{verb} {', '.join(names) or 'none'})"


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_").replace(".", "_")
