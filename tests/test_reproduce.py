"""Reproductions: stored runs, every verdict, resumable directories, plots."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

import flashscape as fs
from flashscape import studies
from flashscape.reproduce import perform, study
from flashscape.sweep import SilentSweep, inputs, worker
from places import ROOT

TINY = ROOT / "tests" / "studies" / "tiny"

VERDICTS = {
    "X-1": "reproduced",
    "X-2": "direction",
    "X-3": "missed",
    "X-4": "not-run",
    "X-5": "reproduced",
    "X-6": "reproduced",
    "X-7": "reproduced",
    "X-8": "not-run",
    "X-9": "not-run",
    "X-10": "context",
}


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("reproduced") / "out"


@pytest.fixture(scope="module")
def found(out):
    """Reproduction of the tiny study in its short profile."""
    return fs.reproduce(TINY, out=out)


def written(out: Path) -> dict[str, int]:
    """Return the time at which each run was written, by its key: a repeated run has another."""
    return {file.parent.name: file.stat().st_mtime_ns for file in out.glob("runs/points/*/*.json")}


def test_every_verdict_with_its_reason(found):
    assert {claim.id: claim.verdict for claim in found} == VERDICTS
    for claim in found:
        assert (claim.reason is None) == (claim.verdict in ("reproduced", "context"))
    assert found.counts == {
        "reproduced": 4,
        "direction": 1,
        "missed": 1,
        "not-run": 3,
        "context": 1,
    }
    # The exhibit's own reason comes after what the bounds say.
    assert found["X-2"].reason.endswith("times it). Reads wait for programs, too.")
    assert found["X-8"].reason == (
        "the run traced needs traces/nowhere.csv, which is not there (traces=... names the "
        "directory of traces)"
    )
    assert found["X-9"].reason == "the short profile leaves it out, as it takes an hour"
    with pytest.raises(KeyError, match=r'no claim X-11 \(did you mean "X-1"'):
        found["X-11"]


def test_a_percentile_says_what_is_behind_it(found):
    reads = found.runs["waiting"].whole.read.requests
    assert found["X-4"].samples["waiting_read_p99_9_ns"]["samples"] == reads
    assert "samples at or beyond it, and 10 are needed" in found["X-4"].reason
    assert found["X-5"].judged_by == ("waiting_read_p90_ns",)
    assert found["X-5"].samples["waiting_read_p90_ns"]["at_or_beyond"] > 100


def test_figures_are_those_of_the_runs(found):
    longest = {scheme: found.runs[scheme].whole.read.max for scheme in ("waiting", "suspending")}
    assert found["X-1"].figures == {
        "waiting_read_max_ns": longest["waiting"],
        "suspending_read_max_ns": longest["suspending"],
    }
    assert found["X-1"].runs == ("waiting", "suspending")


def test_a_run_that_exhibits_share_is_made_once(found, out):
    # Five runs, because the trace of the sixth is missing.
    assert len(written(out)) == 5
    assert list(found.runs) == [
        "waiting",
        "suspending",
        "depth-1",
        "depth-64",
        "given-up",
        "traced",
    ]
    folder = out / "runs" / "points" / found.runs["waiting"].key
    # The figure asks for these tables; the table alone needs only the first.
    kept = {file.stem for file in folder.glob("*.parquet")}
    assert kept == {"latency", "series", "slowest"}


def test_an_error_may_be_the_finding(found):
    outcome = found.runs["given-up"]
    assert (outcome.status, outcome.ended_early.type) == ("ended-early", "PolicyError")
    assert "no victim will do" in outcome.ended_early.message
    assert found.failures == []


def test_the_same_call_makes_nothing_again_and_draws_the_same(found, out):
    runs = written(out)
    pictures = {file: file.read_bytes() for file in out.glob("*/*.[ps][nv]g")}
    assert {file.name for file in pictures} == {
        f"{name}.{kind}"
        for name in ("read-tails", "course", "by-depth", "bars")
        for kind in ("png", "svg")
    }
    again = fs.reproduce(TINY, out=out)
    assert again.as_json() == found.as_json()
    assert written(out) == runs
    assert {file: file.read_bytes() for file in pictures} == pictures


def test_an_exhibit_alone_takes_what_is_there(found, out, tmp_path):
    place = tmp_path / "out"
    shutil.copytree(out, place)
    runs = written(place)
    one = fs.reproduce(f"{TINY}/figure-1", out=place)
    assert {claim.exhibit for claim in one} == {"figure-1"}
    assert list(one.runs) == ["waiting", "suspending"]
    assert written(place) == runs
    assert [claim.as_json() for claim in one] == [
        claim.as_json() for claim in found.of_exhibit("figure-1")
    ]


def test_each_run_is_a_file_that_gives_the_same(found, out):
    experiment = fs.Experiment.from_file(out / "experiments" / "suspending.toml")
    assert inputs.key(experiment.config) == found.runs["suspending"].key
    assert fs.run(experiment).digest == found.runs["suspending"].whole.digest
    assert (out / "experiments" / "traced.toml").exists()


def test_what_is_kept_can_be_read(found, out):
    claims = pl.read_csv(out / "claims.csv")
    assert dict(zip(claims["id"], claims["verdict"], strict=True)) == VERDICTS
    assert pl.read_parquet(out / "claims.parquet").equals(found.frame)
    table = pl.read_parquet(out / "figure-1" / "percentiles.parquet")
    assert table.equals(found.frames["figure-1/percentiles"])
    assert pl.read_csv(out / "figure-1" / "percentiles.csv").equals(table)
    manifest = json.loads((out / "reproduction.json").read_text())
    assert (manifest["study"], manifest["profile"], manifest["complete"]) == ("tiny", "short", True)
    assert manifest["claims"] == found.as_json()
    assert {run["run"]: run["status"] for run in manifest["runs"]}["traced"] == "absent"
    report = (out / "report.md").read_text()
    assert "![figure-1/read-tails](figure-1/read-tails.png)" in report
    assert "- **X-3** missed: waiting read max is" in report
    page = (out / "report.html").read_text()
    for path in ("figure-1/read-tails.svg", "table-1/bars.svg"):
        assert f'src="{path}"' in page
        assert (out / path).exists()
    assert "Curves: [figure-1/read-tails.curves.csv](figure-1/read-tails.curves.csv)" in report
    assert found.notes == ["no plot table-1/absent: " + found["X-8"].reason]


def test_curves_are_numbers_beside_their_plots(found, out):
    tails = pl.read_csv(out / "figure-1" / "read-tails.curves.csv")
    assert tails.equals(pl.read_csv(found.curves("figure-1/read-tails").write_csv().encode()))
    for panel, kind in (("reads", "read"), ("writes", "write")):
        for scheme in ("waiting", "suspending"):
            latency = found.runs[scheme].whole.latency.filter(kind=kind).sort("high_ns")
            curve = tails.filter(panel=panel, scheme=scheme, source="ours", repeat=0)
            assert curve["requests"].to_list() == latency["requests"].to_list()
            # The share of a percentile is what the summary says: at most 1 % are slower than p99.
            p99 = found.runs[scheme].whole.of_kind(kind).p99
            slower = curve.filter(pl.col("latency_ns") >= p99)["slower_share"]
            faster = curve.filter(pl.col("latency_ns") < p99)["slower_share"]
            assert slower.max() <= 0.01 < faster.min()
            assert curve["slower_share"][-1] == 0.0
    reference = tails.filter(source="paper: 1 ms")
    assert (reference["panel"][0], reference["latency_ns"][0]) == ("reads", 1_000_000)
    depths = {1: "depth-1", 8: "waiting", 64: "depth-64"}
    means = [found.runs[name].whole.read.mean for name in depths.values()]
    line = pl.read_csv(out / "table-1" / "by-depth.curves.csv")
    ours = line.filter(source="ours")
    assert (ours["x"].to_list(), ours["y"].to_list()) == (list(depths), pytest.approx(means))
    assert (ours["x_label"][0], ours["y_unit"][0]) == ("queue depth", "ns")
    paper = line.filter(source="paper")
    assert (paper["x"].to_list(), paper["y"].to_list()) == ([1.0, 64.0], [1e5, 3e6])
    bars = pl.read_csv(out / "table-1" / "bars.curves.csv")
    assert bars.filter(source="ours")["panel"].to_list() == [f"QD {depth}" for depth in depths]
    assert bars.filter(source="ours")["value"].to_list() == pytest.approx(means)
    assert bars.filter(source="paper")["value"].to_list() == [1e5]
    course = pl.read_csv(out / "figure-1" / "course.curves.csv")
    of_run = found.runs["waiting"].whole
    intervals = course.filter(scheme="waiting", source="interval")
    assert intervals["requests"].sum() == of_run.series["reads"].sum()
    assert intervals["longest_ns"].max() == of_run.series["read_latency_max_ns"].max()
    with pytest.raises(KeyError, match="no plot figure-1/tails"):
        found.curves("figure-1/tails")


def test_lines_of_a_figure_of_ones_own_are_read_back():
    from matplotlib.figure import Figure

    from flashscape.reproduce import plots

    figure = Figure()
    axes = figure.subplots()
    axes.set_title("growth")
    axes.plot([1, 2], [3.0, 4.5], label="both")
    axes.plot([1, 2], [0.0, 1.0])
    assert plots.curves.of(figure).rows() == [
        ("growth", "both", 1.0, 3.0),
        ("growth", "both", 2.0, 4.5),
        ("growth", "line 2", 1.0, 0.0),
        ("growth", "line 2", 2.0, 1.0),
    ]


def test_the_runs_are_a_sweep(found, out):
    swept = fs.Sweep.load(out / "runs")
    assert swept.counts == {"done": 4, "failed": 1, "invalid": 0, "open": 0}
    assert set(swept.frame["variation"]) == set(found.runs) - {"traced"}


def test_a_notebook_shows_claims_and_verdicts(found):
    html = found._repr_html_()
    assert "<h2>figure-1: Read tails with and without suspension</h2>" in html
    assert "<td>direction</td>" in html
    assert repr(found).startswith("<Reproduction of tiny (short): 4 reproduced, 1 direction")


def test_the_full_profile_reaches_further():
    full = fs.reproduce(f"{TINY}/figure-1", profile="full")
    assert full["X-4"].verdict == "reproduced"
    assert full["X-4"].samples["waiting_read_p99_9_ns"]["at_or_beyond"] >= 10
    assert (full["X-5"].verdict, full["X-5"].note) == ("reproduced", None)


class Meddler(SilentSweep):
    """Presses Ctrl-C after a number of runs have ended."""

    def __init__(self, after: int) -> None:
        self._left = after
        self.begun: list[str] = []

    def begins(self, begin):
        self.begun = [point.name for point in begin.to_run]

    def ended(self, ended):
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt


def test_an_interruption_keeps_what_has_ended(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(fs.Interrupted) as caught:
        fs.reproduce(TINY, out=out, jobs=1, progress=Meddler(2))
    assert caught.value.where == "with 2 of 5 runs ended"
    assert caught.value.kept.startswith("those are kept, and the same command goes on")
    assert json.loads((out / "reproduction.json").read_text())["complete"] is False
    kept = written(out)
    assert len(kept) == 2
    rest = Meddler(99)
    found = fs.reproduce(TINY, out=out, progress=rest)
    assert len(rest.begun) == 3
    assert {key: written(out)[key] for key in kept} == kept
    assert {claim.id: claim.verdict for claim in found} == VERDICTS


def test_an_interruption_without_a_place_says_that_nothing_is_kept():
    with pytest.raises(fs.Interrupted) as caught:
        fs.reproduce(f"{TINY}/figure-1", progress=Meddler(1))
    assert caught.value.kept == "nothing is kept without out=..."


# The command.


def test_the_command_prints_verdicts_and_writes_them(found, out, flashscape, tmp_path):
    shutil.copytree(out, tmp_path / "kept")
    command = ("reproduce", TINY, "--out", "kept", "--json", "claims.json")
    ended = flashscape(*command)
    assert ended.status == 0, ended.err
    assert "10 claims: 4 reproduced, 1 direction, 1 missed, 3 not-run, 1 context" in ended.out
    assert "5 runs; 5 done before; nothing to run" in ended.err
    claims = json.loads((tmp_path / "claims.json").read_text())
    # From another folder, the trace has another path; everything else is equal.
    assert [claim["id"] for claim in claims] == list(VERDICTS)
    for claim in claims:
        assert list(claim) == [
            "id",
            "claim",
            "paper",
            "ours",
            "verdict",
            "reason",
            "exhibit",
            "note",
            "figures",
            "samples",
            "judged_by",
            "bounds",
            "runs",
            "study",
            "profile",
            "set",
        ]
    assert claims[0]["figures"] == found["X-1"].figures
    assert claims[0]["bounds"] == [
        {
            "bound": "suspending read max < waiting read max",
            "source": "paper",
            "holds": True,
            "direction": False,
        }
    ]
    # Its own file is replaced, a foreign one is not; missed claims count only with --strict.
    assert flashscape(*command, "--strict", "--quiet").status == 1
    (tmp_path / "claims.json").write_text("{}")
    refused = flashscape(*command)
    assert (refused.status, refused.out) == (1, "")
    assert "claims.json: is there already, and is no list of claims" in refused.err
    (tmp_path / "folder").mkdir()
    refused = flashscape("reproduce", TINY, "--json", "folder")
    assert "folder: is a directory" in refused.err


def test_all_that_is_reproduced_is_no_fault_under_strict(flashscape, tmp_path, found, out):
    only = tmp_path / "study"
    shutil.copytree(TINY, only, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("X-2", "X-3"):
        text = (only / "claims.toml").read_text()
        start = text.index(f'id = "{name}"')
        end = text.index("[[claim]]", start)
        (only / "claims.toml").write_text(text[: text.rindex("[[claim]]", 0, start)] + text[end:])
    code = (only / "figure_1.py").read_text().replace('@exhibit.measures("X-2")\n', "")
    (only / "figure_1.py").write_text(code.replace('@exhibit.measures("X-3")\n', ""))
    ended = flashscape("reproduce", f"{only}/figure-1", "--strict")
    assert ended.status == 0, ended.err


def test_without_a_paper_all_are_listed(flashscape, monkeypatch, tmp_path, capsys):
    assert flashscape("reproduce").status == 0
    refused = flashscape("reproduce", "--json", "x.json")
    assert (refused.status, "name a paper" in refused.err) == (2, True)
    shutil.copytree(TINY, tmp_path / "tiny_study", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(studies, "STUDIES", ("tiny_study",))
    monkeypatch.setattr(studies, "__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setattr(studies, "__path__", [str(tmp_path)])
    from flashscape.cli.reproduce import _list

    _list()
    listed = capsys.readouterr().out
    assert "tiny-study: Erases that are suspended (Test 2026)" in listed
    assert "tiny-study/table-1" in listed
    assert "X-6, X-7, X-8, X-9, X-10" in listed
    named, exhibits = study.find("tiny-study/table-1")
    assert (named.name, exhibits) == ("tiny-study", ["table-1"])
    with pytest.raises(
        fs.StudyError, match=r"no paper 'tiny-studi' \(did you mean \"tiny-study\"\?"
    ):
        study.find("tiny-studi")


def test_names_that_are_not_known_are_refused_with_near_ones(flashscape):
    refused = flashscape("reproduce", f"{TINY}/figure-2")
    assert refused.status == 2
    hint = "tiny: no exhibit 'figure-2' (did you mean \"figure-1\"? there are figure-1, table-1)"
    assert hint in refused.err
    assert flashscape("reproduce", "no-paper").status == 2
    with pytest.raises(fs.StudyError, match=r'no profile \'shrt\' \(did you mean "short"\?'):
        fs.reproduce(TINY, profile="shrt")


def test_the_directory_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(fs.OutputError, match=r"is not empty \(it has thesis.tex\)"):
        fs.reproduce(TINY, out=tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "reproduction.json").write_text('{"study": "another"}')
    with pytest.raises(fs.OutputError, match="is of another, not of tiny"):
        fs.reproduce(TINY, out=other)
    (other / "reproduction.json").write_text("[")
    with pytest.raises(fs.OutputError, match="is damaged"):
        fs.reproduce(TINY, out=other)


# Errors.


PAPER = (TINY / "paper.toml").read_text().split("[[exhibit]]")[0]
EXHIBIT = '[[exhibit]]\nname = "{0}"\ntitle = "T"\n'
CLAIM = """
[[claim]]
id = "{1}"
exhibit = "{0}"
claim = "It ends."
paper = "yes"
figures = {{ requests = "requests" }}
bounds = [{{ of = "requests", above = 0, source = "paper" }}]
"""
CODE = """
from flashscape.reproduce import Answer, Exhibit, Run
exhibit = Exhibit()
@exhibit.runs
def runs(setting):
    return [Run("one", {0})]
