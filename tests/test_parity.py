"""Parity from the command line and from Python: what it costs, and what it cannot be beside."""

from __future__ import annotations

import polars as pl
import pytest

import flashscape as fs
from flashscape.report import rows

EIGHT = """
[drive]
preset = "dc-tlc"
geometry.channels = 8
geometry.packages_per_channel = 1
geometry.dies_per_package = 1
geometry.blocks_per_plane = 24
geometry.pages_per_block = 16
ftl.allocation.pool = "die"
ftl.parity = { width = 8 }
ftl.over_provisioning = { reserved = "50 %" }
ftl.gc.pacing = "proportional"
ftl.gc.background = "2 blocks"
ftl.gc.foreground = "2 blocks"
ftl.gc.stop = "3 blocks"
buffer.size = "64 KiB"
[[workload]]
name = "writer"
reads = "0 %"
size = "64 KiB"
addresses = "sequential"
queue_depth = 4
[run]
requests = 2000
audit = true
"""


@pytest.fixture
def eight():
    """Eight dies; a stripe has 7 strips of 64 KiB, which one program writes, and parity."""
    return fs.Experiment.from_toml(EIGHT)


def test_an_eighth_of_what_is_stored_is_parity(eight):
    capacity = eight.derived["capacity"]
    assert capacity["parity_bytes"] * 7 == pytest.approx(capacity["exported_bytes"], rel=0.01)
    assert capacity["reserved_of_physical"] == pytest.approx(0.5, abs=0.001)


def test_whole_stripes_cost_a_seventh(eight):
    """Data that is written in order fills stripes, in an untimed run and in one request."""
    untimed = eight.replace({"run.requests": 1400, "run.untimed": True, "run.audit": False})
    amplification = fs.run(untimed).summary["write_amplification"]
    assert amplification["parity"] == pytest.approx(1 / 7, rel=0.01)
    whole = eight.replace({"workload[0].size": "448 KiB", "run.requests": 200})
    result = fs.run(whole.replace({"drive.buffer.size": "448 KiB"}))
    assert result.summary["write_amplification"]["parity"] == pytest.approx(1 / 7, rel=0.02)
    assert result.summary["flash"]["programs"]["parity"]["commands"] > 0
    assert int(result.series["parity_units_programmed"].sum()) > 0


def test_single_pages_cost_as_much_again(eight):
    scattered = eight.replace({"workload[0].addresses": "uniform", "run.requests": 500})
    result = fs.run(scattered)
    assert result.summary["write_amplification"]["parity"] == pytest.approx(1.0, rel=0.1)
    assert result.summary["flash"]["reads"]["parity"]["commands"] > 0


def test_no_power_cut_beside_parity(eight):
    with pytest.raises(fs.ConfigError, match=r"drive\.ftl\.parity: recovery from a power cut"):
        eight.replace({"drive.recovery": {"map": "scan"}})


def test_a_snapshot_fits_drives_of_the_same_width(eight, tmp_path):
    file = tmp_path / "drive.snapshot"
    filled = {"precondition.fill": "sequential", "run.requests": 100}
    fs.run(eight.replace(filled), save_drive=file)
    four = eight.replace({"drive.ftl.parity.width": 4, "run.requests": 100})
    with pytest.raises(fs.ConfigError, match=r"drive\.ftl\.parity\.width"):
        fs.run(four, snapshot=file)
    assert fs.run(eight.replace({"run.requests": 100}), snapshot=file).summary["complete"]


def test_reads_round_collection_are_told_and_counted(eight):
    """Reads that go round wait less for collection than the same reads that wait."""
    mixed = eight.replace(
        {
            "workload[0].reads": "50 %",
            "workload[0].size": "16 KiB",
            "workload[0].addresses": "uniform",
            "precondition.fill": "sequential",
            "drive.ftl.gc.preemptible": False,
            "record.collection": True,
            "run.requests": 6000,
        }
    )
    ways = {
        "waits": {},
        "goes round": {
            "drive.scheduler.read_routing": {"policy": "reconstruct", "convert": "always"},
            "drive.scheduler.rotation": "rotating",
            "drive.ftl.parity.flush": "gc-tolerant",
            "drive.buffer.durability": "capacitor",
        },
    }
    results = {name: fs.run(mixed.replace(way)) for name, way in ways.items()}
    reads = {name: found.summary["initiators"][0]["read"] for name, found in results.items()}
    assert all(of["requests"] >= of["met"] > 0 for of in reads.values())
    assert reads["goes round"]["blocked"] < reads["waits"]["blocked"]
    assert results["waits"].summary["detours"]["computed_units"] == 0
    detours = results["goes round"].summary["detours"]
    assert detours["units_read_besides"] >= detours["computed_units"] > 0
    assert detours["held_data_units"] > 0
    assert detours["held_parity_units"] > 0
    for name, result in results.items():
        held = result.summary["collection"]["held"]
        assert result.units["held"].mean() == pytest.approx(held["mean"]), name
        of_reads = result.bands.filter(pl.col("kind") == "read")
        assert of_reads["met"].sum() == reads[name]["met"]
        assert of_reads["blocked"].sum() == reads[name]["blocked"]
    told = dict(rows.drive(results["goes round"]).rows)
    assert "% met it" in told["reads and collection"]
    assert told["units computed from their stripes"].startswith(f"{detours['computed_units']:,}, ")
    placed = told["units that stripes did not wait for"]
    assert placed.startswith(f"{detours['held_data_units']:,} of data, "), placed
    alone = fs.run(mixed.replace({"record.collection": False}))
    assert alone.summary["initiators"][0]["read"]["met"] is None
    assert "held" not in alone.units.columns


def test_failures_of_flash_are_told(eight):
    """A drive of one group has nowhere to rebuild: it stays degraded, and says so."""
    failing = eight.replace(
        {
            "workload[0].reads": "80 %",
            "workload[0].addresses": "uniform",
            "precondition.fill": "sequential",
            "drive.ftl.parity.rebuild": {"policy": "background"},
            "run.failures": [{"at": "1 ms", "die": 3}, {"at": "1 h", "die": 3}],
            "run.requests": 500,
        }
    )
    result = fs.run(failing)
    failures = result.summary["failures"]
    assert [one["what"] for one in failures["failures"]] == ["die 3"]
    assert failures["rebuild"]["lacks_room"]
    assert failures["lost_units"] == failures["failures"][0]["lost_units"] > 0
    assert failures["computed_units"] > 0
    told = dict(rows.failures(result).rows)
    assert told["die 3 failed"].startswith("at 1 ms, ")
    assert "then no flash had room" in told["rebuild"]
    notes = " ".join(result.summary["notes"])
    assert "the run ended after 1 of its 2 failures of flash" in notes
    assert "the drive stays degraded: since 1 ms" in notes
    alone = fs.run(eight.replace({"run.requests": 100}))
    assert alone.summary["failures"] is None
    assert not rows.failures(alone).rows


def test_failures_need_parity_and_a_rebuild(eight):
    with pytest.raises(fs.ConfigError, match=r"drive\.ftl\.parity\.rebuild: missing"):
        eight.replace({"run.failures": [{"at": "1 ms", "die": 3}]})
    both = {"drive.ftl.parity.rebuild": "none", "run.failures": [{"at": "1 ms", "plane": 99}]}
    with pytest.raises(fs.ConfigError, match=r"there is no plane 99; the last one is"):
        eight.replace(both)
