"""Comparisons: no winner by chance, exactly 0 for the same, and known differences found."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import random
import re

import polars as pl
import pytest

import flashscape as fs
import seeds
from flashscape._flashscape import student_cdf, student_quantile
from flashscape.compare import (
    analysis,
    differences,
    drives,
    effects,
    kept,
    slowest,
    statistics,
    untested,
    wanted,
    words,
)
from flashscape.compare import picture as overlay
from flashscape.compare.difference import Difference
from flashscape.compare.statistics import Blocks, Estimate, Figure
from flashscape.report import contrast as contrasts
from flashscape.sweep import SilentSweep
from test_bad_input import refused

# ---- statistics against tables and slow definitions ------------------------------------


@pytest.mark.parametrize(
    ("probability", "freedom", "quantile"),
    [
        # Abramowitz and Stegun, table 26.10.
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.995, 4, 4.604),
        (0.975, 10, 2.228),
        (0.9995, 30, 3.646),
        (0.95, 120, 1.658),
    ],
)
def test_students_t_is_that_of_the_tables(probability, freedom, quantile):
    assert student_quantile(probability, freedom) == pytest.approx(quantile, abs=6e-4)
    assert student_cdf(quantile, freedom) == pytest.approx(probability, abs=1e-4)
    assert student_cdf(0, freedom) == 0.5


def test_students_t_refuses_what_has_no_answer():
    with pytest.raises(ValueError, match="0 degrees of freedom"):
        student_cdf(1.0, 0)
    with pytest.raises(ValueError, match=r"0\.4 is not from 0\.5 to 1"):
        student_quantile(0.4, 1)


def test_holm_on_a_worked_example():
    # Rising: 0.01 * 4, 0.013 * 3 (below the one before, so as that), 0.02 * 2, 0.3.
    assert statistics.holm([0.02, 0.01, 0.3, 0.013]) == pytest.approx([0.04, 0.04, 0.3, 0.04])
    assert statistics.holm([0.8, 0.9]) == [1.0, 1.0]
    assert statistics.holm([]) == []


def test_pairs_by_hand():
    # Mean 2, deviations -1, 0, 1: variance 1, standard error 1/sqrt(3).
    estimate = statistics.of_pairs(pairs_of(1.0, 2.0, 3.0))
    assert estimate == pytest.approx((2.0, 1 / math.sqrt(3), 2, 0.0))
    low, high = estimate.interval(0.95)
    assert (low, high) == pytest.approx((2 - 4.303 / 3**0.5, 2 + 4.303 / 3**0.5), abs=1e-3)
    assert statistics.of_pairs(pairs_of(1.0)) is None


def pairs_of(*differences, step=0.0):
    return [(Figure(10.0, step), Figure(10.0 + each, step)) for each in differences]


def test_an_interval_reaches_over_a_bias():
    # Without a bias it is Student's t; far from 0 only one side of the truth is left: the tables
    # have t(0.975; 9) = 2.262 and t(0.95; 9) = 1.833.
    assert Estimate(7.0, 2.0, 9).half(0.95) == pytest.approx(2 * 2.262, abs=2e-3)
    assert Estimate(7.0, 2.0, 9, -1000.0).half(0.95) == pytest.approx(1000 + 2 * 1.833, abs=2e-3)
    assert Estimate(7.0, 0.0, 9, -4.0).interval(0.95) == (3.0, 11.0)
    assert [Estimate(value, 0.0, 9, 4.0).p for value in (4.0, 5.0)] == [1.0, 0.0]


def test_a_probability_with_a_bias_agrees_with_the_interval():
    # For one degree of freedom the distribution is arc tangent's (Cauchy).
    estimate = Estimate(-3.0, 1.0, 1, 1.0)
    assert estimate.p == pytest.approx(1 - (math.atan(2) + math.atan(4)) / math.pi)
    for bias in (0.0, 0.3, -2.0, 40.0):
        for freedom in (1, 9, 39):
            half = Estimate(0.0, 1.5, freedom, bias).half(0.95)
            for side in (-1, 1):
                edge = Estimate(side * half, 1.5, freedom, bias)
                assert edge.p == pytest.approx(0.05)
                assert Estimate(0.99 * edge.value, *edge[1:]).p > 0.05
                assert Estimate(1.01 * edge.value, *edge[1:]).p < 0.05


def test_biases_of_independent_sides_are_subtracted():
    estimate = statistics.of_unpaired(Estimate(10.0, 3.0, 9, 2.0), Estimate(12.0, 4.0, 9, -1.0))
    assert estimate[:2] == pytest.approx((2.0, 5.0))
    assert estimate.bias == -3.0


def test_the_bias_is_the_distance_to_whole_blocks():
    # Ten blocks of ten with the values 0 to 9, then five requests more of 20.
    values = [float(at % 10) for at in range(100)] + [20.0] * 5
    blocks = Blocks([pl.Series(values)], [list(range(0, 101, 10))])
    assert blocks.mean().bias == pytest.approx((450 + 100) / 105 - 4.5)
    (median,) = blocks.quantiles([0.5])
    # Rank 53 of 105, and 50 of 100: of rising values, ten of each.
    assert (median.value, median.bias) == (5.0, 1.0)
    assert Blocks([pl.Series(values[:100])], [list(range(0, 101, 10))]).mean().bias == 0


def test_what_a_likely_difference_lacks():
    """Five seeds that differ by 1 to 5 give t = 3 / √(2.5 / 5) = 4.243, among ten figures."""
    estimate = statistics.of_pairs([(Figure(0.0), Figure(float(at))) for at in range(1, 6)])
    assert estimate.value / estimate.error == pytest.approx(3 / math.sqrt(0.5))
    # Two-sided 0.5 % by the tables: 4.773 at 5 degrees of freedom, 4.317 at 6. With six seeds t
    # is 3 √(6 / 2.5) = 4.648, with seven 5.020.
    assert effects.seeds_needed(estimate, 10, 0.05) == 7
    assert effects.seeds_needed(Estimate(1e-6, 1.0, 4), 10, 0.05) is None
    # At 30 degrees of freedom it is 3.030: t of 2.5 lacks a factor of (3.030 / 2.5)².
    times = effects.requests_needed(Estimate(2.5, 1.0, 30), 10, 0.05)
    assert times == pytest.approx((3.030 / 2.5) ** 2, rel=1e-3)
    assert effects.requests_needed(Estimate(1e-6, 1.0, 30), 10, 0.05) is None


@pytest.mark.parametrize(
    ("given", "share"),
    [("1%", 0.01), ("0.5 %", 0.005), (" 0 % ", 0.0), ("0", 0.0), (0.01, 0.01), (0, 0.0)],
)
def test_the_least_difference_that_counts(given, share):
    assert effects.least(given) == pytest.approx(share)


@pytest.mark.parametrize("given", ["1", "0.01", "x %", "100 %", "-1 %", 1.0, -0.1, True, None])
def test_what_is_no_least_difference(given):
    with pytest.raises(fs.ConfigError, match="least: "):
        effects.least(given)


def test_equal_differences_of_figures_that_go_in_steps_prove_nothing():
    # A step of 1 has a variance of 1/12, a difference of two 1/6, the mean of two of those 1/12.
    estimate = statistics.of_pairs(pairs_of(2.0, 2.0, step=1.0))
    assert estimate == pytest.approx((2.0, 12**-0.5, 1, 0.0))
    # For one degree of freedom the distribution is arc tangent's (Cauchy).
    assert estimate.p == pytest.approx(1 - 2 / math.pi * math.atan(2 * 12**0.5))
    assert statistics.of_pairs(pairs_of(2.0, 2.0)).p == 0


def test_a_quantile_among_few_values_is_known_to_a_step():
    # Of 51 and 49 values, both are within two standard deviations of the median's rank, 10.
    values = pl.Series([60_000] * 51 + [90_000] * 49)
    assert statistics.quantile(values, 0.5) == (60_000, 30_000)
    # Of 80 and 20 values, the median can only be the first; a nanosecond is the least step.
    values = pl.Series([90_000] * 20 + [60_000] * 80)
    assert statistics.quantile(values, 0.5) == (60_000, 1)


def test_quantiles_are_the_least_that_enough_samples_do_not_exceed():
    rng = seeds.drawn(3)
    values = [rng.randrange(1000) for _ in range(777)]
    for quantile in (0.001, 0.5, 0.9, 0.999, 1.0):
        enough = [v for v in values if sum(w <= v for w in values) >= quantile * len(values)]
        assert statistics.exact_quantiles(pl.Series(values), [quantile]) == [min(enough)]


def test_the_bootstrap_agrees_with_a_slow_one():
    """Standard error of a p90, from resamples that are built request by request."""
    rng = seeds.drawn(5)
    values = [rng.lognormvariate(12, 0.5) for _ in range(2000)]
    blocks = Blocks([pl.Series(values)])
    (estimate,) = blocks.quantiles([0.9])
    size = len(values) // blocks.count
    cut = [values[at : at + size] for at in range(0, len(values), size)]
    found = []
    for _ in range(400):
        drawn = sorted(v for block in rng.choices(cut, k=len(cut)) for v in block)
        found.append(drawn[math.ceil(0.9 * len(drawn)) - 1])
    mean = sum(found) / len(found)
    slow = math.sqrt(sum((f - mean) ** 2 for f in found) / len(found))
    # Each is known to 1/sqrt(2 * 400); the widening is at most that of the first test passed.
    assert estimate.error == pytest.approx(slow * math.sqrt(blocks.widening), rel=0.2)


def synthetic(rng: random.Random, count: int, memory: float) -> list[float]:
    """Latencies that resemble their predecessor: exp of an autoregression, median e^10."""
    step = math.sqrt(1 - memory * memory)
    value = rng.gauss(0, 1)
    latencies = []
    for _ in range(count):
        value = memory * value + step * rng.gauss(0, 1)
        latencies.append(math.exp(10 + 0.5 * value))
    return latencies


CASES = 60


@pytest.mark.parametrize("memory", [0.0, 0.9])
@pytest.mark.parametrize("paired", [True, False])
def test_a_winner_by_chance_is_as_rare_as_promised(memory, paired):
    """Both sides have one distribution; paired ones share half of their variation."""
    seed = seeds.seed(1000)
    wrong, undecided = 0, 0
    for case in range(CASES):
        rng = random.Random(seed + case)
        common = synthetic(rng, 4000, memory)
        sides = []
        for _ in range(2):
            own = synthetic(rng, 4000, memory)
            sides.append([a * b for a, b in zip(common, own, strict=True)] if paired else own)
        estimates = estimated([pl.Series(side) for side in sides], paired)
        undecided += estimates is None
        wrong += estimates is not None and min(statistics.holm([e.p for e in estimates])) < 0.05
    # 60 cases at 5 %: 3, with a standard deviation of 1.7; more than 8 has one chance in 500.
    assert wrong <= 8
    assert undecided <= 6


def estimated(columns, paired):
    quantiles, resamples = [0.5, 0.9, 0.99], 100
    if paired:
        blocks = Blocks(columns)
        if not blocks.are_enough:
            return None
        return [blocks.mean(), *blocks.quantiles(quantiles, resamples)]
    each = []
    for column in columns:
        blocks = Blocks([column])
        if not blocks.are_enough:
            return None
        each.append([blocks.mean(), *blocks.quantiles(quantiles, resamples)])
    return [statistics.of_unpaired(a, b) for a, b in zip(*each, strict=True)]


def test_intervals_cover_a_known_difference():
    """The other side is 10 % slower, which moves mean and every quantile by 10 %."""
    seed, covered, signs = seeds.seed(2000), [0, 0, 0], 0
    normal = [0.0, 1.2815515655446004]
    # Of exp(10 + X/2) the mean is exp(10 + 1/8), a quantile exp(10 + z/2).
    truths = [0.1 * math.exp(10.125), *(0.1 * math.exp(10 + z / 2) for z in normal)]
    for case in range(CASES):
        rng = random.Random(seed + case)
        one = synthetic(rng, 4000, 0.8)
        other = [1.1 * value for value in synthetic(rng, 4000, 0.8)]
        each = [Blocks([pl.Series(side)]) for side in (one, other)]
        if not all(blocks.are_enough for blocks in each):
            covered = [count + 1 for count in covered]
            continue
        pairs = [[b.mean(), *b.quantiles([0.5, 0.9], 100)] for b in each]
        for at, (a, b) in enumerate(zip(*pairs, strict=True)):
            estimate = statistics.of_unpaired(a, b)
            low, high = estimate.interval(0.95)
            covered[at] += low <= truths[at] <= high
            signs += estimate.value > 0
    # 57 are expected, with a standard deviation of 1.7.
    assert min(covered) >= 51, covered
    assert signs >= 2.7 * CASES


def test_a_shift_of_every_request_is_found_exactly():
    rng = seeds.drawn(7)
    one = [round(value) for value in synthetic(rng, 2000, 0.5)]
    blocks = Blocks([pl.Series(one), pl.Series([value + 500 for value in one])])
    assert blocks.mean().interval(0.95) == (500.0, 500.0)
    assert [estimate.value for estimate in blocks.quantiles([0.5, 0.99])] == [500.0, 500.0]


def waves(
    rng: random.Random, cycles: float, high: float = 10.0, spread: float = 0.2
) -> list[float]:
    """Latencies in cycles of 300 requests, 90 of which meet a wave of a height of its own."""
    heights = [high * rng.uniform(1 - spread, 1 + spread) for _ in range(math.ceil(cycles))]
    of = [heights[at // 300] if at % 300 < 90 else 1.0 for at in range(round(300 * cycles))]
    return [1000 * value * rng.uniform(0.9, 1.1) for value in of]


@pytest.mark.parametrize("cycles", [12.5, 20.0, 47.3])
def test_blocks_of_whole_cycles_cover_a_known_difference(cycles):
    """Waves of the other side are half as high again, so the mean differs by 0.3 * 5 times 1 us."""
    seed, covered, undecided = 4000, [0, 0], 0
    print(f"seeds {seed} to {seed + CASES - 1}")
    # p85 is the middle of a wave: the heights are even, and so is the noise.
    truths = [0.3 * 5000.0, 5000.0]
    for case in range(CASES):
        rng = random.Random(seed + case)
        columns = [pl.Series(waves(rng, cycles, high)) for high in (10.0, 15.0)]
        divisions = statistics.whole_cycles(range(len(columns[0])), 0, 300.0)
        each = [Blocks([column], divisions) for column in columns]
        if not all(blocks.are_enough for blocks in each):
            undecided += 1
            continue
        pairs = [[b.mean(), *b.quantiles([0.85], 100)] for b in each]
        for at, (a, b) in enumerate(zip(*pairs, strict=True)):
            low, high = statistics.of_unpaired(a, b).interval(0.95)
            covered[at] += low <= truths[at] <= high
    decided = CASES - undecided
    # 95 % are expected; 60 of them have a standard deviation of 1.7.
    assert min(covered) >= 0.85 * decided, (covered, decided)
    assert undecided <= CASES // 5


def test_sides_that_end_elsewhere_in_their_cycle_are_not_called_different():
    """12 cycles, and 12.4 with a whole wave more, which no block has."""
    seed, wrong, decided = 5000, [0, 0], 0
    print(f"seeds {seed} to {seed + CASES - 1}")
    for case in range(CASES):
        rng = random.Random(seed + case)
        each = []
        for cycles in (12.0, 12.4):
            column = pl.Series(waves(rng, cycles, spread=0.05))
            # A last moment at the very end, so that all 12 cycles are whole.
            edges = statistics.whole_cycles([*range(len(column)), len(column)], 0, 300.0)
            each.append(Blocks([column], edges))
        if not all(blocks.are_enough for blocks in each):
            continue
        decided += 1
        pairs = [[b.mean(), *b.quantiles([0.85], 100)] for b in each]
        for at, (a, b) in enumerate(zip(*pairs, strict=True)):
            wrong[at] += statistics.of_unpaired(a, b).p < 0.05
    # Of 60 cases at 5 %, more than 8 are wrong with one chance in 500.
    assert max(wrong) <= 8, (wrong, decided)
    assert decided >= 0.8 * CASES


def test_whole_cycles_are_divided_alike():
    moments = list(range(0, 1000, 2))
    # 47 cycles: 23 times two and 15 times three, and the rest in no block; nine are too few.
    divisions = statistics.whole_cycles(moments, 0, 21.0)
    assert [len(edges) - 1 for edges in divisions] == [23, 15]
    assert [edges[-1] for edges in divisions] == [23 * 2 * 21 // 2, math.ceil(15 * 3 * 21 / 2)]
    assert statistics.whole_cycles(moments, 0, 110.0) == []
    assert statistics.whole_cycles([], 0, 110.0) == []


def test_too_little_or_too_slow_has_no_interval():
    rng = seeds.drawn(8)
    assert Blocks([pl.Series(synthetic(rng, 90, 0.0))]).mean() is None
    drifting = [float(at) for at in range(2000)]
    assert Blocks([pl.Series(drifting)]).quantiles([0.5]) is None


# ---- runs -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def open_loop(small) -> dict:
    config = copy.deepcopy(small)
    arrivals = {"process": "poisson", "rate": "6 kIOPS"}
    config["workload"] = [{"name": "host", "reads": "70 %", "arrivals": arrivals}]
    config["run"] = {"requests": 12_000, "warm_up": {"requests": 500}}
    return config


@pytest.fixture(scope="module")
def settled(open_loop) -> dict:
    """Ten times as many requests: two GC cycles without a log do not tell means apart."""
    return open_loop | {"run": {"requests": 120_000, "warm_up": {"requests": 500}}}


def varied(config: dict, **gc) -> fs.Experiment:
    paths = {f"drive.ftl.gc.{key}": value for key, value in gc.items()}
    return fs.Experiment.from_dict(config).replace(paths)


@pytest.fixture(scope="module")
def exclusive(open_loop, tmp_path_factory) -> tuple[fs.Comparison, object]:
    """GC that lets reads pass, compared with GC that keeps its unit until it is done."""
    out = tmp_path_factory.mktemp("compare") / "out"
    return fs.compare(open_loop, varied(open_loop, preemptible=False), out=out), out


def test_the_same_configuration_differs_by_exactly_nothing(open_loop):
    compared = fs.compare(open_loop, open_loop)
    (contrast,) = compared.contrasts
    assert contrast.are_identical
    assert contrast.verdict == "A and B are the same run, to the last completion."
    assert contrast.arrivals.likeness == "same"
    assert compared.winner is None
    tested = [row for row in contrast.differences if row.estimate]
    assert len(tested) >= 8
    assert all(row.difference == 0 and row.interval == (0, 0) for row in tested)
    assert all(sum(tail.change_ns.values()) == 0 for tail in contrast.tails)
    assert contrast.untested == []


def test_a_known_difference_is_found_with_sign_and_cause(exclusive):
    """A read that finds its unit kept for a whole collection waits for all of it."""
    compared, _ = exclusive
    (contrast,) = compared.contrasts
    assert contrast.arrivals.sentence == "The same 11,500 requests at the same moments."
    row = contrast.difference("host", "read", "p99")
    assert row.method == "paired blocks"
    assert row.interval[0] > 1e6
    assert row.winner == "baseline"
    assert compared.winner is compared.sides[0]
    assert compared.winner.label == "A"
    (tail,) = (each for each in contrast.tails if each.kind == "read")
    main = next(iter(tail.change_ns))
    assert main.name in ("GC programs", "GC reads", "erases")
    said = next(s for s in contrast.sentences if s.startswith("host read: "))
    assert "rises from" in said
    assert "more waiting behind" in said
    with pytest.raises(KeyError):
        contrast.difference("host", "read", "p12")


def test_the_difference_is_that_of_the_logs(exclusive):
    """Request by request, by hand."""
    compared, out = exclusive
    logs = [fs.read_requests(out / side / "requests.parquet").collect() for side in "AB"]
    reads = [log.filter(pl.col("kind") == "read").sort("index") for log in logs]
    assert reads[0]["index"].to_list() == reads[1]["index"].to_list()
    (contrast,) = compared.contrasts
    mean = contrast.difference("host", "read", "mean")
    apart = [b - a for a, b in zip(*(r["latency_ns"].to_list() for r in reads), strict=True)]
    assert mean.difference == pytest.approx(sum(apart) / len(apart))
    p99 = contrast.difference("host", "read", "p99")
    rank = math.ceil(0.99 * len(apart)) - 1
    exact = [r["latency_ns"].sort()[rank] for r in reads]
    assert (p99.baseline, p99.other) == tuple(exact)
    assert p99.difference == exact[1] - exact[0]
    assert p99.samples == (len(apart) - rank,) * 2


def test_results_of_earlier_runs_with_logs_and_without(exclusive, flashscape):
    compared, out = exclusive
    again = fs.compare(out / "A", out / "B")
    # Earlier results have the names of their directories.
    names = ("baseline_name", "other_name")
    assert again.frame.drop(names).equals(compared.frame.drop(names))
    one, other = fs.Result.load(out / "A"), fs.Result.load(out / "B")
    one.log = None
    (contrast,) = fs.compare(one, other).contrasts
    assert contrast.arrivals.likeness == "same"
    assert contrast.arrivals.sentence.endswith("by the configurations.")
    by_request = compared.contrasts[0].difference("host", "read", "mean")
    mean = contrast.difference("host", "read", "mean")
    assert mean.method == "intervals of the means"
    assert mean.difference == pytest.approx(by_request.difference)
    p99 = contrast.difference("host", "read", "p99")
    assert p99.interval is None
    assert p99.winner is None


def test_earlier_results_are_named_by_their_directories(exclusive):
    _, out = exclusive
    again = fs.compare(out / "A", str(out / "B" / "summary.json"))
    assert [side.name for side in again.sides] == [str(out / "A"), str(out / "B")]
    named = fs.compare(out / "A", out / "B", names=["one", "other"])
    assert [side.name for side in named.sides] == ["one", "other"]


def test_tables_and_explanations_take_what_they_can(exclusive):
    compared, out = exclusive
    tables = fs.tables(compared)
    told = " ".join(str(tables).split())
    assert compared.verdicts[0] in told
    assert "figure A B difference" in told
    assert '<td style="text-align:left">p99</td>' in tables._repr_html_()
    with pytest.raises(fs.ConfigError, match=r"give them to fs\.compare"):
        fs.tables(compared, percentiles="50")
    for of in (fs.tables, fs.explain):
        with pytest.raises(fs.OutputError, match="out: is a comparison; name one of the runs"):
            of(out)
    with pytest.raises(fs.ConfigError, match="of: 3 is not the Result of a run, a Sweep, a"):
        fs.tables(3)
    with pytest.raises(TypeError, match="int is no result; give what fs"):
        fs.explain(3)
    with pytest.raises(TypeError, match=r"several runs; explain one of them.*sides\[0\]"):
        fs.explain(compared)
    of_run = fs.explain(compared.sides[0].results[0])
    for place in (out / "A", str(out / "A"), out / "A" / "summary.json"):
        assert str(fs.explain(place)) == str(of_run)


def test_what_is_written_is_what_was_found(exclusive):
    compared, out = exclusive
    names = {file.name for file in out.iterdir()}
    assert names == {"A", "B", "comparison.json"}
    document = json.loads((out / "comparison.json").read_text())
    assert document == compared.to_dict()
    assert document["contrasts"][0]["winner"] == "A"
    assert document["tests"] == compared.frame["p_corrected"].is_not_null().sum()
    assert len(compared.frame) == len(document["contrasts"][0]["differences"])
    assert "A wins" in compared._repr_html_()


def test_seeds_pair_runs(open_loop):
    open_loop = open_loop | {"run": {"requests": 6000, "warm_up": {"requests": 500}}}
    compared = fs.compare(open_loop, varied(open_loop, preemptible=False), seeds=3)
    assert [side.seeds for side in compared.sides] == [(1, 2, 3), (1, 2, 3)]
    (contrast,) = compared.contrasts
    row = contrast.difference("host", "read", "mean")
    runs = [
        [fs.run({**open_loop, "drive": drive, "seed": seed}).read.mean for seed in (1, 2, 3)]
        for drive in (open_loop["drive"], _unpreemptible_drive(open_loop))
    ]
    assert row.difference == pytest.approx(sum(runs[1]) / 3 - sum(runs[0]) / 3)
    assert row.method == "seeds"
    assert row.estimate.freedom == 2
    sides = [side.results for side in (contrast.baseline, contrast.other)]
    assert drives.of_drives(*sides)[0].method == "seeds"


def test_wear_is_judged_only_if_write_amplification_is_steady(open_loop, tmp_path):
    """The verdicts of the runs are set by hand, as only long runs are steady."""
    exclusive = varied(open_loop, preemptible=False)
    sides = fs.compare(open_loop, exclusive, seeds=2, out=tmp_path / "out").sides
    steady = {"reached": True, "from_ns": 0, "reason": None}
    drifting = {"reached": False, "from_ns": None, "reason": "still drifting until 1 s of 2 s"}

    def compared(*verdicts: dict) -> fs.Comparison:
        for result, verdict in zip(sides[0].results + sides[1].results, verdicts, strict=True):
            result.summary["steady_state"] = {"latency": steady, "write_amplification": verdict}
        rules = analysis.Rules(wanted.default(), 0.05, 0.0)
        found = analysis.contrasts(sides, rules, lambda _share: None)
        return fs.Comparison(sides, found, 0.05)

    whole = compared(*[steady] * 4)
    contrast = whole.contrasts[0]
    wear = [row for row in contrast.differences if not row.initiator]
    assert [row.figure for row in wear] == ["write_amplification", "erases"]
    assert all(row.corrected is not None for row in wear)
    hosts = sum(row.corrected is not None for row in contrast.differences) - 2
    assert f"{hosts + 2} differences are tested together ({hosts} of hosts, 2 of" in whole.method
    assert "steady" not in " ".join(contrast.sentences)

    part = compared(steady, steady, steady, drifting)
    contrast = part.contrasts[0]
    wear = [row for row in contrast.differences if not row.initiator]
    why = "write amplification is not known to be steady in B (1 of 2 seeds)"
    assert [(row.unjudged, row.winner, row.corrected) for row in wear] == [(why, None, None)] * 2
    (found,) = (each for each in contrast.untested if each.why == why)
    assert (found.names, found.remedy) == (
        ("drive.write_amplification", "drive.erases"),
        "run longer (a larger run.requests)",
    )
    told = "Write amplification is not known to be steady in B (1 of 2 seeds): still drifting until"
    assert contrast.sentences[-1] == f"{told} 1 s of 2 s; run longer (a larger run.requests)."
    assert f"{hosts} differences are tested together: " in part.method
    kept_verdicts = part.to_dict()["sides"][1]["steady_state"]
    assert [each["write_amplification"] for each in kept_verdicts] == [steady, drifting]


def test_only_a_flag_makes_a_remedy_a_longer_run():
    reason = untested._Reason("it rises", "run longer, with fewer writes")
    assert untested._completed(reason, None) == reason.remedy


def test_a_reason_of_several_figures_and_sides_is_told_once(open_loop):
    """The verdicts of the runs are set by hand; the sides differ in numbers only."""
    sides = fs.compare(open_loop, varied(open_loop, preemptible=False)).sides

    def told(*reasons: str) -> list[str]:
        for side, reason in zip(sides, reasons, strict=True):
            verdict = {"reached": False, "from_ns": None, "reason": reason}
            (result,) = side.results
            result.summary["steady_state"] = {"latency": verdict, "write_amplification": verdict}
        rules = analysis.Rules(wanted.default(), 0.05, 0.0)
        (contrast,) = analysis.contrasts(sides, rules, lambda _share: None)
        return [each for each in contrast.sentences if "known to be steady in" in each]

    both = "Write amplification and latency are not known to be steady in"
    remedy = "run longer (a larger run.requests)."
    assert told("it rises", "it rises") == [f"{both} A and B: it rises; {remedy}"]
    assert told("1.5 cycles of 616 ms", "1.4 cycles of 1.2 s") == [
        f"{both} A and B: in A, 1.5 cycles of 616 ms; {remedy}"
    ]
    assert told("it rises", "it falls") == [
        f"{both} A: it rises; {remedy}",
        f"{both} B: it falls; {remedy}",
    ]


def test_latencies_that_are_not_known_to_be_steady_are_told_and_judged(exclusive):
    compared, _ = exclusive
    (contrast,) = compared.contrasts
    verdicts = [side.results[0].summary["steady_state"]["latency"] for side in compared.sides]
    assert [each["reached"] for each in verdicts].count(False) > 0
    for side, verdict in zip(compared.sides, verdicts, strict=True):
        parts = [each.partition(" not known to be steady in ") for each in contrast.sentences]
        told = [whose.partition(":")[0] for what, _, whose in parts if "latency" in what.lower()]
        assert any(side.label in whose.split(" and ") for whose in told) != verdict["reached"]
    assert contrast.sentences[-1] == "Differences of latency hold for runs of this length only."
    assert contrast.winner is contrast.baseline


def test_a_difference_of_nothing_is_shown_as_nothing():
    assert words.signed("mean", 0.003) == words.signed("mean", -0.003) == "0"
    assert words.signed("mean", -38_000.0) == "−38 µs"
    assert words.signed("write_amplification", 0.0004) == "0"
    for error, shown in ((0.0001, "0"), (1000.0, "± 2.78 µs")):
        # Student's t of four degrees of freedom is 2.776 at 95 %.
        estimate = statistics.Estimate(0.0, error, 4)
        row = Difference("host", "read", "mean", 5e3, 5e3, (9, 9), "seeds", estimate)
        assert contrasts._interval(row) == shown


def judged(figure: str, baseline: float, change: float, error: float, initiator="host"):
    """A figure that changes by so much, with 100 degrees of freedom."""
    kind = "read" if initiator else ""
    estimate = Estimate(change, error, 100)
    values = (baseline, baseline + change, (1000, 1000))
    return Difference(initiator, kind, figure, *values, "paired blocks", estimate)


def verdict_of(contrast, rows, least=0.0, **more):
    corrected = differences.corrected(rows, 0.05, wanted.default(), least)
    return dataclasses.replace(contrast, differences=corrected, **more)


def test_what_is_significant_alone_is_never_called_no_difference(exclusive):
    """At 100 degrees of freedom t of 2.5 has p = 0.0140, and 0.1400 among ten figures."""
    (contrast,) = exclusive[0].contrasts
    rows = [judged("mean", 1e6, 25_000.0, 10_000.0)]
    rows += [judged(f"p{at}", 1e6, 0.0, 10_000.0) for at in range(1, 10)]
    found = verdict_of(contrast, rows)
    first = found.differences[0]
    assert first.estimate.p == pytest.approx(0.0140, rel=0.01)
    assert first.corrected == pytest.approx(0.140, rel=0.01)
    assert first.outcome == "open"
    assert found.winner is None
    # 2.871 is t for 0.25 % at 100 degrees of freedom: (2.871 / 2.5)² = 1.3 times as many requests.
    assert found.verdict.startswith(
        "Undecided: host read mean rises from 1 ms to 1.02 ms (+25 µs; 95 %: +5.16 µs to "
        "+44.8 µs), but among so many figures this may be chance (p 0.14, corrected); "
        "it takes some 1.3 times as many requests, or several seeds to prove a difference of this "
        "size"
    )
    told = " ".join([found.verdict, *found.sentences, *(r[-1] for r in rows_of(found))])
    assert "undecided: the mean rises" in told
    assert "no significant difference in the other tested figures" in told
    assert "No significant difference" not in told
    # Alone it is significant.
    assert verdict_of(contrast, rows[:1]).winner is contrast.baseline
    # The other side wins in spite of it, and not without a word about it.
    beside = verdict_of(contrast, [*rows, judged("p99", 1e6, -9e5, 1e4)])
    assert beside.winner is contrast.other
    assert "Undecided, and better in A: host read mean." in beside.verdict
    # A figure of the drive is no different.
    drive = verdict_of(contrast, [*rows[1:], judged("erases", 100.0, 25.0, 10.0, initiator="")])
    assert drive.differences[-1].outcome == "open"
    assert any(
        "Erases: 100 in A, 125 in B, undecided (+5.2 to +44.8)" in s for s in drive.sentences
    )


def rows_of(contrast):
    return contrasts.differences(contrast).rows


def test_a_difference_that_is_too_small_makes_no_side_better(exclusive):
    """A mean of 80 µs that rises by 0.16 ns, known to 0.01 ns, beside a tail that falls by 9 %."""
    (contrast,) = exclusive[0].contrasts
    tiny = judged("mean", 80_000.0, 0.16, 0.01)
    rows = [tiny, judged("p99", 1e6, -90_000.0, 10_000.0)]
    mixed = verdict_of(contrast, rows)
    assert mixed.verdict.startswith("Mixed: 2 of 2 tested figures")
    found = verdict_of(contrast, rows, 0.001)
    assert found.winner is found.other
    assert "1 of 2 tested figures of hosts differs significantly (host read p99)" in found.verdict
    assert "1 differs by less than 0.1 %" in found.verdict
    assert found.differences[0].is_significant
    assert found.differences[0].outcome == "small"
    assert rows_of(found)[0][-1] == "too small"
    alone = verdict_of(contrast, rows[:1], 0.001)
    assert alone.winner is None
    assert alone.verdict.startswith(
        "No difference of 0.1 % or more in 1 tested figure of hosts; 1 differs by less than 0.1 %"
    )
    # No figure below a nanosecond is told of microseconds.
    assert rows_of(found)[0][5:7] == ("0", "0 to 0")
    assert rows_of(verdict_of(contrast, [judged("mean", 800.0, 0.16, 0.01)]))[0][5] == "+0.16 ns"
    # 1 % of 1 ms is 10 µs: an interval of 5 to 9 µs lies below, one of 5 to 45 µs may not.
    for change, error, outcome in ((7e3, 1e3, "small"), (25e3, 10e3, "open"), (8e3, 3.5e3, "open")):
        many = [judged("mean", 1e6, change, error)]
        many += [judged(f"p{at}", 1e6, 0.0, 1e4) for at in range(1, 10)]
        assert verdict_of(contrast, many, 0.01).differences[0].outcome == outcome


def test_the_best_of_several_sides_wins_against_each(exclusive):
    (contrast,) = exclusive[0].contrasts
    a, b = exclusive[0].sides
    c = dataclasses.replace(b, label="C")

    def pair(one, other, change):
        rows = [judged("mean", 1e6, change, 1e3)]
        return verdict_of(contrast, rows, baseline=one, other=other)

    better = [pair(a, b, -1e5), pair(a, c, -5e4), pair(b, c, 5e4)]
    compared = fs.Comparison([a, b, c], better, 0.05)
    assert compared.winner is b
    assert compared.headline == "B wins against each of the others."
    ring = [pair(a, b, -1e5), pair(a, c, 5e4), pair(b, c, -5e4)]
    compared = fs.Comparison([a, b, c], ring, 0.05)
    assert compared.winner is None
    told = "No side wins against all others: of 3 pairs B wins 1, A wins 1, C wins 1."
    assert compared.headline == told
    # Without the pair of B and C nobody knows.
    assert fs.Comparison([a, b, c], better[:2], 0.05).winner is None


@pytest.mark.parametrize("starving", ["A", "B"])
@pytest.mark.parametrize("seeds", [1, 2])
def test_no_winner_is_named_beside_a_run_that_starved(open_loop, starving, seeds):
    """Unanswered requests are in no latency, so the remaining ones look too good."""
    exclusive = varied(open_loop, preemptible=False)
    # The slow side would lose; its limit is shorter than an erase, so it starves soon.
    ended = exclusive.replace({"run.starvation.limit": "1 ms"})
    sides = {"A": (ended, open_loop), "B": (open_loop, ended)}[starving]
    compared = fs.compare(*sides, seeds=seeds)
    (contrast,) = compared.contrasts
    which = starving if seeds == 1 else f"{starving} (seed 1)"
    assert contrast.verdict.startswith(f"No winner: {which} was ended by starvation")
    assert compared.winner is None
    assert compared.method == "Nothing is tested."
    assert all(row.winner is None and row.interval is None for row in contrast.differences)
    # Each run ends at the first starving request, with those of the same time.
    requests = "1 request" if seeds == 1 else f"{seeds} requests"
    assert contrast.sentences[0].startswith(f"{requests} of {starving} starved (")
    assert contrast.sentences[0].endswith("(run.starvation.limit: 1 ms).")


def test_requests_that_starved_and_were_answered_do_not_keep_from_comparing(open_loop):
    slow = varied(open_loop, preemptible=False)
    told = slow.replace({"run.starvation": {"limit": "1 ms", "then": "report"}})
    (contrast,) = fs.compare(open_loop, told).contrasts
    assert contrast.winner is contrast.baseline
    starved = contrast.other.results[0].starvation
    assert starved["outstanding"] == []
    assert starved["requests"] > 1
    assert contrast.sentences[0].startswith(f"{starved['requests']:,} requests of B starved")


def test_a_starved_request_without_an_answer_keeps_from_comparing(settled):
    """Runs limited in time that end before their starved requests do."""
    one, other = fs.run(settled), fs.run(varied(settled, preemptible=False))
    limit = {"limit_ns": 1000, "requests": 1, "ended_run": False}
    for oldest_ns, partial in ((999, False), (1000, True)):
        waiting = {"initiator": "host", "kind": "write", "requests": 1, "oldest_ns": oldest_ns}
        other.summary["starvation"] = {**limit, "outstanding": [waiting]}
        (contrast,) = fs.compare(one, other).contrasts
        assert (contrast.partial is not None) is partial
        assert (contrast.winner is None) is partial


def test_several_sides_are_compared_in_pairs(open_loop):
    open_loop = open_loop | {"run": {"requests": 3000}}
    sides = (open_loop, varied(open_loop, preemptible=False), open_loop)
    compared = fs.compare(*sides)
    assert [side.label for side in compared.sides] == ["A", "B", "C"]
    pairs = [(c.baseline.label, c.other.label) for c in compared.contrasts]
    assert pairs == [("A", "B"), ("A", "C"), ("B", "C")]
    assert compared.winner is None
    assert compared.contrasts[1].are_identical
    assert compared.verdicts[1].startswith("C against A: A and C are the same run")
    # The same runs in turn: what B loses to A it loses to C.
    one, other = (
        {row.figure: row.difference for row in compared.contrasts[at].differences} for at in (0, 2)
    )
    assert one == {figure: -difference for figure, difference in other.items()}
    first = fs.compare(*sides, pairs="first")
    assert [c.other.label for c in first.contrasts] == ["B", "C"]
    assert first.headline is None
    with pytest.raises(fs.ConfigError, match='\'some\' is not "all" or "first"'):
        fs.compare(*sides, pairs="some")
    # Corrected together: each probability counts all tests of both contrasts.
    tested = [row for c in compared.contrasts for row in c.differences if row.estimate]
    assert compared.tests == len(tested)
    least = min(tested, key=lambda row: row.estimate.p)
    assert least.corrected == pytest.approx(min(1.0, least.estimate.p * len(tested)))


def _unpreemptible_drive(config: dict) -> dict:
    drive = copy.deepcopy(config["drive"])
    drive["ftl"]["gc"] = {**drive["ftl"]["gc"], "preemptible": False}
    return drive


def test_other_seeds_of_one_configuration_have_no_winner(open_loop):
    """Different arrivals are reported, runs are not paired, and no side wins."""
    open_loop = open_loop | {"run": {"requests": 6000}}
    wins = 0
    for seed in range(1, 9, 2):
        print(f"seeds {seed} and {seed + 1}")
        compared = fs.compare(open_loop | {"seed": seed}, open_loop | {"seed": seed + 1})
        (contrast,) = compared.contrasts
        assert contrast.arrivals.likeness == "different"
        assert {row.method for row in contrast.differences} <= {"blocks", "none"}
        wins += compared.winner is not None
    assert wins <= 1


def test_closed_loops_have_the_same_commands_at_other_moments(config):
    config["workload"][0]["reads"] = "100 %"
    other = copy.deepcopy(config)
    other["drive"]["nand"] = {"read": ["80 us"]}
    (contrast,) = fs.compare(config, other).contrasts
    assert contrast.arrivals.likeness == "commands"
    assert contrast.arrivals.are_paired
    assert "a closed loop each arrives when an earlier one has ended" in contrast.arrivals.sentence
    # Flash reads take 30 us longer, and wait for others that do so, too.
    row = contrast.difference("host", "read", "p50")
    assert row.difference >= 30_000
    assert row.winner == "baseline"


def test_drives_of_other_capacities_get_other_addresses(config):
    other = copy.deepcopy(config)
    other["drive"]["ftl"]["over_provisioning"] = {"exported": "140 MiB"}
    (contrast,) = fs.compare(config, other).contrasts
    assert contrast.arrivals.likeness == "different"
    assert "have another kind, address or length" in contrast.arrivals.sentence


@pytest.mark.parametrize(
    ("reads", "requests", "fill"), [(70, 800, "random"), (0, 600, "sequential")]
)
def test_other_seeds_of_one_configuration_have_no_winner_over_seeds(
    reads, requests, fill, small, tmp_path
):
    """Latencies of few values, whose percentiles and means tie: equal differences prove nothing."""
    config = copy.deepcopy(small)
    config["precondition"] = {"fill": fill}
    config["workload"] = [{"name": "host", "reads": f"{reads} %", "queue_depth": 4}]
    config["run"] = {"requests": requests}
    experiment = fs.Experiment.from_dict(config)
    cases = 24
    print(f"seeds 1 to {4 * cases}")
    wrong = 0
    for case in range(cases):
        runs = [
            fs.run(experiment.replace(seed=seed), requests=tmp_path / f"{seed}.parquet")
            for seed in range(4 * case + 1, 4 * case + 5)
        ]
        rows = differences.corrected(differences.of_seeds(runs[:2], runs[2:]), 0.05)
        wrong += any(row.is_significant for row in rows)
        # Some 300 tests by two seeds: by chance alone one has a p below a three-hundredth.
        assert all(row.estimate.p > 1e-4 for row in rows)
    # 24 cases at 5 %: 1.2, with a standard deviation of 1.1; more than 5 has one chance in 500.
    assert wrong <= 5


def test_means_without_logs_have_the_intervals_of_the_summaries(open_loop):
    """The half-width already has Student's factor for the degrees of freedom that are with it."""
    one, other = fs.run(open_loop), fs.run(varied(open_loop, preemptible=False))
    (contrast,) = fs.compare(one, other).contrasts
    row = contrast.difference("host", "read", "mean")
    errors, freedoms = [], []
    for run in (one, other):
        [latency] = [f["latency_ns"] for name, kind, f in run.groups() if kind == "read"]
        freedoms.append(latency["mean_freedom"])
        errors.append(latency["mean_ci95"] / student_quantile(0.975, freedoms[-1]))
    assert row.estimate.error == pytest.approx(math.hypot(*errors), rel=1e-9)
    assert row.estimate.freedom >= min(freedoms)


