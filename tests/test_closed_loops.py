"""Closed loops that stand still: what is said of them, and what an open loop sees."""

from __future__ import annotations

import copy
import re
import shlex

import pytest

import flashscape as fs

ERASE_MS = 6
"""Five steps, each with verification."""


@pytest.fixture(scope="module")
def slice_of_four(small) -> fs.Experiment:
    """Reads on four dies, of which scrubbing erases blocks of few pages in turn, each for 6 ms."""
    config = copy.deepcopy(small)
    drive = config["drive"]
    drive["geometry"] |= {"channels": 4, "pages_per_block": 3, "blocks_per_plane": 256}
    drive["ftl"]["over_provisioning"] = {"exported": "100 MiB"}
    drive["ftl"]["scrub"] = {"interval": "25 ms", "choice": "oldest"}
    drive["nand"] = {"erase": {"execute": "1 ms"}}
    config["precondition"] = {"fill": "sequential"}
    config["workload"] = [{"name": "reader", "reads": "100 %", "queue_depth": 8}]
    config["run"] = {"time": "6 s"}
    return fs.Experiment.of(config)


@pytest.fixture(scope="module")
def closed(slice_of_four) -> fs.Result:
    return fs.run(slice_of_four)


def test_a_queue_that_stood_behind_an_erase_is_told(closed):
    (figures,) = closed.closed_loops.values()
    assert figures["queue_depth"] == 8
    # An erase in each 25 ms, during which all 8 requests soon wait for the same die.
    share = ERASE_MS / 25
    assert figures["erases"]["time_share"] == pytest.approx(share / 4, rel=0.1)
    assert figures["erases"]["read_share"] < figures["erases"]["time_share"] / 5
    behind = figures["behind_one_unit"]
    assert 0.8 * share < behind["share"] < share
    assert behind["longest_ns"] < ERASE_MS * 1e6
    # The share of each cause is rounded down.
    assert behind["ns"] == pytest.approx(sum(behind["waits_ns"].values()), rel=1e-3)
    assert figures["standstills"]["ns"] >= behind["ns"]
    told = str(fs.explain(closed))
    assert "all 8 requests of its queue waited behind one flash unit, for erases" in told
    assert "behind one flash unit" in str(fs.tables(closed))


def test_the_open_loop_that_is_proposed_sees_what_is_foretold(closed, slice_of_four):
    (note,) = (note for note in closed.summary["notes"] if "closed loop" in note)
    option = re.search(r"try (--set '[^']*')", note)
    assert option, note
    key, value = shlex.split(option[1])[1].split("=", 1)
    assert key == "workload[0].arrivals"
    rate = re.search(r'rate="(\d+) IOPS"', value)
    assert rate, value
    assert float(rate[1]) == pytest.approx(0.9 * closed.read.requests / 6, rel=0.1)
    arrivals = {"process": "poisson", "rate": f"{rate[1]} IOPS"}
    open_loop = fs.run(slice_of_four.replace({key: arrivals}))
    assert open_loop.closed_loops == {}
    assert not any("closed loop" in note for note in open_loop.summary["notes"])
    foretold = closed.closed_loops["reader"]["corrected_ns"]["p99"]
    seen = open_loop.read.p99
    assert foretold == pytest.approx(seen, rel=0.25)
    assert abs(foretold - seen) < abs(closed.read.p99 - seen)


def test_one_request_at_a_time_is_told_of_too(slice_of_four):
    result = fs.run(slice_of_four.replace({"workload[0].queue_depth": 1}))
    assert result.closed_loops["reader"]["behind_one_unit"]["share"] > 0.1
    assert "its only request waited behind one flash unit" in str(fs.explain(result))


def test_a_drive_that_erases_nothing_has_nothing_to_tell(slice_of_four):
    result = fs.run(slice_of_four.replace({"drive.ftl.scrub": {"interval": "100 s"}}))
    figures = result.closed_loops["reader"]
    assert figures["behind_one_unit"]["count"] == 0
    assert figures["corrected_ns"] is None
    assert not any("closed loop" in note for note in result.summary["notes"])
    assert "stood" not in str(fs.explain(result))
