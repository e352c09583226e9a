"""Garbage collection: thresholds and victims."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashscape.mqsim.imported import Verdict
from flashscape.mqsim.toml import Row, Table, sources

if TYPE_CHECKING:
    from flashscape.mqsim.section import Section

COLLECTIONS = 10
"""max_ongoing_gc_reqs_per_plane: the least threshold; below it no host write goes on."""


def table(device: Section, flash: Section, begin: int) -> Table:
    """Collection that begins below so many free blocks of a plane."""
    wanted = max(_threshold(device, flash, "GC_Exec_Threshold"), COLLECTIONS)
    remark = f"MQSim begins below {wanted}"
    soft = max(begin - 1, 1)
    if begin < wanted:
        remark = f"{remark}, which can never be reached"
        why = (
            f"{wanted} free blocks of a plane can never be reached with what "
            f"Overprovisioning_Ratio leaves: MQSim would collect without end. Lowered to {begin}"
        )
        device.say("GC_Exec_Threshold", Verdict.APPROXIMATED, why)
    elif _threshold(device, flash, "GC_Exec_Threshold") < COLLECTIONS:
        why = (
            f"{COLLECTIONS} blocks, MQSim's least (SSD_Device.cpp); it begins below "
            f"that, here collection begins at its threshold, hence {soft}"
        )
        device.say("GC_Exec_Threshold", Verdict.MAPPED, why)
    preemptible = device.truth("Preemptible_GC_Enabled")
    if preemptible:
        urgent = min(max(_threshold(device, flash, "GC_Hard_Threshold"), COLLECTIONS) - 1, soft)
        urgent_from: tuple[str, ...] = ("GC_Hard_Threshold",)
    else:
        urgent, urgent_from = soft, ("Preemptible_GC_Enabled",)
        why = "collection always goes first without Preemptible_GC_Enabled"
        device.say("GC_Hard_Threshold", Verdict.INERT, why)
    return Table(
        "drive.ftl.gc",
        [
            _victim(device, flash),
            Row("soft", f"{soft} blocks", sources(device, "GC_Exec_Threshold"), remark),
            Row("urgent", f"{urgent} blocks", sources(device, *urgent_from)),
            Row("stop", f"{soft} blocks", sources(device, "GC_Exec_Threshold")),
            Row("pacing", "none"),
            Row("preemptible", preemptible, sources(device, "Preemptible_GC_Enabled")),
            Row(
                "copy_back",
                device.truth("Use_Copyback_for_GC"),
                sources(device, "Use_Copyback_for_GC"),
            ),
            Row("window", 8, remark="MQSim asks for all reads of a victim at once"),
        ],
    )


def _victim(device: Section, flash: Section) -> Row:
    name = "GC_Block_Selection_Policy"
    policy = device.text(name)
    from_key = sources(device, name)
    if policy == "RGA":
        choices = max(int(math.log2(flash.whole("Block_No_Per_Plane"))), 1)
        why = (
            f"the best of log2(Block_No_Per_Plane) = {choices} drawn blocks; MQSim "
            "draws open and free ones, too"
        )
        device.say(name, Verdict.APPROXIMATED, why)
        return Row("victim", {"policy": "d-choices", "choices": choices}, from_key)
    if policy in ("GREEDY", "FIFO"):
        device.say(name, Verdict.MAPPED, "")
        return Row("victim", policy.lower(), from_key)
    why = {
        "RANDOM": (
            "drawn among full blocks here, among all but open ones in MQSim, "
            "which does nothing where it draws a free one"
        ),
        "RANDOM_P": "drawn among full blocks",
        "RANDOM_PP": (
            "drawn among full blocks; MQSim tries again where a block has too few invalid pages"
        ),
    }[policy]
    device.say(name, Verdict.MAPPED if policy == "RANDOM_P" else Verdict.APPROXIMATED, why)
    return Row("victim", "random", from_key)


def _threshold(device: Section, flash: Section, name: str) -> int:
    """Free blocks of a plane below which something happens, as MQSim computes them."""
    return max(int(device.real(name) * flash.whole("Block_No_Per_Plane")), 1)


def wanted(device: Section, flash: Section) -> int:
    """Free blocks of a plane below which MQSim collects."""
    return max(_threshold(device, flash, "GC_Exec_Threshold"), COLLECTIONS)
