"""TOML with the line of each key, so that errors can name lines."""

from __future__ import annotations

import json
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
