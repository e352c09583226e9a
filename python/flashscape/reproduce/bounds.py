"""What a claim asks of its figures: limits, targets, orders, and courses along a parameter.

A bound is data (``claims.toml``); nothing here knows a paper. Numbers are compared as
fractions of what is written in decimal, so a figure at the very edge of a bound holds it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, NamedTuple

from flashscape.errors import StudyError
from flashscape.reproduce.figures import shown, unit_of, words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashscape.reproduce.figures import Figure, Value

    Figures = Mapping[str, Figure]

Numbers = tuple[Fraction, ...]


class Unmeasurable(Exception):  # noqa: N818 - no error of anybody's
    """Figures say nothing about a bound, such as a ratio to nothing."""


class Held(NamedTuple):
    """What became of a bound."""

    holds: bool
    why_not: str
    """By how much it is missed; empty where it holds."""


class Bound(ABC):
    """One condition on figures of a claim."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The figures that it looks at."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The condition in words."""

    @abstractmethod
    def check(self, figures: Figures) -> Held:
        """Whether figures hold it; raise Unmeasurable."""


@dataclass(frozen=True)
class Subject:
    """What is compared: a figure, or the ratio or the difference of two."""

    form: str
    """``of``, ``ratio`` or ``difference``."""
    names: tuple[str, ...]

    @property
    def unit(self) -> str:
        """The unit of its numbers; empty for a ratio."""
        return "" if self.form == "ratio" else unit_of(self.names[0])

    @property
    def text(self) -> str:
        """What it is called."""
        sign = {"ratio": " over ", "difference": " less "}.get(self.form, "")
        return sign.join(map(words, self.names))

    def numbers(self, figures: Figures) -> Numbers:
        """Its value, or those along a swept parameter; raise Unmeasurable."""
        if self.form == "of":
            return _numbers(figures, self.names[0])
        first, second = _alike(*(_numbers(figures, name) for name in self.names))
        if self.form == "difference":
            return tuple(a - b for a, b in zip(first, second, strict=True))
        if not all(second):
            raise Unmeasurable(f"{words(self.names[1])} is 0, and so there is no ratio to it")
        return tuple(a / b for a, b in zip(first, second, strict=True))


@dataclass(frozen=True)
class Limit:
    """An amount, or a figure times a factor and plus an amount."""

    unit: str
    plus: Fraction = Fraction(0)
    figure: str | None = None
    times: Fraction = Fraction(1)

    @property
    def text(self) -> str:
        """As reports show it."""
        amount = shown(self.plus, self.unit)
        if self.figure is None:
            return amount
        factor = "" if self.times == 1 else f"{shown(self.times, '')} × "
        return f"{factor}{words(self.figure)}" + (f" + {amount}" if self.plus else "")

    def numbers(self, figures: Figures) -> Numbers:
        """The amount, or those along a swept parameter."""
        if self.figure is None:
            return (self.plus,)
        return tuple(n * self.times + self.plus for n in _numbers(figures, self.figure))


_COMPARISONS: dict[str, tuple[Callable[[Fraction, Fraction], bool], str]] = {
    "at_least": (ge, "at least"),
    "above": (gt, "above"),
    "at_most": (le, "at most"),
    "below": (lt, "below"),
}
COMPARISONS = tuple(_COMPARISONS)


@dataclass(frozen=True)
class Limited(Bound):
    """At most, at least, below or above; all numbers along a swept parameter, each with its own."""

    subject: Subject
    limits: tuple[tuple[str, Limit], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Subject and limits."""
        of_limits = (limit.figure for _, limit in self.limits if limit.figure is not None)
        return (*self.subject.names, *of_limits)

    @property
    def text(self) -> str:
        """Such as "read p99.9 at least 4.50 ms and at most 5.50 ms"."""
        parts = [f"{_COMPARISONS[how][1]} {limit.text}" for how, limit in self.limits]
        return f"{self.subject.text} {' and '.join(parts)}"

    def check(self, figures: Figures) -> Held:
        """Compare each number with its limit."""
        for how, limit in self.limits:
            holds, name = _COMPARISONS[how]
            pairs = _pairs(self.subject.numbers(figures), limit.numbers(figures))
            for place, number, most in pairs:
                if not holds(number, most):
                    return Held(False, self._why_not(place, number, name, most))
        return Held(True, "")

    def _why_not(self, place: str, number: Fraction, name: str, most: Fraction) -> str:
        unit = self.subject.unit
        text = f"{self.subject.text}{place} is {shown(number, unit)}, not {name} "
        return f"{text}{shown(most, unit)}{_off(number, most)}"


