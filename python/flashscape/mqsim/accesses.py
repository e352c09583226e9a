"""Pages that the requests of a synthetic flow access, computed from its keys."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashscape.mqsim.flow import Flow


def touches(flow: Flow) -> float:
    """Return how often requests access a page, if their number is known."""
    requests = flow.section.whole("Total_Requests_To_Generate")
    if flow.section.whole("Stop_Time") or not requests:
        return math.inf
    return requests * max(flow.mean_bytes / flow.page_bytes, 1.0)


def pages(flow: Flow) -> float:
    """Return the pages that a flow may access."""
    return max(flow.reach / flow.page_bytes, 1.0)


def distinct(flow: Flow, accesses: float) -> float:
    """Return how many pages so many accesses reach, in the mean."""
    of_flow, distribution = pages(flow), flow.section.text("Address_Distribution")
    if distribution == "STREAMING":
        of_page = max(flow.page_bytes / flow.mean_bytes, 1.0)
        return min(accesses / of_page, of_flow)
    if distribution == "RANDOM_UNIFORM":
        return drawn(of_flow, accesses)
    hot = flow.section.whole("Percentage_of_Hot_Region") / 100
    return drawn(of_flow * hot, accesses * (1 - hot)) + drawn(of_flow * (1 - hot), accesses * hot)


def drawn(among: float, draws: float) -> float:
    """Return how many of so many pages are drawn at least once."""
    return -among * math.expm1(-draws / among) if among else 0.0


def reaching(flow: Flow, wanted: float, most: float) -> float:
    """Return after how many accesses so many pages are accessed; ``most`` if that is less."""
    if distinct(flow, most) <= wanted:
        return most
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if distinct(flow, middle) > wanted else (middle, high)
    return low
