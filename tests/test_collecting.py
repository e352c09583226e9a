"""Notes of ``replay`` on garbage collection, before the run and after it."""

from __future__ import annotations

import json
import re
import shlex

import pytest

import flashscape as fs
from flashscape.cli import amounts, collecting, replay
from places import CAPTURED, ROOT, SMALL, WAVES

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
    more = "play the trace more often"
    assert list(found) == [f"make the drive smaller and {more}", more]


def test_the_note_comes_before_ageing(config, few, tmp_path, capsys):
    config["workload"] = [{"name": "t", "trace": {"file": str(tmp_path / few)}}]
    # The trace fits into the open blocks: 48 pages of 16 KiB on 4 planes.
    config["drive"]["geometry"]["pages_per_block"] = 48
    config["drive"]["ftl"]["over_provisioning"]["exported"] = "300 MiB"
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
    # Two bins out of step take 1 - 0.5 ** (1 / 2) of the round of 12.6 MB: 3.69 MB.
    assert "writes 1.64 MB" in flashscape(*command, "--set=workload[0].trace.repeat=2").err
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


def pgbench(**changes):
    """An experiment with the captured pgbench on the whole of dc-tlc."""
    trace = {"name": "t", "trace": {"file": str(CAPTURED / "pgbench.csv.gz")}}
    drive = {"preset": "dc-tlc", "ftl": {"gc": WAVES}}
    filled = {"fill": "sequential", **changes}
    return {"drive": drive, "precondition": filled, "workload": [trace]}


def note_on(config, **changes):
    experiment = fs.Experiment.from_dict(config)
    return collecting.note(experiment, experiment.traces(), **changes)


def test_blocks_are_made_smaller_only_in_the_last_remedy():
    found = remedies(note_on(pgbench()))
    first, second, third = found
    more = "play the trace more often"
    assert (first, second) == (f"make the drive smaller and {more}", more)
    assert "pages_per_block" not in shlex.join([*found[first], *found[second]])
    # 148 MB are 5 blocks of 64 KiB a page up to 452 pages: 2112 halved to 264, the eighth part.
    assert "drive.geometry.pages_per_block=264" in found[third]
    assert "erases are 8 times as frequent then" in third
    assert "the latency tail is longer than on the real drive" in third


def test_a_drive_keeps_as_many_dies_as_the_writes_fill():
    workload = {"name": "w", "reads": "0 %", "arrivals": {"process": "constant", "rate": "1 kIOPS"}}
    config = pgbench(age={"overwrites": 1}, in_step=True)
    # A block is 2112 pages of 16 KiB on 4 planes, 138.4 MB. 1.5 GB are 5 blocks of each of 2 dies.
    wanted = {"stop": {"bytes": "1500 MB"}}
    config["workload"] = [{**workload, **wanted}]
    options = remedies(note_on(config))["make the drive smaller"]
    assert [each for each in options if "geometry" in each] == [
        "drive.geometry.channels=1",
        "drive.geometry.dies_per_package=2",
    ]


@pytest.mark.parametrize("fill", ["sequential", "empty"])
def test_every_remedy_passes_the_check(fill, flashscape, tmp_path):
    config = pgbench(fill=fill)
    (tmp_path / "e.json").write_text(json.dumps(config))
    found = remedies(note_on(config))
    assert len(found) == 3
    for options in found.values():
        ended = flashscape("check", "e.json", *options)
        assert ended.status == 0, ended.err
        assert "note: garbage collection" not in ended.out, "the remedy is enough"


def sixteen_bins(writes, age, **ftl):
    """An experiment on 16 bins of 60 blocks of 1.57 MB, of 1 GiB of data that is overwritten."""
    geometry = {"channels": 8, "dies_per_package": 2, "blocks_per_plane": 60, "pages_per_block": 24}
    return {
        "drive": {
            "preset": "dc-tlc",
            "geometry": geometry,
            "ftl": {"over_provisioning": {"exported": "1 GiB"}, "gc": WAVES, **ftl},
            "buffer": {"size": "1 MiB"},
        },
        "precondition": {"fill": "random", "age": {"overwrites": age}},
        "workload": [
            {
                "name": "w",
                "reads": "0 %",
                "size": "16 KiB",
                "arrivals": {"process": "constant", "rate": "20 kIOPS"},
                "stop": {"requests": writes},
            }
        ],
    }