@dataclass(frozen=True)
class Tolerance:
    """How far from a target a number may be: a share of it, or an amount."""

    amount: Fraction
    is_share: bool
    unit: str

    @property
    def text(self) -> str:
        """Such as ± 10 %."""
        return f"± {shown(self.amount, 'share' if self.is_share else self.unit)}"

    def around(self, target: Fraction) -> Fraction:
        """The distance that is allowed."""
        return abs(target) * self.amount if self.is_share else self.amount


@dataclass(frozen=True)
class Near(Bound):
    """Within any one of some tolerances of a target."""

    subject: Subject
    target: Limit
    within: tuple[Tolerance, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Subject and target."""
        return (*self.subject.names, *([] if self.target.figure is None else [self.target.figure]))

    @property
    def text(self) -> str:
        """Such as "longest write within ± 10 % of 88.0 ms"."""
        allowed = " or ".join(each.text for each in self.within)
        return f"{self.subject.text} within {allowed} of {self.target.text}"

    def check(self, figures: Figures) -> Held:
        """Compare each number with its target."""
        unit = self.subject.unit
        for place, number, target in _pairs(
            self.subject.numbers(figures), self.target.numbers(figures)
        ):
            if not any(abs(number - target) <= each.around(target) for each in self.within):
                allowed = " or ".join(each.text for each in self.within)
                text = f"{self.subject.text}{place} is {shown(number, unit)}, not within {allowed} "
                return Held(False, f"{text}of {shown(target, unit)}{_off(number, target)}")
        return Held(True, "")


@dataclass(frozen=True)
class Equal(Bound):
    """Exactly a count, a truth value or a text."""

    name: str
    value: bool | str | Fraction

    @property
    def names(self) -> tuple[str, ...]:
        """The one."""
        return (self.name,)

    @property
    def text(self) -> str:
        """Such as "recovery failures = 0"."""
        return f"{words(self.name)} = {shown(self.value, unit_of(self.name))}"

    def check(self, figures: Figures) -> Held:
        """Compare by kind, too: true is not 1."""
        value: Value = figures[self.name].value
        holds = self._is(value)
        found = shown(value, unit_of(self.name))
        return Held(holds, "" if holds else f"{words(self.name)} is {found}")

    def _is(self, value: Value) -> bool:
        if isinstance(self.value, (bool, str)) or isinstance(value, (bool, str)):
            return type(value) is type(self.value) and value == self.value
        return all(number == self.value for number in _numbers({self.name: value}, self.name))


@dataclass(frozen=True)
class Ordered(Bound):
    """Figures in rising order, or groups of them: each of one below each of the next."""

    groups: tuple[tuple[str, ...], ...]
    by_mean: bool = False
    """Whether groups are compared by their means instead of one by one."""
    strict: bool = True
    gap: Tolerance | None = None
    """By how much the next is larger at least: a share of the smaller, or an amount."""

    @property
    def names(self) -> tuple[str, ...]:
        """All groups'."""
        return tuple(name for group in self.groups for name in group)

    @property
    def text(self) -> str:
        """Such as "a, b < c"."""
        sign = " < " if self.strict else " ≤ "
        apart = "" if self.gap is None else f", apart by {self.gap.text.removeprefix('± ')} or more"
        means = "means of " if self.by_mean else ""
        return means + sign.join(", ".join(map(words, group)) for group in self.groups) + apart

    def check(self, figures: Figures) -> Held:
        """Compare neighbouring groups; order between others follows."""
        sides = [self._sides(figures, group) for group in self.groups]
        for lower, upper in pairwise(sides):
            (low_name, low), (high_name, high) = max(lower, key=_value), min(upper, key=_value)
            needed = Fraction(0) if self.gap is None else self.gap.around(low)
            apart = high - low
            if apart < needed or (self.strict and apart <= 0):
                unit = unit_of(self.names[0])
                text = f"{high_name} ({shown(high, unit)}) is not above {low_name} "
                by = "" if self.gap is None else f" by {self.gap.text.removeprefix('± ')}"
                return Held(False, f"{text}({shown(low, unit)}){by}")
        return Held(True, "")

    def _sides(self, figures: Figures, group: tuple[str, ...]) -> list[tuple[str, Fraction]]:
        each = [(words(name), _single(figures, name)) for name in group]
        if not self.by_mean:
            return each
        mean = sum((number for _, number in each), Fraction(0)) / len(each)
        return [(f"the mean of {', '.join(name for name, _ in each)}", mean)]


@dataclass(frozen=True)
class Monotone(Bound):
    """Rising or falling along a swept parameter, but for so many steps the other way."""

    name: str
    rising: bool
    inversions: int = 0
    strict: bool = False
    """Whether a step without change counts as one the other way."""

    @property
    def names(self) -> tuple[str, ...]:
        """The one."""
        return (self.name,)

    @property
    def text(self) -> str:
        """Such as "longest write rises, but for 1 step"."""
        way = "rises" if self.rising else "falls"
        way = f"{way} strictly" if self.strict else way
        steps = "step" if self.inversions == 1 else "steps"
        but = f", but for {self.inversions} {steps}" if self.inversions else ""
        return f"{words(self.name)} {way}{but}"

    def check(self, figures: Figures) -> Held:
        """Count the steps that go the other way; no step at all says nothing."""
        numbers = _numbers(figures, self.name)
        if len(numbers) < 2:
            raise Unmeasurable(f"{words(self.name)} has one value, and so no course")
        steps = [
            after - before if self.rising else before - after for before, after in pairwise(numbers)
        ]
        wrong = sum(step < 0 or (self.strict and step == 0) for step in steps)
        if wrong <= self.inversions:
            return Held(True, "")
        course = shown(tuple(map(float, numbers)), unit_of(self.name))
        return Held(
            False,
            f"{wrong} of {len(steps)} steps of {words(self.name)} go the other way ({course})",
        )


@dataclass(frozen=True)
class AnyOf(Bound):
    """One of several bounds at least, where a source leaves the choice."""

    bounds: tuple[Bound, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All of theirs."""
        return tuple(dict.fromkeys(name for bound in self.bounds for name in bound.names))

    @property
    def text(self) -> str:
        """Such as "a at most 1 ms, or b at most 2 ms"."""
        return ", or ".join(bound.text for bound in self.bounds)

    def check(self, figures: Figures) -> Held:
        """Try one after the other."""
        tried = [bound.check(figures) for bound in self.bounds]
        if any(each.holds for each in tried):
            return Held(True, "")
        return Held(False, ", and ".join(each.why_not for each in tried))


def _value(side: tuple[str, Fraction]) -> Fraction:
    return side[1]


def _numbers(figures: Mapping[str, Figure | Value], name: str) -> Numbers:
    from flashscape.reproduce.figures import Figure

    try:
        return Figure.of(figures[name]).numbers
    except TypeError as error:
        raise StudyError(f"the figure {name}: {error}") from error


def _single(figures: Figures, name: str) -> Fraction:
    numbers = _numbers(figures, name)
    if len(numbers) != 1:
        raise StudyError(f"the figure {name}: an order is one of single numbers, not of lists")
    return numbers[0]


def _alike(first: Numbers, second: Numbers) -> tuple[Numbers, Numbers]:
    """Numbers that go together; a single one goes with each of a list."""
    if len(first) == len(second):
        return first, second
    if len(first) == 1:
        return first * len(second), second
    if len(second) == 1:
        return first, second * len(first)
    raise StudyError(f"lists of {len(first)} and of {len(second)} figures do not go together")


def _pairs(first: Numbers, second: Numbers) -> Sequence[tuple[str, Fraction, Fraction]]:
    """Numbers that go together, and where along a swept parameter they are."""
    pairs = list(zip(*_alike(first, second), strict=True))
    if len(pairs) == 1:
        return [("", *pairs[0])]
    return [(f" at place {at}", *pair) for at, pair in enumerate(pairs, 1)]


def _off(number: Fraction, wanted: Fraction) -> str:
    """How far a number is off: by a share, or how many times as much it is."""
    if not wanted or number == wanted:
        return ""
    times = float(number / wanted)
    if 0.5 <= times <= 2:
        return f" (off by {(times - 1) * 100:+.3g} %)"
    return f" ({times:.3g} times it)"
