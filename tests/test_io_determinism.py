"""The study of I/O determinism: its drives, its loads, its arithmetic, and small runs of it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import flashscape as fs
import seeds
from declared import declared
from flashscape.fleet.sources import pooled_latency
from flashscape.latency import Latency
from flashscape.reproduce import Outcomes, Setting
from flashscape.reproduce.study import read_data
from flashscape.studies.io_determinism import (
    _cases,
    _drives,
    _loads,
    _reads,
    architecture,
    floor_demo,
    floor_shared,
    overload,
    periods,
    pressure,
    rails,
    suspension,
    wear_plan,
)
from flashscape.studies.io_determinism._firmware import FIRMWARE
from places import ROOT

FOLDER = ROOT / "python/flashscape/studies/io_determinism"
SHORT = Setting("short", Path("nowhere"))

RATIOS = ("N-1", "N-2", "N-3", "N-4", "N-5")
"""Claims about ratios of the slides, which have no parameters."""


def test_claims_have_exhibits_and_no_faults():
    paper, claims, faults = read_data(FOLDER)
    assert not any(each.problems for each in faults)
    assert {claim.exhibit for claim in claims} == set(paper.exhibits)
    assert {f"N-{number}" for number in range(1, 18)} <= {claim.id for claim in claims}
    contexts = {claim.id for claim in claims if claim.is_context}
    assert contexts >= {
        "N-3t",
        "N-6o",
        "N-8",
        "N-10",
        "N-12",
        "N-13",
        "N-14",
        "N-15",
        "N-16",
        "N-17",
    }
    assert "N-6s" in {claim.id for claim in claims} - contexts


@pytest.mark.parametrize("profile", ["short", "full"])
def test_all_drives_are_sound(profile):
    runs = declared("io-determinism", profile)
    assert len(runs) > 100
    kinds = {str(run.experiment["drive"]): run for run in runs.values()}
    for run in kinds.values():
        spans = fs.Experiment.from_dict(run.experiment).derived["durations_ns"]
        # Within the assumed ranges of TLC of 2017.
        assert 60_000 <= spans["sense_by_page_type"][0] <= 80_000
        assert 5_000_000 <= spans["erase"] <= 10_000_000


def test_layouts_have_the_same_flash_and_the_same_space():
    drives = [_drives.bands(), _drives.drive(), _drives.sets()]
    loads = [_loads.reader(), _loads.reader(), _loads.reader(1)]
    exported, physical = set(), set()
    for drive, load in zip(drives, loads, strict=True):
        experiment = {"drive": drive, "workload": [load], "run": {"requests": 1}}
        capacity = fs.Experiment.from_dict(experiment).derived["capacity"]
        # A set exports whole mapping units.
        exported.add(capacity["exported_bytes"] // (_drives.CHANNELS * _drives.UNIT_BYTES))
        physical.add(capacity["physical_bytes"])
    assert len(exported) == len(physical) == 1
    # Two blocks of a die are open, and the threshold keeps three free.
    left = (_drives.BLOCKS - 2 - 3) * _drives.DIES * _drives.BLOCK_UNITS * _drives.UNIT_BYTES
    assert left / _drives.CHANNEL_BYTES == pytest.approx(1.17, abs=0.005)


def test_writes_fit_into_what_takes_them():
    """Each rate of writes leaves a fifth of the measured capability."""
    assert max(_cases.SMALL) <= 0.8 * 16_000
    assert max(_cases.LARGE) <= 0.81 * 255_000
    assert 2 * max(_cases.CASES["ping-pong"].rates) <= max(_cases.SMALL)
    assert 2 * max(rails.RATES) <= max(_cases.SMALL)


def test_loops_share_their_depth_evenly():
    loops = _loads.closed("reads", 10, range(1, 5))
    assert [each["queue_depth"] for each in loops] == [3, 3, 2, 2]
    assert [each["nvm_set"] for each in _loads.closed("writes", 2, range(1, 5))] == [1, 2]
    [whole] = _loads.closed("writes", 7)
    assert whole["queue_depth"] == 7
    assert "nvm_set" not in whole
    rates = [each["arrivals"]["rate"] for each in _loads.writers(300, (2, 3, 4))]
    assert rates == ["100 IOPS"] * 3


def test_counting_lasts_whole_cycles():
    case = _cases.CASES["bands"]
    warm_up, counted = case.lengths(SHORT, 3_200)
    # 16 channels of four dies; a block has 192 pages of 16 units.
    cycle = 16 * 4 * 192 * 16 / 3_200
    assert (warm_up, counted) == (4 * cycle, 2 * cycle)
    turns = [each / (2 * _cases.PERIOD_S) for each in _cases.CASES["ping-pong"].lengths(SHORT, 800)]
    assert turns == [round(turn) for turn in turns]


@pytest.mark.parametrize("period", periods.PERIODS)
def test_periods_are_counted_whole(period):
    case = periods.CASES[periods._name(period)]
    assert case.rates == tuple(_cases.SMALL[2:4])
    plan, windows = case.more["array"]["plan"], case.drive["ftl"]["windows"]
    assert seconds(plan["period"]) == period
    assert seconds(windows["dtwin"]) > period
    warm_up, counted = case.lengths(SHORT, 6_400)
    assert warm_up % (2 * period) == counted % (2 * period) == 0
    assert counted >= 64


def test_plans_over_drives_and_sets_have_the_same_flash_and_space():
    """Two members of a channel: four dies of 40 blocks of 192 pages of 16 units in each."""
    raw = 2 * 4 * 40 * 192 * 16 * 4096
    outcomes = Outcomes(SHORT, {})
    for name in rails.PLANS:
        # A set exports whole mapping units.
        assert rails.capacity(outcomes, name) == pytest.approx(1_505_000_000 / raw, rel=1e-5)
    places = {name: case.more["array"]["drives"] for name, case in rails.PLANS.items()}
    for plan in ("rails", "rails-settles"):
        assert (places[plan], places[f"{plan}-sets"]) == (2, 1)
    assert (places["ping-pong-drives"], places["ping-pong"]) == (2, 1)


def test_each_set_of_the_shared_floor_is_read_and_written():
    for run in floor_shared.exhibit.declared(SHORT):
        loads = run.experiment["workload"]
        depths = {}
        for each in loads:
            kind = "reads" if each["reads"] == "100 %" else "writes"
            depths.setdefault(kind, []).append((each.get("nvm_set"), each["queue_depth"]))
        assert sum(depth for _, depth in depths["reads"]) in (16, 256)
        assert sum(depth for _, depth in depths["writes"]) == 256
        if "sets" in run.experiment["drive"]["ftl"]:
            for shares in depths.values():
                assert [nvm_set for nvm_set, _ in shares] == list(range(1, 17))
                assert len({depth for _, depth in shares}) == 1
        begin = run.experiment["run"]["warm_up"]["time"]
        assert {each.get("start") for each in loads} == {begin, None}


def test_the_shared_floor_changes_one_thing_at_a_time():
    drives = {name: kind.drive for name, kind in floor_shared.KINDS.items()}
    for name, programs in (("2", 2), ("1", 1)):
        ftl = dict(drives[name]["ftl"])
        assert ftl.pop("pressure") == {"programs": programs}
        assert drives["reads-first"] == drives[name] | {"ftl": ftl}
    ftl = dict(drives["batches"]["ftl"])
    assert ftl.pop("sets") == {"channels": 16}
    assert drives["pool"] == drives["batches"] | {"ftl": ftl}


def test_suspension_is_the_only_change_beside_deep_readers():
    for depth in suspension.DEPTHS:
        without, within = (
            suspension.LOADS[f"{kind}-deep-{depth}"] for kind in ("bands", "suspends")
        )
        changes = within.drive["scheduler"]
        assert changes == _drives.SUSPENDS["scheduler"]
        assert within.drive == without.drive | {"scheduler": changes}
        assert (without.rates, without.depth) == (within.rates, within.depth)
        assert (within.rates, within.depth) == (suspension.RATES, depth)


def test_completed_writes_are_those_before_the_last_arrival(tmp_path):
    """Counted one by one from the log of requests; a run goes on until all writes are answered."""
    experiment = {
        "drive": _drives.drive(channels=1),
        "precondition": _drives.AGED,
        "workload": [_loads.reader(), *_loads.writers(60_000)],
        "run": {"time": "1.5 s"},
    }
    log = tmp_path / "requests.parquet"
    result = fs.run(experiment, requests=log)
    written = pl.read_parquet(log).filter(pl.col("kind") == "write")
    ends = written["arrived_ns"] + written["latency_ns"]
    within = int((ends < 1_500_000_000).sum())
    assert within < 0.8 * written.height
    assert _reads.completed(result) == pytest.approx(within / 1.5)


@pytest.mark.parametrize("limited", overload.EQUAL)
def test_equal_writes_are_those_that_the_limited_drive_takes(limited):
    """A rate that a merge of the core has changed has to be measured again."""
    case = overload.OVERLOADED[limited]
    found = fs.run(overload._overloaded(SHORT, case))
    assert overload.EQUAL[limited][1] == pytest.approx(_reads.completed(found), abs=50)


def test_an_undisturbed_read_is_the_sum_of_its_phases_in_each_layout():
    for name, case in _cases.CASES.items():
        experiment = case.experiment(SHORT, 0) | {"run": {"requests": 50}}
        spans = fs.Experiment.from_dict(experiment).derived["durations_ns"]
        link = -(-4096 * 10**9 // 7 * 10**-9)
        read = 5_000 + 70_000 + 275 + spans["transfer_unit"] + spans["decode"] + link
        assert fs.run(experiment).read.mean == pytest.approx(read, abs=2), name


def test_a_mean_improves_as_the_rate_does():
    """Little's law: a closed loop of d reads completes d over their mean latency."""
    loops = [*_loads.closed("reads", 8), *_loads.closed("writes", 4)]
    experiment = {
        "drive": _drives.bands(),
        "precondition": _drives.AGED,
        "workload": loops,
        "run": _cases.length(0.1, 0.4),
    }
    reads = fs.run(experiment).summary["initiators"][0]["read"]
    assert reads["iops"] * reads["latency_ns"]["mean"] / 1e9 == pytest.approx(8, rel=0.01)


