"""Sweeps: every point equals a run of its own, is run once, and survives accidents."""

from __future__ import annotations

import csv
import html
import itertools
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import flashscape as fs
import seeds
from flashscape.quantities import quantity
from flashscape.report import sweep as sweep_report
from flashscape.sweep import check, picture, reading, rows, schema, sharing
from flashscape.sweep.agenda import Agenda
from flashscape.sweep.observer import SilentSweep, jobs_that_fit
from flashscape.sweep.progress import announcement
from places import ROOT
from test_bad_input import refused

DEPTH = "workload[0].queue_depth"
VICTIM = "drive.ftl.gc.victim"


def kept(out: Path) -> dict[str, int]:
    """Return the time at which each point was written, by its key: a repeated point has another."""
    return {file.parent.name: file.stat().st_mtime_ns for file in out.glob("points/*/*.json")}


def measured(summary: dict) -> dict:
    """Return a summary without figures that depend on the machine."""
    return {key: value for key, value in summary.items() if key != "host_cpu_seconds"}


def same(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table without figures that depend on the machine."""
    return frame.drop("cpu_seconds")


@pytest.fixture
def quick(config):
    """Points of a few milliseconds each."""
    config["run"] = {"requests": 400}
    config["precondition"] = {"fill": "sequential"}
    return config


def write(folder: Path, text: str, name: str = "sweep.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


# The points to run.


def test_everything_is_combined_in_the_order_of_the_file(experiment_file, tmp_path):
    file = write(
        tmp_path,
        f"""
        base = "experiment.toml"
        seeds = 2
        [set]
        seed = 7
        [grid]
        "{DEPTH}" = [4, 1]
        [[zip]]
        drive.geometry.channels = [2, 4]
        drive.ftl.over_provisioning.exported = ["150 MiB", "300 MiB"]
        [[variation]]
        name = "plain"
        [[variation]]
        name = "fifo"
        {VICTIM} = "fifo"
        """,
    )
    points = check.Points(reading.of_file(file).design)
    points.check()
    told = [
        (
            point.variation,
            point.values[VICTIM] if point.variation == "fifo" else "plain",
            point.values[DEPTH],
            point.values["drive.geometry.channels"],
            point.values["drive.ftl.over_provisioning.exported"],
            point.seed,
        )
        for point in points.points
    ]
    rows = [(2, "150 MiB"), (4, "300 MiB")]
    names = ("plain", "fifo")
    expected = [
        (name, name, depth, *row, seed)
        for name, depth, row, seed in itertools.product(names, (4, 1), rows, (7, 8))
    ]
    assert told == expected
    assert [point.number for point in points.points] == list(range(1, 17))
    # Keys that a variation leaves out have the base's values.
    assert points.points[0].values[VICTIM] == {"policy": "greedy", "ties": "first"}
    assert points.points[8].name == "fifo, queue_depth=4, channels=2, exported=150 MiB, seed=7"


def test_all_faults_of_a_file_at_once_with_their_lines(experiment_file, flashscape, tmp_path):
    write(
        tmp_path,
        """base = "experiment.toml"
seeeds = 4
seeds = [1, 1]
[set]
drive.buffer.sise = "4 MiB"
[grid]
drive.ftl.gc.victim = ["greedy", "fifoo", "greedy"]
"workload[0].queue_depth" = [1, 0]
run.requests = 5
[[zip]]
a = [1, 2]
b = [1]
[[variation]]
name = "x"
[[variation]]
name = "x"
"drive.ftl.gc.victim" = "fifo"
""",
    )
    ended = flashscape("sweep", "sweep.toml", "--out", "out")
    refused(
        ended,
        2,
        "sweep.toml: 9 problems",
        'line 2, seeeds: unknown key (did you mean "seeds"?',
        "line 3, seeds: a seed stands there twice",
        "line 7, grid.drive.ftl.gc.victim[2]: the same as grid.drive.ftl.gc.victim[0]",
        "line 7, grid.drive.ftl.gc.victim: drive.ftl.gc.victim covers what variation[1]",
        'line 7, drive.ftl.gc.victim.policy: no policy "fifoo" (did you mean "fifo"?',
        "line 8, workload[0].queue_depth: 0 is too small (at least 1)",
        "line 9, grid.run.requests: 5 is not a list of values (write [5])",
        "line 10, zip[0]: lists that go together are equally long; a has 2, b has 1",
        'line 16, variation[1].name: "x" is the name of variation 1, too',
    )
    assert not (tmp_path / "out").exists()


def test_faults_of_points_come_once_with_the_points_that_have_them(
    experiment_file, flashscape, tmp_path
):
    grid = f'[grid]\n"{DEPTH}" = [1, 0]\n"drive.buffer.size" = ["4 KiB", "2 MiB", "4 MiB"]\n'
    write(tmp_path, f'base = "experiment.toml"\nseeds = 3\n{grid}')
    ended = flashscape("sweep", "sweep.toml", "--dry-run")
    refused(
        ended,
        2,
        "sweep.toml: 2 problems",
        "line 4, workload[0].queue_depth: ",
        "line 5, drive.buffer.size: 4 KiB hold",
        "(in 6 of 18 points: queue_depth=1, size=4 KiB; queue_depth=0, size=4 KiB)",
    )


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("seeds = 2", ("base: missing; write base =",)),
        ('base = "none.toml"\nseeds = 2', ("line 1, base: ", "none.toml: there is no such file")),
        ('base = "experiment.toml"', ("nothing varies",)),
        ('base = "experiment.toml"\nseeds = 0', ("line 2, seeds: 0 is neither",)),
        ('base = "experiment.toml"\nseeds = [', ("line 2: column",)),
        ('base = "broken.json"\nseeds = 2', ("broken.json", "(in all 2 points)")),
        (
            'base = "sweep.toml"\nseeds = 2',
            ("line 1, base: sweep.toml: is a sweep, not an experiment",),
        ),
        (
            'base = "experiment.toml"\nseeds = 2\n[set]\nseed = 18446744073709551615',
            ("line 2, seeds: 2 seeds from 18446744073709551615 on do not fit 64 bits",),
        ),
        ("[drive]\npreset = 'dc-tlc'", ("is an experiment, not a sweep",)),
        (
            f'base = "experiment.toml"\nseeds = 1000\n[grid]\nseed = [{", ".join("1234")}]',
            ("line 2, seeds: seed covers what grid.seed",),
        ),
        (
            'base = "experiment.toml"\nseeds = 60000\n[grid]\nrun.audit = [true, false]',
            ("120,000 points are more than 100,000",),
        ),
        (
            'base = "experiment.toml"\nseeds = 2\n[set]\nseed = -1',
            ("seed: -1 is too small", "(in all 2 points)"),
        ),
        (
            f'base = "experiment.toml"\n[set]\n{VICTIM} = "fifo"\n[grid]\n{VICTIM} = ["greedy"]',
            ("line 5, grid.drive.ftl.gc.victim: drive.ftl.gc.victim is set for all points",),
        ),
        (
            f'base = "experiment.toml"\n[[variation]]\n{VICTIM}.policy = "fifo"\n'
            "[[variation]]\n[grid]\ndrive.ftl.gc.victim = ['greedy']",
            ("covers what variation[0].drive.ftl.gc.victim.policy says",),
        ),
        (
            f'base = "experiment.toml"\n[set]\n{VICTIM} = "fifo"\n'
            f'[[variation]]\n[[variation]]\nname = "b"\n{VICTIM} = "greedy"',
            ("line 7, variation[1].drive.ftl.gc.victim: drive.ftl.gc.victim is set for all",),
        ),
    ],
)
def test_sweeps_that_make_no_sense(text, messages, experiment_file, flashscape, tmp_path):
    write(tmp_path, text)
    write(tmp_path, "{", "broken.json")
    refused(flashscape("sweep", "sweep.toml", "--out", "out"), 2, *messages)
    assert not (tmp_path / "out").exists()


def test_the_command_line_comes_after_the_file_and_before_what_varies(
    experiment_file, flashscape, tmp_path
):
    common = "[set]\nrun.requests = 300\nseed = 4\n"
    write(tmp_path, f'base = "experiment.toml"\nseeds = 2\n{common}')
    quiet = ("sweep", "sweep.toml", "--out", "out", "--quiet")
    ended = flashscape(*quiet, "--set", "run.requests=200", "--set", "seed=7")
    assert ended.status == 0, ended.err
    table = pl.read_parquet(tmp_path / "out" / "sweep.parquet")
    sums = table.group_by("seed", maintain_order=True).agg(pl.col("requests").sum())
    assert sums.rows() == [(7, 200), (8, 200)]
    write(tmp_path, f'base = "experiment.toml"\n[[variation]]\n"{DEPTH}" = 1\n')
    refused(flashscape(*quiet, "--set", f"{DEPTH}=4"), 2, "line 3, variation[0].", "is set for all")
    # The same as a mapping in Python.
    file = write(tmp_path, f'base = "experiment.toml"\n[grid]\n"{DEPTH}" = [1]\n')
    with pytest.raises(fs.ConfigError, match="is set for all points"):
        fs.sweep_file(file, overrides={DEPTH: 4})


def test_values_from_python_are_refused_alike(quick, tmp_path):
    with pytest.raises(fs.ConfigError) as caught:
        fs.sweep(quick, grid={DEPTH: [1, 0], VICTIM: "fifo"}, out=tmp_path / "out")
    assert {problem.path for problem in caught.value.problems} == {f'grid."{VICTIM}"', DEPTH}


def test_whatever_is_a_sequence_in_python_will_do(quick):
    swept = fs.sweep(quick, grid={DEPTH: range(1, 3)}, seeds=range(4, 6))
    points = [(point["values"][DEPTH], point["seed"]) for point in swept]
    assert points == [(1, 4), (1, 5), (2, 4), (2, 5)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"grid": [1]}, r"grid: \[1\] is not a table of paths and values"),
        ({"grid": {DEPTH: b"12"}}, "b'12' is not a value"),
        ({"zipped": {DEPTH: [1, 2]}}, "zip: .* is not a list of tables"),
        ({"zipped": ["a"]}, r'zip\[0\]: "a" is not a table'),
        ({"variations": ["a"]}, r'variation\[0\]: "a" is not a table'),
        ({"variations": {"a": 5}}, "variations: a: 5 is no table"),
        ({"variations": {"a": {"name": "x"}}}, "variations: a: has another name, 'x'"),
        ({"seeds": 1.5}, "seeds: 1.5 is neither"),
        ({"seeds": "12"}, 'seeds: "12" is neither'),
    ],
)
def test_values_from_python_of_another_kind(given, message, quick):
    with pytest.raises(fs.ConfigError, match=message):
        fs.sweep(quick, **given)


def test_the_schema_knows_the_files_that_work(flashscape):
    import tomllib

    known = json.loads(flashscape("schema", "--sweep").out)
    assert known == schema.schema()
    jsonschema.Draft202012Validator.check_schema(known)
    shipped = tomllib.loads((ROOT / "examples" / "sweep.toml").read_text(encoding="utf-8"))
    jsonschema.validate(shipped, known)
    inline = {"base": {"drive": {"preset": "dc-tlc"}}, "grid": {DEPTH: [1, 2]}}
    jsonschema.validate(inline, known)
    for wrong in (
        shipped | {"gird": {}},
        {"base": "a.toml"},
        {"base": "a.toml", "grid": {DEPTH: 1}},
        {"base": {"drvie": {}}, "seeds": 2},
        shipped | {"seeds": 0},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, known)


# The results.


@pytest.mark.parametrize("jobs", [1, 3])
def test_points_are_what_single_runs_are(jobs, config, tmp_path):
    config["run"]["requests"] = 1000
    grid = {VICTIM: ["greedy", "fifo"], DEPTH: [16, 2]}
    swept = fs.sweep(config, grid=grid, seeds=[5, 3], out=tmp_path / "out", jobs=jobs)
    alone = [
        fs.run(fs.Experiment.of(config).replace({VICTIM: victim, DEPTH: depth, "seed": seed}))
        for victim, depth, seed in itertools.product(grid[VICTIM], grid[DEPTH], [5, 3])
    ]
    for number, result in enumerate(alone, 1):
        assert measured(swept.result(number).summary) == measured(result.summary)
    table = pl.read_parquet(tmp_path / "out" / "sweep.parquet")
    assert table.equals(swept.frame)
    assert fs.Sweep.load(tmp_path / "out").frame.equals(table)
    told = table.select("point", VICTIM, DEPTH, "seed", "initiator", "kind", "digest", "p99_ns")
    expected = [
        (
            number,
            result.summary["config"]["drive"]["ftl"]["gc"]["victim"]["policy"],
            result.summary["config"]["workload"][0]["queue_depth"],
            result.summary["config"]["seed"],
            initiator,
            kind,
            result.digest,
            figures["latency_ns"]["p99"],
        )
        for number, result in enumerate(alone, 1)
        for initiator, kind, figures in result.groups()
    ]
    assert told.rows() == expected
    assert len({row[6] for row in expected}) == 8


def test_a_former_name_of_a_key_varies_it_as_the_current_one(quick, tmp_path):
    variations = {"a": {"workload[0].queue_depth": 3}, "b": {"drive.ftl.gc.soft": "5 % of blocks"}}
    swept = fs.sweep(quick, variations=variations, out=tmp_path / "out")
    by_name = {row["variation"]: row for row in swept.frame.iter_rows(named=True)}
    assert [by_name[n]["drive.ftl.gc.soft"] for n in "ab"] == ["6 blocks", "5 % of blocks"]
    variations["b"]["drive.ftl.gc.soft"] = "5 %"
    with pytest.raises(
        fs.ConfigError, match=r"drive\.ftl\.gc\.background: .*% of blocks"
    ) as refused:
        fs.sweep(quick, variations=variations, out=tmp_path / "other")
    assert refused.value.problems[0].file == "sweep"


def test_columns_are_typed_and_in_base_units(quick, tmp_path):
    swept = fs.sweep(
        quick,
        grid={"record.interval": ["64 ms", "1s"], "drive.buffer.size": ["4 MiB"]},
        variations={
            "a": {"workload[0].reads": "70 %", "run.audit": True},
            "b": {"drive.ftl.gc.background": "5 % of blocks", "workload[0].queue_depth": 3},
        },
        out=tmp_path / "out",
    )
    frame = swept.frame
    assert frame["record.interval"].unique(maintain_order=True).to_list() == ["64 ms", "1s"]
    intervals = frame["record.interval_ns"].unique(maintain_order=True)
    assert (intervals.dtype, intervals.to_list()) == (pl.Int64, [64_000_000, 1_000_000_000])
    assert frame["drive.buffer.size_bytes"].unique().to_list() == [4 << 20]
    by_name = {row["variation"]: row for row in frame.iter_rows(named=True)}
    # Keys that a variation leaves out have the values of the base and the preset.
    assert [by_name[n]["workload[0].reads_share"] for n in "ab"] == pytest.approx([0.7, 0.5])
    assert [by_name[n]["run.audit"] for n in "ab"] == [True, False]
    assert [by_name[n][DEPTH] for n in "ab"] == [8, 3]
    assert [by_name[n]["drive.ftl.gc.background"] for n in "ab"] == ["6 blocks", "5 % of blocks"]
    # Blocks and shares of blocks cannot be compared.
    assert not [c for c in frame.columns if c.startswith("drive.ftl.gc.background_")]
    row = by_name["a"]
    assert row["bytes_per_second"] == pytest.approx(row["bytes"] / row["counted_ns"] * 1e9)
    shares = [row[name] for name in frame.columns if name.endswith("_share") and "." not in name]
    assert sum(shares) == pytest.approx(1.0)
    states = [row[f"{name}_ns"] for name, _ in fs._flashscape.states()]
    assert sum(states) == pytest.approx(row["mean_ns"] * row["requests"])


@pytest.mark.parametrize(
    ("text", "amount", "unit"),
    [
        ("64 ms", 64_000_000, "ns"),
        ("1.5min", 90_000_000_000, "ns"),
        ("0.001 us", 1, "ns"),
        ("90 d", 7_776_000_000_000_000, "ns"),
        ("4 KiB", 4096, "bytes"),
        ("1.92 TB", 1_920_000_000_000, "bytes"),
        ("1600 MT/s", 1.6e9, "bytes_per_second"),
        ("7 GB/s", 7e9, "bytes_per_second"),
        ("2 kIOPS", 2000, "requests_per_second"),
        ("3 /s", 3, "requests_per_second"),
        ("7 %", 0.07, "share"),
        ("6 blocks", 6, "blocks"),
        ("5.05 % of blocks", 0.0505, "share_of_blocks"),
        ("5 % of pages", 0.05, "share_of_pages"),
    ],
)
def test_quantities(text, amount, unit):
    found = quantity(text)
    assert (float(found.amount), found.unit) == (pytest.approx(amount), unit)


def test_what_is_no_quantity():
    assert [quantity(each) for each in ("greedy", "12", "3 parsecs", "-1 s", 5, None)] == [None] * 6


def test_means_over_seeds(quick, tmp_path):
    swept = fs.sweep(quick, grid={DEPTH: [2, 8]}, seeds=3, out=tmp_path / "out")
    for row in swept.over_seeds().iter_rows(named=True):
        mine = (pl.col(DEPTH) == row[DEPTH]) & (pl.col("kind") == row["kind"])
        values = swept.frame.filter(mine)["mean_ns"].to_list()
        assert row["seeds"] == len(values) == 3
        assert row["mean_ns"] == pytest.approx(statistics.fmean(values))
        # For two degrees of freedom t has a closed form: t² = 2 p² / (1 - p²), at p = 0.95.
        t = math.sqrt(2 * 0.95**2 / (1 - 0.95**2))
        half_width = t * statistics.stdev(values) / math.sqrt(3)
        assert row["mean_ns_ci95"] == pytest.approx(half_width, rel=1e-9)
    assert len(swept.over_seeds()) == 4


class Meddler(SilentSweep):
    """Does something after the check of all points, before any has begun."""

    def __init__(self, meddle):
        self.begins = lambda _begin: meddle()


def interrupt():
    raise KeyboardInterrupt


def test_results_stay_until_those_with_tables_are_there(quick, tmp_path):
    out = tmp_path / "out"
    whole = fs.sweep(quick, seeds=2, out=out)
    before = kept(out)
    with pytest.raises(fs.SweepInterrupted) as caught:
        fs.sweep(quick, seeds=2, out=out, tables=True, progress=Meddler(interrupt))
    assert kept(out) == before
    assert caught.value.sweep.frame.equals(whole.frame)


def test_a_table_that_varies_has_a_column_of_its_own_name(quick, flashscape, tmp_path):
    """Columns of figures begin alike: precondition_write_amplification."""
    ways = [{"fill": "sequential"}, {"fill": "random"}]
    swept = fs.sweep(quick, grid={"precondition": ways}, seeds=2, out=tmp_path / "out")
    means = swept.over_seeds()
    assert means.columns.count("precondition_write_amplification") == 1
    assert means["precondition"].n_unique() == 2
    # Each row covers both seeds, whose drives may have different histories.
    assert means["seeds"].to_list() == [2] * 4
    ended = flashscape("sweep", "--show", "out", "--plot")
    assert ended.status == 0, ended.err
    assert "± 95 % confidence" in ended.out


def test_tables_of_points_are_kept_on_demand(quick, tmp_path):
    out = tmp_path / "out"
    fs.sweep(quick, seeds=2, out=out)
    before = kept(out)
    with pytest.raises(fs.OutputError, match="run it again to have all"):
        fs.Sweep.load(out).result(1).frame("latency")
    swept = fs.sweep(quick, seeds=2, out=out, tables=True)
    assert swept.result(2).latency["requests"].sum() == 400
    after = kept(out)
    assert all(after[key] != before[key] for key in before)
    # Results with tables also serve a sweep that needs none.
    fs.sweep(quick, seeds=2, out=out)
    assert kept(out) == after


def test_points_with_equal_inputs_are_run_once(quick, tmp_path):
    grid = {"drive.buffer.size": ["2 MiB", "2048 KiB"]}
    swept = fs.sweep(quick, grid=grid, out=tmp_path / "out")
    assert len(kept(tmp_path / "out")) == 1
    assert swept.frame["digest"].n_unique() == 1
    assert (
        swept.frame["drive.buffer.size"].unique(maintain_order=True).to_list()
        == grid["drive.buffer.size"]
    )


def test_a_script_needs_no_guard_and_no_directory(quick, tmp_path):
    script = f"import flashscape as fs\nprint(fs.sweep({quick!r}, seeds=3, jobs=2).counts)\n"
    file = write(tmp_path, script, "script.py")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    # Workers do not import modules from the current directory.
    write(elsewhere, "raise SystemExit", "json.py")
    command = [sys.executable, str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=elsewhere, check=True)
    assert "'done': 3" in ended.stdout
    assert [each.name for each in elsewhere.iterdir()] == ["json.py"]


# Resuming.


def test_only_what_has_changed_is_run_again(quick, tmp_path):
    rows = [("time_us", "op", "offset", "length")]
    rows += [(n * 100, "RW"[n % 2], n * 4096, 4096) for n in range(50)]

    def trace(name, rows):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows(rows)

    trace("a.csv", rows)
    trace("b.csv", rows)
    out = tmp_path / "out"
    quick["workload"] = [{"name": "host", "trace": {"file": "a.csv"}}]
    quick["run"] = {}

    def go(files=("a.csv", "b.csv"), **changes):
        files = [str(tmp_path / name) for name in files]
        swept = fs.sweep(quick | changes, grid={"workload[0].trace.file": files}, out=out)
        return kept(out), swept

    first, _ = go()
    assert len(first) == 2
    assert go()[0] == first
    assert go(title="renamed")[0] == first
    trace("b.csv", [*rows, (9999, "R", 0, 4096)])
    second, swept = go()
    assert set(second.items()) > set(first.items())
    assert len(second) == 3
    assert swept.frame.group_by("point", maintain_order=True).agg(pl.col("requests").sum())[
        "requests"
    ].to_list() == [50, 51]
    # Points that are no longer wanted stay, and are not in the results.
    third, swept = go(files=("b.csv",))
    assert third == second
    assert swept.frame["point"].unique().to_list() == [1]
    # Another seed is another input.
    assert len(go(files=("b.csv",), seed=2)[0]) == 4


@pytest.fixture
def traced(quick, tmp_path):
    """Return an experiment that replays fifty requests of a file."""
    trace = tmp_path / "a.csv"
    trace.write_text(rows_of(50), encoding="utf-8")
    quick["workload"] = [{"name": "host", "trace": {"file": str(trace)}}]
    quick["run"] = {}
    return quick, trace


def rows_of(requests: int) -> str:
    rows = ["time_us,op,offset,length", *(f"{n * 100},R,{n * 4096},4096" for n in range(requests))]
    return "\n".join(rows) + "\n"


def test_an_input_that_changes_meanwhile_is_not_taken_for_the_old_one(traced, tmp_path):
    config, trace = traced
    change = Meddler(lambda: trace.write_text(rows_of(60), encoding="utf-8"))
    swept = fs.sweep(config, grid={"record.slowest": [1, 2]}, out=tmp_path / "out", progress=change)
    assert len(swept.failures) == 2
    for _, error in swept.failures:
        assert error == f"an input has changed since the sweep began ({trace}); start it again"
    # No result of one content is stored under the other's key.
    assert kept(tmp_path / "out") == {}
    for requests in (60, 50):
        trace.write_text(rows_of(requests), encoding="utf-8")
        swept = fs.sweep(config, grid={"record.slowest": [1, 2]}, out=tmp_path / "out")
        assert swept.frame["requests"].to_list() == [requests] * 2


def test_a_trace_that_is_missing_for_a_moment_fails_nothing_for_good(traced, tmp_path):
    config, trace = traced
    away = trace.with_suffix(".away")
    hide = Meddler(lambda: trace.rename(away))
    swept = fs.sweep(config, seeds=2, out=tmp_path / "out", progress=hide)
    assert swept.counts["failed"] == 2
    away.rename(trace)
    swept = fs.sweep(config, seeds=2, out=tmp_path / "out")
    assert swept.counts["done"] == 2


def test_what_fails_anew_is_not_covered_by_what_was_kept(traced, tmp_path):
    config, trace = traced
    fs.sweep(config, seeds=2, out=tmp_path / "out")
    hide = Meddler(lambda: trace.rename(trace.with_suffix(".away")))
    swept = fs.sweep(config, seeds=2, out=tmp_path / "out", tables=True, progress=hide)
    assert swept.counts["failed"] == 2
    trace.with_suffix(".away").rename(trace)
    assert fs.sweep(config, seeds=2, out=tmp_path / "out").counts["done"] == 2


def test_a_damaged_result_is_measured_again(quick, tmp_path):
    out = tmp_path / "out"
    whole = fs.sweep(quick, seeds=2, out=out).frame
    damaged = next(out.glob("points/*/summary.json"))
    damaged.write_bytes(damaged.read_bytes()[:1000])
    assert same(fs.sweep(quick, seeds=2, out=out).frame).equals(same(whole))


# Drives that points share.

PACING = "drive.ftl.gc.pacing"


class Listener(SilentSweep):
    """Observes a sweep; ``accident`` happens while the first shared drive is prepared."""

    def __init__(self, accident=None):
        self.accident = accident
        self.announced: list[str] = []
        self.made: list[tuple[int, str | None]] = []

    def begins(self, begin):
        self.announced = announcement(begin)

    def prepared(self, prepared):
        self.made.append((len(prepared.group.points), prepared.lost))

    def tick(self, shares):
        if self.accident is not None and any(number < 0 for number in shares):
            accident, self.accident = self.accident, None
            accident()


@pytest.fixture
def shared(config, monkeypatch):
    """Return drives that are aged within milliseconds, and shared nevertheless."""
    monkeypatch.setattr(sharing, "_TRIVIAL", 0.0)
    config["run"]["requests"] = 400
    return config


@pytest.mark.parametrize("jobs", [1, 3])
def test_points_with_a_shared_drive_are_what_single_runs_are(jobs, shared, tmp_path):
    grid = {VICTIM: ["greedy", "random"], PACING: ["none", "proportional"], DEPTH: [16, 2]}
    heard = Listener()
    out = tmp_path / "out"
    swept = fs.sweep(shared, grid=grid, seeds=[5, 3], out=out, jobs=jobs, progress=heard)
    # Two policies and two seeds age drives differently. Pacing and depths come later.
    assert heard.made == [(4, None)] * 4
    assert heard.announced[1] == "16 points start from 4 drives that are filled and aged once"
    values = itertools.product(*grid.values(), [5, 3])
    alone = [
        fs.run(fs.Experiment.of(shared).replace(dict(zip([*grid, "seed"], each, strict=True))))
        for each in values
    ]
    for number, result in enumerate(alone, 1):
        assert measured(swept.result(number).summary) == measured(result.summary)
    assert not (out / "drives").exists()
    heard = Listener()
    apart = fs.sweep(shared, grid=grid, seeds=[5, 3], jobs=2, share=False, progress=heard)
    assert heard.made == []
    assert apart.frame["digest"].to_list() == swept.frame["digest"].to_list()
    assert same(apart.frame).equals(same(swept.frame))


def test_only_points_that_are_still_to_run_share(shared, tmp_path):
    def go(depths):
        heard = Listener()
        fs.sweep(shared, grid={DEPTH: depths}, out=tmp_path / "out", jobs=2, progress=heard)
        return heard.made

    assert go([1, 2]) == [(2, None)]
    assert go([1, 2, 3]) == [], "one point alone has nobody to share with"
    assert go([1, 2, 3, 4, 5]) == [(2, None)]


def test_what_is_not_worth_it_is_not_shared(config):
    def saved(points, **precondition):
        config["precondition"] = precondition
        config["run"]["requests"] = 10
        depths = list(range(1, points + 1))
        found = check.Points(reading.of_tables(config, {"grid": {DEPTH: depths}}).design)
        found.check()
        return bool(sharing.share(found.points, None).groups)

    # 38,400 mapping units, aged at a tenth of a microsecond each.
    assert not saved(2, fill="random", age={"overwrites": 20.0})
    assert saved(2, fill="random", age={"overwrites": 40.0})
    assert saved(3, fill="random", age={"overwrites": 20.0})
    assert not saved(1, fill="random", age={"overwrites": 900.0})
    assert not saved(50, fill="empty")


def test_a_drive_that_cannot_be_made_ready_fails_its_points(shared, tmp_path):
    shared["drive"]["ftl"]["bad_blocks"] = {"grown_per_erase": "60 %"}
    with pytest.raises(fs.SpaceError) as alone:
        fs.run(shared)
    heard = Listener()
    swept = fs.sweep(shared, grid={DEPTH: [1, 2, 4]}, out=tmp_path / "out", progress=heard)
    assert heard.made == [(3, None)]
    assert [error for _, error in swept.failures] == [str(alone.value)] * 3
    # The point would fail again.
    before = kept(tmp_path / "out")
    assert len(before) == 3
    heard = Listener()
    fs.sweep(shared, grid={DEPTH: [1, 2, 4]}, out=tmp_path / "out", progress=heard)
    assert (heard.made, kept(tmp_path / "out")) == ([], before)


def kill_the_worker(_out):
    [worker] = workers(os.getpid())
    os.kill(worker, signal.SIGKILL)


def take_the_place(out):
    (out / "drives").touch()


@pytest.mark.parametrize(
    ("accident", "why"), [(kill_the_worker, "SIGKILL"), (take_the_place, "drives: cannot be made")]
)
def test_points_whose_shared_drive_is_lost_make_their_own(accident, why, shared, tmp_path):
    if accident is kill_the_worker and not Path("/proc/self/stat").exists():
        pytest.skip("looks into /proc")
    # Long enough that the accident comes first.
    shared["precondition"]["age"]["overwrites"] = 20.0
    out = tmp_path / "out"
    heard = Listener(lambda: accident(out))
    swept = fs.sweep(shared, grid={DEPTH: [1, 4]}, out=out, jobs=1, progress=heard)
    [(points, lost)] = heard.made
    assert points == 2
    assert why in lost
    assert swept.counts["done"] == 2
    apart = fs.sweep(shared, grid={DEPTH: [1, 4]}, share=False)
    assert same(apart.frame).equals(same(swept.frame))


def test_a_disk_that_holds_no_drive(shared, monkeypatch, tmp_path):
    monkeypatch.setattr(sharing, "free_bytes", lambda _folder: 2 << 20)
    heard = Listener()
    swept = fs.sweep(shared, grid={DEPTH: [1, 4]}, out=tmp_path / "out", progress=heard)
    assert heard.made == []
    assert heard.announced[1].startswith(
        "note: 2 points fill and age drives of their own that they could share: a file of"
    )
    assert swept.counts["done"] == 2


def test_a_file_of_a_drive_is_no_larger_than_reckoned(shared, tmp_path):
    experiment = fs.Experiment.of(shared)
    file = tmp_path / "drive.snap"
    fs.Snapshot.take(experiment).save(file)
    reckoned = sharing.kept_bytes(experiment.derived["memory_bytes"]["map"])
    assert file.stat().st_size <= reckoned < file.stat().st_size * 1.2 + (1 << 20)


def test_drives_that_a_killed_sweep_has_left_go(shared, tmp_path):
    out = tmp_path / "out"
    fs.sweep(shared, grid={DEPTH: [1, 4]}, out=out)
    drives = out / "drives"
    drives.mkdir()
    for name in (f"{'0a' * 12}.snap", f".unfinished-123-{'0a' * 12}.snap"):
        (drives / name).write_bytes(b"half")
    fs.sweep(shared, grid={DEPTH: [1, 4]}, out=out)
    assert not drives.exists()


def test_no_more_drives_at_a_time_than_jobs_and_the_disk_holds(shared, monkeypatch):
    """An agenda that is processed in a random order, by a number of jobs."""
    numbers = seeds.drawn()
    points = check.Points(reading.of_tables(shared, {"grid": {DEPTH: [1, 2]}, "seeds": 9}).design)
    points.check()
    size = points.points[0].kept_bytes
    for jobs, drives_kept in itertools.product((1, 2, 5), (1, 3)):
        shares = sharing.share(points.points, 2 * size * drives_kept)
        assert len(shares.groups) == 9
        agenda = Agenda(points.points, shares, jobs=jobs)
        at_work, there, ended = [], set(), []
        while agenda.is_open or at_work:
            while len(at_work) < jobs and (task := agenda.take()) is not None:
                at_work.append(task)
                if isinstance(task, sharing.Group):
                    there.add(task.name)
                else:
                    assert agenda.start(task) == {"drive": task.preparation}
            assert at_work, "somebody always has something to do"
            assert len(there) <= min(jobs, drives_kept)
            task = at_work.pop(numbers.randrange(len(at_work)))
            if isinstance(task, sharing.Group):
                agenda.prepared(task, {"drive": task.name})
            else:
                ended.append(task.number)
                if (group := agenda.ended(task)) is not None:
                    there.remove(group.name)
        assert sorted(ended) == list(range(1, 19))
        assert not there


# The inputs that a key covers, and the places of files.


def test_a_snapshot_is_an_input_by_its_content(shared, tmp_path):
    experiment = fs.Experiment.of(shared)
    file = tmp_path / "base" / "aged.snap"
    file.parent.mkdir()
    base = shared | {"precondition": {"snapshot": "aged.snap"}}
    write(file.parent, json.dumps(base), "base.json")
    sweep = write(tmp_path, f'base = "base/base.json"\n[grid]\n"{DEPTH}" = [1, 4]\n')

    def go(seed):
        snapshot = fs.Snapshot.take(experiment.replace({"seed": seed}))
        snapshot.save(file, force=True)
        swept = fs.sweep_file(sweep, out=tmp_path / "out")
        alone = fs.run(experiment.replace({DEPTH: 4}), snapshot=snapshot)
        assert swept.result(2).digest == alone.digest
        return kept(tmp_path / "out")

    first = go(1)
    assert go(1) == first, "written anew, and the same"
    second = go(2)
    assert second.items() > first.items()
    assert len(second) == 4


def test_a_snapshot_that_cannot_be_used_is_refused_before_anything_runs(shared, tmp_path):
    base = shared | {"precondition": {"snapshot": str(tmp_path / "aged.snap")}}
    with pytest.raises(fs.ConfigError, match=r"there is no such file \(in all 2 points\)"):
        fs.sweep(base, grid={DEPTH: [1, 4]})
    fs.Snapshot.take(shared).save(tmp_path / "aged.snap")
    blocks = "drive.geometry.blocks_per_plane"
    with pytest.raises(fs.ConfigError) as caught:
        fs.sweep(base, grid={blocks: [64, 80]})
    [problem] = caught.value.problems
    assert problem.path == blocks
    assert "data would lie elsewhere" in problem.message


CHOOSE = (
    "def choose(blocks):\n    return {}(blocks.gaining, key=lambda block: blocks.valid[block])\n"
)


def test_a_policy_in_a_file_is_found_from_the_base_and_an_input_by_its_content(
    shared, monkeypatch, tmp_path
):
    (tmp_path / "base").mkdir()
    policy = write(tmp_path / "base", CHOOSE.format("min"), "mine.py")
    shared["drive"]["ftl"]["gc"] = {
        "victim": {"policy": "python", "file": "mine.py", "function": "choose"}
    }
    base = write(tmp_path / "base", json.dumps(shared), "base.json")
    sweep = write(tmp_path, f'base = "base/base.json"\n[grid]\n"{DEPTH}" = [1, 4]\n')
    # Neither from the sweep's folder nor from the current one.
    monkeypatch.chdir(tmp_path)

    def go():
        swept = fs.sweep_file(sweep, out=tmp_path / "out", jobs=1)
        alone = fs.run(fs.Experiment.from_file(base).replace({DEPTH: 4}))
        assert measured(swept.result(2).summary) == measured(alone.summary)
        return kept(tmp_path / "out")

    first = go()
    os.utime(policy)
    assert go() == first
    policy.write_text(CHOOSE.format("max"), encoding="utf-8")
    assert len(go()) == 4
    # The place of a file is no input.
    (tmp_path / "elsewhere").mkdir()
    for file in (policy, base):
        file.rename(tmp_path / "elsewhere" / file.name)
    write(tmp_path, f'base = "elsewhere/base.json"\n[grid]\n"{DEPTH}" = [1, 4]\n')
    assert len(kept(tmp_path / "out")) == 4
    fs.sweep_file(sweep, out=tmp_path / "out", jobs=1)
    assert len(kept(tmp_path / "out")) == 4


def test_a_function_of_this_process_is_refused(shared, tmp_path):
    experiment = fs.Experiment.of(shared).with_policy(VICTIM, lambda blocks: blocks.gaining[0])
    with pytest.raises(fs.ConfigError, match=r"victim: a function .* put it in a file"):
        fs.sweep(experiment, seeds=2, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def workers(parent: int) -> list[int]:
    """Return the running child processes of a process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, owner = (folder / "stat").read_text().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue
        if int(owner) == parent and state != "Z":
            found.append(int(folder.name))
    return found


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


NO_PROC = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(),
    reason="only /proc tells a worker that has ended from one at work",
)


