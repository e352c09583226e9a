"""The command that runs one drive of a fleet alone."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from flashscape.fleet.run import NUMBER, OVERWRITES

if TYPE_CHECKING:
    from flashscape.fleet.wanted import Wanted


def command(wanted: Wanted, number: int) -> str | None:
    """Return the command for a drive; None if its experiment is in no file of its own."""
    source, overrides = wanted.base
    if source.folder is None or source.is_json != source.file.endswith(".json"):
        return None
    settings = [
        (path, _toml(json.loads(text)) if is_json else text) for path, text, is_json in overrides
    ]
    if wanted.age is not None:
        settings.append((OVERWRITES, _toml(wanted.age.as_dict())))
    settings.append((NUMBER, str(number)))
    words = ["flashscape", "run", source.file]
    for path, value in settings:
        words += ["--set", f"{path}={value}"]
    return shlex.join(words)


def _toml(value: Any) -> str:
    """Write a value as TOML in one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    is_bare = key.replace("-", "_").isidentifier() and key.isascii()
    return key if is_bare else json.dumps(key)
