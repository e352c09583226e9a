"""The command line in successful runs: its output, its streams, and its files."""

from __future__ import annotations

import json
import re
import tomllib

import polars as pl
import pytest

from flashscape.latency import KINDS
from places import CAPTURED, ROOT, SMALL


def test_run_prints_a_summary_and_writes_results(experiment_file, flashscape, tmp_path):
    ended = flashscape("run", experiment_file, "--out", "out")
    assert (ended.status, ended.err) == (0, "")
    for shown in ("small:", "p99.99", "write amplification", "flashscape explain out"):
        assert shown in ended.out
    written = {file.name for file in (tmp_path / "out").iterdir()}
    tables = {"latency", "blame", "bands", "series", "wear", "units", "slowest"}
    assert written == {f"{name}.parquet" for name in tables} | {"summary.json"}
    assert pl.read_parquet(tmp_path / "out" / "latency.parquet")["requests"].sum() == 3000


def test_a_run_without_a_directory_says_that_nothing_is_saved(experiment_file, flashscape):
    ended = flashscape("run", experiment_file)
    assert ended.out.endswith(
        "These results were not saved. --out DIR saves them, for `flashscape explain` and `plot`.\n"
    )


def test_reads_without_data_have_a_column_if_there_are_any(experiment_file, flashscape):
    full = flashscape("run", experiment_file).out
    assert "no data" not in full
    # 500 reads of a mapping unit each, on a drive that nothing was written to.
    table = tomllib.loads(experiment_file.read_text("utf-8"))
    del table["precondition"]
    file = experiment_file.with_name("empty.json")
    file.write_text(json.dumps(table), encoding="utf-8")
    changes = ("--set=run.requests=500", "--set=workload[0].reads=100 %")
    empty = flashscape("run", file, *changes).out
    title, head, _, row, *_ = empty[empty.index("Requests (") :].splitlines()
    assert (
        title == "Requests (no data: mapping units read that were never written, or were trimmed)"
    )
    assert head.split()[-2:] == ["no", "data"]
    assert row.split()[-1] == "500"


def test_json_is_the_summary_and_nothing_else(experiment_file, flashscape):
    ended = flashscape("run", experiment_file, "--json", "--set", "run.requests=500")
    summary = json.loads(ended.out)
    assert summary["complete"] is True
    assert summary["config"]["run"]["requests"] == 500


def test_quiet_says_nothing(experiment_file, flashscape):
    assert flashscape("run", experiment_file, "--quiet") == (0, "", "")


def test_nothing_is_overwritten_without_force(experiment_file, flashscape, tmp_path):
    kept = tmp_path / "out" / "summary.json"
    kept.parent.mkdir()
    kept.write_text("precious")
    ended = flashscape("run", experiment_file, "--out", "out")
    assert (ended.status, kept.read_text()) == (1, "precious")
    assert "out: is not empty (it has summary.json)" in ended.err
    assert flashscape("run", experiment_file, "--out", "out", "--force", "--quiet").status == 0
    assert json.loads(kept.read_text())["complete"] is True


def test_replay_announces_what_it_has_understood(flashscape, tmp_path):
    trace = CAPTURED / "sqlite.csv.gz"
    ended = flashscape("replay", trace, "--drive", "dc-tlc", *SMALL, "--audit", "--out", "out")
    assert ended.status == 0
    assert "captured CSV, gzip" in ended.err
    assert "rows      8,544 over" in ended.err
    assert "time in us" in ended.err
    explained = flashscape("explain", "out")
    assert explained.status == 0
    assert "trace write\n" in explained.out
    assert "Write amplification is" in explained.out
    assert "spent on" in explained.out


def test_replay_options_reach_the_configuration(flashscape):
    trace = CAPTURED / "sqlite.csv.gz"
    options = ("--closed", "--queue-depth=4", "--devices=0", "--combine=fold", "--fill=random")
    more = ("--age=0.5", "--out-of-range=wrap", "--format=captured", "--json", "--quiet")
    ended = flashscape("replay", trace, "--drive=dc-tlc", *SMALL, *options, *more)
    config = json.loads(ended.out)["config"]
    [workload] = config["workload"]
    assert workload["queue_depth"] == 4
    assert workload["trace"] | {"file": ""} == {
        "file": "",
        "format": "captured",
        "mode": "closed",
        "devices": [0],
        "combine": "fold",
        "out_of_range": "wrap",
    }
    assert config["precondition"]["fill"] == "random"
    assert config["precondition"]["age"]["overwrites"] == 0.5


