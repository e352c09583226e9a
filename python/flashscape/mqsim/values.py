"""Values as MQSim reads them: by C++'s conversions, which accept too much."""

from __future__ import annotations

import re
from typing import NamedTuple

Value = int | float | bool | str | tuple[int, ...]


OLDER = "is an older MQSim's name of"
"""Wording for a name that the present version does not know."""


class Read(NamedTuple):
    """A value, and a remark if MQSim reads it in an odd way."""

    value: Value
    remark: str = ""


class RefusedError(ValueError):
    """A text at which MQSim ends, or that has no meaning."""


_DIGITS = 30
"""More digits than any number here has."""

_LARGEST = 1e12
"""Limit above any share, and above any bandwidth in GB/s."""

_WHOLE = re.compile(r"\s*([+-]?\d+)(.*)", re.DOTALL)
_REAL = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(.*)", re.DOTALL)


def whole(text: str, least: int, most: int) -> Read:
    """Parse as ``std::stoul`` does: digits up to the first other character."""
    match = _WHOLE.match(text)
    if match is None:
        raise RefusedError(f"{_shown(text)} is no whole number")
    number, rest = _int(match[1]), match[2].strip()
    if not least <= number <= most:
        raise RefusedError(f"{_shown(match[1])} is not between {least} and {most}")
    return Read(number, f"MQSim reads {number} and drops {rest!r}" if rest else "")


def real(text: str) -> Read:
    """Parse as ``std::stod`` does."""
    match = _REAL.match(text)
    if match is None:
        raise RefusedError(f"{_shown(text)} is no number")
    number, rest = float(match[1]), match[2].strip()
    if not abs(number) <= _LARGEST:
        raise RefusedError(f"{_shown(match[1])} is more than anything here can be")
    return Read(number, f"MQSim reads {number:g} and drops {rest!r}" if rest else "")


def truth(text: str) -> Read:
    """Parse a switch: everything but ``false`` is true, including ``false`` with spaces."""
    if text.upper() in ("TRUE", "FALSE"):
        return Read(text.upper() == "TRUE")
    return Read(True, f"MQSim takes {_shown(text)} for true: all but false is")


def choice(text: str, known: dict[str, str]) -> Read:
    """Parse one of the names in ``known``, whose values are the current names."""
    name = text.strip().upper()
    if name not in known:
        raise RefusedError(f"{_shown(text)} is none of {', '.join(sorted(set(known.values())))}")
    today = known[name]
    return Read(today, f"{name} {OLDER} {today}" if today != name else "")


def ids(text: str) -> Read:
    """Parse ``0,1,2`` as a set."""
    parts = [part for part in text.split(",") if part]
    matches = [_WHOLE.match(part) for part in parts]
    if not parts or not all(matches):
        raise RefusedError(f"{_shown(text)} is no list of numbers such as 0,1,2")
    numbers = sorted({_int(match[1]) for match in matches if match})
    if numbers[0] < 0:
        raise RefusedError(f"{numbers[0]} is no number of a resource")
    return Read(tuple(numbers))


def _int(digits: str) -> int:
    """Convert digits; a number with too many digits is above any limit."""
    return int(digits[:_DIGITS])


def _shown(text: str) -> str:
    return f'"{text}"' if len(text) <= 40 else f'"{text[:40]}…"'
