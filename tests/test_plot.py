"""Pictures on demand: a command says which picture it omits, and the command that draws it."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys

import pytest

import flashscape as fs
from flashscape import drawing

pytest.importorskip("matplotlib")

VICTIM = "drive.ftl.gc.victim"
WITHOUT = "import sys; sys.modules['matplotlib'] = None; from flashscape.cli import main; main()"
"""Program that runs the command without matplotlib."""


@pytest.fixture
def few(config):
    """Options for a few requests to a new drive."""
    config = copy.deepcopy(config) | {"precondition": {"fill": "random"}}
    return config | {"run": {"requests": 500}}


def without_matplotlib(tmp_path, *arguments):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )


def is_drawn(file):
    return file.read_text(encoding="utf-8").startswith("<?xml")


# ---- runs -------------------------------------------------------------------------------


def test_a_run_says_what_draws_its_picture(experiment_file, flashscape, tmp_path):
    ended = flashscape("run", experiment_file, "--out", "my out", "--set", "run.requests=500")
    assert ended.status == 0, ended.err
    *_, last = ended.out.splitlines()
    assert last == "tail.svg is not drawn yet; draw it with: flashscape plot 'my out'"
    assert not (tmp_path / "my out" / "tail.svg").exists()
    drawn = flashscape("plot", "my out")
    assert drawn == (0, "The picture is my out/tail.svg.\n", "")
    assert is_drawn(tmp_path / "my out" / "tail.svg")
    assert flashscape("plot", "my out/summary.json", "--quiet") == (0, "", "")


def test_a_run_draws_at_once_where_that_is_asked_for(experiment_file, flashscape, tmp_path):
    few = ("--set", "run.requests=500")
    ended = flashscape("run", experiment_file, "--out", "out", "--plot", *few)
    assert (ended.status, ended.out.splitlines()[-1]) == (0, "The picture is out/tail.svg.")
    at_once = (tmp_path / "out" / "tail.svg").read_bytes()
    assert fs.plot(tmp_path / "out") == [tmp_path / "out" / "tail.svg"]
    assert (tmp_path / "out" / "tail.svg").read_bytes() == at_once
    # New results have no picture, so that an old one does not show the earlier run.
    assert flashscape("run", experiment_file, "--out", "out", "--force", *few).status == 0
    assert not (tmp_path / "out" / "tail.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--plot",), 2, "--plot draws next to the results; name their directory with --out"),
        (
            ("--plot", "--out", "out", "--set", "run.untimed=true", "--set", "run.audit=false"),
            2,
            "--plot: an untimed run (run.untimed) has no picture",
        ),
    ],
)
def test_a_picture_that_cannot_be_is_refused_at_once(
    arguments, status, message, experiment_file, flashscape, tmp_path
):
    ended = flashscape("run", experiment_file, *arguments)
    assert (ended.status, ended.out) == (status, "")
    assert message in ended.err
    assert not (tmp_path / "out").exists()


def test_without_matplotlib_a_run_says_that_there_is_no_picture(experiment_file, tmp_path):
    few = ("--set", "run.requests=500", "--out", "out")
    ended = without_matplotlib(tmp_path, "run", experiment_file, *few)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == f"no picture: {drawing.NOT_INSTALLED}"
    drawn = without_matplotlib(tmp_path, "plot", "out")
    assert drawn.returncode == 1
    assert drawn.stderr == f"error: out: no picture: {drawing.NOT_INSTALLED}\n"
    shutil.rmtree(tmp_path / "out")
    refused = without_matplotlib(tmp_path, "run", experiment_file, *few, "--plot")
    assert refused.returncode == 1
    assert refused.stderr == f"error: no picture: {drawing.NOT_INSTALLED}\n"
    assert not (tmp_path / "out").exists()


# ---- comparisons and sweeps --------------------------------------------------------------


def test_a_comparison_is_drawn_with_its_runs(few, tmp_path):
    other = fs.Experiment.from_dict(few).replace({VICTIM: "fifo"})
    out = tmp_path / "out"
    compared = fs.compare(few, other, out=out)
    from flashscape.compare import kept, picture

    found = compared.pictured()
    drawn = picture.svg(found)
    # The directory may be moved.
    moved = out.rename(tmp_path / "moved")
    overlay, *tails = fs.plot(moved)
    assert overlay == moved / "comparison.svg"
    assert tails == [moved / "A" / "tail.svg", moved / "B" / "tail.svg"]
    assert all(map(is_drawn, (overlay, *tails)))
    read = kept.pictured(moved)
    assert (read.rows, list(read.verdicts)) == (found.rows, found.verdicts)
    assert drawn == overlay.read_bytes()


def test_a_comparison_of_seeds_and_of_three(few, tmp_path):
    fs.compare(few, few, few, seeds=2, out=tmp_path / "out")
    files = fs.plot(tmp_path / "out")
    assert [file.parent.name for file in files[1:]] == ["seed-1", "seed-2"] * 3
    verdicts = (tmp_path / "out" / "comparison.svg").read_text(encoding="utf-8")
    assert "B against A" in verdicts


def test_a_comparison_of_earlier_runs_finds_them(few, tmp_path, flashscape):
    for seed in (1, 2):
        fs.run({**few, "seed": seed}, out=tmp_path / f"run-{seed}")
    ended = flashscape("compare", "run-1", "run-2", "--out", "both")
    assert ended.status == 0, ended.err
    last = "comparison.svg is not drawn yet; draw it with: flashscape plot both"
    assert ended.out.splitlines()[-1] == last
    assert fs.plot(tmp_path / "both") == [tmp_path / "both" / "comparison.svg"]
    # Earlier results in other directories get no picture.
    assert not (tmp_path / "run-1" / "tail.svg").exists()
    fs.run({**few, "seed": 3}, out=tmp_path / "run-2", force=True)
    with pytest.raises(fs.OutputError, match=r"run-2 has another run now than .* as B; compare"):
        fs.plot(tmp_path / "both")
    shutil.rmtree(tmp_path / "run-2")
    with pytest.raises(fs.OutputError, match=r"needs the results of B: .*no such directory"):
        fs.plot(tmp_path / "both")
    document = tmp_path / "both" / "comparison.json"
    document.write_text(document.read_text().replace('"results"', '"resluts"'))
    with pytest.raises(fs.OutputError, match="another version of flashscape and lacks 'results'"):
        fs.plot(tmp_path / "both")
    document.write_text("{")
    with pytest.raises(fs.OutputError, match=r"comparison\.json: is damaged"):
        fs.plot(tmp_path / "both")


def test_a_comparison_draws_at_once(experiment_file, flashscape, tmp_path):
    few = ("--set", "run.requests=500", "--vary", f"{VICTIM}=fifo")
    ended = flashscape("compare", experiment_file, *few, "--out", "out", "--plot")
    assert ended.status == 0, ended.err
    told = "The pictures are out/comparison.svg, out/A/tail.svg and out/B/tail.svg."
    assert ended.out.splitlines()[-1] == told
    ended = flashscape("compare", experiment_file, *few, "--plot")
    assert ended.status == 2
    assert "--plot draws next to the results" in ended.err


def test_a_sweep_is_drawn(few, tmp_path, flashscape):
    (tmp_path / "base.json").write_text(json.dumps(few))
    text = 'base = "base.json"\n[grid]\n"workload[0].queue_depth" = [1, 4]\n'
    (tmp_path / "sweep.toml").write_text(text)
    ended = flashscape("sweep", "sweep.toml", "--out", "out")
    assert ended.status == 0, ended.err
    last = "sweep.svg is not drawn yet; draw it with: flashscape plot out"
    assert ended.out.splitlines()[-1] == last
    assert flashscape("plot", "out").out == "The picture is out/sweep.svg.\n"
    assert is_drawn(tmp_path / "out" / "sweep.svg")
    fs.sweep(few, seeds=2, out=tmp_path / "seeds")
    with pytest.raises(fs.OutputError, match="no picture: nothing varies besides the seed"):
        fs.plot(tmp_path / "seeds")


# ---- what has no pictures ----------------------------------------------------------------


def test_what_is_no_result_is_refused(few, flashscape, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("")
    (tmp_path / "paper").mkdir()
    manifest = {"study": "erase-suspension", "profile": "short"}
    (tmp_path / "paper" / "reproduction.json").write_text(json.dumps(manifest))
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "summary.json").write_text("[]")
    fs.run(few | {"run": {"requests": 10, "warm_up": {"time": "1 h"}}}, out=tmp_path / "none")
    fs.run(few | {"run": {"requests": 10, "untimed": True}}, out=tmp_path / "untimed")
    commands = "`flashscape run`, `replay`, `compare`, `sweep`, `fleet` or `lifetime`"
    written = f"name a directory that {commands} has written"
    expected = {
        "nowhere": ("nowhere: there is no such directory (looked for ", written),
        "file.txt": ("file.txt: is a file, and results are a directory; ", written),
        "empty": ("empty: has no results (none of summary.json, comparison.json, ", written),
        "paper": ("`flashscape reproduce erase-suspension --profile short --out paper`",),
        "strange": ("strange/summary.json: is not a summary of flashscape",),
        "none": ("none: no picture: no request was counted",),
        "untimed": ("untimed: no picture: the run took no simulated time (run.untimed)",),
    }
    for name, messages in expected.items():
        ended = flashscape("plot", name)
        assert (ended.status, ended.out, ended.err.count("\n")) == (1, "", 1), ended.err
        assert all(message in ended.err for message in messages), ended.err
    assert flashscape("plot", "").status == 2


def test_an_interrupted_picture_costs_no_results(few, tmp_path):
    fs.run(few, out=tmp_path / "out")
    code = """
import signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "matplotlib":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from flashscape.cli import main
main(["plot", "out"])
"""
    # The check for matplotlib comes first, and is not interrupted.
    code = code.replace(
        "from flashscape.cli",
        "from flashscape import drawing\ndrawing.is_available = lambda: True\nfrom flashscape.cli",
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert ended.returncode == 130
    told = "interrupted while drawing; results are complete, but for the pictures"
    assert ended.stderr == f"error: {told}\n"
    assert fs.Result.load(tmp_path / "out").complete


# ---- what commands load ------------------------------------------------------------------


def loaded(tmp_path, *arguments):
    """Return the modules that a command has loaded when it ends."""
    code = (
        "import sys\nfrom flashscape.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    return set(ended.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "spared"),
    [
        (("--help",), {"polars", "rich", "tempfile", "flashscape.run", "flashscape.experiment"}),
        (("check", "FILE"), {"polars", "flashscape.sweep", "flashscape.compare"}),
        (("run", "FILE", "--quiet"), {"polars", "rich", "flashscape.sweep", "flashscape.compare"}),
        (("run", "FILE", "--out", "out"), {"matplotlib", "numpy", "flashscape.sweep"}),
    ],
)
def test_commands_load_what_they_need(arguments, spared, experiment_file, tmp_path):
    given = [experiment_file if each == "FILE" else each for each in arguments]
    found = loaded(tmp_path, *given)
    assert "flashscape.cli.main" in found
    assert not spared & found
