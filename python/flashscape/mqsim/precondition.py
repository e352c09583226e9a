"""Initial content of the drive: MQSim's preconditioning as a fill and overwrites."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashscape.imported import Verdict
from flashscape.written import Row, Table

if TYPE_CHECKING:
    from flashscape import written
    from flashscape.mqsim.section import Section
    from flashscape.mqsim.space import Space
    from flashscape.mqsim.workload import Flow

_OCCUPANCY = "Initial_Occupancy_Percentage"
_ENABLED = "Enabled_Preconditioning"

_SOON = 0.5
"""Overwrites by which collection must have begun, so that a steady state can be found."""


def table(device: Section, space: Space, flows: list[Flow], *, in_step: bool) -> Table:
    """Return the precondition of an experiment, with all planes in step if flows write."""
    exported = space.exported_pages * space.page_bytes
    read = (
        max((flow.part.offset + flow.reach for flow in flows if flow.reads), default=0) / exported
    )
    enabled = device.truth(_ENABLED)
    wanted = sum(flow.filled for flow in flows) / exported
    ages = enabled and any(flow.writes for flow in flows)
    _note(device, flows, wanted if enabled else None, read, in_step=in_step)
    share = min(max(wanted if enabled else 0.0, read), 1.0)
    if share == 0:
        return Table("precondition")
    streams = all(
        not flow.is_trace and flow.section.text("Address_Distribution") == "STREAMING"
        for flow in flows
    )
    rows = [
        Row(
            "fill",
            "random" if enabled and not streams else "sequential",
            ((device.title, _ENABLED),),
        ),
        Row(
            "share",
            f"{_percent(share)} %",
            tuple((flow.section.title, _OCCUPANCY) for flow in flows),
            _why(wanted, read, enabled=enabled),
        ),
    ]
    if ages and not streams:
        rows.append(
            Row(
                "age",
                _age(share, space.reserved, flows),
                remark="until what was free at first is used, and on",
            )
        )
    if ages and in_step:
        remark = "MQSim lays out all planes alike, with empty open blocks"
        rows.append(Row("in_step", True, ((device.title, _ENABLED),), remark))
    return Table("precondition", rows)


def _note(
    device: Section, flows: list[Flow], wanted: float | None, read: float, *, in_step: bool
) -> None:
    """Record the verdicts on the two keys."""
    if wanted is None:
        why = "MQSim begins with an empty drive"
        if read:
            why += (
                ", and makes up what is read; here it is filled in order as far "
                "as it is read, without overwrites"
            )
        device.say(
            _ENABLED, Verdict.APPROXIMATED if read else Verdict.MAPPED, why, becomes="precondition"
        )
        for flow in flows:
            flow.section.say(_OCCUPANCY, Verdict.INERT, f"{_ENABLED} is false")
        return
    ages = any(flow.writes for flow in flows)
    why = (
        "filled and overwritten in an untimed run; MQSim lays out data by a formula for the "
        "steady state. "
    )
    why += (
        "All planes begin in step, as there (precondition.in_step)"
        if in_step
        else "Planes begin out of step: the spare space does not allow precondition.in_step"
    )
    device.say(
        _ENABLED,
        why=why if ages else "filled in random order; nothing is overwritten, as no flow writes",
    )
    if read > wanted:
        why = (
            f"{_percent(wanted)} % of the drive in the mean of the flows, but "
            f"{_percent(read)} % from its beginning are "
            "filled: so far reach the flows that read. MQSim makes up what is read "
            "and was never written; "
            "here such reads would cost no flash time"
        )
        for flow in flows:
            flow.section.say(_OCCUPANCY, Verdict.APPROXIMATED, why)


def _why(wanted: float, read: float, *, enabled: bool) -> str:
    if not enabled:
        return "what is read"
    return (
        "the mean of the flows"
        if wanted >= read
        else f"{_percent(wanted)} % in the mean of the flows, but as far as they read"
    )


def _age(share: float, reserved: float, flows: list[Flow]) -> written.Value:
    """Return the overwrites until every block has been written once, and some more."""
    until_used = 1 / (share * (1 - reserved)) - 1
    age: dict[str, written.Value]
    if until_used < _SOON:
        age = {"overwrites": _tenths(until_used + 3), "until_steady": True}
    else:
        age = {"overwrites": _tenths(min(until_used + 1.5, 1000))}
    [first, *others] = flows
    if (
        not others
        and not first.is_trace
        and first.section.text("Address_Distribution") == "RANDOM_HOTCOLD"
    ):
        hot = first.section.whole("Percentage_of_Hot_Region")
        age["addresses"] = {
            "pattern": "hot-cold",
            "hot_space": f"{hot} %",
            "hot_accesses": f"{100 - hot} %",
        }
    return age


def _tenths(number: float) -> float:
    return math.ceil(round(number * 10, 6)) / 10


def _percent(share: float) -> str:
    return f"{math.ceil(round(share * 10**6, 3)) / 10**4:.4f}".rstrip("0").rstrip(".")
