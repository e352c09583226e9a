"""Conversion of MQSim's data cache to the write buffer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.imported import Verdict
from flashscape.mqsim.section import sources
from flashscape.written import Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.mqsim.flow import Flow
    from flashscape.mqsim.section import Section
    from flashscape.mqsim.space import Space

_UNBUFFERED = 64 << 20
"""Bytes of staging if nothing is cached: MQSim has no limit there."""


_DRAM = ("Row_Size", "Data_Rate", "Data_Busrt_Size", "tRCD", "tCL", "tRP")


def table(device: Section, space: Space, flows: list[Flow]) -> Table:
    """Return the buffer of a drive with these flows."""
    caching = [flow for flow in flows if flow.writes and flow.is_caching]
    durability = Row("durability", "volatile" if caching else "none")
    durability.sources = tuple(
        (flow.section.title, "Device_Level_Data_Caching_Mode") for flow in flows if flow.writes
    )
    if not caching:
        return Table("drive.buffer", [durability, *_unbuffered(device)])
    _note_mechanism(device)
    mean = round(sum(flow.mean_bytes for flow in caching) / len(caching))
    latency = dram_ns(device, mean)
    if mean < 2 * device.whole("Data_Cache_DRAM_Row_Size"):
        why = "a request is less than two rows, and MQSim precharges for whole ones only"
        device.say("Data_Cache_DRAM_tRP", Verdict.INERT, why)
    names = [f"Data_Cache_DRAM_{name}" for name in _DRAM]
    return Table(
        "drive.buffer",
        [
            durability,
            _size(device, space, flows, caching),
            Row(
                "latency",
                written.time(latency),
                sources(device, *names),
                f"for {written.size(mean)}",
            ),
            *(
                [Row("serial", True, remark="MQSim's DRAM serves one after the other")]
                * (latency > 0)
            ),
            Row("flush", "eager", sources(device, "Caching_Mechanism")),
            Row("order", "fifo"),
            Row("read_hits", True),
        ],
    )


def _size(device: Section, space: Space, flows: list[Flow], caching: list[Flow]) -> Row:
    """Return the size of the buffer, of which each NVM set has an equal part."""
    page = space.page_bytes
    limit = _limit(space, min(flow.mean_bytes for flow in caching))
    capacity = device.whole("Data_Cache_Capacity") // page * page
    if capacity < limit:
        device.say("Data_Cache_Capacity", Verdict.MAPPED, "in whole pages")
    # Flows that write to each namespace that is written.
    writers = Counter(flow.part.namespace for flow in caching)
    remark = f"MQSim lets {written.size(limit)} be on its way to flash"
    if device.text("Data_Cache_Sharing_Mode") == "SHARED":
        each = min(limit, capacity)
        if len(writers) > 1:
            each = max(each // len(writers) // page * page, page)
            why = (
                f"MQSim's flows share {written.size(min(limit, capacity))}; here each of the "
                f"{len(writers)} NVM sets that are written has an equal part: a flow that writes "
                "more than the others waits for room earlier, and none waits for room of another"
            )
            device.say("Data_Cache_Sharing_Mode", Verdict.APPROXIMATED, why)
    else:
        of_flow = max(min(limit, capacity // len(flows) // page * page), page)
        each = of_flow * max(writers.values())
        _note_equal(device, flows, alone=max(writers.values()) == 1, size=of_flow)
    count = len(space.namespaces)
    if count > 1:
        remark = f"{written.size(each)} for each of {count} NVM sets; {remark}"
    return Row("size", written.size(each * count), sources(device, "Data_Cache_Capacity"), remark)


def _limit(space: Space, size: int) -> int:
    """Return the bytes on their way to flash that MQSim allows for writes of such a size.

    MQSim counts them in sectors, while here each part of a page takes a page.
    """
    page = space.page_bytes
    return space.all_planes * page // min(size, page) * page


def under_way(device: Section, space: Space, size: int) -> int:
    """Return how many programs for writes of such a size are under way in MQSim at most."""
    capacity = device.whole("Data_Cache_Capacity")
    return min(_limit(space, size), capacity) // space.page_bytes


def _note_equal(device: Section, flows: list[Flow], *, alone: bool, size: int) -> None:
    """Record the verdict on a cache of which each flow has an equal part."""
    name = "Data_Cache_Sharing_Mode"
    if len(flows) == 1:
        device.say(name, Verdict.INERT, "there is one flow")
    elif alone:
        device.say(name, Verdict.MAPPED, f"each flow has {written.size(size)} in its NVM set")
    else:
        why = (
            f"MQSim gives each flow {written.size(size)}; here flows that share flash share as "
            "much for all of them, of which one may use more than its part"
        )
        device.say(name, Verdict.APPROXIMATED, why)


def _unbuffered(device: Section) -> Iterable[Row]:
    why = "no flow that writes has its writes cached"
    for name in ("Caching_Mechanism", "Data_Cache_Sharing_Mode", "Data_Cache_Capacity"):
        device.say(name, Verdict.INERT, why)
    for name in _DRAM:
        device.say(f"Data_Cache_DRAM_{name}", Verdict.INERT, why)
    return (
        Row(
            "size",
            written.size(_UNBUFFERED),
            remark="staging only, large enough never to be the limit",
        ),
        Row("latency", "0 us"),
        Row("flush", "eager"),
        Row("order", "fifo"),
        Row("read_hits", True),
    )


def _note_mechanism(device: Section) -> None:
    if device.text("Caching_Mechanism") == "SIMPLE":
        why = (
            "MQSim ends at the first request: SIMPLE works with TURNED_OFF only "
            "(Data_Cache_Manager_Flash_Simple.cpp); taken as ADVANCED"
        )
        device.say("Caching_Mechanism", Verdict.APPROXIMATED, why)
    else:
        why = (
            "written to flash as soon as may be; MQSim keeps what is written again "
            "within a second until it needs the room"
        )
        device.say("Caching_Mechanism", Verdict.APPROXIMATED, why)


def dram_ns(device: Section, size: int) -> int:
    """Return the time of one access of so many bytes (estimate_dram_access_time)."""
    row, burst = (
        device.whole("Data_Cache_DRAM_Row_Size"),
        device.whole("Data_Cache_DRAM_Data_Busrt_Size"),
    )
    transfer = 1000 / device.whole("Data_Cache_DRAM_Data_Rate")
    opening = device.whole("Data_Cache_DRAM_tRCD") + device.whole("Data_Cache_DRAM_tCL")
    if size <= row:
        return opening + int(size // burst // 2 * transfer)
    a_row = int(row // burst // 2 * transfer + device.whole("Data_Cache_DRAM_tRP"))
    rest = int((size % row) / (burst * transfer))
    return opening + a_row * (size // row // 2) + opening + rest
