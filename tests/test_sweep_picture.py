"""Pictures of sweeps: lines over numbers, bars for words, and marks of points that mislead."""

from __future__ import annotations

import itertools
import re

import pytest

import flashscape as fs
from flashscape.report import sweep as sweep_report
from flashscape.sweep import picture
from flashscape.sweep.picture_plan import Bars, Dimension, Lines, chosen, dimensions

pytest.importorskip("matplotlib")

DEPTH = "workload[0].queue_depth"
RATE = "workload[0].arrivals.rate"
VICTIM = "drive.ftl.gc.victim"

LONG = "fifo victims, a small buffer of 1 MiB, and reads that suspend erases at once"
NAMED = {
    "as it is": {},
    LONG: {VICTIM: "fifo", "drive.buffer.size": "1 MiB"},
    "suspended": {"drive.scheduler.suspension": "d-es"},
}


@pytest.fixture(scope="module")
def named(small, tmp_path_factory):
    """Named variations over two seeds."""
    base = small | {"run": {"requests": 1500}}
    out = tmp_path_factory.mktemp("named") / "out"
    return fs.sweep(base, variations=NAMED, seeds=2, out=out)


def panels(figure):
    """Return the panels that are drawn, by their titles."""
    return {axes.get_title("left"): axes for axes in figure.axes if axes.axison}


def lengths(axes):
    return [bar.get_width() for bar in axes.patches]


def test_named_variations_are_bars_with_their_numbers(named):
    figure = named.figure()
    found = panels(figure)
    assert list(found) == [
        *("read p50", "read p99", "read p99.9", "read IOPS"),
        *("write p50", "write p99", "write p99.9", "write IOPS"),
        *("write amplification", "flash units busy"),
    ]
    means = named.over_seeds()
    reads = means.filter(kind="read")
    assert lengths(found["read p99.9"]) == reads["p99_9_ns"].to_list()
    assert lengths(found["write IOPS"]) == means.filter(kind="write")["iops"].to_list()
    assert lengths(found["write amplification"]) == reads["write_amplification"].to_list()
    for title, axes in found.items():
        # A line would join what has no order.
        assert [line for line in axes.lines if len(line.get_xdata()) > 2] == [], title
        assert len(axes.texts) == len(NAMED), title
        low, _ = axes.get_xlim()
        assert low == 0.0


def test_labels_of_bars_are_readable(named):
    """Each is whole but for its line breaks, inside the figure, and overlaps no other."""
    figure = named.figure()
    figure.draw_without_rendering()
    first = panels(figure)["read p50"]
    labels = first.get_yticklabels()
    assert [" ".join(label.get_text().split()) for label in labels] == list(NAMED)
    boxes = [label.get_window_extent() for label in labels]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    for box in boxes:
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= first.get_window_extent().x0
    for axes in panels(figure).values():
        for text in axes.texts:
            assert text.get_window_extent().x1 <= figure.bbox.x1


def test_titles_of_bars_overlap_no_other(small):
    """Names of initiators may be long, and there are four panels in a row."""
    host = small["workload"][0]
    workload = [host | {"name": "a reader with a very long name"}, host | {"name": "b"}]
    base = small | {"run": {"requests": 1500}, "workload": workload}
    figure = fs.sweep(base, variations={"one": {}, "two": {VICTIM: "fifo"}}).figure()
    figure.draw_without_rendering()
    titles = [axes.title if axes.get_title() else axes._left_title for axes in figure.axes]
    boxes = [title.get_window_extent() for title in titles if title.get_text()]
    assert len(boxes) >= 10
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    assert all(box.x1 <= figure.bbox.x1 for box in boxes)


