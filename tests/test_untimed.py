"""Runs without simulated time: wear and write amplification alone."""

from __future__ import annotations

import json

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
    assert "Write amplification is" in str(fs.explain(result))


def test_what_is_said_of_it_has_no_latencies(flashscape, tmp_path):
    config = {**LIFE, "run": {"untimed": True, "requests": 1000}}
    path = tmp_path / "life.json"
    path.write_text(json.dumps(config))
    ended = flashscape("run", str(path), "--out", str(tmp_path / "out"))
    assert ended.status == 0
    assert "Latency" not in ended.out
    assert "flash units busy" not in ended.out
    assert "took no time" in ended.out
    assert flashscape("explain", str(tmp_path / "out")).status == 0
