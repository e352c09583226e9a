"""fio's fields: names and units as in fio, figures as in the log of requests."""

from __future__ import annotations

import copy
import itertools
import json
import math
import statistics

import polars as pl
import pytest

import flashscape as fs
from flashscape import fio

DIRECTION = {
    *("io_bytes", "io_kbytes", "bw_bytes", "bw", "iops", "runtime"),
    *("total_ios", "short_ios", "drop_ios", "slat_ns", "clat_ns", "lat_ns"),
    *("bw_min", "bw_max", "bw_agg", "bw_mean", "bw_dev", "bw_samples"),
    *("iops_min", "iops_max", "iops_mean", "iops_stddev", "iops_samples"),
}
JOB = {
    *("jobname", "groupid", "error", "eta", "elapsed", "job options"),
    *("read", "write", "trim", "sync", "job_runtime"),
    *("usr_cpu", "sys_cpu", "ctx", "majf", "minf"),
    *("iodepth_level", "iodepth_submit", "iodepth_complete"),
    *("latency_ns", "latency_us", "latency_ms"),
    *("latency_depth", "latency_target", "latency_percentile", "latency_window"),
}
"""Fields of fio 3.36 for a direction and for a job, except ``job_start``."""


@pytest.fixture(scope="module")
def ran(small, tmp_path_factory) -> tuple[fs.Result, dict, pl.DataFrame]:
    folder = tmp_path_factory.mktemp("fio")
    config = copy.deepcopy(small)
    mix = {"read": "50 %", "write": "40 %", "trim": "5 %", "flush": "5 %"}
    config["workload"] = [{"name": "host", "mix": mix, "queue_depth": 8}]
    config["run"] = {"requests": 20_000, "warm_up": {"requests": 1000}}
    config["record"] = {"interval": "5 ms"}
    result = fs.run(config, fio_json=folder / "fio.json", requests=folder / "log.parquet")
    document = json.loads((folder / "fio.json").read_text())
    return result, document, fs.read_requests(folder / "log.parquet").collect()


def test_the_fields_are_those_of_fio(ran):
    _, document, _ = ran
    top = {"fio version", "timestamp", "timestamp_ms", "time", "global options", "jobs"}
    assert set(document) == top
    assert document["fio version"].startswith("fio-3.")
    (job,) = document["jobs"]
    assert set(job) == JOB
    assert job["job options"]["iodepth"] == "8"
    for kind in ("read", "write", "trim"):
        assert set(job[kind]) == DIRECTION
        assert set(job[kind]["slat_ns"]) == {"min", "max", "mean", "stddev", "N"}
    assert set(job["sync"]) == {"total_ios", "lat_ns"}


def test_figures_are_those_of_the_log(ran):
    result, document, log = ran
    (job,) = document["jobs"]
    seconds = result.summary["counted_ns"] / 1e9
    assert job["job_runtime"] == round(seconds * 1000)
    for kind in ("read", "write", "trim"):
        own = log.filter(pl.col("kind") == kind)
        of = job[kind]
        assert of["total_ios"] == of["clat_ns"]["N"] == of["lat_ns"]["N"] == len(own)
        assert of["io_bytes"] == own["length_bytes"].sum()
        assert of["io_kbytes"] == of["io_bytes"] // 1024
        assert of["bw_bytes"] == int(of["io_bytes"] / seconds)
        assert of["bw"] == of["bw_bytes"] // 1024
        assert of["iops"] == pytest.approx(len(own) / seconds)
        for latency in (of["clat_ns"], of["lat_ns"]):
            assert latency["min"] == own["latency_ns"].min()
            assert latency["max"] == own["latency_ns"].max()
            assert latency["mean"] == pytest.approx(own["latency_ns"].mean())
            assert latency["stddev"] == pytest.approx(own["latency_ns"].std(), rel=2e-3, abs=1)
    assert job["sync"]["total_ios"] == log.filter(pl.col("kind") == "flush").height


