"""Fleets: each drive is a run of its own; together they have the figures of pooled requests."""

from __future__ import annotations

import json
import math
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import flashscape as fs
import seeds
from flashscape.errors import ConfigError, OutputError
from flashscape.fleet import words
from flashscape.fleet.correlation import Course, correlation
from flashscape.fleet.merged import Merger
from flashscape.fleet.spread import spread
from flashscape.report import fleet as report
from flashscape.sweep import SilentSweep, sharing

AGE = "0 %..80 %"
FILES = ("fleet.json", "drives.parquet", "latency.parquet")
SECONDS_MOST = 60


@pytest.fixture
def base(config):
    """Reads and writes at a rate on a small, aged drive with bad blocks."""
    config["run"] = {"requests": 1_500}
    config["record"] = {"interval": "5 ms"}
    config["drive"]["ftl"]["bad_blocks"] = {"factory": "2 %"}
    config["drive"]["ftl"]["over_provisioning"] = {"exported": "120 MiB"}
    config["workload"][0] = {
        "name": "host",
        "reads": "70 %",
        "arrivals": {"process": "poisson", "rate": "8 kIOPS"},
    }
    return config


@pytest.fixture
def fleet_of(base):
    """Function that runs a fleet of the base."""

    def run(**given):
        return fs.fleet(base, **{"drives": 4, "age": AGE, "fanout": [1, 3, 9], **given})

    return run


def bytes_of(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in FILES}


def plain(summary):
    """A summary without what differs from start to start."""
    kept = json.loads(json.dumps(summary))
    del kept["host_cpu_seconds"]
    return kept


def test_what_a_drive_programs_counts_without_writes_of_hosts(base):
    base["drive"]["ftl"]["gc"] = {"idle_gap": "10 us"}
    base["precondition"] = {"fill": "random", "age": {"overwrites": 1.0}}
    base["workload"][0] = {
        "name": "host",
        "reads": "100 %",
        "arrivals": {"process": "poisson", "rate": "100 IOPS"},
    }
    result = fs.run(base)
    merger = Merger()
    merger.add(result)
    merger.add(result)
    told = merger.summary()["write_amplification"]
    assert told["host_bytes"] == 0
    assert told["gc"] is None
    own = result.summary["write_amplification"]["programmed_bytes"]["gc"]
    assert told["programmed_bytes"]["gc"] == 2 * own > 0


# One drive and all of them.


def test_a_drive_alone_is_the_drive_of_the_fleet(base, fleet_of, tmp_path, monkeypatch):
    # The fleet's drives begin with one that is shared; alone, each prepares itself.
    monkeypatch.setattr(sharing, "_TRIVIAL", 0.0)
    heard = Prepared()
    fleet = fleet_of(out=tmp_path / "fleet", progress=heard)
    assert heard.groups == [4]
    for number in (1, 3):
        clone = {"number": number, "overwrites": {"from": 0.0, "to": 0.8}}
        alone = fs.run({**base, "clone": clone}, out=tmp_path / f"alone-{number}")
        together = fleet.result(number)
        assert alone.digest == together.digest
        assert plain(alone.summary) == plain(together.summary)
        for name in ("latency", "series"):
            file = Path(str(together.folder)) / f"{name}.parquet"
            assert (
                tmp_path / f"alone-{number}" / f"{name}.parquet"
            ).read_bytes() == file.read_bytes()


class Prepared(SilentSweep):
    """Notes the drives that were prepared for others."""

    def __init__(self) -> None:
        self.groups: list[int] = []

    def prepared(self, prepared):
        self.groups.append(len(prepared.group.points))


def test_one_drive_runs_alone_by_a_plain_command(base, fleet_of, flashscape, tmp_path):
    (tmp_path / "base.json").write_text(json.dumps(base), encoding="utf-8")
    fleet = fleet_of(drives=3)
    run = ["run", "base.json", "--set", "clone.number=3"]
    overwrites = ["--set", "clone.overwrites={ from = 0.0, to = 0.8 }"]
    ended = flashscape(*run, *overwrites, "--out", "alone", "--quiet")
    assert ended.status == 0, ended.err
    alone = fs.Result.load(tmp_path / "alone")
    assert alone.digest == fleet.result(3).digest
    assert flashscape("explain", "alone").status == 0


