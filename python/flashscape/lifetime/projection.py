"""Arithmetic of a drive's life: states of wear to run, the crossing of a limit, sums over wear.

Nothing here runs a drive. UBER is an uncorrectable bit error rate; wear is in program and erase
cycles.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOLERANCE = 0.02
"""Width of the last bracket of a crossing, as a share of its upper end."""

CYCLES_MOST = 100_000
"""Most cycles that are tried without a wear limit."""

_LEAST = 500
"""Least cycles, above 0, that are tried without a wear limit."""


class Bracket(NamedTuple):
    """The first crossing of a limit, among the states that were run."""

    below: int | None
    """Highest state below the first one above the limit; None if the least state is above it."""
    above: int | None
    """Least state above the limit; None if there is none."""

    @property
    def is_narrow(self) -> bool:
        """True if it lies within the tolerance, or is empty at one end."""
        if self.below is None or self.above is None:
            return True
        return self.above - self.below <= max(1.0, TOLERANCE * self.above)


@dataclass(frozen=True)
class Plan:
    """Choice of the states of wear that are run."""

    first: tuple[int, ...]
    """States that are run in any case, in rising order."""
    limit: float | None
    """Limit of UBER; None if it is not looked for."""
    wear: int | None
    """Wear limit; None if there is none."""
    grows: bool
    """True if states above the first ones may be added."""

    @classmethod
    def of(cls, given: Sequence[int] | None, *, limit: float | None, wear: int | None) -> Plan:
        """Return the plan for these states; None: states of its own choice."""
        if given is None and wear is None:
            return cls((0, _LEAST, 2 * _LEAST, 4 * _LEAST), limit, None, grows=True)
        states = given
        if states is None:
            assert wear is not None
            states = [0, *(wear // part for part in (8, 4, 2))]
        return cls(tuple(sorted({*states, *([] if wear is None else [wear])})), limit, wear, False)

    def wanted(self, tried: Mapping[int, float | None], refined: int) -> list[int]:
        """Return the states to run next; none if the result is known.

        ``tried`` has the UBER of each state that was run, and ``refined`` is the number of rounds
        that have made the bracket of the crossing narrower.
        """
        if missing := [cycles for cycles in self.first if cycles not in tried]:
            return missing
        if self.limit is None:
            return []
        rates = {cycles: rate for cycles, rate in tried.items() if rate is not None}
        found = bracket(rates, self.limit)
        if found.above is None:
            return self._further(max(tried))
        if found.is_narrow or (self.wear is not None and (found.below or 0) >= self.wear):
            return []
        return _refined(rates, found, self.limit, refined)

    def _further(self, highest: int) -> list[int]:
        if not self.grows or highest >= CYCLES_MOST:
            return []
        return sorted({min(times * highest, CYCLES_MOST) for times in (2, 4)})


def bracket(rates: Mapping[int, float], limit: float) -> Bracket:
    """Return the first crossing of a limit, from the UBER of each state."""
    above = min((cycles for cycles, rate in rates.items() if rate > limit), default=None)
    below = [cycles for cycles in rates if above is None or cycles < above]
    return Bracket(max(below, default=None), above)


def crossing(rates: Mapping[int, float], found: Bracket, limit: float) -> float | None:
    """Return the cycles at which log UBER, linear between the ends of a bracket, is at the limit.

    None if no state is above the limit, and 0 if all are.
    """
    if found.above is None:
        return None
    if found.below is None:
        return 0.0
    low, high = rates[found.below], rates[found.above]
    if low == 0.0:
        # There is no logarithm: the lower end is the safe one.
        return float(found.below)
    share = math.log(limit / low) / math.log(high / low)
    return found.below + share * (found.above - found.below)


def _refined(rates: Mapping[int, float], found: Bracket, limit: float, number: int) -> list[int]:
    """Return two states, or one, within a bracket.

    In even rounds, from 0, they lie close around the interpolated crossing, which usually ends the
    search. In odd rounds they divide the bracket in three: it shrinks even if UBER bends.
    """
    below, above = found
    assert below is not None
    assert above is not None
    places = [below + (above - below) * part / 3 for part in (1, 2)]
    if number % 2 == 0 and rates[below] > 0.0:
        at = crossing(rates, found, limit)
        assert at is not None
        places = [at * (1 - TOLERANCE / 3), at * (1 + TOLERANCE / 3)]
    # A bracket that is not narrow has a state between its ends.
    return sorted({min(max(round(place), below + 1), above - 1) for place in places})


def integral(values: Sequence[tuple[int, float]], until: float) -> float:
    """Return the integral of a value over cycles, from 0, by the trapezoid rule.

    The value is linear between the given cycles, which rise, and constant beyond both ends.
    """
    points: list[tuple[float, float]] = [(0.0, values[0][1])]
    points += [(float(cycles), value) for cycles, value in values if 0 < cycles < until]
    points.append((until, at(values, until)))
    pairs = itertools.pairwise(points)
    return math.fsum((b - a) * (left + right) / 2 for (a, left), (b, right) in pairs)


def at(values: Sequence[tuple[int, float]], cycles: float) -> float:
    """Return a value between the given cycles, which rise."""
    if cycles <= values[0][0]:
        return values[0][1]
    for (low, left), (high, right) in itertools.pairwise(values):
        if cycles <= high:
            return left + (right - left) * (cycles - low) / (high - low)
    return values[-1][1]
