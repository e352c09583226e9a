"""Power cuts in output for users: tables, sentences, the picture."""

from __future__ import annotations

import copy
import json
import tomllib

import pytest

import flashscape as fs
from flashscape import outages, units
from flashscape.report import rows
from places import ROOT

AT = (40_000_000, 200_000_000)
"""Times of the power cuts, in nanoseconds."""


def _cut(small, at=AT, **run):
    config = copy.deepcopy(small)
    config["drive"]["recovery"] = {}
    config["run"] = {
        "time": "400 ms",
        "audit": True,
        "power_cut": [{"at": f"{moment} ns"} for moment in at],
    } | run
    config["record"] = {"interval": "1 ms"}
    return config


@pytest.fixture(scope="module")
def cut(small):
    return fs.run(_cut(small))


def _cells(table):
    return [dict(zip(table.head, row, strict=True)) for row in table.rows]


def test_a_table_says_of_each_cut_when_it_was_and_what_recovery_took(cut):
    assert cut.recovery == cut.summary["recovery"]
    table = rows.power_cuts(cut)
    assert [row["cut at"] for row in _cells(table)] == ["40 ms", "200 ms"]
    assert "audit: nothing lost" in table.title
    for row, told in zip(_cells(table), cut.recovery["cuts"], strict=True):
        # The drive does nothing else meanwhile, so the parts add up to the whole.
        assert sum(told[key] for key in outages.PARTS) == told["duration_ns"]
        assert row["recovery"] == units.duration(told["duration_ns"])
        assert row["of it scan"] == units.duration(told["scan_ns"])
        assert "of it checkpoint" not in row
        # The full queue depth of a closed loop was outstanding.
        assert row["lost requests"] == "8"
    assert any(part.title == table.title for part in rows.everything(cut))


def test_of_many_cuts_the_longest_are_shown(small):
    many = fs.run(_cut(small, [10_000_000 * (n + 1) for n in range(20)], time="3 s"))
    table = rows.power_cuts(many)
    assert len(many.recovery["cuts"]) == 20
    assert "12 with the longest recovery of 20" in table.title
    longest = sorted(one["duration_ns"] for one in many.recovery["cuts"])[-12:]
    shown = sorted(row["recovery"].split(" (")[0] for row in _cells(table))
    assert shown == sorted(map(units.duration, longest))


def test_explain_tells_of_the_cuts(cut, small):
    told = str(fs.explain(cut))
    spans = [one["duration_ns"] for one in cut.recovery["cuts"]]
    assert f"cut 2 times, and recovery took {units.duration(sum(spans) / 2)} in the mean" in told
    assert f"{units.duration(sum(spans))} in all" in told
    assert "16 requests under way got no answer" in told
    assert "Audit: nothing lost" in told
    one = str(fs.explain(fs.run(_cut(small, AT[:1], audit=False))))
    assert "The power was cut at 40 ms" in one
    assert "8 requests under way" in one
    assert "Audit" not in one


def test_nothing_is_said_without_cuts(small):
    config = _cut(small, ())
    del config["run"]["power_cut"]
    for without in (config, small):
        result = fs.run(without)
        assert not rows.power_cuts(result).rows
        assert "power" not in str(fs.explain(result))
    assert result.recovery is None


def test_the_command_prints_the_table(flashscape, small, tmp_path):
    (tmp_path / "cut.json").write_text(json.dumps(_cut(small)))
    ended = flashscape("run", "cut.json", "--out", "out")
    assert ended.status == 0, ended.err
    assert "Power cuts (audit: nothing lost" in ended.out
    assert fs.Result.load(tmp_path / "out").recovery["lost_requests"] == 16


def test_the_picture_shades_the_time_until_the_drive_serves_again(cut, small):
    pytest.importorskip("matplotlib")
    from flashscape import picture

    def bands(result):
        _, course, *_ = picture.draw(result).axes
        names = [text.get_text() for text in course.get_legend().get_texts()]
        boxes = [patch.get_bbox() for patch in course.patches]
        return names, [(round(box.x0), round(box.x1)) for box in boxes]

    names, drawn = bands(cut)
    assert "power cut" in names
    spans = [one["duration_ns"] for one in cut.recovery["cuts"]]
    assert drawn == [(at, at + span) for at, span in zip(AT, spans, strict=True)]
    # No request was answered in these intervals.
    off = cut.series.filter(cut.series["begin_ns"] >= AT[0], cut.series["end_ns"] <= drawn[0][1])
    assert off["reads"].sum() == off["writes"].sum() == 0
    names, drawn = bands(fs.run(small))
    assert "power cut" not in names
    assert not drawn


