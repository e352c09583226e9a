"""Runs without simulated time: wear and write amplification alone."""

from __future__ import annotations

import json

import pytest

import flashscape as fs

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
