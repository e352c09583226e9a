"""House rules that a program can check, and the record of their violations.

``house.toml`` records the code that broke a rule when the rule was made; the record may only
shrink. ``python tests/house.py`` removes what has been mended; with ``--all`` it records
everything that it finds, so that a review of the record shows what has risen.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from imports import NOT_CODE, Crate, Graph, circles, package_graph

ROOT = Path(__file__).parent.parent
RECORD = Path(__file__).with_suffix(".toml")

FUNCTION_LINES = 60
"""Most lines of a function: it fits on a screen."""

DOCUMENT_COLUMNS = 120
"""Most columns of a document's line, without the addresses of its links."""

LAYERS: dict[str, set[str]] = {
    "engine": set(),
    "settings": {"engine"},
    "nand": {"engine", "settings"},
    "metrics": {"engine"},
    "ftl": {"engine", "settings", "nand"},
    "traces": {"engine", "settings"},
    "host": {"engine", "settings", "traces"},
    "drive": {"engine", "settings", "nand", "metrics", "ftl", "traces", "host"},
    "python": {"engine", "settings", "metrics", "ftl", "traces", "host", "drive"},
    "floor": set(),
}
"""Crates that each crate may use, as in ARCHITECTURE.md."""

OF_TESTS = {"traces": {"floor", "host"}}
"""Further crates that the tests of a crate may use; of all others, ``floor``."""


def _word(pattern: str) -> re.Pattern[str]:
    """Return a pattern for whole words of prose, and whole parts of names such as ``live_bits``."""
    return re.compile(rf"(?<![A-Za-z])(?:{pattern})(?![a-z])")


WORDS: dict[str, tuple[str, re.Pattern[str]]] = {
    "live, dead": ("valid, invalid", _word("[Ll]ive|LIVE|[Dd]ead|DEAD")),
    "make way": ("suspend", _word("(?:[Mm]akes?|[Mm]ade|[Mm]aking)[ _-]way")),
    # Except for configuration keys, which stay until 1.0, for the field's "soft decoding", and for
    # rich's ``soft_wrap``.
    "soft, urgent": (
        "background GC, foreground GC",
        _word(r"(?<![.\"'])(?:[Ss]oft|SOFT|[Uu]rgent|URGENT)(?!\s*[=\"']|[ _-]?[Dd]ecod|_wrap)"),
    ),
    "PUN": ("PPN", _word("[Pp]uns?|PUNs?")),
    # Except for MQSim's ``Queue_Fetch_Size`` and for Rust's ``fetch_add``.
    "fetch": (
        "read (of a read-modify-write)",
        _word("(?<!Queue_)[Ff]etch(?:es|ed|ing)?(?!_add)"),
    ),
    "modify": ("in-plane read-modify-write", _word("(?<!read-)[Mm]odif(?:y|ies|ied|ying)")),
    "pump, hurry": ("flush, force a flush", _word("[Pp]ump(?:s|ed)?|[Hh]urr(?:y|ies|ied)")),
    "cell of a group": ("unit of concurrency", _word("CellId|cells? of (?:a|the|its) group")),
    "stand-in": ("synthetic trace", _word("[Ss]tand[-_ ]?[Ii]ns?")),
    "run without time": ("untimed run", _word("[Ww]ithout[-_ ]?[Tt]ime")),
    "look": ("poll", _word("Look|(?:[Aa]|[Tt]he|next|each|first|last|one|two|no) looks?")),
}
"""Words of the first draft, each with the field's word."""

_PROSE = {".rs", ".py", ".pyi", ".md"}
_PLACES = ("crates", "docs", "examples", "experiments", "python", "tests")
# Files that are no prose: the rules, their record, and drives that once failed.
_NOT_PROSE = re.compile(r"tests/house\.|crates/drive/tests/(?:fuzz|gate)")

Counts = dict[str, int]
Groups = dict[str, list[list[str]]]


def prose() -> Iterator[Path]:
    """Yield every file that people read."""
    for place in (ROOT.glob("*"), *((ROOT / name).rglob("*") for name in _PLACES)):
        for file in sorted(place):
            if file.suffix in _PROSE and not _NOT_PROSE.search(_name(file)) and file.is_file():
                yield file


def words() -> Counts:
    """Count the words of the first draft in all prose."""
    texts = [file.read_text("utf-8") for file in prose()]
    return {
        ours: sum(len(pattern.findall(text)) for text in texts)
        for ours, (_, pattern) in WORDS.items()
    }


def long_lines() -> Counts:
    """Count the lines that are too long in each document, except for tables and code."""
    documents = [file for file in prose() if file.suffix == ".md"]
    found = {_name(file): len(list(_long_lines(file))) for file in documents}
    return {name: count for name, count in found.items() if count}