def test_the_command_tells_how_to_run_the_slowest_drive_alone(
    flashscape, experiment_file, tmp_path
):
    (tmp_path / "fleet.toml").write_text(FLEET, encoding="utf-8")
    ended = flashscape("fleet", "fleet.toml", "--out", "out", "--set", "run.audit=false")
    (line,) = (each for each in ended.out.splitlines() if " alone: flashscape run " in each)
    words = shlex.split(line.partition(" alone: ")[2])
    assert words[:3] == ["flashscape", "run", "experiment.toml"]
    assert flashscape(*words[1:], "--out", "alone").status == 0
    fleet = fs.Fleet.load(tmp_path / "out")
    number = fleet.spread["read_p99_9_ns"]["most_drive"]
    told = flashscape("explain", "out").err
    assert "out: has the runs of a fleet" in told
    assert "flashscape run out/points/" in told
    told = flashscape("fleet", "--show", "alone").err
    assert "alone: has no results of a fleet (fleet.json); name a directory" in told
    alone = fs.Result.load(tmp_path / "alone")
    assert plain(alone.summary) == plain(fleet.result(number).summary)


def test_drives_differ_in_their_ageing_and_share_their_bad_blocks(base, fleet_of):
    fleet = fleet_of(drives=8, fanout=None)
    drives = fleet.drives.unique("drive", keep="first", maintain_order=True)
    assert drives["drive"].to_list() == list(range(1, 9))
    assert drives["digest"].n_unique() == 8
    aged = fleet.spread["aged_units"]
    once = 120 * 256
    assert once <= aged["least"] < aged["most"] <= 1.8 * once
    bad = set()
    for number in range(1, 4):
        alone = fs.run({**base, "clone": {"number": number}}).wear
        bad.add(tuple(alone.filter(pl.col("state") == "bad")["block"]))
    (blocks,) = bad
    assert len(blocks) == drives["bad_blocks"][0] > 0
    assert drives["bad_blocks"].n_unique() == 1


def test_without_ageing_drives_begin_alike(fleet_of):
    fleet = fleet_of(age=None, fanout=None)
    aged = fleet.spread["aged_units"]
    assert aged["least"] == aged["most"] == 120 * 256
    assert fleet.drives["digest"].n_unique() == 4
    assert fleet.document["age"] is None


# Merging.


