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
    with pytest.raises(ValueError, match=r'no window "open" .valid: dtwin, ndwin'):
        drive.set_window("open")
    with pytest.raises(ValueError, match="nvm_set=2: the drive has 1 in all"):
        drive.set_window("dtwin", nvm_set=2)
    with pytest.raises(ValueError, match="numbered from 1"):
        drive.window(0)
    with pytest.raises(ValueError, match="give it a table"):
        fs.Drive("dc-tlc", precondition={"fill": "empty"}).window()


def test_a_host_is_warned_until_it_clears_the_events():
    """10 reads of 4 KiB in a window of 100 ms: warnings with 4 reads, and with 30 ms left."""
    limits = {"reads": 10, "reads_threshold": 4, "time_threshold": "30 ms"}
    windows = {**DRIVE["ftl"]["windows"], **limits}
    drive = fs.Drive({**DRIVE, "ftl": {**DRIVE["ftl"], "windows": windows}})
    assert drive.window()["pending"] == []
    assert drive.window()["warnings"] == {
        "reads": {"count": 0, "shortest_ns": None},
        "time": {"count": 0, "shortest_ns": None},
    }
    drive.set_window("dtwin")
    for read in range(6):
        drive.submit("read", offset=0, length=4_096, at_ns=(1 + read) * 10_000_000)
        drive.advance((1 + read) * 10_000_000 + 5_000_000)
        assert drive.window()["pending"] == (["reads_warning"] if read == 5 else [])
    drive.advance(69_999_999)
    assert drive.window()["pending"] == ["reads_warning"]
    drive.advance(70_000_000)
    both = ["reads_warning", "time_warning"]
    assert drive.window()["pending"] == both
    assert drive.window(clear=True)["pending"] == both
    assert drive.window()["pending"] == []
    drive.advance(100_000_001)
    told = drive.window(clear=True)
    assert (told["pending"], told["ends"]["time"]) == (["typical_or_maximum_exceeded"], 1)
    assert told["warnings"]["time"] == {"count": 1, "shortest_ns": 30_000_001}
    assert told["warnings"]["reads"] == {"count": 1, "shortest_ns": None}


def test_check_tells_what_a_trace_writes_in_windows(tmp_path, flashscape):
    rows = [f"{1_000 * ms},W,{4_096 * (ms % 900)},4096" for ms in range(2_000)]
    trace = tmp_path / "w.csv"
    trace.write_text("\n".join(["time_us,op,offset,length", *rows]) + "\n", encoding="utf-8")
    file = tmp_path / "w.toml"
    # A die with two blocks of 16 pages of 4 KiB between its thresholds, and 1,000 writes a second.
    file.write_text(
        '[drive]\npreset = "dc-tlc"\n[drive.geometry]\nchannels = 1\npackages_per_channel = 1\n'
        "dies_per_package = 1\nplanes_per_die = 1\nblocks_per_plane = 100\npages_per_block = 18\n"
        'page_size = "4 KiB"\n[drive.ftl]\nblock_planes = 1\n'
        'over_provisioning = { exported = "5 MiB" }\n'
        'gc = { foreground = "2 blocks", background = "4 blocks", stop = "6 blocks" }\n'
        'windows = { dtwin = "100 ms", ndwin_low = "1 ms", ndwin_high = "20 ms", '
        "writes_threshold = 12 }\n"
        '[precondition]\nfill = "sequential"\n'
        f'[[workload]]\nname = "w"\ntrace = {{ file = "{trace}" }}\n[run]\nwindows = {{}}\n',
        encoding="utf-8",
    )
    told = flashscape("check", str(file))
    assert told.status == 0, told.err
    # 101 writes lie in 100 ms, both ends included; 36 pages are 147 kB.
    line = (
        "  windows   in 100 ms (drive.ftl.windows.dtwin) it writes 0.4 MB in the mean and 0.4 MB "
        "at most, and 0.1 MB lie between"
    )
    assert line in told.out, told.out
    assert "DTWIN Writes Threshold 12" in " ".join(told.out.split())
    shorter = flashscape("check", str(file), "--set", "run.windows.dtwin=30 ms")
    assert "  windows   " not in shorter.out, shorter.out