def test_percentiles_follow_from_the_bins_as_a_converter_would_count_them(ran):
    """Percentiles as converters of json+ compute them: sort the bins, sum up, divide by N."""
    _, document, log = ran
    (job,) = document["jobs"]
    for kind in ("read", "write", "trim"):
        latency = job[kind]["clat_ns"]
        bins = sorted((int(edge), count) for edge, count in latency["bins"].items())
        assert sum(count for _, count in bins) == latency["N"]
        exact = log.filter(pl.col("kind") == kind)["latency_ns"].sort()
        for name, value in latency["percentile"].items():
            assert name == f"{float(name):.6f}"
            needed = math.ceil(round(float(name) / 100 * latency["N"], 6))
            upto = itertools.accumulate(count for _, count in bins)
            places = (
                edge for (edge, _), passed in zip(bins, upto, strict=True) if passed >= needed
            )
            assert value == next(places)
            assert exact[needed - 1] <= value <= exact[needed - 1] * 1.001


def test_latency_ranges_hold_all_reads_writes_and_trims(ran):
    _, document, log = ran
    (job,) = document["jobs"]
    keys = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000"]
    assert list(job["latency_ns"]) == list(job["latency_us"]) == keys
    assert list(job["latency_ms"]) == [*keys, "2000", ">=2000"]
    ranges = [job[f"latency_{unit}"] for unit in ("ns", "us", "ms")]
    assert sum(sum(of.values()) for of in ranges) == pytest.approx(100)
    own = log.filter(pl.col("kind").is_in(["read", "write", "trim"]))["latency_ns"]
    # fio counts in whole microseconds, from one limit up to the next.
    share = 100 * own.is_between(100_000, 249_999).mean()
    assert job["latency_us"]["250"] == pytest.approx(share, abs=0.2)


def test_samples_in_the_course_of_the_run(ran):
    """Each whole interval after the warm-up is a sample; bandwidth is in KiB/s."""
    result, document, _ = ran
    read = document["jobs"][0]["read"]
    begun = result.summary["simulated_ns"] - result.summary["counted_ns"]
    rows = result.series.filter(pl.col("begin_ns") >= begun)
    rows = rows.filter(pl.col("end_ns") - pl.col("begin_ns") == 5_000_000)
    iops = [reads / 5e-3 for reads in rows["reads"]]
    assert read["iops_samples"] == len(iops) > 5
    assert read["iops_mean"] == pytest.approx(statistics.fmean(iops))
    assert read["iops_stddev"] == pytest.approx(statistics.stdev(iops))
    assert read["iops_max"] == round(max(iops))
    kib = [size / 1024 / 5e-3 for size in rows["read_bytes"]]
    assert read["bw_mean"] == pytest.approx(statistics.fmean(kib))
    assert read["bw_min"] == round(min(kib))


def test_what_was_not_asked_is_zero_as_in_fio(small):
    config = copy.deepcopy(small)
    config["workload"] = [
        {"name": "reader", "reads": "100 %", "addresses": {"pattern": "sequential"}},
        {"name": "b", "reads": "30 %", "size": "16 KiB", "queue_depth": 4},
    ]
    document = fio.document(fs.run(config))
    reader, other = document["jobs"]
    assert reader["job options"] == {
        "name": "reader",
        "numjobs": "1",
        "rw": "read",
        "bs": "4096",
        "iodepth": "1",
    }
    assert other["job options"]["rw"] == "randrw"
    assert other["job options"]["rwmixread"] == "30"
    assert other["job options"]["bs"] == "16384"
    nothing = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    assert reader["write"]["clat_ns"] == nothing
    assert reader["write"]["runtime"] == reader["write"]["iops"] == 0
    # Two initiators share one series: no samples, as if fio had taken none.
    assert reader["read"]["iops_samples"] == 0


