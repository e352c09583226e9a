"""What a result depends on, as one hash: equal inputs, equal results."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from flashscape import _flashscape

_DIGITS = 24
"""Hexadecimal digits of a key: 96 bits, so that no two of any number of points agree by chance."""

_CHUNK = 1 << 20


def key(config: dict[str, Any]) -> str:
    """Name everything that the results of this complete configuration follow from.

    That is the configuration with its seed, what is in the traces, and the
    simulator. A title changes nothing, nor does the folder that a trace lies in.
    Raises OSError where a trace cannot be read.
    """
    inputs = {name: value for name, value in config.items() if name != "title"}
    inputs["workload"] = [_workload(each) for each in config["workload"]]
    inputs = {"simulator": simulator(), "experiment": inputs}
    text = json.dumps(inputs, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _workload(workload: dict[str, Any]) -> dict[str, Any]:
    if "trace" not in workload:
        return workload
    file = Path(workload["trace"]["file"])
    content = {"file": file.name, "content": content_of(file)}
    return workload | {"trace": workload["trace"] | content}


def content_of(file: Path) -> str:
    """A hash of what is in a file; raise OSError."""
    found = file.stat()
    return _content(str(file.absolute()), found.st_size, found.st_mtime_ns)


@cache
def _content(file: str, _size: int, _changed_ns: int) -> str:
    """Files are read once, unless they have changed meanwhile."""
    hashed = hashlib.sha256()
    with Path(file).open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            hashed.update(chunk)
    return hashed.hexdigest()


@cache
def simulator() -> str:
    """The version, and the compiled module itself, whose version may be the same for long."""
    content = content_of(Path(_flashscape.__file__))
    return f"{_flashscape.__version__} {content}"