# ---- what is tested, and what counts ------------------------------------------------------


def test_untested_figures_are_said_first_and_never_called_alike(open_loop, flashscape, tmp_path):
    """Without logs a median has no error, even if values are equal."""
    for name, seed in (("one", 1), ("other", 2)):
        fs.run(open_loop | {"seed": seed, "record": {"slowest": 20}}, out=tmp_path / name)
    (contrast,) = fs.compare(tmp_path / "one", tmp_path / "other").contrasts
    p50 = contrast.difference("host", "read", "p50")
    assert p50.corrected is None
    named = [each for found in contrast.untested for each in found.names]
    tested = [row for row in contrast.differences if row.corrected is not None]
    # The tables of a run show p99.99; it has too few samples for a row here, and is said first.
    few = contrast.untested[0]
    absent = [f"host.{kind}.{p}" for kind in ("read", "write") for p in ("p99_9", "p99_99")]
    assert list(few.names) == absent
    assert few.why == "only 1 to 9 requests are at or beyond each; a test needs 10"
    rows = len(contrast.differences) - len(tested)
    assert len(named) == len(set(named)) == rows + len(absent)
    assert "host.read.p50" in named
    assert "drive.erases" in named
    (logs,) = [found for found in contrast.untested if "host.read.p50" in found.names]
    assert logs.why == "A and B have no log of their requests"
    assert "flashscape.run('FILE', out=..., requests=...)" in logs.remedy
    # The table is too short for p99: more than its requests are needed.
    (least,) = re.findall(r"from p99 on, a record\.slowest of (\d+) or more", logs.remedy)
    p99 = contrast.difference("host", "read", "p99")
    assert max(p99.samples) < int(least) < 2 * max(p99.samples)
    for told in contrast.sentences:
        alike = told.partition("no significant difference")[2].partition("not tested")[0]
        for row in contrast.differences:
            if row.corrected is None and told.startswith(f"{row.initiator} {row.kind}:"):
                assert f"{row.figure.replace('_', '.')} " not in alike
    hosts = sum(not each.startswith("drive.") for each in named)
    assert f"{hosts} more of hosts could not be tested" in contrast.verdict
    ended = flashscape("compare", "one", "other")
    said = " ".join(ended.out.split())
    assert said.index("Not tested, so") < said.index(contrast.verdict)


