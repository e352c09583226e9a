"""Initial content of the drive: MQSim's preconditioning as a fill and overwrites."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashscape.imported import Verdict
from flashscape.mqsim import parts
from flashscape.written import Row, Table

if TYPE_CHECKING:
    from flashscape import written
    from flashscape.mqsim.flow import Flow
    from flashscape.mqsim.section import Section
    from flashscape.mqsim.space import Space

_OCCUPANCY = "Initial_Occupancy_Percentage"
_ENABLED = "Enabled_Preconditioning"

_SOON = 0.5
"""Overwrites by which collection must have begun, so that a steady state can be found."""


class _Namespace:
    """Content of a namespace before the run, in shares of it."""

    def __init__(self, pages: int, space: Space, flows: list[Flow], *, enabled: bool) -> None:
        size = pages * space.page_bytes
        self.flows = flows
        self.read = max(
            (flow.part.offset + flow.reach for flow in flows if flow.reads), default=0
        ) / max(size, 1)
        """As far as flows read."""
        self.wanted = sum(flow.filled for flow in flows) / max(size, 1)
        """As much as MQSim fills."""
        self.share = min(max(self.wanted if enabled else 0.0, self.read), 1.0)


def table(device: Section, space: Space, flows: list[Flow], *, in_step: bool) -> Table:
    """Return the precondition of an experiment, with all planes in step if flows write."""
    enabled = device.truth(_ENABLED)
    namespaces = [
        _Namespace(
            pages, space, [flow for flow in flows if flow.part.namespace == number], enabled=enabled
        )
        for number, pages in enumerate(space.namespaces)
    ]
    ages = enabled and any(flow.writes for flow in flows)
    _note(device, namespaces, flows, enabled=enabled, in_step=in_step)
    held = parts.of(flows, enabled=enabled)
    if held.why:
        device.say(_ENABLED, why=f"{device.why(_ENABLED)}. {held.why}")
    if not any(of.share for of in namespaces):
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
        _share(namespaces, flows, enabled=enabled),
        *held.rows,
    ]
    if ages and not streams:
        rows.append(
            Row(
                "age",
                _age(namespaces, space.reserved, flows),
                remark="until what was free at first is used, and on",
            )
        )
    if ages and in_step:
        remark = "MQSim lays out all planes alike, with empty open blocks"
        rows.append(Row("in_step", True, ((device.title, _ENABLED),), remark))
    return Table("precondition", rows)


def _share(namespaces: list[_Namespace], flows: list[Flow], *, enabled: bool) -> Row:
    from_keys = tuple((flow.section.title, _OCCUPANCY) for flow in flows)
    if len(namespaces) > 1:
        shares = [f"{_percent(of.share)} %" for of in namespaces]
        return Row("share", shares, from_keys, "of each NVM set")
    [of] = namespaces
    return Row("share", f"{_percent(of.share)} %", from_keys, _why(of, enabled=enabled))


def _note(
    device: Section,
    namespaces: list[_Namespace],
    flows: list[Flow],
    *,
    enabled: bool,
    in_step: bool,
) -> None:
    """Record the verdicts on the two keys."""
    if not enabled:
        reads = any(of.read for of in namespaces)
        why = "MQSim begins with an empty drive"
        if reads:
            why += (
                ", and makes up what is read; here it is filled in order as far "
                "as it is read, without overwrites"
            )
        device.say(
            _ENABLED, Verdict.APPROXIMATED if reads else Verdict.MAPPED, why, becomes="precondition"
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
    for of in namespaces:
        for flow in of.flows:
            _note_occupancy(of, flow, whole=len(namespaces) == 1)


def _note_occupancy(of: _Namespace, flow: Flow, *, whole: bool) -> None:
    where = "the drive" if whole else f"NVM set {flow.part.nvm_set}"
    if of.read > of.wanted:
        why = (
            f"{_percent(of.wanted)} % of {where} in the mean of its flows, but "
            f"{_percent(of.read)} % from its beginning are "
            "filled: so far reach the flows that read. MQSim makes up what is read "
            "and was never written; "
            "here such reads would cost no flash time"
        )
        flow.section.say(_OCCUPANCY, Verdict.APPROXIMATED, why)
    elif len(of.flows) == 1:
        why = f"{_percent(of.share)} % of {where} are filled"
        if of.share < flow.section.whole(_OCCUPANCY) / 100:
            why += ": MQSim fills at most 90 % for uniform flows (FTL.cpp)"
        flow.section.say(_OCCUPANCY, Verdict.MAPPED, why)


def _why(of: _Namespace, *, enabled: bool) -> str:
    if not enabled:
        return "what is read"
    return (
        "the mean of the flows"
        if of.wanted >= of.read
        else f"{_percent(of.wanted)} % in the mean of the flows, but as far as they read"
    )


def _age(namespaces: list[_Namespace], reserved: float, flows: list[Flow]) -> written.Value:
    """Return the overwrites until every block has been written once, and some more."""
    shares = [of.share for of in namespaces if of.share and any(flow.writes for flow in of.flows)]
    least = min(shares or [of.share for of in namespaces if of.share])
    until_used = 1 / (least * (1 - reserved)) - 1
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
