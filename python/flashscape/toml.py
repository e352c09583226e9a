"""TOML with the line of each key, so that errors can name lines."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from flashscape import _flashscape

if TYPE_CHECKING:
    from collections.abc import Mapping


def read(text: str, file: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the contents of TOML text, and the line of each path in it.

    ``file`` is its name in errors; raise ConfigError with all faults.
    """
    values, lines = _flashscape.toml(text, file)
    return json.loads(values), dict(lines)


def line_of(place: str, lines: Mapping[str, int]) -> int | None:
    """Return the line of a path in a file: its own, else that of the enclosing table."""
    while place:
        if place in lines:
            return lines[place]
        place = place[: max(place.rfind("."), place.rfind("["), 0)]
    return None


_is_bare = re.compile(r"[A-Za-z0-9_-]+").fullmatch


def key(name: str) -> str:
    """Write a key."""
    return name if _is_bare(name) else _text(name)


def inline(value: Any) -> str:
    """Write a value in one line."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        entries = ", ".join(f"{key(name)} = {inline(entry)}" for name, entry in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return json.dumps(value)


def _text(text: str) -> str:
    # Strings of JSON are strings of TOML, except for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
