"""Address space of the drive, and its division among flows."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

from flashscape.imported import Verdict
from flashscape.mqsim import boxes

if TYPE_CHECKING:
    from flashscape.mqsim.boxes import Box
    from flashscape.mqsim.section import Section

SECTOR = 512
"""Bytes of a sector."""

LEVELS = ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs")
"""Keys of the flash that a flow uses."""

_MOST_SETS = 31
"""Most NVM sets of a drive."""

_OVERLAP = (
    "the flash of {names} overlaps, and NVM sets do not: here {they} use all {all} planes of "
    "{them}. In MQSim {each}. Where a flow has planes to itself in MQSim, it waits for the others "
    "here, which can make its latency several times as long (a reader beside a writer with 64 "
    "requests under way: 461 µs for 102 µs); and its own load spreads over more planes"
)
_TOO_MANY = (
    "the parts of the flows make {sets} NVM sets with the flash that is left, and a drive has at "
    f"most {_MOST_SETS}. Here all flows use all flash, so that they wait for each other, which can "
    "make latencies several times as long"
)


@dataclass(frozen=True, slots=True)
class NvmSet:
    """A part of the flash that some flows use, or no flow."""

    box: Box
    exported_pages: int


@dataclass(frozen=True, slots=True)
class Space:
    """Geometry of the drive, counted as MQSim does."""

    levels: tuple[int, ...]
    """Channels, chips of a channel, dies of a chip, planes of a die."""
    blocks_per_plane: int
    pages_per_block: int
    page_bytes: int
    """Bytes of a page, in whole sectors."""
    reserved: float
    """Share of the physical capacity that is not exported."""
    all_planes: int
    """Planes of MQSim's drive, those included that no flow uses."""
    sets: tuple[NvmSet, ...] = ()
    """NVM sets, if flows use different parts of the flash."""

    @property
    def planes(self) -> int:
        """Number of planes."""
        return math.prod(self.levels)

    @property
    def page_sectors(self) -> int:
        """Sectors of a page."""
        return self.page_bytes // SECTOR

    @property
    def exported_pages(self) -> int:
        """Pages that the host sees."""
        pages = self.planes * self.blocks_per_plane * self.pages_per_block
        return int(pages * (1 - self.reserved))

    @property
    def namespaces(self) -> tuple[int, ...]:
        """Pages of each namespace: of each NVM set, or of the drive."""
        return tuple(of.exported_pages for of in self.sets) or (self.exported_pages,)

    def box(self, part: Part) -> Box:
        """Return the flash of a flow."""
        return self.sets[part.namespace].box if self.sets else boxes.whole(self.levels)


@dataclass(slots=True)
class Part:
    """A flow's part of a namespace, in bytes, from whole pages to whole pages."""

    offset: int
    size: int
    nvm_set: int | None = None
    """Number of the NVM set, from 1, if the drive has any."""
    namespace_bytes: int = 0

    @property
    def namespace(self) -> int:
        """Number of the namespace, from 0."""
        return (self.nvm_set or 1) - 1


@dataclass(slots=True)
class Divided:
    """The drive as far as flows use it, the part of each flow, and warnings."""

    space: Space
    parts: list[Part]
    warnings: list[str] = field(default_factory=list)


def of(device: Section, flash: Section) -> Space:
    """Return the geometry that the configuration describes."""
    reserved = device.real("Overprovisioning_Ratio")
    if not 0 < reserved < 1:
        device.refuse("Overprovisioning_Ratio", f"{reserved:g} is no share between 0 and 1")
        reserved = 0.5
    levels = (
        device.whole("Flash_Channel_Count"),
        device.whole("Chip_No_Per_Channel"),
        flash.whole("Die_No_Per_Chip"),
        flash.whole("Plane_No_Per_Die"),
    )
    return Space(
        levels,
        flash.whole("Block_No_Per_Plane"),
        flash.whole("Page_No_Per_Block"),
        flash.whole("Page_Capacity") // SECTOR * SECTOR,
        reserved,
        math.prod(levels),
    )


def divide(space: Space, device: Section, flows: list[Section], *, is_sata: bool) -> Divided:
    """Return the drive as far as flows use it, and the part of each flow.

    MQSim places the parts one after the other, and divides a plane that several flows
    use equally among them (``Logical_Address_Partitioning_Unit.cpp``). Channels, chips,
    dies and planes that no flow uses stay idle, so the drive is without them. Flows with
    flash of their own have an NVM set each; flows with the same flash share one. Flash that
    is left becomes sets without a workload.
    """
    if space.planes > _MOST_PLANES:
        problem = f"the drive has {space.planes} planes, more than {_MOST_PLANES}"
        device.refuse("Flash_Channel_Count", problem)
        return Divided(space, [Part(0, space.page_bytes) for _ in flows])
    given = [_resources(space, flow, is_sata=is_sata) for flow in flows]
    smaller, used = _without_unused(space, given)
    _note_smaller(space, smaller, flows)
    parts = boxes.apart(used)
    left = boxes.left(smaller.levels, parts)
    if len(parts) + len(left) > _MOST_SETS:
        why = _TOO_MANY.format(sets=len(parts) + len(left))
        _note_parts(smaller, used, flows, why, becomes="workload.region")
        whole = [boxes.whole(smaller.levels)]
        return Divided(smaller, _parts(smaller, used, whole), [f"all flows: {why}"])
    if len(parts) + len(left) > 1:
        smaller = replace(smaller, sets=tuple(_set(smaller, box) for box in [*parts, *left]))
    warnings = _note_sets(smaller, used, flows, parts)
    return Divided(smaller, _parts(smaller, used, parts), warnings)


