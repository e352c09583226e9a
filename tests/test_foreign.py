"""Files of fio and blktrace that are no traces: one sentence, and the command to convert them."""

from __future__ import annotations

import gzip
import struct

import pytest

import flashscape as fs

RECORD = "IIQQIIIIIHH"
"""``struct blk_io_trace``: magic and version, sequence, time, sector, bytes, action, ..."""


def binary(order: str) -> bytes:
    """Ten records of blktrace, version 7."""
    return b"".join(
        struct.pack(order + RECORD, 0x65617407, at, at * 1000, at * 8, 4096, 0x10001, 1, 0, 0, 0, 0)
        for at in range(10)
    )


JSON = '{\n  "fio version" : "fio-3.36",\n  "timestamp" : 1,\n  "jobs" : [\n  ]\n}\n'
WARNED = f"note: both iodepth >= 1 and synchronous I/O engine are selected\n{JSON}"
TEXT = (
    "seq-read: (g=0): rw=read, bs=(R) 4096B-4096B, ioengine=libaio, iodepth=4\nfio-3.36\n"
    "Starting 1 process\n\nseq-read: (groupid=0, jobs=1): err= 0: pid=123: Tue Nov 24\n"
)
TERSE = "3;fio-3.36;seq-read;0;0;1048576;102400;25600;10\n"
RECORDS = "fio --write_iolog=given.log JOB.fio"


@pytest.mark.parametrize(
    ("name", "data", "what", "command"),
    [
        ("given.json", JSON.encode(), "a result of fio", RECORDS),
        ("given.json", WARNED.encode(), "a result of fio", RECORDS),
        ("given.txt", TEXT.encode(), "a result of fio", RECORDS),
        ("given.txt", TERSE.encode(), "a result of fio", RECORDS),
        ("given.json", gzip.compress(JSON.encode(), mtime=0), "a result of fio", RECORDS),
        ("sda.blktrace.0", binary("<"), "(little-endian)", "blkparse -i sda -o sda.txt"),
        ("sda.blktrace.11", binary(">"), "(big-endian)", "blkparse -i sda -o sda.txt"),
        ("my disk.bin", binary("<"), "of blktrace", "-o 'my disk.txt' < 'my disk.bin'"),
    ],
)
def test_what_is_no_trace_is_told_with_a_command(name, data, what, command, flashscape, tmp_path):
    (tmp_path / name).write_bytes(data)
    for arguments in (
        ("trace", "info", name),
        ("trace", "convert", name, "out.csv", "--to=captured"),
        ("trace", "describe", name, "--out=out.json"),
        ("replay", name, "--drive=atc19"),
        ("import-fio", name, "--drive=atc19"),
    ):
        if arguments[0] == "import-fio" and data.startswith(b"\x1f\x8b"):
            continue
        ended = flashscape(*arguments)
        assert ended.status == 2
        (line,) = ended.err.splitlines()
        assert line.startswith(f"error: {name}: this is ")
        assert what in line
        assert line.endswith(command)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_job_file_that_is_given_as_a_trace_or_an_experiment(flashscape, tmp_path):
    (tmp_path / "a.fio").write_text("; mine\n\n[global]\nrw=randread\n[a]\nsize=1m\n")
    leads_on = "flashscape import-fio a.fio --drive PRESET --out experiment.toml"
    for arguments in (
        ("trace", "info", "a.fio"),
        ("replay", "a.fio", "--drive=atc19"),
        ("check", "a.fio"),
        ("run", "a.fio"),
    ):
        ended = flashscape(*arguments)
        assert ended.status == 2
        assert ended.err == (
            f"error: a.fio: this is a job file of fio; make an experiment of it: {leads_on}\n"
        )


def test_a_log_of_fio_is_replayed_and_not_imported(flashscape, tmp_path):
    log = "fio version 2 iolog\nf add\nf open\nf read 0 4096\nf write 4096 4096\nf close\n"
    (tmp_path / "a.log").write_text(log)
    assert fs.trace.info(tmp_path / "a.log").requests == 2
    ended = flashscape("import-fio", "a.log", "--drive=atc19")
    assert ended.status == 2
    assert ended.err.endswith("flashscape replay a.log --drive PRESET\n")


def test_in_python_it_is_a_trace_error(tmp_path):
    file = tmp_path / "a.json"
    file.write_text(JSON)
    with pytest.raises(fs.TraceError, match=r"this is a result of fio") as caught:
        fs.trace.info(file)
    assert caught.value.file == str(file)


@pytest.mark.parametrize("text", ["", "no trace\n", "[1, 2]\n", '{"a": 1}\n'])
def test_other_files_are_left_to_the_readers(text, flashscape, tmp_path):
    (tmp_path / "x").write_text(text)
    ended = flashscape("trace", "info", "x")
    assert ended.status == 2
    assert "this is" not in ended.err
