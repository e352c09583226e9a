"""Windows of predictable latency from the outside: results, and windows that are chosen by hand."""

from __future__ import annotations

import pytest

import flashscape as fs
from flashscape.report.rows import everything
from flashscape.report.sets import sets as of_sets
from flashscape.report.sets import windows as of_windows

DRIVE = {
    "preset": "dc-tlc",
    "geometry": {"blocks_per_plane": 40, "pages_per_block": 64},
    "ftl": {
        "over_provisioning": {"exported": "4 GB"},
        "gc": {"foreground": "2 blocks", "background": "4 blocks", "stop": "6 blocks"},
        "windows": {"dtwin": "100 ms", "ndwin_low": "1 ms", "ndwin_high": "20 ms"},
    },
}


def test_results_have_windows():
    writer = {
        "name": "mix",
        "reads": "90 %",
        "arrivals": {"process": "poisson", "rate": "20 kIOPS"},
        "stop": {"requests": 20_000},
    }
    result = fs.run({"drive": DRIVE, "workload": [writer], "run": {"windows": {}}})
    (found,) = result.summary["windows"]
    # A second of windows of 100 ms with 20 ms between them.
    assert (found["set"], found["begun"], found["ends"]["host"]) == (1, 9, 8)
    counted = sum(found["reads"][which]["count"] for which in ("dtwin", "other"))
    assert counted == result.summary["initiators"][0]["read"]["requests"]
    assert [event["at_ns"] for event in found["events"][:2]] == [100_000_000, 220_000_000]


def test_the_command_tells_of_windows_and_of_sets():
    half = {"name": "one", "nvm_set": 1, "reads": "90 %", "stop": {"requests": 2_000}}
    sets = {**DRIVE, "ftl": {**DRIVE["ftl"], "sets": {"channels": 2}}}
    result = fs.run({"drive": sets, "workload": [half], "run": {"windows": {}}})
    assert [row[0] for row in of_sets(result).rows] == ["NVM set 1", "NVM set 2"]
    first, second = of_windows(result).rows
    assert (first[0], first[3], second[4]) == ("NVM set 1", "none", "–")
    titles = [part.title for part in everything(result)]
    assert "Deterministic windows" in titles
    assert "NVM sets" in titles


def test_windows_are_chosen_by_hand():
    drive = fs.Drive(DRIVE)
    assert drive.window()["window"] == "ndwin"
    assert drive.window()["estimates"] is None
    drive.set_window("dtwin")
    drive.advance(1_000)
    before = drive.window()["estimates"]
    drive.submit("write", length=1 << 20)
    drive.advance(10_000_000)
    after = drive.window()["estimates"]
    # 1 MiB is 16 programs of four planes. The estimate is that of the bin with the least space,
    # times the number of bins: one bin for each of 32 dies.
    assert before["reads"] is None
    assert 16 <= before["writes"] - after["writes"] <= 32
    assert after["time_ns"] == 100_000_000 - 10_000_000
    drive.set_window("ndwin", at_ns=20_000_000)
    assert drive.window()["ends"]["host"] == 1


def test_wrong_windows_are_refused():
    drive = fs.Drive(DRIVE)
    with pytest.raises(ValueError, match="no window is called"):
        drive.set_window("open")
    with pytest.raises(ValueError, match="nvm_set=2: the drive has 1 in all"):
        drive.set_window("dtwin", nvm_set=2)
    with pytest.raises(ValueError, match="numbered from 1"):
        drive.window(0)
    with pytest.raises(ValueError, match="give it a table"):
        fs.Drive("dc-tlc", precondition={"fill": "empty"}).window()