def test_percentiles_of_pictures_are_chosen(named, flashscape, tmp_path):
    found = panels(named.figure(percentiles=(95, "99.99")))
    assert list(found)[:3] == ["read p95", "read p99.99", "read IOPS"]
    out = named.folder
    assert flashscape("plot", out, "--percentiles", "90,99.9").status == 0
    drawn = (out / "sweep.svg").read_text(encoding="utf-8")
    assert "<!-- read p99.9 -->" in drawn
    assert "<!-- read p90 -->" in drawn
    assert "p50" not in drawn
    ended = flashscape("plot", out, "--percentiles", "95", "--out", tmp_path / "one.svg")
    assert ended.status == 0, ended.err
    assert "<!-- read p95 -->" in (tmp_path / "one.svg").read_text(encoding="utf-8")
    ended = flashscape("plot", out, "--percentiles", "50,90,95,99,99.9")
    assert (ended.status, ended.out) == (2, "")
    assert "percentiles: 5 are too many for a picture; choose 4 at most" in ended.err
    ended = flashscape("sweep", "--show", out, "--percentiles", "50,90,95,99,99.9")
    assert ended.status == 0
    ended = flashscape("plot", tmp_path, "--percentiles", "50")
    assert "percentiles: only the picture of a sweep has a choice" in ended.err


def test_long_names_of_variations_do_not_break_the_table(named, monkeypatch, flashscape):
    monkeypatch.setenv("COLUMNS", "80")
    ended = flashscape("sweep", "--show", named.folder)
    *lines, place = ended.out.splitlines()
    assert place.startswith("Results are in ")
    assert max(map(len, lines)) <= 80, ended.out
    assert re.search(r"^suspended +read ", ended.out, re.MULTILINE)
    # The name is broken; its figures are in its first line.
    assert re.search(r"^fifo victims, a small +read +[0-9]", ended.out, re.MULTILINE)


@pytest.fixture(scope="module")
def loaded(small, tmp_path_factory):
    """A drive of two dies under a load that it serves, and under one that no two dies can."""
    [host] = small["workload"]
    host = {key: value for key, value in host.items() if key != "queue_depth"}
    arrivals = {"process": "poisson", "rate": "1 kIOPS"}
    base = small | {"workload": [host | {"arrivals": arrivals}], "run": {"requests": 3000}}
    grid = {RATE: ["1 kIOPS", "400 kIOPS"]}
    return fs.sweep(base, grid=grid, seeds=2, out=tmp_path_factory.mktemp("loaded") / "out")


def test_overload_is_flagged_for_each_point(loaded, flashscape):
    by_rate = {
        rate: overloaded.to_list()
        for (rate,), rows in loaded.frame.group_by(RATE, maintain_order=True)
        for overloaded in [rows["overloaded"]]
    }
    assert by_rate == {"1 kIOPS": [[]] * 4, "400 kIOPS": [["host"]] * 4}
    assert loaded.over_seeds()["overloaded_seeds"].to_list() == [0, 0, 2, 2]
    shown = sweep_report.table(loaded)
    at = shown.head.index("load")
    assert [row[at] for row in shown.rows] == ["", "", "overloaded", "overloaded"]
    ended = flashscape("sweep", "--show", loaded.folder)
    told = " ".join(ended.out.split())
    assert "2 of 4 points are overloaded: rate=400 kIOPS, seed=1 (host); " in told
    # Once, and not among the notes again.
    assert told.count("are overloaded") == 1
    assert "the workload is overloaded" not in told
    assert "2 of 4 points are overloaded" in " ".join(str(fs.tables(loaded)).split())


def test_a_sweep_without_overload_has_no_such_column(named):
    assert "load" not in sweep_report.table(named).head
    assert sweep_report.overloads(named) == []


def test_overloaded_points_are_crossed_on_lines_and_hatched_as_bars(loaded):
    latency = loaded.figure().axes[0]
    crosses = [line for line in latency.lines if line.get_marker() == "x"]
    assert crosses
    assert all(list(line.get_xdata()) == [400_000.0] for line in crosses)
    subject = loaded.pictured()
    words = tuple(each._replace(amounts=None) for each in subject.dimensions)
    figure = picture.draw(subject._replace(dimensions=words))
    found = panels(figure)
    for title in ("read p99.9", "read IOPS"):
        assert [bool(bar.get_hatch()) for bar in found[title].patches] == [False, True], title
    assert not any(bar.get_hatch() for bar in found["write amplification"].patches)
    # Its latencies may be a thousand times those of others, and would make their bars invisible.
    sound, overloaded = loaded.over_seeds().filter(kind="read")["p50_ns"]
    assert overloaded > 3 * sound
    assert lengths(found["read p50"]) == [sound, pytest.approx(1.15 * sound, rel=0.1)]
    assert found["read p50"].texts[1].get_text().endswith(" (cut)")
    # Rates are what the drive serves.
    iops = loaded.over_seeds().filter(kind="read")["iops"].to_list()
    assert lengths(found["read IOPS"]) == iops
    [legend] = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert any(text.startswith("overloaded: ") for text in texts)


