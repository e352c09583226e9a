"""Copies of studies that ship, and the imports by which a copy would run the original's code."""

from __future__ import annotations

import ast
import shutil
from typing import TYPE_CHECKING

from flashscape.errors import OutputError, Problem
from flashscape.output import no_directory
from flashscape.reproduce.faults import Faults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def copy(study: Path, target: Path) -> None:
    """Copy the folder of a study to a new folder; raise OutputError."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OutputError(f"{target}: is there already; name a new folder for the copy")
    try:
        shutil.copytree(
            study, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True
        )
    except OSError as error:
        raise no_directory(target, error) from error


def foreign_imports(folder: Path, package: str) -> Iterator[Faults]:
    """Yield the imports from studies that ship, of modules that the folder has itself.

    ``package`` is the package of these studies. Such an import runs the original's module, and
    what is changed in the folder's has no effect.
    """
    for file in sorted(folder.glob("*.py")):
        faults = Faults(file)
        for line, module, names in _imports(file):
            study, _, own = module.removeprefix(f"{package}.").partition(".")
            if not module.startswith(f"{package}.") or (not own and not names):
                continue
            for name in [own] if own else names:
                if (folder / f"{name.partition('.')[0]}.py").is_file():
                    written = f"from .{own} import …" if own else f"from . import {name}"
                    message = (
                        f"imports {name} from the study {study.replace('_', '-')} that ships, "
                        f"although this folder has {name.partition('.')[0]}.py; write "
                        f"`{written}`"
                    )
                    faults.problems.append(Problem("", str(file), line, message))
        yield faults


def _imports(file: Path) -> Iterator[tuple[int, str, list[str]]]:
    """Yield line, module and names of the absolute imports of a file."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        # The import of the module tells.
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.lineno, node.module, [alias.name for alias in node.names]
