"""``tail.svg`` is well-formed for any number of initiators, and for any names."""

from __future__ import annotations

import re
import warnings
from itertools import pairwise

import pytest

import flashscape as fs

pytest.importorskip("matplotlib")

from flashscape import picture


@pytest.fixture(scope="module")
def crowd(small):
    """Many initiators of two kinds, with names that are long and look like formulas."""
    [host] = small["workload"]
    names = [f"an-initiator-with-a-very-long-name-{number}-$x^2" for number in range(12)]
    workload = [host | {"name": name} for name in names]
    run = {"requests": 12000, "warm_up": {"requests": 3000}}
    return fs.run(small | {"title": "far too long, $5 " * 30, "workload": workload, "run": run})


@pytest.fixture(scope="module")
def alone(small):
    [host] = small["workload"]
    reads = host | {"reads": "100 %", "queue_depth": 1}
    return fs.run(small | {"workload": [reads], "run": {"requests": 500}})


@pytest.fixture(scope="module")
def whole(small):
    return fs.run(small)


def axes_of(result):
    figure = picture.draw(result)
    figure.canvas.draw()
    tail, course, *others = figure.axes
    return figure, tail, course, others


def names_in(legend):
    return [text.get_text() for text in legend.get_texts()]


def test_a_crowd_is_drawn_without_warnings_within_its_bounds(crowd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure, tail, _, _ = axes_of(crowd)
    box = figure.bbox
    for legend in (tail.get_legend(), *figure.legends):
        inside = legend.get_window_extent()
        assert box.x0 <= inside.x0 <= inside.x1 <= box.x1
    assert len(names_in(tail.get_legend())) <= 6
    assert tail.get_position().width > 0.7, "the plots are not squeezed"
    # Titles of panels side by side do not run into each other.
    titles = [a.title.get_window_extent() for a in figure.axes if "slowest:" in a.get_title("left")]
    assert all(left.x1 < right.x0 for left, right in pairwise(titles))


def test_nothing_of_it_goes_to_stderr(crowd, capfd):
    assert picture.svg(crowd).startswith(b"<?xml")
    assert capfd.readouterr() == ("", "")


def test_a_long_run_makes_a_small_file(small):
    longer = small | {"run": {"requests": 60000}, "record": {"interval": "100 us"}}
    result = fs.run(longer)
    assert len(result.series) > 2000
    assert len(picture.svg(result)) < 450_000


def test_every_latency_has_its_unit(alone, crowd):
    for result in (alone, crowd):
        _, tail, course, _ = axes_of(result)
        for axis in (tail.xaxis, course.yaxis):
            labels = [label.get_text() for label in axis.get_ticklabels(which="both")]
            labels = [label for label in labels if label]
            assert len(labels) >= 3
            assert all(re.fullmatch(r"[\d.,]+ (ns|µs|ms|s)", label) for label in labels), labels


def test_percentiles_are_called_alike(whole):
    _, tail, _, _ = axes_of(whole)
    labels = [label.get_text() for label in tail.yaxis.get_ticklabels()]
    assert labels[:4] == ["p0", "p90", "p99", "p99.9"]


def test_reads_come_first_and_panels_share_a_scale(crowd):
    figure, *_ = axes_of(crowd)
    panels = [axes for axes in figure.axes if "slowest:" in axes.get_title("left")]
    assert [axes.get_title("left").split()[-1] for axes in panels] == ["read", "write"]
    assert panels[0].get_ylim() == panels[1].get_ylim()


def test_each_panel_says_that_its_scale_is_its_own(whole, monkeypatch):
    monkeypatch.setattr(picture, "_SAME_SCALE", 0)
    figure, *_ = axes_of(whole)
    titles = [axes.get_title("left") for axes in figure.axes]
    panels = [title for title in titles if "slowest:" in title]
    assert len(panels) == 2
    assert all(title.endswith("\n(on a scale of its own)") for title in panels)


def test_write_amplification_stays_below_the_edge_of_its_axis(whole):
    _, _, _, others = axes_of(whole)
    [beside] = [axes for axes in others if "write amplification" in axes.get_ylabel()]
    [line] = beside.lines
    bottom, top = beside.get_ylim()
    assert bottom == 0
    assert max(line.get_ydata()) <= 0.9 * top


def test_the_legend_names_what_can_be_seen(whole):
    figure, *_ = axes_of(whole)
    [legend] = figure.legends
    assert "erases" in names_in(legend)
    seen = {
        bars[0].get_facecolor()
        for axes in figure.axes
        for bars in axes.containers
        if max(bar.get_height() for bar in bars) > 0.004 * axes.get_ylim()[1]
    }
    assert {patch.get_facecolor() for patch in legend.get_patches()} <= seen


def test_write_amplification_is_that_of_the_summary(whole):
    """Both are bytes programmed over bytes written."""
    _, values = picture.amplification(whole)
    assert min(values) <= whole.write_amplification <= max(values)
    joined = fs.Result(
        whole.summary,
        {
            "series": whole.series.select(
                "end_ns",
                "write_bytes",
                *(
                    f"{who}_units_programmed"
                    for who in ("host", "gc", "scrub", "summary", "parity", "padding")
                ),
            ).sum()
        },
    )
    _, [value] = picture.amplification(joined)
    assert value == pytest.approx(whole.write_amplification)


def test_the_warm_up_is_marked(crowd, whole):
    for result, is_marked in ((crowd, True), (whole, False)):
        _, _, course, _ = axes_of(result)
        assert any("warm-up" in text.get_text() for text in course.texts) == is_marked


def test_deterministic_windows_are_shaded_for_each_set(small):
    limits = {"dtwin": "2 ms", "ndwin_low": "1 ms", "ndwin_high": "2 ms"}
    sets = {"ftl": {"windows": limits, "sets": {"channels": 2}}}
    for changes, count in (({"ftl": {"windows": limits}}, 1), (sets, 2)):
        [host] = small["workload"]
        host = host if count == 1 else host | {"nvm_set": 1}
        drive = merged(small["drive"], changes)
        run = {**small["run"], "windows": {}}
        result = fs.run(small | {"drive": drive, "workload": [host], "run": run})
        _, _, course, _ = axes_of(result)
        shaded = [each for each in course.collections if each.get_zorder() == 0.4]
        assert len(shaded) == count
        for of, strip in zip(result.summary["windows"], shaded, strict=True):
            spans = [path.get_extents() for path in strip.get_paths()]
            known = [(event["began_ns"], event["at_ns"]) for event in of["events"]]
            assert known
            assert [(span.x0, span.x1) for span in spans] == known
        tops = [strip.get_paths()[0].get_extents().y1 for strip in shaded]
        assert tops == sorted(tops, reverse=True)
        assert "DTWIN" in names_in(course.get_legend())


def merged(one, other):
    """Return nested dictionaries as one."""
    both = {key: merged(one[key], other[key]) for key in one.keys() & other.keys()}
    return {**one, **other, **both}


def test_equal_runs_draw_equal_files(whole):
    assert picture.svg(whole) == picture.svg(whole)
