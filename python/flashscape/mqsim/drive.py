"""Conversion of Host_, Device_ and Flash_Parameter_Set to the drive."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.imported import Verdict
from flashscape.mqsim import buffer, collection
from flashscape.mqsim.section import sources
from flashscape.mqsim.space import LEVELS, SECTOR
from flashscape.written import Row, Table

if TYPE_CHECKING:
    from flashscape.mqsim.flow import Flow
    from flashscape.mqsim.section import Section
    from flashscape.mqsim.space import Space

READ_COMMAND_NS = 290
"""tCS + 6 tWC + tWB + tRR (ONFI_Channel_NVDDR2.h)."""
READY_NS = 20
"""Time from the end of a read's sensing to ready/busy (Flash_Chip.h)."""
PROGRAM_COMMAND_NS = 361
"""tCS + 6 tWC + tADL + tWPST + tWPSTH + tWB."""
ERASE_COMMAND_NS = 220
"""tCS + 4 tWC + tWB."""

_HEADERS = 28
"""Bytes beside the payload of a packet: 20 + 6 + 2 (PCIe_Link.h)."""
_PAYLOAD = 128
"""Most payload bytes of a packet."""

_DOORBELL = 2 + _HEADERS
_READ_REQUEST = 4 + _HEADERS
_COMMAND = 72 + _HEADERS
"""sizeof(Submission_Queue_Entry) in Host_Interface_Defs.h."""
_COMPLETION = 16 + _HEADERS

_BITS = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}


def tables(
    host: Section,
    device: Section,
    flash: Section,
    space: Space,
    flows: list[Flow],
    bounds: collection.Bounds,
) -> list[Table]:
    """Return the tables of the drive; garbage collection runs between ``bounds``."""
    return [
        _geometry(device, flash, space),
        _nand(device, flash),
        _concurrency(),
        _ftl(device, flash, space, flows),
        _sets(space, flows),
        _allocation(device),
        collection.table(device, flash, bounds),
        _scheduler(device),
        buffer.table(device, space, flows),
        _link(host, device),
        _firmware(host, device),
    ]


def note_inert(host: Section, device: Section, flash: Section, flows: list[Flow]) -> None:
    """Record verdicts on keys that set nothing, according to their values."""
    bits = _BITS[flash.text("Flash_Technology")]
    for kind in ("Read", "Program"):
        for page in {"LSB", "CSB", "MSB"} - set(bits):
            why = f"{flash.text('Flash_Technology')} has no such pages (SSD_Device.cpp)"
            flash.say(f"Page_{kind}_Latency_{page}", Verdict.INERT, why)
    if flash.whole("Die_No_Per_Chip") > 1 and any(flow.section.is_older for flow in flows):
        flash.say(
            "Die_No_Per_Chip",
            Verdict.APPROXIMATED,
            "the workload has names of values from an MQSim of before June 2018, which gives each "
            "die of an idle chip a command in one call (TSU_OutofOrder.cpp at 0d76b1d), so that "
            "dies work in parallel. Here a chip executes one command at a time, as in MQSim since "
            "April 2020 (e338620); for the older one write "
            'drive.concurrency = { read = "die", program = "die", erase = "die" }',
        )
    if flash.text("Flash_Technology") == "TLC":
        flash.say("Flash_Technology", Verdict.APPROXIMATED)
    if device.truth("Ideal_Mapping_Table"):
        device.say("Ideal_Mapping_Table", Verdict.MAPPED, "the whole map is in memory, as here")
        for name in ("CMT_Capacity", "CMT_Sharing_Mode"):
            device.say(name, Verdict.INERT, "the mapping table is ideal")
    if device.text("Address_Mapping") == "HYBRID":
        device.refuse(
            "Address_Mapping",
            "HYBRID does nothing in MQSim, its functions are empty; write PAGE_LEVEL",
        )
    if not host.truth("Enable_ResponseTime_Logging"):
        why = "Enable_ResponseTime_Logging is false"
        host.say("ResponseTime_Logging_Period_Length", Verdict.INERT, why)
    cut = flash.whole("Page_Capacity") % 512
    if cut:
        why = f"{cut} B less, as MQSim takes whole sectors of 512 B; also drive.ftl.unit"
        flash.say("Page_Capacity", Verdict.APPROXIMATED, why)
    else:
        flash.say("Page_Capacity", Verdict.MAPPED, "also the mapping unit, drive.ftl.unit")


