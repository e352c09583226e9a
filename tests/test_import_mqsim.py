"""Import from MQSim: values computed from the numbers in the XML, verdicts, faults."""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from pathlib import Path
from statistics import NormalDist

import pytest

import flashscape as fs
from flashscape.mqsim import Verdict, known
from flashscape.mqsim.buffer import dram_ns
from flashscape.mqsim.workload import part_of, sizes
from mqsim_files import (
    DRIVE,
    EXPORTED,
    FLOW,
    PAGE,
    PLANES,
    SYNTHETIC,
    TRACE,
    TRACED,
    Files,
    drive_xml,
    flow_xml,
    key,
    said,
    size,
)
from places import ROOT


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_the_drive_is_that_of_the_file(files: Files):
    config = files.config_of()
    drive = config["drive"]
    geometry = drive["geometry"]
    assert [geometry[key] for key in ("channels", "packages_per_channel", "dies_per_package")] == [
        2,
        2,
        1,
    ]
    assert [geometry[key] for key in ("planes_per_die", "blocks_per_plane", "pages_per_block")] == [
        2,
        80,
        16,
    ]
    assert (geometry["page_size"], geometry["page_spare"]) == ("8 KiB", "0 B")
    # Includes 20 ns until ready/busy.
    assert drive["nand"]["read"] == ["40.02 us", "60.02 us"]
    assert drive["nand"]["program"] == ["500 us"]
    assert drive["nand"]["erase"]["execute"] == "3 ms"
    # ONFI: 20 + 6 * 25 + 100 + 20; 20 + 150 + 70 + 6 + 15 + 100; 20 + 100 + 100.
    cycles = {"read": "290 ns", "program": "361 ns", "erase": "220 ns"}
    assert drive["nand"]["command_cycles"] == cycles
    assert drive["scheduler"]["channel"] == {"policy": "data-first", "strict": True}
    # 1000 / 400 ns is cut to 2 ns a byte.
    assert drive["nand"]["channel"] == "500 MB/s"
    assert drive["ftl"]["over_provisioning"]["reserved"] == "25 %"
    assert drive["ftl"]["allocation"]["order"] == "PWCD"
    # 0.2 of 80 blocks are 16: GC begins below. Foreground GC begins below 10, MQSim's least.
    assert [drive["ftl"]["gc"][name] for name in ("background", "stop", "foreground")] == [
        "15 blocks",
        "15 blocks",
        "9 blocks",
    ]
    assert drive["ftl"]["gc"]["victim"] == {
        "policy": "d-choices",
        "choices": int(math.log2(80)),
        "among": "all",
    }
    # 4 lanes of 0.5 B/ns, of which 128 in 156 carry data.
    assert drive["link"]["rate"] == f"{round(4 * 0.5e9 * 128 / 156)} B/s"
    assert config["record"]["interval"] == "2 ms"
    assert config["seed"] == 77


def test_an_unloaded_read_takes_what_the_numbers_say(files: Files):
    """All pages are alike and one request is outstanding: every read takes the same time."""
    latency = {"Page_Read_Latency_MSB": "40000"}
    imported = files.write(**latency).imported()
    result = fs.run(imported.experiment)
    # Messages of 30, 32, 100 and 44 B in quarters at 0.5 B/ns; the data in packets of 128 + 28 B.
    link = sum(int(math.ceil(size / 4) / 0.5) for size in (30, 32, 100, 44))
    data = PAGE // 128 * 156 / 4 / 0.5
    expected = link + 310 + 40_000 + PAGE * 2 + data
    assert result.read.requests == 500
    assert result.read.max == pytest.approx(expected, abs=2)
    assert result.read.mean == pytest.approx(expected, abs=2)


