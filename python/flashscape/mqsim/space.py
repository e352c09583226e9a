"""The drive's space, and which part of it belongs to which flow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from flashscape.mqsim.known import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashscape.mqsim.section import Section

SECTOR = 512
"""Bytes."""

_CONFINED = "flows cannot be confined to parts of the flash here; the share of the capacity is kept"

_LEVELS = ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs")


@dataclass(frozen=True, slots=True)
class Space:
    """The drive as MQSim counts it."""

    levels: tuple[int, int, int, int]
    """Channels, chips of a channel, dies of a chip, planes of a die."""
    blocks_per_plane: int
    pages_per_block: int
    page_bytes: int
    """Whole sectors."""
    reserved: float
    """Share of the physical capacity that is not exported."""

    @property
    def planes(self) -> int:
        """All planes."""
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
    """What belongs to a flow, in bytes, from whole pages to whole pages."""

    offset: int
    size: int


def of(device: Section, flash: Section) -> Space:
    """What the configuration says of it."""
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
        device.real("Overprovisioning_Ratio"),
    )


def share_out(space: Space, flows: list[Section], *, is_sata: bool) -> list[Part]:
    """Return the part of each flow: one behind the other, as MQSim lays them out.

    A plane that several flows use is shared equally between them
    (``Logical_Address_Partitioning_Unit.cpp``).
    """
    if math.prod(space.levels) > _MOST_PLANES:
        return []
    planes = [set(product(*_resources(space, flow, is_sata=is_sata))) for flow in flows]
    users: dict[tuple[int, ...], int] = {}
    for mine in planes:
        for plane in mine:
            users[plane] = users.get(plane, 0) + 1
    sectors = space.blocks_per_plane * space.pages_per_block * space.page_sectors
    parts = []
    offset = 0
    for mine in planes:
        share = sum(int(sectors * (1 - space.reserved) / users[plane]) for plane in mine)
        pages = min(share // space.page_sectors, space.exported_pages - offset)
        parts.append(Part(offset * space.page_bytes, max(pages, 0) * space.page_bytes))
        offset += max(pages, 0)
    return parts


_MOST_PLANES = 1 << 20
"""More than any drive has; the check of the experiment refuses them by their keys."""


def _resources(space: Space, flow: Section, *, is_sata: bool) -> Iterator[tuple[int, ...]]:
    """What a flow uses of each level, and what is said of it."""
    for name, count in zip(_LEVELS, space.levels, strict=True):
        given = flow.ids(name)
        if is_sata:
            flow.say(name, Verdict.INERT, "with SATA every flow uses all (SSD_Device.cpp)")
            yield tuple(range(count))
            continue
        beyond = [number for number in given if number >= count]
        if beyond:
            flow.refuse(name, f"{beyond[0]} is beyond the last one, {count - 1}: MQSim ends there")
        used = tuple(number for number in given if number < count) or tuple(range(count))
        if len(used) == count:
            flow.say(name, Verdict.MAPPED, "all of them", becomes="workload.region")
        else:
            why = f"{len(used)} of {count}: {_CONFINED}"
            flow.say(name, Verdict.APPROXIMATED, why)
        yield used
