"""Bounds of a claim on its figures: limits, targets, orders, and courses along a parameter.

A bound is data (``claims.toml``); this module knows no paper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, NamedTuple

from flashscape.reproduce.compared import Unmeasurable, how_far_off, number_of, numbers_of, paired
from flashscape.reproduce.figures import shown, unit_of, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape.reproduce.compared import Figures, Limit, Subject, Tolerance
    from flashscape.reproduce.figures import Value


PAPER, READING = "paper", "reading"
SOURCES = (PAPER, READING)
"""Sources of bounds: a statement of the paper, or a number of ours where the paper has none."""


class Finding(NamedTuple):
    """Result of checking a bound."""

    holds: bool
    why_not: str
    """Amount by which the bound is missed; empty if it holds."""


@dataclass(frozen=True)
class Bound(ABC):
    """One condition on figures of a claim."""

    source: str = field(default=PAPER, kw_only=True)
    """``paper`` or ``reading``. Bounds inside an ``any_of`` have the source of the whole."""

    @property
    def is_reading(self) -> bool:
        """True if a claim that misses it may still be what the paper states."""
        return self.source == READING

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of the figures that it uses."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The condition in words."""

    @abstractmethod
    def check(self, figures: Figures) -> Finding:
        """Check the figures; raise Unmeasurable."""


_COMPARISONS: dict[str, tuple[Callable[[Fraction, Fraction], bool], str]] = {
    "at_least": (ge, "at least"),
    "above": (gt, "above"),
    "at_most": (le, "at most"),
    "below": (lt, "below"),
}
COMPARISONS = tuple(_COMPARISONS)


