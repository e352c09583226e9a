"""Queries that ask drives, or other sources of reads, at the same moments of their runs.

A query begins at a moment of the time in which all drives have reads. A stage of *k* reads asks *k*
different drives, chosen at random, for the first read that arrives at that moment or after it. If
there are only *n* < *k* drives, the reads are spread evenly: each drive answers the next k // n
reads, and k mod n drives, chosen at random, one more. The next stage begins when the slowest read
of the stage would have ended; behind the end of the time, it goes on at its beginning.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from flashscape.fleet.nouns import NOUNS
from flashscape.fleet.pooled import power
from flashscape.fleet.quantiles import at_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from flashscape.fleet.wanted import Queries

_BITS = 53
"""Random bits of a draw; distributions are tables of whole numbers with so many."""


class Reads(Protocol):
    """The reads of a drive; they are asked for again and again, to hold few in memory."""

    def frame(self) -> pl.DataFrame:
        """Return ``arrived_ns``, rising, and ``latency_ns`` of all counted reads."""


class Asked(NamedTuple):
    """Queries that were asked, or the reason for which none could be."""

    why_not: str | None
    slow_reads: float = 0.0
    """Share of the first reads at the moments that are slow."""
    rows: dict[int, dict[str, Any]] | None = None

    def figures(self, reads: int) -> dict[str, Any]:
        """Return the figures of queries with so many reads a stage."""
        assert self.rows is not None
        return self.rows[reads]


class _Course(NamedTuple):
    """The time in which all drives have reads."""

    begin: int
    end: int

    def at(self, bits: int) -> int:
        """Return the moment of a draw."""
        return self.begin + (bits * (self.end - self.begin) >> _BITS)

    def within(self, moment: int) -> int:
        """Return a moment that may lie behind the end."""
        return self.begin + (moment - self.begin) % (self.end - self.begin)


class _Answers(NamedTuple):
    """Answers of all drives at some moments, each to ``every`` reads and perhaps to one more."""

    slowest: list[int]
    """Slowest of the reads that each drive answers, at each moment; 0 without such reads."""
    further: list[list[int]]
    """Latencies of the next read of each drive, rising, at each moment."""
    slow: list[tuple[float, float]]
    """Of each drive, the shares of moments with a slow read, without and with the next one."""


def asked(
    wanted: Queries, drives: Sequence[Reads], limit: int, seed: int, over: str = "drives"
) -> Asked:
    """Ask all drives; a read above ``limit`` nanoseconds is slow.

    ``over`` names what takes the place of drives, if the sources are others.
    """
    noun = NOUNS[over]
    most = max(wanted.reads) // len(drives) + 1
    ends = []
    for drive in drives:
        arrived = drive.frame()["arrived_ns"]
        if not len(arrived):
            return Asked(f"{noun.one} has no reads")
        if len(arrived) < most:
            why = f"{noun.one} has fewer reads than the {most:,} that a stage asks of it"
            return Asked(why)
        ends.append((arrived[0], arrived[-1]))
    course = _Course(max(first for first, _ in ends), min(last for _, last in ends))
    if course.begin >= course.end:
        why = f"the {noun.many} have no time in common in which all of them have reads"
        return Asked(why)
    drawn = random.Random(f"{seed} fleet.fanout.moments")
    moments = [course.at(drawn.getrandbits(_BITS)) for _ in range(wanted.queries)]
    every, first = 0, _answers(drives, moments, 0, limit)
    shares = [share for _, share in first.slow]
    rows = {}
    for reads in sorted(wanted.reads):
        if reads // len(drives) != every:
            # Numbers of reads in between have the same first stage.
            every = reads // len(drives)
            first = _answers(drives, moments, every, limit)
        queries = _Queries(course, drives, limit, seed, reads)
        rows[reads] = queries.figures(wanted.stages, moments, first)
    return Asked(None, sum(shares) / len(shares), rows)


class _Queries(NamedTuple):
    """Queries of the same number of reads a stage."""

    course: _Course
    drives: Sequence[Reads]
    limit: int
    seed: int
    reads: int

    @property
    def every(self) -> int:
        """Number of reads of a stage that each drive answers."""
        return self.reads // len(self.drives)

    @property
    def chosen(self) -> int:
        """Number of drives that answer one more."""
        return self.reads % len(self.drives)

    def figures(self, stages: int, moments: list[int], first: _Answers) -> dict[str, Any]:
        """Return the share of slow queries, and mean and quantiles of their latencies."""
        drawn = random.Random(f"{self.seed} fleet.fanout.drives {self.reads}")
        table = _slowest(len(self.drives), self.chosen)
        latencies, has_slow, answers = [0] * len(moments), [False] * len(moments), first
        for stage in range(stages):
            if stage:
                begun = [
                    self.course.within(moment + so_far)
                    for moment, so_far in zip(moments, latencies, strict=True)
                ]
                answers = _answers(self.drives, begun, self.every, self.limit)
            for at, slowest in enumerate(answers.slowest):
                if self.chosen:
                    rank = bisect_right(table, drawn.getrandbits(_BITS))
                    slowest = max(slowest, answers.further[at][rank])
                latencies[at] += slowest
                has_slow[at] |= slowest > self.limit
        slow = sum(has_slow) / len(has_slow) if stages > 1 else self._slow(first)
        return {
            "slow_moments": slow,
            "slow_apart": 1.0 - power(_none_slow(first.slow, self.chosen), stages),
            "mean_moments_ns": sum(latencies) / len(latencies),
            **{f"{name}_moments_ns": ns for name, ns in at_ranks(latencies).items()},
        }

    def _slow(self, answers: _Answers) -> float:
        """Return the share of slow stages, over all choices of drives at each moment."""
        n, all_of_them = len(self.drives), comb(len(self.drives), self.chosen)
        of_fast = [comb(fast, self.chosen) / all_of_them for fast in range(n + 1)]
        slow = 0.0
        for slowest, row in zip(answers.slowest, answers.further, strict=True):
            is_slow = slowest > self.limit
            slow += 1.0 if is_slow else 1.0 - of_fast[bisect_right(row, self.limit)]
        return slow / len(answers.slowest)


def _answers(drives: Sequence[Reads], moments: list[int], every: int, limit: int) -> _Answers:
    """Ask each drive at each moment for its next reads."""
    import polars as pl

    at = pl.Series(moments, dtype=pl.UInt64)
    slowest = pl.zeros(len(moments), dtype=pl.UInt64, eager=True)
    further, slow = [], []
    for number, drive in enumerate(drives):
        frame = drive.frame()
        index = frame["arrived_ns"].search_sorted(at, side="left").cast(pl.Int64)
        latency = frame["latency_ns"]
        if every:
            # Behind its last read, a drive goes on with its first ones.
            latency = latency.append(latency.head(every))
            own = latency.rolling_max(every).gather(index + (every - 1))
            slowest = pl.select(pl.max_horizontal(slowest, own)).to_series()
            is_slow = own > limit
        else:
            is_slow = pl.zeros(len(moments), dtype=pl.UInt8, eager=True) > 0
        more = latency.gather(index + every).alias(str(number))
        further.append(more)
        slow.append((_share(is_slow), _share(is_slow | (more > limit))))
    rows = pl.DataFrame(further).select(pl.concat_list(pl.all()).list.sort()).to_series()
    return _Answers(slowest.to_list(), rows.to_list(), slow)


def _share(flags: pl.Series) -> float:
    return int(flags.sum()) / len(flags)


def _slowest(drives: int, chosen: int) -> list[int]:
    """Return the distribution of the rank of the slowest of some drives, as a table for draws."""
    all_of_them = comb(drives, chosen)
    return [(comb(rank, chosen) << _BITS) // all_of_them for rank in range(1, drives)]


def _none_slow(slow: list[tuple[float, float]], chosen: int) -> float:
    """Return the probability that no read of a stage is slow if drives are asked at moments apart.

    It is the mean over all choices of drives of the product of the drives' probabilities, without
    and, for the chosen ones, with their further read.
    """
    # Mean product over all choices of j drives among the first ones.
    means = [1.0] + [0.0] * chosen
    for number, (without, with_it) in enumerate(slow, 1):
        for j in range(min(number, chosen), -1, -1):
            kept = means[j] * (1.0 - without) * (number - j) if j < number else 0.0
            taken = means[j - 1] * (1.0 - with_it) * j if j else 0.0
            means[j] = (kept + taken) / number
    return means[chosen]
