"""Unwritable outputs and foreign results: nothing is mixed, nothing is half written."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import flashscape as fs
from flashscape.errors import OutputError
from flashscape.output import Directory, File
from test_bad_input import refused, run_on_disk_of


def test_a_full_disk_leaves_earlier_results_whole(experiment_file, flashscape, tmp_path):
    assert flashscape("run", experiment_file, "--out", "out", "--quiet").status == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    # Space for the first table, not for all.
    ended = run_on_disk_of(8192, experiment_file, tmp_path, "--force", "--set=seed=2")
    assert ended.returncode == 1
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} == before


def test_a_disk_that_is_full_already_is_found_before_the_run(experiment_file, tmp_path):
    ended = run_on_disk_of(0, experiment_file, tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: out: cannot be written to: ")
    assert ended.stdout == ""


def test_a_directory_that_cannot_be_made_is_named(experiment_file, flashscape):
    if not Path("/proc/self").exists():
        pytest.skip("no /proc is here, in which nobody can make a directory")
    ended = flashscape("run", experiment_file, "--out", "/proc/out")
    refused(ended, 1, "/proc/out: results cannot be saved there (No such file or directory)")
    assert "choose another directory" in ended.err


def test_a_file_system_without_locks_is_named(monkeypatch, tmp_path):
    def flock(_file, _operation):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", flock)
    told = "out: cannot be written to: its file system cannot lock files; choose a directory on"
    with pytest.raises(OutputError, match=told):
        Directory.claim(tmp_path / "out", force=False)
    assert list(tmp_path.iterdir()) == [], "neither the directory nor a lock is left"


NO_FULL = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="only Linux has a device that is always full"
)


@pytest.mark.parametrize("target", ["&-", pytest.param(" /dev/full", marks=NO_FULL)])
def test_an_output_that_takes_nothing(target, experiment_file):
    command = f"{sys.executable} -m flashscape check {experiment_file} >{target}"
    ended = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: standard output: cannot be written: ")
    assert len(ended.stderr.splitlines()) == 1


TRACE = "time_us,op,offset,length\n0,R,0,4096\n5,W,8192,4096\n"


@pytest.mark.parametrize(
    "command",
    [
        "run exp.toml --requests exp.toml",
        "run exp.toml --fio-json ./exp.toml",
        "run exp.toml --save-drive linked.toml",
        "run exp.toml --requests a.csv",
        "run plain.toml --snapshot aged.snap --requests aged.snap",
        "run results/summary.json --out results",
        "replay a.csv --drive dc-tlc --fio-json a.csv",
        "snapshot take exp.toml exp.toml",
        "snapshot take exp.toml a.csv",
        "compare exp.toml plain.toml --json plain.toml",
        "compare c/A plain.toml --out c",
        "compare c/A c/B --json c/A/summary.json",
        "trace convert a.csv a.csv --to captured",
        "trace describe a.csv --out a.csv",
        "trace info a.csv --json a.csv",
        "trace imitate a.json --out a.json",
    ],
)
def test_what_a_command_reads_it_never_overwrites(command, config, flashscape, tmp_path):
    plain = config | {"run": {"requests": 50}}
    if "c/" in command:
        fs.compare(plain, plain | {"seed": 2}, out=tmp_path / "c")
    (tmp_path / "plain.json").write_text(json.dumps(plain))
    traced = {k: v for k, v in plain.items() if k != "run"}
    traced["workload"] = [{"name": "host", "trace": {"file": "a.csv"}}]
    (tmp_path / "a.csv").write_text(TRACE)
    (tmp_path / "exp.json").write_text(json.dumps(traced))
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "summary.json").write_text(json.dumps(plain))
    os.link(tmp_path / "exp.json", tmp_path / "linked.json")
    fs.Snapshot.take(plain).save(tmp_path / "aged.snap")
    fs.trace.describe(tmp_path / "a.csv", tmp_path / "a.json")
    before = {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()}
    ended = flashscape(*command.replace(".toml", ".json").split(), "--force")
    refused(ended, 1, "is read by this very command; choose another name")
    assert {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()} == before


def test_the_place_of_the_log_is_for_the_log(experiment_file, flashscape, tmp_path):
    ended = flashscape("run", experiment_file, "--out", "o", "--fio-json", "o/requests.parquet")
    refused(ended, 1, "is the name of something else that is written, too")
    both = ("--requests", "log.parquet", "--fio-json", "o/requests.parquet")
    ended = flashscape("run", experiment_file, "--out", "o", *both)
    refused(ended, 1, "o/requests.parquet: is the name of the log of requests")
    ended = flashscape("run", experiment_file, "--out", "o", "--requests", "o/requests.parquet")
    assert ended.status == 0, ended.err


def test_a_snapshot_without_a_name(config):
    with pytest.raises(fs.OutputError, match="the snapshot has no name; give the path of a file"):
        fs.Snapshot.take(config).save("")


def test_a_directory_without_a_name(experiment_file, flashscape):
    ended = flashscape("run", experiment_file, "--out", "")
    assert (ended.status, ended.out) == (2, "")
    assert "'--out': a name is missing" in ended.err


def test_results_of_another_version(experiment_file, flashscape, tmp_path):
    flashscape("run", experiment_file, "--out", "out", "--quiet")
    file = tmp_path / "out" / "summary.json"
    summary = json.loads(file.read_text())
    del summary["steady_state"]
    file.write_text(json.dumps(summary | {"flashscape": "0.0.7"}))
    refused(flashscape("explain", "out"), 1, "another version", "0.0.7", "lacks steady_state")
    summary["steady_state"] = {"latency": {}}
    file.write_text(json.dumps(summary))
    refused(flashscape("explain", "out"), 1, "another version", "reached")


def test_a_file_where_results_belong(experiment_file, flashscape):
    refused(flashscape("explain", experiment_file), 1, "is a file, and results are a directory")


def test_overwriting_leaves_nothing_of_the_earlier_run(config, tmp_path):
    """The picture of the earlier run is removed, too."""
    fs.run(config, out=tmp_path / "out")
    (tmp_path / "out" / "tail.svg").write_text("of the earlier run")
    (tmp_path / "out" / "own.txt").write_text("kept")
    (tmp_path / "out" / ".unfinished-999999999").mkdir()
    config["run"] = {"requests": 10, "warm_up": {"time": "1 h"}}
    fs.run(config, out=tmp_path / "out", force=True)
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert "own.txt" in names
    assert "summary.json" in names
    assert "tail.svg" not in names
    assert ".unfinished-999999999" not in names


def test_a_table_that_cannot_be_replaced_leaves_no_mixture(config, tmp_path):
    fs.run(config, out=tmp_path / "out")
    (tmp_path / "out" / "wear.parquet").unlink()
    (tmp_path / "out" / "wear.parquet").mkdir()
    with pytest.raises(fs.OutputError) as caught:
        fs.run(config, out=tmp_path / "out", force=True)
    assert caught.value.result.complete
    assert not (tmp_path / "out" / "summary.json").exists()


def test_directories_made_for_nothing_go_away(config, tmp_path):
    config["workload"][0]["trace"] = {"file": "absent.csv"}
    del config["workload"][0]["reads"], config["workload"][0]["queue_depth"]
    config["run"] = {}
    with pytest.raises(fs.TraceError):
        fs.run(config, out=tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()


def test_what_a_killed_run_left_is_no_results(config, tmp_path):
    """The files of a process that is still writing are kept."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / "out" / f".unfinished-{gone.pid}").mkdir(parents=True)
    fs.run(config, out=tmp_path / "out")
    assert not list((tmp_path / "out").glob(".*"))
    (tmp_path / "busy" / f".unfinished-{os.getppid()}").mkdir(parents=True)
    with pytest.raises(fs.OutputError, match="is not empty"):
        fs.run(config, out=tmp_path / "busy")
    fs.run(config, out=tmp_path / "busy", force=True)
    assert list((tmp_path / "busy").glob(".unfinished-*"))


