"""Import from MQSim: parts of the flash, parts of pages, and sizes of what is left out."""

from __future__ import annotations

import math
import random
import re
from itertools import product
from pathlib import Path

import pytest

import flashscape as fs
from flashscape.mqsim import Verdict, boxes
from flashscape.mqsim.drive import PROGRAM_COMMAND_NS
from mqsim_files import EXPORTED, PAGE, TRACED, Files, flow_xml, key, said, size

PLANE = 80 * 16 * 3 // 4
"""Exported pages of a plane."""

WRITES = {"Read_Percentage": "0", "Device_Level_Data_Caching_Mode": "TURNED_OFF"}

HALVES = {**WRITES, "Average_Request_Size": "8"}
"""Writes of 4 KiB to pages of 8 KiB."""


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def verdicts(imported: fs.Imported, name: str) -> list[Verdict]:
    return [told.verdict for told in imported.keys if told.name == name]


# Of 2 channels with 2 chips of 2 dies with 2 planes.
@pytest.mark.parametrize(
    ("first", "second", "parts"),
    [
        ({"Channel_IDs": "0"}, {"Channel_IDs": "1"}, [{"channels": [0]}, {"channels": [1]}]),
        # Dies of a channel count package by package.
        ({"Chip_IDs": "1"}, {"Chip_IDs": "0"}, [{"dies": [2, 3]}, {"dies": [0, 1]}]),
        ({"Die_IDs": "0"}, {"Die_IDs": "1"}, [{"dies": [0, 2]}, {"dies": [1, 3]}]),
        ({"Plane_IDs": "1"}, {"Plane_IDs": "0"}, [{"planes": [1]}, {"planes": [0]}]),
        # What is left of channel 1 is a set of no flow.
        (
            {"Channel_IDs": "0"},
            {"Channel_IDs": "1", "Chip_IDs": "0", "Plane_IDs": "0"},
            [
                {"channels": [0]},
                {"channels": [1], "dies": [0, 1], "planes": [0]},
                {"channels": [1], "dies": [0, 1], "planes": [1]},
                {"channels": [1], "dies": [2, 3]},
            ],
        ),
    ],
)
def test_flows_with_flash_of_their_own_have_nvm_sets(
    files: Files, first: dict[str, str], second: dict[str, str], parts: list[dict[str, list[int]]]
):
    everything = {"Die_IDs": "0,1"}
    flows = (flow_xml(**{**everything, **first}), flow_xml(**{**everything, **second}))
    imported = files.write(*flows, Die_No_Per_Chip="2").imported()
    config = said(imported)
    assert config["drive"]["ftl"]["sets"]["parts"] == parts
    assert [workload["nvm_set"] for workload in config["workload"]] == [1, 2]
    assert imported.warnings == []
    for name in (*first, *second):
        assert set(verdicts(imported, name)) == {Verdict.MAPPED}
    requests = [
        flow["read"]["requests"] for flow in fs.run(imported.experiment).summary["initiators"]
    ]
    assert requests == [500, 500]


def test_the_last_line_tells_of_no_problems_with_sets(files: Files, flashscape):
    files.write(flow_xml(Channel_IDs="0"), flow_xml(Channel_IDs="1"))
    ended = flashscape("import-mqsim", files.config, files.workload, "--out", "made.toml")
    assert (ended.status, ended.err) == (0, "")
    assert "made.toml: written, no problems" in ended.out
    assert "mapped       Channel_IDs = 0 -> drive.ftl.sets; 1 of 2: NVM set 1" in ended.out


def test_a_reader_does_not_wait_for_a_writer_on_other_channels(files: Files):
    """Reads take as long as alone, whatever the other flow does; MQSim's do, too."""
    reader = {"Channel_IDs": "1", "Total_Requests_To_Generate": "200"}
    writer = {**WRITES, "Average_No_of_Reqs_in_Queue": "32", "Total_Requests_To_Generate": "4000"}
    slow = {"PCIe_Lane_Bandwidth": "100"}
    alone = fs.run(files.write(flow_xml(**reader), **slow).imported().experiment)
    both = files.write(flow_xml(**writer, Channel_IDs="0"), flow_xml(**reader), **slow).imported()
    _, beside = fs.run(both.experiment).summary["initiators"]
    [initiator] = alone.summary["initiators"]
    latency = [flow["read"]["latency_ns"] for flow in (initiator, beside)]
    # Sensing takes 40 or 60 us by the page, and the link is common.
    assert latency[1]["max"] - latency[0]["max"] < 200
    assert latency[1]["mean"] == pytest.approx(latency[0]["mean"], rel=0.03)


