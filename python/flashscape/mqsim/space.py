"""Address space of the drive, and its division among flows."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from flashscape.imported import Verdict

if TYPE_CHECKING:
    from flashscape.mqsim.section import Section

SECTOR = 512
"""Bytes of a sector."""

_CONFINED = "flows cannot be confined to parts of the flash here; the share of the capacity is kept"

_LEVELS = ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs")


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


@dataclass(slots=True)
class Part:
    """A flow's part of the drive, in bytes, from whole pages to whole pages."""

    offset: int
    size: int


def of(device: Section, flash: Section) -> Space:
    """Return the geometry that the configuration describes."""
    reserved = device.real("Overprovisioning_Ratio")
    if not 0 < reserved < 1:
        device.refuse("Overprovisioning_Ratio", f"{reserved:g} is no share between 0 and 1")
        reserved = 0.5
    return Space(
        (
            device.whole("Flash_Channel_Count"),
            device.whole("Chip_No_Per_Channel"),
            flash.whole("Die_No_Per_Chip"),
            flash.whole("Plane_No_Per_Die"),
        ),
        flash.whole("Block_No_Per_Plane"),
        flash.whole("Page_No_Per_Block"),
        flash.whole("Page_Capacity") // SECTOR * SECTOR,
        reserved,
    )


def divide(
    space: Space, device: Section, flows: list[Section], *, is_sata: bool
) -> tuple[Space, list[Part]]:
    """Return the drive as far as flows use it, and the part of each flow.

    MQSim places the parts one after the other, and divides a plane that several flows
    use equally among them (``Logical_Address_Partitioning_Unit.cpp``). If all flows use
    the same resources, the others stay idle, so the drive consists of these alone.
    """
    if space.planes > _MOST_PLANES:
        problem = f"the drive has {space.planes} planes, more than {_MOST_PLANES}"
        device.refuse("Flash_Channel_Count", problem)
        return space, [Part(0, space.page_bytes) for _ in flows]
    used = [_resources(space, flow, is_sata=is_sata) for flow in flows]
    if all(mine == used[0] for mine in used):
        smaller = replace(space, levels=tuple(map(len, used[0])))
        _note_smaller(space, smaller, flows)
        used = [tuple(tuple(range(count)) for count in smaller.levels) for _ in flows]
        space = smaller
    else:
        _note_confined(space, used, flows)
    return space, _parts(space, used)


_MOST_PLANES = 1 << 20
"""More planes than any drive has."""

_Resources = tuple[tuple[int, ...], ...]
"""Numbers of the channels, chips, dies and planes that a flow uses."""


def _resources(space: Space, flow: Section, *, is_sata: bool) -> _Resources:
    used = []
    for name, count in zip(_LEVELS, space.levels, strict=True):
        beyond = [number for number in flow.ids(name) if number >= count and not is_sata]
        if beyond:
            problem = f"{beyond[0]} is beyond the last one, {count - 1}: MQSim ends there"
            flow.refuse(name, problem)
        mine = () if is_sata else tuple(number for number in flow.ids(name) if number < count)
        why = "with SATA every flow uses all (SSD_Device.cpp)" if is_sata else "all of them"
        flow.say(name, Verdict.INERT if is_sata else Verdict.MAPPED, why)
        used.append(mine or tuple(range(count)))
    return tuple(used)


def _note_smaller(space: Space, smaller: Space, flows: list[Section]) -> None:
    for name, count, left in zip(_LEVELS, space.levels, smaller.levels, strict=True):
        if left < count:
            why = f"{left} of {count} are used by any flow: the drive has only these"
            for flow in flows:
                flow.say(name, Verdict.MAPPED, why, becomes="drive.geometry")


def _note_confined(space: Space, used: list[_Resources], flows: list[Section]) -> None:
    for flow, mine in zip(flows, used, strict=True):
        for name, count, numbers in zip(_LEVELS, space.levels, mine, strict=True):
            if len(numbers) < count:
                flow.say(name, Verdict.APPROXIMATED, f"{len(numbers)} of {count}: {_CONFINED}")


def _parts(space: Space, used: list[_Resources]) -> list[Part]:
    planes = [list(product(*mine)) for mine in used]
    users = Counter(plane for mine in planes for plane in mine)
    sectors = space.blocks_per_plane * space.pages_per_block * space.page_sectors
    parts = []
    offset = 0
    for mine in planes:
        share = sum(int(sectors * (1 - space.reserved) / users[plane]) for plane in mine)
        pages = max(min(share // space.page_sectors, space.exported_pages - offset), 0)
        parts.append(Part(offset * space.page_bytes, pages * space.page_bytes))
        offset += pages
    return parts