def test_merged_figures_are_those_of_the_pooled_requests(base, fleet_of, tmp_path):
    fleet = fleet_of(drives=3)
    logs, results = [], []
    for number in (1, 2, 3):
        clone = {"number": number, "overwrites": {"from": 0.0, "to": 0.8}}
        log = tmp_path / f"{number}.parquet"
        results.append(fs.run({**base, "clone": clone}, requests=log))
        logs.append(pl.read_parquet(log))
    pooled = pl.concat(logs)
    for kind in ("read", "write"):
        samples = sorted(pooled.filter(pl.col("kind") == kind)["latency_ns"])
        latency = fleet.latency(kind)
        assert latency.requests == len(samples)
        assert (latency.min, latency.max) == (samples[0], samples[-1])
        assert latency.mean == sum(samples) / len(samples)
        for percent in (0, 10, 50, 90, 99, 99.9, 100):
            rank = max(1, math.ceil(percent / 100 * len(samples) - 1e-9))
            exact = samples[rank - 1]
            found = latency.percentile(percent)
            # No more than a bucket above, as in a run.
            assert exact <= found <= exact + exact / 1000
        # Bucket by bucket, counted from the samples themselves.
        rows = fleet.histogram.filter(pl.col("kind") == kind)
        for low, high, requests in rows.select("low_ns", "high_ns", "requests").iter_rows():
            assert sum(low <= sample <= high for sample in samples) == requests
        (told,) = (each for each in fleet.document["kinds"] if each["kind"] == kind)
        of_kind = pooled.filter(pl.col("kind") == kind)
        blame = {name: int(of_kind[f"{name}_ns"].sum()) for name, _ in fs._flashscape.states()}
        assert told["blame_ns"] == {name: ns for name, ns in blame.items() if ns}
        assert sum(told["blame_ns"].values()) == sum(samples)
        iops = sum(result.summary["initiators"][0][kind]["iops"] for result in results)
        assert told["iops"] == pytest.approx(iops, rel=1e-12)
    written = int(pooled.filter(pl.col("kind") == "write")["length_bytes"].sum())
    assert fleet.document["write_amplification"]["host_bytes"] == written
    programmed = sum(
        result.write_amplification * result.summary["write_amplification"]["host_bytes"]
        for result in results
    )
    assert fleet.write_amplification == pytest.approx(programmed / written, rel=1e-12)
    told = fleet.document["write_amplification"]["programmed_bytes"]
    for source in ("host", "gc", "padding"):
        of_drives = (r.summary["write_amplification"]["programmed_bytes"] for r in results)
        assert told[source] == sum(each[source] for each in of_drives)
    wear = fleet.document["wear"]
    blocks = pl.concat(result.wear for result in results).filter(pl.col("state") != "bad")
    assert wear["erase_count"]["mean"] == blocks["erases"].sum() / blocks.height
    assert wear["good_blocks"] == blocks.height
    assert wear["erases"] == sum(result.summary["wear"]["erases"] for result in results)
    # The table of reads for queries is that of the log.
    for number, log in enumerate(logs, 1):
        file = Path(str(fleet.result(number).folder)) / "reads.parquet"
        reads = log.filter(pl.col("kind") == "read").sort("arrived_ns", maintain_order=True)
        assert pl.read_parquet(file).equals(reads.select("arrived_ns", "latency_ns"))
    samples = pooled.filter(pl.col("kind") == "read")["latency_ns"]
    slow = int((samples > fleet.fanout.slow_above_ns).sum())
    assert fleet.fanout.slow_reads == slow / len(samples)


def test_the_headline_says_how_many_drives_collected(base):
    """6,000 requests use up the free blocks of each drive several times."""
    fleet = fs.fleet(base | {"run": {"requests": 6_000}}, drives=4, age=AGE)
    collected = [fleet.result(n).summary["collection"]["blocks"] for n in range(1, 5)]
    assert min(collected) > 0
    assert fleet.document["collection"] == {"drives": 4, "blocks": sum(collected)}
    assert report.requests(fleet.document).title.endswith("; all collected")
    assert not any("collected blocks while" in line for line in fleet.sentences)


def test_drives_that_do_not_collect_are_told(base):
    """1,500 requests end before a collection of most drives does."""
    fleet = fs.fleet(base, drives=6, age=AGE)
    collected = [fleet.result(n).summary["collection"]["blocks"] > 0 for n in range(1, 7)]
    assert 0 < sum(collected) < 6, "the case has both kinds"
    told = f"{sum(collected)} of 6 collected"
    assert report.requests(fleet.document).title.endswith(told)
    [note] = [line for line in fleet.sentences if "collected blocks while" in line]
    assert note.startswith(f"note: only {sum(collected)} of 6 drives collected blocks while")
    none = fleet.document | {"collection": {"drives": 0, "blocks": 0}}
    assert report.requests(none).title.endswith("; none collected")
    # Without writes nothing is to be collected.
    reads = none | {"write_amplification": {"host_bytes": 0}}
    assert words._collected(reads) == []


