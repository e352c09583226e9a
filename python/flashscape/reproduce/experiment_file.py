"""The experiment of a run as a file of its own, for `flashscape run`."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from flashscape import toml


def text(config: dict[str, Any], remark: str) -> str:
    """Return a complete configuration as TOML, below a line of comment.

    Paths in it are absolute, so the file works in any directory.
    """
    lines = [f"# {remark}", ""]
    _table(_rooted(config), "", lines)
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(table: dict[str, Any], path: str, lines: list[str]) -> None:
    """Write values first: a value after the head of another table would belong to it."""
    tables = {}
    for key, value in table.items():
        if isinstance(value, dict) or (_is_list_of_tables(value) and not path):
            tables[key] = value
        else:
            lines.append(f"{toml.key(key)} = {toml.inline(value)}")
    for key, value in tables.items():
        below = f"{path}.{toml.key(key)}" if path else toml.key(key)
        for each in value if isinstance(value, list) else [value]:
            lines += ["", f"[[{below}]]" if isinstance(value, list) else f"[{below}]"]
            if isinstance(value, list):
                lines += [f"{toml.key(k)} = {toml.inline(v)}" for k, v in each.items()]
            else:
                _table(each, below, lines)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _rooted(config: dict[str, Any]) -> dict[str, Any]:
    rooted = copy.deepcopy(config)
    for workload in rooted["workload"]:
        if "trace" in workload:
            _root(workload["trace"], "file")
    if "snapshot" in rooted["precondition"]:
        _root(rooted["precondition"], "snapshot")
    _root_policies(rooted["drive"])
    return rooted


def _root_policies(table: dict[str, Any]) -> None:
    if table.get("policy") == "python":
        _root(table, "file")
    for value in table.values():
        if isinstance(value, dict):
            _root_policies(value)


def _root(table: dict[str, Any], key: str) -> None:
    table[key] = str(Path(table[key]).absolute())