@pytest.fixture
def long(experiment_file, tmp_path):
    """A sweep of twelve points of about a tenth of a second."""
    text = 'base = "experiment.toml"\nseeds = 12\n[set]\nrun = { requests = 30_000 }\n'
    write(tmp_path, text)
    return tmp_path / "out"


def start(tmp_path, *arguments):
    command = [sys.executable, "-m", "flashscape", "sweep", "sweep.toml", "--out", "out"]
    return subprocess.Popen(
        [*command, "--jobs", "2", *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(out: Path, points: int, process) -> None:
    until = time.monotonic() + 60
    while len(list(out.glob("points/*/summary.json"))) < points:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.002)


@NO_PROC
def test_killed_and_resumed_without_repeating(long, flashscape, tmp_path):
    process = start(tmp_path)
    # Any time in any point.
    wait_for(long, 3, process)
    time.sleep(seeds.drawn().uniform(0, 0.05))
    at_work = workers(process.pid)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert at_work
    until = time.monotonic() + 30
    while any(map(is_running, at_work)):
        assert time.monotonic() < until, "workers go on without their parent"
        time.sleep(0.01)
    before = {
        k: v for k, v in kept(long).items() if (long / "points" / k / "summary.json").exists()
    }
    assert 3 <= len(before) < 12
    assert fs.Sweep.load(long).counts["open"] == 12 - len(before)
    ended = flashscape("sweep", "sweep.toml", "--out", "out", "--jobs", "2")
    assert ended.status == 0, ended.err
    assert f"12 points; {len(before)} done before; {12 - len(before)} to run" in ended.err
    after = kept(long)
    assert len(after) == 12
    assert before.items() <= after.items()
    assert not list(long.glob("points/*/.unfinished-*"))
    assert flashscape("sweep", "sweep.toml", "--out", "whole", "--quiet").status == 0
    whole = pl.read_parquet(tmp_path / "whole" / "sweep.parquet")
    assert same(pl.read_parquet(long / "sweep.parquet")).equals(same(whole))


@NO_PROC
def test_ctrl_c_keeps_what_has_ended(long, tmp_path):
    process = start(tmp_path)
    wait_for(long, 3, process)
    at_work = workers(process.pid)
    # A terminal signals all processes.
    for each in (*at_work, process.pid):
        os.kill(each, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert not any(map(is_running, at_work))
    counts = fs.Sweep.load(long).counts
    assert counts["done"] >= 3
    assert counts["done"] + counts["open"] == 12
    last = err.splitlines()[-1]
    assert last.startswith(
        f"error: interrupted with {counts['done']} of 12 points ended; those are"
    )
    assert f"12 points: {counts['done']} done, {counts['open']} open" in out
    table = pl.read_parquet(long / "sweep.parquet")
    assert table.group_by("status").agg(pl.col("point").n_unique()).sort("status").rows() == [
        ("done", counts["done"]),
        ("open", counts["open"]),
    ]


@NO_PROC
def test_two_in_a_directory_and_a_worker_that_is_killed(long, flashscape, tmp_path):
    # One worker that has ended a point: a worker that is starting has no point to lose.
    process = start(tmp_path, "--jobs", "1")
    wait_for(long, 1, process)
    # The sweep must not end meanwhile, even if the second one is refused slowly.
    process.send_signal(signal.SIGSTOP)
    second = flashscape("sweep", "sweep.toml", "--out", "out")
    refused(second, 1, f"out: a sweep is at work in it (process {process.pid})")
    [worker] = workers(process.pid)
    os.kill(worker, signal.SIGKILL)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    swept = fs.Sweep.load(long)
    assert process.returncode == 1, err
    assert swept.counts == {"done": 11, "failed": 1, "invalid": 0, "open": 0}
    assert "its process was ended by SIGKILL" in swept.failures[0][1]
    assert swept.failures[0][0] in out
    before = kept(long)
    # A killed process is no property of its point.
    assert flashscape("sweep", "sweep.toml", "--out", "out").status == 0
    assert len(kept(long)) == 12
    assert before.items() <= kept(long).items()


# Errors.

FAILING = {"drive.ftl.bad_blocks.grown_per_erase": "60 %"}


def test_a_point_that_fails_does_not_end_the_sweep(config, experiment_file, flashscape, tmp_path):
    with pytest.raises(fs.SpaceError) as alone:
        fs.run(fs.Experiment.of(config).replace(FAILING))
    write(
        tmp_path,
        'base = "experiment.toml"\n[grid]\n'
        'drive.ftl.bad_blocks.grown_per_erase = ["0 %", "60 %", "0.1 %"]\n',
    )
    ended = flashscape("sweep", "sweep.toml", "--out", "out")
    assert ended.status == 1
    # Folded to the width of the terminal.
    told = " ".join(ended.out.split())
    assert f"no results: grown_per_erase=60 %: {alone.value}" in told
    table = pl.read_parquet(tmp_path / "out" / "sweep.parquet")
    failed = table.filter(pl.col("status") == "failed")
    assert failed.select("point", "error", "kind", "digest").rows() == [
        (2, str(alone.value), None, None)
    ]
    assert table.filter(status="done")["point"].unique().to_list() == [1, 3]
    before = kept(tmp_path / "out")
    # The point would fail again.
    assert flashscape("sweep", "sweep.toml", "--out", "out").status == 1
    assert kept(tmp_path / "out") == before
    assert flashscape("sweep", "sweep.toml", "--out", "out", "--retry-failed").status == 1
    changed = set(kept(tmp_path / "out").items()) - set(before.items())
    assert len(changed) == 1


def test_impossible_points_are_noted_where_they_may_be(quick, flashscape, tmp_path):
    config = json.dumps(quick)
    write(tmp_path, config, "base.json")
    write(tmp_path, 'base = "base.json"\n[grid]\n"workload[0].queue_depth" = [4, 0, 1]\n')
    refused(flashscape("sweep", "sweep.toml", "--out", "out"), 2, "line 3, workload[0].queue_depth")
    ended = flashscape("sweep", "sweep.toml", "--out", "out", "--skip-invalid")
    assert ended.status == 0, ended.err
    table = pl.read_parquet(tmp_path / "out" / "sweep.parquet")
    points = table.unique("point", maintain_order=True).select("point", "status", DEPTH)
    assert points.rows() == [(1, "done", 4), (2, "invalid", 0), (3, "done", 1)]
    assert "0 is too small (at least 1)" in table.filter(status="invalid")["error"][0]
    assert "3 points: 2 done, 1 invalid" in flashscape("sweep", "--show", "out").out


def test_a_directory_of_something_else_is_left_alone(quick, tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(fs.OutputError, match=r"is not empty \(it has precious.txt\)"):
        fs.sweep(quick, seeds=2, out=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["precious.txt"]
    with pytest.raises(fs.OutputError, match=r"has no sweep.json"):
        fs.Sweep.load(tmp_path)


def tree(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): file.read_text()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != ".lock"
    }


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["points/monday/data.txt"], r"it has points/monday\) and not of a sweep"),
        (["points/notes.txt"], r"it has points/notes.txt\)"),
        (["sweep.json", "points/monday/data.txt"], r"sweep.json: is damaged: Expecting value"),
        (["drives/aged.snap"], r"it has drives\)"),
    ],
)
def test_files_with_our_names_are_not_taken_for_ours(files, message, quick, tmp_path):
    out = tmp_path / "out"
    for name in files:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("mine")
    before = tree(out)
    with pytest.raises(fs.OutputError, match=message):
        fs.sweep(quick, seeds=2, out=out)
    assert tree(out) == before