def test_further_limits_of_slow_reads(base, flashscape, tmp_path):
    (tmp_path / "base.json").write_text(json.dumps(base))
    command = ("fleet", "base.json", "--drives", "2", "--fanout", "1,2", "--quiet")
    ended = flashscape(*command, "--slow-above", "1ms, 200us", "--out", "fleet")
    assert ended.status == 0, ended.err
    fleet = fs.Fleet.load(tmp_path / "fleet")
    assert [each["slow_above_ns"] for each in fleet.fanout.limits] == [200_000, 1_000_000]
    files = tmp_path.glob("fleet/points/*/reads.parquet")
    reads = pl.concat(pl.read_parquet(file)["latency_ns"] for file in files)
    for limit in fleet.fanout.limits:
        share = (reads > limit["slow_above_ns"]).mean()
        # A bucket of the histogram is 0.1 % wide.
        near = (reads / limit["slow_above_ns"]).is_between(0.999, 1.001).mean()
        assert abs(limit["slow_reads"] - share) <= near + 1e-12
    shown = flashscape("fleet", "--show", "fleet")
    assert "The same queries; slow: with a read above 200 µs, as " in shown.out
    assert "The same queries; slow: with a read above 1 ms, as " in shown.out
    given = fs.fleet(base, drives=2, fanout=[1, 2], slow_above=[1_000_000, "200 us"])
    assert given.fanout.limits == fleet.fanout.limits


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("1", '"1" has no unit'),
        (0, "0 is no time above 0; write such as 1 ms"),
        (True, "True is no time above 0"),
        ("1 ms,1000 us", "'1 ms,1000 us' names a limit twice"),
        ([1, 2, 3, 4], "4 limits are more than 3"),
        ([], r"\[\] names no limit"),
    ],
)
def test_limits_that_are_none_are_refused(wrong, message, base):
    with pytest.raises(ConfigError, match=f"slow_above: {message}"):
        fs.fleet(base, drives=2, fanout=[1], slow_above=wrong)
    with pytest.raises(ConfigError, match=r"slow_above: has no effect without numbers of reads"):
        fs.fleet(base, drives=2, slow_above="1 ms")


def test_the_spread_names_the_drives():
    figures = [{"a": 3.0, "b": None}, {"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 1.0}]
    found = spread([1, 2, 7], figures)
    assert found == {
        "a": {"least": 1.0, "least_drive": 2, "median": 3.0, "most": 3.0, "most_drive": 1}
    }


# Correlation.


def course(counts: list[int], interval: int = 10, begin: int = 0) -> Course:
    """A drive whose reads, read latencies and GC are these counts in each interval."""
    made = Course.__new__(Course)
    begins = [at * interval for at in range(len(counts))]
    made.begin_ns, made.end_ns = begin, len(counts) * interval
    made.interval_ns = interval
    made.rows = pl.DataFrame(
        {
            "begin_ns": begins,
            "end_ns": [at + interval for at in begins],
            "gc_units_programmed": counts,
            "read_latency_sum_ns": [count * 100 for count in counts],
            "reads": [10] * len(counts),
            "requests": counts,
        }
    )
    return made


def of_collection(courses: list[Course]) -> dict[str, float]:
    found = correlation(courses)
    assert found is not None
    return found["figures"]["collection"]


def test_drives_in_step_are_fully_correlated_and_opposite_ones_inversely():
    drawn = seeds.drawn(1)
    counts = [drawn.randrange(100) for _ in range(50)]
    assert of_collection([course(counts)] * 3)["mean_of_pairs"] == pytest.approx(1.0)
    assert of_collection([course(counts)] * 3)["excess"] == pytest.approx(3.0)
    opposite = [100 - count for count in counts]
    both = of_collection([course(counts), course(opposite)])
    assert both["mean_of_pairs"] == pytest.approx(-1.0)


def test_the_mean_of_pairs_is_that_of_all_pairs():
    drawn = seeds.drawn(2)
    common = [drawn.randrange(50) for _ in range(60)]
    all_of_them = [[each + drawn.randrange(100) for each in common] for _ in range(6)]

    def pearson(a: list[int], b: list[int]) -> float:
        mean = [sum(each) / len(each) for each in (a, b)]
        both = sum((x - mean[0]) * (y - mean[1]) for x, y in zip(a, b, strict=True))
        squares = [sum((x - m) ** 2 for x in each) for each, m in zip((a, b), mean, strict=True)]
        return both / math.sqrt(squares[0] * squares[1])

    pairs = [pearson(a, b) for at, a in enumerate(all_of_them) for b in all_of_them[:at]]
    found = of_collection([course(counts) for counts in all_of_them])
    assert found["mean_of_pairs"] == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)
    assert found["drives"] == 6


def test_independent_drives_are_correlated_by_chance_alone():
    drawn = seeds.drawn(3)
    courses = [course([drawn.randrange(100) for _ in range(80)]) for _ in range(40)]
    found = of_collection(courses)
    assert found["by_chance"] == pytest.approx(math.sqrt(2 / (40 * 39 * 79)))
    assert abs(found["mean_of_pairs"]) < 4 * found["by_chance"]


def test_intervals_of_different_lengths_are_joined_to_the_longest():
    counts = list(range(40))
    coarse = [counts[2 * at] + counts[2 * at + 1] for at in range(20)]
    found = correlation([course(counts), course(coarse, interval=20)])
    assert found is not None
    assert (found["interval_ns"], found["intervals"]) == (20, 20)
    assert found["figures"]["collection"]["mean_of_pairs"] == pytest.approx(1.0)
    # The warm-up of one drive is left out for all.
    assert correlation([course(counts, begin=25), course(counts)])["intervals"] == 37


def test_nothing_is_said_of_one_drive_or_of_a_moment():
    counts = list(range(40))
    assert correlation([course(counts)]) is None
    assert correlation([course(counts[:7]), course(counts)]) is None
    still = correlation([course([5] * 40), course([5] * 40), course([5] * 40)])
    assert still is not None
    assert still["figures"]["collection"] is None


# The same bytes.


def test_the_number_of_jobs_changes_no_byte(fleet_of, tmp_path, monkeypatch):
    monkeypatch.setattr(sharing, "_TRIVIAL", 0.0)
    fleet_of(out=tmp_path / "one", jobs=1)
    fleet_of(out=tmp_path / "two", jobs=2)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    # A fleet without a shared drive has the same bytes, too.
    monkeypatch.setattr(sharing, "_TRIVIAL", math.inf)
    fleet_of(out=tmp_path / "apart", jobs=2)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "apart")