def test_sweeps_have_the_sum_and_the_longest_recovery(small, tmp_path):
    cuts = [{"at": f"{at} ns"} for at in AT]
    variations = {
        "twice": {"run.power_cut": cuts},
        "once": {"run.power_cut": cuts[:1]},
        "none": {"run.time": "300 ms"},
    }
    base = _cut(small)
    del base["run"]["power_cut"]
    swept = fs.sweep(base, variations=variations, out=tmp_path / "sweep", jobs=1)
    points = swept.frame.unique("point", keep="first", maintain_order=True)
    for number, row in zip((1, 2), points.iter_rows(named=True), strict=False):
        spans = [cut["duration_ns"] for cut in swept.result(number).recovery["cuts"]]
        assert row["power_cuts"] == len(spans) == 3 - number
        assert (row["recovery_ns"], row["recovery_longest_ns"]) == (sum(spans), max(spans))
        assert row["lost_requests"] == 8 * len(spans)
    without = points.row(2, named=True)
    assert [without[name] for name in ("power_cuts", "recovery_ns", "lost_requests")] == [None] * 3


def test_means_over_seeds_count_runs_without_a_cut(small, tmp_path):
    """Random cuts may come after the end of a run."""
    base = _cut(small, ())
    base["run"] = {"requests": 3000, "power_cut": [{"within": "100 ms"}]}
    swept = fs.sweep(base, seeds=4, out=tmp_path / "sweep", jobs=1)
    points = swept.frame.filter(kind="read")
    cuts = points["power_cuts"].fill_null(0).to_list()
    assert set(cuts) == {0, 1}, "some have one and some have none"
    (mean,) = swept.over_seeds().filter(kind="read").iter_rows(named=True)
    assert mean["power_cuts"] == sum(cuts) / 4
    for name in ("recovery_ns", "lost_requests"):
        assert mean[name] == pytest.approx(sum(points[name].fill_null(0)) / 4), name
    without = base | {"run": {"requests": 300}}
    (mean,) = fs.sweep(without, seeds=2, jobs=1).over_seeds().filter(kind="read").to_dicts()
    assert mean["power_cuts"] is None


@pytest.mark.parametrize(("at_ms", "is_before"), [(100, True), (2000, False)])
def test_a_cut_before_figures_were_steady_is_named_and_no_longer_warm_up(small, at_ms, is_before):
    config = _cut(small, [at_ms * 1_000_000], time="3 s")
    config["record"] = {"interval": "2 ms"}
    # A drive that is filled but not aged has little GC at first.
    config["precondition"] = {"fill": "random"}
    result = fs.run(config)
    amplification = result.summary["steady_state"]["write_amplification"]
    assert amplification["reached"]
    assert (amplification["from_ns"] > at_ms * 1_000_000) == is_before
    (note,) = (
        note for note in result.summary["notes"] if "write amplification were steady" in note
    )
    told = f"the power was cut at {at_ms} ms in that time"
    assert (told in note) == is_before
    # The drive has its slowest requests before GC settles: no longer warm-up is advised.
    assert ("so a longer warm-up would hide" in note) != is_before
    assert "longer warm-up would leave" not in note
    assert note in fs.explain(result).sentences


def test_figures_that_a_cut_keeps_from_being_steady_say_so(cut, small):
    for figure, verdict in cut.steadiness():
        assert not verdict["reached"], figure
        assert verdict["reason"].endswith("(the power was cut at 40 ms and 200 ms in that time)")
    short = fs.run(_cut(small, AT[:1], time="41 ms", warm_up={"time": "39.9 ms"}))
    # The cut is no reason for too few requests.
    assert short.summary["steady_state"]["latency"]["reason"].startswith("no reads or writes")
    assert "cut" not in short.summary["steady_state"]["latency"]["reason"]
    # Requests cut within the warm-up are not counted anyway.
    config = _cut(small, AT[:1], warm_up={"time": "250 ms"})
    assert not any("cut" in str(v["reason"]) for _, v in fs.run(config).steadiness())


def test_a_comparison_tells_of_the_cuts_of_both_sides(small, flashscape, tmp_path):
    without = _cut(small, ())
    del without["run"]["power_cut"]
    compared = fs.compare(_cut(small), without)
    (contrast,) = compared.contrasts
    # The full queue depth of a closed loop was outstanding, twice.
    lost = "A lost 16 requests to power cuts, B none"
    assert contrast.verdict.startswith(f"No winner: {lost}; ")
    assert all(row.estimate is None for row in contrast.differences if row.initiator)
    assert contrast.sentences[0].startswith("A: The power was cut 2 times, and recovery took ")
    assert "16 requests under way got no answer" in contrast.sentences[0]
    assert contrast.sentences[1] == "B: The power was not cut."
    assert lost in [each.why for each in contrast.untested]
    assert not {"recovery_mean_ns", "recovery_pages"} & {r.figure for r in contrast.differences}
    sides = compared.to_dict()["sides"]
    assert [(side["power_cuts"], side["lost_requests"]) for side in sides] == [
        ([2], [16]),
        ([0], [0]),
    ]
    for name, config in (("a", _cut(small)), ("b", without)):
        (tmp_path / f"{name}.json").write_text(json.dumps(config))
    ended = flashscape("compare", "a.json", "b.json")
    assert f"No winner: {lost}" in ended.out
    assert "• B: The power was not cut." in ended.out