def _long_lines(file: Path) -> Iterator[int]:
    in_code = False
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.startswith(("|", "    ")):
            shown = re.sub(r"https?://\S+", "", re.sub(r"\]\([^)]*\)", "]", line))
            if len(shown) > DOCUMENT_COLUMNS:
                yield number


def long_functions() -> Counts:
    """Return functions that do not fit on a screen, except for those of tests."""
    found: Counts = {}
    for file in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        if "tests" not in file.with_suffix("").parts:
            found |= _longest(file, rust_functions(file.read_text("utf-8")))
    for file in sorted(ROOT.glob("python/flashscape/**/*.py")):
        found |= _longest(file, python_functions(file.read_text("utf-8")))
    return found


def _longest(file: Path, functions: Iterator[tuple[str, int]]) -> Counts:
    return {f"{_name(file)}: {of}": lines for of, lines in functions if lines > FUNCTION_LINES}


def rust_functions(text: str) -> Iterator[tuple[str, int]]:
    """Yield functions with their line counts, except for those of unit tests."""
    code = NOT_CODE.sub(lambda part: re.sub(r"[^\n]", " ", part[0]), text)
    while tests := re.search(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*{", code):
        code = code[: tests.start()] + code[_end(code, tests.end() - 1) :]
    for found in re.finditer(r"\bfn\s+(\w+)", code):
        begin = _body(code, found.end())
        if begin is not None:
            yield found[1], code.count("\n", found.start(), _end(code, begin)) + 1


def _body(code: str, at: int) -> int | None:
    """Return the position of a function's body; None for a declaration without one."""
    depth = 0
    for place in range(at, len(code)):
        if code[place] in "([":
            depth += 1
        elif code[place] in ")]":
            depth -= 1
        elif depth == 0 and code[place] in "{;":
            return place if code[place] == "{" else None
    return None


def _end(code: str, begin: int) -> int:
    depth = 0
    for brace in re.compile(r"[{}]").finditer(code, begin):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return len(code)


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    """Yield functions with their line counts, docstrings not counted."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            says = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            told = (first.end_lineno or 0) - first.lineno + 1 if says else 0
            yield node.name, (node.end_lineno or 0) - node.lineno + 1 - told


def crate_graph(crate: str) -> Graph:
    """Return the files of a crate that each of its files imports from."""
    return Crate(ROOT / "crates" / crate / "src").graph()


def rust_circles() -> Groups:
    """Return files that import each other, by crate."""
    found = {crate: circles(crate_graph(crate)) for crate in LAYERS}
    return {crate: groups for crate, groups in found.items() if groups}


def python_graph() -> Graph:
    """Return the modules of the Python package that each of its modules imports from."""
    return package_graph(ROOT / "python" / "flashscape")


def record() -> dict[str, Any]:
    """Read the recorded violations of the rules."""
    return tomllib.loads(RECORD.read_text("utf-8"))


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _write(rules: dict[str, Counts | Groups], known_circles: list[list[str]]) -> None:
    lines = [
        "# What broke the rules of the house when they were made: see house.py beside this.",
        "# Numbers go down and entries go out, by `python tests/house.py`.",
        "",
        f"python_circles = {json.dumps(known_circles, indent=4)}",
    ]
    for rule, found in rules.items():
        lines += ["", f"[{rule}]"]
        lines += [f"{json.dumps(of)} = {json.dumps(each, indent=4)}" for of, each in found.items()]
    RECORD.write_text("\n".join(lines) + "\n", "utf-8")


def _shrunk(found: Counts, known: Counts) -> Counts:
    return {of: min(found[of], number) for of, number in known.items() if of in found}


def _parts(found: list[list[str]], known: list[list[str]]) -> list[list[str]]:
    """Return circles that are part of known ones."""
    return [group for group in found if any(set(group) <= set(old) for old in known)]


def main(arguments: list[str]) -> None:
    """Remove from the record what is mended, or record everything."""
    counts = {"words": words(), "long_lines": long_lines(), "long_functions": long_functions()}
    of_rust, of_python = rust_circles(), circles(python_graph())
    if arguments != ["--all"]:
        known = record()
        counts = {rule: _shrunk(found, known[rule]) for rule, found in counts.items()}
        of_python = _parts(of_python, known["python_circles"])
        of_rust = {
            crate: _parts(groups, old)
            for crate, old in known["rust_circles"].items()
            if (groups := of_rust.get(crate))
        }
    _write({"rust_circles": of_rust, **counts}, of_python)


if __name__ == "__main__":
    main(sys.argv[1:])
