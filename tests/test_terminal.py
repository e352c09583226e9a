"""Edge cases of the command line: pipes, widths, JSON files, notebooks, early errors."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

import flashscape as fs
from flashscape import interruptions
from flashscape.errors import OutputError
from flashscape.progress import Bar
from flashscape.report import rows, text
from flashscape.terminal import Page
from test_bad_input import refused

# ---- pipes and widths ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", ["run E", "check E", "run E --json -", "run E --out o", "policies", "compare r s"]
)
def test_a_reader_that_has_read_enough_ends_a_command_quietly(
    command, experiment_file, flashscape, tmp_path
):
    if command.startswith("compare"):
        for name, seed in (("r", 1), ("s", 2)):
            flashscape("run", experiment_file, "--out", name, "--set", f"seed={seed}", "--quiet")
    arguments = [str(experiment_file) if each == "E" else each for each in command.split()]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        ended = subprocess.run(
            [sys.executable, "-m", "flashscape", *arguments],
            cwd=tmp_path,
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (0, "")
    if "--out" in command:
        assert fs.Result.load(tmp_path / "o").complete


@pytest.mark.parametrize(("columns", "widest"), [("80", 80), ("60", 60), ("", None)])
def test_columns_hold_where_output_goes_to_a_pipe(
    columns, widest, experiment_file, flashscape, monkeypatch
):
    monkeypatch.setenv("COLUMNS", columns)
    ended = flashscape("run", experiment_file, "--percentiles", "50,90,95,99,99.5,99.9,99.99")
    lines = ended.out.split("Latency")[1].split("Where the time went")[0].splitlines()
    assert (max(map(len, lines)) <= widest) if widest else (max(map(len, lines)) > 80)
    # The table is folded and not cut: every figure is there.
    for figure in ("mean", "p50", "p90", "p95", "p99.5", "p99.9", "p99.99", "max"):
        assert any(figure in line.split() for line in lines)


# ---- percentiles --------------------------------------------------------------------------


def test_percentiles_of_a_table_are_those_of_the_requests(small, tmp_path):
    log = tmp_path / "requests.parquet"
    result = fs.run(small, requests=log)
    table = rows.latencies(result, (99.5, 50, 99.99))
    assert table.head[3:6] == ("p50", "p99.5", "p99.99")
    for row in table.rows:
        asked = result.requests.collect()
        mine = asked if row[1] == "all" else asked.filter(kind=row[1])
        latencies = sorted(mine["latency_ns"].to_list())
        rank = math.ceil(0.995 * len(latencies))
        value, behind = row[4].rsplit(" ", 1)
        assert behind == f"({len(latencies) - rank + 1}{'!' if len(latencies) < 2000 else ''})"
        # From buckets 0.1 % wide; three digits are shown.
        shown = {fs_duration(latencies[rank - 1] * factor) for factor in (1, 1.001)}
        assert value in shown
        # 3,000 requests have one at or beyond p99.99: not reliable.
        assert row[5].endswith(" (1!)")
    assert "so not reliable" in table.title
    assert "finer" not in rows.latencies(result, (50, 90)).title


def fs_duration(ns):
    from flashscape import units

    return units.duration(ns)


def test_percentiles_of_run_and_of_python(experiment_file, flashscape, tmp_path):
    ended = flashscape("run", experiment_file, "--percentiles", "75,99.97", "--out", "out")
    assert "p75" in ended.out
    assert "p99.97" in ended.out
    assert "p99.9 " not in ended.out
    tables = fs.tables(tmp_path / "out", percentiles=[75])
    assert "p75" in str(tables)
    assert "p75" in tables._repr_html_()
    for wrong, why in (("50,x", "'x' is not a number"), ("100", "between 0 and 100")):
        ended = flashscape("run", experiment_file, "--percentiles", wrong)
        assert ended.status == 2
        assert why in ended.err


# ---- --json -------------------------------------------------------------------------------


def test_json_goes_to_a_file_or_to_standard_output_alike(experiment_file, flashscape, tmp_path):
    ended = flashscape("run", experiment_file, "--json", "run.json")
    assert ended.status == 0
    assert "The summary is in run.json." in ended.out
    written = json.loads((tmp_path / "run.json").read_text())
    printed = flashscape("run", experiment_file, "--json", "-")
    assert printed.err == ""
    assert json.loads(printed.out)["digest"] == written["digest"]
    old = flashscape("run", "--json", experiment_file)
    assert json.loads(old.out)["digest"] == written["digest"]
    assert old.err == "note: --json alone is an old form of --json -\n"
    vary = ("--vary", "drive.ftl.gc.victim=fifo")
    bare = flashscape("compare", experiment_file, *vary, "--quiet", "--json")
    assert json.loads(bare.out)["sides"][0]["digests"] == [written["digest"]]
    assert bare.err == old.err
    compared = flashscape("compare", experiment_file, *vary, "--json", "-", "--quiet")
    assert json.loads(compared.out)["sides"][0]["digests"] == [written["digest"]]
    assert flashscape("check", experiment_file, "--json", "check.json").status == 0
    assert "capacity" in json.loads((tmp_path / "check.json").read_text())


def test_a_file_for_json_is_refused_before_the_run(experiment_file, flashscape, tmp_path):
    (tmp_path / "mine.json").write_text("mine")
    refused(flashscape("run", experiment_file, "--json", "mine.json"), 1, "is there already")
    both = ("--json", "x.json", "--fio-json", "x.json")
    refused(flashscape("run", experiment_file, *both), 1, "something else that is written")
    inside = ("--out", "out", "--json", "out/summary.json")
    refused(flashscape("run", experiment_file, *inside), 1, "something else that is written")
    (tmp_path / "e.json").write_text(json.dumps({"drive": {"preset": "dc-tlc"}}))
    (tmp_path / "t.csv").write_text("time_us,op,offset,length\n0,R,0,4096\n")
    # Filling a whole drive would take gigabytes.
    tenth = ("drive.geometry.blocks_per_plane=52", "drive.ftl.over_provisioning.exported=192 GB")
    sets = [part for each in tenth for part in ("--set", each)]
    replay = ("replay", "--drive", "dc-tlc", *sets, "--force", "--json", "t.csv")
    assert flashscape(*replay, "--quiet").err.startswith("note: --json alone")
    assert (tmp_path / "t.csv").read_text().startswith("time_us")


# ---- said early, and clearly --------------------------------------------------------------


def test_an_experiment_comes_from_standard_input(experiment_file, tmp_path):
    def run(*command, given):
        return subprocess.run(
            [sys.executable, "-m", "flashscape", *command],
            input=given,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    toml = experiment_file.read_text()
    alone = fs.run(experiment_file)
    for given in (toml, json.dumps(fs.Experiment.from_file(experiment_file).config)):
        ended = run("run", "-", "--json", "-", given=given)
        assert json.loads(ended.stdout)["digest"] == alone.digest, ended.stderr
    assert run("check", "-", given=toml).returncode == 0
    wrong = run("run", "-", given=toml.replace("random", "radnom"))
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("error: standard input")
    for command in (("compare", "-", "-x"), ("snapshot", "take", "-", "a.snap")):
        ended = run(*command[:2], *command[2:], given=toml)
        assert ended.returncode == 2
    assert "only `run` and `check` read" in run("snapshot", "take", "-", "a", given=toml).stderr
    assert "a sweep is not read" in run("sweep", "-", "--dry-run", given=toml).stderr


def test_a_log_of_requests_is_not_called_csv(config, tmp_path):
    with pytest.raises(OutputError, match=r"as Parquet.*call it .*r\.parquet"):
        fs.run(config, requests=tmp_path / "r.csv")
    assert list(tmp_path.iterdir()) == []
    fs.run(config | {"run": {"requests": 50}}, requests=tmp_path / "r")
    assert (tmp_path / "r").exists()


def test_a_preset_that_is_mistyped_is_named(flashscape):
    ended = flashscape("presets", "dc-tcl")
    assert ended.status == 2
    assert 'did you mean "dc-tlc"?' in ended.err
    assert "did you mean" not in flashscape("presets", "zzzz").err


def test_runs_of_a_sweep_and_of_a_comparison_are_named(config, flashscape, tmp_path):
    config["run"] = {"requests": 200}
    swept = fs.sweep(config, seeds=2, out=tmp_path / "sweep", tables=True)
    fs.sweep(config, seeds=2, out=tmp_path / "bare")
    fs.compare(config, config | {"seed": 2}, out=tmp_path / "pair")
    ended = flashscape("explain", "sweep")
    refused(ended, 1, "is a sweep; name one of the runs in it")
    for point in swept:
        assert f"sweep/{point['results']} ({point['name']})" in ended.err
    refused(flashscape("explain", "bare"), 1, "keeps their summaries only", "--out DIR")
    refused(flashscape("explain", "pair"), 1, "is a comparison", "pair/A", "pair/B")
    refused(flashscape("compare", "sweep", "pair/A"), 1, "is a sweep")
    one = next(iter(swept))["results"]
    assert flashscape("explain", f"sweep/{one}").status == 0


def test_import_mqsim_looks_for_the_folder_first(flashscape, tmp_path):
    ended = flashscape("import-mqsim", "no.xml", "no.xml", "--out", "missing/x.toml")
    refused(ended, 1, "missing/x.toml: there is no directory missing")


def test_even_accesses_have_no_zipf_exponent(flashscape, tmp_path):
    """Each of 64 places is written equally often: a fit would give an exponent of 0."""
    lines = [f"{at},W,{at % 64 * 4096},4096" for at in range(64 * 16)]
    (tmp_path / "t.csv").write_text("time_us,op,offset,length\n" + "\n".join(lines) + "\n")
    ended = flashscape("trace", "info", "t.csv")
    assert "no skew" in ended.out
    assert "0.00 (R²" not in ended.out


def test_sizes_of_one_output_are_in_one_kind_of_unit(config):
    """Regions and throughput: all in powers of ten, as capacities are."""
    first = config["workload"][0]
    parts = ({"size": "64 MiB"}, {"offset": "64 MiB", "size": "64 MiB"})
    config["workload"] = [first | {"name": f"w{at}", "region": r} for at, r in enumerate(parts)]
    config["run"] = {"requests": 300}
    told = text.plain("", [], rows.everything(fs.run(config)))
    # 64 MiB are 67,108,864 bytes.
    assert "67.1 MB to 134 MB" in told
    assert "iB" not in told


# ---- progress -----------------------------------------------------------------------------


class Heard:
    """Records the announcements about results, and interrupts at once."""

    def __init__(self) -> None:
        self.saved = []

    def surveyed(self, announcement):
        pass

    def preconditioning(self, share):
        pass

    def running(self, simulated_ns, requests, share):
        raise KeyboardInterrupt

    def ended(self):
        pass

    def saving(self, complete):
        self.saved.append(complete)


@pytest.mark.parametrize("kept", [True, False])
def test_saving_is_said_only_of_what_is_saved(kept, config, tmp_path):
    config["run"] = {"requests": 10_000_000}
    heard = Heard()
    with pytest.raises(fs.Interrupted):
        fs.run(config, out=tmp_path / "out" if kept else None, progress=heard)
    assert heard.saved == ([False] if kept else [])


@pytest.mark.parametrize("with_widgets", [True, False])
def test_a_notebook_has_a_bar_or_is_told_what_it_takes(with_widgets, monkeypatch):
    displayed = []

    class Output:
        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *_: None  # noqa: E731

        def clear_output(self, wait=False):
            pass

        def close(self):
            pass

    display = types.ModuleType("IPython.display")
    display.display = displayed.append
    notebook = types.ModuleType("IPython")
    notebook.display = display
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    widgets = types.ModuleType("ipywidgets")
    widgets.Output = Output
    monkeypatch.setitem(sys.modules, "ipywidgets", widgets if with_widgets else None)
    monkeypatch.setattr(
        "flashscape.progress.find_spec", lambda name: widgets if with_widgets else None
    )
    bar = Bar(Page(force_jupyter=True))
    bar.running(1_000_000, 100, 0.5)
    bar.ended()
    said = "".join(str(getattr(each, "text", each)) for each in displayed)
    assert displayed
    assert ("pip install ipywidgets" in said) is not with_widgets


def test_nothing_is_drawn_where_nobody_looks(capsys):
    bar = Bar(Page(file=Path(os.devnull).open("w")))  # noqa: SIM115
    bar.running(1_000_000, 100, 0.5)
    bar.ended()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("kind", "one"), [("erase", "an erase"), ("program", "a program")])
def test_delays_by_reads_are_told_with_their_number(kind, one):
    made = interruptions.Made(kind, "t-es", operations=5, suspensions=2, put_offs=10, deferrals=0)
    assert made.told.endswith(f"; reads delayed the start or resumption of {one} 10 times")
