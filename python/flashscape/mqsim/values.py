"""Values as MQSim reads them: with C++'s conversions, which take more than they should."""

from __future__ import annotations

import re
from typing import NamedTuple

Value = int | float | bool | str | tuple[int, ...]


OLDER = "is an older MQSim's name of"
"""What is said of a name that the present version does not know."""


class Read(NamedTuple):
    """A value, and what is odd about how MQSim comes to it."""

    value: Value
    remark: str = ""


class RefusedError(ValueError):
    """A text that MQSim ends at, or that means nothing."""


_DIGITS = 30
"""More than any number here has."""

_LARGEST = 1e12
"""No share, and no bandwidth in GB/s, is more."""

_WHOLE = re.compile(r"\s*([+-]?\d+)(.*)", re.DOTALL)
_REAL = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(.*)", re.DOTALL)


def whole(text: str, least: int, most: int) -> Read:
    """As ``std::stoul`` does: digits up to the first other character."""
    match = _WHOLE.match(text)
    if match is None:
        raise RefusedError(f"{_shown(text)} is no whole number")
    number, rest = _int(match[1]), match[2].strip()
    if not least <= number <= most:
        raise RefusedError(f"{_shown(match[1])} is not between {least} and {most}")
    return Read(number, f"MQSim reads {number} and drops {rest!r}" if rest else "")


def real(text: str) -> Read:
    """As ``std::stod`` does."""
    match = _REAL.match(text)
    if match is None:
        raise RefusedError(f"{_shown(text)} is no number")
    number, rest = float(match[1]), match[2].strip()
    if not abs(number) <= _LARGEST:
        raise RefusedError(f"{_shown(match[1])} is more than anything here can be")
    return Read(number, f"MQSim reads {number:g} and drops {rest!r}" if rest else "")


def truth(text: str) -> Read:
    """Everything but ``false`` is true; so are spaces around it."""
    if text.upper() in ("TRUE", "FALSE"):
        return Read(text.upper() == "TRUE")
    return Read(True, f"MQSim takes {_shown(text)} for true: all but false is")


def choice(text: str, known: dict[str, str]) -> Read:
    """One of the names in ``known``, whose values are the names of today."""
    name = text.strip().upper()
    if name not in known:
        raise RefusedError(f"{_shown(text)} is none of {', '.join(sorted(set(known.values())))}")
    today = known[name]
    return Read(today, f"{name} {OLDER} {today}" if today != name else "")


def ids(text: str) -> Read:
    """``0,1,2``: a set."""
    parts = [part for part in text.split(",") if part]
    matches = [_WHOLE.match(part) for part in parts]
    if not parts or not all(matches):
        raise RefusedError(f"{_shown(text)} is no list of numbers such as 0,1,2")
    numbers = sorted({_int(match[1]) for match in matches if match})
    if numbers[0] < 0:
        raise RefusedError(f"{numbers[0]} is no number of a resource")
    return Read(tuple(numbers))


def _int(digits: str) -> int:
    """A number; one with too many digits is more than any limit."""
    return int(digits[:_DIGITS])


def _shown(text: str) -> str:
    return f'"{text}"' if len(text) <= 40 else f'"{text[:40]}…"'