def test_a_sweep_json_of_another_program_is_refused(quick, tmp_path):
    (tmp_path / "out" / "points" / "monday").mkdir(parents=True)
    write(tmp_path / "out", '{"parameters": {"lr": [1, 2]}}', "sweep.json")
    for use in (lambda: fs.sweep(quick, seeds=2, out=tmp_path / "out"),):
        with pytest.raises(fs.OutputError, match=r"sweep.json: is not of a sweep; choose another"):
            use()
    assert (tmp_path / "out" / "points" / "monday").exists()


def test_in_a_directory_of_a_sweep_only_what_is_ours_goes(quick, tmp_path):
    out = tmp_path / "out"
    fs.sweep(quick, seeds=2, out=out)
    mine = [out / "points" / "monday" / "data.txt", out / "drives" / "aged.snap"]
    for file in mine:
        file.parent.mkdir()
        file.write_text("mine")
    half = out / "points" / ("0a" * 12)
    half.mkdir()
    (half / "latency.parquet").write_text("half")
    fs.sweep(quick, seeds=2, out=out)
    assert [file.read_text() for file in mine] == ["mine"] * 2
    assert not half.exists()
    # Foreign directories do not count as left-over points.
    heard = Listener()
    fs.sweep(quick, seeds=2, out=out, progress=heard)
    assert not [line for line in heard.announced if "no longer" in line or "left" in line]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: found.update(points=5), "points is no list"),
        (lambda found: found.update(title=None), "title is no str"),
        (lambda found: found.update(paths=[1]), "paths is no list of texts"),
        (lambda found: found["points"].append(7), r"points\[2\] is no table"),
        (lambda found: found["points"][1].update(values=3), r"points\[1\].values is no dict"),
        (lambda found: found["points"][1].update(values={}), r"points\[1\].values lacks workload"),
        (lambda found: found["points"][0].update(key="../../x"), r"points\[0\].key is no name"),
    ],
)
def test_a_damaged_manifest_is_called_so(change, message, quick, tmp_path):
    out = tmp_path / "out"
    fs.sweep(quick, grid={DEPTH: [1, 2]}, out=out)
    found = json.loads((out / "sweep.json").read_text())
    change(found)
    (out / "sweep.json").write_text(json.dumps(found))
    with pytest.raises(fs.OutputError, match=f"sweep.json: is damaged: {message}"):
        fs.Sweep.load(out)
    with pytest.raises(fs.OutputError, match=r"to go on with what is in .* leave nothing else"):
        fs.sweep(quick, grid={DEPTH: [1, 2]}, out=out)
    before = kept(out)
    for file in (out / "sweep.json", out / "sweep.parquet"):
        file.unlink()
    fs.sweep(quick, grid={DEPTH: [1, 2]}, out=out)
    assert kept(out) == before


