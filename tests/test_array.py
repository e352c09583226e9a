"""Several drives in one run from the outside: results, the command's words, and refusals."""

from __future__ import annotations

import copy

import polars as pl
import pytest

import flashscape as fs
from flashscape.report import contrast as contrasts
from flashscape.sweep.effort import effort

PING_PONG = {
    "policy": "ping-pong",
    "period": "20 ms",
    "cache": {"size": "64 MiB", "latency": "1 us"},
    "settle": "5 ms",
}

TWO = {
    "drive": {
        "preset": "dc-tlc",
        "geometry": {"blocks_per_plane": 40, "pages_per_block": 64},
        "ftl": {"over_provisioning": {"exported": "4 GB"}},
        "buffer": {"durability": "none"},
    },
    "array": {"drives": 2, "plan": PING_PONG},
    "precondition": {"fill": "random"},
    "workload": [
        {
            "name": "reader",
            "reads": "100 %",
            "size": "4 KiB",
            "queue_depth": 1,
            "stop": {"time": "200 ms"},
        },
        {
            "name": "writer",
            "reads": "0 %",
            "size": "16 KiB",
            "arrivals": {"process": "poisson", "rate": "2 kIOPS"},
            "stop": {"time": "200 ms"},
        },
    ],
}


@pytest.fixture(scope="module")
def result() -> fs.Result:
    return fs.run(TWO)


def test_the_results_of_two_drives(result):
    array = result.summary["array"]
    writes = result.summary["initiators"][1]["write"]
    of_hosts = [drive["work"]["host_bytes_programmed"] for drive in array["drives"]]
    assert of_hosts == [writes["bytes"]] * 2
    assert array["plan"]["swaps"] >= 10
    assert array["plan"]["kept_writes"] == writes["requests"]
    assert writes["latency_ns"]["max"] == 1000
    assert writes["blame_ns"] == {"host_cache": 1000 * writes["requests"]}
    assert [member["drive"] for member in array["members"]] == [0, 1]
    assert array["drives"][0]["digest"] != array["drives"][1]["digest"]
    amplification = result.summary["write_amplification"]["host"]
    assert amplification == 2


def test_tables_have_all_drives(result):
    wear = result.frame("wear")
    assert wear["drive"].unique().sort().to_list() == [0, 1]
    counts = wear.group_by("drive").len()["len"].to_list()
    assert counts[0] == counts[1]
    one = copy.deepcopy(TWO)
    del one["array"]
    alone = fs.run({**one, "workload": one["workload"][:1]})
    assert alone.summary["array"] is None
    assert "drive" not in alone.frame("wear").columns
    assert result.frame("units").height == 2 * alone.frame("units").height


def test_results_are_kept_and_explained(result, tmp_path, flashscape):
    result.save(tmp_path / "out")
    loaded = fs.Result.load(tmp_path / "out")
    assert loaded.digest == result.digest
    assert isinstance(loaded.frame("wear"), pl.DataFrame)
    ended = flashscape("explain", str(tmp_path / "out"))
    assert ended.status == 0, ended.err
    assert "the array programs each write 2 times" in " ".join(ended.out.split())


def test_the_command_prints_members_and_plan(tmp_path, flashscape):
    file = tmp_path / "two.toml"
    plan = '{ policy = "rails", period = "10 ms", cache = { size = "64 MiB", latency = "1 us" } }'
    file.write_text(
        f"array = {{ drives = 2, plan = {plan} }}\n"
        '[drive]\npreset = "dc-tlc"\n[drive.geometry]\nblocks_per_plane = 40\n'
        'pages_per_block = 64\n[drive.ftl.over_provisioning]\nexported = "4 GB"\n'
        '[[workload]]\nname = "load"\nreads = "50 %"\n[run]\nrequests = 2000\n'
    )
    ended = flashscape("run", str(file))
    assert ended.status == 0, ended.err
    for words in ("Host's plan", "rails", "Members of the array", "drive 1", "Drives together"):
        assert words in ended.out, words
    checked = flashscape("check", str(file))
    assert checked.status == 0, checked.err
    assert "drives, each as below" in checked.out
    assert "members" in checked.out


def test_members_hold_parity_over_each_other():
    plan = {**PING_PONG, "policy": "rotation", "chunk": "64 KiB"}
    result = fs.run({**TWO, "array": {"drives": 3, "plan": plan}})
    counts = result.summary["array"]["plan"]
    assert counts["parts_rebuilt"] > 100
    assert result.copies == 2
    assert result.summary["write_amplification"]["host"] == pytest.approx(2, abs=0.05)
    derived = fs.Experiment.from_dict({**TWO, "array": {"drives": 3, "plan": plan}}).derived
    exported = derived["capacity"]["exported_bytes"]
    assert 2 * exported - 2 * 65536 < derived["array"]["exported_bytes"] <= 2 * exported


LEVELING = {
    "policy": "leveling",
    "chunk": "4 MiB",
    "gap": "40 MiB",
    "copies": "50 %",
    "depth": 2,
}


