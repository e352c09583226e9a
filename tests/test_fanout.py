"""Queries over many drives: the figures of arithmetic, and of models that try all cases."""

from __future__ import annotations

import itertools
import math
import random
from bisect import bisect_left

import polars as pl
import pytest

import seeds
from flashscape.fleet import moments, pooled
from flashscape.fleet.fanout import Fanout, fanout, slow
from flashscape.fleet.wanted import Queries
from flashscape.latency import Latency

FAST, SLOW = 100_000, 900_000


class Drive:
    """Reads of a drive, as a list of arrivals and latencies."""

    def __init__(self, reads: list[tuple[int, int]]) -> None:
        self.reads = sorted(reads)

    def frame(self) -> pl.DataFrame:
        schema = {"arrived_ns": pl.UInt64, "latency_ns": pl.UInt64}
        return pl.DataFrame(self.reads, schema=schema, orient="row")

    def at(self, moment: int, more: int = 0) -> int:
        """The latency of the first read at or after a moment, or of the read that follows later."""
        first = next(at for at, (arrived, _) in enumerate(self.reads) if arrived >= moment)
        return self.reads[(first + more) % len(self.reads)][1]

    def asked(self, moment: int, count: int = 1) -> tuple[int, int]:
        """The slowest latency of the next reads at or after a moment, and the end of the last.

        Each read ends after its arrival, so that no later stage takes it again.
        """
        first = bisect_left(self.reads, (moment, 0))
        later = self.reads[first : first + count]
        # Behind its last read, the drive goes on with its first one.
        span = self.reads[-1][0] - self.reads[0][0]
        later += [(arrived + span, ns) for arrived, ns in self.reads[: count - len(later)]]
        return max(ns for _, ns in later), max(arrived + max(ns, 1) for arrived, ns in later)


def latency_of(samples: list[int]) -> Latency:
    """Return latencies whose buckets are exact."""
    values = sorted(set(samples))
    buckets = tuple((value, samples.count(value)) for value in values)
    mean = sum(samples) / len(samples)
    return Latency(len(samples), mean, values[0], values[-1], buckets)


def drives_of(count: int, seed: int, share: float = 0.2, reads: int = 40) -> list[Drive]:
    """Return drives that are slow at random, each read for itself."""
    drawn = seeds.drawn(seed)

    def read() -> tuple[int, int]:
        return drawn.randrange(10_000_000), SLOW if drawn.random() < share else FAST

    return [Drive([read() for _ in range(reads)]) for _ in range(count)]


def time_of(drives: list[Drive]) -> tuple[int, int]:
    """Return the time in which all have reads."""
    begin = max(drive.reads[0][0] for drive in drives)
    return begin, min(drive.reads[-1][0] for drive in drives)


def stages_of(drives: list[Drive], moment: int, counts: list[list[int]]) -> list[int]:
    """Return the slowest latency of each stage of a query, if it asks drives for so many reads."""
    begin, end = time_of(drives)
    slowest = []
    for each in counts:
        asked = [drive.asked(moment, n) for drive, n in zip(drives, each, strict=True) if n]
        slowest.append(max(ns for ns, _ in asked))
        ended = max(at for _, at in asked)
        moment = begin + (ended - begin) % (end - begin)
    return slowest


def sampled(wanted: Queries, drives: list[Drive]) -> list[int]:
    """Return the moments at which queries begin, as the module draws them."""
    begin, end = time_of(drives)
    drawn = random.Random("7 fleet.fanout.moments")
    return [begin + (drawn.getrandbits(53) * (end - begin) >> 53) for _ in range(wanted.queries)]


def test_of_a_hundred_reads_at_one_percent_two_thirds_of_queries_are_slow():
    assert slow(0.01, 100) == pytest.approx(1 - 0.99**100, abs=1e-14)
    assert round(slow(0.01, 100), 3) == 0.634
    # From pooled samples: 1 % of the reads are slow.
    latency = latency_of([FAST] * 9_900 + [SLOW] * 100)
    found = fanout(Queries((1, 100, 5_000)), latency, [Drive([(0, FAST), (9, FAST)])], 7)
    assert (found.slow_above_ns, found.slow_reads) == (FAST, 0.01)
    shares = [row["slow_pooled"] for row in found.rows]
    assert shares == pytest.approx([1 - 0.99**k for k in (1, 100, 5_000)], abs=1e-12)
    assert round(shares[1], 3) == 0.634


