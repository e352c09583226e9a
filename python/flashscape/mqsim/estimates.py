"""Sizes of what the import leaves out or approximates, computed from the keys alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashscape import units
from flashscape.imported import Verdict
from flashscape.mqsim import caches, joins, workload

if TYPE_CHECKING:
    from flashscape.mqsim.flow import Flow
    from flashscape.mqsim.section import Section
    from flashscape.mqsim.space import Space

_SECOND = 10**9
"""Nanoseconds."""


def warnings(
    host: Section, device: Section, flash: Section, space: Space, flows: list[Flow]
) -> list[str]:
    """Return the differences that can be large; record their sizes in the reasons of keys."""
    return [
        *caches.of_the_map(device, space, flows),
        *caches.of_writes(device, flash, space, flows),
        *caches.of_reads(device, space, flows),
        *caches.of_modes(flash, flows),
        *joins.warnings(device, flash, space, flows),
        *_of_queues(device, flows),
        *_of_priorities(space, flows),
        *_of_the_adapter(host, device, flows),
    ]


def _of_queues(device: Section, flows: list[Flow]) -> list[str]:
    """Return the flows that want more requests under way than MQSim's device takes."""
    name = "Queue_Fetch_Size"
    limit = device.whole(name)
    told = [
        f"{flow.depth} requests for {flow.section.title}, "
        f"so {flow.depth / limit:.3g} times the latency of here"
        for flow in flows
        if flow.depth > limit
    ]
    if not told or device.text("HostInterface_Type") == "SATA":
        return []
    return [
        f"{name} allows {limit} requests of a flow in the device. The others wait in MQSim's "
        "queue, and are not issued here. Rates are alike, but MQSim's End_to_End_Request_Delay "
        f"has this wait: {'; '.join(told)}"
    ]


def _of_priorities(space: Space, flows: list[Flow]) -> list[str]:
    """Return what becomes of classes that take turns in MQSim, if they keep chips busy."""
    taking = [flow for flow in flows if workload.takes_turns(flow)]
    classes = {flow.section.text("Priority_Class") for flow in taking}
    chips = space.levels[0] * space.levels[1]
    busy = math.inf if any(flow.is_open for flow in taking) else sum(flow.depth for flow in taking)
    if len(classes) < 2 or busy * _SOME < chips:
        return []
    return [
        f"Priority_Class: {workload.turns(classes)}. If the classes keep the chips busy, latencies "
        "differ (readers of HIGH, MEDIUM and LOW with 64 requests each on 32 chips: 0.69, 1.22 and "
        "1.91 ms in MQSim, 0.76, 0.76 and 7.57 ms here)"
    ]


_SOME = 4
"""Share of chips that must be busy with others, as a divisor."""


def _of_the_adapter(host: Section, device: Section, flows: list[Flow]) -> list[str]:
    """Return the rate of SATA's adapter, which handles one request at a time."""
    name = "SATA_Processing_Delay"
    delay = host.whole(name)
    if device.text("HostInterface_Type") != "SATA" or not delay:
        return []
    most = _SECOND / delay
    why = (
        f"{units.duration(delay)} before and after each request; the adapter handles one at a "
        f"time in MQSim, which is {most:,.0f} requests a second at most, and any number here"
    )
    host.say(name, Verdict.APPROXIMATED, why)
    # The two ends of the adapter hold a request each.
    return [f"{name}: {why}"] if sum(_held(flow, delay) for flow in flows) > 2 else []


def _held(flow: Flow, delay: int) -> float:
    """Return how many requests of a flow the adapter would hold, if it held any number."""
    if flow.is_trace:
        return math.inf
    if flow.section.text("Synthetic_Generator_Type") == "BANDWIDTH":
        return 2 * delay * flow.section.whole("Bandwidth") / flow.mean_bytes / _SECOND
    return flow.section.whole("Average_No_of_Reqs_in_Queue")
