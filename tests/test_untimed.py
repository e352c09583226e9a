"""Runs without simulated time: wear and write amplification alone."""

from __future__ import annotations

import json
import math
import re

import polars as pl
import pytest

import flashscape as fs
from flashscape import units
from flashscape.report import rows
from flashscape.report import sweep as table
from places import ROOT

LIFE = {
    "drive": {
        "preset": "atc08",
        "geometry": {"blocks_per_plane": 32},
        "nand": {"endurance": 20},
        "ftl": {"over_provisioning": {"reserved": "30 %"}},
    },
    "precondition": {"fill": "sequential"},
    "workload": [{"name": "writer", "reads": "0 %", "size": "4 KiB"}],
    "run": {"untimed": True},
}


def test_a_drive_is_worn_out_in_an_untimed_run():
    result = fs.run(fs.Experiment.from_dict(LIFE))
    written = result.summary["worn_out_bytes"]
    wear = result.wear
    pages = 64 * 32 * 63
    # No block is programmed more often than it is erased plus once.
    assert written * result.write_amplification <= 21 * pages * 4096
    assert wear["erases"].max() <= 20
    assert result.summary["simulated_ns"] == 0
    assert result.groups() == []
    assert any("worn out after" in note for note in result.summary["notes"])
    told = fs.explain(result).sentences
    assert not any("steady" in sentence or "atency is" in sentence for sentence in told)
    # Each write and move programs a page once, and a summary follows 63 of them.
    amplification, cleaning, worn = told[-3:]
    assert amplification.startswith(f"Write amplification is {result.write_amplification:.2f}: ")
    # With m moves and e erased units, efficiency is 1 - m/e; gc counts moves per write.
    moved = result.summary["write_amplification"]["gc"] * written / 4096
    efficiency = 1 - moved / (result.summary["wear"]["erases"] * 63)
    assert f"Cleaning efficiency is {100 * efficiency:.1f} %" in cleaning
    good = wear.filter(wear["state"] != "bad")["erases"]
    assert f"{good.min()} to {good.max()} times each, {good.mean():.1f} in the mean" in worn
    assert f"{len(wear) - len(good)} blocks are bad" in worn


def test_what_is_said_of_it_has_no_latencies(flashscape, tmp_path):
    config = {**LIFE, "run": {"untimed": True, "requests": 1000}}
    path = tmp_path / "life.json"
    path.write_text(json.dumps(config))
    ended = flashscape("run", str(path), "--out", str(tmp_path / "out"))
    assert ended.status == 0
    assert "Latency" not in ended.out
    assert "IOPS" not in ended.out
    # 4 KiB each.
    assert re.search(r"writer +write +1,000 +4\.10 MB *\n", ended.out)
    assert re.search(r"worn out +no *\n", ended.out)
    assert "tail" not in ended.out
    assert "flash units busy" not in ended.out
    assert "took no time" in ended.out
    explained = flashscape("explain", str(tmp_path / "out"))
    assert explained.status == 0
    assert "steady" not in explained.out
    assert "0 ns simulated" not in explained.out


def test_a_kind_has_requests_and_bytes_and_no_latencies():
    result = fs.run({**LIFE, "run": {"untimed": True, "requests": 1000}})
    written = result.write
    assert written.requests == 1000
    assert (written.mean, written.min, written.max, written.p99_9) == (None,) * 4
    assert written.buckets == ()
    assert repr(written).startswith("<Latency of 1,000 requests: mean –")
    assert result.of_kind("write", "writer") == written
    assert result.read.requests == 0
    # An untimed run has no rate.
    assert {k: result.summary["initiators"][0][k]["iops"] for k in ("read", "write")} == {
        "read": None,
        "write": None,
    }
    assert result.summary["mean_outstanding"] is None
    assert result.summary["utilisation"] == {"units": None, "channels": None}
    with pytest.raises(ValueError, match="no initiator"):
        result.of_kind("write", "nobody")


def test_fio_has_no_fields_for_it(flashscape, tmp_path):
    (tmp_path / "life.json").write_text(json.dumps(LIFE))
    ended = flashscape("run", "life.json", "--fio-json", "fio.json", "--out", "out")
    assert ended.status == 1
    (line,) = ended.err.splitlines()
    assert "run.untimed" in line
    assert "--fio-json" in line
    assert not (tmp_path / "fio.json").exists()
    assert not (tmp_path / "out").exists()


def _figures(result):
    return dict(rows.drive(result).rows)


