"""Sizes of the differences between MQSim's caches and what stands for them here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashscape import units
from flashscape.imported import Verdict
from flashscape.mqsim import accesses, buffer

if TYPE_CHECKING:
    from flashscape.mqsim.flow import Flow
    from flashscape.mqsim.section import Section
    from flashscape.mqsim.space import Space

_WORTH_A_WARNING = 0.1
"""Share of a flow's requests from which on the difference is a warning."""

_SECOND = 10**9
"""Nanoseconds after which MQSim forgets which pages it has programmed (``bloom_filter``)."""

_MODE = "Device_Level_Data_Caching_Mode"


def of_the_map(device: Section, space: Space, flows: list[Flow]) -> list[str]:
    """Return the misses of a map that is cached; here the whole map is in memory."""
    if device.truth("Ideal_Mapping_Table"):
        return []
    entries = device.whole("CMT_Capacity") // _entry_bytes(space)
    is_shared = device.text("CMT_Sharing_Mode") == "SHARED"
    of_flow = entries if is_shared else entries // len(flows)
    told, most = [], 0.0
    for flow in flows:
        share = _missing(flow, of_flow, is_warm=device.truth("Enabled_Preconditioning"))
        most = max(most, share)
        told.append(f"about {units.percent(share)} of the accesses of {flow.section.title}")
    why = (
        f"in MQSim the cached map has {of_flow:,} entries{'' if is_shared else ' for each flow'}, "
        f"and {' and '.join(told)} miss it. A miss reads a page of the map from flash first; here "
        "nothing misses"
    )
    device.say("Ideal_Mapping_Table", Verdict.APPROXIMATED, why)
    if most < _WORTH_A_WARNING:
        return []
    remedy = (
        "So a read that misses takes two flash reads there and one here. For a comparison set "
        "Ideal_Mapping_Table to true in MQSim's file"
    )
    return [f"Ideal_Mapping_Table is false: {why}. {remedy}"]


def _entry_bytes(space: Space) -> int:
    """Return the size of an entry of the cached map (Address_Mapping_Unit_Page_Level.cpp)."""
    pages = space.all_planes * space.blocks_per_plane * space.pages_per_block
    return math.ceil((2 * math.log2(pages) + space.page_sectors) / 8)


def _missing(flow: Flow, entries: int, *, is_warm: bool) -> float:
    """Return the share of accesses that miss; preconditioning warms the map up."""
    if flow.is_trace:
        pages, touches = flow.part.size / flow.page_bytes, math.inf
    else:
        pages, touches = accesses.pages(flow), accesses.touches(flow)
    lasting = max(1 - entries / max(pages, 1), 0.0)
    first = 0.0 if is_warm or math.isinf(touches) else accesses.distinct(flow, touches) / touches
    return max(lasting, first)


def of_writes(device: Section, flash: Section, space: Space, flows: list[Flow]) -> list[str]:
    """Return the pages that MQSim keeps, because they were programmed within the last second."""
    caching = [flow for flow in flows if flow.writes and flow.is_caching and not flow.is_trace]
    told, most = [], 1.0
    for flow in caching:
        share, times = _rewritten(device, flow, _programs(flash, space, flow) * _SECOND)
        if times >= 1 + _WORTH_A_WARNING:
            most = max(most, times)
            told.append(f"about {units.percent(share)} of the writes of {flow.section.title}")
    if not told:
        return []
    why = (
        f"{' and '.join(told)} go to a page that the flow has written within the last second. "
        "MQSim keeps these in its cache of "
        f"{units.size(device.whole('Data_Cache_Capacity'))} until it needs the room; here "
        "they are programmed at once, unless the page still waits in the buffer. So writes that "
        f"wait for flash take {_times(most)} as long here"
    )
    device.say("Caching_Mechanism", Verdict.APPROXIMATED, why)
    return [f"the cache of writes: {why}"]


def _times(times: float) -> str:
    return "more than a hundred times" if times > _HUNDRED else f"about {times:.3g} times"