def test_a_dry_run_lists_the_points_and_writes_nothing(experiment_file, flashscape, tmp_path):
    file = write(tmp_path, f'base = "experiment.toml"\n[grid]\n"{DEPTH}" = [1, 2]\n')
    ended = flashscape("sweep", file, "--dry-run", "--out", "out")
    assert ended.status == 0, ended.err
    assert "1  queue_depth=1\n     2  queue_depth=2\n" in ended.out
    assert "2 points, 0 of them done, 2 to run" in ended.out
    assert not (tmp_path / "out").exists()
    assert flashscape("sweep", file).status == 2
    assert flashscape("sweep").status == 2
    told = flashscape("sweep", file, "--show", "out").err
    assert "only --plot and --percentiles can be combined with it" in told


@pytest.mark.parametrize(
    ("needs", "jobs", "gibibytes", "fits"),
    [
        ([1, 1, 1, 1], 4, 8, 4),
        ([3, 3, 1, 1], 4, 8, 3),
        ([5, 4, 1], 3, 8, 1),
        ([9], 1, 8, 1),
        ([9, 9], 2, None, 2),
    ],
)
def test_as_many_jobs_as_fit_the_memory(needs, jobs, gibibytes, fits):
    """The largest points at the same time, and 64 MiB for each process."""
    available = None if gibibytes is None else gibibytes << 30
    assert jobs_that_fit([need << 30 for need in needs], jobs, available) == fits