def test_options_of_one_format_reach_the_configuration(flashscape, tmp_path):
    for name, text, options in [
        ("log", "fio version 2 iolog\na wait 5 0\na write 0 4096\n", ("waits", "moments")),
        ("log", "fio version 3 iolog\n5 a write 0 4096\n", ("time_unit", "ms")),
        ("events", "8,0 0 1 0.5 7 D W 8 + 8 [x]\n", ("event", "dispatch")),
        ("spc", "0,8,4096,w,0.5\n", ("block_size", "4 KiB")),
        ("spc", "0,8,4096,w,0.5\n", ("spread", "uniform")),
    ]:
        (tmp_path / name).write_text(text)
        key, value = options
        option = f"--{key.replace('_', '-')}={value}"
        ended = flashscape("replay", name, "--drive=dc-tlc", *SMALL, option, "--json", "--quiet")
        assert ended.status == 0, ended.err
        summary = json.loads(ended.out)
        [workload] = summary["config"]["workload"]
        assert workload["trace"][key] == value
        [trace] = summary["traces"]
        assert (trace["rows"], trace["passed_over"]) == (1, {})
        assert trace["devices"] == {"log": ["a"], "events": ["8,0"], "spc": []}[name]


def test_time_scale_stretches_a_replay(flashscape):
    command = ("replay", CAPTURED / "sqlite.csv.gz", "--drive=dc-tlc", *SMALL, "--json", "--quiet")
    spans = [
        json.loads(flashscape(*command, f"--time-scale={scale}").out)["simulated_ns"]
        for scale in (1, 2)
    ]
    assert spans[1] == pytest.approx(2 * spans[0], rel=0.1)


@pytest.mark.parametrize("trace", ["start", "sqlite", "pginit", "pgbench", "rm"])
def test_every_captured_trace_replays_with_the_audit_on(trace, flashscape):
    file = CAPTURED / f"{trace}.csv.gz"
    ended = flashscape("replay", file, "--drive=dc-tlc", *SMALL, "--audit", "--json", "--quiet")
    assert ended.status == 0, ended.err
    summary = json.loads(ended.out)
    kinds = [summary["initiators"][0][kind] for kind in KINDS]
    asked = sum(kind["requests"] for kind in kinds)
    assert asked == summary["traces"][0]["rows"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tpcc-small.trace", ("--combine=fold", "--out-of-range=wrap")),
        ("wsrch-small.trace", ("--combine=fold", "--out-of-range=wrap")),
        ("iozone-100k.trace", ("--out-of-range=wrap", "--closed", "--queue-depth=8")),
        ("postmark.trace", ("--out-of-range=wrap", "--closed", "--queue-depth=8")),
    ],
)
def test_foreign_traces_replay(name, options, flashscape):
    trace = ROOT.parent / "shared" / "traces" / name
    if not trace.exists():
        pytest.skip(f"{trace} is not there; it is not ours to ship")
    command = ("replay", trace, "--drive=dc-tlc", *SMALL, "--audit", "--json", "--quiet")
    ended = flashscape(*command, *options)
    assert ended.status == 0, ended.err
    assert json.loads(ended.out)["complete"] is True


def test_the_demo_has_garbage_collection_to_explain(flashscape):
    ended = flashscape("run", ROOT / "examples" / "demo.toml", "--json", "--quiet")
    summary = json.loads(ended.out)
    assert summary["write_amplification"]["gc"] > 0.5
    blame = summary["initiators"][0]["read"]["blame_ns"]
    assert blame["wait_unit_erase"] + blame["wait_unit_gc_program"] > 0


def test_check_prints_what_follows(experiment_file, flashscape):
    ended = flashscape("check", experiment_file)
    assert (ended.status, ended.err) == (0, "")
    for shown in (
        "exported",
        "spare / exported",
        "reserved / physical",
        "erase",
        "channels together",
        "goes before host writes at",
        "available here",
        "no problems",
    ):
        assert shown in ended.out
    figures = json.loads(flashscape("check", experiment_file, "--json").out)
    assert figures["capacity"]["exported_bytes"] == 150 * 2**20


