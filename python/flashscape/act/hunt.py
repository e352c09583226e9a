"""Which multipliers to try next, where passing is likely, but not certain, to be monotone.

Multipliers are doubled until one fails, then the gap between it and the last one that
passes is divided, until they are neighbours; then the neighbours of these are tried, too. A
rating is the highest multiplier that passes below the lowest that fails, as one is
certified at the level below the first failure. What passes beyond that is told apart.
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
    """0 where the lowest one fails."""
    at_ceiling: bool
    """Nothing fails up to the highest that may be tried: the rating is at least this."""
    exceptions: tuple[int, ...]
    """Multipliers that pass although a lower one fails."""


def rating(tried: Mapping[int, bool], most: int) -> Rating:
    """The rating that multipliers lead to that were tried and have passed, or not."""
    first = _first_failure(tried)
    below = [k for k, passed in tried.items() if passed and (first is None or k < first)]
    beyond = sorted(k for k, passed in tried.items() if passed and first is not None and k > first)
    best = max(below, default=0)
    return Rating(best, first is None and best == most, tuple(beyond))


def wanted(tried: Mapping[int, bool], *, step: int, most: int) -> list[int]:
    """What to try next, by rising multiplier; nothing where the rating is certain.

    All are multiples of ``step``, as is ``most``.
    """
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
    """Places that divide the gap evenly; none between neighbours."""
    places = (low + (high - low) * part // (_WIDTH + 1) for part in range(1, _WIDTH + 1))
    return sorted({place for place in places if low < place < high})