def test_flows_with_the_same_flash_share_a_set(files: Files):
    flows = (
        flow_xml(Channel_IDs="0", Plane_IDs="0"),
        flow_xml(Channel_IDs="1"),
        flow_xml(Channel_IDs="0", Plane_IDs="0"),
    )
    imported = files.write(*flows).imported()
    config = said(imported)
    assert [workload["nvm_set"] for workload in config["workload"]] == [1, 2, 1]
    first, second, third = (workload.get("region") for workload in config["workload"])
    assert size(first["size"]) == size(third["offset"]) == size(third["size"]) == PLANE * PAGE
    # A flow alone repeats the addresses of its preconditioning: half of its four planes.
    assert size(second["size"]) == 2 * PLANE * PAGE
    assert imported.warnings == []


def test_each_set_is_filled_as_its_flows_have_it(files: Files):
    flows = (
        flow_xml(Channel_IDs="0", Initial_Occupancy_Percentage="80", **WRITES),
        flow_xml(Channel_IDs="1", Chip_IDs="0", Initial_Occupancy_Percentage="20", **WRITES),
    )
    imported = files.write(*flows).imported()
    assert said(imported)["precondition"]["share"] == ["80 %", "20 %", "0 %"]
    assert set(verdicts(imported, "Initial_Occupancy_Percentage")) == {Verdict.MAPPED}


@pytest.mark.parametrize(
    ("first", "second", "all_planes", "mine", "common"),
    [
        ({"Channel_IDs": "0"}, {}, 8, 4, 4),
        ({"Channel_IDs": "0"}, {"Chip_IDs": "1"}, 8, 4, 2),
        ({"Plane_IDs": "0"}, {"Chip_IDs": "1"}, 8, 4, 2),
    ],
)
def test_flash_that_overlaps_is_a_warning(
    files: Files,
    flashscape,
    first: dict[str, str],
    second: dict[str, str],
    all_planes: int,
    mine: int,
    common: int,
):
    files.write(flow_xml(**first), flow_xml(**second))
    imported = files.imported()
    assert "nvm_set" not in str(said(imported))
    [warning] = imported.warnings
    assert f"here both use all {all_planes} planes of both" in warning
    assert f"flow 0 uses {mine} and shares {common} of them" in warning
    assert "several times as long" in warning
    [name] = first
    assert verdicts(imported, name)[0] is Verdict.APPROXIMATED
    ended = flashscape("import-mqsim", files.config, files.workload, "--out", "made.toml")
    assert f"warning: {warning}" in ended.out
    assert ended.out.splitlines()[-1].startswith("made.toml: written, 1 warning (above)")
    assert ended.status == 0