def test_a_table_of_another_kind_is_refused(config, flashscape, tmp_path):
    fs.run(config, out=tmp_path / "out")
    for name in ("bands", "slowest"):
        kept = (tmp_path / "out" / f"{name}.parquet").read_bytes()
        shutil.copy(tmp_path / "out" / "wear.parquet", tmp_path / "out" / f"{name}.parquet")
        shown = f"{name}.parquet: is not the table {name} of this version: it lacks the column"
        refused(flashscape("explain", "out"), 1, shown)
        (tmp_path / "out" / f"{name}.parquet").write_bytes(kept)


def test_a_directory_that_another_process_writes_to_is_refused(tmp_path):
    folder = tmp_path / "results"
    claim = (
        "import sys; from flashscape.output import Directory as D; "
        "claimed = D.claim(sys.argv[1], force=True)"
    )
    wait = f"{claim}; print('claimed', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", wait, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout.readline() == "claimed\n"
        for force in (False, True):
            with pytest.raises(OutputError, match=f"process {other.pid} writes its results there"):
                Directory.claim(folder, force=force)
        other.kill()
    # A leftover lock file blocks no other run.
    with Directory.claim(folder, force=False):
        pass


@pytest.mark.parametrize("option", ["--requests", "--json", "--fio-json", "--save-drive"])
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_file_that_another_run_writes_is_refused(
    option, force, experiment_file, flashscape, tmp_path
):
    """Both would end with success, and one file would be lost."""
    name = "f.parquet"
    with File.claim(tmp_path / name, "it", force=False) as other:
        why = f"{name}: process {os.getpid()} writes this file; choose another name"
        refused(flashscape("run", experiment_file, option, name, *force), 1, why)
        other.store(b"of the other")
    assert (tmp_path / name).read_bytes() == b"of the other"
    assert not [file.name for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_a_file_that_comes_in_the_meantime_is_left_alone(tmp_path):
    """Only links of a whole file are exclusive; the own one is kept beside it."""
    with File.claim(tmp_path / "f.json", "it", force=False) as claimed:
        (tmp_path / "f.json").write_text("of another program")
        beside = f"f-{os.getpid()}.json"
        with pytest.raises(OutputError, match=f"left as it is; the file is kept as .*{beside}$"):
            claimed.store(b"own")
    assert (tmp_path / "f.json").read_text() == "of another program"
    assert (tmp_path / beside).read_bytes() == b"own"
    with File.claim(tmp_path / "f.json", "it", force=True) as claimed:
        claimed.store(b"own")
    assert (tmp_path / "f.json").read_bytes() == b"own"


@pytest.mark.parametrize("trial", range(10))
def test_one_of_those_who_come_together_gets_the_file(tmp_path, trial):
    start, got, refused = threading.Barrier(4), [], []

    def claim():
        start.wait()
        try:
            got.append(File.claim(tmp_path / "f.json", "it", force=trial % 2 == 0))
        except OutputError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(got) == 1, refused
    assert all("writes this file" in error for error in refused)
    got[0].release()


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_link_that_leads_nowhere_is_not_replaced(force, experiment_file, flashscape, tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "nowhere.json")
    ended = flashscape("run", experiment_file, "--json", "link.json", *force)
    refused(ended, 1, "link.json: is a link to ", "nowhere.json, which is not there")
    assert (tmp_path / "link.json").is_symlink()


@pytest.mark.parametrize("trial", range(20))
def test_one_of_those_who_come_together_gets_the_directory(tmp_path, trial):
    folder = tmp_path / "results"
    start, got, refused = threading.Barrier(4), [], []

    def claim():
        start.wait()
        try:
            got.append(Directory.claim(folder, force=trial % 2 == 0))
        except OutputError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(got) == 1, refused
    assert all("process" in error and "writes its results there" in error for error in refused)
    got[0].release()


def test_a_lock_that_was_left_keeps_nobody_away(tmp_path):
    # The file has the number of another running process, as after a reboot.
    (tmp_path / ".lock").write_text(f"{os.getppid()}\n")
    with Directory.claim(tmp_path, force=False):
        pass
    assert not list(tmp_path.iterdir())


def test_what_is_no_directory_is_said(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name, message in (
        ("file", "is a file, and results go to a directory"),
        ("file/below", "is a file, and results go to a directory"),
        ("link", "is a link to .*nowhere, which is not there"),
    ):
        with pytest.raises(OutputError, match=message):
            Directory.claim(tmp_path / name, force=True)
