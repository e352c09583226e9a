"""Steady state of whole runs: waves of collection are no trend, and one of them is no cycle.

``scripts/steady_state.py`` has the loads, and measures them with a hundred seeds.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import flashscape as fs
from flashscape.report import rows

ROOT = Path(__file__).parent.parent
SPEC = importlib.util.spec_from_file_location("study", ROOT / "scripts" / "steady_state.py")
study = importlib.util.module_from_spec(SPEC)
sys.modules["study"] = study
SPEC.loader.exec_module(study)

SEEDS = range(1, 4)


def told(result: fs.Result) -> dict[str, str]:
    return dict(rows.drive(result).rows)


def verdict(result: fs.Result, figure: str = "latency") -> dict:
    return result.summary["steady_state"][figure]


@pytest.fixture(scope="module")
def waves(tmp_path_factory) -> list[fs.Result]:
    """Ten waves of collection, an open loop, with three seeds."""
    load = study.STATIONARY["waves-open"]
    folder = tmp_path_factory.mktemp("waves")
    return [fs.run(load.experiment(seed, 1, folder)) for seed in SEEDS]


def rises(result: fs.Result) -> list[int]:
    """Return the moments at which collection begins after a rest: the cycles, counted by hand."""
    counted = result.series.filter(
        result.series["begin_ns"] >= result.summary["simulated_ns"] - result.summary["counted_ns"]
    )
    moments, rest = [], 0
    for begin, moved in counted.select("begin_ns", "gc_units_programmed").iter_rows():
        if moved and rest >= 5:
            moments.append(begin)
        rest = 0 if moved else rest + 1
    return moments


def test_waves_for_ever_are_steady(waves):
    for result in waves:
        assert verdict(result)["reached"], verdict(result)
        assert verdict(result, "write_amplification")["reached"]
        assert told(result)["steady latency"] == "over the whole counted time"
        assert any("Garbage collection repeats: 1" in each for each in fs.explain(result).sentences)


def test_cycles_are_those_that_are_counted_by_hand(waves):
    for result in waves:
        moments = rises(result)
        assert len(moments) >= 9
        length = (moments[-1] - moments[0]) / (len(moments) - 1)
        cycles = result.summary["cycles"]
        assert cycles["regular_ns"] == pytest.approx(length, rel=0.03)
        count = result.summary["counted_ns"] / length
        assert cycles["count"] == pytest.approx(count, rel=0.03)
        assert told(result)["GC cycles"].startswith(f"{count:.0f} cycles of ")


def test_an_interval_reaches_to_the_mean_of_whole_cycles(waves):
    """The run ends in a cycle, so its mean is not that of whole ones."""
    for result in waves:
        moments = rises(result)
        whole = result.series.filter(
            (result.series["begin_ns"] >= moments[0]) & (result.series["begin_ns"] < moments[-1])
        )
        mean = whole["read_latency_sum_ns"].sum() / whole["reads"].sum()
        latency = result.summary["initiators"][0]["read"]["latency_ns"]
        assert abs(latency["mean"] - mean) < latency["mean_ci95"] < 0.1 * mean
        # Ten cycles, and one of them is the mean.
        assert latency["mean_freedom"] == 9


def test_one_wave_is_not_steady_and_its_cycle_is_told(tmp_path):
    load = study.STATIONARY["waves-open"]._replace(warm_up_ms=0, short_ms=900)
    result = fs.run(load.experiment(1, 1, tmp_path))
    assert len(rises(result)) == 1
    for figure in ("latency", "write_amplification"):
        reason = verdict(result, figure)["reason"]
        assert "GC cycles of about" in reason
        assert "3 are needed" in reason
    # Four cycles of half a second: a third of a cycle may be missing at either end.
    assert 1.5e9 < verdict(result)["needed_ns"] < 2.5e9
    assert 'run longer (run.time = "' in told(result)["steady latency"]
    sentences = fs.explain(result).sentences
    assert sum("known to be steady" in sentence for sentence in sentences) == 1
    assert not any("repeats" in sentence for sentence in sentences)
    assert "GC cycles" not in told(result)
    latencies = rows.latencies(result)
    assert "no ±, because the mean is not known to be steady" in latencies.title
    assert not any("±" in row[2] for row in latencies.rows)


def test_space_that_is_only_used_up_is_not_steady(tmp_path):
    load = study.TREND["space-runs-out"]._replace(short_ms=1_000)
    result = fs.run(load.experiment(1, 1, tmp_path))
    assert result.summary["wear"]["erases"] == 0
    reason = verdict(result)["reason"]
    assert "no block was erased, so there was no GC cycle" in reason
    # 4 KiB units at 10 k/s, and 52,000 of them to spare at first.
    (left,) = [float(word) for word in reason.split() if word.replace(".", "").isdigit()][-1:]
    assert 1.0 < left < 6.0, reason


@pytest.mark.parametrize("name", study.TREND)
def test_a_trend_is_not_steady(name, tmp_path):
    result = fs.run(study.TREND[name].experiment(1, 1, tmp_path))
    assert not verdict(result)["reached"], verdict(result)


def test_an_overload_is_not_told_to_run_longer(tmp_path):
    result = fs.run(study.TREND["overload"].experiment(1, 1, tmp_path))
    assert any(note.startswith("overload: ") for note in result.summary["notes"])
    sentences = " ".join(fs.explain(result).sentences)
    assert "so a longer run would not be steadier" in sentences
    assert "run longer" not in sentences
    assert "run longer" not in " ".join(told(result).values())


def advice(result: fs.Result, figure: str = "mean latency") -> str:
    """Return the note on the time before a figure was steady."""
    [note] = [
        note
        for note in result.summary["notes"]
        if re.search(f"before .*{figure}.* (was|were) steady", note)
    ]
    return note


BUSY = {
    "name": "bulk",
    "size": "64 KiB",
    "addresses": "uniform",
    "reads": "0 %",
    "arrivals": study.poisson("1500 IOPS"),
    "stop": {"time": "1200 ms"},
}
"""Writes that make the beginning of a run busy."""


@pytest.fixture(scope="module")
def busy_at_first(tmp_path_factory) -> dict[int, fs.Result]:
    """A busy beginning, which has the tail, and then waves for ever; by the rows of `slowest`."""
    hosts = [study.host(reads="70 %", arrivals=study.poisson("15 kIOPS")), BUSY]
    load = study.Load(study.drive(), hosts, 0, 18_000)
    experiment = load.experiment(1, 1, tmp_path_factory.mktemp("busy"))
    return {rows: fs.run(experiment.replace({"record.slowest": rows})) for rows in (0, 100)}


def test_a_warm_up_that_would_hide_the_tail_is_not_advised(busy_at_first):
    result = busy_at_first[100]
    steady = verdict(result)["from_ns"]
    assert 1_200_000_000 < steady < 5_000_000_000
    note = advice(result)
    assert "so a longer warm-up would hide" in note
    assert "longer warm-up would leave" not in note
    # Both numbers are those of the tables.
    slowest = result.slowest.sort("latency_ns", descending=True).head(10)
    early = slowest.filter(slowest["arrived_ns"] < steady).height
    assert f"{early} of the 10 slowest requests" in note
    before = result.series.filter(result.series["end_ns"] <= steady)["erases"].sum()
    told = int(note.split("that time has ")[1].split()[0])
    assert abs(told - before) <= 0.05 * before


def test_a_tail_that_is_not_recorded_is_said_to_be_unknown(busy_at_first):
    note = advice(busy_at_first[0])
    assert ("longer warm-up would hide" in note) or ("record.slowest = 10 would show" in note)


def test_a_warm_up_that_leaves_out_no_tail_is_advised_with_its_erases(tmp_path):
    """A drive that is aged by sequential writes: it collects more and more at first."""
    load = study.TREND["still-settling"]._replace(short_ms=5_000)
    result = fs.run(load.experiment(1, 1, tmp_path).replace({"record.slowest": 100}))
    assert verdict(result)["reached"]
    assert "; a longer warm-up would leave it out, with " in advice(result)


def test_verdicts_do_not_depend_on_the_interval_of_the_time_series(tmp_path):
    experiment = study.STATIONARY["waves-closed"].experiment(1, 1, tmp_path)
    runs = [fs.run(experiment.replace({"record.interval": each})) for each in ("1 ms", "1 s")]
    same = ("steady_state", "cycles", "initiators", "digest")
    assert all(runs[0].summary[key] == runs[1].summary[key] for key in same)
