"""Bad input: one clear error on stderr, an exit code, no traceback, nothing written."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys

import pytest

import flashscape as fs
from places import CAPTURED, SMALL


def refused(ended, status, *messages):
    assert ended.status == status, ended.err
    assert ended.err.startswith("error: ")
    assert "Traceback" not in ended.err
    assert ended.out == ""
    for message in messages:
        assert message in ended.err


@pytest.mark.parametrize(
    ("override", "messages"),
    [
        ("drive.ftl.gc.victm=fifo", ("drive.ftl.gc.victm", 'did you mean "victim"')),
        ("drive.ftl.gc.victim=greeedy", ("drive.ftl.gc.victim", '"greedy"')),
        ("record.interval=10", ("record.interval", "no unit", "one of ns, us")),
        ("drive.geometry.channels=0", ("drive.geometry.channels",)),
        ("drive.nand.read=['1 us', '2 us']", ("drive.nand.read", "2 figures")),
        ("drive.ftl.block_planes=3", ("drive.ftl.block_planes",)),
        ("drive.geometry.blocks_per_plane=16000000", ("more than 32-bit",)),
        ("drive.ftl.over_provisioning.exported=190 MiB", ("drive.ftl",)),
        ("drive.buffer.size=4 KiB", ("drive.buffer.size", "at least 65536 bytes")),
        ("drive.preset=dc-tcl", ("drive.preset", "dc-tlc")),
        ("drive.nand.channel=5000 GT/s", ("drive.nand.channel", "40 MB/s", "4800 MT/s")),
        ("drive.gc.victim=fifo", ("override, drive.gc", 'did you mean "drive.ftl.gc"')),
        ("workload[5].queue_depth=3", ("override, workload[5].queue_depth", "has 1")),
        ("workload.queue_depth=64", ("workload[0].queue_depth",)),
        ("workload[0].iodepth=4", ('did you mean "queue_depth"', "valid: name, ")),
        ("workload[0].block_size=4 KiB", ('did you mean "size"', "valid: name, ")),
        ("workload[0].addresses=random", ('did you mean "uniform"',)),
        ("workload[0].size=4096", ('"4096 B" or "4 KiB"',)),
        ("drive.ftl.over_provisioning=28%", ('{ spare = "28%" }', "spare, reserved, exported")),
        ("drive.ftl.gc.background=5%", ('did you mean "% of blocks" or "% of pages"',)),
        ("seed=18446744073709551616", ("too large (at most 18446744073709551615)",)),
        ("seed=-1", ("too small (at least 0)",)),
    ],
)
def test_impossible_configurations(override, messages, experiment_file, flashscape, tmp_path):
    for command in (("check",), ("run", "--out", "out")):
        ended = flashscape(command[0], experiment_file, *command[1:], "--set", override)
        refused(ended, 2, "1 problem", *messages)
    assert not (tmp_path / "out").exists()


def test_all_faults_at_once(experiment_file, flashscape):
    faults = ("seeed=1", "drive.buffer.size=2", "record.interval=10")
    ended = flashscape("check", experiment_file, *(f"--set={fault}" for fault in faults))
    refused(ended, 2, "3 problems", "seeed", "drive.buffer.size", "record.interval")


def test_misspelt_keys_do_not_hide_contradictions(experiment_file, flashscape):
    faults = ("seeed=1", "drive.buffer.size=4 KiB", "record.interval=0 s")
    ended = flashscape("check", experiment_file, *(f"--set={fault}" for fault in faults))
    refused(ended, 2, "3 problems", "seeed", "at least 65536 bytes", "an interval takes time")


def test_a_drive_larger_than_memory(experiment_file, flashscape):
    size = ("--set=drive.geometry.blocks_per_plane=5000000",)
    exported = ("--set=drive.ftl.over_provisioning.exported=14 TB",)
    ended = flashscape("run", experiment_file, *size, *exported)
    refused(ended, 2, "GiB of memory", "GiB are available", "without audit")


def test_files_that_are_no_experiments(flashscape, tmp_path):
    refused(flashscape("run", "none.toml"), 2, "none.toml: there is no such file (looked for ")
    refused(flashscape("run", tmp_path), 1, "has no results (summary.json: ")
    (tmp_path / "broken.toml").write_text("[drive\n")
    refused(flashscape("run", "broken.toml"), 2, "broken.toml: 1 problem", "line 1")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    refused(flashscape("run", "binary.toml"), 2, "is not text in UTF-8")
    (tmp_path / "empty.toml").write_text("")
    refused(flashscape("run", "empty.toml"), 2, "drive", "workload")


def test_bad_usage(experiment_file, flashscape):
    for arguments in (("run",), ("frobnicate",), ("run", experiment_file, "--set", "seed")):
        ended = flashscape(*arguments)
        assert ended.status == 2
        assert ended.out == ""
        assert "Error: " in ended.err


ROWS = b"time_us,op,offset,length\n" + b"".join(
    b"%d,W,%d,4096\n" % (i, i * 4096) for i in range(50)
)


@pytest.mark.parametrize(
    ("name", "content", "messages"),
    [
        ("none.csv", None, ("none.csv: there is no such file (looked for /",)),
        ("in/none.csv", None, ("in/none.csv: there is no such file", "no folder /", "/in; put")),
        ("empty.csv", b"", ("empty.csv",)),
        ("header.csv", b"time_us,op,offset,length\n", ("header.csv",)),
        ("cut.csv", ROWS + b"51,W,40", ("cut.csv:52",)),
        ("corrupt.csv", ROWS + b"51,X,4096,4096\n", ("corrupt.csv:52", '"X"')),
        ("cut.csv.gz", gzip.compress(ROWS * 50, mtime=0)[:-20], ("cut.csv.gz",)),
        ("noise.csv", bytes(range(256)) * 4, ("noise.csv:1",)),
        ("far.csv", ROWS + b"51,W,1099511627776,4096\n", ("far.csv:52", "--out-of-range wrap")),
        ("several.txt", b"1.0 0 0 8 0\n2.0 1 0 8 0\n", ("--devices", "--combine concatenate")),
        ("back.txt", b"2.0 0 0 8 0\n1.0 0 0 8 0\n", ("--disorder sort", "--closed")),
        ("whole.txt", b"1 0 0 8 0\n2 0 0 8 0\n", ("--format mqsim", '"disksim"')),
        ("more.csv.gz", gzip.compress(ROWS, mtime=0) + b"rest", ("no gzip data",)),
        ("first.csv", b"time_us,op,offset,length\n-5,W,0,4096\n", ("first.csv:2: column 1 (",)),
    ],
)
def test_bad_traces(name, content, messages, flashscape, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    ended = flashscape("replay", name, "--drive=dc-tlc", *SMALL, "--quiet", "--out=out")
    refused(ended, 2, *messages)
    assert not (tmp_path / "out").exists()


def test_traces_of_an_experiment_are_checked_with_it(experiment_file, flashscape, tmp_path):
    def trace(name, keys=""):
        return f"--set=workload=[{{ name = 'a', trace = {{ file = '{name}'{keys} }} }}]"

    (tmp_path / "two.txt").write_bytes(b"1.0 0 0 8 0\n2.0 1 0 8 0\n")
    (tmp_path / "deep").mkdir()
    experiment_file.rename(tmp_path / "deep" / "experiment.toml")
    file = "deep/experiment.toml"
    for command in (("check",), ("run", "--quiet")):
        ended = flashscape(*command, file, trace("two.txt"))
        refused(ended, 2, f"(looked for {tmp_path}/deep/two.txt)")
        ended = flashscape(*command, file, trace("../two.txt"))
        refused(ended, 2, "override, workload[0].trace.combine", 'combine = "concatenate"')
    ended = flashscape("check", file, trace("../two.txt", ", combine = 'fold'"))
    assert ended.status == 0, ended.err
    assert "DiskSim ASCII" in ended.out
    assert "no problems" in ended.out


def test_a_trace_is_refused_before_the_drive_is_filled(flashscape, tmp_path):
    """The whole dc-tlc would take half a minute to fill."""
    rows = b"".join(b"%d.0 %d 0 8 0\n" % (i, i % 16) for i in range(64))
    (tmp_path / "sixteen.txt").write_bytes(rows)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    refused(flashscape("replay", "sixteen.txt", "--drive=dc-tlc"), 2, "--combine")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 5


def test_only_regular_files_are_traces(flashscape, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for name in ("pipe.csv", "/dev/stdin"):
        code = [sys.executable, "-m", "flashscape", "replay", name, "--drive=dc-tlc"]
        ended = subprocess.run(
            code, input=ROWS, capture_output=True, cwd=tmp_path, timeout=60, check=False
        )
        assert ended.returncode == 2
        assert b"save it to a file first" in ended.stderr


def test_numbers_of_options_are_finite(flashscape, tmp_path):
    (tmp_path / "trace.csv").write_bytes(ROWS)
    for option in ("--time-scale=nan", "--time-scale=inf", "--age=nan", "--age=-inf"):
        ended = flashscape("replay", "trace.csv", "--drive=dc-tlc", option)
        assert ended.status == 2
        assert f"'{option.split('=')[0]}'" in ended.err
        assert "is not a finite number" in ended.err


def test_a_trace_is_no_experiment(flashscape, tmp_path):
    (tmp_path / "some.trace").write_bytes(ROWS)
    (tmp_path / "some.gz").write_bytes(gzip.compress(ROWS))
    (tmp_path / "some.zst").write_bytes(b"\x28\xb5\x2f\xfd\x04")
    for name, row in [
        ("blanks.txt", "938513000 4 264719034 16 0"),
        ("msr.csv", "128166372003061629,hm,1,Read,383496192,32768,58000"),
        ("etw.csv", "BeginHeader"),
        ("events.txt", "  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [x]"),
        ("fio.log", "fio version 3 iolog"),
        ("spc.csv", "0,20941264,8192,W,0.551706"),
        ("tencent.csv", "Timestamp,Offset,Size,IOType,VolumeID"),
        ("alibaba.csv", "0,R,126703661056,4096,1577808000000046"),
    ]:
        (tmp_path / name).write_text(f"{row}\n")
        refused(flashscape("run", name), 2, f"flashscape replay {name} --drive")
    for name in ("some.trace", "some.gz", "some.zst"):
        refused(flashscape("run", name), 2, f"flashscape replay {name} --drive")


def test_a_setting_of_another_format_is_refused(flashscape, tmp_path):
    (tmp_path / "trace.csv").write_bytes(ROWS)
    for more in ((), ("--format=captured",)):
        command = ("replay", "trace.csv", "--drive=dc-tlc", *SMALL, "--event=dispatch", *more)
        refused(flashscape(*command), 2, "trace.event", "has no meaning for captured CSV")


def test_stamps_that_run_backwards(flashscape, tmp_path):
    (tmp_path / "back.csv").write_bytes(ROWS + b"3,W,0,4096\n")
    command = ("replay", "back.csv", "--drive=dc-tlc", *SMALL, "--quiet")
    assert flashscape(*command).status == 0, "captured traces are sorted"
    for refuse in ("--set=workload[0].trace.disorder=refuse", "--disorder=refuse"):
        refused(flashscape(*command, refuse), 2, "back.csv:52")


def test_a_wrong_format_forced(flashscape):
    trace = CAPTURED / "start.csv.gz"
    ended = flashscape("replay", trace, "--drive=dc-tlc", *SMALL, "--format=mqsim", "--quiet")
    refused(ended, 2, "start.csv.gz:1", "--format captured")
    ended = flashscape("replay", trace, "--drive=dc-tlc", *SMALL, "--format=csv", "--quiet")
    refused(ended, 2, "trace.format", "captured")


def run_on_disk_of(size, experiment_file, tmp_path, *more):
    """Run with a limit on the size of files, which acts as a full disk."""
    command = [sys.executable, "-m", "flashscape", "run", str(experiment_file), "--out", "out"]

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return subprocess.run(
        [*command, *more],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        preexec_fn=limit,
        check=False,
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_an_encoding_lacks_is_printed_as_question_marks(experiment_file, tmp_path, encoding):
    command = [sys.executable, "-m", "flashscape", "run", str(experiment_file)]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    ended = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment, check=False)
    assert ended.returncode == 0, ended.stderr
    assert b"write amplification" in ended.stdout
    ended.stdout.decode(encoding)


def test_a_full_disk(experiment_file, tmp_path):
    ended = run_on_disk_of(1024, experiment_file, tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: out/latency.parquet: cannot be written: ")
    assert "write amplification" in ended.stdout, "what was measured is shown all the same"
    assert not (tmp_path / "out").exists(), "no half-written file is left"


def test_a_place_where_nothing_can_be_written(experiment_file, flashscape, tmp_path):
    (tmp_path / "file").write_text("")
    refused(
        flashscape("run", experiment_file, "--out", "file"),
        1,
        "file: is a file, and results go to a directory",
    )


def test_results_that_are_none(flashscape, tmp_path):
    refused(flashscape("explain", "out"), 1, "out: there is no such directory", "--out")
    (tmp_path / "summary.json").write_text("{")
    refused(flashscape("explain", "."), 1, "summary.json: is damaged")
    (tmp_path / "summary.json").write_text("{}")
    refused(flashscape("explain", "."), 1, "is not a summary of flashscape")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("replya", "trace.csv"), "No such command 'replya'. Did you mean 'replay'?"),
        (("trace", "inof", "trace.csv"), "Did you mean 'info'?"),
        (("check", "gone.toml"), "gone.toml: there is no such file (looked for {here}/gone.toml)"),
        (("explain", "gone"), "gone: there is no such directory (looked for {here}/gone)"),
        (("check", "sweep.toml"), "sweep.toml: is a sweep, not an experiment; flashscape sweep"),
        (("trace", "info", "words.txt"), "otherwise convert it to CSV with the header time_us,op"),
    ],
)
def test_what_was_mistaken_is_told_with_what_may_have_been_meant(
    flashscape, tmp_path, arguments, told
):
    (tmp_path / "sweep.toml").write_text('base = "a.toml"\n[set]\ndrive.ftl.gc.victim = "fifo"\n')
    (tmp_path / "words.txt").write_text("words that no trace has\nand more\n")
    ended = flashscape(*arguments)
    assert ended.status == 2 or arguments[0] == "explain"
    assert told.format(here=tmp_path) in ended.err
    # Only once: click suggests names for its own groups, too.
    assert ended.err.count("Did you mean") <= 1


def test_a_key_of_a_dictionary_is_not_blamed_on_the_preset(config):
    def refusal(experiment):
        with pytest.raises(fs.ConfigError) as refused:
            experiment()
        return str(refused.value)

    sound = fs.Experiment.from_dict(config)
    changes = {"ftl": {"gc": {"victm": "fifo"}}, "nand": {"decode": 5}}
    told = refusal(lambda: sound.replace({"drive": changes}))
    assert "override, drive.ftl.gc.victm: unknown key" in told
    assert "override, drive.nand.decode: 5 has no unit" in told
    config["drive"]["ftl"].setdefault("gc", {})["victm"] = "fifo"
    told = refusal(lambda: fs.Experiment.from_dict(config))
    assert "\n  drive.ftl.gc.victm: unknown key" in told
    assert ".toml" not in told
