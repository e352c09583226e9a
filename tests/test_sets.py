"""NVM sets from the outside: results, the command's words, and refusals."""

from __future__ import annotations

import pytest

import flashscape as fs
from flashscape.report.rows import part
from flashscape.report.sets import endurance

TWO = {
    "drive": {
        "preset": "dc-tlc",
        "geometry": {"blocks_per_plane": 40, "pages_per_block": 64},
        "ftl": {"over_provisioning": {"exported": "4 GB"}, "sets": {"channels": 4}},
    },
    "precondition": {"fill": "random"},
    "workload": [
        {
            "name": "reader",
            "nvm_set": 1,
            "reads": "100 %",
            "size": "4 KiB",
            "queue_depth": 1,
            "stop": {"requests": 2_000},
        },
        {
            "name": "writer",
            "nvm_set": 2,
            "reads": "0 %",
            "size": "16 KiB",
            "queue_depth": 16,
            "stop": {"requests": 4_000},
        },
    ],
}


def test_reads_do_not_notice_writes_to_another_set():
    result = fs.run(TWO)
    reads = result.summary["initiators"][0]["read"]["latency_ns"]
    # Sense, transfer of a mapping unit, decoding, and the link: the same for each read.
    assert reads["min"] == reads["max"]
    of_sets = result.summary["sets"]
    assert [of["set"] for of in of_sets] == [1, 2, 3, 4]
    assert [of["programmed_bytes"] > 0 for of in of_sets] == [False, True, False, False]
    alone = {**TWO, "workload": TWO["workload"][:1]}
    assert fs.run(alone).summary["sets"][0]["digest"] == of_sets[0]["digest"]


def test_a_drive_without_sets_has_none():
    drive = {**TWO["drive"], "ftl": {"over_provisioning": {"exported": "4 GB"}}}
    workloads = [{k: v for k, v in of.items() if k != "nvm_set"} for of in TWO["workload"]]
    result = fs.run({**TWO, "drive": drive, "workload": workloads})
    assert result.summary["sets"] is None
    reads = result.summary["initiators"][0]["read"]["latency_ns"]
    assert reads["max"] > 2 * reads["min"]


def test_a_workload_names_a_set_that_is_there():
    wrong = {**TWO, "workload": [{**TWO["workload"][0], "nvm_set": 5}]}
    with pytest.raises(
        fs.ConfigError, match=r"workload\[0\].nvm_set: 5 is none of the sets 1 to 4"
    ):
        fs.run(wrong)


def test_the_part_of_a_tenant():
    assert part({}) == "the whole"
    assert part({"nvm_set": 2}) == "NVM set 2"
    region = {"offset": "1 GB", "size": "2 GB"}
    assert part({"nvm_set": 2, "region": region}) == "NVM set 2, 1 GB to 3 GB"
    assert part({"region": region}) == "1 GB to 3 GB"


def test_requests_by_hand_lie_in_one_set():
    drive = fs.Drive(TWO["drive"])
    part = drive.capacity_bytes // 4
    with pytest.raises(ValueError, match="lies in two NVM sets; the first of them ends at"):
        drive.submit("write", offset=part - 4096, length=8192)
    with pytest.raises(ValueError, match="lies beyond the drive"):
        drive.submit("flush", offset=drive.capacity_bytes)
    written = drive.submit("write", offset=part, length=4096)
    flushed = drive.submit("flush", offset=part)
    done = [done.id for done in drive.advance(10**9)]
    assert sorted(done) == sorted([written, flushed])


def test_check_lists_sets_and_windows(tmp_path, flashscape):
    file = tmp_path / "sets.toml"
    file.write_text(
        '[drive]\npreset = "dc-tlc"\n[drive.geometry]\nblocks_per_plane = 40\n'
        "pages_per_block = 64\n[drive.ftl]\nsets = { channels = 4, endurance_groups = 2 }\n"
        'windows = { dtwin = "100 ms", ndwin_low = "1 ms", ndwin_high = "20 ms" }\n'
        '[drive.ftl.over_provisioning]\nexported = "4 GB"\n'
        '[[workload]]\nname = "one"\nnvm_set = 1\nreads = "50 %"\n'
        "[run]\nrequests = 10\nwindows = {}\n"
    )
    told = flashscape("check", str(file))
    assert told.status == 0, told.err
    words = " ".join(told.out.split())
    for row in ("endurance groups 2 of 2 sets", "DTWIN Time Maximum 100 ms", "20 ms apart"):
        assert row in words, row
    figures = fs.Experiment.from_file(file).derived
    sets, all_of = figures["sets"], figures["organisation"]
    assert (sets["count"], len(sets["each"])) == (4, 4)
    assert sum(each["bins"] for each in sets["each"]) == all_of["bins"]
    # 4 GB in units of 4 KiB, the same in each set.
    exported = 4_000_000_000 // 4096 // 4 * 4096
    assert [each["exported_bytes"] for each in sets["each"]] == [exported] * 4
    spare = figures["capacity"]["physical_bytes"] // 4 - exported
    assert [each["spare_bytes"] for each in sets["each"]] == [spare] * 4
    windows = figures["windows"]
    assert windows["dtwin_time_maximum_ns"] == 100_000_000
    assert windows["ndwin_time_minimum_low_ns"] == 1_000_000
    assert windows["host"] == {"dtwin_ns": 10**8, "ndwin_ns": 2 * 10**7, "order": "together"}


def test_endurance_groups_add_up_to_the_drive():
    ftl = {**TWO["drive"]["ftl"], "sets": {"channels": 4, "endurance_groups": 2}}
    rated = {**TWO["drive"], "ftl": ftl, "nand": {"endurance": 1000}}
    result = fs.run({**TWO, "drive": rated})
    groups = result.summary["endurance_groups"]
    assert [of["sets"] for of in groups] == [[1, 2], [3, 4]]
    of_sets = result.summary["sets"]
    assert groups[0]["programmed_bytes"] == of_sets[1]["programmed_bytes"] > 0
    assert groups[1]["host_bytes_programmed"] == 0
    wear = result.summary["wear"]
    assert sum(of["erases"] for of in groups) == wear["erases"]
    means = [of["erase_count"]["mean"] for of in groups]
    assert sum(means) / 2 == pytest.approx(wear["erase_count"]["mean"])
    assert [of["percentage_used"] for of in groups] == pytest.approx([mean / 10 for mean in means])
    assert [of["available_spare"] for of in groups] == [100, 100]
    assert [row[:2] for row in endurance(result).rows] == [("1", "1, 2"), ("2", "3, 4")]


def test_a_comparison_has_the_write_amplification_of_each_set():
    """Of the set that hosts only read there is none."""
    other = TWO | {"seed": 7}
    one, two = fs.run(TWO), fs.run(other)
    (contrast,) = fs.compare(one, two).contrasts
    row = contrast.difference("", "set 2", "write_amplification")
    values = [run.summary["sets"][1]["write_amplification"] for run in (one, two)]
    assert [row.baseline, row.other] == values
    with pytest.raises(KeyError):
        contrast.difference("", "set 1", "write_amplification")
    assert contrast.difference("", "set 1", "erases").baseline == 0
    assert [f"set.{at}.erases" for at in (1, 2, 3, 4)] == [
        name
        for found in contrast.untested
        for name in found.names
        if name.startswith("set.") and name.endswith(".erases")
    ]
