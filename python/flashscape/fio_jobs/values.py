"""Values as fio reads them: numbers with units, shares, and one value for each direction."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

DIRECTIONS = ("read", "write", "trim")
"""Directions in the order of values with commas."""

_NUMBER = re.compile(r"(0x[0-9a-f]+|\d+)([a-z%]*)", re.IGNORECASE)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_TIMES_NS = {
    "us": 10**3,
    "usec": 10**3,
    "ms": 10**6,
    "msec": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}
_DIGITS = 30
"""More digits than any number here has."""


class RefusedError(ValueError):
    """A text that fio refuses, or reads in an unintended way."""


class Percent(NamedTuple):
    """A share of a file's or device's size."""

    number: int


def _parts(text: str) -> tuple[int, str]:
    """Split a number from its unit, in lower case."""
    if text.startswith("("):
        raise RefusedError(f"{text!r} is an expression; write the number that it gives")
    match = _NUMBER.fullmatch(text.strip())
    if match is None or len(match[1]) > _DIGITS:
        raise RefusedError(f"{text!r} is no whole number, with a unit or without one")
    digits, unit = match.groups()
    base = 16 if digits.lower().startswith("0x") else 10
    return int(digits, base), unit.lower()


def size(text: str, kb_base: int) -> int | Percent:
    """Parse bytes or a share. ``k`` is 1024 and ``kib`` 1000; ``kb_base=1000`` reverses that."""
    number, unit = _parts(text)
    if unit == "%":
        if number > 100:
            raise RefusedError(f"{text!r} is more than 100%; write a share from 0% to 100%")
        return Percent(number) if number else 0
    if unit in ("", "b"):
        return number
    prefix, rest = unit[0], unit[1:]
    if prefix not in _POWERS or rest not in ("", "b", "ib", "i"):
        raise RefusedError(f"{text!r} has a unit that fio does not know (k, m, g, t, p)")
    if rest == "i":
        raise RefusedError(
            f"{text!r}: fio's manual and its code differ about {unit!r}; write {prefix} or {unit}b"
        )
    if rest == "ib":
        kb_base = 2024 - kb_base
    return int(number * kb_base ** _POWERS[prefix])


def time(text: str, default: str) -> int:
    """Parse nanoseconds; ``default`` is the unit of a bare number."""
    number, unit = _parts(text)
    unit = unit or default
    if unit not in _TIMES_NS:
        raise RefusedError(
            f"{text!r} has a unit that fio does not know (us, ms, s, m, h, d): it takes sec "
            "and min for us; write such as 10s or 10m"
        )
    return number * _TIMES_NS[unit]


def whole(text: str) -> int:
    """Parse a number without a unit."""
    number, unit = _parts(text)
    if unit:
        raise RefusedError(f"{text!r} has a unit where fio takes a number")
    return number


def truth(text: str | None) -> bool:
    """Parse a switch: on without a value, else by its number."""
    return text is None or whole(text) != 0


def directions(text: str) -> tuple[str, str, str]:
    """Split texts for reads, writes and trims; empty if fio's default applies.

    The last given value applies to the directions after it.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > len(DIRECTIONS):
        raise RefusedError(f"{text!r} has more than three values (reads, writes, trims)")
    while len(parts) < len(DIRECTIONS):
        parts.append(parts[-1])
    return parts[0], parts[1], parts[2]


def pairs(text: str) -> list[tuple[str, str]]:
    """Split ``64k/50:4k/50``; a share that is left out is empty."""
    found = []
    for part in text.split(":"):
        first, _, second = part.partition("/")
        found.append((first.strip(), second.strip()))
    return found


def percent(share: Fraction) -> str:
    """Format a share for configurations, with at most nine digits after the point."""
    shown = f"{float(share * 100):.9f}".rstrip("0").rstrip(".")
    return f"{shown} %"


def percents(shares: list[Fraction]) -> list[str]:
    """Format shares that add up to one so that they still do: the last takes the rest."""
    rounded = [Fraction(round(share * 10**11), 10**11) for share in shares[:-1]]
    return [percent(share) for share in (*rounded, 1 - sum(rounded, Fraction()))]
