"""Snapshots for users: taking, showing, starting from them, and errors."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import flashscape as fs
from flashscape.run import Silent
from flashscape.snapshot import origin


class After(Silent):
    """Interrupts after some requests."""

    def running(self, simulated_ns, requests, share):
        raise KeyboardInterrupt


@pytest.fixture(scope="module")
def aged(small):
    """The drive of the small experiment, filled and aged."""
    return fs.Snapshot.take(small)


@pytest.fixture(scope="module")
def by_itself(small):
    """Return a run that preconditions its drive."""
    return fs.run(small)


@pytest.fixture
def file(aged, tmp_path):
    aged.save(tmp_path / "aged.snap")
    return tmp_path / "aged.snap"


def digest(ended):
    assert ended.status == 0, ended.err
    return json.loads(ended.out)["digest"]


# ---- taken, and started from ----------------------------------------------------


def test_a_run_from_a_snapshot_is_the_run_that_preconditions_itself(config, aged, file, by_itself):
    del config["precondition"]
    for snapshot in (aged, file, str(file), fs.Snapshot.load(file)):
        result = fs.run(config, snapshot=snapshot)
        assert result.digest == by_itself.digest
        assert result.summary["precondition"]["snapshot"]["title"] == "small"
    done = {
        key: value for key, value in result.summary["precondition"].items() if key != "snapshot"
    }
    assert done == {k: v for k, v in by_itself.summary["precondition"].items() if k != "snapshot"}


def test_a_snapshot_goes_before_what_is_said_of_preconditioning(config, aged, by_itself):
    config["precondition"] = {"fill": "sequential"}
    assert fs.run(config, snapshot=aged).digest == by_itself.digest


def test_the_command_line_takes_shows_and_starts(flashscape, experiment_file, by_itself):
    taken = flashscape("snapshot", "take", experiment_file, "aged.snap")
    assert taken.status == 0, taken.err
    # 150 MiB in units of 4 KiB.
    assert re.fullmatch(
        r"aged\.snap \([0-9.]+ [kM]B\): small: 38,400 mapping units of data, \d+ erases, "
        r"after preconditioning\n",
        taken.out,
    )
    shown = flashscape("snapshot", "show", "aged.snap")
    assert shown.out.startswith("aged.snap: small: 38,400 mapping units of data")
    assert f"taken by flashscape {fs.__version__}, seed 1" in shown.out
    as_json = json.loads(flashscape("snapshot", "show", "aged.snap", "--json").out)
    assert (as_json["ran_ns"], as_json["mapped_units"]) == (0, 38_400)
    assert as_json["drive"]["geometry"]["pages_per_block"] == 24
    started = flashscape("run", experiment_file, "--snapshot", "aged.snap", "--json")
    assert digest(started) == by_itself.digest
    assert flashscape("snapshot", "take", experiment_file, "b.snap", "--quiet").out == ""


@pytest.mark.parametrize("value", ["precondition.in_step=true", "precondition.fill=random"])
def test_a_setting_that_the_snapshot_replaces_is_refused(flashscape, experiment_file, file, value):
    ended = flashscape("run", experiment_file, "--snapshot", file, "--set", value)
    assert ended.status != 0
    path = value.partition("=")[0]
    assert f"{path}: has no effect on a drive that is started from a snapshot" in ended.err
    assert "line" not in ended.err, "one error, and none about the file"


def test_an_override_that_the_snapshot_replaces_is_refused(aged, config):
    changed = fs.Experiment.from_dict(config).replace({"precondition.in_step": True})
    for start in (fs.run, fs.Drive):
        with pytest.raises(fs.ConfigError) as caught:
            start(changed, snapshot=aged)
        assert [problem.path for problem in caught.value.problems] == ["precondition.in_step"]
    with pytest.raises(TypeError, match="give no precondition"):
        fs.Drive(config["drive"], precondition={"fill": "random"}, snapshot=aged)


@pytest.mark.parametrize("option", ["--age=1", "--fill=sequential"])
def test_a_replay_from_a_snapshot_is_neither_filled_nor_aged(flashscape, file, option):
    ended = flashscape("replay", "t.csv", "--drive=dc-tlc", "--snapshot", file, option)
    assert ended.status == 2
    assert f"{option.partition('=')[0]} has no effect with --snapshot" in ended.err


def test_a_run_tells_of_a_filling_that_the_snapshot_replaces(flashscape, config, file, tmp_path):
    config["workload"][0]["stop"] = {"requests": 10}
    told = {}
    for name, wanted in {
        "same": config["precondition"],
        "half": {"fill": "random", "share": "50 %"},
        "none": {},
        "other": {"snapshot": "other.snap"},
    }.items():
        changed = {**config, "precondition": wanted}
        (tmp_path / f"{name}.json").write_text(json.dumps(changed))
        ended = flashscape("run", f"{name}.json", "--snapshot", file)
        assert ended.status == 0, ended.err
        told[name] = [line for line in ended.err.splitlines() if "snapshot replaces" in line]
    units = fs.Experiment.from_dict(config).derived["capacity"]["logical_units"]
    assert (told["same"], told["none"]) == ([], [])
    assert ["other.snap" in line for line in told["other"]] == [True]
    [line] = told["half"]
    assert f"({units // 2:,} mapping units written, not overwritten)" in line
    assert f"it was made with {units:,} mapping units written, overwritten" in line


def test_an_experiment_names_a_snapshot_from_its_own_folder(
    file, experiment_file, tmp_path, by_itself
):
    text = experiment_file.read_text(encoding="utf-8")
    named = re.sub(r"fill = .*\nage = .*\n", 'snapshot = "aged.snap"\n', text)
    experiment_file.write_text(named, encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, "-m", "flashscape", "run", str(experiment_file), "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=elsewhere, check=False)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["digest"] == by_itself.digest
    assert fs.run(experiment_file).digest == by_itself.digest


def test_a_snapshot_of_an_experiment_that_names_one_is_of_that_drive(config, file, by_itself):
    bare = {**config, "precondition": {"snapshot": str(file)}}
    again = fs.Snapshot.take(bare)
    assert again.origin["mapped_units"] == fs.Snapshot.load(file).origin["mapped_units"] > 0
    assert fs.run(config, snapshot=again).digest == by_itself.digest


def test_the_drive_of_the_snapshot_is_checked_and_not_the_experiments(config, aged):
    # 2 x 64 blocks of 96 units, of which 9600 hold data: half a bin of 4 planes is free.
    config["drive"]["ftl"]["gc"].update(background="29 blocks", stop="30 blocks")
    config["workload"][0]["region"] = {"size": "1 MiB"}
    filled = config.pop("precondition")
    with pytest.raises(fs.ConfigError) as caught:
        fs.run({**config, "precondition": filled})
    own = str(caught.value).split("the stop threshold")[1]
    with pytest.raises(fs.ConfigError) as caught:
        fs.run(config, snapshot=aged)
    assert str(caught.value).split("the stop threshold")[1] == own
    # In reverse: this experiment's own filling is ignored.
    empty = fs.Snapshot.take(config)
    result = fs.run({**config, "precondition": filled}, snapshot=empty)
    assert any("empty at first" in note for note in result.summary["notes"])
    del config["drive"]["ftl"]["gc"]
    del config["workload"][0]["region"]
    result = fs.run(config, snapshot=aged)
    assert not any("empty at first" in note for note in result.summary["notes"])


def test_a_snapshot_beside_a_fill_is_refused(config):
    config["precondition"]["snapshot"] = "aged.snap"
    with pytest.raises(fs.ConfigError, match=r"precondition\.\w+: ") as caught:
        fs.Experiment.from_dict(config)
    assert "snapshot" in str(caught.value)


def test_other_policies_and_timing_start_from_the_same_drive(config, aged, by_itself):
    config["drive"]["ftl"]["gc"] = {"victim": "fifo"}
    config["drive"]["nand"] = {"channel": "800 MT/s"}
    result = fs.run(config, snapshot=aged)
    assert result.digest != by_itself.digest
    assert result.summary["wear"]["erases_since_new"] > aged.origin["erases"]


# ---- kept after a run -------------------------------------------------------------


def test_a_drive_that_ran_is_kept_and_goes_on(flashscape, experiment_file, tmp_path, by_itself):
    ran = flashscape("run", experiment_file, "--save-drive", "ran.snap", "--json")
    assert digest(ran) == by_itself.digest, "keeping the drive changes nothing of the run"
    kept = origin(tmp_path / "ran.snap")
    assert kept["ran_ns"] >= by_itself.summary["simulated_ns"]
    assert kept["erases"] >= by_itself.summary["wear"]["erases_since_new"]
    again = flashscape(
        "run", experiment_file, "--snapshot", "ran.snap", "--save-drive", "later.snap", "--json"
    )
    assert digest(again) != by_itself.digest, "the drive is another one by now"
    assert origin(tmp_path / "later.snap")["erases"] > kept["erases"]
    assert digest(flashscape("run", experiment_file, "--snapshot", "ran.snap", "--json")) == digest(
        again
    )


def test_a_replay_starts_from_a_drive_and_keeps_it(flashscape, experiment_file, file, tmp_path):
    trace = tmp_path / "host.trace"
    rows = (f"{n * 100_000} 0 {n * 8 % 3000} 8 {n % 2}\n" for n in range(400))
    trace.write_text("".join(rows), encoding="utf-8")
    drive = ["--drive", "dc-tlc"]
    for path, value in (
        ("geometry.channels", 2), ("geometry.dies_per_package", 1),
        ("geometry.blocks_per_plane", 64), ("geometry.pages_per_block", 24),
        ("ftl.over_provisioning.exported", "150 MiB"), ("buffer.size", "2 MiB"),
    ):  # fmt: skip
        drive.append(f"--set=drive.{path}={value}")
    ended = flashscape(
        "replay", trace, *drive, "--format", "mqsim", "--snapshot", file, "--save-drive", "b.snap",
        "--json",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert json.loads(ended.out)["precondition"]["snapshot"]["title"] == "small"
    assert origin(tmp_path / "b.snap")["ran_ns"] > 0


def test_an_interrupted_run_does_not_keep_the_drive(config, tmp_path):
    config["run"] = {"requests": 100_000_000}
    with pytest.raises(fs.Interrupted):
        fs.run(config, save_drive=tmp_path / "ran.snap", progress=After())
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused_before_the_run(config, tmp_path, file):
    config["run"] = {"requests": 100_000_000}
    before = file.read_bytes()
    for place, message in [
        (file, "is there already"),
        (tmp_path, "is a directory"),
        (tmp_path / "no" / "where.snap", "cannot be written"),
        ("", "no name"),
    ]:
        with pytest.raises(fs.OutputError, match=message):
            fs.run(config, save_drive=place)
    assert file.read_bytes() == before


def test_a_file_is_overwritten_by_force_only(flashscape, experiment_file, file, by_itself):
    before = file.read_bytes()
    refused = flashscape("snapshot", "take", experiment_file, "aged.snap", "--set", "seed=2")
    assert refused.status != 0
    assert "is there already" in refused.err
    assert file.read_bytes() == before
    # The output replaces the input: the old file is read to the end first.
    ended = flashscape(
        "run", experiment_file, "--snapshot", file, "--save-drive", file, "--force", "--json"
    )
    assert digest(ended) == by_itself.digest
    assert origin(file)["ran_ns"] > 0
    assert [entry.name for entry in file.parent.glob(".*")] == []


# ---- drives that are moved step by step -----------------------------------------


def moved(drive, begin, count=300):
    """Submit mixed requests; return all that completed."""
    done = []
    for n in range(begin, begin + count):
        kind = "read" if n % 3 else "write"
        drive.submit(kind, offset=n * 7919 % 38_000 * 4096, length=8192)
        done += drive.advance(drive.now_ns + 20_000)
    return done


def rest(drive):
    done = []
    while drive.outstanding:
        done += drive.advance(drive.next_event_ns())
    return done


def test_a_clone_goes_on_identically_and_apart(config):
    drive = fs.Drive(config["drive"], precondition=config["precondition"], audit=True)
    moved(drive, 0)
    assert drive.outstanding > 0, "there is something under way when it is copied"
    copy = drive.clone()
    assert (copy.digest, copy.now_ns, copy.outstanding) == (
        drive.digest, drive.now_ns, drive.outstanding,
    )  # fmt: skip
    there = [(done.id, done.latency_ns, done.blame) for done in moved(copy, 300) + rest(copy)]
    # The original has not advanced.
    assert drive.now_ns < copy.now_ns
    here = [(done.id, done.latency_ns, done.blame) for done in moved(drive, 300) + rest(drive)]
    assert here == there
    assert drive.digest == copy.digest
    # Both drives are independent.
    before = drive.digest
    moved(copy, 1000)
    rest(copy)
    assert (drive.digest, copy.digest == before) == (before, False)
    drive.audit()
    copy.audit()


def test_a_clone_keeps_the_class_and_what_has_completed(config):
    class Named(fs.Drive):
        pass

    drive = Named(config["drive"], precondition=config["precondition"])
    drive.submit("read", 0, 4096)
    drive.submit("write", 4096, 4096, at_ns=10_000_000)
    copy = drive.clone()
    assert type(copy) is Named
    assert [done.id for done in copy.advance(20_000_000)] == [0, 1]
    assert [done.id for done in drive.advance(20_000_000)] == [0, 1]
    assert copy.submit("read", 0, 4096) == drive.submit("read", 0, 4096) == 2


def test_a_drive_is_kept_while_nothing_is_under_way(config, aged):
    drive = fs.Drive(config["drive"], snapshot=aged, seed=1)
    drive.submit("write", 0, 4096)
    with pytest.raises(fs.SnapshotError, match="1 commands are still under way"):
        drive.snapshot()
    rest(drive)
    before = (drive.digest, drive.now_ns)
    kept = drive.snapshot()
    assert (drive.digest, drive.now_ns) == before, "it goes on as it is"
    assert kept.origin["ran_ns"] > 0
    again = fs.Drive(config["drive"], snapshot=kept, audit=True)
    again.submit("read", 0, 4096)
    (read,) = rest(again)
    assert read.unmapped == 0
    assert again.capacity_bytes == 150 * 2**20
    again.audit()


def test_what_was_trimmed_stays_trimmed(config, aged):
    drive = fs.Drive(config["drive"], snapshot=aged)
    drive.submit("trim", 0, 1 << 20)
    rest(drive)
    kept = drive.snapshot()
    assert kept.origin["mapped_units"] == 38_400 - 256
    again = fs.Drive(config["drive"], snapshot=kept)
    again.submit("read", 0, 8192)
    assert [done.unmapped for done in rest(again)] == [2]


def test_drives_from_one_file_do_not_see_each_other(config, file):
    snapshot = fs.Snapshot.load(file)
    before = file.read_bytes()
    one, other = (fs.Drive(config["drive"], snapshot=snapshot) for _ in range(2))
    moved(one, 0)
    rest(one)
    alone = fs.Drive(config["drive"], snapshot=file)
    for drive in (other, alone):
        moved(drive, 500)
        rest(drive)
    assert other.digest == alone.digest
    assert file.read_bytes() == before


# ---- refused ----------------------------------------------------------------------


def test_one_that_does_not_fit_is_refused_with_line_and_path(flashscape, experiment_file, file):
    text = experiment_file.read_text(encoding="utf-8")
    other = text.replace("pages_per_block = 24", "pages_per_block = 32")
    experiment_file.write_text(other, encoding="utf-8")
    ended = flashscape("run", experiment_file, "--snapshot", file)
    assert (ended.status, ended.out) == (2, "")
    assert "line 5, drive.geometry.pages_per_block: 32 here, 24 in the snapshot" in ended.err
    with pytest.raises(fs.ConfigError) as caught:
        fs.run(experiment_file, snapshot=file)
    (problem,) = caught.value.problems
    assert (problem.path, problem.line) == ("drive.geometry.pages_per_block", 5)


def test_all_that_does_not_fit_is_said_at_once(config, aged):
    experiment = fs.Experiment.from_dict(config).replace(
        {
            "drive.ftl.over_provisioning.exported": "140 MiB",
            "drive.ftl.allocation.streams": "shared",
            "drive.ftl.allocation.pool": "channel",
            "drive.buffer.size": "4 MiB",
        }
    )
    with pytest.raises(fs.ConfigError) as caught:
        fs.run(experiment, snapshot=aged)
    assert {problem.path for problem in caught.value.problems} == {
        "drive.ftl.over_provisioning", "drive.ftl.allocation.streams", "drive.ftl.allocation.pool",
    }  # fmt: skip
    with pytest.raises(fs.ConfigError):
        fs.Drive(experiment, snapshot=aged)


def spoiled(file, how):
    whole = file.read_bytes()
    if how == "gone":
        file.unlink()
    elif how == "empty":
        file.write_bytes(b"")
    elif how == "foreign":
        file.write_text("[drive]\npreset = 'dc-tlc'\n", encoding="utf-8")
    elif how == "cut":
        file.write_bytes(whole[:-4096])
    elif how == "flipped":
        place = len(whole) - 10
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
    elif how == "newer":
        file.write_bytes(whole[:7] + b"\x09" + whole[8:])
    elif how == "a folder":
        file.unlink()
        file.mkdir()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("gone", "there is no such file"),
        ("empty", "no snapshot of a drive"),
        ("foreign", "no snapshot of a drive"),
        ("cut", "it was cut"),
        ("flipped", "checksum of "),
        ("newer", "version 9 of the format"),
        ("a folder", "cannot be read"),
    ],
)
def test_a_file_that_is_none_is_refused(flashscape, experiment_file, file, how, message):
    spoiled(file, how)
    ended = flashscape("run", experiment_file, "--snapshot", file, "--out", "out")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {file}: ")
    assert message in ended.err
    assert not (file.parent / "out").exists()
    with pytest.raises(fs.SnapshotError, match=re.escape(message)) as caught:
        fs.Snapshot.load(file)
    assert caught.value.file == str(file)
    if how != "flipped":
        assert flashscape("snapshot", "show", file).status == 2


def test_one_that_an_experiment_names_is_looked_at_first(config, tmp_path):
    config["precondition"] = {"snapshot": "gone.snap"}
    experiment = fs.Experiment.from_dict(config, folder=tmp_path)
    with pytest.raises(fs.SnapshotError, match=r"gone\.snap: there is no such file"):
        fs.run(experiment)


def test_progress_is_told_and_may_end_it(small, file, tmp_path):
    shares = []
    fs.Snapshot.take(small, ongoing=shares.append)
    fs.Snapshot.load(file, ongoing=shares.append)
    assert all(0 <= share <= 1 for share in shares)

    def stop(share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fs.Snapshot.take(small, ongoing=stop)
    with pytest.raises(RuntimeError, match="enough"):
        fs.Snapshot.load(file, ongoing=stop)