def test_a_winner_is_not_named_without_what_speaks_against_it(settled):
    """The mean of one side is better, and an untested percentile of the other."""
    one, other = fs.run(settled), fs.run(varied(settled, preemptible=False))
    [read] = [figures for name, kind, figures in other.groups() if kind == "read"]
    read["latency_ns"]["p50"] = 1
    (contrast,) = fs.compare(one, other).contrasts
    assert contrast.winner is contrast.baseline
    assert "Not tested, and better in B: host read p50" in contrast.verdict


def test_the_verdict_is_about_the_figures_that_count(open_loop):
    exclusive = varied(open_loop, preemptible=False)
    everything = fs.compare(open_loop, exclusive).contrasts[0]
    compared = fs.compare(open_loop, exclusive, figures=["host.read.p99.0", "drive.erases"])
    (contrast,) = compared.contrasts
    far = contrast.difference("host", "read", "p99")
    # It is tested alone, so its probability is not corrected.
    assert far.corrected == far.estimate.p
    assert compared.tests == 1
    assert [row.figure for row in contrast.differences if row.counts] == ["p99", "erases"]
    won = "A wins: 1 of 1 tested figure differs significantly (host read p99), in its favour"
    assert contrast.verdict.startswith(won)
    assert "; 1 more could not be tested." in contrast.verdict
    assert [each.names for each in contrast.untested] == [("drive.erases",)]
    assert compared.to_dict()["figures"] == ["host.read.p99", "drive.erases"]
    # Values and intervals of other figures are unchanged.
    before, after = (c.difference("host", "read", "p50") for c in (everything, contrast))
    assert (before.interval, before.baseline) == (after.interval, after.baseline)
    assert after.corrected is None