def test_buffered_writes_take_link_and_dram(files: Files):
    imported = files.write(flow_xml(Read_Percentage="0", Total_Requests_To_Generate="5")).imported()
    result = fs.run(imported.experiment)
    link = sum(int(math.ceil(size / 4) / 0.5) for size in (30, 32, 100, 44, 32))
    data = PAGE // 128 * 156 / 4 / 0.5
    # tRCD + tCL, then bursts of 4 B, two in 1.25 ns: 8192 B are one row.
    dram = 13 + 13 + int(PAGE // 4 // 2 * 1.25)
    assert result.write.max == pytest.approx(link + data + dram, abs=2)


def test_dram_of_several_rows(files: Files):
    device = _Numbers(Row_Size=1024, Data_Rate=100, Data_Busrt_Size=1, tRCD=5, tCL=7, tRP=11)
    assert dram_ns(device, 1024) == 12 + 512 * 10
    # Activations of two rows count once, and the remainder counts in bytes per burst.
    assert dram_ns(device, 4096 + 100) == 12 + (512 * 10 + 11) * 2 + 12 + 100 // 10


class _Numbers:
    def __init__(self, **numbers: int) -> None:
        self._numbers = numbers

    def whole(self, name: str) -> int:
        return self._numbers[name.removeprefix("Data_Cache_DRAM_")]


def test_the_cache_is_what_may_be_on_its_way(files: Files):
    writes = flow_xml(Read_Percentage="0")
    assert files.config_of(writes)["drive"]["buffer"]["size"] == f"{PLANES * PAGE // 1024} KiB"
    half = flow_xml(Read_Percentage="0", Average_Request_Size="8")
    assert files.config_of(half)["drive"]["buffer"]["size"] == f"{2 * PLANES * PAGE // 1024} KiB"
    small = files.config_of(writes, Data_Cache_Capacity="20000")
    assert small["drive"]["buffer"]["size"] == "16 KiB"
    off = flow_xml(Read_Percentage="0", Device_Level_Data_Caching_Mode="TURNED_OFF")
    assert files.config_of(off)["drive"]["buffer"]["durability"] == "none"


@pytest.mark.parametrize(
    ("rate", "width", "channel"),
    [(333, 1, "333333333 B/s"), (200, 2, "400 MB/s"), (800, 1, "1 GB/s"), (1600, 2, "3200 MB/s")],
)
def test_channels(files: Files, rate: int, width: int, channel: str):
    text = files.write(Channel_Transfer_Rate=str(rate), Flash_Channel_Width=str(width)).imported()
    assert tomllib.loads(text.toml)["drive"]["nand"]["channel"] == channel
    verdict = Verdict.APPROXIMATED if rate > 1000 else Verdict.MAPPED
    assert key(text, "Channel_Transfer_Rate").verdict is verdict


@pytest.mark.parametrize(
    ("policy", "victim"),
    [("GREEDY", "greedy"), ("FIFO", "fifo"), ("RANDOM", "random"), ("RANDOM_P", "random")],
)
def test_victims(files: Files, policy: str, victim: str):
    config = files.config_of(GC_Block_Selection_Policy=policy)
    assert config["drive"]["ftl"]["gc"]["victim"] == victim


def test_all_orders_are_known(files: Files):
    orders = ["".join(order) for order in itertools.permutations("CWDP")]
    assert all(known.of(known.DEVICE)["Plane_Allocation_Scheme"].read(o).value == o for o in orders)


def test_collection_without_preemption_goes_first(files: Files):
    imported = files.write(Preemptible_GC_Enabled="false").imported()
    gc = said(imported)["drive"]["ftl"]["gc"]
    assert (gc["preemptible"], gc["foreground"], gc["background"]) == (
        False,
        "15 blocks",
        "15 blocks",
    )
    assert key(imported, "GC_Hard_Threshold").verdict is Verdict.INERT


def test_a_threshold_that_cannot_be_reached_is_lowered(files: Files):
    flow = flow_xml(Read_Percentage="0", Initial_Occupancy_Percentage="100")
    spare = {"GC_Exec_Threshold": "0.9", "Overprovisioning_Ratio": "0.17"}
    imported = files.write(flow, **spare).imported()
    threshold = key(imported, "GC_Exec_Threshold")
    assert threshold.verdict is Verdict.APPROXIMATED
    lowered = int(re.search(r"Lowered to (\d+)", threshold.why)[1])
    # 60 blocks of data (90 % of 66), 2 open: 18 of 80 are spare, and collection needs some of them.
    assert 1 < lowered < 18
    gc = said(imported)["drive"]["ftl"]["gc"]
    assert gc["background"] == f"{lowered - 1} blocks"
    assert fs.run(imported.experiment).write.requests == 500


def test_flows_share_the_drive_one_behind_the_other(files: Files):
    flows = (flow_xml(Working_Set_Percentage="50"), flow_xml(Read_Percentage="0"))
    config = files.config_of(*flows)
    half = EXPORTED // 2 * PAGE
    first, second = (workload["region"] for workload in config["workload"])
    assert (first["offset"], size(first["size"])) == ("0 B", half // 2)
    assert (size(second["offset"]), size(second["size"])) == (half, half)
    # Half of it is occupied in the mean, and the reader reads the first quarter.
    assert config["precondition"]["share"] == "50 %"
    assert config["precondition"]["fill"] == "random"


def test_what_is_read_is_filled(files: Files):
    imported = files.write(flow_xml(Total_Requests_To_Generate="6000")).imported()
    assert "share" in said(imported)["precondition"]
    assert said(imported)["precondition"]["share"] == "100 %"
    assert key(imported, "Initial_Occupancy_Percentage").verdict is Verdict.APPROXIMATED
    assert fs.run(imported.experiment).summary["initiators"]


# Half of 7,680 pages are written after 7,680 ln 2 = 5,323 draws.
@pytest.mark.parametrize(
    ("changes", "pages"),
    [
        ({"Total_Requests_To_Generate": "5323"}, EXPORTED // 2),
        ({"Total_Requests_To_Generate": "5324"}, EXPORTED),
        ({"Read_Percentage": "0"}, EXPORTED // 2),
        ({"Average_Request_Size": "64", "Total_Requests_To_Generate": "1330"}, EXPORTED // 2),
        ({"Average_Request_Size": "64", "Total_Requests_To_Generate": "1331"}, EXPORTED),
        # At most 90 % are written, after 7,680 ln 10 = 17,683 draws.
        (
            {"Initial_Occupancy_Percentage": "100", "Total_Requests_To_Generate": "17683"},
            EXPORTED * 9 // 10,
        ),
        ({"Initial_Occupancy_Percentage": "100", "Total_Requests_To_Generate": "17684"}, EXPORTED),
        # The run draws other requests.
        ({"Working_Set_Percentage": "50"}, EXPORTED // 2),
        ({"Working_Set_Percentage": "60"}, EXPORTED // 2),
        ({"Working_Set_Percentage": "54"}, EXPORTED * 54 // 100),
        ({"Address_Distribution": "STREAMING"}, EXPORTED),
        ({"Stop_Time": "1000000"}, EXPORTED),
        ({"Variance_Request_Size": "2", "Request_Size_Distribution": "NORMAL"}, EXPORTED),
    ],
)
def test_a_run_repeats_the_addresses_of_its_preconditioning(
    files: Files, changes: dict[str, str], pages: int
):
    [workload] = files.config_of(flow_xml(**changes))["workload"]
    region = workload.get("region", {"size": f"{EXPORTED * PAGE} B"})
    assert size(region["size"]) == pages * PAGE


# Preconditioning with uniform requests writes at most 90 %; others write the requested amount.
@pytest.mark.parametrize(
    ("changes", "share"),
    [
        ({"Initial_Occupancy_Percentage": "100"}, 90),
        ({"Initial_Occupancy_Percentage": "91"}, 90),
        ({"Initial_Occupancy_Percentage": "90"}, 90),
        ({"Initial_Occupancy_Percentage": "100", "Address_Distribution": "STREAMING"}, 100),
    ],
)
def test_no_more_is_filled_than_preconditioning_writes(
    files: Files, changes: dict[str, str], share: int
):
    flow = flow_xml(Read_Percentage="0", Total_Requests_To_Generate="20000", **changes)
    assert files.config_of(flow)["precondition"]["share"] == f"{share} %"


def test_a_run_repeats_nothing_where_nothing_was_preconditioned(files: Files):
    [workload] = files.config_of(Enabled_Preconditioning="false")["workload"]
    assert "region" not in workload
    for workload in files.config_of(flow_xml(), flow_xml())["workload"]:
        assert size(workload["region"]["size"]) == EXPORTED // 2 * PAGE


# Below 10 free blocks each end of an erase begins a collection, of 10 at most: 9 + 10 are free
# in the end. Above, each opened block begins one. Of 100 blocks 75 hold data, 2 are open.
@pytest.mark.parametrize(
    ("threshold", "begins", "ends"),
    [("0.01", 9, 18), ("0.10", 9, 18), ("0.11", 10, 10), ("0.15", 14, 14)],
)
def test_collections_begin_at_the_threshold_and_end_together(
    files: Files, threshold: str, begins: int, ends: int
):
    flow = flow_xml(Read_Percentage="0")
    changes = {"Block_No_Per_Plane": "100", "GC_Exec_Threshold": threshold}
    gc = files.config_of(flow, **changes)["drive"]["ftl"]["gc"]
    assert (gc["background"], gc["stop"]) == (f"{begins} blocks", f"{ends} blocks")


def test_collections_end_where_they_can(files: Files):
    # 60 blocks of data (90 % of 66), 2 open: 18 of 80 are spare, and collection needs one of them.
    flow = flow_xml(Read_Percentage="0", Initial_Occupancy_Percentage="100")
    spare = {"GC_Exec_Threshold": "0.05", "Overprovisioning_Ratio": "0.17"}
    imported = files.write(flow, **spare).imported()
    gc = said(imported)["drive"]["ftl"]["gc"]
    assert gc["background"] == "9 blocks"
    assert 9 <= int(gc["stop"].split()[0]) < 18
    told = key(imported, "GC_Exec_Threshold")
    assert told.verdict is Verdict.APPROXIMATED
    assert "is enough for" in told.why
    assert fs.run(imported.experiment).write.requests == 500


def test_resources_that_no_flow_uses_are_left_out(files: Files):
    flow = flow_xml(Channel_IDs="1", Plane_IDs="1")
    imported = files.write(flow, flow).imported()
    geometry = said(imported)["drive"]["geometry"]
    assert (geometry["channels"], geometry["planes_per_die"]) == (1, 1)
    assert {k.verdict for k in imported.keys if k.name == "Channel_IDs"} == {Verdict.MAPPED}


def test_bandwidth_is_an_open_loop_in_whole_numbers(files: Files):
    flow = flow_xml(Synthetic_Generator_Type="BANDWIDTH", Bandwidth="10000000")
    [workload] = files.config_of(flow)["workload"]
    requests = 10_000_000 // 512 // 16
    gap = 10**9 // requests
    assert workload["arrivals"]["process"] == "poisson"
    rate = float(workload["arrivals"]["rate"].split()[0])
    assert rate == pytest.approx(10**9 / gap, rel=1e-6)
    # `Queue_Fetch_Size`; the ring of 64 limits nothing (tests below).
    assert workload["queue_depth"] == 32


@pytest.mark.parametrize(
    ("changes", "depth"),
    [({}, 32), ({"Queue_Fetch_Size": "100"}, 100), ({"HostInterface_Type": "SATA"}, 1000)],
)
def test_queues_limit_what_is_asked_for(files: Files, changes: dict[str, str], depth: int):
    """MQSim's ring has 64 places, but with 64 requests 3 places are as good as 1024: 390 us."""
    flow = flow_xml(Average_No_of_Reqs_in_Queue="1000")
    [workload] = files.config_of(flow, **changes)["workload"]
    assert workload["queue_depth"] == depth


def test_sata_takes_its_delay_twice(files: Files):
    firmware = files.config_of(HostInterface_Type="SATA")["drive"]["firmware"]
    link = sum(int(math.ceil(size / 4) / 0.5) for size in (30, 32, 100, 44))
    assert firmware["read"] == f"{(2000 + link) / 1000:g} us"


def test_sizes_of_a_normal_distribution():
    listed = sizes(16, 4)
    assert sum(share for _, share in listed) == 100
    normal = NormalDist(16, 4)
    for sectors, share in listed[1:-1]:
        expected = 100 * (normal.cdf(sectors) - normal.cdf(sectors - 1))
        assert float(share) == pytest.approx(expected, abs=2e-3)
    mean = sum(sectors * float(share) / 100 for sectors, share in listed)
    # Rounding up adds half a sector.
    assert mean == pytest.approx(16.5, abs=0.02)
    assert all(sectors >= 1 for sectors, _ in sizes(3, 20))
    wide = sizes(2000, 300)
    assert len(wide) <= 64
    assert sum(s * float(share) / 100 for s, share in wide) == pytest.approx(2000, rel=0.01)


@pytest.mark.parametrize(
    ("changes", "addresses"),
    [
        ({"Address_Distribution": "STREAMING"}, "sequential"),
        (
            {"Address_Distribution": "STREAMING", "Average_Request_Size": "24"},
            {"pattern": "strided", "stride": "16 KiB"},
        ),
        (
            {"Address_Distribution": "HOTCOLD_RANDOM", "Percentage_of_Hot_Region": "20"},
            {"pattern": "hot-cold", "hot_space": "20 %", "hot_accesses": "80 %"},
        ),
    ],
)
def test_addresses(files: Files, changes: dict[str, str], addresses: dict[str, str]):
    [workload] = files.config_of(flow_xml(**changes))["workload"]
    assert workload["addresses"] == addresses


@pytest.mark.parametrize(
    ("policy", "priorities"),
    [("OUT_OF_ORDER", ["normal", "normal"]), ("PRIORITY_OUT_OF_ORDER", ["high", "low"])],
)
def test_priorities_count_where_the_scheduler_looks(
    files: Files, policy: str, priorities: list[str]
):
    flows = (flow_xml(Priority_Class="URGENT"), flow_xml(Priority_Class="low"))
    imported = files.write(*flows, Transaction_Scheduling_Policy=policy).imported()
    config = said(imported)
    assert [workload.get("priority", "normal") for workload in config["workload"]] == priorities
    inert = {k.verdict for k in imported.keys if k.name == "Priority_Class"} == {Verdict.INERT}
    assert inert is (policy == "OUT_OF_ORDER")


ROWS = "".join(f"{1000 * n} 0 {16 * (n % 40)} 16 {n % 2}\n" for n in range(40))


def test_a_trace_is_replayed(files: Files):
    (files.config.parent / "some.trace").write_text(ROWS)
    imported = files.write(flow_xml(TRACED, Time_Unit="MICROSECOND")).imported()
    [workload] = said(imported)["workload"]
    assert Path(workload["trace"]["file"]) == files.config.parent / "some.trace"
    result = fs.run(imported.experiment)
    assert (result.read.requests, result.write.requests) == (20, 20)
    unit = key(imported, "Time_Unit")
    assert unit.verdict is Verdict.INERT
    assert "time_scale = 1000.0" in unit.why


def test_a_part_of_a_trace(files: Files):
    (files.config.parent / "some.trace").write_text(ROWS)
    [workload] = files.config_of(flow_xml(TRACED, Percentage_To_Be_Executed="25"))["workload"]
    assert workload["stop"]["requests"] == 10
    again = files.write(flow_xml(TRACED, Percentage_To_Be_Executed="25", Relay_Count="2"))
    imported = again.imported()
    assert said(imported)["workload"][0]["trace"]["repeat"] == 2
    assert key(imported, "Percentage_To_Be_Executed").verdict is Verdict.INERT


def test_a_missing_trace_is_a_fault(files: Files):
    [problem] = files.write(flow_xml(TRACED)).refused()
    assert "there is no trace at" in problem.message
    assert (problem.file, problem.line) == (str(files.workload), 6)


def test_every_key_of_the_files_gets_a_verdict(files: Files):
    imported = files.write(flow_xml(Zoned="1", Intensity="5"), Block_PE_Cycles_Limit="3").imported()
    told = {(k.section, k.name) for k in imported.keys}
    given = {(section, name) for section, values in DRIVE.items() for name in values}
    assert told >= given | {("flow 0", name) for name in (*FLOW, "Zoned", "Intensity")}
    assert key(imported, "Zoned").verdict is Verdict.UNKNOWN
    assert key(imported, "Intensity").verdict is Verdict.UNKNOWN
    assert key(imported, "Block_PE_Cycles_Limit").verdict is Verdict.INERT
    lines = files.config.read_text().splitlines()
    keys = imported.keys
    for told_key in keys:
        if told_key.file == str(files.config) and told_key.line is not None:
            assert f"<{told_key.name}>" in lines[told_key.line - 1]


def test_missing_keys_have_defaults_and_say_so(files: Files):
    imported = files.write(
        flow_xml(Seed=None, Read_Percentage=None), Queue_Fetch_Size=None, Seed=None
    ).imported()
    assert key(imported, "Queue_Fetch_Size").line is None
    assert "MQSim's default" in key(imported, "Queue_Fetch_Size").why
    assert "leaves it to chance" in key(imported, "Read_Percentage").why
    assert said(imported)["seed"] == 123


@pytest.mark.parametrize(
    ("rows", "percent", "requests"),
    [
        # (int)((double)29 / 100 * 100) in C: 0.29 is a little less than that.
        (["0 0 8 8 1"] * 100, 29, 28),
        (["0 0 8 8 1"] * 100, 57, 56),
        (["0 0 8 8 1"] * 100, 50, 50),
        # Rows after one with another number of columns are not counted.
        ([*["0 0 8 8 1"] * 10, "", *["0 0 8 8 1"] * 90], 50, 5),
        ([*["0 0 8 8 1\r"] * 10, "0 0 8 8", *["0 0 8 8 1"] * 90], 50, 5),
    ],
)
def test_a_part_of_a_trace_is_as_many_requests_as_in_mqsim(rows, percent, requests, tmp_path):
    file = tmp_path / "some.trace"
    file.write_bytes("\n".join(rows).encode())
    assert part_of(file, percent)[0] == requests


@pytest.mark.parametrize("target", ["ssdconfig.xml", "workload.xml", "some.trace"])
def test_what_is_imported_is_not_overwritten(target, files: Files, flashscape, tmp_path):
    (files.config.parent / "some.trace").write_text(ROWS)
    files.write(flow_xml(TRACED))
    file = files.config.parent / target
    before = file.read_bytes()
    ended = flashscape("import-mqsim", files.config, files.workload, "--out", file, "--force")
    assert ended.status == 1
    assert f"{target}: is read by this very command" in ended.err
    assert file.read_bytes() == before


def test_dies_of_an_older_mqsim_worked_at_a_time(files: Files):
    both = {"Die_IDs": "0,1"}
    older = {"Address_Distribution": "UNIFORM_RANDOM"}
    for flow, dies, verdict in (
        (flow_xml(**both, **older), "2", Verdict.APPROXIMATED),
        # MQSim's own present files have Intensity.
        (flow_xml(**both, Bandwidth=None, Intensity="8192000"), "2", Verdict.MAPPED),
        (flow_xml(**older), "1", Verdict.MAPPED),
        (flow_xml(**both), "2", Verdict.MAPPED),
    ):
        found = key(files.write(flow, Die_No_Per_Chip=dies).imported(), "Die_No_Per_Chip")
        assert found.verdict is verdict
        assert ("from an MQSim of before June 2018" in found.why) == (
            verdict is Verdict.APPROXIMATED
        )


def test_an_intensity_is_the_rate_of_an_older_mqsim(files: Files):
    flow = flow_xml(Bandwidth=None, Intensity="16000", Synthetic_Generator_Type="ARRIVAL_RATE")
    imported = files.write(flow).imported()
    # Sectors a second, 16 to a request (Host_System.cpp at 0d76b1d).
    assert said(imported)["workload"][0]["arrivals"]["rate"] == "1000 IOPS"
    found = key(imported, "Intensity")
    assert (found.verdict, found.becomes) == (Verdict.MAPPED, "workload.arrivals")
    assert not [told for told in imported.keys if told.name == "Bandwidth"]


def test_an_intensity_has_no_effect_in_a_closed_loop(files: Files):
    imported = files.write(flow_xml(Bandwidth=None, Intensity="32768")).imported()
    found = key(imported, "Intensity")
    assert (found.verdict, found.value, found.becomes) == (Verdict.UNKNOWN, "32768", "")
    assert "<Intensity>" in files.workload.read_text().splitlines()[found.line - 1]
    assert not [told for told in imported.keys if told.name == "Bandwidth"], "it has no line"


def test_an_intensity_is_no_bandwidth(files: Files):
    rated = {"Synthetic_Generator_Type": "BANDWIDTH", "Intensity": "8192000"}
    [problem] = files.write(flow_xml(Bandwidth=None, **rated)).refused()
    assert problem.path == "flow 0.Intensity"
    assert "write Bandwidth, in bytes a second" in problem.message
    # 8192 B a request.
    both = files.write(flow_xml(Bandwidth="8192000", **rated)).imported()
    assert said(both)["workload"][0]["arrivals"]["rate"] == "1000 IOPS"
    assert key(both, "Intensity").verdict is Verdict.UNKNOWN


def test_values_are_read_as_mqsim_does(files: Files):
    imported = files.write(
        flow_xml(Average_Request_Size="16.9", Generated_Aligned_Addresses="0"),
        Page_Capacity=" 8192 ",
    ).imported()
    [workload] = said(imported)["workload"]
    assert (workload["size"], workload["align"]) == ("8 KiB", "8 KiB")
    assert "drops '.9'" in key(imported, "Average_Request_Size").why
    assert 'takes "0" for true' in key(imported, "Generated_Aligned_Addresses").why


def test_a_key_given_twice_counts_the_second_time(files: Files):
    files.write()
    text = files.config.read_text().replace("<Seed>77", "<Seed>5</Seed>\n<Seed>77")
    files.config.write_text(text)
    imported = files.imported()
    first, second = sorted(
        (k for k in imported.keys if k.name == "Seed" and k.section != "flow 0"),
        key=lambda k: k.line,
    )
    assert (first.verdict, second.verdict) == (Verdict.INERT, Verdict.MAPPED)
    assert said(imported)["seed"] == 77


def test_all_faults_come_at_once(files: Files):
    files.write(
        flow_xml(Read_Percentage="101", Stop_Time="0", Total_Requests_To_Generate="0"),
        Page_Capacity="big",
        PCIe_Lane_Bandwidth="0",
        Overprovisioning_Ratio="1.5",
        Transaction_Scheduling_Policy="FLIN",
        Address_Mapping="HYBRID",
    )
    problems = {problem.path.split(".")[1]: problem for problem in files.refused()}
    assert set(problems) == {
        "Page_Capacity",
        "PCIe_Lane_Bandwidth",
        "Overprovisioning_Ratio",
        "Transaction_Scheduling_Policy",
        "Address_Mapping",
        "Read_Percentage",
        "Total_Requests_To_Generate",
    }
    lines = files.config.read_text().splitlines()
    assert "Page_Capacity" in lines[problems["Page_Capacity"].line - 1]


@pytest.mark.parametrize(
    ("flow", "name"),
    [
        ({"Address_Distribution": "RANDOM_HOTCOLD"}, "Percentage_of_Hot_Region"),
        ({"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "8000"}, "Bandwidth"),
        ({"Channel_IDs": "0,7"}, "Channel_IDs"),
        ({"Chip_IDs": "a"}, "Chip_IDs"),
        ({"Address_Distribution": "ZIPF"}, "Address_Distribution"),
    ],
)
def test_flows_that_mqsim_cannot_run_are_refused(files: Files, flow: dict[str, str], name: str):
    [problem] = files.write(flow_xml(**flow)).refused()
    assert problem.path == f"flow 0.{name}"


def test_what_the_check_refuses_names_the_key(files: Files):
    [problem] = files.write(Channel_Transfer_Rate="20").refused()
    assert "from Channel_Transfer_Rate" in problem.message
    assert "<Channel_Transfer_Rate>" in files.config.read_text().splitlines()[problem.line - 1]


ODD = ("", "0", "-1", "7", "4294967295", "9" * 5000, "1e300", "nan", "x", "true", "0,9999999999")


def test_odd_values_of_any_key_are_taken_or_refused(files: Files):
    """Any value of any key ends in an experiment or in faults, never in a bug."""
    (files.config.parent / "some.trace").write_text(ROWS)
    ends = {"taken": 0, "refused": 0, "unexplained": 0}
    for number, known_key in enumerate(known.keys()):
        odd = ODD[number % 3 :: 3]
        for value in odd:
            change = {known_key.name: value}
            flow, trace, drive = {}, {}, {}
            if known_key.section in (known.FLOW, SYNTHETIC):
                flow = change
            elif known_key.section == TRACE:
                trace = change
            else:
                drive = change
            files.write(flow_xml(**flow), flow_xml(TRACED, **trace), **drive)
            try:
                files.imported()
                ends["taken"] += 1
            except fs.ConfigError as refusal:
                ends["refused" if refusal.problems else "unexplained"] += 1
    assert ends["unexplained"] == 0
    assert min(ends["taken"], ends["refused"]) > 50


BOMB = (
    '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    "<Execution_Parameter_Set>&b;</Execution_Parameter_Set>"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: is not well-formed XML: no element found"),
        ("<a>", "is not well-formed XML"),
        ("<Execution_Parameter_Set><Seed>1</<Seed></Execution_Parameter_Set>", "line 1: is not"),
        (BOMB, "document type"),
        ("<Execution_Parameter_Set>&b;</Execution_Parameter_Set>", "undefined entity"),
        ("<a/>", "begins with <a>"),
        ("<MQSim_IO_Scenarios/>", "the configuration comes first"),
        ("<a>" * 100 + "</a>" * 100, "nested too deeply"),
    ],
)
def test_broken_files(files: Files, text: str, said: str):
    files.write()
    files.config.write_text(text)
    with pytest.raises(fs.ConfigError, match=re.escape(said)):
        files.imported()


def test_comments_may_be_in_any_characters(files: Files):
    files.write()
    for encoding in ("utf-8", "latin-1"):
        text = drive_xml().replace("<Seed>", "<!-- Größe --><Seed>", 1)
        files.config.write_bytes(text.encode(encoding))
        assert said(files.imported())["seed"] == 77


def test_scenarios_count_from_one(files: Files):
    files.write()
    scenario = f"<IO_Scenario>{flow_xml(Read_Percentage='30')}</IO_Scenario></MQSim_IO_Scenarios>"
    text = files.workload.read_text().replace("</MQSim_IO_Scenarios>", scenario)
    files.workload.write_text(text)
    assert said(files.imported(2))["workload"][0]["reads"] == "30 %"
    assert files.imported(2).scenarios == 2
    with pytest.raises(fs.ConfigError, match="has scenarios 1 to 2, not a scenario 3"):
        files.imported(3)


def test_the_command_writes_a_file_that_runs(files: Files, flashscape, tmp_path):
    files.write(flow_xml(), flow_xml(Read_Percentage="0"))
    ended = flashscape("import-mqsim", files.config, files.workload, "--out", "made.toml")
    assert (ended.status, ended.err) == (0, "")
    assert "inert        Page_Metadat_Capacity" not in ended.out
    assert "mapped       Page_Capacity = 8192 -> drive.geometry.page_size" in ended.out
    assert "made.toml: written, no problems" in ended.out
    written = (tmp_path / "made.toml").read_text(encoding="utf-8")
    assert written == files.imported().toml
    assert flashscape("check", "made.toml").status == 0
    assert flashscape("run", "made.toml", "--quiet").status == 0


def test_the_command_overwrites_nothing_unasked(files: Files, flashscape, tmp_path):
    files.write()
    kept = tmp_path / "made.toml"
    kept.write_text("precious")
    arguments = ("import-mqsim", files.config, files.workload, "--out", "made.toml")
    ended = flashscape(*arguments)
    assert (ended.status, kept.read_text()) == (1, "precious")
    assert "is there already" in ended.err
    assert flashscape(*arguments, "--force").status == 0
    assert kept.read_text() == files.imported().toml
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "made.toml",
        "ssdconfig.xml",
        "workload.xml",
    ]


def test_without_a_file_the_experiment_goes_to_standard_output(files: Files, flashscape):
    files.write()
    ended = flashscape("import-mqsim", files.config, files.workload)
    assert ended.out == files.imported().toml
    assert "keys: " in ended.err


def test_faults_end_the_command(files: Files, flashscape):
    files.write(Page_Capacity="big")
    ended = flashscape("import-mqsim", files.config, files.workload, "--out", "made.toml")
    assert ended.status == 2
    assert "Page_Capacity" in ended.err
    assert flashscape("import-mqsim", "nowhere.xml", files.workload).status == 2


def test_each_value_has_its_key_beside_it(files: Files):
    text = files.write().imported().toml
    assert re.search(r'^page_size = "8 KiB" +# Page_Capacity$', text, re.MULTILINE)
    assert re.search(r"^queue_depth = 1 +# Average_No_of_Reqs_in_Queue$", text, re.MULTILINE)


def test_the_documents_tables_are_the_known_keys():
    text = (ROOT / "docs" / "import-mqsim.md").read_text(encoding="utf-8")
    rows: dict[tuple[str, str], list[str]] = {}
    for section, body in re.findall(r"^### (.+)$((?:\n(?!#).*)*)", text, re.MULTILINE):
        for row in re.findall(r"^\| `(.+)$", body, re.MULTILINE):
            name, *cells = (cell.strip(" `") for cell in row.rstrip("| ").split(" | "))
            rows[section.strip("`").lower(), name] = ["" if c == "–" else c for c in cells]
    everything = known.keys()
    expected = {
        (k.section.lower(), k.name): [k.unit, k.default, str(k.verdict), k.becomes, k.why]
        for k in everything
    }
    assert rows == expected


def test_what_keys_become_is_known_to_configurations():
    """The first part of each path is a table of an experiment's schema."""
    schema = fs.schema()
    everything = known.keys()
    for k in everything:
        if k.becomes:
            assert k.becomes.split(".")[0] in schema["properties"], k.name


def test_planes_begin_in_step_if_flows_write_and_space_allows_it(files: Files):
    writes = flow_xml(Read_Percentage="0", Total_Requests_To_Generate="6000")
    assert files.config_of(writes)["precondition"]["in_step"] is True
    assert "in_step" not in files.config_of(flow_xml()).get("precondition", {})
    assert "in_step" not in files.config_of(writes, Enabled_Preconditioning="false").get(
        "precondition", {}
    )


def test_a_chip_is_reserved_until_its_gc_stops_unless_gc_is_preemptible(files: Files):
    writes = flow_xml(Read_Percentage="0")
    gc = files.config_of(writes, Preemptible_GC_Enabled="false")["drive"]["ftl"]["gc"]
    assert (gc["preemptible"], gc["reserve_until"]) == (False, "stop")
    gc = files.config_of(writes, Preemptible_GC_Enabled="true")["drive"]["ftl"]["gc"]
    assert gc["preemptible"] is True
    assert "reserve_until" not in gc
