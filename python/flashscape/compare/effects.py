"""The size of differences: what is too small to count, and what a doubtful one lacks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashscape._flashscape import student_cdf
from flashscape.errors import ConfigError

if TYPE_CHECKING:
    from flashscape.compare.statistics import Estimate

LEAST = "0.1 %"
"""Smallest difference that counts by default: percentiles of summaries are as accurate."""

_SEEDS_MOST = 1000
_TIMES_MOST = 1000.0


def least(given: str | float) -> float:
    """Read a share such as ``1%``, or 0.01; raise ConfigError."""
    if isinstance(given, str):
        number = given.strip().removesuffix("%").strip()
        try:
            share = float(number) / 100
        except ValueError:
            raise ConfigError(f"least: {given!r} is not a share such as 1%") from None
        if share and not given.strip().endswith("%"):
            raise ConfigError(f"least: {given!r} has no unit (write {number}%)")
    else:
        try:
            share = float(given)
        except (TypeError, ValueError):
            raise ConfigError(f"least: {given!r} is not a share such as '1 %' or 0.01") from None
    if not 0 <= share < 1 or not math.isfinite(share):
        raise ConfigError(f"least: {given} is not from 0 % to below 100 %")
    return share


def seeds_needed(estimate: Estimate, factor: float, alpha: float) -> int | None:
    """Return the number of seeds with which the same difference would be significant.

    The spread from seed to seed stays, and ``factor`` is that of the correction. None if more than
    a thousand are needed.
    """
    seeds = estimate.freedom + 1
    for count in range(seeds + 1, _SEEDS_MOST + 1):
        error = estimate.error * math.sqrt(seeds / count)
        if factor * 2 * (1 - student_cdf(abs(estimate.value) / error, count - 1)) < alpha:
            return count
    return None


def requests_needed(estimate: Estimate, factor: float, alpha: float) -> float | None:
    """Return how many times as many requests would make the same difference significant.

    The interval shrinks with the root of their number, and ``factor`` is that of the correction.
    None if more than a thousand times as many are needed.
    """
    times = (estimate.half(1 - alpha / factor) / estimate.value) ** 2
    return times if times <= _TIMES_MOST else None
