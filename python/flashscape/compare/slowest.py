"""Far percentiles of a run without a log, from its slowest requests.

A histogram has no order, so it cannot tell how much requests resemble their neighbours, and
its percentiles have no honest error. The table ``slowest`` has the moments of the requests
beyond a far percentile. How unevenly these fall on blocks of time gives the error of their
number, and the latencies at that many more and fewer of them bound the percentile (Woodruff).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashscape._flashscape import student_quantile
from flashscape.compare.statistics import BLOCKS, ONE_SIDED_95, Estimate, correlation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.result import Result


def of_run(run: Result, group: tuple[str, str], beyond: int) -> Estimate | None:
    """The percentile at or beyond which so many requests of a group lie; or None.

    None where ``slowest`` has too few of them, or they resemble each other for too long.
    """
    import polars as pl

    own = (pl.col("initiator") == group[0]) & (pl.col("kind") == group[1])
    rows = run.slowest.filter(own).sort("latency_ns", descending=True)
    end = run.summary["simulated_ns"]
    span = (end - run.summary["counted_ns"], end)
    return estimate(rows["latency_ns"].to_list(), rows["arrived_ns"].to_list(), beyond, span)


def estimate(
    falling: Sequence[int], arrived: Sequence[int], beyond: int, span: tuple[int, int]
) -> Estimate | None:
    """The same of latencies in falling order, with when each arrived in a span of time."""
    if beyond > len(falling):
        return None
    value = falling[beyond - 1]
    moments = [at for latency, at in zip(falling, arrived, strict=True) if latency >= value]
    spread = _of_number(moments, span)
    if spread is None:
        return None
    error, freedom = spread
    t = student_quantile(0.975, freedom)
    fewer, more = math.floor(beyond - t * error), math.ceil(beyond + t * error)
    if fewer < 1 or more > len(falling):
        return None
    # The longer half of the interval: a tail is longer above than below.
    half = max(falling[fewer - 1] - value, value - falling[more - 1])
    return Estimate(float(value), half / t, freedom)


def _of_number(moments: Sequence[int], span: tuple[int, int]) -> tuple[float, int] | None:
    """The error of how many there are, and its degrees of freedom."""
    begin, end = span
    if end <= begin:
        return None
    for count in BLOCKS:
        blocks = [0.0] * count
        for moment in moments:
            at = (moment - begin) * count // (end - begin)
            # A request that is counted may have arrived in the warm-up.
            blocks[min(max(at, 0), count - 1)] += 1
        resemblance = correlation(blocks)
        if resemblance <= ONE_SIDED_95 / math.sqrt(count):
            mean = len(moments) / count
            spread = math.fsum((each - mean) ** 2 for each in blocks) / (count - 1)
            widening = 1 + 2 * max(0.0, resemblance)
            # No steadier than independent requests, which chance alone may make them look.
            return math.sqrt(max(count * spread * widening, len(moments))), count - 1
    return None