def test_a_percentile_that_is_chosen_is_that_of_the_requests(open_loop, tmp_path):
    compared = fs.compare(
        open_loop, open_loop | {"seed": 2}, percentiles=(99.5, 50, 99.99), out=tmp_path / "out"
    )
    (contrast,) = compared.contrasts
    reads = [row.figure for row in contrast.differences if row.kind == "read"]
    # In rising order; p99.99 of some 8,000 reads has too few samples: shown, marked, untested.
    assert reads == ["mean", "p50", "p99_5", "p99_99"]
    far = contrast.difference("host", "read", "p99_99")
    assert (far.method, far.estimate, far.corrected) == ("none", None, None)
    assert far.fewest == far.samples == (1, 1)
    table = contrasts.differences(contrast)
    few = "in brackets: samples at or beyond the percentile, ! below 10: not tested"
    equal = "±: equal values; a difference up to this size is not ruled out"
    assert table.title == f"{equal}; {few}"
    assert [row[6][0] == "±" for row in table.rows if row[5] == "0" and row[6] != "0"]
    (row,) = (row for row in table.rows if row[1:3] == ("read", "p99.99"))
    assert [cell.endswith(" (1!)") for cell in row[3:5]] == [True, True]
    assert row[-3] == "not tested"
    (few,) = [each for each in contrast.untested if "host.read.p99_99" in each.names]
    assert "a test needs 10" in few.why
    log = fs.read_requests(tmp_path / "out/A/requests.parquet").filter(pl.col("kind") == "read")
    rising = sorted(log.collect()["latency_ns"].to_list())
    exact = rising[math.ceil(0.995 * len(rising)) - 1]
    assert contrast.difference("host", "read", "p99_5").baseline == exact
    # From the histogram, whose buckets are at most 0.1 % wide.
    one, other = (fs.run(open_loop | {"seed": seed}) for seed in (1, 2))
    (kept,) = fs.compare(one, other, figures=["host.read.p99_5"]).contrasts
    value = kept.difference("host", "read", "p99_5").baseline
    assert exact <= value <= exact * 1.001