def test_a_picture_of_one_or_two_things(quick, flashscape, tmp_path):
    grid = {DEPTH: [1, 4], VICTIM: ["greedy", "fifo"]}
    fs.sweep(quick, grid=grid, seeds=2, out=tmp_path / "two")
    assert flashscape("sweep", "--show", "two", "--plot").status == 0
    drawn = (tmp_path / "two" / "sweep.svg").read_text(encoding="utf-8")
    for text in ("greedy", "fifo", "queue_depth", "write amplification"):
        assert f"<!-- {text}" in drawn
    # New results make it out of date.
    fs.sweep(quick, grid=grid, out=tmp_path / "two")
    assert not (tmp_path / "two" / "sweep.svg").exists()
    grid["record.slowest"] = [1, 2]
    swept = fs.sweep(quick, grid=grid, out=tmp_path / "three")
    # All combinations of three have bars.
    assert swept.draw() is None
    alone = fs.sweep(quick, seeds=2, out=tmp_path / "seeds")
    assert alone.draw() == "nothing varies besides the seed"


def test_the_document_says_what_there_is(flashscape, tmp_path):
    text = (ROOT / "docs" / "sweep.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    write(tmp_path, shown)
    shutil.copy(ROOT / "examples" / "mixed.toml", tmp_path)
    ended = flashscape("sweep", "sweep.toml", "--dry-run")
    assert ended.status == 0, ended.err
    [points] = re.findall(r"= (\d+) points", text)
    assert f"\n{points} points, 0 of them done" in ended.out
    table = text.split("| column | meaning |")[1].split("\n\n")[0]
    first_cells = " ".join(row.split("|")[1] for row in table.splitlines() if row)
    named = set(re.findall(r"`(\w+)`", first_cells))
    known = {*rows.metrics(), "point", "name", "variation", "seed", "status", "error", "results"}
    assert {name for name in named if not name.startswith("_")} <= known
    # Other columns are named by one of their family: `p50_ns` … stands for all with this suffix.
    families = tuple(f"{name.rsplit('_', 1)[0]}_" for name in named)
    alike = ("_ns", "_share", "_beyond")
    single = {name for name in rows.metrics() if not name.endswith(alike)}
    assert {name for name in single - named if not name.startswith(families)} == set()


# Limits of tables and pictures.


class Ends(SilentSweep):
    """Interrupts a sweep after a number of points have ended."""

    def __init__(self, left: int) -> None:
        self.left = left

    def ended(self, ended):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def test_an_interrupted_sweep_shows_what_varies_in_all_of_it(quick, tmp_path):
    """Only points of the first victim are done; the column shows which one it is."""
    grid = {VICTIM: ["greedy", "fifo"], DEPTH: [1, 2]}
    with pytest.raises(fs.SweepInterrupted) as caught:
        fs.sweep(quick, grid=grid, out=tmp_path / "out", jobs=1, progress=Ends(1), share=False)
    swept = caught.value.sweep
    assert swept.frame.filter(status="done")[VICTIM].n_unique() == 1
    shown = sweep_report.table(swept)
    assert shown.head[:2] == ("victim", "queue_depth")
    assert swept.varied == (VICTIM, DEPTH)


def test_percentiles_of_a_sweep(quick, flashscape, tmp_path):
    swept = fs.sweep(quick, grid={DEPTH: [1, 2]}, out=tmp_path / "out")
    shown = sweep_report.table(swept)
    assert "p99.99" in shown.head
    # Of some 200 requests only the last one ranks at or above p99.99.
    at = shown.head.index("p99.99")
    assert all(row[at].endswith(" (1!)") for row in shown.rows)
    chosen = sweep_report.table(swept, (99.9, 50))
    assert [name for name in chosen.head if name.startswith("p")] == ["p50", "p99.9"]
    assert "p95" in str(fs.tables(swept, percentiles=[95]))
    assert "p95" in str(fs.tables(tmp_path / "out", percentiles="95"))
    with pytest.raises(fs.ConfigError, match=r"99\.5 is not among those that the points"):
        fs.tables(swept, percentiles=[99.5])
    ended = flashscape("sweep", "--show", "out", "--percentiles", "90,99.999")
    assert "p90" in ended.out
    assert "p99.999" in ended.out
    assert "p50" not in ended.out


@pytest.mark.parametrize("spread", [1, 100])
def test_bars_of_a_picture_end_at_its_axis(spread, quick, tmp_path):
    """Intervals of twice the mean: no bar ends below 0, or below the end of a logarithmic axis."""
    pytest.importorskip("matplotlib")
    from flashscape.sweep import picture

    subject = fs.sweep(quick, grid={DEPTH: [1, 2]}, seeds=2, out=tmp_path / "out").pictured()
    far = pl.col("p99_9_ns") * spread
    wide = subject.frame.with_columns(
        far.alias("p99_9_ns"),
        (far * 2).alias("p99_9_ns_ci95"),
        (pl.col("iops") * 2).alias("iops_ci95"),
        pl.lit(0).alias("latency_unsteady_seeds"),
    )
    figure = picture.draw(subject._replace(frame=wide))
    latency, throughput = figure.axes[0], figure.axes[3]
    assert latency.get_yscale() == ("log" if spread > 1 else "linear")
    assert throughput.get_yscale() == "linear"
    for axes in (latency, throughput):
        low, high = axes.get_ylim()
        bars = [bar for lines in axes.collections for bar in lines.get_segments() if len(bar)]
        ends = [end for bar in bars for _, end in bar]
        assert bars
        assert min(ends) >= low * (1 - 1e-9)
        # The upper ends are not cut.
        assert max(ends) <= high
        assert "bars end at the axis" in axes.get_title("left")
    top = wide.filter(kind="read")["iops"].max() * 3
    assert max(end for bar in throughput.collections[0].get_segments() for _, end in bar) <= top
    assert figure.axes[2].get_title("left").startswith("write amplification")


def test_points_of_too_few_requests_are_hollow(quick, tmp_path):
    pytest.importorskip("matplotlib")
    from flashscape.sweep import picture

    subject = fs.sweep(quick, grid={DEPTH: [1, 2]}, out=tmp_path / "out").pictured()
    latency = picture.draw(subject).axes[0]
    hollow = [line for line in latency.lines if line.get_markerfacecolor() == "white"]
    frame = subject.frame.filter(kind="read")
    few = [
        value
        for name in ("p99_99", "p99")
        for value, beyond in zip(frame[f"{name}_ns"], frame[f"{name}_samples_beyond"], strict=True)
        if beyond < 10
    ]
    assert sorted(value for line in hollow for value in line.get_ydata()) == sorted(few)
    assert len(few) == 4
    assert "hollow: fewer than 10" in latency.get_title("left")


def test_a_sweep_without_a_name_has_the_title_of_its_experiment(config):
    swept = fs.sweep(config | {"run": {"requests": 20}}, grid={"seed": [1, 2]})
    assert swept.title == "small"
    assert repr(swept) == "<Sweep 'small': 2 done>"


def test_the_table_has_every_column_and_says_why_there_is_no_interval(config, tmp_path):
    config["run"] = {"requests": 20}
    grid = {"workload[0].queue_depth": [4], "drive.ftl.gc.victim": ["greedy", "fifo"]}
    swept = fs.sweep(config, grid=grid, seeds=2, out=tmp_path / "out")
    content = sweep_report.table(swept)
    assert content.head[:2] == ("queue_depth", "victim")
    assert content.rows[0][:2] == ("4", "greedy")
    exact = swept.over_seeds().filter(pl.col("write_amplification_ci95") == 0)
    assert ("(without ±: seeds agree" in content.title) == bool(len(exact))
    steady = {"latency_unsteady_seeds": 0, "write_amplification_unsteady_seeds": 0}
    agreeing = swept.over_seeds().with_columns(iops_ci95=0.0, seeds=1, **steady)
    why = sweep_report._without_interval(agreeing, ["iops"])
    assert why == " (without ±: seeds agree or one seed alone)"
    drifting = agreeing.with_columns(iops_ci95=1.0, seeds=2, latency_unsteady_seeds=1)
    why = sweep_report._without_interval(drifting, ["iops"])
    assert why == " (without ±: not known to be steady)"


@pytest.mark.parametrize(
    ("metric", "figure"),
    [
        ("write_amplification", "write_amplification"),
        ("iops", "latency"),
        ("p99_ns", "latency"),
    ],
)
def test_figures_not_known_to_be_steady_have_no_interval(metric, figure):
    """Runs with other seeds drift alike: their spread of 1 % says nothing about a longer run."""
    row = {metric: 400.0, f"{metric}_ci95": 4.0}
    row |= {"latency_unsteady_seeds": 0, "write_amplification_unsteady_seeds": 0}
    assert sweep_report._figure(row, metric).endswith(" ± 1.0 %")
    row[f"{figure}_unsteady_seeds"] = 1
    assert "±" not in sweep_report._figure(row, metric)


def test_a_sweep_says_how_many_points_are_not_known_to_be_steady(quick, tmp_path):
    """400 requests are far too few for either verdict, and untimed runs have none."""
    swept = fs.sweep(quick, grid={DEPTH: [1, 2]}, seeds=2, out=tmp_path / "out")
    assert not swept.frame["write_amplification_steady"].any()
    for figure in ("Write amplification", "Latency"):
        reason = swept.frame[f"{figure.lower().replace(' ', '_')}_steady_reason"][0]
        assert "run longer" in reason
        told = (
            f"{figure} is not known to be steady in 4 of 4 points. "
            'For example, point "queue_depth=1, seed=1":'
        )
        assert f"{told} {reason}." in sweep_report.closing(swept)
        assert told in " ".join(str(fs.tables(swept)).split())
        assert html.escape(told) in " ".join(swept._repr_html_().split())
    assert swept.over_seeds()["latency_unsteady_seeds"].to_list() == [2] * 4
    if picture.why_not(swept.pictured()) is None:
        titles = [axes.get_title("left") for axes in picture.draw(swept.pictured()).axes]
        assert sum("4 of 4 points not known to be steady" in title for title in titles) == 5
    untimed = quick | {"run": {"requests": 400, "untimed": True}}
    swept = fs.sweep(untimed, grid={DEPTH: [1, 2]}, out=tmp_path / "untimed")
    assert "steady" not in " ".join(sweep_report.closing(swept))
    assert swept.frame["write_amplification_steady"].null_count() == len(swept.frame)


def test_curves_that_coincide_are_both_visible(quick, tmp_path):
    """The simulator cannot tell 2 MiB from 2048 KiB: the lower line is wider, and so seen."""
    pytest.importorskip("matplotlib")
    grid = {DEPTH: [1, 2], "drive.buffer.size": ["2 MiB", "2048 KiB"]}
    swept = fs.sweep(quick, grid=grid, out=tmp_path / "out")
    lower, upper = (
        line for line in picture.draw(swept.pictured()).axes[2].lines if len(line.get_xdata()) == 2
    )
    assert list(lower.get_ydata()) == list(upper.get_ydata())
    assert lower.get_linewidth() > upper.get_linewidth()
    assert lower.get_markersize() > upper.get_markersize()
    assert lower.get_marker() != upper.get_marker()


def test_only_points_with_tables_are_offered_for_an_explanation(quick, flashscape, tmp_path):
    fs.sweep(quick, grid={DEPTH: [1, 2]}, out=tmp_path / "out")
    ended = flashscape("explain", "out")
    refused(ended, 1, "keeps their summaries only", "run one of them again to examine it")
    [(place, command)] = re.findall(r"(out/points/\w+) (--out DIR)$", ended.err.rstrip())
    refused(flashscape("explain", place), 1, f"flashscape run {place} {command}")
    fs.sweep(quick, grid={DEPTH: [2]}, out=tmp_path / "out", tables=True)
    fs.sweep(quick, grid={DEPTH: [1, 2]}, out=tmp_path / "out")
    ended = flashscape("explain", "out")
    refused(ended, 1, "is a sweep; name one of the runs in it")
    [place] = re.findall(r"(out/points/\w+) \(queue_depth=(?:1|2)\)", ended.err)
    assert flashscape("explain", place).status == 0


def test_a_picture_has_the_chosen_percentiles(config, tmp_path):
    pytest.importorskip("matplotlib")
    config["run"] = {"requests": 200}
    swept = fs.sweep(config, grid={DEPTH: [1, 4]}, out=tmp_path / "out")
    figure = picture.draw(swept.pictured("50,90,99.999"))
    title = figure.axes[0].get_title(loc="left")
    assert "p99.999, p90 dashed, p50 dotted" in title
    fs.plot(tmp_path / "out", percentiles="50,90,99.999")
    assert b"p99.999, p90 dashed" in (tmp_path / "out" / "sweep.svg").read_bytes()
    with pytest.raises(fs.ConfigError, match=r"99\.5 is not among those"):
        fs.plot(tmp_path / "out", percentiles=[99.5])