AT_ONCE = {**WAVES, "stop": "6 blocks"}
PAGES = {
    "pacing": "proportional",
    "foreground": "6 % of pages",
    "background": "10 % of pages",
    "stop": "10 % of pages",
}


@pytest.mark.parametrize(
    ("writes", "age", "ftl", "words"),
    [
        # A share of 1 - 0.5 ** (1 / 16) of a round of 25.2 MB has one of the bins open a block.
        (60, 1, {"gc": AT_ONCE}, "will probably not"),
        (1600, 1, {"gc": AT_ONCE}, None),
        (60, 1, {"allocation": {"streams": "shared"}}, "will probably not"),
        (400, 1, {"allocation": {"streams": "shared"}, "gc": AT_ONCE}, None),
        (400, 1, {"gc": PAGES}, None),
        # 960 good blocks, 5 in 1000 of them bad; 8 in each bin are kept; 1.05 GiB are written.
        (700, 0.05, {"gc": PAGES}, "cannot"),
        (10_000, 0.05, {}, "cannot"),
        (14_000, 0.05, {}, None),
    ],
)
def test_an_aged_drive_is_told_what_it_does(writes, age, ftl, words):
    experiment = fs.Experiment.from_dict(sixteen_bins(writes, age, **ftl))
    told = collecting.note(experiment, [])
    blocks = fs.run(experiment, progress=False).summary["collection"]["blocks"]
    if words is None:
        assert told is None
        assert blocks > 0
    else:
        assert f"garbage collection {words} begin in this run" in told
        assert blocks == 0


def test_in_step_each_bin_takes_a_block_before_it_collects():
    config = sixteen_bins(1, 1, gc=AT_ONCE)
    config["precondition"]["in_step"] = True
    found = collecting.room(fs.Experiment.from_dict(config), is_from_snapshot=False)
    assert found.bytes == found.round == 16 * 24 * 4 * 16384


def closed_loop(**changes):
    workload = {"name": "w", "reads": "70 %", "size": "4 KiB", "queue_depth": 32, **changes}
    config = pgbench()
    return {**config, "workload": [{**workload, "stop": {"time": "65 s"}}]}


@pytest.mark.parametrize(
    ("changes", "nanoseconds"),
    [
        # Firmware takes 5 us, a sense 50 us; the link carries 7 GB/s.
        ({}, 0.7 * 50_000 + 5_000 + 4096 / 7),
        ({"think_time": "1 ms"}, 0.7 * 50_000 + 5_000 + 4096 / 7 + 1e6),
        # The whole region may be in the buffer of 64 MiB.
        ({"region": {"size": "64 MiB"}}, 5_000 + 4096 / 7),
    ],
)
def test_the_queue_bounds_what_a_closed_loop_writes(changes, nanoseconds):
    experiment = fs.Experiment.from_dict(closed_loop(**changes))
    found = amounts.bound(experiment, experiment.config["workload"][0])
    requests = 65e9 * 32 / nanoseconds
    assert found.requests == pytest.approx(requests)
    assert found.bytes == pytest.approx(min(0.3 * requests * 4096, 65 * 7e9))
    assert found.is_aligned


def test_the_link_bounds_what_a_closed_loop_writes():
    experiment = fs.Experiment.from_dict(closed_loop(reads="0 %", queue_depth=10_000))
    assert amounts.bound(experiment, experiment.config["workload"][0]).bytes == 65 * 7e9
    assert collecting.note(experiment, []) is None


