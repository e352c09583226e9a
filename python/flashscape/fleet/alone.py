"""The command that runs one drive of a fleet alone."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from flashscape import toml
from flashscape.fleet.run import NUMBER, OVERWRITES

if TYPE_CHECKING:
    from flashscape.fleet.wanted import Wanted


def command(wanted: Wanted, number: int) -> str | None:
    """Return the command for a drive; None if its experiment is in no file of its own."""
    source, overrides = wanted.base
    if source.folder is None or source.is_json != source.file.endswith(".json"):
        return None
    settings = [
        (path, toml.inline(json.loads(text)) if is_json else text)
        for path, text, is_json in overrides
    ]
    if wanted.age is not None:
        settings.append((OVERWRITES, toml.inline(wanted.age.as_dict())))
    settings.append((NUMBER, str(number)))
    words = ["flashscape", "run", source.file]
    for path, value in settings:
        words += ["--set", f"{path}={value}"]
    return shlex.join(words)
