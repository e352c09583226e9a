"""Results run again: from their directory, from their summary, and from Python."""

from __future__ import annotations

import json
import shutil

import pytest
from click.testing import CliRunner

import flashscape as fs
from flashscape.cli import run as command_run
from test_bad_input import refused


@pytest.fixture
def ran(config, tmp_path):
    config["run"] = {"requests": 500, "audit": True}
    out = tmp_path / "first"
    fs.run(config, out=out)
    return out


def test_a_result_runs_again(ran, flashscape, tmp_path):
    digest = fs.Result.load(ran).digest
    shutil.copy(ran / "summary.json", tmp_path / "of-last-week.json")
    for name in ("first", "first/summary.json", "of-last-week.json"):
        ended = flashscape("run", name, "--out", "again", "--force")
        assert ended.status == 0, ended.err
        again = fs.Result.load(tmp_path / "again")
        assert again.digest == digest
        assert again.summary["title"] == "small"
        assert ("to the last bit" in ended.out) == (name != "of-last-week.json")
    other = flashscape("run", "first", "--set", "seed=2")
    assert other.status == 0
    assert "differs from the one in first" in other.out
    assert f"and {digest} there" in other.out
    assert fs.run(ran).digest == fs.run(str(ran / "summary.json")).digest == digest
    assert flashscape("check", "first").status == 0


def test_earlier_results_are_compared_even_if_they_go_while_the_run_lasts(
    ran, tmp_path, monkeypatch
):
    run_and_show = command_run.run_and_show

    def losing(*args, **kwargs):
        shutil.rmtree(ran)
        return run_and_show(*args, **kwargs)

    monkeypatch.setattr(command_run, "run_and_show", losing)
    ended = CliRunner().invoke(command_run.command, [str(ran), "--out", str(tmp_path / "again")])
    assert ended.exit_code == 0, ended.output
    assert "to the last bit" in ended.output


def test_a_point_of_a_sweep_and_a_run_of_a_comparison_run_again(config, flashscape, tmp_path):
    config["run"] = {"requests": 300}
    swept = fs.sweep(config, grid={"workload[0].queue_depth": [2, 4]}, out=tmp_path / "swept")
    explained = flashscape("explain", "swept")
    refused(explained, 1, "keeps their summaries only")
    command = explained.err.rpartition(": flashscape ")[2].split()
    assert command[0] == "run"
    assert command[2:] == ["--out", "DIR"]
    assert flashscape(*command).status == 0
    assert fs.Result.load(tmp_path / "DIR").digest in swept.frame["digest"].to_list()
    assert flashscape("explain", "DIR").status == 0
    refused(
        flashscape("run", "swept"), 1, "swept: is a sweep; name one of the runs in it", "points"
    )
    fs.compare(config, config | {"seed": 2}, out=tmp_path / "compared")
    refused(flashscape("run", "compared"), 1, "is a comparison; name one of the runs in it")
    assert flashscape("run", "compared/B", "--quiet").status == 0


def test_results_are_compared_again_with_changes(ran, flashscape, tmp_path):
    ended = flashscape("compare", "first", "--vary", "drive.ftl.gc.victim=fifo", "--seeds", "2")
    assert ended.status == 0, ended.err
    assert "4 runs; 4 to run" in ended.err
    twice = fs.compare(ran, fs.run(ran), seeds=2)
    assert twice.contrasts[0].are_identical


def test_what_results_do_not_keep_is_asked_for(config, flashscape, tmp_path):
    config["run"] = {"requests": 300}
    experiment = fs.Experiment.from_dict(config)
    snapshot = fs.Snapshot.take(experiment)
    snapshot.save(tmp_path / "drive.snap")
    whole = fs.run(experiment, snapshot=snapshot, out=tmp_path / "started")
    said = "began with the drive of a snapshot"
    refused(flashscape("run", "started"), 2, said, "flashscape run started --snapshot FILE")
    ended = flashscape("run", "started", "--snapshot", "drive.snap", "--out", "again")
    assert ended.status == 0, ended.err
    assert fs.Result.load(tmp_path / "again").digest == whole.digest

    def fewest(blocks):
        return min(blocks.gaining, key=lambda block: (blocks.valid[block], block))

    given = experiment.with_policy("drive.ftl.gc.victim", fewest)
    fs.run(given, out=tmp_path / "python")
    said = "drive.ftl.gc.victim of this run was a function in Python"
    refused(flashscape("run", "python"), 2, said)
    with pytest.raises(fs.ConfigError, match=said):
        fs.compare(tmp_path / "python", tmp_path / "python", seeds=2)


def test_a_result_is_not_overwritten_by_its_own_repetition(ran, flashscape):
    before = (ran / "summary.json").read_text()
    refused(
        flashscape("run", "first", "--out", "first", "--force"), 1, "is read by this very command"
    )
    assert (ran / "summary.json").read_text() == before


def test_other_files_of_json_are_no_results(flashscape, tmp_path):
    (tmp_path / "summary.json").write_text("{}")
    refused(flashscape("run", "summary.json"), 2, "summary.json: 2 problems", "workload: missing")
    (tmp_path / "x.json").write_text(json.dumps({"initiators": 1}))
    refused(flashscape("run", "x.json"), 2, "unknown key")
    refused(flashscape("run", "."), 1, "is not a summary of flashscape")