def test_a_group_is_what_fio_prints_for_it(small, tmp_path):
    """One job for all, with the name of the first: sums, merged latencies, added run times."""
    config = copy.deepcopy(small)
    one = {"name": "a", "reads": "50 %", "queue_depth": 4}
    config["workload"] = [one, one | {"name": "b", "start": "1 ms"}, one | {"name": "c"}]
    config["run"] = {"requests": 6000}
    config["record"] = {"interval": "5 ms"}
    file, log = tmp_path / "fio.json", tmp_path / "log.parquet"
    result = fs.run(config, fio_json=file, group_reporting=True, requests=log)
    document = json.loads(file.read_text())
    assert document["global options"]["group_reporting"] == "1"
    (job,) = document["jobs"]
    assert set(job) == JOB
    assert (job["jobname"], job["groupid"]) == ("a", 0)
    shared = {"rw": "randrw", "rwmixread": "50", "bs": "4096", "iodepth": "4"}
    shared["norandommap"] = "1"
    assert job["job options"] == {"name": "a", "numjobs": "3"} | shared
    each = fio.document(result)["jobs"]
    assert job["job_runtime"] == sum(of["job_runtime"] for of in each)
    rows = fs.read_requests(log).collect()
    for kind in ("read", "write"):
        own = rows.filter(pl.col("kind") == kind)["latency_ns"].sort()
        of, parts = job[kind], [other[kind] for other in each]
        for key in ("io_bytes", "total_ios"):
            assert of[key] == sum(part[key] for part in parts)
        assert of["iops"] == pytest.approx(sum(part["iops"] for part in parts))
        assert of["runtime"] == max(part["runtime"] for part in parts)
        latency = of["clat_ns"]
        assert (latency["N"], latency["min"], latency["max"]) == (len(own), own[0], own[-1])
        assert latency["mean"] == pytest.approx(own.mean())
        assert latency["stddev"] == pytest.approx(own.std(), rel=2e-3)
        assert sum(latency["bins"].values()) == len(own)
        exact = own[math.ceil(0.99 * len(own)) - 1]
        assert exact <= latency["percentile"]["99.000000"] <= exact * 1.001
        # The series covers all initiators, so that here it tells the course.
        assert of["iops_samples"] > 0
        assert [part["iops_samples"] for part in parts] == [0, 0, 0]
    ranges = [job[f"latency_{unit}"] for unit in ("ns", "us", "ms")]
    assert sum(sum(of.values()) for of in ranges) == pytest.approx(100)


def test_a_group_of_unlike_jobs_has_the_options_that_they_share(small):
    config = copy.deepcopy(small)
    config["workload"] = [
        {"name": "a", "reads": "100 %", "queue_depth": 4},
        {"name": "b", "reads": "0 %", "size": "8 KiB", "queue_depth": 4},
    ]
    (job,) = fio.document(fs.run(config | {"run": {"requests": 500}}), grouped=True)["jobs"]
    assert job["job options"] == {
        "name": "a",
        "numjobs": "1",
        "iodepth": "4",
        "norandommap": "1",
    }
    assert job["read"]["total_ios"] + job["write"]["total_ios"] == 500


def test_a_group_needs_the_file_that_it_is_about(experiment_file, flashscape):
    ended = flashscape("run", experiment_file, "--group-reporting")
    assert ended.status == 2
    assert "--group-reporting is about fio's fields: it needs --fio-json" in ended.err
    with pytest.raises(fs.ConfigError, match="group_reporting: goes with fio_json"):
        fs.run(experiment_file, group_reporting=True)


def test_on_the_command_line(experiment_file, flashscape, tmp_path):
    ended = flashscape("run", experiment_file, "--fio-json", "fio.json")
    assert ended.status == 0, ended.err
    assert "fio's fields are in fio.json." in ended.out
    assert json.loads((tmp_path / "fio.json").read_text())["jobs"][0]["jobname"] == "host"
