"""The choice of multipliers to try, for tests that are probably, not certainly, monotone.

Multipliers are doubled until one fails. Then the gap between the failing one and the last one
that passes is divided until they are neighbours, and finally their own neighbours are tried.
A rating is the highest multiplier that passes below the lowest that fails, because a drive is
certified at the level below its first failure. Passes above that level are reported separately.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_WIDTH = 2
"""Multipliers tried at a time. Not the number of cores: results must not depend on that."""


class Rating(NamedTuple):
    """The highest multiplier that passes a test, as far as is known."""

    multiplier: int
    """The multiplier; 0 if the lowest one fails."""
    at_ceiling: bool
    """True if nothing fails up to the highest multiplier allowed: the rating is at least this."""
    exceptions: tuple[int, ...]
    """Multipliers that pass although a lower one fails."""


def rating(tried: Mapping[int, bool], most: int) -> Rating:
    """Return the rating from the multipliers that were tried, with True for those that passed."""
    first = _first_failure(tried)
    below = [k for k, passed in tried.items() if passed and (first is None or k < first)]
    beyond = sorted(k for k, passed in tried.items() if passed and first is not None and k > first)
    best = max(below, default=0)
    return Rating(best, first is None and best == most, tuple(beyond))


def wanted(tried: Mapping[int, bool], *, step: int, most: int) -> list[int]:
    """Return the multipliers to try next, in rising order; none if the rating is certain."""
    first = _first_failure(tried)
    best = max((k for k in tried if first is None or k < first), default=0)
    if first is None:
        return _doubled(best, step, most)
    between = _between(best // step, first // step)
    near = between or [best // step - 1, first // step + 1]
    return [k * step for k in near if 0 < k * step <= most and k * step not in tried]


def _first_failure(tried: Mapping[int, bool]) -> int | None:
    return min((k for k, passed in tried.items() if not passed), default=None)


def _doubled(best: int, step: int, most: int) -> list[int]:
    found: list[int] = []
    while best < most and len(found) < _WIDTH:
        best = min(2 * best or step, most)
        found.append(best)
    return found


def _between(low: int, high: int) -> list[int]:
    """Return numbers that divide the gap evenly; none between neighbours."""
    places = (low + (high - low) * part // (_WIDTH + 1) for part in range(1, _WIDTH + 1))
    return sorted({place for place in places if low < place < high})
