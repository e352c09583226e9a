"""The experiment of an earlier run, from the configuration that its results keep."""

from __future__ import annotations

import contextlib
import json
import shlex
from typing import TYPE_CHECKING, Any

from flashscape import output, spelling, stored
from flashscape.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

AS_CALLABLE = "given as a callable"
"""Name of the file of a policy that is a function of the process that ran the experiment."""


_MARK = '"initiators"'
"""Key that summaries have, and experiments have not."""


def is_result(path: Path) -> bool:
    """Return True for a directory, or for the summary in one; an experiment may have its name."""
    if path.is_dir():
        return True
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return path.name == output.SUMMARY and _MARK in path.read_text(encoding="utf-8")
    return False


def config_in(path: Path, *, snapshot_given: bool) -> tuple[dict[str, Any], Path]:
    """Return the configuration of the run in a directory, and the file that has it.

    ``snapshot_given`` means that the drive is started from a snapshot. Raises OutputError without
    the results of a single run, and ConfigError if these do not have all that the run began with.
    """
    folder = path if path.is_dir() else path.parent
    summary = stored.summary(folder, for_tables=False)
    return config_of(summary, str(path), snapshot_given=snapshot_given), folder / output.SUMMARY


def config_of_text(text: str, path: Path, *, snapshot_given: bool) -> dict[str, Any] | None:
    """Return the configuration in the text of a summary of any name; None for another text."""
    if not text.startswith("{") or _MARK not in text:
        return None
    try:
        summary = json.loads(text)
    except ValueError:
        return None
    if not isinstance(summary, dict) or not {"config", "precondition"} <= summary.keys():
        return None
    return config_of(summary, str(path), snapshot_given=snapshot_given)


def config_of(summary: Mapping[str, Any], name: str, *, snapshot_given: bool) -> dict[str, Any]:
    """Return the configuration of a run; ``name`` is what errors call it. Raises ConfigError."""
    config = dict(summary["config"])
    for path in _callables(config):
        raise ConfigError(
            f"{name}: {path} of this run was a function in Python, which results do not keep; run "
            "the program again that gave it"
        )
    origin = summary["precondition"].get("snapshot")
    if origin is not None and "snapshot" not in config["precondition"] and not snapshot_given:
        start = spelling.option(
            f"flashscape run {shlex.quote(name)} --snapshot FILE",
            f"flashscape.run({name!r}, snapshot=...)",
        )
        raise ConfigError(
            f"{name}: this run began with the drive of a snapshot (of {origin['title']!r}, seed "
            f"{origin['seed']}), which results do not keep; name its file: {start}"
        )
    # The title of an experiment without one is the name of its file.
    return {"title": summary["title"], **config} if summary["title"] else config


def _callables(table: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield the paths of policies that were functions of a process."""
    if table.get("policy") == "python" and table.get("file") == AS_CALLABLE:
        yield path
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _callables(value, f"{path}.{key}" if path else key)