def message_ns(host: Section, size: int) -> int:
    """Return the time that so many bytes take on the link, headers included (PCIe_Link.h)."""
    lanes = host.whole("PCIe_Lane_Count")
    return int(math.ceil(size / lanes) / host.real("PCIe_Lane_Bandwidth"))


def _geometry(device: Section, flash: Section, space: Space) -> Table:
    channels, chips, dies, planes = space.levels
    return Table(
        "drive.geometry",
        [
            _count("channels", channels, device, "Flash_Channel_Count"),
            _count("packages_per_channel", chips, device, "Chip_No_Per_Channel"),
            _count("dies_per_package", dies, flash, "Die_No_Per_Chip"),
            _count("planes_per_die", planes, flash, "Plane_No_Per_Die"),
            _count("blocks_per_plane", space.blocks_per_plane, flash, "Block_No_Per_Plane"),
            _count("pages_per_block", space.pages_per_block, flash, "Page_No_Per_Block"),
            Row("page_size", written.size(space.page_bytes), sources(flash, "Page_Capacity")),
            Row(
                "page_spare",
                "0 B",
                remark="MQSim transfers no metadata (Page_Metadat_Capacity is inert)",
            ),
        ],
    )


def _count(key: str, used: int, section: Section, name: str) -> Row:
    """Return a row with a number of components, counting only those that flows use."""
    there = section.whole(name)
    remark = "" if used == there else f"of {there}: no flow uses the others"
    if remark:
        section.say(name, why=f"{used} {remark}")
    return Row(key, used, sources(section, name), remark)


def _nand(device: Section, flash: Section) -> Table:
    technology = flash.text("Flash_Technology")
    erase = flash.whole("Block_Erase_Latency")
    execute: dict[str, written.Value] = {
        "steps": 1,
        "ramp": "0 us",
        "execute": written.time(erase),
    }
    cycles: dict[str, written.Value] = {
        "read": written.time(READ_COMMAND_NS),
        "program": written.time(PROGRAM_COMMAND_NS),
        "erase": written.time(ERASE_COMMAND_NS),
    }
    return Table(
        "drive.nand",
        [
            Row("cell", technology.lower(), sources(flash, "Flash_Technology")),
            _latencies("read", flash, "Read", READY_NS, f"with {READY_NS} ns until ready/busy"),
            _latencies("program", flash, "Program"),
            Row(
                "erase",
                {**execute, "recover": "0 us", "verify": "0 us"},
                sources(flash, "Block_Erase_Latency"),
            ),
            Row("command_cycles", cycles, remark="ONFI_Channel_NVDDR2 has them in its code"),
            Row("decode", "0 us", remark="MQSim has no error correction"),
            Row("codeword", "512 B", remark="reads transfer the sectors that are asked for"),
            _channel(device),
            Row(
                "endurance",
                0,
                remark="blocks never wear out in MQSim (Block_PE_Cycles_Limit is inert)",
            ),
        ],
    )


def _latencies(key: str, flash: Section, kind: str, beside: int = 0, remark: str = "") -> Row:
    names = [f"Page_{kind}_Latency_{page}" for page in _BITS[flash.text("Flash_Technology")]]
    times = [written.time(flash.whole(name) + beside) for name in names]
    if len(set(times)) == 1:
        times = times[:1]
    return Row(key, list(times), sources(flash, *names), remark)


