"""The log of requests: all counted requests, sums of blame, and whole files or none."""

from __future__ import annotations

import copy
import os
import pickle
import resource
import subprocess
import sys

import polars as pl
import pytest

import flashscape as fs
from flashscape import _flashscape
from flashscape.run import Silent
from test_bad_input import refused

STATES = [f"{name}_ns" for name, _ in _flashscape.states()]


@pytest.fixture(scope="module")
def mixed(small) -> dict:
    """Two initiators, every kind of request, a warm-up, and think times that reorder requests."""
    config = copy.deepcopy(small)
    mix = {"read": "50 %", "write": "40 %", "trim": "4 %", "flush": "3 %", "write_zeroes": "3 %"}
    closed = {"name": "closed", "mix": mix, "queue_depth": 8, "think_time": {"mean": "100 us"}}
    arrivals = {"process": "poisson", "rate": "5 kIOPS"}
    config["workload"] = [closed, {"name": "open", "reads": "80 %", "arrivals": arrivals}]
    config["run"] = {"requests": 6000, "warm_up": {"requests": 500}}
    return config


@pytest.fixture(scope="module")
def logged(mixed, tmp_path_factory) -> tuple[fs.Result, pl.DataFrame]:
    file = tmp_path_factory.mktemp("log") / "requests.parquet"
    result = fs.run(mixed, requests=file)
    return result, fs.read_requests(file).collect()


def test_blame_sums_to_the_latency(logged):
    _, rows = logged
    assert len(STATES) == 47
    assert (rows.select(pl.sum_horizontal(STATES)).to_series() == rows["latency_ns"]).all()
    assert (rows["finished_ns"] - rows["arrived_ns"] == rows["latency_ns"]).all()


def test_the_log_has_what_the_summary_counts(logged):
    result, rows = logged
    assert len(result.groups()) > 6
    for name, kind, figures in result.groups():
        own = rows.filter(pl.col("initiator") == name, pl.col("kind") == kind)
        assert len(own) == figures["requests"]
        assert own["length_bytes"].sum() == figures["bytes"]
        assert own["unmapped"].sum() == figures["unmapped"]
        assert own["latency_ns"].max() == figures["latency_ns"]["max"]
        blame = {c.removesuffix("_ns"): own[c].sum() for c in STATES if own[c].sum()}
        assert blame == figures["blame_ns"]
    assert len(rows) == sum(figures["requests"] for _, _, figures in result.groups())
    # The log excludes the warm-up.
    begun = result.summary["simulated_ns"] - result.summary["counted_ns"]
    assert rows["arrived_ns"].min() >= begun


def test_slowest_requests_are_the_logs_slowest(logged):
    result, rows = logged
    columns = ["latency_ns", *STATES]
    own = rows.filter(pl.col("initiator") == "open", pl.col("kind") == "read")
    slowest = result.slowest.filter(pl.col("initiator") == "open", pl.col("kind") == "read")
    kept = own.sort("latency_ns", descending=True).head(len(slowest))
    assert kept["latency_ns"].to_list() == slowest["latency_ns"].to_list()
    assert kept.select(columns)[0].row(0) == slowest.select(columns)[0].row(0)


def test_indices_find_the_same_request_in_another_run(mixed, logged, tmp_path):
    """Think times change the order of completion; another policy changes all times."""
    _, rows = logged
    mixed = copy.deepcopy(mixed)
    mixed["drive"]["nand"] = {"program": ["3 ms"]}
    fs.run(mixed, requests=tmp_path / "other.parquet")
    other = fs.read_requests(tmp_path / "other.parquet").collect()
    assert rows.select(pl.struct("initiator", "index").n_unique()).item() == len(rows)
    both = rows.join(other, on=["initiator", "index"], suffix="_other")
    assert len(both) > 0.5 * len(rows)
    for name in ("kind", "offset_bytes", "length_bytes"):
        assert (both[name] == both[f"{name}_other"]).all()
    assert not (both["latency_ns"] == both["latency_ns_other"]).all()
    by_clock = both.filter(pl.col("initiator") == "open")
    assert (by_clock["arrived_ns"] == by_clock["arrived_ns_other"]).all()
    in_order = rows.filter(pl.col("initiator") == "open").sort("index")
    assert in_order["arrived_ns"].is_sorted()


def test_a_log_changes_nothing_and_says_whose_it_is(mixed, logged, tmp_path):
    result, _ = logged
    assert fs.run(mixed).digest == result.digest
    about = pl.read_parquet_metadata(result.log)
    assert about["digest"] == result.digest
    assert about["complete"] == "true"
    assert result.requests.collect_schema().names()[:3] == ["initiator", "index", "kind"]
    assert fs.run(mixed).requests is None
    assert pickle.loads(pickle.dumps(result)).log == result.log


def test_row_groups_go_out_while_the_run_goes_on(tmp_path):
    """With 300,000 requests, four row groups are written before the end, and the rest after it."""
    tiny = {"channels": 1, "dies_per_package": 1, "blocks_per_plane": 32, "pages_per_block": 24}
    config = {
        "drive": {
            "preset": "dc-tlc",
            "geometry": tiny,
            "ftl": {"over_provisioning": {"exported": "20 MiB"}},
            "buffer": {"size": "2 MiB"},
        },
        "workload": [{"name": "host", "reads": "100 %", "queue_depth": 4}],
        "run": {"requests": 300_000},
    }
    sizes = []

    class Watching(Silent):
        def running(self, simulated_ns, requests, share):
            sizes.append(max(file.stat().st_size for file in tmp_path.iterdir()))

    fs.run(config, requests=tmp_path / "log.parquet", progress=Watching())
    assert max(sizes) > 1000
    assert fs.read_requests(tmp_path / "log.parquet").select(pl.len()).collect().item() == 300_000
    assert [file.name for file in tmp_path.iterdir()] == ["log.parquet"]


