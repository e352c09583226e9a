"""The build of flashscape that a process runs: only equal builds give equal results."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path

from flashscape.version import __version__

_DIGITS = 12

ASK = "__import__('importlib').import_module('flashscape.cluster.identity').of_this_process()"
"""Expression that a worker evaluates: one without flashscape could not take a function of ours."""


@cache
def of_this_process() -> dict[str, str]:
    """Return version, build and Python version; workers whose answers differ are refused."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"flashscape": __version__, "build": _build(), "python": python}


def _build() -> str:
    """Hash all files of the package, the compiled module included."""
    hashed = hashlib.sha256()
    folder = Path(__file__).parent.parent
    files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*.*")}
    for name, file in sorted(files.items()):
        if "__pycache__" not in name and file.is_file():
            hashed.update(f"{name}\n{file.stat().st_size}\n".encode())
            hashed.update(file.read_bytes())
    return hashed.hexdigest()[:_DIGITS]


def described(identity: dict[str, str]) -> str:
    """Return an identity in words."""
    build, python = identity["build"], identity["python"]
    return f"flashscape {identity['flashscape']} (build {build}, Python {python})"