def test_when_it_was_worn_out_and_what_moved_is_told_in_words_of_people():
    config = json.loads(json.dumps(LIFE))
    config["workload"][0]["addresses"] = {
        "pattern": "hot-cold",
        "hot_space": "10 %",
        "hot_accesses": "95 %",
    }
    config["drive"]["ftl"]["wear"] = {"retirement_age": "85 %"}
    result = fs.run(config)
    told = _figures(result)
    written = result.summary["worn_out_bytes"]
    assert told["worn out"] == f"after {units.size(written)} had been asked for"
    migrations = result.summary["wear"]["migrations"]
    assert migrations > 0
    assert told["migrations"] == f"{units.many(migrations, 'worn block')} took others' data"
    assert f"to {units.many(migrations, 'worn block')}." in str(fs.explain(result))


def test_a_sweep_of_it_has_wear_and_no_rates(tmp_path):
    lives = {"drive.nand.endurance": [10, 20]}
    swept = fs.sweep(LIFE, grid=lives, out=tmp_path / "sweep", jobs=1)
    frame = swept.frame
    for name in ("iops", "mean_ns", "own_service_share", "unit_utilisation_mean", "recovery_ns"):
        assert frame[name].null_count() == 2, name
    assert frame["worn_out_bytes"].to_list() == [
        swept.result(number).summary["worn_out_bytes"] for number in (1, 2)
    ]
    # Twice the erases are about twice the life.
    short, long = frame["worn_out_bytes"]
    assert 1.8 < long / short < 2.3
    assert (frame["bytes"] <= frame["worn_out_bytes"]).all()
    assert frame["migrations"].to_list() == [0, 0]
    shown = table.table(swept)
    assert "IOPS" not in shown.head
    assert [row[-1] for row in shown.rows] == [units.size(short), units.size(long)]


def test_its_picture_has_no_empty_panel(tmp_path):
    pytest.importorskip("matplotlib")
    from flashscape.sweep import picture

    swept = fs.sweep(LIFE, grid={"drive.nand.endurance": [10, 20]}, out=tmp_path / "sweep", jobs=1)
    assert swept.draw() is None
    figure = picture.draw(swept.pictured())
    assert len(figure.axes) == 4
    drawn = {axes.get_title("left"): axes.lines[0].get_ydata().tolist() for axes in figure.axes}
    assert drawn["asked for until worn out"] == swept.frame["worn_out_bytes"].to_list()
    assert drawn["erases"] == swept.frame["erases"].to_list()


@pytest.fixture(scope="module")
def mixed_lives(tmp_path_factory):
    """With the second endurance, one seed's drive is worn out and the other's survives."""
    lives = [fs.run({**LIFE, "seed": seed}).summary["worn_out_bytes"] for seed in (1, 2)]
    requests = (max(lives) - 1) // 4096
    base = {**LIFE, "run": {"untimed": True, "requests": requests}}
    grid = {"drive.nand.endurance": [10, 20, 40]}
    out = tmp_path_factory.mktemp("lives") / "sweep"
    return fs.sweep(base, grid=grid, seeds=2, out=out, jobs=1), min(lives)


def test_there_is_no_mean_life_of_those_that_were_worn_out_alone(mixed_lives):
    swept, shortest = mixed_lives
    lives = swept.frame.filter(pl.col("drive.nand.endurance") == 20)["worn_out_bytes"]
    assert sorted(lives, key=lambda life: life or 0) == [None, shortest]
    means = swept.over_seeds()
    assert means["seeds"].to_list() == [2, 2, 2]
    assert means["worn_out_seeds"].to_list() == [2, 1, 0]
    ended = swept.frame.filter(pl.col("drive.nand.endurance") == 10)["worn_out_bytes"]
    assert means["worn_out_bytes"].to_list() == [ended.mean(), None, None]
    assert means["worn_out_bytes_ci95"].is_null().to_list() == [False, True, True]
    shown = [row[-1] for row in table.table(swept).rows]
    assert shown[0].startswith(units.size(ended.mean()))
    assert shown[1:] == ["– (1 of 2 seeds)", "–"]


def test_the_picture_of_lives_has_gaps_where_drives_survived(mixed_lives):
    pytest.importorskip("matplotlib")
    from flashscape.sweep import picture

    swept, _ = mixed_lives
    panels = {axes.get_title("left"): axes for axes in picture.draw(swept.pictured()).axes}
    (axes,) = (axes for title, axes in panels.items() if title.startswith("asked for until worn"))
    assert axes.get_title("left").endswith("(gaps: drives that survived)")
    drawn = axes.lines[0].get_ydata()
    assert [math.isnan(value) for value in drawn] == [False, True, True]


