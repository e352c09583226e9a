"""Imports between the parts of the Python package.

Imports inside functions and under ``if TYPE_CHECKING`` count like any other import: a reader who
follows a name goes the same way.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "python" / "flashscape"

FACE = {
    "arguments",
    "catalogue",
    "cluster",
    "compare",
    "directories",
    "drawing",
    "drive",
    "errors",
    "experiment",
    "explain",
    "fleet",
    "foreign",
    "frames",
    "imported",
    "latency",
    "lifetime",
    "measured",
    "near",
    "output",
    "overload",
    "picture",
    "plotting",
    "progress",
    "quantities",
    "refusal",
    "regions",
    "requests",
    "result",
    "run",
    "sides",
    "snapshot",
    "spelling",
    "sweep",
    "together",
    "toml",
    "trace",
    "units",
    "version",
    "written",
}
"""Modules of ``flashscape`` that other packages may import."""

ABOVE = {"act": (), "fio_jobs": (), "mqsim": (), "reproduce": (), "studies": ("act", "reproduce")}
"""Packages above the face, with the packages whose public names they may use."""

FILES = {
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): file
    for file in sorted((*PACKAGE.rglob("*.py"), PACKAGE / "_flashscape.pyi"))
}
"""File of every module."""


def room(module: str) -> str:
    """Return the part of the package that a module belongs to."""
    return module.split(".")[1] if "." in module else ""


def imports_of(module: str) -> set[tuple[str, str]]:
    """Return every module of the package that a module imports from, with the imported name."""
    found = set()
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            owner = _owner(module, node)
            for alias in node.names:
                whole = f"{owner}.{alias.name}"
                found.add((whole, "") if whole in FILES else (owner, alias.name))
    return {(owner, name) for owner, name in found if owner in FILES and owner != module}


def _owner(module: str, node: ast.ImportFrom) -> str:
    """Return the absolute name of the module that an import takes names from.

    Only studies import their own modules by relative paths, so that a copy imports its copies.
    """
    is_study = room(module) == "studies" and module.count(".") == 3
    own = module.rpartition(".")[0]
    if not node.level:
        name = node.module or ""
        is_own = is_study and f"{name}.".startswith(f"{own}.")
        assert not is_own, f"{module}: imports {name} of its own study; write `from .… import`"
        return name
    assert is_study, f"{module}: imports by a relative path"
    assert node.level == 1, f"{module}: imports from above its study"
    return f"{own}.{node.module}" if node.module else own


IMPORTS = {module: imports_of(module) for module in FILES}


def circle_from(module: str) -> list[str]:
    """Return the shortest circle of imports through a module; empty if there is none."""
    ways = [[module]]
    seen = set()
    while ways:
        way = ways.pop(0)
        for owner in sorted({owner for owner, _ in IMPORTS[way[-1]]}):
            if owner == module:
                return [*way, module]
            if owner not in seen:
                seen.add(owner)
                ways.append([*way, owner])
    return []


def test_no_circle_of_imports():
    circles = {frozenset(way): way for module in FILES if (way := circle_from(module))}
    shown = "\n".join(" -> ".join(way) for way in circles.values())
    assert not circles, f"move what they share to the module that owns it:\n{shown}"


def exported(door: str) -> set[str]:
    """Return the names in a package's ``__all__``."""
    for node in ast.parse(FILES[door].read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def is_public(owner: str, name: str, rooms: set[str]) -> bool:
    """Return True if a name is public in its package, or in a module that the package offers."""
    _, *path = owner.split(".")
    if not path or path[0] not in rooms or (name.startswith("_") and not name.endswith("__")):
        return False
    if FILES[f"flashscape.{path[0]}"].name != "__init__.py":
        return True
    door = exported(f"flashscape.{path[0]}")
    return name in door if len(path) == 1 else len(path) == 2 and path[1] in door


@pytest.mark.parametrize("above", ABOVE)
def test_what_stands_above_the_face_imports_nothing_else(above):
    rooms = FACE | set(ABOVE[above])
    strange = [
        f"{module} imports {owner} {name}".rstrip()
        for module in FILES
        if room(module) == above
        for owner, name in sorted(IMPORTS[module])
        if room(owner) != above and not is_public(owner, name, rooms)
    ]
    assert not strange, "make it part of a public module of the face:\n" + "\n".join(strange)


def test_the_face_does_not_know_what_stands_above_it():
    higher = {*ABOVE, "cli", "bench"}
    strange = [
        f"{module} imports {owner}"
        for module in FILES
        if room(module) not in {"", "__main__", *higher}
        for owner, _ in sorted(IMPORTS[module])
        if room(owner) in higher
    ]
    assert not strange, "\n".join(strange)


def test_the_face_is_there():
    assert {room(module) for module in FILES} >= FACE | set(ABOVE)