def test_a_run_without_counted_requests_has_an_empty_log(config, tmp_path):
    config["run"] = {"requests": 10, "warm_up": {"time": "1 h"}}
    fs.run(config, requests=tmp_path / "log.parquet")
    assert fs.read_requests(tmp_path / "log.parquet").collect().is_empty()


def test_an_interrupted_run_keeps_what_was_logged(config, tmp_path):
    class AfterSome(Silent):
        def running(self, simulated_ns, requests, share):
            if requests > 2000:
                raise KeyboardInterrupt

    config["run"] = {"requests": 100_000_000}
    with pytest.raises(fs.Interrupted) as caught:
        fs.run(config, requests=tmp_path / "log.parquet", progress=AfterSome())
    counted = sum(figures["requests"] for _, _, figures in caught.value.result.groups())
    rows = fs.read_requests(tmp_path / "log.parquet", digest=caught.value.result.digest).collect()
    assert len(rows) == counted > 0
    assert pl.read_parquet_metadata(tmp_path / "log.parquet")["complete"] == "false"


def test_a_run_that_fails_writes_no_log(config, tmp_path):
    config["drive"]["nand"] = {"endurance": 1}
    with pytest.raises(fs.SpaceError):
        fs.run(config, requests=tmp_path / "log.parquet")
    assert list(tmp_path.iterdir()) == []


# ---- the command line ----------------------------------------------------------------


def test_a_log_without_results_and_with_them(experiment_file, flashscape, tmp_path):
    ended = flashscape("run", experiment_file, "--requests", "log.parquet")
    assert ended.status == 0, ended.err
    assert "Requests are in log.parquet." in ended.out
    ended = flashscape("run", experiment_file, "--out", "o", "--requests", "o/requests.parquet")
    assert ended.status == 0, ended.err
    result = fs.Result.load(tmp_path / "o")
    assert result.requests.select(pl.len()).collect().item() == 3000


@pytest.mark.parametrize(
    ("target", "messages"),
    [
        ("there.parquet", ("there.parquet: is there already", "--force")),
        (".", ("is a directory",)),
        ("absent/log.parquet", ("absent/log.parquet: cannot be written: No such file",)),
    ],
)
@pytest.mark.parametrize("option", ["--requests", "--fio-json"])
def test_what_cannot_be_written_is_refused_at_once(
    target, messages, option, experiment_file, flashscape, tmp_path
):
    (tmp_path / "there.parquet").write_text("mine")
    before = sorted(tmp_path.iterdir())
    refused(flashscape("run", experiment_file, option, target), 1, *messages)
    assert (tmp_path / "there.parquet").read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == before
    if target == "there.parquet":
        again = flashscape("run", experiment_file, option, target, "--force", "--quiet")
        assert again.status == 0
        assert (tmp_path / "there.parquet").stat().st_size > 100


def test_files_that_would_take_each_others_place(experiment_file, flashscape):
    both = ("--requests", "x", "--fio-json", "x")
    refused(flashscape("run", experiment_file, *both), 1, "x: is the name of something else")
    table = ("--out", "o", "--requests", "o/latency.parquet")
    refused(flashscape("run", experiment_file, *table), 1, "o/latency.parquet: is the name of")


def test_no_log_of_an_earlier_run_stays_beside_new_results(config, tmp_path):
    fs.run(config, out=tmp_path / "o", requests=tmp_path / "o" / "requests.parquet")
    fs.run(config, out=tmp_path / "o", force=True)
    assert fs.Result.load(tmp_path / "o").requests is None


def test_the_log_of_another_run_is_refused(config, tmp_path):
    fs.run(config, out=tmp_path / "o", requests=tmp_path / "o" / "requests.parquet")
    config["seed"] = 2
    fs.run(config, requests=tmp_path / "o" / "requests.parquet", force=True)
    with pytest.raises(fs.OutputError, match="log of another run"):
        _ = fs.Result.load(tmp_path / "o").requests


def test_files_that_are_no_log(config, tmp_path):
    fs.run(config, out=tmp_path / "o")
    with pytest.raises(fs.OutputError, match="is not a log of requests"):
        fs.read_requests(tmp_path / "o" / "wear.parquet")
    with pytest.raises(fs.OutputError, match="cannot be read"):
        fs.read_requests(tmp_path / "o" / "summary.json")
    with pytest.raises(fs.OutputError, match="cannot be read"):
        fs.read_requests(tmp_path / "absent.parquet")


def test_a_disk_that_fills_up_keeps_results_and_leaves_no_half_log(experiment_file, tmp_path):
    """A limit on the size of files acts as a full disk: tables fit, the log does not."""
    (tmp_path / "log.parquet").write_text("mine")
    size = 300_000
    more = ["--set", "run.requests=100000", "--set", "run.audit=false", "--out", "o", "--quiet"]
    more += ["--requests", "log.parquet", "--force"]
    ended = subprocess.run(
        [sys.executable, "-m", "flashscape", "run", str(experiment_file), *more],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr == "error: log.parquet: cannot be written: File too large\n"
    assert (tmp_path / "log.parquet").read_text() == "mine"
    assert fs.Result.load(tmp_path / "o").read.requests > 0
    assert not list(tmp_path.glob(".unfinished*"))


def test_what_a_killed_run_left_goes_with_the_next(config, tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = tmp_path / f".unfinished-{gone.pid}-log.parquet"
    left.write_text("half")
    other = tmp_path / f".unfinished-{os.getppid()}-log.parquet"
    other.write_text("still written")
    fs.run(config, requests=tmp_path / "log.parquet")
    assert not left.exists()
    assert other.exists()