def _channel(device: Section) -> Row:
    """Return the channel's rate: a transfer takes whole nanoseconds, as in MQSim."""
    transfers, width = device.whole("Channel_Transfer_Rate"), device.whole("Flash_Channel_Width")
    names = ("Channel_Transfer_Rate", "Flash_Channel_Width")
    step = 1000 // transfers
    if step == 0:
        why = (
            f"{transfers} MT/s x {width} B; MQSim cuts the time of a transfer to 0 ns "
            "above 1000 MT/s, "
            "its channel is infinitely fast (the cast in SSD_Device.cpp)"
        )
        device.say(names[0], Verdict.APPROXIMATED, why)
        device.say(names[1], Verdict.APPROXIMATED, "see Channel_Transfer_Rate")
        return Row(
            "channel",
            written.rate(transfers * width * 10**6),
            sources(device, *names),
            "in MQSim 0 ns a transfer",
        )
    remark = f"{step} ns a transfer of {width} B"
    if 1000 % transfers:
        says = f"{written.decimal(Decimal(1000) / transfers)[:6]} ns a transfer, cut to {step} ns"
        why = (
            f"{says} as MQSim does (the cast in SSD_Device.cpp): {1000 / step:.6g} "
            f'MT/s; write "{transfers * width} MB/s" for what the file says'
        )
        device.say(names[0], why=why)
        remark = f"{remark}, cut as in MQSim"
    return Row(
        "channel", written.rate(round(width * 10**9 / step)), sources(device, *names), remark
    )


def _concurrency() -> Table:
    remark = "MQSim's chips do one command at a time, whichever their dies"
    return Table(
        "drive.concurrency",
        [Row(key, "package") for key in ("read", "program", "erase")],
        remark=remark,
    )


def _ftl(device: Section, flash: Section, space: Space, flows: list[Flow]) -> Table:
    percent = written.decimal(round(Decimal(repr(device.real("Overprovisioning_Ratio"))) * 100, 9))
    none: dict[str, written.Value] = {"factory": "0 %", "grown_per_erase": "0 %"}
    return Table(
        "drive.ftl",
        [
            Row(
                "unit",
                written.size(space.page_bytes),
                (*sources(device, "Address_Mapping"), *sources(flash, "Page_Capacity")),
            ),
            *_subunit(flash, space, flows),
            Row("block_planes", 1),
            Row(
                "over_provisioning",
                {"reserved": f"{percent} %"},
                sources(device, "Overprovisioning_Ratio"),
            ),
            Row("bad_blocks", none),
        ],
    )


def _subunit(flash: Section, space: Space, flows: list[Flow]) -> list[Row]:
    """Return the sectors that the map knows of, if flows write parts of pages."""
    if not any(flow.writes and flow.is_partial for flow in flows):
        return []
    sectors = next(
        of
        for of in range(1, space.page_sectors)
        if space.page_sectors % of == 0 and space.page_sectors // of <= _MOST_SUBUNITS
    )
    remark = "MQSim's map knows which sectors were written"
    if sectors > 1:
        why = (
            f"MQSim's map has 64 bits for the written sectors of a page, and this page has "
            f"{space.page_sectors}; here a bit is for {sectors} sectors"
        )
        flash.say("Page_Capacity", Verdict.APPROXIMATED, why)
    return [Row("subunit", written.size(sectors * SECTOR), sources(flash, "Page_Capacity"), remark)]


_MOST_SUBUNITS = 64
"""Most subunits of a mapping unit, and bits of MQSim's map for a page."""


def _sets(space: Space, flows: list[Flow]) -> Table:
    _, _, dies_per_chip, _ = space.levels
    parts: list[dict[str, written.Value]] = []
    for of in space.sets:
        channels, chips, dies, planes = map(sorted, of.box)
        part: dict[str, written.Value] = {
            "channels": channels,
            "dies": [chip * dies_per_chip + die for chip in chips for die in dies],
            "planes": planes,
        }
        counts = (
            space.levels[0],
            space.levels[1] * dies_per_chip,
            space.levels[3],
        )
        parts.append(
            {
                key: numbers
                for (key, numbers), count in zip(part.items(), counts, strict=True)
                if isinstance(numbers, list) and len(numbers) < count
            }
        )
    if not parts:
        return Table("drive.ftl.sets")
    from_keys = tuple((flow.section.title, name) for flow in flows for name in LEVELS)
    idle = len(parts) - max(flow.part.nvm_set or 0 for flow in flows)
    remark = "the last is used by no flow" if idle == 1 else f"the last {idle} are used by no flow"
    return Table("drive.ftl.sets", [Row("parts", parts, from_keys, remark if idle else "")])