def three_latencies(count: int, seed: int) -> list[Drive]:
    """Return drives whose reads take one of three times, at random."""
    drawn = random.Random(seed)
    shares = {FAST: 0.8, SLOW: 0.15, 5 * SLOW: 0.05}
    return [
        Drive(
            [
                (drawn.randrange(1_000_000_000), drawn.choices([*shares], [*shares.values()])[0])
                for _ in range(200)
            ]
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("stages", [1, 3])
def test_further_limits_are_those_of_a_naive_model(stages):
    drives = three_latencies(3, seed=11)
    latency = latency_of([ns for drive in drives for _, ns in drive.reads])
    wanted = Queries((1, 2, 3, 7), stages, 400, slow_above=(FAST, SLOW))
    found = fanout(wanted, latency, drives, 7)
    plain = fanout(wanted._replace(slow_above=()), latency, drives, 7)
    # Limits beside p99 change nothing of what there is without them.
    assert (plain.rows, plain.slow_at_moments) == (found.rows, found.slow_at_moments)
    every, begun = [ns for drive in drives for _, ns in drive.reads], sampled(wanted, drives)
    for limit, told in zip(wanted.slow_above, found.limits, strict=True):
        share = sum(ns > limit for ns in every) / len(every)
        assert (told["slow_above_ns"], told["slow_reads"]) == (limit, pytest.approx(share))
        first = [drive.at(moment) > limit for drive in drives for moment in begun]
        assert told["slow_at_moments"] == pytest.approx(sum(first) / len(first))
        for row in told["rows"]:
            pooled_share = 1 - (1 - share) ** (row["reads"] * stages)
            assert row["slow_pooled"] == pytest.approx(pooled_share, abs=1e-12)
        for row in told["rows"][:3] if stages == 1 else []:
            chosen = [
                max(drives[at].at(moment) for at in choice) > limit
                for moment in begun
                for choice in itertools.combinations(range(3), row["reads"])
            ]
            assert row["slow_moments"] == pytest.approx(sum(chosen) / len(chosen), abs=1e-12)


def test_a_limit_at_p99_says_what_p99_says():
    drives = drives_of(4, seed=5, share=0.005, reads=400)
    latency = latency_of([ns for drive in drives for _, ns in drive.reads])
    for stages in (1, 2):
        found = fanout(Queries((1, 3, 5), stages, 200, (FAST,)), latency, drives, 7)
        assert found.slow_above_ns == FAST
        [limit] = found.limits
        assert limit["slow_reads"] == found.slow_reads
        assert limit["slow_at_moments"] == found.slow_at_moments
        names = ("reads", "slow_pooled", "slow_moments", "slow_apart")
        assert limit["rows"] == [{name: row[name] for name in names} for row in found.rows]


def test_powers_are_right_to_the_last_digits():
    for base, exponent in [(0.99, 100), (1 - 1e-6, 5_000), (0.5, 0), (0.5, 1), (0.3, 37)]:
        assert pooled.power(base, exponent) == pytest.approx(base**exponent, rel=1e-12)


def test_pooled_quantiles_are_those_of_the_power_of_the_distribution():
    drawn = seeds.drawn(3)
    samples = [drawn.randrange(1_000) * 100 for _ in range(5_000)]
    ranked = sorted(samples)
    for reads in (1, 2, 17, 400):
        found = pooled.Pooled(latency_of(samples), 7).figures(Queries((reads,)), reads)
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)):
            # The naive rank: the least sample whose share to the power of k is enough.
            enough = [(at + 1) / 5_000 for at in range(5_000)]
            at = bisect_left([part**reads for part in enough], share)
            # Samples with equal values have the share of the last of them.
            assert found[name] == ranked[min(at, 4_999)], (reads, name)
        naive = sum(max(drawn.choices(samples, k=reads)) for _ in range(4_000)) / 4_000
        assert found["mean"] == pytest.approx(naive, rel=0.05)


