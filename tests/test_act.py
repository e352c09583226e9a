"""The Aerospike Certification Tool: its load, its conditions, and the search for ratings."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import flashscape as fs
from flashscape.act import certify, conditions, hunt, load, source
from flashscape.act.conditions import LIMITS, Service, Share
from flashscape.act.load import LARGE_READS, LARGE_WRITES, SMALL_READS
from flashscape.cli import ratings as report
from flashscape.run import Silent
from places import WAVES
from test_bad_input import refused

SMALL = {
    "preset": "dc-tlc",
    "geometry": {
        "channels": 2,
        "dies_per_package": 1,
        "blocks_per_plane": 64,
        "pages_per_block": 24,
    },
    "ftl": {"over_provisioning": {"exported": "150 MiB"}, "gc": WAVES},
    "buffer": {"size": "2 MiB"},
}
"""A drive of two dies, whose GC cycle is 6 MiB of writes."""

QUICK = {"time": "1 s", "warm_up": "125 ms", "overwrites": 0.0}


def with_spare(**drive) -> dict:
    """Return a drive with so much spare space that GC does not run in the first seconds."""
    return {**SMALL, "ftl": {"over_provisioning": {"exported": "40 MiB"}}, **drive}


# The load.


def test_rates_and_sizes_are_those_of_the_paper():
    asked = [(each.per_second, each.bytes, each.kind) for each in load.STREAMS]
    assert asked == [(2000, 1536, "read"), (24, 131072, "read"), (24, 131072, "write")]


@pytest.mark.parametrize("multiplier", [1, 3, 7, 30])
def test_every_slice_has_the_requests_of_its_time(multiplier):
    lengths = load.lengths(multiplier, 1, warm_up_ns=10**8, time_ns=10**9, slices=4)
    assert lengths == (125_000_000, 250_000_000, 4)
    tables = load.workloads(multiplier, lengths, exported_bytes=10**9, seed=1, arrivals="constant")
    counts = {table["name"]: table["stop"]["requests"] for table in tables}
    per_slice = 2000 * multiplier // 4
    # The first slice has the requests of the warm-up before it.
    assert counts.pop("small-reads-1") == per_slice + 250 * multiplier
    assert {counts.pop(f"small-reads-{number}") for number in (2, 3, 4)} == {per_slice}
    assert counts == dict.fromkeys(("large-reads", "large-writes"), 27 * multiplier)


@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
def test_what_was_asked_is_in_the_results(arrivals):
    trial = fs.act.run(SMALL, 3, time="2 s", warm_up="250 ms", overwrites=0.5, arrivals=arrivals)
    small, reads, writes = trial.services
    counts = [service.requests for service in trial.services]
    if arrivals == "constant":
        assert counts == [2 * 3 * 2000, 2 * 3 * 24, 2 * 3 * 24]
        assert [share.requests for share in trial.worst] == [3 * 2000] * 3
    else:
        assert counts == pytest.approx([12_000, 144, 144], rel=0.3)
    assert small.bytes == 1536 * small.requests
    assert (reads.bytes, writes.bytes) == (131072 * reads.requests, 131072 * writes.requests)
    assert trial.small_reads.requests == small.requests
    assert trial.small_reads.mean == pytest.approx(small.mean_ns)
    assert sum(count for _, count in trial.small_reads.buckets) == small.requests
    # Large requests stay in the space of whole large blocks, aligned as in the tool.
    slowest = trial.result.slowest
    large = slowest.filter(pl.col("initiator").str.starts_with("large"))
    assert (large["offset_bytes"] % 131072 == 0).all()
    assert (slowest["offset_bytes"] % 512 == 0).all()
    offsets = slowest.filter(pl.col("initiator").str.starts_with("small"))["offset_bytes"]
    assert (offsets % 4096 != 0).any()


def test_streams_begin_apart_and_by_the_seed():
    def starts(seed):
        lengths = load.lengths(2, 1, warm_up_ns=0, time_ns=10**9, slices=1)
        tables = load.workloads(2, lengths, exported_bytes=10**9, seed=seed, arrivals="constant")
        return [int(table["start"].removesuffix(" ns")) for table in tables]

    assert len(set(starts(1))) == 3
    assert starts(1) == starts(1) != starts(2)
    periods = [250_000, 20_833_333, 20_833_333]
    for seed in range(50):
        assert all(0 < at < period for at, period in zip(starts(seed), periods, strict=True))


def test_a_slice_holds_whole_cycles_of_collection():
    cycle = 10 * 24 * 131072  # bytes: ten seconds at multiplier 1
    for multiplier, slice_s in ((1, 10), (2, 5), (3, 20 / 3), (4, 5), (7, 10 * 4 / 7)):
        lengths = load.lengths(multiplier, cycle, warm_up_ns=None, time_ns=None, slices=3)
        # Lengths are rounded up to eighths of a second.
        assert 0 <= lengths.slice_ns / 1e9 - slice_s < 0.125 + 1e-9
        assert lengths.measured_ns == 3 * lengths.slice_ns
        assert lengths.warm_up_ns >= max(2e9, load.cycle_of(multiplier, cycle))


# The conditions.


def test_shares_are_counted_from_a_histogram():
    million = 1_000_000
    buckets = [(100, 200, 900), (million - 64, million + 447, 30), (2 * million, 2 * million, 70)]
    share = Share.of(LIMITS[0], buckets)
    assert (share.requests, share.slower_least, share.slower_most) == (1000, 70, 100)
    assert (share.share_least, share.share) == (0.07, 0.1)


@pytest.mark.parametrize(
    ("least", "most", "passes"),
    [
        (49, 49, True),
        (50, 50, False),
        (51, 51, False),
        (0, 49, True),
        (49, 50, None),
        (50, 60, False),
    ],
)
def test_fewer_than_the_limit_must_be_slower(least, most, passes):
    assert Share(1_000_000, 0.05, 1000, least, most).passes is passes


def test_the_limits_are_those_of_the_tool():
    assert LIMITS == ((1_000_000, 50), (8_000_000, 10), (64_000_000, 1))


def test_a_stream_keeps_up_below_its_period():
    latencies = [(300, 300 * 1536, 250_000.0), (100, 100 * 1536, 249_996.0)]
    service = conditions.service_of(SMALL_READS, 2, 1, latencies)
    assert (service.requests, service.bytes) == (400, 400 * 1536)
    assert service.mean_ns == 249_999.0
    assert service.period_ns == 250_000.0
    assert service.passes
    assert service.under_way == pytest.approx(0.999996)
    # One thread has only the period; two threads have twice the time.
    assert not conditions.service_of(SMALL_READS, 2, 1, [(1, 1, 250_000.0)]).passes
    assert conditions.service_of(SMALL_READS, 2, 2, [(1, 1, 499_999.0)]).passes
    assert conditions.service_of(LARGE_READS, 4, 1, []).period_ns == pytest.approx(1e9 / 96)


def test_the_fourth_condition_fails_at_a_computable_multiplier():
    """A small read takes about 200 µs: longer than its period of 500 µs / k from k = 3 on."""
    drive = with_spare(firmware={"read": "140 us"})
    # Firmware, sense, transfer, decode, link: the latency on an idle drive.
    idle = fs.act.run(drive, 1, **QUICK)
    unloaded = idle.small_reads.min
    assert unloaded == pytest.approx(140_000 + 50_000 + 2_880 + 5_000, rel=0.02)
    assert idle.passes_stress
    expected = int(500_000 / unloaded)
    found = fs.act.search(drive, most=12, **QUICK)
    assert found.stress == (expected, False, ()) == found.performance
    first = found.trials[[trial.multiplier for trial in found.trials].index(expected + 1)]
    assert first.stress_failures[0].startswith("small reads take ")
    assert first.failures == first.stress_failures
    # With enough threads the same run passes.
    more = fs.act.run(drive, expected + 1, threads=2, **QUICK)
    assert more.passes_stress
    assert more.digest == first.digest
    assert any("keeps up" in remark for remark in first.remarks)
    assert not any("keeps up" in remark for remark in more.remarks)


def test_pages_of_a_slow_type_are_the_share_beyond_a_millisecond():
    """One page in three senses for 1.2 ms, and reads of two units rarely take two rows."""
    drive = with_spare(nand={"read": ["50 us", "50 us", "1200 us"]})
    trial = fs.act.run(drive, 1, threads=64, **QUICK)
    whole = trial.whole
    assert whole[0].share == pytest.approx(1 / 3, abs=0.03)
    assert whole[1].share == whole[2].share == 0.0
    assert not trial.passes_performance
    assert trial.passes_stress
    assert "slower than 1 ms, limit 5 %" in trial.failures[0]
    # The worst slice decides.
    assert trial.worst[0].share == max(shares[0].share for shares in trial.slices)


def test_an_overloaded_drive_fails_and_says_so():
    trial = fs.act.run(SMALL, 400, threads=100_000, time="500 ms", warm_up="125 ms", overwrites=0.0)
    assert trial.overload is not None
    assert not trial.passes_stress
    assert any(why.startswith("overload: ") for why in trial.stress_failures)


def test_a_run_that_memory_ends_is_an_overload():
    lengths = load.lengths(5, 1, warm_up_ns=0, time_ns=10**9, slices=2)
    why = 'workload "small-reads-1": 1 problem\n  overload: at 3 s 900 requests are waiting'
    trial = fs.act.Trial.overloaded(why, 5, lengths, 1)
    assert trial.overload == "at 3 s 900 requests are waiting"
    assert (trial.passes_performance, trial.passes_stress) == (False, False)
    assert fs.act.Trial.overloaded("a disk is full", 5, lengths, 1) is None
    # This trial can be shown, drawn and written like any other.
    found = fs.act.Search({"drive": "x", "overwrites": None}, [trial], 1, 10)
    assert found.stress.multiplier == 0
    assert json.loads(found.to_json())["trials"][0]["overload"]
    assert "overload" in report.table([trial]).rows[0][-1]
    assert found.frame["p99_ns"].to_list() == [None]


def test_what_a_histogram_cannot_tell_is_counted(tmp_path):
    trial = fs.act.run(SMALL, 8, time="1 s", warm_up="125 ms", overwrites=1.0)
    exact = [[share.slower_most for share in shares] for shares in trial.slices]
    # Pretend that the bucket of the first threshold has all requests.
    vague = [
        tuple(Share(s.threshold_ns, s.limit_share, s.requests, 0, s.requests) for s in shares)
        for shares in trial.slices
    ]
    settings = certify._settings(SMALL, (), None, "1 s", "125 ms", 2, 1, "constant")
    with source.prepared(
        settings.source,
        overwrites=1.0,
        snapshot=None,
        save_drive=None,
        force=False,
        observer=Silent,
    ) as start:
        config = settings.experiment(8)
        experiment = fs.Experiment.from_dict(config, snapshot_given=True)
        doubtful = fs.act.Trial(**{**trial.__dict__, "slices": tuple(vague)})
        assert not doubtful.is_certain
        counted = certify._exact(doubtful, experiment, start)
    assert counted.is_certain
    for shares, whole in zip(counted.slices, exact, strict=True):
        assert all(share.slower_least == share.slower_most for share in shares)
        # Buckets are 0.1 % wide: few requests lie on the threshold's own.
        assert [s.slower_most for s in shares] == pytest.approx(whole, abs=20)
    assert counted.slices[0][0].slower_most > 0


# The search.


def hunted(passes, *, step=1, most=1000) -> tuple[dict[int, bool], int]:
    """Try wanted multipliers until there are none; return them, and the number of rounds."""
    tried: dict[int, bool] = {}
    for rounds in range(100):
        batch = hunt.wanted(tried, step=step, most=most)
        if not batch:
            return tried, rounds
        assert not set(batch) & set(tried)
        assert len(batch) <= 2
        assert all(k % step == 0 and 0 < k <= most for k in batch)
        tried |= {k: passes(k) for k in batch}
    raise AssertionError("it does not end")


@pytest.mark.parametrize("highest", [*range(70), 109, 511, 512, 513, 998, 999])
def test_the_highest_that_passes_is_found(highest):
    tried, rounds = hunted(lambda k: k <= highest)
    assert hunt.rating(tried, 1000) == (highest, False, ())
    assert highest + 1 in tried
    assert rounds <= 13
    # Neighbours on either side were tried, too.
    assert {k for k in (highest - 1, highest, highest + 2) if 0 < k <= 1000} <= set(tried)


def test_all_pass_and_none_passes():
    tried, _ = hunted(lambda k: True, most=1000)
    assert hunt.rating(tried, 1000) == (1000, True, ())
    tried, _ = hunted(lambda k: False)
    assert hunt.rating(tried, 1000) == (0, False, ())
    assert sorted(tried) == [1, 2]
    assert hunt.rating({}, 1000) == (0, False, ())
    assert hunted(lambda k: True, most=1)[0] == {1: True}


def test_steps():
    tried, _ = hunted(lambda k: k <= 37, step=5, most=100)
    assert hunt.rating(tried, 100) == (35, False, ())


def test_what_is_not_monotone_is_told():
    # 21 passes although 20 does not; found as the neighbour of the first failure.
    tried, _ = hunted(lambda k: k < 20 or k == 21)
    assert hunt.rating(tried, 1000) == (19, False, (21,))
    # A failure just below what seemed to be the rating lowers it.
    tried, _ = hunted(lambda k: k <= 40 and k != 39)
    assert hunt.rating(tried, 1000) == (38, False, (40,))


def test_both_ratings_share_their_trials():
    def trial(k):
        performs, lasts = k <= 11, k <= 30
        return SimpleNamespace(multiplier=k, passes_performance=performs, passes_stress=lasts)

    trials = {}
    while batch := certify.next_to_try(trials.values(), step=1, most=100):
        assert not set(batch) & set(trials)
        trials |= {k: trial(k) for k in batch}
    found = {k: (t.passes_performance, t.passes_stress) for k, t in trials.items()}
    assert hunt.rating({k: p for k, (p, _) in found.items()}, 100).multiplier == 11
    assert hunt.rating({k: s for k, (_, s) in found.items()}, 100).multiplier == 30
    assert len(trials) < 20


@pytest.fixture(scope="module")
def search():
    """A search that ends between two multipliers of a small drive."""
    return fs.act.search(SMALL, threads=8, time="1 s", warm_up="125 ms", overwrites=0.5, jobs=2)


def test_the_same_search_has_the_same_result(search):
    again = fs.act.search(SMALL, threads=8, time="1 s", warm_up="125 ms", overwrites=0.5, jobs=1)
    assert again.to_json() == search.to_json()
    assert 0 < search.performance.multiplier <= search.stress.multiplier < 1000
    assert search.trials[0].multiplier == 1


def test_a_multiplier_alone_is_that_of_the_search(search):
    multiplier = search.stress.multiplier
    (of_search,) = (trial for trial in search.trials if trial.multiplier == multiplier)
    alone = fs.act.run(SMALL, multiplier, threads=8, time="1 s", warm_up="125 ms", overwrites=0.5)
    assert alone == of_search
    assert alone.as_dict() == of_search.as_dict()
    assert alone.result.digest == of_search.digest
    assert of_search.result is None


def test_the_table_of_a_search(search):
    frame = search.frame
    assert frame["multiplier"].to_list() == [trial.multiplier for trial in search.trials]
    passed = set(frame.filter(pl.col("passes_performance"))["multiplier"])
    assert max(passed - set(search.performance.exceptions)) == search.performance.multiplier
    ratio = frame["small_reads_mean_ns"] / frame["small_reads_period_ns"]
    assert (ratio < 1).to_list() == [trial.services[0].passes for trial in search.trials]


def test_a_kept_drive_and_another_seed(tmp_path):
    kept = tmp_path / "aged.snap"
    first = fs.act.run(SMALL, 2, time="1 s", overwrites=1.0, save_drive=kept)
    again = fs.act.run(SMALL, 2, time="1 s", snapshot=kept)
    assert again == first
    assert fs.act.run(SMALL, 2, time="1 s", snapshot=fs.Snapshot.load(kept)) == first
    assert first.settings["ageing_write_amplification"] > 1.5
    assert again.settings["overwrites"] is None
    other = fs.act.run(SMALL, 2, time="1 s", snapshot=kept, seed=2)
    assert other.digest != first.digest


def test_a_drive_is_that_of_a_file_and_its_workloads_are_not(experiment_file):
    of_file = fs.act.run(experiment_file, 1, **QUICK)
    of_table = fs.act.run(SMALL, 1, **QUICK)
    assert of_file.digest == of_table.digest
    assert fs.act.run(fs.Experiment.from_file(experiment_file), 1, **QUICK) == of_file
    slow = fs.act.run(experiment_file, 1, overrides={"drive.firmware.read": "400 us"}, **QUICK)
    assert slow.small_reads.p50 > of_file.small_reads.p50 + 390_000


def test_time_that_is_less_than_a_cycle_is_remarked():
    trial = fs.act.run(SMALL, 1, **QUICK)
    assert trial.cycle_ns == 2_000_000_000
    assert any("0.25 of a cycle" in remark for remark in trial.remarks)


# The command.


def test_one_multiplier_on_the_command_line(experiment_file, flashscape, tmp_path):
    arguments = ("act", experiment_file, "-k", "2", "--time", "1 s", "--overwrites", "0.5")
    ended = flashscape(*arguments, "--json", "act.json", "--out", "out", "--quiet")
    assert (ended.status, ended.out, ended.err) == (0, "", "")
    document = json.loads((tmp_path / "act.json").read_text())
    (trial,) = document["trials"]
    assert (document["overwrites"], trial["multiplier"]) == (0.5, 2)
    assert trial["small_reads"]["requests"] == 4000
    assert fs.Result.load(tmp_path / "out").digest == trial["digest"]
    assert flashscape("explain", "out").status == 0
    # That a drive fails is a result.
    shown = flashscape(*arguments, "--set", "drive.firmware.read=2 ms")
    assert shown.status == 0, shown.err
    assert "2x fails the performance test and fails the stress test" in shown.out
    assert "not met: small reads take 2.1" in shown.out
    assert "filling and ageing the drive" in shown.err


def test_a_search_on_the_command_line(experiment_file, flashscape, tmp_path):
    arguments = ("act", experiment_file, "--time", "1 s", "--overwrites", "0", "--most", "8")
    ended = flashscape(*arguments, "--json", "a.json", "--picture", "a.svg", "--save-drive", "d")
    assert ended.status == 0, ended.err
    document = json.loads((tmp_path / "a.json").read_text())
    performance = document["performance"]["multiplier"]
    stress = document["stress"]["multiplier"]
    assert ended.out.splitlines()[-1].startswith(f"performance rating {performance}x, stress")
    assert 0 < stress < 8
    assert f"{stress + 1}x: p99 " in ended.err
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()
    again = flashscape(*arguments[:-4], "--most", "8", "--snapshot", "d", "--picture", "a.png")
    assert again.status == 0, again.err
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert again.out.splitlines()[-1] == ended.out.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("dc-tcl",), 2, 'neither a preset (did you mean "dc-tlc"? there are'),
        (("none.toml",), 2, "none.toml: there is no such file"),
        (("dc-tlc", "-k", "0"), 2, "0 is not in the range"),
        (("dc-tlc", "-k", "x"), 2, "not a valid integer"),
        (("dc-tlc", "-k", "200000"), 2, "multiplier=200000: is not a whole number from 1"),
        (("dc-tlc", "--step", "5", "--most", "4"), 2, "step=5: is not a whole number from 1 to 4"),
        (("dc-tlc", "-k", "1", "--jobs", "2"), 2, "--jobs controls the search"),
        (("dc-tlc", "-k", "1", "--picture", "a.svg"), 2, "--picture controls the search"),
        (("dc-tlc", "--out", "o"), 2, "name that run with -k"),
        (("dc-tlc", "--time", "20"), 2, "time: "),
        (("dc-tlc", "--time", "0 s"), 2, "is not a time from 1 ns"),
        (("dc-tlc", "--time", "never"), 2, "time: "),
        (("dc-tlc", "--overwrites", "-1"), 2, "overwrites: -1: a drive is overwritten 0 to 1000"),
        (("dc-tlc", "--overwrites", "nan"), 2, "overwrites: nan is not a number"),
        (("dc-tlc", "--picture", "a.gif"), 2, "a.gif: a picture is called .svg or .png"),
        (("dc-tlc", "--set", "run.time=4 s"), 2, "run.time: act brings its own workload"),
        (("dc-tlc", "--set", "drive.buffer.sise=4 MiB"), 2, 'did you mean "size"'),
        (("dc-tlc", "--snapshot", "none"), 2, "none"),
        (("dc-tlc", "--snapshot", "a", "--overwrites", "2"), 2, "taken as it is"),
        (("dc-tlc", "--snapshot", "a", "--save-drive", "b"), 2, "taken as it is"),
        (("dc-tlc", "--json", ""), 2, "a name is missing"),
        (("experiment.toml", "--json", "experiment.toml", "--force"), 1, "is read by this"),
        (("experiment.toml", "--json", "there"), 1, "there: is there already"),
        (("experiment.toml", "-k", "1", "--save-drive", "there"), 1, "there: is there already"),
        (("experiment.toml", "-k", "1", "--out", "full"), 1, "full: is not empty"),
        (("experiment.toml", "--json", "a.svg", "--picture", "a.svg"), 1, "something else"),
    ],
)
def test_bad_input(arguments, status, message, experiment_file, flashscape, tmp_path):
    (tmp_path / "there").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thing").touch()
    before = sorted(tmp_path.rglob("*"))
    ended = flashscape("act", *arguments)
    if ended.err.startswith("Usage"):
        assert (ended.status, ended.out) == (status, "")
        assert message in ended.err
    else:
        refused(ended, status, message)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_interrupted_search_ends_at_once(experiment_file, tmp_path):
    command = [sys.executable, "-m", "flashscape", "act", experiment_file, "--threads", "9"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as running:
        told = [running.stderr.readline() for _ in range(4)]
        running.send_signal(signal.SIGINT)
        out, rest = running.communicate(timeout=60)
    assert running.returncode == 130
    assert told[0] == "filling and ageing the drive\n"
    assert told[1] == "trying 1x, 2x\n"
    assert [line.split(":")[0] for line in told[2:]] == ["1x", "2x"]
    assert out == ""
    found = re.search(r"with (\d+) multipliers tried; so far the highest that passes the .*", rest)
    assert found is not None, rest
    assert int(found[1]) >= 2
    # The verdicts printed before the interruption determine both ratings.
    passed = [line.split(":")[0] for line in told[2:] if line.endswith(": passes\n")]
    if int(found[1]) == 2:
        assert f"the performance test is {(passed or ['none'])[-1]}, the stress test" in found[0]
    assert not list(tmp_path.glob("flashscape-*"))


def test_a_snapshot_of_another_drive_is_refused(experiment_file, flashscape, tmp_path):
    fs.Snapshot.take({"drive": with_spare(), **_IDLE}).save(tmp_path / "other.snap")
    refused(
        flashscape("act", experiment_file, "--snapshot", "other.snap"), 2, "would lie elsewhere"
    )


_IDLE = {"workload": [{"name": "x", "reads": "100 %"}], "run": {"requests": 1}}


def test_wrong_values_in_python():
    for wrong in ({"slices": 0}, {"threads": True}, {"arrivals": "bursty"}, {"time": 5}):
        with pytest.raises(fs.ConfigError, match=next(iter(wrong))):
            fs.act.run(SMALL, 1, **wrong)
    with pytest.raises(fs.ConfigError, match=r"multiplier: 2\.5 is not a whole number"):
        fs.act.run(SMALL, 2.5)
    experiment = fs.Experiment.from_dict({"drive": SMALL, **_IDLE})
    with_function = experiment.with_policy("drive.ftl.gc.victim", lambda blocks: None)
    with pytest.raises(fs.ConfigError, match="with_policy"):
        fs.act.run(with_function, 1)
    tiny = {**SMALL, "ftl": {"over_provisioning": {"exported": "64 KiB"}}}
    with pytest.raises(fs.ConfigError):
        fs.act.run(tiny, 1)


def test_a_drive_with_nvm_sets_is_refused(flashscape, tmp_path):
    sets = (Path(__file__).parents[1] / "examples" / "sets.toml").read_text(encoding="utf-8")
    (tmp_path / "sets.toml").write_text(sets, encoding="utf-8")
    in_both = "drive.ftl.sets: act tests a whole drive"
    for arguments in (("sets.toml",), ("dc-tlc", "--set", "drive.ftl.sets.channels=4")):
        ended = flashscape("act", *arguments, "-k", "5")
        refused(ended, 2, f"{arguments[0]}")
        told = " ".join(ended.err.split())
        assert in_both in told
        assert "leave drive.ftl.sets out, and nvm_set of the workloads" in told
        # The workload of act is not the user's.
        assert "workload[0]" not in told
        assert "region" not in told
    # The remedy.
    lines = [line for line in sets.splitlines() if not line.startswith(("sets =", "nvm_set"))]
    whole = tmp_path / "whole.toml"
    whole.write_text("\n".join(lines), encoding="utf-8")
    assert fs.act.run(whole, 1, overwrites=0, time="1 s", warm_up="1 s").small_reads.requests


def test_shown_numbers():
    shares = {0.0: "0 %", 0.00004: "0.004 %", 0.0312: "3.1 %", 0.25: "25 %", 1.0: "100 %"}
    assert {share: report.percentage(share) for share in shares} == shares
    assert report.shown(hunt.Rating(30, True, ())) == "at least 30x"
    service = Service("large-writes", 1, 1, LARGE_WRITES.per_second * 2, 1, 3e7)
    assert conditions.why_behind(service) == (
        "large writes take 30 ms in the mean, issue period 20.8 ms"
    )