def test_wear_is_leveled_from_set_to_set(tmp_path, flashscape):
    drive = {**TWO["drive"], "ftl": {**TWO["drive"]["ftl"], "sets": {"channels": 2}}}
    array = {"drives": 1, "plan": LEVELING}
    config = {**TWO, "drive": drive, "array": array, "run": {"time": "1 s"}}
    derived = fs.Experiment.from_dict(config).derived["array"]["leveling"]
    of_set = 4_000_000_000 // 2 // (4 << 20)
    assert (derived["chunks"], derived["chunks_of_member"]) == (2 * of_set, of_set)
    assert derived["gap_in_overwrites"] == pytest.approx(10 / of_set)
    assert derived["copied_bytes_of_exchange"] == 8 << 20
    assert derived["host_bytes_between_exchanges"] == 16 << 20
    # A place of 8 bytes, a chunk of 4 and a count of 8 for each; two sides of two pieces.
    assert derived["host_memory_bytes"] == 2 * of_set * 20 + 2 * 2 * (128 << 10)
    hot = {
        "name": "hot",
        "reads": "0 %",
        "size": "64 KiB",
        "queue_depth": 8,
        # Four chunks of the first set.
        "region": {"size": "16 MiB"},
    }
    result = fs.run({**config, "workload": [hot]})
    counts = result.summary["array"]["plan"]["leveling"]
    hosts, copied = counts["host_bytes"], counts["copied_bytes"]
    assert hosts == result.summary["initiators"][0]["write"]["bytes"]
    assert copied == counts["exchanges"] * (8 << 20)
    assert 0 < copied <= hosts / 2
    sent = [of["host_bytes"] + of["copied_bytes"] for of in counts["members"]]
    assert abs(sent[0] - sent[1]) <= (40 << 20) + 2 * (4 << 20)
    assert result.copies == 1
    result.save(tmp_path / "out")
    told = flashscape("explain", str(tmp_path / "out"))
    assert "host includes what the plan copied" in " ".join(told.out.split())


def test_sweeps_run_arrays():
    small = {**TWO, "workload": TWO["workload"][:1], "run": {"requests": 200}}
    swept = fs.sweep(small, grid={"array.drives": [2]}, jobs=1)
    assert [point["status"] for point in swept] == ["done"]


def test_what_is_for_one_drive_refuses_an_array(tmp_path):
    for call in (
        lambda: fs.Drive(fs.Experiment.from_dict(TWO)),
        lambda: fs.Snapshot.take(TWO),
        lambda: fs.run(TWO, save_drive=tmp_path / "drive"),
        lambda: fs.lifetime(TWO, endurance=1000),
    ):
        with pytest.raises(fs.ConfigError, match=r"array: .*; leave .*array"):
            call()


def test_an_array_takes_the_effort_of_its_drives():
    def of(drives):
        array = {"drives": drives, "plan": {"policy": "mirror"}}
        experiment = fs.Experiment.from_dict({**TWO, "array": array})
        return effort(experiment.config, experiment.derived)

    one, four = of(1), of(4)
    assert four.preparing == 4 * one.preparing
    assert four.keeping == 4 * one.keeping


def test_a_comparison_has_the_write_amplification_of_each_drive(tmp_path):
    """Means over two seeds of bytes programmed per byte of hosts, for each drive and in all."""
    # Aged drives collect from the first write on.
    aged = TWO | {"precondition": {"fill": "random", "age": {"overwrites": 1}}}
    other = copy.deepcopy(aged)
    other["workload"][1]["size"] = "4 KiB"
    compared = fs.compare(aged, other, seeds=2, out=tmp_path / "out")
    (contrast,) = compared.contrasts
    for number in (0, 1):
        row = contrast.difference("", f"drive {number}", "write_amplification")
        for side, value in zip(compared.sides, (row.baseline, row.other), strict=True):
            work = [run.summary["array"]["drives"][number]["work"] for run in side.results]
            each = [of["programmed_bytes"] / of["host_bytes_programmed"] for of in work]
            assert value == pytest.approx(sum(each) / 2)
        row = contrast.difference("", f"drive {number}", "erases")
        erases = [
            run.summary["array"]["drives"][number]["work"]["erases"]
            for run in compared.sides[0].results
        ]
        assert row.baseline == sum(erases) / 2 > 0
        # The sides write different amounts.
        assert row.unjudged == "the runs wrote different amounts"
    names = [row[:3] for row in contrasts.differences(contrast).rows]
    assert ("drive 1", "", "write amplification") in names
    assert any(s.startswith("Write amplification of drive 0: ") for s in contrast.sentences)
    figures = ["drive.0.write_amplification", "drive.write_amplification"]
    (chosen,) = fs.compare(aged, other, seeds=2, figures=figures, out=tmp_path / "out").contrasts
    counted = [(row.kind, row.figure) for row in chosen.differences if row.counts]
    assert counted == [("", "write_amplification"), ("drive 0", "write_amplification")]
    with pytest.raises(fs.ConfigError, match="there is no such figure"):
        fs.compare(aged, other, figures=["drive.0.read"])