def test_pooled_stages_add_up():
    latency = latency_of([FAST] * 75 + [SLOW] * 25)
    found = pooled.Pooled(latency, 7).figures(Queries((2,), stages=3, queries=20_000), 2)
    # A stage is slow with 1 - (3/4)^2 = 7/16; three stages: binomial.
    p = 7 / 16
    assert found["mean"] == pytest.approx(3 * (FAST + p * (SLOW - FAST)), rel=1e-12)
    none = (1 - p) ** 3
    assert none < 0.5 < none + 3 * p * (1 - p) ** 2
    assert found["p50"] == 2 * FAST + SLOW
    assert found["p99"] == 3 * SLOW


@pytest.mark.parametrize("reads", [1, 2, 3, 5])
def test_queries_at_the_same_moments_are_those_of_all_choices_of_drives(reads):
    drives, wanted = drives_of(5, 11), Queries((reads,), queries=300)
    found = moments.asked(wanted, drives, (FAST,), 7)
    shares = []
    for moment in sampled(wanted, drives):
        reads_of = [drive.at(moment) for drive in drives]
        chosen = list(itertools.combinations(reads_of, reads))
        shares.append(sum(max(each) > FAST for each in chosen) / len(chosen))
    assert found.why_not is None
    assert found.figures(reads)["slow_moments"] == pytest.approx(sum(shares) / 300, abs=1e-12)


@pytest.mark.parametrize("reads", [3, 4, 6, 8])
def test_more_reads_than_drives_are_spread_evenly(reads):
    drives, wanted = drives_of(3, 12, share=0.05), Queries((reads,), queries=200)
    found = moments.asked(wanted, drives, (FAST,), 7).figures(reads)
    every, chosen = divmod(reads, 3)
    shares = []
    for moment in sampled(wanted, drives):
        ways = []
        for with_more in itertools.combinations(range(3), chosen):
            counts = [every + (number in with_more) for number in range(3)]
            asked = zip(drives, counts, strict=True)
            ways.append(max(drive.at(moment, at) for drive, n in asked for at in range(n)))
        shares.append(sum(slowest > FAST for slowest in ways) / len(ways))
    assert found["slow_moments"] == pytest.approx(sum(shares) / 200, abs=1e-12)


@pytest.mark.parametrize("chosen", [0, 1, 2, 4])
def test_drives_at_moments_of_their_own_are_slow_as_their_products(chosen):
    slow_ones = [(0.0, 0.0), (0.1, 0.15), (0.2, 0.3), (0.0, 0.9)]
    ways = [
        math.prod(1 - both[at in with_more] for at, both in enumerate(slow_ones))
        for with_more in itertools.combinations(range(4), chosen)
    ]
    expected = sum(ways) / len(ways)
    assert moments._none_slow(slow_ones, chosen) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(("drives", "reads"), [(1, 1), (4, 1), (4, 3), (4, 4)])
def test_the_rank_of_the_slowest_is_drawn_as_often_as_it_is_the_slowest(drives, reads):
    slowest = [max(each) for each in itertools.combinations(range(drives), reads)]
    expected = [slowest.count(rank) / len(slowest) for rank in range(drives)]
    table = [0, *moments._slowest(drives, reads), 1 << 53]
    found = [(b - a) / 2**53 for a, b in itertools.pairwise(table)]
    assert found == pytest.approx(expected, abs=1e-15)


def test_independent_drives_are_slow_as_independent_reads():
    drives = drives_of(150, 13, share=0.01, reads=400)
    latency = latency_of([ns for drive in drives for _, ns in drive.reads])
    found = fanout(Queries((1, 100), queries=4_000), latency, drives, 7)
    one, hundred = found.rows
    p = found.slow_reads
    # 60,000 reads of which each is slow with 1 %.
    assert abs(p - 0.01) < 4 * math.sqrt(0.01 * 0.99 / 60_000)
    assert one["slow_moments"] == pytest.approx(p, rel=0.1)
    assert hundred["slow_pooled"] == pytest.approx(1 - (1 - p) ** 100)
    # The sampled moments hit every read many times, so the chance is in the reads: 400 of a drive
    # are as many as moments that differ.
    assert abs(hundred["slow_moments"] - 0.634) < 4 * math.sqrt(0.634 * 0.366 / 400)
    assert hundred["slow_apart"] == pytest.approx(hundred["slow_moments"], abs=0.05)


