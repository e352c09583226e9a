"""Parts of the flash: some channels, some chips of each, some dies of each, some planes of each."""

from __future__ import annotations

import math
from itertools import product

Box = tuple[frozenset[int], ...]
"""Numbers of channels, chips, dies and planes."""


def whole(levels: tuple[int, ...]) -> Box:
    """Return all of the flash."""
    return tuple(frozenset(range(count)) for count in levels)


def size(box: Box) -> int:
    """Return the number of planes."""
    return math.prod(map(len, box))


def meet(one: Box, other: Box) -> bool:
    """Return True if two parts have a plane in common."""
    return all(mine & theirs for mine, theirs in zip(one, other, strict=True))


def apart(parts: list[Box]) -> list[Box]:
    """Return parts that do not meet, in order; those that meet are joined to one."""
    apart: list[Box] = []
    for part in parts:
        joined, first = part, len(apart)
        while found := [of for of in apart if meet(of, joined)]:
            first = min(first, *(apart.index(of) for of in found))
            apart = [of for of in apart if of not in found]
            joined = tuple(
                frozenset().union(*levels) for levels in zip(joined, *found, strict=True)
            )
        apart.insert(first, joined)
    return apart


def left(levels: tuple[int, ...], parts: list[Box]) -> list[Box]:
    """Return what parts leave of the flash, in as few parts as its channels and dies allow."""
    taken = {plane for part in parts for plane in product(*part)}
    channels, chips, dies, planes = (range(count) for count in levels)
    # Dies by the planes that are left of them, channels by these.
    of_channels: dict[tuple[tuple[tuple[int, int], frozenset[int]], ...], list[int]] = {}
    for channel in channels:
        of_dies = []
        for chip, die in product(chips, dies):
            free = frozenset(at for at in planes if (channel, chip, die, at) not in taken)
            if free:
                of_dies.append(((chip, die), free))
        if of_dies:
            of_channels.setdefault(tuple(of_dies), []).append(channel)
    found = []
    for alike, mine in of_channels.items():
        for free in dict.fromkeys(free for _, free in alike):
            found += _of_dies(mine, [die for die, other in alike if other == free], free)
    return found


def _of_dies(channels: list[int], dies: list[tuple[int, int]], planes: frozenset[int]) -> list[Box]:
    """Return parts with some dies of channels, each (chip, die)."""
    of_chips: dict[frozenset[int], list[int]] = {}
    for chip in dict.fromkeys(chip for chip, _ in dies):
        mine = frozenset(die for other, die in dies if other == chip)
        of_chips.setdefault(mine, []).append(chip)
    return [
        (frozenset(channels), frozenset(chips), mine, planes) for mine, chips in of_chips.items()
    ]
