"""Queries that ask drives, or other sources of reads, at the same moments of their runs.

A query begins at a moment of the time in which all drives have reads. A stage of *k* reads asks *k*
different drives, chosen at random, for the first read that arrives at that moment or after it. If
there are only *n* < *k* drives, the reads are spread evenly: each drive answers the next k // n
reads, and k mod n drives, chosen at random, one more. The next stage begins when all reads of the
stage have ended; behind the end of the time, it goes on at its beginning.

The latency of a query is the sum over its stages of the slowest latency. The time until a source
sends its next read is not part of it.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from math import comb
from typing import TYPE_CHECKING, NamedTuple, Protocol

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
    slow_reads: tuple[float, ...] = ()
    """Share of the first reads at the moments that are slow, by limit."""
    rows: dict[int, _Figures] | None = None

    def figures(self, reads: int) -> dict[str, float]:
        """Return the figures of queries with so many reads a stage, by the first limit."""
        assert self.rows is not None
        return self.shares(reads, 0) | self.rows[reads].latencies

    def shares(self, reads: int, limit: int) -> dict[str, float]:
        """Return the shares of slow queries by the limit of a number."""
        assert self.rows is not None
        return self.rows[reads].shares[limit]


class _Figures(NamedTuple):
    """Figures of queries of the same number of reads a stage."""

    shares: list[dict[str, float]]
    """Shares of slow queries, by limit."""
    latencies: dict[str, float]


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


class _Rest(NamedTuple):
    """Times from some moments to the ends of reads, which tell when the next stage begins."""

    lasting: list[int]
    """Time to the latest end of the reads that each drive answers, at each moment; 0 without."""
    further: list[list[int]]
    """Times to the ends of the next read of each drive, in the order of their latencies."""


class _Answers(NamedTuple):
    """Answers of all drives at some moments, each to ``every`` reads and perhaps to one more."""

    slowest: list[int]
    """Slowest of the reads that each drive answers, at each moment; 0 without such reads."""
    further: list[list[int]]
    """Latencies of the next read of each drive, rising, at each moment."""
    slow: list[list[tuple[float, float]]]
    """By limit, the shares of moments of each drive with a slow read, without and with the next
    one."""
    rest: _Rest | None
    """Ends of the reads; None for queries of one stage, which need none."""


class _Draws(NamedTuple):
    """Random numbers of the queries of one number of reads."""

    ranks: random.Random
    """Choice of the slowest drive of a stage."""
    others: random.Random
    """Choice of the drives that are asked beside it."""

    @classmethod
    def of(cls, seed: int, reads: int) -> _Draws:
        """Return the streams of a number of reads, each with a name of its own."""
        names = ("drives", "others")
        return cls(*(random.Random(f"{seed} fleet.fanout.{name} {reads}") for name in names))


def asked(
    wanted: Queries,
    drives: Sequence[Reads],
    limits: Sequence[int],
    seed: int,
    over: str = "drives",
) -> Asked:
    """Ask all drives; a read above one of the limits, in nanoseconds, is slow by it.

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
    several = wanted.stages > 1
    every, first = 0, _answers(drives, moments, 0, limits, rest=several)
    slow = tuple(sum(share for _, share in of) / len(of) for of in first.slow)
    rows = {}
    for reads in sorted(wanted.reads):
        if reads // len(drives) != every:
            # Numbers of reads in between have the same first stage.
            every = reads // len(drives)
            first = _answers(drives, moments, every, limits, rest=several)
        queries = _Queries(course, drives, limits, seed, reads)
        figures = queries.figures(wanted.stages, moments, first)
        if figures is None:
            why = (
                f"a query of {wanted.stages} stages takes longer than the time that the "
                f"{noun.many} have in common, so that it would take reads twice; ask for fewer "
                "stages, or run longer"
            )
            return Asked(why)
        rows[reads] = figures
    return Asked(None, slow, rows)