def test_drives_in_step_are_slow_together_however_many_are_asked():
    (drive,) = drives_of(1, 14, reads=500)
    wanted = Queries((1, 10, 99, 100), queries=2_000)
    found = moments.asked(wanted, [drive] * 100, (FAST,), 7)
    shares = {reads: found.figures(reads)["slow_moments"] for reads in wanted.reads}
    assert set(shares.values()) == {shares[1]}
    assert shares[1] == pytest.approx(found.slow_reads[0])
    assert abs(shares[1] - 0.2) < 4 * math.sqrt(0.2 * 0.8 / 500)
    # A query at moments of their own would nearly always be slow.
    assert found.figures(100)["slow_apart"] > 0.99


def test_a_stage_begins_when_all_reads_before_have_ended():
    # All drives alternate every 10 us, and each read takes 9 us or 11 us. A fast read has ended
    # when the slow one after it arrives; a slow read has not when the fast one after it does.
    period = 10_000
    both = [Drive([(at * period, 9_000 + 2_000 * (at % 2)) for at in range(1_001)])] * 3
    wanted = Queries((2,), stages=2, queries=500)
    found = moments.asked(wanted, both, (9_500,), 7).figures(2)
    first = [both[0].at(moment) for moment in sampled(wanted, both)]
    assert found["mean_moments_ns"] == sum(first) / 500 + 11_000
    assert found["slow_moments"] == 1.0


@pytest.mark.parametrize("reads", [1, 2, 3])
def test_no_read_is_taken_twice_by_the_stages_of_a_query(reads):
    # Latencies are different powers of two, and gaps are longer than all of them together.
    drives = [
        Drive([(at * 10**9 + 10**8 * n, 1 << (3 * at + n)) for at in range(8)]) for n in range(3)
    ]
    for seed in range(100):
        wanted = Queries((reads,), stages=5, queries=1)
        found = moments.asked(wanted, drives, (FAST,), seed).figures(reads)
        assert int(found["mean_moments_ns"]).bit_count() == 5


def test_a_read_that_takes_no_time_is_not_taken_twice():
    drives = [Drive([(at * 1_000, 0 if at % 2 else 8) for at in range(101)])] * 2
    wanted = Queries((2,), stages=4, queries=200)
    assert moments.asked(wanted, drives, (4,), 7).figures(2)["mean_moments_ns"] == 16


@pytest.mark.parametrize(("reads", "count"), [(3, 1), (4, 2), (6, 2), (7, 3)])
def test_stages_over_equal_drives_are_those_of_one_drive(reads, count):
    # Whichever drives answer one read more: all have the same reads, which are rare.
    drawn = seeds.drawn(16)
    read_of = [(drawn.randrange(10**9), drawn.randrange(1_000_000)) for _ in range(60)]
    drives, wanted = [Drive(read_of)] * 3, Queries((reads,), stages=4, queries=300)
    found = moments.asked(wanted, drives, (800_000,), 7).figures(reads)
    naive = [stages_of(drives, at, [[count] * 3] * 4) for at in sampled(wanted, drives)]
    totals = sorted(sum(each) for each in naive)
    assert found["mean_moments_ns"] == sum(totals) / 300
    assert found["p90_moments_ns"] == totals[269]
    assert found["slow_moments"] == sum(max(each) > 800_000 for each in naive) / 300