def test_a_second_start_runs_only_new_drives(fleet_of, tmp_path):
    first, second = Counted(), Counted()
    fleet_of(out=tmp_path / "out", drives=2, progress=first)
    fleet_of(out=tmp_path / "out", drives=5, progress=second)
    assert (first.ends, second.ends) == (2, 3)
    fleet_of(out=tmp_path / "whole", drives=5)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


class Counted(SilentSweep):
    """Counts drives that have ended; ``then`` is called after the first."""

    def __init__(self, then=None) -> None:
        self.ends = 0
        self._then = then

    def ended(self, ended):
        self.ends += 1
        if self._then is not None:
            then, self._then = self._then, None
            then()


def test_two_dask_workers_give_the_same_bytes_also_if_one_is_killed(
    base, tmp_path, tmp_path_factory, monkeypatch
):
    pytest.importorskip("distributed", reason="needs Dask: pip install 'flashscape[cluster]'")
    import test_cluster as dask

    monkeypatch.setattr(sharing, "_TRIVIAL", 0.0)
    base["run"] = {"requests": 30_000}
    given = {"drives": 10, "age": AGE, "fanout": [1, 4, 20]}
    fs.fleet(base, **given, out=tmp_path / "here", jobs=2)
    folder = tmp_path_factory.mktemp("dask")
    port = dask.free_port()
    address = f"tcp://127.0.0.1:{port}"
    scheduler = ("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    with (
        dask.started(*scheduler, log=folder / "scheduler.log"),
        dask.worker(address, folder),
        dask.worker(address, folder),
    ):
        dask.connect(address).close()
        with fs.Cluster(address) as opened:
            until = time.monotonic() + SECONDS_MOST
            while len(opened._link.workers) < 2:
                assert time.monotonic() < until
                time.sleep(0.1)
                opened._link.refresh()
            fs.fleet(base, **given, out=tmp_path / "there", cluster=opened)
            victim = next(iter(opened._link.workers)).address
            kill = Counted(lambda: dask.kill(opened, victim))
            fs.fleet(base, **given, out=tmp_path / "killed", cluster=opened, progress=kill)
    assert bytes_of(tmp_path / "there") == bytes_of(tmp_path / "here")
    assert kill.ends == 10
    assert bytes_of(tmp_path / "killed") == bytes_of(tmp_path / "here")