class Never(SilentSweep):
    """Fails if a run is about to begin."""

    def begins(self, begin):
        raise AssertionError(begin.to_run)


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        (["host.reed.p99"], r"did you mean host\.read\.p99\?"),
        (["hots.read.mean"], r"did you mean host\.read\.mean\?"),
        (["host.read.p100"], "there is no such figure"),
        (["erases"], r"did you mean drive\.erases\?"),
        ("host.read.p99", "figures: .* is not a list of texts"),
    ],
)
def test_a_figure_that_is_not_known_is_refused_before_anything_runs(figures, message, config):
    with pytest.raises(fs.ConfigError, match=message):
        fs.compare(config, config, figures=figures, progress=Never())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("50,x", "'x' is not a number"),
        ((0,), "0 is not between 0 and 100"),
        ("", "none is given"),
        ((99.99999999,), "at most 7 digits"),
    ],
)
def test_what_is_no_percentile(given, message, config):
    with pytest.raises(fs.ConfigError, match=message):
        fs.compare(config, config, percentiles=given)


def test_names_of_runs_are_everywhere(open_loop, tmp_path):
    out = tmp_path / "out"
    open_loop = open_loop | {"run": {"requests": 3000}}
    exclusive = varied(open_loop, preemptible=False)
    compared = fs.compare(open_loop, exclusive, names=["yields", "keeps"], out=out)
    (contrast,) = compared.contrasts
    assert "yields" in contrast.verdict + " ".join(contrast.sentences)
    assert contrasts.differences(contrast).head[3:5] == ("yields", "keeps")
    document = json.loads((out / "comparison.json").read_text())
    assert [document["contrasts"][0][f"{side}_name"] for side in ("baseline", "other")] == [
        "yields",
        "keeps",
    ]
    assert set(compared.frame["other_name"]) == {"keeps"}
    assert fs.Result.load(out / "B").summary["title"] == "keeps"
    assert "keeps" in compared._repr_html_()
    pytest.importorskip("matplotlib")
    for subject in (compared.pictured(), kept.pictured(out)):
        figure = overlay.draw(subject)
        (legend, *_) = (axes.get_legend() for axes in figure.axes if axes.get_legend())
        assert [t.get_text() for t in legend.get_texts()] == ["A: yields", "B: keeps"]
    with pytest.raises(fs.ConfigError, match="'a' is given twice"):
        fs.compare(open_loop, exclusive, names=["a", "a"])