def _allocation(device: Section) -> Table:
    order = device.text("Plane_Allocation_Scheme")
    return Table(
        "drive.ftl.allocation",
        [
            Row("pool", "plane", remark="the plane follows from the address"),
            Row("order", order, sources(device, "Plane_Allocation_Scheme")),
            Row("choice", "round-robin"),
            Row("streams", "separate", remark="collection has write frontiers of its own in MQSim"),
            Row("free_block", "least-worn", remark="dynamic wear-leveling is always on in MQSim"),
        ],
    )


def _scheduler(device: Section) -> Table:
    name = "Transaction_Scheduling_Policy"
    policy = device.text(name)
    if policy == "FLIN":
        device.refuse(
            name,
            "MQSim ends at FLIN, its scheduler is commented out (SSD_Device.cpp); "
            "write OUT_OF_ORDER or PRIORITY_OUT_OF_ORDER",
        )
    if policy == "PRIORITY_OUT_OF_ORDER":
        device.say(
            name, Verdict.APPROXIMATED, "reads go before all else, by Priority_Class, which see"
        )
    else:
        device.say(name, Verdict.MAPPED, "reads go before all else")
    return Table(
        "drive.scheduler",
        [
            Row("bypass", "drain", sources(device, name), "reads go before all else"),
            Row(
                "channel",
                {"policy": "data-first", "strict": True},
                remark="MQSim gives a chip a command if no data waits for the channel",
            ),
        ],
    )


def _link(host: Section, device: Section) -> Table:
    names = ("PCIe_Lane_Count", "PCIe_Lane_Bandwidth")
    lanes, bandwidth = host.whole(names[0]), host.real(names[1])
    if bandwidth <= 0:
        host.refuse(names[1], f"{bandwidth:g} GB/s is no bandwidth")
    rate = round(lanes * bandwidth * 1e9 * _PAYLOAD / (_PAYLOAD + _HEADERS))
    if device.text("HostInterface_Type") == "SATA":
        device.say(
            "HostInterface_Type",
            Verdict.APPROXIMATED,
            "the link is PCIe's in MQSim, too; the adapter's delay is in "
            "drive.firmware, and each flow has a queue of its own",
        )
    else:
        device.say("HostInterface_Type", Verdict.MAPPED, "")
    return Table(
        "drive.link",
        [
            Row(
                "rate",
                written.rate(max(rate, 0)),
                sources(host, *names),
                f"{lanes} x {bandwidth:g} GB/s x 128/156 for packet headers",
            ),
            Row("duplex", "full", sources(device, "HostInterface_Type")),
        ],
    )


def _firmware(host: Section, device: Section) -> Table:
    name = "SATA_Processing_Delay"
    is_sata = device.text("HostInterface_Type") == "SATA"
    delay = 2 * host.whole(name) if is_sata else 0
    if is_sata:
        why = (
            "before and after each request; the adapter handles one at a time in "
            "MQSim, any number here"
        )
        host.say(name, Verdict.APPROXIMATED, why)
    else:
        host.say(name, Verdict.INERT, "the host interface is NVMe (Host_System.cpp)")
    if host.real("PCIe_Lane_Bandwidth") <= 0:
        return Table("drive.firmware", [])
    exchange = sum(
        message_ns(host, size) for size in (_DOORBELL, _READ_REQUEST, _COMMAND, _COMPLETION)
    )
    from_keys = sources(
        host, "PCIe_Lane_Count", "PCIe_Lane_Bandwidth", *((name,) if is_sata else ())
    )
    data = message_ns(host, _READ_REQUEST)
    return Table(
        "drive.firmware",
        [
            Row(
                "read",
                written.time(exchange + delay),
                from_keys,
                "doorbell, command and completion on the link",
            ),
            Row(
                "write",
                written.time(exchange + data + delay),
                from_keys,
                "and the request for the data",
            ),
            Row("trim", "0 us"),
            Row("flush", "0 us"),
        ],
    )