def test_lives_are_compared_by_what_they_cost_the_flash(tmp_path):
    other = fs.Experiment.from_dict(LIFE).replace({"drive.nand.endurance": 10})
    compared = fs.compare(fs.Experiment.from_dict(LIFE), other, seeds=3, out=tmp_path / "out")
    found = {row.figure: row for row in compared.contrasts[0].differences}
    assert set(found) == {
        *("write_amplification", "erases", "worn_out_bytes", "erase_count_stddev")
    }
    # Each figure is the mean of the runs' own summaries.
    for side, label in (("baseline", "A"), ("other", "B")):
        runs = [fs.Result.load(tmp_path / "out" / label / f"seed-{seed}") for seed in (1, 2, 3)]
        lives = [run.summary["worn_out_bytes"] for run in runs]
        assert getattr(found["worn_out_bytes"], side) == pytest.approx(sum(lives) / 3)
        spreads = [
            run.wear.filter(run.wear["state"] != "bad")["erases"].std(ddof=0) for run in runs
        ]
        assert getattr(found["erase_count_stddev"], side) == pytest.approx(sum(spreads) / 3)
    # Half the endurance is a significantly shorter life.
    assert found["worn_out_bytes"].winner == "baseline"
    assert compared.winner is None
    assert "untimed" in compared.contrasts[0].verdict
    assert any(
        told.startswith("Asked for until worn out: ") for told in compared.contrasts[0].sentences
    )


def test_a_life_is_not_compared_with_a_run_that_takes_time(flashscape, tmp_path):
    (tmp_path / "life.json").write_text(json.dumps(LIFE))
    ended = flashscape(
        "compare", "life.json", "--vary", "run.untimed=false", "--vary", "run.requests=9"
    )
    assert ended.status == 2
    assert "A takes no time (run.untimed) and B does" in ended.err
    ended = flashscape("compare", "life.json", "--vary", "drive.nand.endurance=10")
    assert ended.status == 0, ended.err
    assert "asked for until worn out" in ended.out


def _figures_of(contrast):
    return {row.figure: row for row in contrast.differences}


def test_fewer_erases_of_a_shorter_life_win_nothing():
    long = fs.Experiment.from_dict(LIFE)
    compared = fs.compare(long, long.replace({"drive.nand.endurance": 10}), seeds=3)
    (contrast,) = compared.contrasts
    found = _figures_of(contrast)
    # Half the endurance is about half the erases.
    assert found["erases"].other == pytest.approx(found["erases"].baseline / 2, rel=0.1)
    for figure in ("erases", "erase_count_stddev"):
        assert found[figure].winner is None
        assert found[figure].estimate is None
        assert found[figure].unjudged.startswith("a drive was worn out")
    assert found["write_amplification"].estimate is not None
    # Only judged figures are tested.
    assert compared.tests == 2
    assert contrast.verdict.startswith("A and B were worn out with every seed; no winner")
    (told,) = (told for told in contrast.sentences if told.startswith("Erases: "))
    assert told.endswith("; not judged, as a drive was worn out, so the runs are not equally long.")


def test_who_was_worn_out_and_who_survived_is_told(flashscape, tmp_path):
    life = fs.Experiment.from_dict(LIFE)
    # Requests of 4 KiB, on a drive of some 400 MB.
    short = life.replace({"run.requests": 1000})
    result = fs.run(life)
    worn = result.summary["worn_out_bytes"]
    compared = fs.compare(result, fs.run(short))
    (contrast,) = compared.contrasts
    assert contrast.verdict.startswith("A was worn out, B survived; no winner")
    assert contrast.sentences[-2:] == [
        f"A was worn out after {units.size(worn)} had been asked for.",
        "B survived the 4.10 MB asked for.",
    ]
    assert _figures_of(contrast)["erases"].unjudged is not None
    assert [side["worn_out_bytes"] for side in compared.to_dict()["sides"]] == [[worn], [None]]
    assert "unjudged" in compared.frame.columns
    (contrast,) = fs.compare(short, short.replace({"run.requests": 2000})).contrasts
    assert contrast.verdict.startswith("A and B survived; no winner")
    (tmp_path / "life.json").write_text(json.dumps(LIFE))
    ended = flashscape("compare", "life.json", "--vary", "run.requests=1000")
    assert "A was worn out, B survived" in ended.out
    assert "not judged" in ended.out