_HUNDRED = 100


def _programs(flash: Section, space: Space, flow: Flow) -> float:
    """Return the pages that the chips of a flow program in a nanosecond."""
    box = space.box(flow.part)
    return len(box[0]) * len(box[1]) / max(flash.whole("Page_Program_Latency_LSB"), 1)


def _rewritten(device: Section, flow: Flow, programs: float) -> tuple[float, float]:
    """Return the share of a second's writes that write a page again, and how much faster that is.

    In a second MQSim programs each page once, so the chips reach as many pages as they program.
    """
    writes = accesses.touches(flow) * flow.write_share
    most = min(_SECOND / max(buffer.dram_ns(device, flow.mean_bytes), 1), writes)
    if flow.section.text("Synthetic_Generator_Type") == "BANDWIDTH":
        offered = flow.section.whole("Bandwidth") / flow.page_bytes
        most = min(most, offered * flow.write_share)
    touches = accesses.reaching(flow, programs, most)
    if touches < 1:
        return 0.0, 1.0
    share = 1 - accesses.distinct(flow, touches) / touches
    # A run that ends before the second is over programs what it has written.
    here = programs if touches < writes else accesses.distinct(flow, touches)
    return share, max(touches / max(here, 1), 1.0)


def of_reads(device: Section, space: Space, flows: list[Flow]) -> list[str]:
    """Return the reads that MQSim serves from a read cache; there is none here."""
    told, most = [], 0.0
    cached = [flow for flow in flows if flow.reads and flow.is_read_caching]
    pages = device.whole("Data_Cache_Capacity") // space.page_bytes
    if device.text("Data_Cache_Sharing_Mode") != "SHARED":
        pages //= len(flows)
    for flow in cached:
        if flow.is_trace:
            continue
        share = _hits(flow, pages)
        why = f"there is no read cache here; in MQSim about {units.percent(share)} of the reads hit"
        flow.section.say(_MODE, Verdict.APPROXIMATED, why)
        if share >= _WORTH_A_WARNING:
            most = max(most, share)
            told.append(f"about {units.percent(share)} of the reads of {flow.section.title}")
    if not told:
        return []
    return [
        f"{_MODE}: {' and '.join(told)} hit MQSim's read cache of "
        f"{units.size(device.whole('Data_Cache_Capacity'))}, and there is none here. So reads take "
        f"up to {1 / (1 - min(most, 0.99)):.3g} times as long here, in the mean"
    ]


def _hits(flow: Flow, pages: int) -> float:
    """Return the share of reads whose page is among those that were read last."""
    reads = min(accesses.touches(flow) * (1 - flow.write_share), _FOR_EVER)
    filling = accesses.reaching(flow, pages, reads)
    hits = filling - accesses.distinct(flow, filling)
    step = max(filling / 1000, 1.0)
    fresh = (accesses.distinct(flow, filling + step) - accesses.distinct(flow, filling)) / step
    if flow.section.text("Address_Distribution") == "STREAMING" and filling < reads:
        # A page leaves before its turn comes again.
        return 0.0
    return (hits + (reads - filling) * (1 - fresh)) / max(reads, 1)


_FOR_EVER = 1e12
"""Reads of a run whose number is not known."""


def of_modes(flash: Section, flows: list[Flow]) -> list[str]:
    """Return the flows whose writes are cached because those of others are."""
    writers = [flow for flow in flows if flow.writes]
    strict = [flow for flow in writers if not flow.is_caching]
    if not strict or len(strict) == len(writers):
        return []
    names = " and ".join(flow.section.title for flow in strict)
    program = units.duration(flash.whole("Page_Program_Latency_LSB"))
    return [
        f"{_MODE}: the writes of some flows are cached, those of {names} are not; a drive has one "
        "mode here, and all writes are cached. In MQSim each write that is not cached takes a "
        f"program of {program} at least, here it takes microseconds while the buffer has room, and "
        "waits with the others if it is full. For a comparison give all flows one mode"
    ]
