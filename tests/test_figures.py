"""Figures and picture files of results, comparisons and sweeps, and their display in notebooks."""

from __future__ import annotations

import copy
import re

import pytest

import flashscape as fs
from flashscape import drawing
from test_plot import without_matplotlib

pytest.importorskip("matplotlib", reason='needs matplotlib: pip install "flashscape[plot]"')

from matplotlib.figure import Figure

VICTIM = "drive.ftl.gc.victim"
NAME = "<script>alert('&')</script>"
BEGINNINGS = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-", "svg": b"<?xml"}


@pytest.fixture(scope="module")
def few(small):
    """Return a few requests to a new drive."""
    config = copy.deepcopy(small) | {"precondition": {"fill": "random"}, "title": NAME}
    return config | {"run": {"requests": 400}}


@pytest.fixture(scope="module")
def everything(few, tmp_path_factory):
    """A run, a comparison and a sweep, with the directories that they are in."""
    folder = tmp_path_factory.mktemp("everything")
    other = fs.Experiment.from_dict(few).replace({VICTIM: "fifo"})
    depth = "workload[0].queue_depth"
    varied = {"variations": {NAME: {depth: 1}, "deep": {depth: 8}}}
    return {
        folder / "run": fs.run(few, out=folder / "run"),
        folder / "comparison": fs.compare(few, other, out=folder / "comparison"),
        folder / "sweep": fs.sweep(few, **varied, out=folder / "sweep"),
    }


@pytest.fixture(params=["run", "comparison", "sweep"])
def place(request, everything):
    return next(folder for folder in everything if folder.name == request.param)


@pytest.fixture
def measured(place, everything):
    return everything[place]


# ---- figures -----------------------------------------------------------------------------


def test_a_figure_is_one_of_matplotlib_that_notebooks_show(measured):
    figure = measured.figure()
    assert isinstance(figure, Figure)
    assert figure.axes
    assert figure._repr_png_().startswith(BEGINNINGS["png"])


@pytest.mark.parametrize("form", drawing.FORMS)
def test_the_suffix_says_the_form_and_equal_pictures_are_equal_files(form, measured, tmp_path):
    one, other = tmp_path / f"one.{form.upper()}", tmp_path / f"other.{form}"
    measured.draw_to(one)
    measured.draw_to(str(other))
    assert one.read_bytes().startswith(BEGINNINGS[form])
    assert one.read_bytes() == other.read_bytes()
    # The file has no date and no version of the drawing program.
    assert not re.search(rb"<dc:date>|/CreationDate|/Producer|Software", one.read_bytes())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.gif", "a.gif: no picture has the suffix '.gif'; name a file that ends in .png, .pdf"),
        ("picture", "picture: the name has no suffix; name a file that ends in .png, .pdf or .svg"),
    ],
)
def test_other_suffixes_are_refused(name, message, measured, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(fs.FlashscapeError, match=re.escape(message)):
        measured.draw_to(name)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten_unasked(measured, tmp_path):
    file = tmp_path / "a.png"
    file.write_text("mine")
    with pytest.raises(fs.FlashscapeError, match="is there already"):
        measured.draw_to(file)
    assert file.read_text() == "mine"
    measured.draw_to(file, force=True)
    assert file.read_bytes().startswith(BEGINNINGS["png"])
    assert [each.name for each in tmp_path.iterdir()] == ["a.png"]


def test_without_matplotlib_the_error_says_what_to_install(measured, tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "is_available", lambda: False)
    with pytest.raises(fs.FlashscapeError, match=re.escape(drawing.NOT_INSTALLED)):
        measured.figure()
    with pytest.raises(fs.FlashscapeError, match=re.escape(drawing.NOT_INSTALLED)):
        measured.draw_to(tmp_path / "a.svg")
    assert not list(tmp_path.iterdir())


def test_what_has_no_picture_says_why(few):
    untimed = few | {"run": {"untimed": True, "requests": 400}}
    with pytest.raises(fs.FlashscapeError, match="no picture: the run took no simulated time"):
        fs.run(untimed).figure()


# ---- the command -------------------------------------------------------------------------


@pytest.mark.parametrize("form", drawing.FORMS)
def test_the_command_draws_what_python_draws(form, place, measured, flashscape, tmp_path):
    before = {file.name for file in place.iterdir()}
    ended = flashscape("plot", place, "--out", f"x.{form}")
    assert ended == (0, f"The picture is x.{form}.\n", "")
    measured.draw_to(tmp_path / f"y.{form}")
    assert (tmp_path / f"x.{form}").read_bytes() == (tmp_path / f"y.{form}").read_bytes()
    assert {file.name for file in place.iterdir()} == before


def test_the_command_refuses_before_it_draws(everything, flashscape, tmp_path):
    run, *_ = everything
    (tmp_path / "a.png").write_text("mine")
    for arguments, message in (
        ((run, "--out=a.gif"), "name a file that ends in .png, .pdf or .svg"),
        ((run, "--out=a.png"), "is there already"),
        ((run, "--force"), "--force goes with --out"),
        ((run, "--out=no/a.png"), "cannot be written"),
        (("nowhere", "--out=b.png"), "no such directory"),
        ((tmp_path, "--out=b.png"), "has no results"),
    ):
        ended = flashscape("plot", *arguments)
        assert ended.status in (1, 2)
        assert message in ended.err
        assert "Traceback" not in ended.err
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.png", "mine")]
    assert flashscape("plot", run, "--out=a.png", "--force", "--quiet") == (0, "", "")
    assert (tmp_path / "a.png").read_bytes().startswith(BEGINNINGS["png"])


def test_the_command_without_matplotlib(everything, tmp_path):
    run, *_ = everything
    ended = without_matplotlib(tmp_path, "plot", run, "--out", "a.pdf")
    assert ended.returncode == 1
    assert ended.stderr == f"error: {run}: no picture: {drawing.NOT_INSTALLED}\n"
    assert not list(tmp_path.iterdir())


# ---- what notebooks show -----------------------------------------------------------------


def test_notebooks_show_tables_without_scripts(measured):
    page = measured._repr_html_()
    assert page.count("<table>") == page.count("</table>") >= 1
    assert "<script" not in page


def test_notebooks_show_what_a_sweep_has_measured(everything):
    *_, swept = everything.values()
    page = swept._repr_html_()
    assert "&lt;script&gt;alert(&#x27;&amp;&#x27;)" in page
    assert "2 points: 2 done" in page
    # A row for reads and one for writes of each of two depths, and the head.
    assert page.count("<tr>") == 1 + 2 * 2
    assert str(swept.folder / "sweep.parquet") in page


def test_notebooks_show_failed_points(few, tmp_path):
    varied = {"workload[0].queue_depth": [1, 0]}
    swept = fs.sweep(few, grid=varied, out=tmp_path / "out", skip_invalid=True)
    page = swept._repr_html_()
    assert "1 done, 1 invalid" in page
    assert "<li>no results: " in page


def test_notebooks_show_what_follows_from_an_experiment(few):
    page = fs.Experiment.from_dict(few)._repr_html_()
    assert "<script" not in page
    assert '<td style="text-align:left">host</td>' in page
    assert "reads = &quot;50 %&quot;" in page
    assert "queue_depth = 8" in page
    # 150 MiB.
    assert "157,286,400 B" in page
    for caption in ("Workloads", "Capacity", "Organisation", "Memory of a run"):
        assert f"<caption>{caption}</caption>" in page