def test_overlapping_flows_keep_their_share_of_the_space(files: Files):
    """Four planes are half of the one, half of the other; the other has four more."""
    imported = files.write(flow_xml(Channel_IDs="0"), flow_xml()).imported()
    first, second = (workload["region"] for workload in said(imported)["workload"])
    assert size(first["size"]) == 4 * PLANE // 2 * PAGE
    assert size(second["size"]) == (4 * PLANE // 2 + 4 * PLANE) * PAGE


def test_flows_apart_keep_their_sets_beside_flows_that_overlap(files: Files):
    flows = (
        flow_xml(Channel_IDs="0"),
        flow_xml(Channel_IDs="0,1"),
        flow_xml(Channel_IDs="2"),
    )
    imported = files.write(*flows, Flash_Channel_Count="3").imported()
    config = said(imported)
    assert config["drive"]["ftl"]["sets"]["parts"] == [{"channels": [0, 1]}, {"channels": [2]}]
    assert [workload["nvm_set"] for workload in config["workload"]] == [1, 1, 2]
    [warning] = imported.warnings
    assert "flow 2" not in warning


def test_more_parts_than_a_drive_has_sets_are_a_warning(files: Files):
    flows = [flow_xml(Channel_IDs=str(channel)) for channel in range(32)]
    imported = files.write(*flows, Flash_Channel_Count="32").imported()
    assert "parts" not in said(imported)["drive"]["ftl"].get("sets", {})
    [warning] = imported.warnings
    assert "32 NVM sets" in warning
    assert set(verdicts(imported, "Channel_IDs")) == {Verdict.APPROXIMATED}
    flows = flows[:31]
    imported = files.write(*flows, Flash_Channel_Count="32").imported()
    assert (len(said(imported)["drive"]["ftl"]["sets"]["parts"]), imported.warnings) == (31, [])


def test_parts_and_what_they_leave_are_all_of_the_flash_once():
    seed = random.SystemRandom().randrange(2**32)
    for case in range(200):
        rng = random.Random(seed + case)
        levels = tuple(rng.randint(1, 3) for _ in range(4))
        drawn = [
            tuple(frozenset(rng.sample(range(count), rng.randint(1, count))) for count in levels)
            for _ in range(rng.randint(1, 4))
        ]
        parts = boxes.apart(drawn)
        left = boxes.left(levels, parts)
        planes = [plane for part in [*parts, *left] for plane in product(*part)]
        everything = list(product(*map(range, levels)))
        assert sorted(planes) == everything, f"seed {seed + case}"
        for box in drawn:
            # Each part as drawn is in one part alone.
            assert sum(boxes.meet(box, part) for part in parts) == 1, f"seed {seed + case}"
            assert any(
                all(mine <= theirs for mine, theirs in zip(box, part, strict=True))
                for part in parts
            )


def test_equal_parts_of_the_cache_are_those_of_sets(files: Files):
    """64 pages of the cache for each of two flows, of which 8 are on their way at most."""
    flows = (flow_xml(Channel_IDs="0", Read_Percentage="0"), flow_xml(Channel_IDs="1"))
    equal = {"Data_Cache_Sharing_Mode": "EQUAL_PARTITIONING"}
    imported = files.write(*flows, **equal).imported()
    assert size(said(imported)["drive"]["buffer"]["size"]) == 2 * 8 * PAGE
    assert key(imported, "Data_Cache_Sharing_Mode").verdict is Verdict.MAPPED
    # Six pages of the cache in all.
    imported = files.write(*flows, Data_Cache_Capacity="49152", **equal).imported()
    assert size(said(imported)["drive"]["buffer"]["size"]) == 2 * 3 * PAGE


def test_sets_share_a_common_cache_equally(files: Files):
    writer = {"Read_Percentage": "0"}
    flows = (flow_xml(Channel_IDs="0", **writer), flow_xml(Channel_IDs="1", **writer))
    imported = files.write(*flows).imported()
    assert size(said(imported)["drive"]["buffer"]["size"]) == 8 * PAGE
    told = key(imported, "Data_Cache_Sharing_Mode")
    assert told.verdict is Verdict.APPROXIMATED
    assert "share 64 KiB" in told.why


def test_the_limit_of_the_cache_is_that_of_all_planes_of_mqsims_drive(files: Files):
    flow = flow_xml(Channel_IDs="0", Read_Percentage="0")
    assert size(files.config_of(flow)["drive"]["buffer"]["size"]) == 8 * PAGE


def test_a_rewrite_of_a_half_page_reads_nothing_that_was_not_written(files: Files):
    """Requests of 4 KiB at multiples of 8 KiB: the other half was never written."""
    flow = flow_xml(**HALVES, Working_Set_Percentage="1", Total_Requests_To_Generate="2000")
    imported = files.write(flow).imported()
    assert said(imported)["drive"]["ftl"]["subunit"] == "512 B"
    result = fs.run(imported.experiment)
    assert "rmw_read" not in result.summary["flash"]["reads"]
    # 2 ns a byte, and the data and messages on the link.
    on_the_link = (4096 * 156 / 128) / 4 / 0.5
    messages = sum(int(math.ceil(sent / 4) / 0.5) for sent in (30, 32, 32, 100, 44))
    alone = PROGRAM_COMMAND_NS + 2 * 4096 + 500_000 + on_the_link + messages
    latency = result.summary["initiators"][0]["write"]["latency_ns"]
    assert latency["min"] == pytest.approx(alone, abs=1)


def test_a_rewrite_of_a_half_page_reads_the_other_half_if_it_was_written(files: Files):
    """Each page has both halves written after some requests to 76 pages."""
    changes = {"Working_Set_Percentage": "1", "Address_Alignment_Unit": "8"}
    flow = flow_xml(**HALVES, **changes, Total_Requests_To_Generate="3000")
    imported = files.write(flow, Enabled_Preconditioning="false").imported()
    result = fs.run(imported.experiment)
    reads = result.summary["flash"]["reads"]["rmw_read"]["commands"]
    # The first write of a page and its repetitions: 2 of 76 pages in the mean, until the other
    # half is drawn, of which each draw has an even chance.
    assert 3000 - 76 * 2 * 1.5 < reads < 3000 - 76


def test_whole_pages_need_no_subunits(files: Files):
    assert "subunit" not in files.config_of(flow_xml(**WRITES))["drive"]["ftl"]
    reads = flow_xml(Average_Request_Size="8")
    assert "subunit" not in files.config_of(reads)["drive"]["ftl"]


def test_large_pages_have_a_bit_for_several_sectors(files: Files):
    imported = files.write(flow_xml(**HALVES), Page_Capacity="65536").imported()
    assert said(imported)["drive"]["ftl"]["subunit"] == "1 KiB"
    assert key(imported, "Page_Capacity").verdict is Verdict.APPROXIMATED


def test_parts_of_pages_are_those_that_preconditioning_draws(files: Files):
    """A naive preconditioning: draw places until half of all pages have one, and count."""
    flow = flow_xml(**HALVES, Address_Alignment_Unit="4")
    parts = files.config_of(flow)["precondition"]["parts"]
    rng = random.Random(7)
    drawn: dict[int, set[int]] = {}
    while len(drawn) < EXPORTED // 2:
        # Requests of 4 KiB at multiples of 2 KiB touch one page, or two from the last place on.
        page, place = divmod(rng.randrange(4 * EXPORTED), 4)
        drawn.setdefault(page, set()).add(place)
    share = sum(map(len, drawn.values())) / (4 * len(drawn))
    assert (parts["size"], parts["align"]) == ("512 B", "2 KiB")
    # At least one place of each page is written; the others are drawn with this share.
    told = float(parts["share"].split()[0]) / 100
    expected = told / (1 - (1 - told) ** 4)
    assert expected == pytest.approx(share, rel=0.02)


def _trace(files: Files, rows: list[tuple[int, int, int]]) -> fs.Imported:
    text = "".join(
        f"{1000 * n} 0 {start} {count} {kind}\n" for n, (start, count, kind) in enumerate(rows)
    )
    (files.config.parent / "some.trace").write_text(text)
    return files.write(flow_xml(TRACED)).imported()


@pytest.mark.parametrize(
    ("rows", "losing", "parts"),
    [
        # First halves of pages, and reads of the same.
        ([(16 * n, 8, n % 2) for n in range(40)], "0.0 %", "0 %"),
        # Both halves of each page are written.
        ([(8 * n, 8, 0) for n in range(80)], "100.0 %", None),
        # The second halves are only read.
        ([(8 * n, 8, n % 2) for n in range(80)], "100.0 %", None),
        # A quarter of the parts is in pages with other sectors: of pages 0, 4, 8, ... all.
        (
            [(16 * n, 8, 0) for n in range(40)] + [(64 * n + 8, 2, 1) for n in range(10)],
            "25.0 %",
            "0 %",
        ),
    ],
)
def test_parts_of_pages_that_a_trace_accesses(
    files: Files, rows: list[tuple[int, int, int]], losing: str, parts: str | None
):
    imported = _trace(files, rows)
    assert said(imported)["precondition"].get("parts", {}).get("share") == parts
    why = key(imported, "Enabled_Preconditioning").why
    assert f"Of the writes of parts of pages in traces {losing} would lose" in why


def test_elements_of_forks_with_keys_of_mqsims_are_told(files: Files, flashscape):
    """Keys in an element that MQSim does not have are found and said, and not used."""
    files.write()
    text = files.workload.read_text()
    inner = "<Fork><Read_Percentage>0</Read_Percentage><Zoned>1</Zoned></Fork>\n"
    files.workload.write_text(text.replace("<Seed>", f"{inner}<Seed>", 1))
    imported = files.imported()
    assert said(imported)["workload"][0]["reads"] == "100 %"
    fork = key(imported, "Fork")
    assert fork.verdict is Verdict.UNKNOWN
    assert "has a key that MQSim reads in <IO_Flow_Parameter_Set_Synthetic> only" in fork.why
    [warning] = imported.warnings
    assert "(Read_Percentage): it is found in it and not used" in warning
    ended = flashscape("import-mqsim", files.config, files.workload, "--out", "made.toml")
    assert "written, 1 warning (above)" in ended.out


def test_keys_in_the_wrong_element_are_told(files: Files):
    files.write()
    text = files.config.read_text()
    files.config.write_text(text.replace("<Seed>", "<Die_No_Per_Chip>4</Die_No_Per_Chip><Seed>", 1))
    imported = files.imported()
    [warning] = imported.warnings
    assert "is a key that MQSim reads in <Flash_Parameter_Set> only" in warning
    assert said(imported)["drive"]["geometry"]["dies_per_package"] == 1
    # Elements of no known key are unknown, without a warning.
    files.write(flow_xml(Zoned="1"))
    assert files.imported().warnings == []


@pytest.mark.parametrize(
    ("classes", "writes", "expected"),
    [
        (("HIGH", "HIGH"), False, (Verdict.MAPPED, Verdict.MAPPED)),
        (("URGENT", "LOW"), False, (Verdict.MAPPED, Verdict.MAPPED)),
        (("HIGH", "LOW"), False, (Verdict.APPROXIMATED, Verdict.APPROXIMATED)),
        (("URGENT", "LOW"), True, (Verdict.APPROXIMATED, Verdict.APPROXIMATED)),
        (("LOW", "LOW"), True, (Verdict.MAPPED, Verdict.MAPPED)),
    ],
)
def test_priorities_that_have_a_counterpart_are_mapped(
    files: Files, classes: tuple[str, str], writes: bool, expected: tuple[Verdict, Verdict]
):
    kind = {"Read_Percentage": "0" if writes else "100"}
    flows = [flow_xml(Priority_Class=name, **kind) for name in classes]
    policy = {"Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER"}
    imported = files.write(*flows, **policy).imported()
    assert tuple(verdicts(imported, "Priority_Class")) == expected


def test_turns_of_priorities_are_told(files: Files):
    flows = [flow_xml(Priority_Class=name) for name in ("LOW", "MEDIUM", "HIGH")]
    policy = {"Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER"}
    imported = files.write(*flows, **policy).imported()
    told = next(told for told in imported.keys if told.name == "Priority_Class")
    assert "MQSim gives of 7 turns HIGH 4, MEDIUM 2, LOW 1" in told.why


def test_misses_of_a_cached_map_are_told(files: Files):
    """An entry has 2 log2(10,240 pages) + 16 bits, so 6 bytes: 1,000 for 7,680 pages."""
    flow = flow_xml(Total_Requests_To_Generate="100000")
    cached = {"Ideal_Mapping_Table": "false", "CMT_Capacity": "6000"}
    imported = files.write(flow, **cached).imported()
    [warning] = imported.warnings
    assert "the cached map has 1,000 entries" in warning
    assert "about 87.0 % of the accesses of flow 0" in warning
    cached["CMT_Capacity"] = "100000"
    assert files.write(flow, **cached).imported().warnings == []
    # A cold map misses each page once: 500 draws of 7,680 pages reach 484.
    cold = files.write(Enabled_Preconditioning="false", **cached).imported()
    assert "about 96.8 % of the accesses" in cold.warnings[0]


def test_writes_that_mqsims_cache_keeps_are_told(files: Files):
    """In a second 4 chips program 8,000 pages, and MQSim each of the 76 pages once."""
    flow = flow_xml(Read_Percentage="0", Working_Set_Percentage="1", Stop_Time="10000000000")
    imported = files.write(flow).imported()
    warning = next(told for told in imported.warnings if "the cache of writes" in told)
    assert "about 100.0 % of the writes of flow 0" in warning
    assert key(imported, "Caching_Mechanism").verdict is Verdict.APPROXIMATED
    # Writes that are not cached, and those of a short run, are all programmed in MQSim, too.
    assert files.write(flow_xml(**WRITES)).imported().warnings == []
    few = {"Total_Requests_To_Generate": "100", "Working_Set_Percentage": "50"}
    assert not _warned(files, "the cache of writes", flow_xml(Read_Percentage="0", **few))
    # A page in two halves: every second write is to a page that was just written.
    halves = {"Average_Request_Size": "8", "Address_Alignment_Unit": "8"}
    streams = flow_xml(Read_Percentage="0", Address_Distribution="STREAMING", **halves)
    [warning] = _warned(files, "the cache of writes", streams)
    assert "about 50.0 % of the writes of flow 0" in warning
    assert "about 2 times as long" in warning


def _warned(files: Files, about: str, *flows: str, **changes: str) -> list[str]:
    return [told for told in files.write(*flows, **changes).imported().warnings if about in told]


SHIPPED = {
    "Flash_Channel_Count": "8",
    "Chip_No_Per_Channel": "4",
    "Die_No_Per_Chip": "2",
    "Plane_No_Per_Die": "2",
    "Block_No_Per_Plane": "512",
    "Page_No_Per_Block": "256",
    "Plane_Allocation_Scheme": "CWDP",
    "Overprovisioning_Ratio": "0.07",
    "GC_Exec_Threshold": "0.05",
    "Page_Program_Latency_LSB": "750000",
    "Page_Program_Latency_MSB": "750000",
    "Data_Cache_Capacity": "268435456",
    "Queue_Fetch_Size": "512",
}
"""The drive of MQSim's own files, as far as it matters here."""


def shipped(**changes: str) -> str:
    """A flow on that drive."""
    ids = {"Channel_IDs": "0,1,2,3,4,5,6,7", "Chip_IDs": "0,1,2,3", "Die_IDs": "0,1"}
    return flow_xml(**(ids | {"Total_Requests_To_Generate": "0"} | changes))


def _times(warning: str) -> float:
    return float(re.search(r"([\d.]+) times as long", warning)[1])  # type: ignore[index]


@pytest.mark.parametrize(
    ("channels", "milliseconds", "joined", "programs"),
    [
        # Programs that MQSim has joined in pairs, and all of them.
        ("0,1,2,3", 100, 2 * 362, 2546),
        ("0,1", 300, 2 * 823, 4029),
        ("0", 300, 2 * 916, 2593),
    ],
)
def test_the_share_of_joined_programs_is_about_mqsims(
    files: Files, channels: str, milliseconds: int, joined: int, programs: int
):
    cached = {"Read_Percentage": "0", "Average_No_of_Reqs_in_Queue": "64"}
    stop = {"Stop_Time": str(milliseconds * 10**6)}
    others = ",".join(str(at) for at in range(8) if str(at) not in channels.split(","))
    flows = (shipped(Channel_IDs=channels, **cached, **stop), shipped(Channel_IDs=others, **stop))
    [warning] = _warned(files, "Plane_No_Per_Die", *flows, **SHIPPED)
    told = float(re.search(r"about ([\d.]+) % of them share", warning)[1]) / 100  # type: ignore[index]
    assert told == pytest.approx(joined / programs, rel=0.3)
    assert _times(warning) == pytest.approx(1 / (1 - joined / programs / 2), rel=0.15)
    assert "flow 1" not in warning


@pytest.mark.parametrize(
    ("order", "sectors", "warns"),
    [("PCWD", "32", True), ("PCWD", "16", False), ("CWDP", "128", False), ("CWDP", "2048", True)],
)
def test_requests_with_pages_in_planes_of_a_die_are_told(
    files: Files, order: str, sectors: str, warns: bool
):
    """Of CWDP's pages the 65th is in the other plane of the first one's die.

    MQSim's writes of 16 KiB take 805 us with PCWD, and 1555 us here.
    """
    sizes = {"Average_Request_Size": sectors, "Address_Alignment_Unit": sectors}
    writes = WRITES | {"Stop_Time": "200000000"}
    flow = shipped(**writes, **sizes)
    drive = SHIPPED | {"Plane_Allocation_Scheme": order}
    found = _warned(files, "Plane_No_Per_Die", flow, **drive)
    assert [_times(warning) for warning in found] == ([2.0] if warns else [])


def test_hits_of_mqsims_read_cache_are_told(files: Files):
    """MQSim reads 66,236 of 100,000 pages from flash, and takes 68 us instead of 102."""
    reads = {"Working_Set_Percentage": "1", "Total_Requests_To_Generate": "100000"}
    drive = SHIPPED | {"Block_No_Per_Plane": "256"}
    flow = shipped(Device_Level_Data_Caching_Mode="READ_CACHE", **reads)
    [warning] = _warned(files, "read cache", flow, **drive)
    share = float(re.search(r"about ([\d.]+) % of the reads", warning)[1]) / 100  # type: ignore[index]
    assert share == pytest.approx(0.33764, abs=0.01)
    assert _times(warning) == pytest.approx(102 / 68, rel=0.02)
    large = shipped(Device_Level_Data_Caching_Mode="READ_CACHE", Stop_Time="1000000000")
    assert not _warned(files, "read cache", large, **SHIPPED)


def test_flows_with_and_without_cached_writes_are_told(files: Files):
    cached, strict = (
        flow_xml(Read_Percentage="0", Device_Level_Data_Caching_Mode=mode)
        for mode in ("WRITE_CACHE", "TURNED_OFF")
    )
    [warning] = _warned(files, "Device_Level_Data_Caching_Mode", cached, strict)
    assert "those of flow 1 are not" in warning
    assert "a program of 500 µs at least" in warning
    assert not _warned(files, "Device_Level_Data_Caching_Mode", strict, strict)
    reads = flow_xml(Device_Level_Data_Caching_Mode="TURNED_OFF")
    assert not _warned(files, "Device_Level_Data_Caching_Mode", cached, reads)


def test_requests_that_wait_in_mqsims_queue_are_told(files: Files):
    """With 64 requests, 16 of them in the device, MQSim's latency is 599 us, and 149.7 us here."""
    flow = shipped(Average_No_of_Reqs_in_Queue="64", Stop_Time="1000000")
    [warning] = _warned(files, "Queue_Fetch_Size", flow, **SHIPPED | {"Queue_Fetch_Size": "16"})
    assert "64 requests for flow 0, so 4 times the latency of here" in warning
    assert "End_to_End_Request_Delay" in warning
    assert not _warned(files, "Queue_Fetch_Size", flow, **SHIPPED)


def test_classes_that_take_turns_are_told_if_chips_are_busy(files: Files):
    policy = {"Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER"}
    high, low = (flow_xml(Priority_Class=of) for of in ("HIGH", "LOW"))
    busy = flow_xml(Priority_Class="HIGH", Average_No_of_Reqs_in_Queue="8")
    [warning] = _warned(files, "Priority_Class", busy, low, **policy)
    assert "MQSim gives of 5 turns HIGH 4, LOW 1; here LOW waits for the others" in warning
    assert not _warned(files, "Priority_Class", busy, high, **policy)
    assert not _warned(files, "Priority_Class", busy, low)


def test_rewrites_within_a_second_are_those_of_a_naive_count():
    """The least share of writes to a page that was written before, by drawing them."""
    from flashscape.mqsim.accesses import drawn

    rng = random.Random(11)
    pages, draws = 1000, 700
    distinct = sum(len({rng.randrange(pages) for _ in range(draws)}) for _ in range(200)) / 200
    assert drawn(pages, draws) == pytest.approx(distinct, rel=0.01)


def test_the_rate_of_satas_adapter_is_told(files: Files):
    """1 us a request: a million of them a second."""
    sata = {"HostInterface_Type": "SATA"}
    deep = files.write(flow_xml(Average_No_of_Reqs_in_Queue="8"), **sata).imported()
    [warning] = deep.warnings
    assert "1,000,000 requests a second at most" in warning
    assert files.write(**sata).imported().warnings == []
    assert files.write(**sata, SATA_Processing_Delay="0").imported().warnings == []