def test_marks_hold_within_the_tolerances_of_the_slides():
    tolerances = {name: limits for name, *limits in floor_demo._TOLERANCES.values()}
    assert tolerances["read_rate_times"] == [10, 30]
    assert tolerances["fewer_writes_times"] == [2, 6]
    assert {tuple(tolerances[f"{name}_times"]) for name in ("mean", "p99", "p99_9")} == {(20, None)}


def test_pooled_latencies_are_those_of_all_reads():
    drawn = seeds.drawn()
    parts, pooled = [], []
    for _ in range(3):
        values = sorted(drawn.choices((80, 90, 1000, 7000), k=drawn.randint(1, 50)))
        buckets = tuple((value, values.count(value)) for value in sorted(set(values)))
        mean = sum(values) / len(values)
        parts.append(Latency(len(values), mean, values[0], values[-1], buckets))
        pooled += values
    found = pooled_latency([*parts, Latency(0, None, None, None, ())])
    pooled.sort()
    assert (found.requests, found.min, found.max) == (len(pooled), pooled[0], pooled[-1])
    assert found.mean == pytest.approx(sum(pooled) / len(pooled))
    for percent in (10, 50, 99):
        rank = -(-percent * len(pooled) // 100)
        assert found.percentile(percent) == pooled[max(1, rank) - 1]
    assert pooled_latency([]).requests == 0


def test_pressure_management_is_reads_first_and_a_program_for_each_die():
    sets, managed = (FIRMWARE[name] for name in pressure.BESIDE.values())
    assert sets.drive == _drives.sets()
    more = {"ftl": {"pressure": {"programs": _drives.DIES}}, "scheduler": {"bypass": "drain"}}
    assert managed.drive == _drives.sets(more)
    assert (sets.reads, sets.writes, sets.rates) == (managed.reads, managed.writes, managed.rates)
    assert managed.rates == _cases.SMALL
    assert pressure.LEAST in managed.rates


@pytest.mark.parametrize("pair", [pressure.PAIR, pressure.SUSPENDED])
def test_firmware_that_is_compared_differs_by_the_limit_alone(pair):
    without, managed = (FIRMWARE[name] for name in pair.values())
    ftl = dict(managed.drive["ftl"])
    assert ftl.pop("pressure") == {"programs": 1}
    assert without.drive == managed.drive | {"ftl": ftl}
    assert (without.reads, without.writes) == (managed.reads, managed.writes)
    assert without.rates[: len(managed.rates)] == managed.rates
    assert managed.drive["scheduler"]["bypass"] == "drain"


def test_rails_can_program_what_it_must_beside_its_pause():
    """A member programs 2 w T while it writes, which is T without the pause."""
    period, pause = _cases.PERIOD_S, rails.SETTLE_S
    assert 2 * max(rails.RATES) * period / (period - pause) < 16_000


def peak_of_rails(rate, period, periods, *, until_swap):
    """Return the peak of writes in the cache of two drives, of which one programs in no time.

    A naive model: time in steps of one write; the writer gets all that it lacks at once.
    """
    lacks: list[set[int]] = [set(), set()]
    leaves: dict[int, int] = {}
    peak = 0
    for step in range(rate * period * periods):
        turn, begins = divmod(step, rate * period)
        writer = turn % 2
        if not begins:
            lacks[writer].clear()
            leaves = {
                write: at
                for write, at in leaves.items()
                if at > turn or write in lacks[0] | lacks[1]
            }
        lacks[1 - writer].add(step)
        leaves[step] = turn + 2 if until_swap else turn
        peak = max(peak, len(leaves))
    return peak


def test_the_cache_of_rails_by_a_naive_model():
    """The bounds of N-11: w T until both drives have a write, 2 w T until the swap after next."""
    assert peak_of_rails(5, 7, 8, until_swap=False) == 5 * 7
    assert peak_of_rails(5, 7, 8, until_swap=True) == 2 * 5 * 7


def test_all_writes_go_to_the_first_set_until_chunks_exchange_places():
    given = {run.name: run.experiment for run in wear_plan.exhibit.declared(SHORT)}
    loads = [each["workload"] for each in given.values()]
    assert all(each == loads[0] for each in loads), "only plans differ"
    hot, *cold = loads[0]
    set_bytes = fs.Experiment.from_dict(given["wear-plan-near"]).derived["array"]["exported_bytes"]
    assert hot["region"] == {"size": f"{set_bytes // 2} B"}
    assert cold[0]["region"]["offset"] == hot["region"]["size"]
    ends = [seconds(each["start"]) + seconds(each["stop"]["time"]) for each in cold]
    starts = [seconds(each["start"]) for each in cold]
    assert starts[1:] == pytest.approx(ends[:-1], abs=0.01)
    # 8 overwrites of a set in all.
    assert ends[-1] * wear_plan.RATE / wear_plan.SET_UNITS == pytest.approx(8, rel=0.001)


def seconds(text):
    return float(text.removesuffix(" s"))


def test_a_set_of_sixteen_dies_has_a_terabyte():
    found = architecture.derived(16)
    assert found["sets"] == 16
    # 32 dies of 512 Gb export 1.92 TB.
    assert found["set_bytes"] == pytest.approx(0.96e12, rel=1e-6)


def test_quotients_have_two_decimals():
    assert _reads.ratio(7.0, 3.0) == 2.33
    assert _reads.ratio(None, 3.0) is None
    assert _reads.ratio(1.0, None) is None


def test_a_small_run_of_the_study(monkeypatch):
    """Reads of a set are flat beside writes to others, and no ratio is more than a direction."""
    for name in ("bands", "others", "another", "ping-pong", "suspends", "pool", "same"):
        case = _cases.CASES[name]
        rates = (12_800, 204_800) if 204_800 in case.rates else case.rates[-1:]
        monkeypatch.setitem(_cases.CASES, name, _smaller(case, rates))
    monkeypatch.setattr("flashscape.studies.io_determinism.disturbance.LARGE", (12_800, 204_800))
    found = fs.reproduce("io-determinism/disturbance", jobs=1)
    assert found.failures == []
    flat = found["N-5"].figures
    assert flat["sets_p99_9_times"] == [1.0, 1.0]
    assert min(flat["bands_p99_9_times"]) > 5
    assert {found[claim].verdict for claim in RATIOS if claim in ("N-4", "N-5")} == {"direction"}
    table = found.frames["disturbance/reads"]
    assert table.height == 7 + 4 * 2 + 3


def _smaller(case, rates):
    from dataclasses import replace

    return replace(case, rates=rates)