def test_far_percentiles_without_logs_have_no_winner_by_chance():
    """From the slowest 100 of 20,000; both sides are of one distribution."""
    seed, wrong, undecided = seeds.seed(3000), 0, 0
    for case in range(CASES):
        rng = random.Random(seed + case)
        each = []
        for _ in range(2):
            latencies = synthetic(rng, 20_000, 0.3)
            order = sorted(range(20_000), key=lambda at: -latencies[at])[:100]
            each.append(slowest.estimate([latencies[at] for at in order], order, 21, (0, 20_000)))
        estimate = statistics.of_unpaired(*each)
        undecided += estimate is None
        wrong += estimate is not None and estimate.p < 0.05
    # 3 are expected at most, with a standard deviation of 1.7.
    assert wrong <= 8
    assert undecided <= CASES // 4


def test_far_percentiles_of_kept_runs_are_tested_from_their_slowest_requests(small):
    """Sensing takes 30 us more; of 100,000 reads 11 rank at or above p99.99."""
    config = copy.deepcopy(small)
    arrivals = {"process": "poisson", "rate": "20 kIOPS"}
    config["workload"] = [{"name": "host", "reads": "100 %", "arrivals": arrivals}]
    config["precondition"] = {"fill": "random"}
    config["run"] = {"requests": 100_000}
    experiment = fs.Experiment.from_dict(config)
    one, other = (fs.run(experiment.replace({"drive.nand.read": [t]})) for t in ("50 us", "80 us"))
    (contrast,) = fs.compare(one, other).contrasts
    far = contrast.difference("host", "read", "p99_99")
    assert far.method == "slowest requests"
    assert far.samples == (11, 11)
    falling = one.slowest["latency_ns"].sort(descending=True)
    assert far.baseline == falling[10]
    assert far.difference >= 30_000
    assert contrast.difference("host", "read", "p99").method == "none"


