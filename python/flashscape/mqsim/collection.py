"""Garbage collection: thresholds and victims."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from flashscape.imported import Verdict
from flashscape.mqsim.section import sources
from flashscape.written import Row, Table

if TYPE_CHECKING:
    from flashscape.mqsim.section import Section

COLLECTIONS = 10
"""max_ongoing_gc_reqs_per_plane: the least threshold; below it host writes stop."""

TOGETHER = COLLECTIONS - 1
"""Other collections that are running when the last one begins, at the least threshold."""


class Bounds(NamedTuple):
    """Limits of free blocks in a plane, between which garbage collection runs."""

    below: int
    """Collection begins below this number."""
    beyond: int = 0
    """At the least threshold, collection continues until this many more are free."""


def table(device: Section, flash: Section, bounds: Bounds) -> Table:
    """Return the table of garbage collection with these bounds."""
    least = _threshold(device, flash, "GC_Exec_Threshold")
    wanted = max(least, COLLECTIONS)
    remark = f"MQSim begins below {wanted}"
    first = max(bounds.below - 1, 1)
    last = first
    if bounds.below < wanted:
        remark = f"{remark}, which can never be reached"
        why = (
            f"{wanted} free blocks of a plane can never be reached with what "
            f"Overprovisioning_Ratio leaves: MQSim would collect without end. "
            f"Lowered to {bounds.below}"
        )
        device.say("GC_Exec_Threshold", Verdict.APPROXIMATED, why)
    elif wanted == COLLECTIONS:
        last += bounds.beyond
        goes_on = last == first + TOGETHER
        verdict = Verdict.MAPPED if goes_on else Verdict.APPROXIMATED
        device.say("GC_Exec_Threshold", verdict, _why(first, last, is_raised=least < wanted))
    preemptible = device.truth("Preemptible_GC_Enabled")
    if preemptible:
        foreground = min(
            max(_threshold(device, flash, "GC_Hard_Threshold"), COLLECTIONS) - 1, first
        )
        foreground_from: tuple[str, ...] = ("GC_Hard_Threshold",)
    else:
        foreground, foreground_from = first, ("Preemptible_GC_Enabled",)
        why = "collection always goes first without Preemptible_GC_Enabled"
        device.say("GC_Hard_Threshold", Verdict.INERT, why)
    return Table(
        "drive.ftl.gc",
        [
            _victim(device, flash),
            Row("background", f"{first} blocks", sources(device, "GC_Exec_Threshold"), remark),
            Row("foreground", f"{foreground} blocks", sources(device, *foreground_from)),
            Row("stop", f"{last} blocks", sources(device, "GC_Exec_Threshold")),
            Row("pacing", "none"),
            Row("preemptible", preemptible, sources(device, "Preemptible_GC_Enabled")),
            *_reserved(device, preemptible=preemptible),
            Row(
                "copy_back",
                device.truth("Use_Copyback_for_GC"),
                sources(device, "Use_Copyback_for_GC"),
            ),
            Row("window", 8, remark="MQSim asks for all reads of a victim at once"),
        ],
    )


def _reserved(device: Section, *, preemptible: bool) -> list[Row]:
    if preemptible:
        return []
    remark = "host operations of a chip wait until no GC operation waits there"
    return [Row("reserve_until", "stop", sources(device, "Preemptible_GC_Enabled"), remark)]


def _why(first: int, last: int, *, is_raised: bool) -> str:
    """Explain the least threshold: GC begins at ``first`` free blocks and ends above ``last``."""
    why = f"MQSim begins below {COLLECTIONS} blocks, here collection begins at its threshold"
    if is_raised:
        why = f"{COLLECTIONS} blocks are MQSim's least (SSD_Device.cpp); {why}"
    why += (
        f", hence {first}. Below it the end of an erase begins another collection, "
        f"of {COLLECTIONS} at most, so that {first + COLLECTIONS} are free when all have ended"
    )
    if last < first + TOGETHER:
        why += f"; what Overprovisioning_Ratio leaves is enough for {last + 1} here"
    return why


def _victim(device: Section, flash: Section) -> Row:
    name = "GC_Block_Selection_Policy"
    policy = device.text(name)
    from_key = sources(device, name)
    if policy == "RGA":
        choices = max(int(math.log2(flash.whole("Block_No_Per_Plane"))), 1)
        why = (
            f"the best of log2(Block_No_Per_Plane) = {choices} blocks, drawn among all but open "
            "ones; if none of them gains space MQSim collects nothing, and others are drawn here"
        )
        device.say(name, Verdict.MAPPED, why)
        return Row("victim", {"policy": "d-choices", "choices": choices, "among": "all"}, from_key)
    if policy in ("GREEDY", "FIFO"):
        device.say(name, Verdict.MAPPED, "")
        return Row("victim", policy.lower(), from_key)
    why = {
        "RANDOM": (
            "drawn among full blocks here, among all but open ones in MQSim, "
            "which does nothing if it draws a free one"
        ),
        "RANDOM_P": "drawn among full blocks",
        "RANDOM_PP": (
            "drawn among full blocks; MQSim tries again if a block has too few invalid pages"
        ),
    }[policy]
    device.say(name, Verdict.MAPPED if policy == "RANDOM_P" else Verdict.APPROXIMATED, why)
    return Row("victim", "random", from_key)


def _threshold(device: Section, flash: Section, name: str) -> int:
    """Return a threshold of free blocks in a plane, as MQSim computes it."""
    return max(int(device.real(name) * flash.whole("Block_No_Per_Plane")), 1)


def wanted(device: Section, flash: Section) -> Bounds:
    """Return MQSim's bounds."""
    return Bounds(max(_threshold(device, flash, "GC_Exec_Threshold"), COLLECTIONS), TOGETHER)
