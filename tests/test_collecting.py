"""Notes of ``replay`` on garbage collection, before the run and after it."""

from __future__ import annotations

import json
import re
import shlex

import pytest

import flashscape as fs
from flashscape.cli import collecting, replay
from places import CAPTURED, ROOT, SMALL

PROBABLY = "garbage collection will probably not begin in this replay"
CANNOT = "garbage collection cannot begin in this replay"


@pytest.fixture
def few(tmp_path):
    """A trace of 100 writes of 8 KiB, beside each other."""
    rows = (f"{100 * i},W,{8192 * i},8192" for i in range(100))
    (tmp_path / "few.csv").write_text("\n".join(["time_us,op,offset,length", *rows]))
    return "few.csv"


def remedies(err):
    """Return the options of each remedy in the note, by its words."""
    return {
        words: shlex.split(options)
        for words, options in re.findall(r"^  remedy: ([^:]+): (.*)$", err, re.MULTILINE)
    }


def test_a_replay_that_hardly_collects_is_told_before_it(flashscape, few):
    command = ("replay", few, "--drive=dc-tlc", *SMALL, "--age=1", "--json")
    ended = flashscape(*command)
    assert json.loads(ended.out)["collection"]["blocks"] == 0
    # 2 bins, blocks of 96 pages of 16 KiB on 4 planes.
    round_ = "once in 12.6 MB of writes"
    assert f"note: {PROBABLY}: the trace writes 819 kB; the drive opens a new" in ended.err
    assert "in each of its 2 bins" in ended.err
    assert round_ in ended.err
    for options in (found := remedies(ended.err)).values():
        again = flashscape(*command, *options)
        assert again.status == 0, again.err
        assert "garbage collection" not in again.err, "the remedy is enough"
        assert json.loads(again.out)["collection"]["blocks"] > 0
    assert list(found) == ["make the drive smaller", "play the trace at least so many times"]


def test_the_note_comes_before_ageing(config, few, tmp_path, capsys):
    config["workload"] = [{"name": "t", "trace": {"file": str(tmp_path / few)}}]
    # The trace fits into the open blocks: 24 pages of 16 KiB on 4 planes.
    experiment = fs.Experiment.from_dict(config)
    seen = []

    class Probe(collecting.Forecasting):
        def preconditioning(self, share):
            seen.append(capsys.readouterr().err)

    fs.run(experiment, progress=Probe(experiment, is_from_snapshot=False))
    assert PROBABLY in seen[0]


@pytest.mark.parametrize("options", [("--age=1",), ("--age=1", "--closed")])
def test_nothing_is_told_of_a_replay_that_writes_enough(flashscape, options):
    trace = CAPTURED / "pgbench.csv.gz"
    ended = flashscape("replay", trace, "--drive=dc-tlc", *SMALL, *options, "--json")
    assert json.loads(ended.out)["collection"]["blocks"] > 0
    assert "garbage collection" not in ended.err


def test_repetitions_count(flashscape, few):
    command = ("replay", few, "--drive=dc-tlc", *SMALL, "--age=1", "--json")
    assert "writes 4.10 MB" in flashscape(*command, "--set=workload[0].trace.repeat=5").err
    assert PROBABLY not in flashscape(*command, "--set=workload[0].trace.repeat=20").err


def test_a_filled_drive_takes_its_free_blocks(flashscape, few):
    command = ("replay", few, "--drive=dc-tlc", *SMALL, "--json")
    ended = flashscape(*command)
    # 2 bins of 100 blocks of 6.29 MB hold 1 GiB; 6 blocks and 2 open ones a bin are kept.
    assert f"note: {CANNOT}: the trace writes 819 kB, and the drive takes 83.9 MB" in ended.err
    assert all("--age" in options for options in remedies(ended.err).values())
    empty = flashscape(*command, "--fill=empty").err
    assert "takes 1.16 GB of writes" in empty
    assert all("--fill" in options for options in remedies(empty).values())
    more = flashscape(*command, "--set=workload[0].trace.repeat=40").err
    assert remedies(more) == {"age the drive": ["--age", "1"]}


def test_reads_alone_are_told_of_an_aged_drive_only(flashscape, tmp_path):
    (tmp_path / "reads.csv").write_text("time_us,op,offset,length\n0,R,0,4096\n")
    command = ("replay", "reads.csv", "--drive=dc-tlc", *SMALL, "--json")
    assert "collect" not in flashscape(*command).err
    ended = flashscape(*command, "--age=1")
    assert "note: the trace writes nothing, so the drive collects no garbage" in ended.err


def test_a_quiet_replay_tells_nothing(flashscape, few):
    assert flashscape("replay", few, "--drive=dc-tlc", *SMALL, "--age=1", "--quiet").err == ""


@pytest.mark.parametrize("path", sorted(CAPTURED.glob("*.csv.gz")), ids=lambda path: path.name)
def test_announcements_are_read(path):
    trace = {"name": "t", "trace": {"file": str(path)}}
    drive = {"preset": "dc-tlc"}
    [announcement] = fs.Experiment.from_dict({"drive": drive, "workload": [trace]}).traces()
    found = collecting.written(announcement, 3)
    info = fs.trace.info(path)
    writes = info.of_kind("write")
    zeroes = (info.of_kind("write_zeroes") or {"requests": 0})["requests"]
    assert found.requests == 3 * info.requests
    assert found.writes == 3 * (writes["requests"] + zeroes)
    assert abs(found.bytes - 3 * writes["bytes"]) <= 1.5 * writes["requests"]
    assert 0 < found.end < 1e12


def test_zeroes_count_as_edges(tmp_path):
    (tmp_path / "t.csv").write_text("time_us,op,offset,length\n0,Z,0,4096\n1,W,0,8192\n")
    trace = {"name": "t", "trace": {"file": str(tmp_path / "t.csv")}}
    drive = {"preset": "dc-tlc"}
    [announcement] = fs.Experiment.from_dict({"drive": drive, "workload": [trace]}).traces()
    assert collecting.written(announcement) == (2, 2, 8192, 8192)


def test_notes_of_a_replay_speak_of_its_options(flashscape, few):
    ended = flashscape("replay", few, "--drive=dc-tlc", *SMALL)
    assert "(--age 1 makes it a used one)" in " ".join(ended.out.split())
    assert "precondition with" not in ended.out


@pytest.mark.parametrize("phrase", [phrase for phrase, _ in replay.NOTES])
def test_phrases_that_are_replaced_are_those_of_the_simulator(phrase):
    source = (ROOT / "crates/drive/src/results/notes.rs").read_text(encoding="utf-8")
    assert phrase in re.sub(r"\\\n\s*", "", source)