# Files and commands.


FLEET = """\
title = "a fleet"
base = "experiment.toml"
[set]
run.requests = 800
[fleet]
drives = 3
age = "0 %..40 %"
[fleet.fanout]
reads = [1, 2, 7]
stages = 2
queries = 300
"""


def test_a_file_describes_a_fleet(flashscape, experiment_file, tmp_path):
    (tmp_path / "fleet.toml").write_text(FLEET, encoding="utf-8")
    ended = flashscape("fleet", "fleet.toml", "--out", "out", "--plot", "--set", "run.audit=false")
    assert ended.status == 0, ended.err
    assert "All 3 drives together" in ended.out
    assert "Queries of 2 stages" in ended.out
    assert (tmp_path / "out" / "fleet.svg").is_file()
    document = json.loads((tmp_path / "out" / "fleet.json").read_bytes())
    assert document["title"] == "a fleet"
    assert (document["drives"], document["age"]) == (3, {"from": 0.0, "to": 0.4})
    assert [row["reads"] for row in document["fanout"]["rows"]] == [1, 2, 7]
    assert (document["fanout"]["stages"], document["fanout"]["queries"]) == (2, 300)
    again = flashscape("fleet", "--show", "out")
    assert again.out.splitlines()[:4] == ended.out.splitlines()[:4]
    assert flashscape("fleet", "--show", "out", "--json", "-").out == (
        tmp_path / "out" / "fleet.json"
    ).read_text(encoding="utf-8")
    loaded = fs.Fleet.load(tmp_path / "out")
    assert loaded.latency("read").requests == document["kinds"][0]["requests"]
    assert loaded.fanout is not None
    assert "All 3 drives together" in loaded._repr_html_()
    assert repr(loaded) == "<Fleet 'a fleet': 3 drives>"
    # Options replace the file's values, and the picture is drawn again.
    (tmp_path / "out" / "fleet.svg").unlink()
    fewer = flashscape("fleet", "fleet.toml", "--drives", "2", "--fanout", "1", "--out", "two")
    assert "All 2 drives together" in fewer.out
    assert flashscape("plot", "out").status == 0
    assert (tmp_path / "out" / "fleet.svg").is_file()
    # The drives are points of a sweep.
    assert flashscape("sweep", "--show", "out").status == 0


def test_a_dry_run_runs_nothing(flashscape, experiment_file, tmp_path):
    ended = flashscape("fleet", "experiment.toml", "--drives", "64", "--age", "0..25%", "--dry-run")
    assert ended.status == 0, ended.err
    assert "64" in ended.out
    assert "CPU time" in ended.out
    assert [file.name for file in tmp_path.iterdir()] == ["experiment.toml"]


@pytest.mark.parametrize(
    ("options", "phrases"),
    [
        ((), ["drives", "--drives N"]),
        (("--drives", "0"), ["drives", "from 1 to"]),
        (("--drives", "2", "--age", "3"), ["age", "'3' is no range", "0 %..25 %"]),
        (("--drives", "2", "--age", "5..1"), ["age", "begins above its end"]),
        (("--drives", "2", "--age", "0..0"), ["age", "ends outside"]),
        (("--drives", "2", "--age", "0..2000"), ["age", "ends outside"]),
        (("--drives", "2", "--stages", "2"), ["--stages: has no effect", "--fanout 1,10,100"]),
        (("--drives", "2", "--fanout", "1,1"), ["--fanout: ", "twice"]),
        (("--drives", "2", "--fanout", "0"), ["--fanout: ", "from 1 to"]),
        (("--drives", "2", "--fanout", "a"), ["1,10,100"]),
        (("--drives", "2", "--fanout", "1", "--stages", "0"), ["--stages: ", "from 1 to"]),
        (("--drives", "2", "--fanout", "1", "--queries", "0"), ["--queries: ", "from 1 to"]),
        (
            ("--drives", "2", "--age", "0..1", "--set", "precondition.fill=empty"),
            ["precondition.age", "empty drive"],
        ),
        (("--drives", "2", "--set", "drive.ftl.gc.victim=foo"), ["drive.ftl.gc.victim"]),
        (("--drives", "2", "--dry-run", "--plot"), ["--dry-run"]),
        (("--drives", "2", "--plot"), ["--out"]),
    ],
)
def test_wrong_options_are_refused(flashscape, experiment_file, options, phrases):
    ended = flashscape("fleet", "experiment.toml", *options)
    assert ended.status == 2, ended.out
    for phrase in phrases:
        assert phrase in ended.err, ended.err