@pytest.mark.parametrize("reads", [1, 2, 3, 5, 6])
def test_stages_begin_at_the_ends_of_the_drives_that_were_chosen(reads):
    # Most queries meet the first read behind a pause. It is slower the sooner it comes. Behind it
    # a drive has many reads that get slower with time, which tell when the second stage began.
    number, queries, pause = 4, 800, 90_000_000

    def reads_of(n: int) -> list[tuple[int, int]]:
        begin = pause + n * 1_000_000
        dense = [(at, (at - pause) // 10) for at in range(begin + 50_000, 100_000_000, 50_000)]
        return [(n, 1), (begin, 40_000 - n * 10_000), *dense, (100_000_000, 1)]

    drives = [Drive(reads_of(n)) for n in range(number)]
    wanted = Queries((reads,), stages=2, queries=queries)
    every, chosen = divmod(reads, number)
    ways = [
        [every + (at in with_more) for at in range(number)]
        for with_more in itertools.combinations(range(number), chosen)
    ]
    mean = variance = 0.0
    for moment in sampled(wanted, drives):
        totals = [
            sum(stages_of(drives, moment, list(both))) for both in itertools.product(ways, ways)
        ]
        expected = sum(totals) / len(totals)
        mean += expected / queries
        variance += sum((each - expected) ** 2 for each in totals) / len(totals) / queries**2
    found = moments.asked(wanted, drives, (FAST,), 7).figures(reads)
    assert abs(found["mean_moments_ns"] - mean) < 4 * math.sqrt(variance)


def test_stages_of_independent_drives_are_slow_as_independent_reads():
    # A read of a drive each 100 ms, which takes less than 1 ms.
    drawn, count, p, queries = seeds.drawn(18), 20_000, 0.03, 2_000

    def reads() -> list[tuple[int, int]]:
        latency = [SLOW if drawn.random() < p else FAST for _ in range(count)]
        return [(drawn.randrange(count * 10**8), ns) for ns in latency]

    drives, wanted = [Drive(reads()) for _ in range(8)], Queries((1, 4, 8), 3, queries)
    found = moments.asked(wanted, drives, (FAST,), 7)
    for k in wanted.reads:
        share = 1 - (1 - p) ** (3 * k)
        # The error of the sampled queries, and that of the reads, of which a query takes 3 k.
        error = math.sqrt(share * (1 - share) * (1 / queries + 3 * k / (8 * count)))
        assert abs(found.figures(k)["slow_moments"] - share) < 4 * error, k
        assert found.figures(k)["slow_apart"] == pytest.approx(share, rel=0.1)


def test_a_query_that_takes_longer_than_the_drives_have_is_refused():
    drives = [Drive([(at * 1_000, 100) for at in range(11)])] * 2
    # The first stage takes 100 to 1,100 ns, and each other one 1,000 ns.
    asked = moments.asked(Queries((2,), stages=9, queries=300), drives, (FAST,), 7)
    assert asked.figures(2)["mean_moments_ns"] == 900
    told = moments.asked(Queries((1, 2), stages=12, queries=300), drives, (FAST,), 7).why_not
    assert told is not None
    assert "a query of 12 stages takes longer than the time that the drives have in common" in told


def test_drives_that_never_read_together_are_told():
    early, late = Drive([(0, FAST), (10, FAST)]), Drive([(20, FAST), (30, FAST)])
    found = fanout(Queries((2,)), latency_of([FAST] * 4), [early, late], 7)
    assert found.why_no_moments is not None
    assert "time in common" in found.why_no_moments
    assert "slow_moments" not in found.rows[0]
    assert found.slow_at_moments is None
    assert "no reads" in str(moments.asked(Queries((2,)), [early, Drive([])], (FAST,), 7).why_not)
    assert "fewer reads" in str(moments.asked(Queries((9,)), [early, early], (FAST,), 7).why_not)


def test_a_fanout_is_the_same_each_time_and_as_plain_data():
    drives = drives_of(6, 15)
    latency = latency_of([ns for drive in drives for _, ns in drive.reads])
    wanted = Queries((1, 4, 9), stages=2, queries=200)
    first = fanout(wanted, latency, drives, 7)
    assert fanout(wanted, latency, drives, 7) == first
    assert fanout(wanted, latency, drives, 8) != first
    assert Fanout.from_dict(first.as_dict()) == first
    # One number of reads more changes no other row.
    more = fanout(Queries((1, 2, 4, 9), stages=2, queries=200), latency, drives, 7)
    assert [row for row in more.rows if row["reads"] != 2] == list(first.rows)