def test_recoveries_are_compared_where_both_sides_have_them(small):
    config = _cut(small)
    # The preset's collection: waves of collection would be compared, too.
    del config["drive"]["ftl"]["gc"]
    kept = copy.deepcopy(config)
    kept["drive"]["recovery"] = {"map": {"policy": "checkpoint", "every": "50 ms"}}
    compared = fs.compare(config, kept, seeds=3)
    (contrast,) = compared.contrasts
    assert not contrast.verdict.startswith("No winner: ")
    assert contrast.sentences[0].startswith("A, over 3 seeds: The power was cut 6 times, and ")
    found = {row.figure: row for row in contrast.differences}
    for which, side in (("baseline", compared.sides[0]), ("other", compared.sides[1])):
        cuts = [cut for run in side.results for cut in run.recovery["cuts"]]
        # Each run has equally many cuts, so the mean of means is that of all.
        assert len(cuts) == 6
        lasted = sum(cut["duration_ns"] for cut in cuts) / 6
        pages = sum(cut["pages_scanned"] + cut["checkpoint_pages"] for cut in cuts) / 6
        assert getattr(found["recovery_mean_ns"], which) == pytest.approx(lasted)
        assert getattr(found["recovery_pages"], which) == pytest.approx(pages)
    # Recovery reads only blocks that changed since the checkpoint.
    assert found["recovery_pages"].winner == found["recovery_mean_ns"].winner == "other"
    # Two recoveries of 80 ms each are 40 % of the run, which hosts lose.
    assert {row.winner for row in contrast.differences if row.figure == "iops"} == {"other"}
    assert compared.winner is compared.sides[1]
    # An unfinished recovery has no duration of its own.
    for run in compared.sides[1].results:
        run.recovery["cuts"][0]["interrupted"] = True
    one, other = (side.results[0] for side in compared.sides)
    one.log = other.log = None
    row = fs.compare(one, other).contrasts[0].difference("", "", "recovery_mean_ns")
    assert row.other == other.recovery["cuts"][1]["duration_ns"]
    other.recovery["cuts"][1]["interrupted"] = True
    with pytest.raises(KeyError):
        fs.compare(one, other).contrasts[0].difference("", "", "recovery_mean_ns")


def test_a_few_more_requests_lost_keep_nobody_from_winning(cut, small):
    other = fs.run(_cut(small))
    for more, is_kept in ((9, False), (10, True), (-8, True)):
        other.recovery["cuts"][0]["lost_requests"] = 8 + more
        other.recovery["cuts"][1]["lost_requests"] = 8 if more > 0 else 0
        (contrast,) = fs.compare(cut, other).contrasts
        assert (contrast.lost_apart is not None) is is_kept, more
    other.recovery["cuts"][0]["lost_requests"] = 5000
    (contrast,) = fs.compare(cut, other).contrasts
    assert contrast.lost_apart == "A lost 16 requests to power cuts, B 5,000 requests"


def test_a_volatile_buffer_takes_acknowledged_writes_along(cut, small):
    config = _cut(small)
    config["drive"]["buffer"]["durability"] = "volatile"
    for result, is_volatile in ((fs.run(config), True), (cut, False)):
        told = " ".join(outages.sentences(result))
        assert ("acknowledged writes that were only in it are lost" in told) is is_volatile
        assert ("saved by a capacitor" in told) is not is_volatile


def test_the_example_has_two_cuts_and_loses_nothing():
    result = fs.run(ROOT / "examples" / "power-cut.toml")
    assert result.recovery["cuts"][0]["at_ns"] == 300_000_000
    assert len(result.recovery["cuts"]) == 2
    assert outages.audited(result) is not None


def test_a_recovery_that_is_cut_off_has_no_parts_of_its_own():
    """The second cut comes during the first recovery, which begins anew with the saved data."""
    text = (ROOT / "examples" / "power-cut.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    table["run"]["power_cut"] = [{"at": "300 ms"}, {"at": "340 ms"}]
    result = fs.run(table)
    first, second = result.recovery["cuts"]
    assert (first["interrupted"], second["interrupted"]) == (True, False)
    told = " ".join(outages.sentences(result))
    assert f"{second['saved_units']} mapping units saved by a capacitor" in told
    parts = [outages.part_ns(second, key) for key in outages.PARTS]
    assert 0 < sum(parts) <= second["duration_ns"]
    assert [outages.part_ns(first, key) for key in outages.PARTS] == [0] * len(parts)
