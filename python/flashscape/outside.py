"""Policies that users write in Python: found in files, named in what goes wrong.

What a policy gets and what it returns is in ``docs/how-to/add-a-policy.md``.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from flashscape._flashscape import Asked, Candidates, Meeting, Written

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["Asked", "Candidates", "Meeting", "Written"]


def load(file: Path) -> ModuleType:
    """Execute a Python file as a module of its own, apart from all that have been imported."""
    spec = importlib.util.spec_from_file_location(f"flashscape_policy_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file; its name ends with .py")
    module = importlib.util.module_from_spec(spec)
    # So that dataclasses and the like find the module that they are in.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop(spec.name, None)
    return module


def told(error: BaseException) -> str:
    """Say what was raised, and where, in a line."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, SyntaxError) or error.__traceback__ is None:
        return text
    frames = traceback.extract_tb(error.__traceback__)
    # What loads and calls it is not its fault, and what it calls is not the place to look at.
    own = [frame for frame in frames if not _is_loader(frame.filename)]
    if not own:
        return text
    file = own[0].filename
    line = [frame.lineno for frame in own if frame.filename == file][-1]
    return f"{text} ({Path(file).name}, line {line})"


def _is_loader(file: str) -> bool:
    return file == __file__ or file.startswith("<frozen importlib")