def test_a_far_percentile_without_logs_is_found_where_it_differs():
    rng = seeds.drawn(9)
    each = []
    for factor in (1, 3):
        latencies = [factor * value for value in synthetic(rng, 20_000, 0.0)]
        order = sorted(range(20_000), key=lambda at: -latencies[at])[:100]
        each.append(slowest.estimate([latencies[at] for at in order], order, 21, (0, 20_000)))
        assert each[-1].value == sorted(latencies)[math.ceil(0.999 * 20_000) - 1]
    assert statistics.of_unpaired(*each).p < 0.01


def test_slowest_requests_that_come_in_one_burst_have_no_interval():
    """One event, however many requests it delays; and too few stored requests."""
    falling = list(range(200_000, 100_000, -1000))
    burst = [500 + at for at in range(100)]
    assert slowest.estimate(falling, burst, 20, (0, 100_000)) is None
    spread = [(at * 37 % 100) * 1000 for at in range(100)]
    assert slowest.estimate(falling, spread, 20, (0, 100_000)) is not None
    assert slowest.estimate(falling, spread, 90, (0, 100_000)) is None
    assert slowest.estimate(falling, spread, 101, (0, 100_000)) is None


def test_slowest_requests_are_counted_in_whole_cycles():
    """Ten at the beginning of each of 20 cycles and a half: by halves of cycles they would vary."""
    moments = [at * 1000 + each for at in range(21) for each in range(10)]
    whole = slowest._of_number(moments, (0, 20_500), 1000.0)
    # The same number in each, so the error is that of independent requests. Whole cycles have
    # 205 in this time.
    assert whole == (math.sqrt(210), 19, 5.0)
    error, _, bias = slowest._of_number(moments, (0, 20_500), None)
    assert error > math.sqrt(210)
    assert bias == 0
    falling = list(range(500_000, 479_000, -100))
    shuffled = [moments[at * 37 % 210] for at in range(210)]
    assert slowest.estimate(falling, shuffled, 100, (0, 20_500), 1000.0) is not None


def test_the_interval_of_slowest_requests_reaches_over_an_unfinished_cycle():
    """Ten in each of 20 cycles and 10 in half a one: five more than whole cycles have."""
    moments = [at * 1000 + each for at in range(21) for each in range(10)]
    falling = list(range(500_000, 459_000, -100))
    found = slowest.estimate(falling, moments + [0] * 200, 210, (0, 20_500), 1000.0)
    ranks = round(found.error * student_quantile(0.975, 19) / 100)

    def covered(distance: float) -> float:
        error = math.sqrt(210)
        return student_cdf((distance - 5) / error, 19) - student_cdf((-distance - 5) / error, 19)

    # The edges are whole ranks: the least that cover 95 %.
    assert covered(ranks) >= 0.95 > covered(ranks - 1)


def test_the_reason_of_an_untested_far_percentile_is_the_true_one(open_loop, tmp_path):
    """A table of all requests cannot grow, so that is no remedy; a table of 100 can."""
    experiment = fs.Experiment.from_dict(open_loop).replace({"run.requests": 6000})
    whole = experiment.replace({"record.slowest": 6000})
    for name, each in (("short", experiment), ("whole", whole)):
        for seed in (1, 2):
            fs.run(each.replace(seed=seed), out=tmp_path / name / str(seed))
    result = fs.Result.load(tmp_path / "short/1")
    group = ("host", "read")
    # 39 requests at p99 and two standard deviations, √39 each, of independent ones at least.
    short = slowest.missing(result, group, differences.samples([result], group, "p99"))
    assert short.slowest is None or short.slowest >= 39
    assert slowest.missing(result, group, 200).slowest == math.ceil(200 + 2.0227 * 200**0.5)
    # More requests than there are cannot be kept.
    assert slowest.missing(result, group, result.read.requests).slowest is None
    burst = fs.Result.load(tmp_path / "whole/1")
    arrived = pl.col("latency_ns").rank("ordinal", descending=True).cast(pl.Int64) * 1000
    burst.slowest = burst.slowest.with_columns(arrived_ns=arrived)
    assert slowest.missing(burst, group, 40).slowest is None
    (contrast,) = fs.compare(
        burst, fs.Result.load(tmp_path / "whole/2"), figures=["host.read.p99"]
    ).contrasts
    (found,) = contrast.untested
    assert "the slowest requests of A" in found.why
    assert "come in too few bursts" in found.why
    assert "record.slowest" not in found.why + found.remedy