@pytest.mark.parametrize(
    ("old", "new", "line", "phrase"),
    [
        ("drives = 3", "drives = true", 6, "fleet.drives: True is not a whole number"),
        ("drives = 3", "drvies = 3", 6, 'did you mean "drives"?'),
        ("stages = 2", "stage = 2", 10, 'did you mean "stages"?'),
        ("reads = [1, 2, 7]", "", 8, "fleet.fanout.reads: missing"),
        ('title = "a fleet"', 'titel = "a fleet"', 1, "unknown key"),
        ('base = "experiment.toml"', "", None, "base: missing"),
        ('age = "0 %..40 %"', "age = [0.4, 0.1]", 7, "begins above its end"),
    ],
)
def test_wrong_files_are_refused_by_line(
    flashscape, experiment_file, tmp_path, old, new, line, phrase
):
    assert FLEET.count(old) == 1
    (tmp_path / "fleet.toml").write_text(FLEET.replace(old, new), encoding="utf-8")
    ended = flashscape("fleet", "fleet.toml", "--dry-run")
    assert ended.status == 2, ended.out
    assert phrase in ended.err, ended.err
    if line is not None:
        assert f"line {line}, " in ended.err, ended.err


def test_an_option_beside_a_file_has_no_line(flashscape, experiment_file, tmp_path):
    (tmp_path / "fleet.toml").write_text(FLEET, encoding="utf-8")
    for option, value, phrase in (
        ("--drives", "0", "--drives: 0 is not a whole number"),
        ("--age", "5..1", "--age: '5..1' begins above its end"),
        ("--stages", "0", "--stages: 0 is not a whole number"),
    ):
        ended = flashscape("fleet", "fleet.toml", option, value)
        assert ended.status == 2, ended.out
        assert phrase in ended.err, ended.err
        assert "line " not in ended.err, ended.err


def test_a_fleet_file_is_no_experiment(flashscape, experiment_file, tmp_path):
    (tmp_path / "fleet.toml").write_text(FLEET, encoding="utf-8")
    ended = flashscape("run", "fleet.toml")
    assert ended.status == 2
    assert "is a fleet, not an experiment; flashscape fleet fleet.toml --dry-run" in ended.err


def test_an_array_is_refused_as_such(flashscape, experiment_file, tmp_path):
    array = '[array]\ndrives = 2\nplan = { policy = "mirror" }\n'
    text = Path(experiment_file).read_text(encoding="utf-8")
    (tmp_path / "two.toml").write_text(f"{text}\n{array}", encoding="utf-8")
    (tmp_path / "fleet.toml").write_text(
        'base = "two.toml"\n[fleet]\ndrives = 3\n', encoding="utf-8"
    )
    for arguments in (("two.toml", "--drives", "3"), ("fleet.toml",)):
        ended = flashscape("fleet", *arguments, "--out", "out")
        assert ended.status == 2
        told = " ".join(ended.err.split())
        assert "two.toml: array: a fleet is of single drives" in told
        # The user gave no clone.
        assert "clone" not in told
        assert not (tmp_path / "out").exists()
        # The remedy.
        ended = flashscape("fleet", *arguments, "--set", "array=none", "--dry-run")
        assert ended.status == 0, ended.err