@pytest.mark.parametrize(
    ("workload", "run", "requests", "bytes_"),
    [
        # Bursts of 1 s begin at 0, 3 and 6 s.
        (
            {"reads": "50 %", "bursts": {"on": "1 s", "off": "2 s"}},
            {"time": "7 s"},
            300,
            150 * 4096,
        ),
        ({"reads": "50 %"}, {"requests": 40}, 40, 20 * 4096),
        ({"reads": "50 %"}, {"untimed": True, "requests": 40}, 40, 20 * 4096),
        # Write-zeroes count as writes here: they may program.
        (
            {"mix": {"write": "20 %", "write_zeroes": "30 %", "trim": "50 %"}},
            {"requests": 40},
            40,
            20 * 4096,
        ),
        ({"reads": "0 %", "size": "8 KiB", "stop": {"bytes": "1 MiB"}}, {}, 129, 129 * 8192),
    ],
)
def test_other_limits_bound_what_is_written(workload, run, requests, bytes_):
    rate = {} if "untimed" in run else {"arrivals": {"process": "constant", "rate": "100 IOPS"}}
    config = {**pgbench(), "workload": [{"name": "w", **rate, **workload}], "run": run}
    experiment = fs.Experiment.from_dict(config)
    found = amounts.bound(experiment, experiment.config["workload"][0])
    assert (found.requests, found.bytes) == (requests, pytest.approx(bytes_))


def test_a_check_tells_of_a_run_that_cannot_collect(flashscape, tmp_path):
    (tmp_path / "e.json").write_text(json.dumps(closed_loop()))
    ended = flashscape("check", "e.json")
    assert "garbage collection cannot begin in this run: the workload writes at most" in ended.out
    [(words, options)] = remedies(ended.out).items()
    assert words == "age the drive"
    assert "note: garbage collection" not in flashscape("check", "e.json", *options).out


def test_a_check_of_a_trace_tells_the_same(flashscape, tmp_path):
    (tmp_path / "e.json").write_text(json.dumps(pgbench(age={"overwrites": 1}, in_step=True)))
    assert "garbage collection will probably not begin" in flashscape("check", "e.json").out


def test_the_import_of_a_job_tells_it_with_its_own_options(flashscape):
    command = ("import-fio", ROOT / "examples" / "mixed.fio", "--drive=dc-tlc", "--out=e.toml")
    ended = flashscape(*command)
    assert "garbage collection cannot begin in this run" in ended.out
    # The import has ended: its options are of another import, and not of the run that it names.
    (again,) = remedies(ended.out).values()
    assert again[:3] == ["import", "again", "with"]
    assert again[-2:] == ["--age", "1"]
    assert "note: garbage collection" not in flashscape(*command, "--age=1", "--force").out


def test_a_quiet_replay_tells_nothing(flashscape, few):
    assert flashscape("replay", few, "--drive=dc-tlc", *SMALL, "--age=1", "--quiet").err == ""


@pytest.mark.parametrize("path", sorted(CAPTURED.glob("*.csv.gz")), ids=lambda path: path.name)
def test_announcements_are_read(path):
    trace = {"name": "t", "trace": {"file": str(path)}}
    drive = {"preset": "dc-tlc"}
    [announcement] = fs.Experiment.from_dict({"drive": drive, "workload": [trace]}).traces()
    found = amounts.written(announcement, 3)
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
    assert amounts.written(announcement) == amounts.Written(2, 2, 8192, 8192)


def test_notes_of_a_replay_speak_of_its_options(flashscape, few):
    ended = flashscape("replay", few, "--drive=dc-tlc", *SMALL)
    assert "(--age 1 makes it a used one)" in " ".join(ended.out.split())
    assert "precondition with" not in ended.out


@pytest.mark.parametrize("phrase", [phrase for phrase, _ in replay.NOTES])
def test_phrases_that_are_replaced_are_those_of_the_simulator(phrase):
    source = (ROOT / "crates/drive/src/results/notes.rs").read_text(encoding="utf-8")
    assert phrase in re.sub(r"\\\n\s*", "", source)


def test_a_drive_whose_link_takes_no_time_bounds_no_writes(config):
    config["drive"]["link"] = "none"
    config["workload"] = [
        {"name": "w", "reads": "0 %", "arrivals": {"process": "poisson", "rate": "100 /s"}}
    ]
    config["run"] = {"time": "2 s"}
    experiment = fs.Experiment.from_dict(config)
    workload = experiment.config["workload"][0]
    assert experiment.derived["limits"]["link_bytes_per_second"] is None
    assert amounts.bound(experiment, workload).bytes == pytest.approx(200 * 4096, rel=0.1)
