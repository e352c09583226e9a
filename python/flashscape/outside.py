"""Policies that users write in Python: loading their files, and describing their errors.

A policy's arguments and result are described in ``docs/how-to/add-a-policy.md``.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from flashscape._flashscape import (
    Act,
    ArrayView,
    Asked,
    Candidates,
    CommandEnd,
    HostRequest,
    Meeting,
    WindowEstimates,
    Written,
)

if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "Act",
    "ArrayView",
    "Asked",
    "Candidates",
    "CommandEnd",
    "HostRequest",
    "Meeting",
    "WindowEstimates",
    "Written",
]


def load(file: Path) -> ModuleType:
    """Execute a Python file as a module of its own, apart from all imported ones."""
    spec = importlib.util.spec_from_file_location(f"flashscape_policy_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file; its name ends with .py")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and the like look up their module there.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop(spec.name, None)
    return module


def told(error: BaseException) -> str:
    """Describe an exception and its place, in one line."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, SyntaxError) or error.__traceback__ is None:
        return text
    frames = traceback.extract_tb(error.__traceback__)
    # Skip the frames of the loader above the policy, and those of the functions below it.
    own = [frame for frame in frames if not _is_loader(frame.filename)]
    if not own:
        return text
    file = own[0].filename
    line = [frame.lineno for frame in own if frame.filename == file][-1]
    return f"{text} ({Path(file).name}, line {line})"


def _is_loader(file: str) -> bool:
    return file == __file__ or file.startswith("<frozen importlib")
