"""Figures that a study measures: numbers whose names end with units, and their samples."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.quantities import UNITS
from flashscape.regions import FOUNDED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.latency import Latency

Value = bool | int | float | str | tuple[float, ...] | None

_UNIT_NAMES = sorted({unit for unit, _ in UNITS.values()}, key=len, reverse=True)
_PERCENTILE = re.compile(r"\bp(\d+) (\d+)\b")


@dataclass(frozen=True)
class Figure:
    """A value, and the number of requests that it is based on.

    A value may be a number, a truth value, a text, or numbers along a swept parameter.
    """

    value: Value
    """In the base unit that the figure's name ends with (``_ns``, ``_bytes``, ``_share``, …);
    None if it could not be measured."""
    samples: int | None = None
    """Requests that it was taken from; None if it is not about requests."""
    beyond: int | None = None
    """Requests that rank at or above a percentile; None for other figures."""

    @classmethod
    def of(cls, given: Figure | Any) -> Figure:
        """Return a figure unchanged, or wrap a bare value; raise TypeError for anything else."""
        if isinstance(given, Figure):
            return given
        if isinstance(given, (list, tuple)):
            return cls(tuple(given))
        if given is None or isinstance(given, (bool, int, float, str)):
            return cls(given)
        raise TypeError(f"{given!r} is no figure")

    @property
    def unknown(self) -> str | None:
        """Clause that says why the figure is unusable; None if it is sound."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        if not values or any(each is None for each in values):
            return "was not measured"
        if any(isinstance(each, float) and not math.isfinite(each) for each in values):
            return "is no finite number"
        if self.beyond is not None and self.beyond < FOUNDED:
            few = f"{self.beyond:,} of {self.samples or 0:,} samples"
            return f"has {few} at or beyond it, and {FOUNDED} are needed"
        return None

    def text(self, unit: str) -> str:
        """Return its value as text: ``figure.text("ns")`` is ``1.02 ms``."""
        return shown(self.value, unit)

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """Its numbers, exactly as written in decimal; raise TypeError for a text."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        return tuple(map(exact, values))


def exact(number: object) -> Fraction:
    """Return a number exactly as written in decimal: 1.15 is 115/100, not a binary fraction.

    So a figure exactly at a bound holds it, regardless of how the figure was computed.
    """
    if isinstance(number, bool) or not isinstance(number, (int, float, Fraction)):
        raise TypeError(f"{number!r} is no number")
    return Fraction(number) if isinstance(number, (int, Fraction)) else Fraction(str(number))


def percentile(latency: Latency, percent: float) -> Figure:
    """Return a percentile in nanoseconds, with its samples."""
    requests = latency.requests
    if not requests:
        return Figure(None, samples=0, beyond=0)
    # Integers, as for the percentiles of a summary.
    rank = max(1, -(-round(percent * 10_000_000) * requests // 1_000_000_000))
    return Figure(latency.percentile(percent), requests, requests - rank + 1)


def along(figures: Iterable[Figure | float]) -> Figure:
    """Join figures along a swept parameter, with the least of their sample counts."""
    given = [Figure.of(figure) for figure in figures]
    samples = [each.samples for each in given if each.samples is not None]
    beyond = [each.beyond for each in given if each.beyond is not None]
    values: Any = tuple(each.value for each in given)
    return Figure(values, min(samples, default=None), min(beyond, default=None))


@cache
def unit_of(name: str) -> str:
    """Return the unit that a figure's name ends with; empty for a bare number."""
    return next((unit for unit in _UNIT_NAMES if name.endswith(f"_{unit}")), "")


def words(name: str) -> str:
    """Return a figure's name as text: ``d_es_read_p99_9_ns`` is "d es read p99.9"."""
    unit = unit_of(name)
    bare = name[: -len(unit) - 1] if unit else name
    return _PERCENTILE.sub(r"p\1.\2", bare.replace("_", " "))


def shown(value: Value | Fraction, unit: str) -> str:
    """Format a value with its unit, as reports show it."""
    if isinstance(value, tuple):
        return ", ".join(shown(each, unit) for each in value)
    if value is None:
        return "–"
    if isinstance(value, (bool, str)):
        return str(value).lower() if isinstance(value, bool) else value
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    match unit:
        case "ns":
            return units.duration(round(number, 3))
        case "bytes":
            return units.size(number)
        case "bytes_per_second":
            return units.rate(number)
        case "share" | "share_of_blocks" | "share_of_pages":
            # Omit the digit that reports would cut off: limits may be small.
            return f"{number * 100:.4g} %"
        case "requests_per_second":
            return f"{units.count(number)} IOPS"
    return f"{number:,.0f}" if number == int(number) else f"{number:.4g}"