@exhibit.measures("{1}")
def it(runs):
    requests = runs["one"].result.read.requests
    return Answer(str(requests), {{"requests": requests}})
"""


def make(folder: Path, *experiments: dict) -> Path:
    """Make a study with an exhibit for each experiment, all of them with the same run name."""
    names = [(f"figure-{at}", f"Y-{at}") for at, _ in enumerate(experiments, 1)]
    (folder / "paper.toml").write_text(PAPER + "".join(EXHIBIT.format(*each) for each in names))
    (folder / "claims.toml").write_text("".join(CLAIM.format(*each) for each in names))
    for (name, claim), experiment in zip(names, experiments, strict=True):
        code = CODE.format(repr(experiment), claim)
        (folder / f"{name.replace('-', '_')}.py").write_text(code)
    return folder


@pytest.fixture
def quick(config):
    """A run of a few milliseconds."""
    return config | {"run": {"requests": 400}, "precondition": {"fill": "sequential"}}


def test_a_run_that_cannot_be_made_is_a_failure(quick, flashscape, tmp_path):
    folder = make(tmp_path, quick | {"sedd": 1})
    ended = flashscape("reproduce", folder)
    assert ended.status == 1
    assert "Y-1: not-run: the run one could not be made: " in ended.out
    assert 'did you mean "seed"' in ended.out


def test_an_error_that_nobody_expects_is_a_failure(quick, tmp_path):
    policy = {"policy": "python", "file": str(TINY / "_gives_up.py"), "function": "choose"}
    drive = quick["drive"] | {"ftl": quick["drive"]["ftl"] | {"gc": {"victim": policy}}}
    found = fs.reproduce(make(tmp_path, quick | {"drive": drive, "run": {"requests": 50_000}}))
    assert found["Y-1"].verdict == "not-run"
    [(name, why)] = found.failures
    assert (name, "no victim will do" in why) == ("one", True)


def test_two_runs_of_one_name_are_one_experiment(quick, tmp_path):
    (tmp_path / "same").mkdir()
    found = fs.reproduce(make(tmp_path / "same", quick, dict(reversed(quick.items()))))
    assert [claim.verdict for claim in found] == ["reproduced", "reproduced"]
    with pytest.raises(fs.StudyError, match="figure-1 and figure-2 both have a run one, of diff"):
        fs.reproduce(make(tmp_path, quick, quick | {"seed": 2}))


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        ("result.read.requests", "result.reads", "figure-1: Y-1: AttributeError: "),
        (
            "result.read.requests",
            "result.series.height",
            "tables that its Run names); run ",
        ),
        ('[Run("one"', '[Run("One"', "its runs: ValueError: 'One' is no name of a run"),
        ("def it(runs):", "def it(runs)", "figure_1.py: SyntaxError: expected ':'"),
    ],
)
def test_faults_of_a_studys_code_are_its_own(wrong, right, message, quick, tmp_path, flashscape):
    code = make(tmp_path, quick) / "figure_1.py"
    code.write_text(code.read_text().replace(wrong, right))
    ended = flashscape("reproduce", tmp_path, "--quiet")
    assert ended.status == 2
    assert message in ended.err


class GaveUpError(fs.FlashscapeError):
    """An error that carries the results until then."""

    def __init__(self, result):
        super().__init__("gave up")
        self.result = result


def test_what_was_measured_before_an_error_is_kept(quick, tmp_path, monkeypatch):
    whole = fs.run(quick)

    def give_up(*_arguments, **_options):
        raise GaveUpError(whole)

    monkeypatch.setattr(worker, "run", give_up)
    experiment = perform.Unchecked.of(quick)
    key = inputs.key(experiment.checked().config)
    points = tmp_path / "runs" / "points"
    points.mkdir(parents=True)
    order = {"folder": str(points / key), "key": key, "start": {}, "tables": ["latency"]}
    said = worker._ended(order | {"experiment": experiment.as_json()}, lambda _: None)
    assert said["error"] == "gave up"
    monkeypatch.undo()

    folder = tmp_path / "study"
    folder.mkdir()
    code = make(folder, quick) / "figure_1.py"
    changed = code.read_text().replace(
        f'"one", {quick!r}', f'"one", {quick!r}, may_end_with=("GaveUpError",)'
    )
    code.write_text(changed.replace('["one"].result', '["one"].measured'))
    # The directory of an interrupted reproduction: its runs exist, and none is repeated.
    place = tmp_path / "out"
    place.mkdir()
    (tmp_path / "runs").rename(place / "runs")
    (place / "reproduction.json").write_text('{"study": "study"}')
    found = fs.reproduce(folder, out=place)
    early = found.runs["one"].ended_early
    assert (early.type, early.message) == ("GaveUpError", "gave up")
    assert early.partial.read.requests == whole.read.requests
    assert found["Y-1"].figures == {"requests": whole.read.requests}


# Plots.


@pytest.fixture
def plots():
    pytest.importorskip("matplotlib")
    from flashscape.reproduce import plots

    return plots


def test_plots_are_equal_bytes_every_time(found, plots):
    for path in ("figure-1/read-tails", "table-1/bars"):
        with plots.styled():
            first, second = found.draw(path), found.draw(path)
        for kind, begin in (("png", b"\x89PNG"), ("svg", b"<?xml")):
            data = plots.encoded(first, kind)
            assert data.startswith(begin)
            assert data == plots.encoded(second, kind)


def test_a_tail_has_nines_upwards_and_the_papers_value(found, plots):
    with plots.styled():
        figure = found.draw("figure-1/read-tails")
        figure.savefig(io.BytesIO())
    reads, writes = figure.axes
    labels = [label.get_text() for label in reads.get_yticklabels()]
    assert labels == ["0", "90", "99", "99.9", "99.99"]
    low, high = reads.get_ylim()
    assert low > high, "what few requests exceed is on top"
    dashed = [line for line in reads.lines if line.get_label() == "paper: 1 ms"]
    assert dashed[0].get_xdata()[0] == 1e6
    # Beyond the last ten requests, the curve is dotted, and its parts are not in the legend.
    dotted = [line for line in writes.lines if line.get_linestyle() == ":"]
    assert len(dotted) == 2
    for line in dotted:
        requests = found.runs["waiting"].whole.write.requests
        assert max(line.get_ydata()[1:]) * requests < 12
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["waiting", "suspending", "paper: 1 ms"]


def test_legends_stay_within_the_figure(plots):
    schemes = ("Baseline", "ES", "Ideal-ES", "I-ES", "D-ES", "T-ES(64)")
    looks = plots.Looks(*schemes)
    with plots.styled():
        groups = {"ACT": dict.fromkeys(schemes, 1e6), "TPC-C": {"ES": None, "D-ES": 2e6}}
        figure = plots.bars(groups, looks, unit="ns", references={("ACT", "ES"): 2e6})
        figure.savefig(io.BytesIO())
    box = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= figure.bbox.x1


def test_slow_requests_and_the_papers_points_are_marked(found, plots):
    with plots.styled():
        course, lines = found.draw("figure-1/course"), found.draw("table-1/by-depth")
    slow = found.runs["waiting"].whole.slowest.filter(
        (pl.col("kind") == "read") & (pl.col("latency_ns") >= 3e6)
    )
    [marks] = [line for line in course.axes[0].lines if line.get_marker() == "x"]
    assert list(marks.get_ydata()) == slow["latency_ns"].to_list()
    assert len(slow) > 5
    ours, papers = lines.axes[0].lines
    assert list(papers.get_ydata()) == [1e5, 3e6]
    assert papers.get_markerfacecolor() == "none"
    assert papers.get_color() == ours.get_color()


def test_equal_lines_stand_apart_where_that_is_asked_for(plots):
    looks = plots.Looks("a", "b")
    panels = {"": {scheme: [(1, 2), (4, 2)] for scheme in looks.schemes}}
    for log_x in (True, False):
        with plots.styled():
            together = plots.lines(panels, looks, x_label="x", log_x=log_x)
            beside = plots.lines(panels, looks, x_label="x", log_x=log_x, apart=True)
        first, second = (list(line.get_xdata()) for line in together.axes[0].lines)
        assert first == second == [1, 4]
        first, second = beside.axes[0].lines
        assert all(x < y for x, y in zip(first.get_xdata(), second.get_xdata(), strict=True))
        assert [line.get_xdata()[1] for line in (first, second)] == pytest.approx([4, 4], rel=0.02)
        assert first.get_linestyle() != second.get_linestyle()
        assert list(beside.axes[0].get_xticks()) == [1, 4], "ticks are where points belong"


def test_spans_go_from_the_least_to_the_greatest_and_say_what_is_absent(plots):
    panels = {"few": {"a": [3e6, 1e6, 2e6], "b": None}, "many": {"a": [4e6], "b": [5e6, 6e6]}}
    with plots.styled():
        figure = plots.spans(panels, unit="ns", absent="stops")
        figure.savefig(io.BytesIO())
    few, many = figure.axes
    span, dot = few.lines
    assert (list(span.get_xdata()), list(dot.get_xdata())) == ([1e6, 3e6], [2e6])
    assert [text.get_text() for text in few.texts] == ["stops"]
    assert [list(line.get_ydata()) for line in many.lines] == [[0, 0], [0], [1, 1], [1]]
    assert few.get_xlim() == many.get_xlim(), "panels share the axis"


def test_what_is_overloaded_is_hollow_and_the_legend_says_so(plots):
    looks = plots.Looks("a", "b")
    groups = {"few": {"a": 1.0, "b": 2.0}, "many": {"a": 3.0, "b": 4.0}}
    panels = {"": {"a": [(1, 1), (2, 3)], "b": [(1, 2), (2, 4)]}}
    with plots.styled():
        drawn = [plots.bars(groups, looks, log=log) for log in (False, True)]
        assert not any("hollow" in text.get_text() for text in drawn[0].legends[0].get_texts())
        bars, points = (
            plots.bars(groups, looks, log=log, overloaded={("many", "b")}) for log in (False, True)
        )
        lines = plots.lines(panels, looks, x_label="x", overloaded={("b", 2)})
    white = (1.0, 1.0, 1.0, 1.0)
    hollow = [bar.get_height() for bar in bars.axes[0].patches if bar.get_facecolor() == white]
    assert hollow == [4.0]
    found = [
        place[1]
        for marks in points.axes[0].collections
        for place, face in zip(marks.get_offsets(), marks.get_facecolors(), strict=False)
        if tuple(face) == white
    ]
    assert found == [4.0]
    [mark] = [line for line in lines.axes[0].lines if line.get_markerfacecolor() == "white"]
    assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([2], [4])
    for figure in (bars, points, lines):
        assert any("hollow" in text.get_text() for text in figure.legends[0].get_texts())


def test_panels_stand_a_few_in_a_row_and_may_be_empty(plots):
    looks = plots.Looks("a")
    panels = {f"panel {number}": {"a": [(1, 2)]} for number in range(4)}
    with plots.styled():
        figure = plots.lines(panels, looks, x_label="x")
        plots.encoded(plots.tails({"reads": {}}, looks), "png")
    assert len({axes.get_subplotspec().rowspan.start for axes in figure.axes}) == 2


def test_a_scheme_keeps_its_look(plots):
    looks = plots.Looks("a", "b", "c")
    assert len({looks[scheme].colour for scheme in looks.schemes}) == 3
    assert len({looks[scheme].marker for scheme in looks.schemes}) == 3
    assert looks.ordered({"c": 1, "a": 2}) == ["a", "c"]
    with pytest.raises(KeyError, match="no scheme"):
        looks.ordered({"d": 1})
    with pytest.raises(ValueError, match="more than can be told apart"):
        plots.Looks(*map(str, range(9)))


# Figures in the documents.


def test_the_study_of_the_how_to_runs(tmp_path):
    text = (ROOT / "docs" / "how-to" / "add-a-study.md").read_text(encoding="utf-8")
    paper, claims = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    [code] = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for name, content in {"paper.toml": paper, "claims.toml": claims, "figure_1.py": code}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    found = fs.reproduce(tmp_path)
    assert [claim.verdict for claim in found] == ["reproduced", "reproduced"]
    assert found.plots == ["figure-1/by-depth"]


@pytest.mark.parametrize("named", ["/nothere", "traces"])
def test_a_directory_of_traces_that_is_named_must_be_there(flashscape, named):
    ended = flashscape("reproduce", "design-tradeoffs-performance", "--traces", named)
    assert ended.status == 2
    (line,) = ended.err.splitlines()
    assert "--traces" in line
    assert f"{named}: there is no such directory" in line
