"""Import graphs of the modules of a Rust crate and of the Python package.

An edge leads from a module to the module that *defines* a name that it uses: re-exports are
followed, so ``use crate::Lpn`` is an edge to the file of ``Lpn``, not to ``lib.rs``. Unit
tests do not count. Calls of methods are not seen, because no import names them.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

Module = tuple[str, ...]
Graph = dict[str, set[str]]

NOT_CODE = re.compile(
    r"""
    //[^\n]*                        # a comment
    | /\*.*?\*/                     # one of several lines
    | b?r(\#*)"(?:.|\n)*?"\1        # a raw text
    | b?"(?:\\.|[^"\\])*"           # a text
    | b?'(?:\\[^\n']+|[^\\'\n])'    # a character
    """,
    re.VERBOSE | re.DOTALL,
)
_TOKEN = re.compile(r"\$?[A-Za-z_]\w*|::|=>|[{}()\[\];,*#!<>]|\S")
_NAME = re.compile(r"\$?[A-Za-z_]\w*")
_ROOTS = {"crate", "super", "self", "$crate"}


class _File:
    """Imports and paths of one file."""

    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(NOT_CODE.sub(" 0 ", text))
        self.uses: dict[str, tuple[str, ...]] = {}
        """Names that ``use`` brings, with their paths."""
        self.globs: list[tuple[str, ...]] = []
        self.paths: list[tuple[str, ...]] = []
        """Paths elsewhere in the code."""
        self.tests: set[str] = set()
        """Files beside this one that contain only tests."""
        self._read()

    def _read(self) -> None:
        at, tokens = 0, self.tokens
        is_test = False
        while at < len(tokens):
            token = tokens[at]
            if token == "#" and tokens[at + 1] in "[!":
                end = self._closing(at + (2 if tokens[at + 1] == "!" else 1))
                is_test |= tokens[at + 1 : end] == ["[", "cfg", "(", "test", ")"]
                at = end + 1
                continue
            if is_test and token not in {"pub", "(", ")", "crate", "super"}:
                at = self._skip_item(at)
            elif token == "use":
                end = tokens.index(";", at)
                self._take_uses((), at + 1, end)
                at = end
            elif _NAME.fullmatch(token) and tokens[at + 1 : at + 2] == ["::"]:
                at = self._take_path(at)
                is_test = False
                continue
            elif _is_braced_macro(tokens, at):
                # Arguments of a macro may be names of modules.
                end = self._closing(at + 2)
                names = filter(_NAME.fullmatch, tokens[at + 3 : end])
                self.paths.extend((name, "") for name in names)
                at += 2
            is_test = is_test and token in {"pub", "(", ")", "crate", "super"}
            at += 1

    def _closing(self, at: int) -> int:
        """Return the place of the bracket that closes the one at ``at``."""
        depth = 0
        for place in range(at, len(self.tokens)):
            if self.tokens[place] in "{([":
                depth += 1
            elif self.tokens[place] in "})]":
                depth -= 1
                if depth == 0:
                    return place
        raise AssertionError("a bracket is not closed")

    def _skip_item(self, at: int) -> int:
        """Return the last place of an item."""
        if self.tokens[at] == "mod" and self.tokens[at + 2] == ";":
            self.tests.add(self.tokens[at + 1])
        while self.tokens[at] not in "{;":
            at = self._closing(at) + 1 if self.tokens[at] in "([" else at + 1
        return self._closing(at) if self.tokens[at] == "{" else at

    def _take_path(self, at: int) -> int:
        path = [self.tokens[at]]
        at += 1
        while self.tokens[at : at + 1] == ["::"] and _NAME.fullmatch(self.tokens[at + 1]):
            path.append(self.tokens[at + 1])
            at += 2
        self.paths.append(tuple(path))
        return at

    def _take_uses(self, prefix: tuple[str, ...], at: int, end: int) -> None:
        """Record the paths of an import tree, which is ``tokens[at:end]``."""
        path = prefix
        while at < end:
            token = self.tokens[at]
            if token == "{":
                close = self._closing(at)
                for begin, stop in self._parts(at + 1, close):
                    self._take_uses(path, begin, stop)
                return
            if token == "*":
                self.globs.append(path)
                return
            if token == "as":
                self.uses[self.tokens[at + 1]] = path
                return
            if token != "::":
                path = (*path, token)
            at += 1
        if path[-1] == "self":
            path = path[:-1]
        self.uses[path[-1]] = path

    def _parts(self, at: int, end: int) -> Iterator[tuple[int, int]]:
        begin = at
        while at < end:
            if self.tokens[at] == "{":
                at = self._closing(at)
            elif self.tokens[at] == ",":
                yield begin, at
                begin = at + 1
            at += 1
        if begin < end:
            yield begin, end


def _is_braced_macro(tokens: list[str], at: int) -> bool:
    return (
        tokens[at + 1 : at + 3] == ["!", "{"]
        and _NAME.fullmatch(tokens[at]) is not None
        and tokens[at] != "macro_rules"
    )


class Crate:
    """The modules of a crate; the root is the empty tuple."""

    def __init__(self, source: Path) -> None:
        self.source = source
        found = [file for file in source.rglob("*.rs") if file.name != "main.rs"]
        files = {_module(file.relative_to(source)): file for file in found}
        read = {module: _File(file.read_text("utf-8")) for module, file in files.items()}
        tests = {(*module, name) for module, file in read.items() for name in file.tests}
        self._names = {module: str(file.relative_to(source)) for module, file in files.items()}
        self._files = {
            module: file
            for module, file in read.items()
            if not any(module[: len(test)] == test for test in tests)
        }

    def graph(self) -> Graph:
        """Return the files that each file imports from."""
        graph: Graph = {self._names[module]: set() for module in self._files}
        for module, file in self._files.items():
            paths = [*file.uses.values(), *self._spelled_out(module, file)]
            found = {self._defining(module, path) for path in paths}
            found |= {self._module_of(module, path) for path in file.globs}
            graph[self._names[module]] = {self._names[target] for target in found - {None, module}}
        return graph

    def _spelled_out(self, module: Module, file: _File) -> Iterator[tuple[str, ...]]:
        """Yield paths in the code that begin in this crate."""
        for path in file.paths:
            is_child = (*module, path[0]) in self._files
            is_begun = path[0] in _ROOTS or path[0] in file.uses
            if is_child or (is_begun and path[1:] != ("",)):
                yield path

    def _defining(
        self, module: Module, path: tuple[str, ...], seen: frozenset = frozenset()
    ) -> Module | None:
        """Return the module that defines the name of a path.

        None for paths into other crates, and for a path that ends at a module, because it uses
        nothing of it.
        """
        if (module, path) in seen:
            return None
        seen |= {(module, path)}
        begin = self._begin(module, path, seen)
        if begin is None:
            return None
        at, rest = begin
        while rest and (*at, rest[0]) in self._files:
            at, rest = (*at, rest[0]), rest[1:]
        if not rest:
            return None
        file = self._files[at]
        if rest[0] in file.uses and not (at == module and path == file.uses[rest[0]]):
            return self._defining(at, (*file.uses[rest[0]], *rest[1:]), seen)
        for glob in file.globs:
            found = self._module_of(at, glob)
            if found is not None and found != at and self._defines(found, rest[0]):
                return self._defining(found, ("self", *rest), seen)
        return at

    def _begin(
        self, module: Module, path: tuple[str, ...], seen: frozenset
    ) -> tuple[Module, tuple[str, ...]] | None:
        """Return the module that a path starts from, and the rest of the path."""
        at, rest = module, path
        if path[0] in {"crate", "$crate"}:
            return (), path[1:]
        if path[0] in {"super", "self"}:
            while rest and rest[0] in {"super", "self"}:
                at, rest = (at[:-1] if rest[0] == "super" else at), rest[1:]
            return at, rest
        if (*module, path[0]) in self._files:
            return module, path
        if path[0] in self._files[module].uses and len(path) > 1:
            used = self._files[module].uses[path[0]]
            if used == path[: len(used)]:
                return None
            found = self._module_of(module, used)
            return (found, path[1:]) if found is not None else None
        return None

    def _module_of(self, module: Module, path: tuple[str, ...]) -> Module | None:
        """Return the module that a path names; None if it names none."""
        begin = self._begin(module, path, frozenset())
        if begin is None:
            return None
        at, rest = begin
        for name in rest:
            at = (*at, name)
            if at not in self._files:
                return None
        return at

    def _defines(self, module: Module, name: str) -> bool:
        tokens = self._files[module].tokens
        return name in self._files[module].uses or any(
            tokens[at + 1] == name
            for at, token in enumerate(tokens[:-1])
            if token in {"fn", "struct", "enum", "trait", "type", "const", "static", "macro_rules"}
        )


def _module(file: Path) -> Module:
    parts = file.with_suffix("").parts
    return parts[:-1] if parts[-1] in {"lib", "mod"} else parts


def package_graph(folder: Path) -> Graph:
    """Return the modules that each module of a Python package imports from, anywhere in its code.

    A name that a package re-exports from one of its modules is an edge to that module.
    """
    files = {
        _dotted(file, folder): file for file in [*folder.rglob("*.py"), *folder.rglob("*.pyi")]
    }
    imports = {name: _imports(file, name) for name, file in files.items()}

    def defining(target: str, seen: frozenset[str] = frozenset()) -> str | None:
        if target in files:
            return target
        module, _, name = target.rpartition(".")
        if module not in files or target in seen:
            return None
        again = dict(imports[module]).get(name)
        return (again and defining(again, seen | {target})) or module

    return {
        name: {found for _, path in named if (found := defining(path))} - {name}
        for name, named in imports.items()
    }


def _imports(file: Path, name: str) -> list[tuple[str, str]]:
    """Return the imports of a module: each name and its origin."""
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.asname or alias.name, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            base = ".".join(filter(None, [above, node.module]))
            found += [(alias.asname or alias.name, f"{base}.{alias.name}") for alias in node.names]
    return found


def _dotted(file: Path, folder: Path) -> str:
    parts = file.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def circles(graph: Graph) -> list[list[str]]:
    """Return groups of modules that import each other, directly or through others, sorted."""
    order: list[str] = []
    seen: set[str] = set()
    for root in sorted(graph):
        _visit(graph, root, seen, order)
    back: Graph = defaultdict(set)
    for module, imports in graph.items():
        for target in imports:
            back[target].add(module)
    seen.clear()
    groups: list[list[str]] = []
    for root in reversed(order):
        group: list[str] = []
        _visit(back, root, seen, group)
        if len(group) > 1:
            groups.append(sorted(group))
    return sorted(groups)


def _visit(graph: Graph, root: str, seen: set[str], order: list[str]) -> None:
    """Append all newly reached modules, the farthest first."""
    if root in seen:
        return
    seen.add(root)
    stack = [(root, iter(sorted(graph.get(root, ()))))]
    while stack:
        module, targets = stack[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(sorted(graph.get(target, ())))))
                break
        else:
            stack.pop()
            order.append(module)


def way_round(graph: Graph, group: Iterable[str]) -> list[str]:
    """Return a shortest circle through some modules; its first module is its last."""
    ways = [way for module in sorted(group) if (way := _way(graph, module, module))]
    return min(ways, key=len)


def _way(graph: Graph, begin: str, end: str) -> list[str]:
    """Return the shortest way from one module to another, with at least one import."""
    ways = [[begin]]
    seen: set[str] = set()
    for way in ways:
        for target in sorted(graph.get(way[-1], ())):
            if target == end:
                return [*way, end]
            if target not in seen:
                seen.add(target)
                ways.append([*way, target])
    return []