_MOST_PLANES = 1 << 20
"""More planes than any drive has."""


def _resources(space: Space, flow: Section, *, is_sata: bool) -> Box:
    used = []
    for name, count in zip(LEVELS, space.levels, strict=True):
        beyond = [number for number in flow.ids(name) if number >= count and not is_sata]
        if beyond:
            problem = f"{beyond[0]} is beyond the last one, {count - 1}: MQSim ends there"
            flow.refuse(name, problem)
        mine = () if is_sata else tuple(number for number in flow.ids(name) if number < count)
        why = "with SATA every flow uses all (SSD_Device.cpp)" if is_sata else "all of them"
        flow.say(name, Verdict.INERT if is_sata else Verdict.MAPPED, why)
        used.append(frozenset(mine or range(count)))
    return tuple(used)


def _without_unused(space: Space, given: list[Box]) -> tuple[Space, list[Box]]:
    """Return the drive without what no flow uses, and the parts, numbered anew."""
    kept = [sorted(frozenset().union(*level)) for level in zip(*given, strict=True)]
    number = [{old: new for new, old in enumerate(level)} for level in kept]
    used = [
        tuple(frozenset(number[level][old] for old in mine) for level, mine in enumerate(of))
        for of in given
    ]
    return replace(space, levels=tuple(map(len, kept))), used


def _set(space: Space, box: Box) -> NvmSet:
    return NvmSet(box, space.exported_pages * boxes.size(box) // space.planes)


def _note_smaller(space: Space, smaller: Space, flows: list[Section]) -> None:
    for name, count, left in zip(LEVELS, space.levels, smaller.levels, strict=True):
        if left < count:
            why = f"{left} of {count} are used by any flow: the drive has only these"
            for flow in flows:
                flow.say(name, Verdict.MAPPED, why, becomes="drive.geometry")


def _note_parts(
    space: Space, used: list[Box], flows: list[Section], why: str, *, becomes: str
) -> None:
    for flow, mine in zip(flows, used, strict=True):
        for name, count, numbers in zip(LEVELS, space.levels, mine, strict=True):
            if len(numbers) < count:
                says = f"{len(numbers)} of {count}: {why}"
                flow.say(name, Verdict.APPROXIMATED, says, becomes=becomes)


def _note_sets(space: Space, used: list[Box], flows: list[Section], parts: list[Box]) -> list[str]:
    """Record the verdicts on parts that are NVM sets; return warnings of those that are not."""
    warnings = []
    for number, box in enumerate(parts, 1):
        inside = [flow for flow, mine in enumerate(used) if boxes.meet(mine, box)]
        if all(used[flow] == box for flow in inside):
            for flow in inside:
                _note_exact(space, flows[flow], box, number)
            continue
        warnings.append(_overlap(used, flows, inside, box))
        for flow in inside:
            others = _names(flows, [other for other in inside if other != flow])
            why = f"overlaps with the flash of {others}, and NVM sets do not (see the warning)"
            becomes = "drive.ftl.sets" if space.sets else "workload.region"
            _note_parts(space, [used[flow]], [flows[flow]], why, becomes=becomes)
    return warnings


def _note_exact(space: Space, flow: Section, mine: Box, number: int) -> None:
    for name, count, numbers in zip(LEVELS, space.levels, mine, strict=True):
        if len(numbers) < count:
            why = f"{len(numbers)} of {count}: NVM set {number} has only these"
            flow.say(name, Verdict.MAPPED, why, becomes="drive.ftl.sets")


def _overlap(used: list[Box], flows: list[Section], inside: list[int], box: Box) -> str:
    told = []
    for flow in inside:
        mine = set(product(*used[flow]))
        theirs = set().union(*(product(*used[other]) for other in inside if other != flow))
        told.append(f"{flows[flow].title} uses {len(mine)} and shares {len(mine & theirs)} of them")
    both = len(inside) == 2
    return _OVERLAP.format(
        names=_names(flows, inside),
        they="both" if both else "they",
        all=boxes.size(box),
        them="both" if both else "all",
        each=", ".join(told),
    )


def _names(flows: list[Section], numbers: list[int]) -> str:
    *first, last = (flows[number].title for number in numbers)
    return f"{', '.join(first)} and {last}" if first else last


def _parts(space: Space, used: list[Box], of_sets: list[Box]) -> list[Part]:
    planes = [list(product(*mine)) for mine in used]
    users = Counter(plane for mine in planes for plane in mine)
    sectors = space.blocks_per_plane * space.pages_per_block * space.page_sectors
    parts = []
    behind = [0] * len(of_sets)
    for mine, box in zip(planes, used, strict=True):
        share = sum(int(sectors * (1 - space.reserved) / users[plane]) for plane in mine)
        number = next(of for of, part in enumerate(of_sets) if boxes.meet(part, box))
        namespace = space.namespaces[number]
        pages = max(min(share // space.page_sectors, namespace - behind[number]), 0)
        parts.append(
            Part(
                behind[number] * space.page_bytes,
                pages * space.page_bytes,
                number + 1 if space.sets else None,
                namespace * space.page_bytes,
            )
        )
        behind[number] += pages
    return parts
