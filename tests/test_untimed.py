"""Runs without simulated time: wear and write amplification alone."""

from __future__ import annotations

import json
import re

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


def test_a_drive_is_worn_out_without_time():
    result = fs.run(fs.Experiment.from_dict(LIFE))
    written = result.summary["worn_out_bytes"]
    wear = result.wear
    pages = 64 * 32 * 63
    # No block is programmed more often than it is erased, and once more.
    assert written * result.write_amplification <= 21 * pages * 4096
    assert wear["erases"].max() <= 20
    assert result.summary["simulated_ns"] == 0
    assert result.groups() == []
    assert any("worn out after" in note for note in result.summary["notes"])
    told = fs.explain(result).sentences
    assert not any("steady" in sentence or "atency is" in sentence for sentence in told)
    # Each write and move programs a page once, and so does a summary of 63 of them.
    amplification, cleaning, worn = told[-3:]
    assert amplification.startswith(f"Write amplification is {result.write_amplification:.2f}: ")
    # With moves m of erased units e, efficiency is 1 - m/e; a move for each of gc.
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
    assert re.search(r"writer +write +1,000 +4\.10 MB +0\n", ended.out)
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
    # A rate of no time would be a claim.
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
    figure = picture._draw(swept, picture._plan(swept))
    assert len(figure.axes) == 4
    drawn = {axes.get_title(): axes.lines[0].get_ydata().tolist() for axes in figure.axes}
    assert drawn["asked for until worn out"] == swept.frame["worn_out_bytes"].to_list()
    assert drawn["erases"] == swept.frame["erases"].to_list()


def test_lives_are_compared_by_what_they_cost_the_flash(tmp_path):
    other = fs.Experiment.from_dict(LIFE).replace({"drive.nand.endurance": 10})
    compared = fs.compare(fs.Experiment.from_dict(LIFE), other, seeds=3, out=tmp_path / "out")
    found = {row.figure: row for row in compared.contrasts[0].differences}
    assert set(found) == {
        *("write_amplification", "erases", "worn_out_bytes", "erase_count_stddev")
    }
    # Each figure is the mean of what the runs' own summaries have.
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
    assert "without time" in compared.contrasts[0].verdict
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


def test_the_example_comes_to_the_end_of_its_life():
    result = fs.run(ROOT / "examples" / "end-of-life.toml")
    assert result.summary["worn_out_bytes"] > 0
    assert result.summary["wear"]["migrations"] > 0
