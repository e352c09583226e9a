"""Operands of bounds: figures, their ratios and differences, limits and tolerances.

Numbers are exact fractions of their decimal text, so a figure exactly at a bound
holds it. Numbers along a swept parameter are compared place by place.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flashscape.errors import StudyError
from flashscape.reproduce.figures import Figure, shown, unit_of, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashscape.reproduce.figures import Value

    Figures = Mapping[str, Figure]

Numbers = tuple[Fraction, ...]


class Unmeasurable(Exception):  # noqa: N818 - no error of anybody's
    """Figures say nothing about a bound, for example a ratio to zero."""


@dataclass(frozen=True)
class Subject:
    """A figure, or the ratio or the difference of two."""

    form: str
    """``of``, ``ratio`` or ``difference``."""
    names: tuple[str, ...]

    @property
    def unit(self) -> str:
        """Unit of its numbers; empty for a ratio."""
        return "" if self.form == "ratio" else unit_of(self.names[0])

    @property
    def text(self) -> str:
        """Name in reports."""
        sign = {"ratio": " over ", "difference": " less "}.get(self.form, "")
        return sign.join(map(words, self.names))

    def numbers(self, figures: Figures) -> Numbers:
        """Return its value, or those along a swept parameter; raise Unmeasurable."""
        if self.form == "of":
            return numbers_of(figures, self.names[0])
        first, second = matched(*(numbers_of(figures, name) for name in self.names))
        if self.form == "difference":
            return tuple(a - b for a, b in zip(first, second, strict=True))
        if not all(second):
            raise Unmeasurable(f"{words(self.names[1])} is 0, and so there is no ratio to it")
        return tuple(a / b for a, b in zip(first, second, strict=True))


@dataclass(frozen=True)
class Limit:
    """An amount, or a figure times a factor, plus an amount."""

    unit: str
    plus: Fraction = Fraction(0)
    figure: str | None = None
    times: Fraction = Fraction(1)

    @property
    def text(self) -> str:
        """Text in reports."""
        amount = shown(self.plus, self.unit)
        if self.figure is None:
            return amount
        factor = "" if self.times == 1 else f"{shown(self.times, '')} × "
        return f"{factor}{words(self.figure)}" + (f" + {amount}" if self.plus else "")

    def numbers(self, figures: Figures) -> Numbers:
        """Return the amount, or those along a swept parameter."""
        if self.figure is None:
            return (self.plus,)
        return tuple(n * self.times + self.plus for n in numbers_of(figures, self.figure))


@dataclass(frozen=True)
class Tolerance:
    """Allowed distance from a target: a share of it, or an amount."""

    amount: Fraction
    is_share: bool
    unit: str

    @property
    def text(self) -> str:
        """Text, such as ± 10 %."""
        return f"± {shown(self.amount, 'share' if self.is_share else self.unit)}"

    def around(self, target: Fraction) -> Fraction:
        """Return the allowed distance."""
        return abs(target) * self.amount if self.is_share else self.amount


def numbers_of(figures: Mapping[str, Figure | Value], name: str) -> Numbers:
    """Return all numbers of a figure; raise StudyError if it has other values."""
    try:
        return Figure.of(figures[name]).numbers
    except TypeError as error:
        raise StudyError(f"the figure {name}: {error}") from error


def number_of(figures: Figures, name: str) -> Fraction:
    """Return the only number of a figure; raise StudyError if there are several."""
    numbers = numbers_of(figures, name)
    if len(numbers) != 1:
        raise StudyError(f"the figure {name}: an order is one of single numbers, not of lists")
    return numbers[0]


def matched(first: Numbers, second: Numbers) -> tuple[Numbers, Numbers]:
    """Match two lists of numbers; a single number matches each of a list."""
    if len(first) == len(second):
        return first, second
    if len(first) == 1:
        return first * len(second), second
    if len(second) == 1:
        return first, second * len(first)
    raise StudyError(f"lists of {len(first)} and of {len(second)} figures do not go together")


def paired(first: Numbers, second: Numbers) -> Sequence[tuple[str, Fraction, Fraction]]:
    """Match numbers, with their place along a swept parameter."""
    pairs = list(zip(*matched(first, second), strict=True))
    if len(pairs) == 1:
        return [("", *pairs[0])]
    return [(f" at place {at}", *pair) for at, pair in enumerate(pairs, 1)]


def how_far_off(number: Fraction, wanted: Fraction) -> str:
    """Say how far a number is off: by a share, or as a multiple."""
    if not wanted or number == wanted:
        return ""
    times = float(number / wanted)
    if 0.5 <= times <= 2:
        return f" (off by {(times - 1) * 100:+.3g} %)"
    return f" ({times:.3g} times it)"