def test_former_names_of_keys_are_accepted_with_a_note(experiment_file, flashscape):
    keys = ("background", "foreground"), ("soft", "urgent")
    current, former = (
        [f"--set=drive.ftl.gc.{key}={at} blocks" for key, at in zip(names, (6, 4), strict=True)]
        for names in keys
    )
    expected = json.loads(flashscape("check", experiment_file, *current, "--json").out)
    figures = json.loads(flashscape("check", experiment_file, *former, "--json").out)
    [note] = [note for note in figures["notes"] if note not in expected["notes"]]
    assert "drive.ftl.gc.soft is drive.ftl.gc.background now" in note
    assert figures["gc_free_blocks_per_bin"] == expected["gc_free_blocks_per_bin"]
    ended = flashscape("check", experiment_file, *former)
    assert "drive.ftl.gc.urgent is drive.ftl.gc.foreground now" in " ".join(ended.out.split())


def test_check_says_that_a_drive_in_rounds_collects_in_the_foreground(flashscape, tmp_path):
    file = tmp_path / "rounds.toml"
    file.write_text(
        '[drive]\npreset = "atc08"\n[[workload]]\nname = "host"\nreads = "50 %"\n'
        "[run]\nrequests = 10\n"
    )
    ended = flashscape("check", file)
    assert (ended.status, ended.err) == (0, "")
    assert "begins, and goes before host writes, at" in ended.out
    assert "in the background" not in ended.out


def test_notes_come_first_in_run_and_explain(experiment_file, flashscape, tmp_path):
    ended = flashscape("run", experiment_file, "--out", "out")
    file = tmp_path / "out" / "summary.json"
    summary = json.loads(file.read_text())
    file.write_text(json.dumps(summary | {"notes": ["a thing that is often not meant"]}))
    shown = flashscape("explain", "out").out
    assert 0 < shown.index("note: a thing") < shown.index("took ")
    assert shown.count("a thing that is often not meant") == 1
    assert "precondition" in ended.out
    assert re.search(r"filled \(.* units\), overwritten once, write amplification \d", ended.out)


def test_explain_cuts_many_initiators_unless_told(experiment_file, flashscape):
    text = experiment_file.read_text().split("[[workload]]")
    crowd = "".join(
        f'[[workload]]\nname = "guest-{n}"\nreads = "50 %"\nqueue_depth = {n + 4}\n'
        for n in range(9)
    )
    experiment_file.write_text(f"{text[0]}{crowd}[run]\nrequests = 3000\n")
    assert flashscape("run", experiment_file, "--out", "out", "--quiet").status == 0
    few, all_ = flashscape("explain", "out").out, flashscape("explain", "out", "--all").out
    # All together, and the two worst, of reads and of writes.
    assert few.count("spent on ") == 2 + 4
    assert "of 7 more initiators took" in few
    assert all_.count("spent on ") == 2 + 18


def test_presets_are_listed_and_shown(flashscape):
    assert "atc08" in flashscape("presets").out
    shipped = ROOT / "python" / "flashscape" / "presets" / "dc-tlc.toml"
    assert flashscape("presets", "dc-tlc").out == shipped.read_text()
    assert flashscape("presets", "dc").status == 2


def test_schema_and_version(flashscape):
    assert "drive" in json.loads(flashscape("schema").out)["properties"]
    assert flashscape("--version").out.startswith("flashscape, version ")


@pytest.mark.parametrize(
    ("scheme", "told"),
    [
        ("baseline", None),
        ("i-es", "at once (i-es)"),
        # Five steps of an erase of 3.5 ms have four boundaries inside.
        ("d-es", "after 700 µs, 1.40 ms, 2.10 ms, 2.80 ms (d-es)"),
        ("t-es", "at once until 64 ms from its beginning, then after 700 µs"),
    ],
)
def test_check_says_when_an_erase_is_suspended_under_its_scheme(flashscape, scheme, told):
    demo = ROOT / "examples" / "demo.toml"
    checked = flashscape("check", demo, "--set", f"drive.scheduler.suspension={scheme}")
    assert checked.status == 0
    said = " ".join(checked.out.split())
    if told is None:
        assert "is suspended" not in said
    else:
        assert f"an erase is suspended for reads {told}" in said