@dataclass(frozen=True)
class Limited(Bound):
    """Limits above or below; along a swept parameter, each number has its own limit."""

    subject: Subject
    limits: tuple[tuple[str, Limit], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the subject and the limits."""
        of_limits = (limit.figure for _, limit in self.limits if limit.figure is not None)
        return (*self.subject.names, *of_limits)

    @property
    def text(self) -> str:
        """Text, such as "read p99.9 at least 4.50 ms and at most 5.50 ms"."""
        parts = [f"{_COMPARISONS[how][1]} {limit.text}" for how, limit in self.limits]
        return f"{self.subject.text} {' and '.join(parts)}"

    def check(self, figures: Figures) -> Finding:
        """Compare each number with its limit."""
        for how, limit in self.limits:
            holds, name = _COMPARISONS[how]
            pairs = paired(self.subject.numbers(figures), limit.numbers(figures))
            for place, number, most in pairs:
                if not holds(number, most):
                    return Finding(False, self._why_not(place, number, name, most))
        return Finding(True, "")

    def _why_not(self, place: str, number: Fraction, name: str, most: Fraction) -> str:
        unit = self.subject.unit
        text = f"{self.subject.text}{place} is {shown(number, unit)}, not {name} "
        return f"{text}{shown(most, unit)}{how_far_off(number, most)}"


@dataclass(frozen=True)
class Near(Bound):
    """Within any of several tolerances of a target."""

    subject: Subject
    target: Limit
    within: tuple[Tolerance, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the subject and the target."""
        return (*self.subject.names, *([] if self.target.figure is None else [self.target.figure]))

    @property
    def text(self) -> str:
        """Text, such as "longest write within ± 10 % of 88.0 ms"."""
        allowed = " or ".join(each.text for each in self.within)
        return f"{self.subject.text} within {allowed} of {self.target.text}"

    def check(self, figures: Figures) -> Finding:
        """Compare each number with its target."""
        unit = self.subject.unit
        for place, number, target in paired(
            self.subject.numbers(figures), self.target.numbers(figures)
        ):
            if not any(abs(number - target) <= each.around(target) for each in self.within):
                allowed = " or ".join(each.text for each in self.within)
                text = f"{self.subject.text}{place} is {shown(number, unit)}, not within {allowed} "
                return Finding(
                    False, f"{text}of {shown(target, unit)}{how_far_off(number, target)}"
                )
        return Finding(True, "")


@dataclass(frozen=True)
class Equal(Bound):
    """Exactly a count, a truth value or a text."""

    name: str
    value: bool | str | Fraction

    @property
    def names(self) -> tuple[str, ...]:
        """Name of the figure."""
        return (self.name,)

    @property
    def text(self) -> str:
        """Text, such as "recovery failures = 0"."""
        return f"{words(self.name)} = {shown(self.value, unit_of(self.name))}"

    def check(self, figures: Figures) -> Finding:
        """Compare by type, too: true is not 1."""
        value: Value = figures[self.name].value
        holds = self._is(value)
        found = shown(value, unit_of(self.name))
        return Finding(holds, "" if holds else f"{words(self.name)} is {found}")

    def _is(self, value: Value) -> bool:
        if isinstance(self.value, (bool, str)) or isinstance(value, (bool, str)):
            return type(value) is type(self.value) and value == self.value
        return all(number == self.value for number in numbers_of({self.name: value}, self.name))


@dataclass(frozen=True)
class Ordered(Bound):
    """Figures in rising order, or groups of them: each of one below each of the next."""

    groups: tuple[tuple[str, ...], ...]
    by_mean: bool = False
    """True if groups are compared by their means instead of one by one."""
    strict: bool = True
    gap: Tolerance | None = None
    """Least gap to the next: a share of the smaller, or an amount."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all groups."""
        return tuple(name for group in self.groups for name in group)

    @property
    def text(self) -> str:
        """Text, such as "a, b < c"."""
        sign = " < " if self.strict else " ≤ "
        apart = "" if self.gap is None else f", apart by {self.gap.text.removeprefix('± ')} or more"
        means = "means of " if self.by_mean else ""
        return means + sign.join(", ".join(map(words, group)) for group in self.groups) + apart

    def check(self, figures: Figures) -> Finding:
        """Compare neighbouring groups; the order of others follows."""
        sides = [self._sides(figures, group) for group in self.groups]
        for lower, upper in pairwise(sides):
            (low_name, low), (high_name, high) = max(lower, key=_value), min(upper, key=_value)
            needed = Fraction(0) if self.gap is None else self.gap.around(low)
            apart = high - low
            if apart < needed or (self.strict and apart <= 0):
                unit = unit_of(self.names[0])
                text = f"{high_name} ({shown(high, unit)}) is not above {low_name} "
                by = "" if self.gap is None else f" by {self.gap.text.removeprefix('± ')}"
                return Finding(False, f"{text}({shown(low, unit)}){by}")
        return Finding(True, "")

    def _sides(self, figures: Figures, group: tuple[str, ...]) -> list[tuple[str, Fraction]]:
        each = [(words(name), number_of(figures, name)) for name in group]
        if not self.by_mean:
            return each
        mean = sum((number for _, number in each), Fraction(0)) / len(each)
        return [(f"the mean of {', '.join(name for name, _ in each)}", mean)]


@dataclass(frozen=True)
class Monotone(Bound):
    """Rising or falling along a swept parameter, with some steps the other way allowed."""

    name: str
    rising: bool
    inversions: int = 0
    strict: bool = False
    """True if a step without change counts as one the other way."""

    @property
    def names(self) -> tuple[str, ...]:
        """Name of the figure."""
        return (self.name,)

    @property
    def text(self) -> str:
        """Text, such as "longest write rises, but for 1 step"."""
        way = "rises" if self.rising else "falls"
        way = f"{way} strictly" if self.strict else way
        steps = "step" if self.inversions == 1 else "steps"
        but = f", but for {self.inversions} {steps}" if self.inversions else ""
        return f"{words(self.name)} {way}{but}"

    def check(self, figures: Figures) -> Finding:
        """Count the steps that go the other way; a single value has no course."""
        numbers = numbers_of(figures, self.name)
        if len(numbers) < 2:
            raise Unmeasurable(f"{words(self.name)} has one value, and so no course")
        steps = [
            after - before if self.rising else before - after for before, after in pairwise(numbers)
        ]
        wrong = sum(step < 0 or (self.strict and step == 0) for step in steps)
        if wrong <= self.inversions:
            return Finding(True, "")
        course = shown(tuple(map(float, numbers)), unit_of(self.name))
        return Finding(
            False,
            f"{wrong} of {len(steps)} steps of {words(self.name)} go the other way ({course})",
        )


@dataclass(frozen=True)
class AnyOf(Bound):
    """At least one of several bounds, if a source leaves the choice."""

    bounds: tuple[Bound, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all of them."""
        return tuple(dict.fromkeys(name for bound in self.bounds for name in bound.names))

    @property
    def text(self) -> str:
        """Text, such as "a at most 1 ms, or b at most 2 ms"."""
        return ", or ".join(bound.text for bound in self.bounds)

    def check(self, figures: Figures) -> Finding:
        """Check one after the other."""
        tried = [bound.check(figures) for bound in self.bounds]
        if any(each.holds for each in tried):
            return Finding(True, "")
        return Finding(False, ", and ".join(each.why_not for each in tried))


def _value(side: tuple[str, Fraction]) -> Fraction:
    return side[1]
