"""Tables of experiments, which studies change."""

from __future__ import annotations

from typing import Any


def merged(tables: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return tables with changes, key by key, as a file is merged with its preset."""
    both = dict(tables)
    for key, value in changes.items():
        old = both.get(key)
        both[key] = (
            merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
        )
    return both
