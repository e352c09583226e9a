"""Multi-plane commands, to which MQSim joins commands for the same page number of planes of a die.

Here each page is a command of its own. Two cases can make a large difference: requests with
several pages in a die, and programs that wait in such numbers that many of them find a partner.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashscape import units
from flashscape.imported import Verdict
from flashscape.mqsim import boxes, buffer

if TYPE_CHECKING:
    from flashscape.mqsim.boxes import Box
    from flashscape.mqsim.flow import Flow
    from flashscape.mqsim.section import Section
    from flashscape.mqsim.space import Space

_WORTH_A_WARNING = 1.1
"""Times as long from which on the difference is a warning."""

_KEY = "Plane_No_Per_Die"


def warnings(device: Section, flash: Section, space: Space, flows: list[Flow]) -> list[str]:
    """Return the flows whose requests take longer here; record that in the reason of the key."""
    told = []
    for flow in flows:
        box = space.box(flow.part)
        if flow.is_trace or len(box[-1]) == 1:
            continue
        neighbours = _neighbours(device, space, flow, box)
        share, times = _joined(device, flash, space, flow, box)
        if neighbours > 1:
            told.append(
                f"requests of {flow.section.title} have up to {neighbours} pages in planes of the "
                "same die, which MQSim reads or programs in one command. So they take up to "
                f"{neighbours} times as long here"
            )
        elif times >= _WORTH_A_WARNING:
            told.append(
                f"so many programs of {flow.section.title} wait in MQSim that about "
                f"{units.percent(share)} of them share a command with another plane (fewer in a "
                f"longer run). So writes that wait for flash take about {times:.3g} times as long "
                "here"
            )
    if not told:
        return []
    why = f"each page is a command of its own here: {'; '.join(told)}"
    flash.say(_KEY, Verdict.APPROXIMATED, why)
    return [f"{_KEY}: {why}"]


def _neighbours(device: Section, space: Space, flow: Flow, box: Box) -> int:
    """Return how many pages that are accessed together lie in different planes of one die."""
    before, _, _ = device.text("Plane_Allocation_Scheme").partition("P")
    apart = math.prod(len(box["CWDP".index(level)]) for level in before)
    together = max(flow.mean_bytes / space.page_bytes, 1.0)
    if flow.section.text("Address_Distribution") == "STREAMING":
        together *= flow.depth
    return min(math.ceil(together / apart), len(box[-1]))


def _joined(
    device: Section, flash: Section, space: Space, flow: Flow, box: Box
) -> tuple[float, float]:
    """Return the share of programs that find a partner, and how much longer all take without.

    Each plane is at a page of its own in its open block. Two planes begin at the same page and
    drift apart as random walks, so that after n programs of each their distance has the variance
    2 n. They find partners while it is less than the number of programs that wait for a plane.
    """
    planes = boxes.size(box)
    waiting = _waiting(device, space, flow) / planes
    programs = _programs(flash, flow, box) / planes
    if waiting <= 0 or programs <= 0:
        return 0.0, 1.0
    # The chance at n is c / sqrt(n) at most, whose integral is 2 c sqrt(n).
    c = waiting / math.sqrt(math.pi)
    certain = min(c * c, programs)
    share = (certain + 2 * c * (math.sqrt(programs) - math.sqrt(certain))) / programs
    return share, 1 / (1 - share * (1 - 1 / len(box[-1])))


def _waiting(device: Section, space: Space, flow: Flow) -> float:
    """Return the programs of a flow that are under way together."""
    if flow.is_caching and flow.write_share > _MOSTLY:
        return buffer.under_way(device, space, flow.mean_bytes)
    return flow.depth * flow.write_share * max(flow.mean_bytes / space.page_bytes, 1.0)


_MOSTLY = 0.5
"""Share of writes from which on a flow whose writes are cached fills the cache."""


def _programs(flash: Section, flow: Flow, box: Box) -> float:
    """Return the programs of a flow in the run."""
    time = flow.section.whole("Stop_Time")
    if not time:
        requests = flow.section.whole("Total_Requests_To_Generate")
        return requests * flow.write_share * max(flow.mean_bytes / flow.page_bytes, 1.0)
    chips = len(box[0]) * len(box[1])
    return time * chips / max(flash.whole("Page_Program_Latency_LSB"), 1)
