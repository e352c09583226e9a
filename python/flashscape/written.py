"""Experiments as TOML text: a value on each line, with its source beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from flashscape import toml

Value = (
    str | int | float | bool | list[str] | list[int] | dict[str, "Value"] | list[dict[str, "Value"]]
)


@dataclass(slots=True)
class Row:
    """A key, its value, and its sources."""

    key: str
    value: Value
    sources: tuple[tuple[str, str], ...] = ()
    """Sections and names of the imported keys that it comes from."""
    remark: str = ""

    @property
    def comment(self) -> str:
        """Comment beside the value."""
        names = ", ".join(dict.fromkeys(name for _section, name in self.sources))
        return "; ".join(part for part in (names, self.remark) if part)


@dataclass(slots=True)
class Table:
    """A table of an experiment; ``workload`` may occur several times."""

    path: str
    rows: list[Row] = field(default_factory=list)
    is_list: bool = False
    remark: str = ""


def text(tables: list[Table]) -> str:
    """Return the tables as TOML."""
    return "\n".join(_table(table) for table in tables if table.rows)


def _table(table: Table) -> str:
    head = f"[[{table.path}]]" if table.is_list else f"[{table.path}]" if table.path else ""
    lines = [f"{head}    # {table.remark}" if table.remark else head] if head else []
    pairs = [(f"{row.key} = {value(row.value)}", row.comment) for row in table.rows]
    width = max((len(pair) for pair, _ in pairs if len(pair) <= 40), default=0)
    lines += [f"{pair:<{width}}  # {comment}" if comment else pair for pair, comment in pairs]
    return "\n".join(lines) + "\n"


def value(given: Value) -> str:
    """Return a value as TOML."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, str):
        return toml.inline(given)
    if isinstance(given, (int, float)):
        return str(given)
    if isinstance(given, dict):
        return "{ " + ", ".join(f"{key} = {value(entry)}" for key, entry in given.items()) + " }"
    entries = [value(entry) for entry in given]
    if len(entries) <= 4:
        return "[" + ", ".join(entries) + "]"
    return "[\n" + "".join(f"    {entry},\n" for entry in entries) + "]"


def time(ns: int) -> str:
    """Format nanoseconds in the largest unit that needs at most three decimals."""
    for factor, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if ns >= factor and ns * 1000 % factor == 0:
            return f"{decimal(Decimal(ns) / factor)} {unit}"
    return f"{ns} ns"


def size(count: int) -> str:
    """Format bytes in the largest unit that divides them."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count and count % 1024**power == 0:
            return f"{count // 1024**power} {unit}"
    return f"{count} B"


def rate(per_second: int) -> str:
    """Format bytes a second in the largest unit that divides them."""
    for factor, unit in ((10**9, "GB/s"), (10**6, "MB/s")):
        if per_second % factor == 0:
            return f"{per_second // factor} {unit}"
    return f"{per_second} B/s"


def decimal(number: Decimal) -> str:
    """Format a number without an exponent and without trailing zeroes."""
    plain = f"{number:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