# ---- directories ------------------------------------------------------------------------


class Impatient(SilentSweep):
    """Interrupts a comparison when so many runs have ended, like an impatient user."""

    def __init__(self, runs: int) -> None:
        self.left = runs
        self.begun: list[str] = []

    def begins(self, begin):
        self.begun = [point.name for point in begin.to_run]
        self._now()

    def ended(self, ended):
        self.left -= 1
        self._now()

    def _now(self):
        if not self.left:
            raise KeyboardInterrupt


def test_an_interrupted_comparison_goes_on(config, tmp_path):
    config["run"] = {"requests": 500}
    other = copy.deepcopy(config) | {"workload": [config["workload"][0] | {"queue_depth": 2}]}
    out = tmp_path / "out"

    def interrupted(runs, **more):
        with pytest.raises(fs.Interrupted) as caught:
            fs.compare(config, other, seeds=2, jobs=1, progress=Impatient(runs), **more)
        return str(caught.value), caught.value.kept

    told, kept = interrupted(0, out=out)
    assert "with 0 of 4 runs ended" in told
    told, kept = interrupted(1)
    assert kept == "nothing is compared, and nothing is kept without out=..."
    told, kept = interrupted(3, out=out)
    assert "with 3 of 4 runs ended" in told
    assert "the same command goes on with the others" in kept
    assert not (out / "comparison.json").exists()
    rest = Impatient(-1)
    compared = fs.compare(config, other, seeds=2, out=out, progress=rest)
    assert rest.begun == ["B, seed 2"]
    whole = fs.compare(config, other, seeds=2)
    assert compared.frame.equals(whole.frame), "as if it had run at once"


def test_runs_side_by_side_and_one_by_one_are_equal(config, tmp_path):
    config["run"] = {"requests": 500}
    other = copy.deepcopy(config) | {"workload": [config["workload"][0] | {"queue_depth": 2}]}
    documents = []
    for jobs in (1, 2):
        fs.compare(config, other, seeds=2, jobs=jobs, out=tmp_path / str(jobs))
        documents.append((tmp_path / str(jobs) / "comparison.json").read_text())
    assert documents[0] == documents[1]


def test_more_seeds_add_to_the_runs_that_are_there(config, tmp_path):
    config["run"] = {"requests": 500}
    other = copy.deepcopy(config) | {"workload": [config["workload"][0] | {"queue_depth": 2}]}
    out = tmp_path / "out"
    fs.compare(config, other, out=out)
    alone = fs.Result.load(out / "A").digest
    more = Impatient(-1)
    fs.compare(config, other, out=out, seeds=3, progress=more)
    assert sorted(more.begun) == ["A, seed 2", "A, seed 3", "B, seed 2", "B, seed 3"]
    assert fs.Result.load(out / "A" / "seed-1").digest == alone
    assert not (out / "A" / "summary.json").exists()
    # Another experiment would overwrite them.
    with pytest.raises(fs.OutputError, match="A/seed-1: has the results of another run"):
        fs.compare(other, config, out=out, seeds=3, progress=Never())
    fs.compare(other, config, out=out, seeds=3, force=True)
    assert fs.Result.load(out / "B" / "seed-1").digest == alone


def test_functions_of_this_process_are_compared(config, tmp_path):
    """They cannot go to other processes; the policy is that of the drive itself."""

    def fewest(blocks):
        return min(blocks.gaining, key=lambda block: (blocks.valid[block], block))

    config["run"] = {"requests": 500}
    experiment = fs.Experiment.from_dict(config)
    given = experiment.with_policy("drive.ftl.gc.victim", fewest)
    compared = fs.compare(experiment, given, out=tmp_path / "out")
    digests = [side.results[0].digest for side in compared.sides]
    assert digests == [fs.run(each).digest for each in (experiment, given)]


def test_nothing_of_an_earlier_comparison_stays(config, tmp_path):
    config["run"] = {"requests": 300}
    out = tmp_path / "out"
    fs.compare(config, config, config, out=out, seeds=2)
    (out / "comparison.svg").write_text("of the three")
    mine = out / "C" / "notes.txt"
    mine.write_text("mine")
    fs.compare(config, config, out=out, force=True)
    assert {file.name for file in out.iterdir()} == {"A", "B", "C", "comparison.json"}
    assert list((out / "C").iterdir()) == [mine]
    assert not list(out.glob("*/seed-*"))
    assert fs.compare(out / "A", out / "B").contrasts[0].are_identical
    fs.compare(config, config, out=out, force=True, seeds=2)
    assert not (out / "A" / "summary.json").exists()
    assert {file.name for file in (out / "A").iterdir()} == {"seed-1", "seed-2"}


def test_seeds_and_names_are_checked_before_anything_runs(config, tmp_path):
    def refused(match, *sides, **given):
        with pytest.raises(fs.ConfigError, match=match):
            fs.compare(*sides, progress=Never(), **given)

    last = config | {"seed": 2**64 - 2}
    refused("B .*: 3 seeds from 18446744073709551614 on do not fit", config, last, seeds=3)
    refused("names: 1 for 2 sides", config, config, names=["a"])
    refused("names: 3 for 2 sides", config, config, names=["a", "b", "c"])
    refused("names: 0 for 2 sides", config, config, names=[])
    refused("names: a name is missing", config, config, names=["a", ""])
    refused(
        "names: 'a' is given twice; name the sides differently",
        config,
        config,
        names=["a", "a"],
    )
    refused("names: 'ab' is not a list", config, config, names="ab")
    refused("names: .* is not a list of texts", config, config, names=["a", 2])


# ---- the command line -------------------------------------------------------------------


def test_a_file_is_compared_with_its_variation(experiment_file, flashscape, tmp_path):
    vary = ("--vary", "drive.ftl.gc.victim=fifo", "--set", "run.audit=false")
    ended = flashscape("compare", experiment_file, *vary, "--json", "c.json", "--out", "o")
    assert ended.status == 0, ended.err
    assert f"A: small ({experiment_file}), seed 1" in ended.out
    assert "B: small (drive.ftl.gc.victim=fifo), seed 1" in ended.out
    assert {line[6:8] for line in ended.err.splitlines()[1:]} == {"A:", "B:"}
    document = json.loads((tmp_path / "c.json").read_text())
    assert document["sides"][1]["name"] == "drive.ftl.gc.victim=fifo"
    again = flashscape("compare", "o/A", "o/B")
    assert again.status == 0, again.err


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (("E",), ("a comparison needs two sides", "--vary")),
        (("E", "E"), ("is named twice",)),
        (("E", "F", "--vary", "seed=2"), ("--vary changes one experiment",)),
        (("E", "--vary", "drive.ftl.gc.victim=ffo"), ("drive.ftl.gc.victim", "fifo")),
        (("R", "--vary", "seed=2", "--names", "a"), ("--names a: 1 for 2 sides",)),
        (("E", "F", "--names", "a,a"), ("name the sides differently",)),
        (("E", "F", "--names", "a,"), ("a name is missing",)),
        (("E", "F", "--least", "1"), ("least: '1' has no unit (write 1%)",)),
        (("E", "F", "--least", "much"), ("least: 'much' is not a share",)),
        (("absent.toml", "E"), ("absent.toml: there is no such file",)),
        (("E", "out/none"), ("out/none: there is no such directory of results",)),
    ],
)
def test_what_cannot_be_compared(arguments, messages, experiment_file, flashscape, tmp_path):
    (tmp_path / "second.toml").write_text(experiment_file.read_text())
    if "R" in arguments:
        flashscape("run", experiment_file, "--out", "results", "--quiet")
    names = {"E": str(experiment_file), "F": "second.toml", "R": "results"}
    given = [names.get(argument, argument) for argument in arguments]
    refused(flashscape("compare", *given), 2, *messages)


def test_targets_are_refused_before_anything_runs(experiment_file, flashscape, tmp_path):
    (tmp_path / "c.json").write_text("mine")
    vary = ("--vary", "seed=2")
    refused(
        flashscape("compare", experiment_file, *vary, "--json", "c.json"), 1, "is there already"
    )
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "own.txt").write_text("mine")
    refused(flashscape("compare", experiment_file, *vary, "--out", "o"), 1, "o: is not empty")