def test_python_refuses_as_the_command_does(base):
    for given, phrase in [
        ({"drives": 0}, "drives"),
        ({"drives": 2, "age": (1.0, 0.5)}, "begins above"),
        ({"drives": 2, "age": (0, 1, 2)}, "is no range"),
        ({"drives": 2, "fanout": "10"}, "fanout: "),
        ({"drives": 2, "jobs": 0}, "at least one process"),
    ]:
        with pytest.raises(ConfigError, match=phrase):
            fs.fleet(base, **given)
    base["run"] = {"requests": 100, "untimed": True}
    with pytest.raises(ConfigError, match=r"fanout: an untimed run"):
        fs.fleet(base, drives=2, fanout=[2])
    with pytest.raises(OutputError, match="nowhere: has no results of a fleet"):
        fs.Fleet.load("nowhere")


def test_an_untimed_fleet_merges_writes(base):
    base["run"] = {"requests": 20_000, "untimed": True}
    fleet = fs.fleet(base, drives=2)
    assert fleet.write_amplification is not None
    assert fleet.latency("write").p99 is None
    assert fleet.correlation is None


def test_drives_that_fail_are_told_and_left_out(base, flashscape, tmp_path):
    whole = fs.fleet(base, drives=5, age=AGE)
    longest = sorted(whole.result(number).all.max for number in range(1, 6))
    assert longest[1] < longest[3]
    # The slowest drives do not answer in time.
    limit = (longest[1] + longest[3]) // 2
    base["run"]["starvation"] = {"limit": f"{limit} ns"}
    fleet = fs.fleet(base, drives=5, age=AGE, fanout=[2])
    failed = [int(name.removeprefix("drive ")) for name, _ in fleet.failures]
    slow = [n for n in range(1, 6) if whole.result(n).all.max > limit]
    assert failed == slow
    assert 0 < len(slow) < 5
    rest = [whole.result(n) for n in range(1, 6) if n not in slow]
    assert fleet.latency("read").requests == sum(each.read.requests for each in rest)
    assert fleet.latency("read").max == max(each.read.max for each in rest)
    assert "failed and are in no figure" in fleet.sentences[0]
    (tmp_path / "base.json").write_text(json.dumps(base), encoding="utf-8")
    ended = flashscape("fleet", "base.json", "--drives", "5", "--age", "0..80%", "--quiet")
    assert ended.status == 1


def test_a_fleet_without_any_result_is_an_error(base):
    base["run"]["starvation"] = {"limit": "1 us"}
    with pytest.raises(fs.FlashscapeError, match="no drive of the fleet has results"):
        fs.fleet(base, drives=2)


def test_a_fleet_of_one_drive_is_that_drive(base):
    fleet = fs.fleet(base, drives=1, fanout=[1])
    alone = fs.run({**base, "clone": {"number": 1}})
    assert fleet.result(1).digest == alone.digest
    for name in ("p50", "p99", "p99_9", "max", "mean"):
        assert getattr(fleet.latency("read"), name) == getattr(alone.read, name)
    (row,) = fleet.fanout.rows
    assert row["p99_pooled_ns"] == alone.read.p99


def test_ctrl_c_keeps_the_drives_that_have_ended(fleet_of, tmp_path):
    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(fs.SweepInterrupted):
        fleet_of(drives=6, out=tmp_path / "out", jobs=1, progress=Counted(interrupt))
    assert not (tmp_path / "out" / "fleet.json").exists()
    rest = Counted()
    fleet_of(drives=6, out=tmp_path / "out", progress=rest)
    assert 0 < rest.ends < 6
    fleet_of(drives=6, out=tmp_path / "whole")
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


def test_a_fleet_can_start_from_a_snapshot(base, tmp_path):
    # Of a clone, too, it is the drive that all of them begin as.
    fs.Snapshot.take({**base, "clone": {"number": 9}}).save(tmp_path / "aged.snap")
    own = fs.fleet(base, drives=2, age=AGE)
    base["precondition"] = {"snapshot": str(tmp_path / "aged.snap")}
    started = fs.fleet(base, drives=2, age=AGE)
    for number in (1, 2):
        assert started.result(number).digest == own.result(number).digest


def test_a_dry_run_imports_no_polars(experiment_file):
    code = (
        "import sys; from flashscape.cli.main import _status; "
        f"_status(['fleet', {str(experiment_file)!r}, '--drives', '2', '--dry-run']); "
        "print('polars' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.stdout.splitlines()[-1] == "False", ended.stdout + ended.stderr
