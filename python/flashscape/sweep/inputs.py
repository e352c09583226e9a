"""Hash of everything that a result depends on: equal inputs, equal results."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import _flashscape

if TYPE_CHECKING:
    from collections.abc import Callable

DIGITS = 24
"""Hexadecimal digits of a key: 96 bits, so that no two points agree by chance."""

_CHUNK = 1 << 20


def key(config: dict[str, Any]) -> str:
    """Return the key of all inputs of this complete configuration.

    Inputs are the configuration with its seed, the contents of the files that it names, and the
    simulator. A title changes nothing, nor does the folder of a file.
    Raises OSError if a file cannot be read, SnapshotError if a file holds no snapshot.
    """
    inputs = {name: value for name, value in config.items() if name != "title"}
    inputs["workload"] = [_workload(each) for each in config["workload"]]
    inputs["precondition"] = _precondition(config["precondition"])
    inputs["drive"] = _with_policies(config["drive"])
    inputs = {"simulator": simulator(), "experiment": inputs}
    text = json.dumps(inputs, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return short(text)


def short(text: str) -> str:
    """Return a short name for a long text."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _precondition(precondition: dict[str, Any]) -> dict[str, Any]:
    if "snapshot" not in precondition:
        return precondition
    return precondition | {"snapshot": content_of(Path(precondition["snapshot"]), _of_snapshot)}


def _with_policies(table: dict[str, Any]) -> dict[str, Any]:
    """Return the table with the contents of all files of policies in Python."""
    if table.get("policy") == "python":
        return table | _named(Path(table["file"]))
    return {
        name: _with_policies(value) if isinstance(value, dict) else value
        for name, value in table.items()
    }


def _named(file: Path) -> dict[str, Any]:
    return {"file": file.name, "content": content_of(file)}


def _workload(workload: dict[str, Any]) -> dict[str, Any]:
    if "trace" not in workload:
        return workload
    return workload | {"trace": workload["trace"] | _named(Path(workload["trace"]["file"]))}


def content_of(file: Path, hashed: Callable[[str], str] | None = None) -> str:
    """Return a hash of a file's content, by ``hashed`` or of every byte; raise OSError."""
    found = file.stat()
    return _content(
        str(file.absolute()), found.st_size, found.st_mtime_ns, hashed or _of_every_byte
    )


@cache
def _content(file: str, _size: int, _changed_ns: int, hashed: Callable[[str], str]) -> str:
    """Hash a file once, unless it has changed."""
    return hashed(file)


def _of_snapshot(file: str) -> str:
    """Hash the header, which has the checksums of the rest: that may be gigabytes."""
    return hashlib.sha256(_flashscape.snapshot_header(file)).hexdigest()


def _of_every_byte(file: str) -> str:
    hashed = hashlib.sha256()
    with Path(file).open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            hashed.update(chunk)
    return hashed.hexdigest()


@cache
def simulator() -> str:
    """Return the version with a hash of the compiled module, as a version may last long."""
    content = content_of(Path(_flashscape.__file__))
    return f"{_flashscape.__version__} {content}"