def test_some_seeds_may_be_overloaded(loaded):
    row = loaded.over_seeds().row(2, named=True) | {"overloaded_seeds": 1}
    assert sweep_report._overload(row) == "overloaded in 1 of 2"


def test_values_that_change_together_are_one_thing(small, tmp_path):
    base = small | {"run": {"requests": 400}}
    zipped = [{"record.slowest": [5, 10, 15], "record.interval": ["1 ms", "2 ms", "4 ms"]}]
    swept = fs.sweep(base, zipped=zipped, out=tmp_path / "out")
    [only] = swept.pictured().dimensions
    assert only.columns == ("record.slowest", "record.interval")
    figure = swept.figure()
    assert figure.axes[0].get_xlabel() == "slowest, interval"
    ticks = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert ticks == ["5, 1 ms", "10, 2 ms", "15, 4 ms"]


def test_points_without_results_say_so(small, tmp_path):
    base = small | {"run": {"requests": 400}}
    variations = {"sound": {}, "too small": {"drive.buffer.size": "4 KiB"}}
    swept = fs.sweep(base, variations=variations, out=tmp_path / "out", skip_invalid=True)
    found = panels(swept.figure())
    texts = [text.get_text().strip() for text in found["read p50"].texts]
    assert sorted(texts)[-1] == "impossible"
    assert len(lengths(found["read p50"])) == 1


def test_all_combinations_of_three_things_are_named(small, tmp_path):
    grid = {DEPTH: [1, 2], VICTIM: ["greedy", "fifo"], "drive.link.rate": ["1 GB/s", "4 GB/s"]}
    base = small | {"run": {"requests": 100}}
    figure = fs.sweep(base, grid=grid, out=tmp_path / "out").figure([99])
    assert figure.get_suptitle() == "small\nqueue_depth, victim, rate"
    assert len(lengths(figure.axes[0])) == 8
    figure.canvas.draw()
    [legend] = figure.legends
    box = legend.get_window_extent()
    assert box.x1 <= figure.bbox.x1, "a legend is not cut"


def subject_of(**values):
    """Return the plan for a design of these values."""
    names = list(values)
    points = [
        dict(zip(names, row, strict=True)) | {"status": "done"}
        for row in itertools.product(*values.values())
    ]
    amounts = {name: name if isinstance(values[name][0], int) else None for name in names}
    return picture.Subject("", None, dimensions(names, points, amounts), tuple(points))


@pytest.mark.parametrize(
    ("values", "plan", "axis", "curves"),
    [
        ({"n": [1, 2, 3]}, Lines, "n", None),
        ({"w": ["a", "b"]}, Bars, "w", None),
        ({"w": ["a", "b"], "n": [1, 2, 3]}, Lines, "n", "w"),
        ({"n": [1, 2, 3], "m": [1, 2]}, Lines, "n", "m"),
        # The one with more values stands along the axis, because colours are few.
        ({"w": ["a", "b"], "v": list("abcdefghij")}, Bars, "v", "w"),
        ({"w": list("abcdefghij"), "n": [1, 2]}, Bars, "w", "n"),
        ({"w": ["a", "b"], "v": ["a", "b"], "n": [1, 2]}, Bars, "w, v, n", None),
    ],
)
def test_numbers_are_lines_and_words_are_bars(values, plan, axis, curves):
    found = chosen(subject_of(**values))
    assert type(found) is plan
    assert found.axis.label == axis
    assert (None if found.curves is None else found.curves.label) == curves


def test_more_than_a_panel_holds_is_no_picture():
    letters = [chr(97 + at) for at in range(10)]
    assert "100 combinations are too many for bars (48 at most)" in chosen(
        subject_of(w=letters, v=letters)
    )
    assert chosen(subject_of()) == "nothing varies besides the seed"
    assert Dimension(("a.b", "c.b"), None).label == "a.b, c.b"