class _Queries(NamedTuple):
    """Queries of the same number of reads a stage."""

    course: _Course
    drives: Sequence[Reads]
    limits: Sequence[int]
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

    def figures(self, stages: int, moments: list[int], first: _Answers) -> _Figures | None:
        """Return the shares of slow queries, and mean and quantiles of their latencies.

        None if a query takes longer than the course, so that it would take reads twice.
        """
        draws, table = _Draws.of(self.seed, self.reads), _slowest(len(self.drives), self.chosen)
        latencies, slowest_of = [0] * len(moments), [0] * len(moments)
        lasting, begun, answers = [0] * len(moments), moments, first
        for stage in range(stages):
            if stage:
                begun = [
                    self.course.within(moment + so_far)
                    for moment, so_far in zip(moments, lasting, strict=True)
                ]
                answers = _answers(self.drives, begun, self.every, self.limits, rest=True)
            for at in range(len(moments)):
                slowest, until_ended = self._asked(answers, at, table, draws)
                latencies[at] += slowest
                slowest_of[at] = max(slowest_of[at], slowest)
                lasting[at] += until_ended
        if max(lasting) > self.course.end - self.course.begin:
            return None
        shares = []
        for number, limit in enumerate(self.limits):
            sampled = sum(slowest > limit for slowest in slowest_of) / len(slowest_of)
            apart = 1.0 - power(_none_slow(first.slow[number], self.chosen), stages)
            slow = sampled if stages > 1 else self._slow(first, limit)
            shares.append({"slow_moments": slow, "slow_apart": apart})
        quantiles = {f"{name}_moments_ns": ns for name, ns in at_ranks(latencies).items()}
        return _Figures(shares, {"mean_moments_ns": sum(latencies) / len(latencies), **quantiles})

    def _asked(
        self, answers: _Answers, at: int, table: list[int], draws: _Draws
    ) -> tuple[int, int]:
        """Return the slowest latency of a stage, and the time until all of its reads have ended.

        The time is 0 if the answers have no ends.
        """
        slowest, rest = answers.slowest[at], answers.rest
        until_ended = 0 if rest is None else rest.lasting[at]
        if self.chosen:
            rank = bisect_right(table, draws.ranks.getrandbits(_BITS))
            slowest = max(slowest, answers.further[at][rank])
            if rest is not None:
                # The other drives are any of those that are not slower.
                others = draws.others.sample(range(rank), self.chosen - 1)
                further = rest.further[at]
                until_ended = max(until_ended, further[rank], *(further[each] for each in others))
        return slowest, until_ended

    def _slow(self, answers: _Answers, limit: int) -> float:
        """Return the share of slow stages, over all choices of drives at each moment."""
        n, all_of_them = len(self.drives), comb(len(self.drives), self.chosen)
        of_fast = [comb(fast, self.chosen) / all_of_them for fast in range(n + 1)]
        slow = 0.0
        for slowest, row in zip(answers.slowest, answers.further, strict=True):
            is_slow = slowest > limit
            slow += 1.0 if is_slow else 1.0 - of_fast[bisect_right(row, limit)]
        return slow / len(answers.slowest)


def _answers(
    drives: Sequence[Reads], moments: list[int], every: int, limits: Sequence[int], *, rest: bool
) -> _Answers:
    """Ask each drive at each moment for its next reads; with ``rest``, also tell their ends."""
    import polars as pl

    at = pl.Series(moments, dtype=pl.UInt64)
    slowest = pl.zeros(len(moments), dtype=pl.UInt64, eager=True)
    lasting = slowest
    further: list[pl.DataFrame] = []
    slow: list[list[tuple[float, float]]] = [[] for _ in limits]
    for drive in drives:
        frame = drive.frame()
        index = frame["arrived_ns"].search_sorted(at, side="left").cast(pl.Int64)
        reads = _going_on(frame, every)
        latency, ended = reads["latency_ns"], reads["ended_ns"]
        if every:
            last = index + (every - 1)
            own = latency.rolling_max(every).gather(last)
            until = ended.rolling_max(every).gather(last) - at
            slowest = pl.select(pl.max_horizontal(slowest, own)).to_series()
            lasting = pl.select(pl.max_horizontal(lasting, until)).to_series()
        else:
            own = pl.zeros(len(moments), dtype=pl.UInt64, eager=True)
        more = latency.gather(index + every)
        for of_limit, limit in zip(slow, limits, strict=True):
            of_limit.append((_share(own > limit), _share((own > limit) | (more > limit))))
        columns = [more, (ended.gather(index + every) - at).alias("lasting_ns")] if rest else [more]
        further.append(pl.DataFrame(columns).with_row_index("at"))
    # Equal latencies stay in the order of the drives.
    rows = pl.concat(further).sort("at", "latency_ns", maintain_order=True)
    rows = rows.group_by("at", maintain_order=True).agg(pl.all())
    times = _Rest(lasting.to_list(), rows["lasting_ns"].to_list()) if rest else None
    return _Answers(slowest.to_list(), rows["latency_ns"].to_list(), slow, times)


def _going_on(frame: pl.DataFrame, every: int) -> pl.DataFrame:
    """Return latencies and ends of reads; behind its last read, a drive goes on with its first.

    Even a read that takes no time ends behind its arrival: the next stage does not take it again.
    """
    import polars as pl

    reads = frame.select(
        "latency_ns",
        ended_ns=pl.col("arrived_ns") + pl.max_horizontal("latency_ns", pl.lit(1, pl.UInt64)),
    )
    if not every:
        return reads
    arrived = frame["arrived_ns"]
    again = reads.head(every).with_columns(pl.col("ended_ns") + (arrived[-1] - arrived[0]))
    return pl.concat([reads, again])


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
