"""Errors of far percentiles of a run without a log, from its slowest requests.

A histogram has no order, so it does not tell how much neighbouring requests resemble each other,
and its percentiles have no honest error. The table ``slowest`` has the arrival times of the
requests beyond a far percentile. Their unequal numbers in blocks of time (whole cycles, if the run
has regular ones) give the error of the number of slow requests; the latencies at a rank that many
higher and lower bound the percentile (Woodruff).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from flashscape import steadiness, together
from flashscape._flashscape import student_quantile
from flashscape.compare import groups
from flashscape.compare.statistics import BLOCKS, ONE_SIDED_95, Estimate, correlation, reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flashscape.result import Result


_NOTHING = 1e-9
"""Part of a block that is only an error of rounding."""


class Missing(NamedTuple):
    """Reason why a percentile of a run has no interval."""

    slowest: int | None
    """Least ``record.slowest`` that may give one; None if its requests come in too few bursts."""


def of_run(run: Result, group: tuple[str, str], beyond: int) -> Estimate | None:
    """Return the percentile with ``beyond`` requests of a group at or above it; or None.

    None if ``slowest`` has too few of them, or they resemble each other for too long.
    """
    found = _of_run(run, group, beyond)
    return found if isinstance(found, Estimate) else None


def missing(run: Result, group: tuple[str, str], beyond: int) -> Missing | None:
    """Return the reason why :func:`of_run` returns None; None if it returns an estimate."""
    found = _of_run(run, group, beyond)
    if not isinstance(found, Missing):
        return None
    requests = groups.figures(run, group)["requests"]
    # A table of all requests is the largest.
    return found if (found.slowest or 0) <= requests else Missing(None)


def _of_run(run: Result, group: tuple[str, str], beyond: int) -> Estimate | Missing:
    rows = together.slowest(run, group[1], groups.members(run, group))
    end = run.summary["simulated_ns"]
    span = (end - run.summary["counted_ns"], end)
    cycle = steadiness.regular_cycle(run.summary)
    falling, arrived = rows["latency_ns"].to_list(), rows["arrived_ns"].to_list()
    return _estimate(falling, arrived, beyond, span, cycle)


def estimate(
    falling: Sequence[int],
    arrived: Sequence[int],
    beyond: int,
    span: tuple[int, int],
    cycle: float | None = None,
) -> Estimate | None:
    """Estimate the percentile from falling latencies, arrival times and the span of the run.

    ``cycle`` is the length of its cycles, if they are regular.
    """
    found = _estimate(falling, arrived, beyond, span, cycle)
    return found if isinstance(found, Estimate) else None


def _estimate(
    falling: Sequence[int],
    arrived: Sequence[int],
    beyond: int,
    span: tuple[int, int],
    cycle: float | None,
) -> Estimate | Missing:
    if beyond > len(falling):
        # Their moments are not known: assume the error of independent requests.
        least = student_quantile(0.975, BLOCKS[0] - 1) * math.sqrt(beyond)
        return Missing(math.ceil(beyond + least))
    value = falling[beyond - 1]
    moments = [at for latency, at in zip(falling, arrived, strict=True) if latency >= value]
    spread = _of_number(moments, span, cycle)
    if spread is None:
        return Missing(None)
    error, freedom, bias = spread
    distance = reach(bias, error, freedom, 0.95)
    fewer, more = math.floor(beyond - distance), math.ceil(beyond + distance)
    if fewer < 1:
        return Missing(None)
    if more > len(falling):
        return Missing(more)
    # Take the longer half of the interval: a tail is longer above than below.
    half = max(falling[fewer - 1] - value, value - falling[more - 1])
    return Estimate(float(value), half / student_quantile(0.975, freedom), freedom)


def _of_number(
    moments: Sequence[int], span: tuple[int, int], cycle: float | None
) -> tuple[float, int, float] | None:
    """Return the error of the number of slow requests, its degrees of freedom, and its bias.

    The bias is the number of all less that of whole cycles, for the same time.
    """
    begin, end = span
    if end <= begin:
        return None
    for width, count in _divisions(end - begin, cycle):
        rest = (end - begin) / width - count
        blocks = [0.0] * count
        for moment in moments:
            # A counted request may have arrived in the warm-up.
            at = max(0, int((moment - begin) / width))
            # Requests of an unfinished cycle are in no block.
            if at < count or rest < _NOTHING:
                blocks[min(at, count - 1)] += 1
        resemblance = correlation(blocks)
        if resemblance <= ONE_SIDED_95 / math.sqrt(count):
            mean = math.fsum(blocks) / count
            spread = math.fsum((each - mean) ** 2 for each in blocks) / (count - 1)
            widening = 1 + 2 * max(0.0, resemblance)
            whole = (end - begin) / width
            # At least the error of independent requests; by chance they may look steadier.
            error = math.sqrt(max(whole * spread * widening, len(moments)))
            bias = len(moments) - whole * mean if rest >= _NOTHING else 0.0
            return error, count - 1, bias
    return None


def _divisions(span: int, cycle: float | None) -> Iterator[tuple[float, int]]:
    """Yield lengths and numbers of blocks: of whole cycles, if the run has enough of them."""
    cycles = 0 if cycle is None else int(span / cycle)
    if cycle is None or cycles < BLOCKS[-1]:
        yield from ((span / count, count) for count in BLOCKS)
        return
    for most in BLOCKS:
        times = math.ceil(cycles / most)
        if cycles // times >= BLOCKS[-1]:
            yield times * cycle, cycles // times