def test_of_several_seeds_some_may_survive():
    runs = [fs.run({**LIFE, "seed": seed}) for seed in (1, 2)]
    asked = sorted(run.summary["worn_out_bytes"] for run in runs)
    assert asked[0] < asked[1]
    # A limit between the lives of both drives.
    limit = {**LIFE, "run": {"untimed": True, "requests": (asked[1] - 1) // 4096}}
    compared = fs.compare(limit, {**limit, "run": {"untimed": True, "requests": 100}}, seeds=2)
    (contrast,) = compared.contrasts
    assert contrast.verdict.startswith(
        "A was worn out with 1 of 2 seeds, B survived with every seed; no winner"
    )
    assert contrast.sentences[-2] == (
        f"A was worn out with 1 of 2 seeds after {units.size(asked[0])} had been asked for, and "
        f"survived {units.size(limit['run']['requests'] * 4096)} with the others."
    )
    assert "worn_out_bytes" not in _figures_of(contrast)


def test_erases_are_judged_where_runs_wrote_as_much_to_within_an_erase():
    run = {"untimed": True, "requests": 1000}
    one, other = (fs.run({**LIFE, "run": run}) for _ in range(2))

    def unjudged(written, erases):
        other.summary["write_amplification"] |= {"host_bytes": written, "total": None}
        other.summary["wear"]["erases"] = erases
        (contrast,) = fs.compare(one, other).contrasts
        return _figures_of(contrast)["erases"].unjudged

    # With 10 erases, one erase is a tenth of the data written.
    assert unjudged(1000 * 4096, 10) is None
    assert unjudged(901 * 4096, 10) is None
    assert unjudged(900 * 4096, 10) == "the runs wrote different amounts"
    assert unjudged(0, 0) is None
    one.summary["write_amplification"] |= {"host_bytes": 0, "total": None}
    assert unjudged(0, 0) is None


def test_untimed_runs_that_are_alike_are_so_to_the_last_command():
    short = fs.Experiment.from_dict({**LIFE, "run": {"untimed": True, "requests": 1000}})
    (contrast,) = fs.compare(short, short.replace({"drive.nand.endurance": 10})).contrasts
    assert contrast.verdict == "A and B are the same run, to the last command."


def _arrivals(*sides):
    (contrast,) = fs.compare(*sides).contrasts
    return contrast.arrivals


def test_untimed_arrivals_have_no_moments():
    short = fs.Experiment.from_dict({**LIFE, "run": {"untimed": True, "requests": 1000}})
    # Both drives survive this; queue depth does not exist here.
    found = _arrivals(
        short, short.replace({"drive.nand.endurance": 10, "workload[0].queue_depth": 4})
    )
    assert (found.likeness, found.sentence) == (
        "commands",
        "The same 1,000 commands in the same order.",
    )
    # A shorter run is the beginning of a longer one, though digests differ.
    for other in (short.replace({"run.requests": 900}), short.replace({"run.requests": 999})):
        found = _arrivals(short, other)
        assert found.likeness == "commands"
        assert found.sentence.endswith("by the configurations, as far as both runs went.")
    # Requests with their own clock are no exception.
    clock = {"workload[0].arrivals": {"process": "poisson", "rate": "1 kIOPS"}}
    assert _arrivals(short.replace(clock), short.replace(clock)).likeness == "commands"
    found = _arrivals(short, short.replace({"seed": 2}))
    assert found.likeness == "different"
    other = _arrivals(
        short, short.replace({"drive.geometry.blocks_per_plane": 40, "run.requests": 900})
    )
    assert other.likeness == "unproven"
    for told in (found.sentence, other.sentence):
        assert not any(word in told for word in ("moment", "closed loop", "--requests"))


def test_the_example_comes_to_the_end_of_its_life():
    result = fs.run(ROOT / "examples" / "end-of-life.toml")
    assert result.summary["worn_out_bytes"] > 0
    assert result.summary["wear"]["migrations"] > 0


SHORT = {**LIFE, "run": {"untimed": True, "requests": 10}}


def unused(experiment) -> list[str]:
    """Return the notes on settings without effect."""
    return [note for note in fs.run(experiment).summary["notes"] if "does not use" in note]


def test_settings_that_have_no_effect_are_named():
    """Those that the user gave, and not those of the preset."""
    given = fs.Experiment.from_dict(
        {**SHORT, "workload": [{**LIFE["workload"][0], "queue_depth": 4}]}
    )
    assert unused(given.replace({"drive.link.rate": "1 GB/s"})) == [
        "an untimed run (run.untimed) does not use drive.link.rate, workload[0].queue_depth: they "
        "have no effect"
    ]
    assert unused(SHORT) == []


def test_a_long_note_counts_the_others():
    firmware = {f"drive.firmware.{key}": "1 us" for key in ("read", "write", "trim", "flush")}
    buffer = {"drive.buffer.size": "8 MiB", "drive.buffer.latency": "2 us"}
    link = {"drive.link.rate": "1 GB/s", "drive.link.duplex": "half"}
    more = {"workload[0].queue_depth": 3, "drive.buffer.read_hits": False}
    given = fs.Experiment.from_dict(SHORT).replace(firmware | buffer | link | more)
    [note] = unused(given)
    assert note.endswith("and 2 more settings: they have no effect")
    assert note.count(",") == 7


def test_settings_that_need_time_are_refused():
    for path, value in (("run.audit", True), ("drive.ftl.gc.idle_gap", "1 ms")):
        with pytest.raises(fs.ConfigError, match=f"{path}.*: an untimed run .* has none of this"):
            fs.Experiment.from_dict(LIFE).replace({path: value})
