"""Studies that a user changes: copies of those that ship, and values of all experiments."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import flashscape as fs
from flashscape.reproduce import Setting, copying, perform, study
from places import ROOT

TINY = ROOT / "tests" / "studies" / "tiny"


@pytest.mark.parametrize("name", study.names())
def test_a_copy_runs_its_own_modules(name, tmp_path):
    """Only what studies share is imported from the package."""
    folder = tmp_path / "copy"
    copying.copy(study.shipped_folder(name), folder)
    package = f"flashscape.studies.{name.replace('-', '_')}"
    code = (
        "import sys\n"
        "from flashscape.reproduce.study import find\n"
        f"find({str(folder)!r})\n"
        f"print([each for each in sys.modules if each.startswith({package!r})])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_what_is_changed_in_a_copy_changes_its_runs(tmp_path):
    folder = tmp_path / "copy"
    copying.copy(study.shipped_folder("erase-suspension"), folder)
    shared = folder / "_runs.py"
    shared.write_text(shared.read_text().replace('"queue_depth": 16', '"queue_depth": 17'))
    setting = Setting("short", Path("traces"))

    def depth(of):
        wanted = perform.gather(of, ["figure-4"], setting)
        return wanted["fio-baseline"].experiment.checked().config["workload"][0]["queue_depth"]

    assert depth(study.of_name("erase-suspension")) == 16
    assert depth(study.of_folder(folder)) == 17


def test_imports_that_lead_to_the_original_are_refused(tmp_path):
    folder = tmp_path / "copy"
    copying.copy(study.shipped_folder("erase-suspension"), folder)
    original = "flashscape.studies.erase_suspension"
    table = folder / "table_4.py"
    text = table.read_text().replace("from .figure_6 import", f"from {original}.figure_6 import")
    table.write_text(text.replace("from ._runs import", f"from {original}._runs import"))
    act = folder / "figure_5.py"
    act.write_text(act.read_text().replace("from . import", f"from {original} import"))
    with pytest.raises(fs.StudyError) as refused:
        study.of_folder(folder)
    told = str(refused.value)
    assert len(refused.value.problems) == 4, told
    assert (
        "imports _runs from the study erase-suspension that ships, although this folder has "
        "_runs.py; write `from ._runs import …`"
    ) in told
    assert "imports _ratings from the study erase-suspension" in told
    assert "write `from . import _ratings`" in told
    assert all(problem.line for problem in refused.value.problems)


def test_a_study_may_import_what_it_has_no_module_of(tmp_path):
    folder = tmp_path / "own"
    shutil.copytree(TINY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    code = (folder / "figure_1.py").read_text()
    shared = "from flashscape.studies.erase_suspension import _act\n"
    shared += "from flashscape.studies.loads import jesd219\n"
    (folder / "figure_1.py").write_text(code.replace("import polars", f"{shared}import polars"))
    assert study.of_folder(folder).name == "own"


def test_the_command_copies_a_study_once(flashscape, tmp_path):
    ended = flashscape("reproduce", "together", "--copy", "mine")
    assert (ended.status, ended.err) == (0, "")
    assert (
        ended.out == "mine is a copy of the study together. `flashscape reproduce mine` runs it.\n"
    )
    assert (tmp_path / "mine" / "paper.toml").is_file()
    again = flashscape("reproduce", "together", "--copy", "mine")
    assert (again.status, again.out) == (1, "")
    assert "mine: is there already; name a new folder for the copy" in again.err
    both = flashscape("reproduce", "together", "--copy", "other", "--jobs", "2")
    assert (both.status, "no other options" in both.err) == (2, True)
    unknown = flashscape("reproduce", "togehter", "--copy", "other")
    assert 'did you mean "together"' in unknown.err


def test_values_are_set_in_all_experiments(flashscape, tmp_path):
    """A queue depth of 1 makes the runs by depth equal."""
    out = tmp_path / "out"
    change = "workload[0].queue_depth=1"
    ended = flashscape("reproduce", f"{TINY}/table-1", "--set", change, "--out", out, "--quiet")
    assert ended.status == 0, ended.err
    manifest = json.loads((out / "reproduction.json").read_text())
    assert manifest["set"] == {"workload[0].queue_depth": "1"}
    figures = {claim["id"]: claim["figures"] for claim in manifest["claims"]}
    [mean] = {round(each) for each in figures["X-6"]["read_mean_ns"]}
    assert mean > 0
    told = f"All experiments were changed by --set: {change}. Verdicts compare these experiments"
    assert told in (out / "report.md").read_text()
    # The same directory has the runs without the change as well.
    found = fs.reproduce(f"{TINY}/table-1", out=out, overrides=[])
    assert len(set(found["X-6"].figures["read_mean_ns"])) == 3
    assert found.as_json()[0]["set"] == {}
    text = fs.reproduce(f"{TINY}/table-1", overrides={"workload[0].queue_depth": 1})
    assert text["X-6"].figures["read_mean_ns"] == figures["X-6"]["read_mean_ns"]


def test_a_change_that_no_run_takes_is_refused_before_any_runs(flashscape, tmp_path):
    out = tmp_path / "out"
    ended = flashscape(
        "reproduce", TINY, "--set", "workload[0].queue_deth=1", "--out", out, "--quiet"
    )
    assert (ended.status, ended.out) == (2, "")
    assert "--set: none of the 6 runs can be made with" in ended.err
    assert 'did you mean "queue_depth"' in ended.err
    assert not out.exists()
    listed = flashscape("reproduce", "--set", "seed=2")
    assert (listed.status, "name a paper" in listed.err) == (2, True)


def test_a_directory_of_the_original_is_not_that_of_a_copy(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "reproduction.json").write_text(json.dumps({"study": "tiny", "folder": None}))
    with pytest.raises(fs.OutputError, match="is of the study that ships tiny, not of a folder's"):
        fs.reproduce(TINY, out=out)


def test_the_command_that_draws_again_names_the_folder_and_the_changes(tmp_path):
    manifest = {
        "study": "tiny",
        "folder": "/a b/tiny",
        "profile": "short",
        "set": {"seed": 2, "drive.buffer.size": "4 MiB"},
    }
    (tmp_path / "reproduction.json").write_text(json.dumps(manifest))
    with pytest.raises(fs.OutputError) as refused:
        fs.plot(tmp_path)
    again = (
        "flashscape reproduce '/a b/tiny' --profile short --set seed=2 "
        f"--set 'drive.buffer.size=4 MiB' --out {tmp_path}"
    )
    assert again in str(refused.value)
