"""Drives of the exhibits: the preset ``dc-tlc`` with 16 channels and the times of TLC of 2017.

The slides name no parameter but the number of sets: 16 of 1 TB. So there are 16 channels, and a
set is a channel. Blocks are smaller and fewer than in the preset, so that runs are short.
"""

from __future__ import annotations

from typing import Any

from flashscape.studies.tables import merged

CHANNELS = 16
DIES = 4
"""Dies of a channel."""

PROGRAM_UNITS = 16
"""Mapping units of a program: a page of 16 KiB in each of four planes."""

UNIT_BYTES = 4096

PAGES_PER_BLOCK = 192
BLOCKS = 40

CHANNEL_BYTES = 1_505_000_000
"""Exported space of each channel. Blocks that are not open, and not kept free by thresholds, have
17 % more, as in the preset."""

CHANNEL_BUFFER_MIB = 4
"""Write buffer for each channel: the preset's 64 MiB over 16 channels."""

BLOCK_UNITS = PAGES_PER_BLOCK * PROGRAM_UNITS
"""Mapping units of a block, over the planes of its die."""

CHANNEL_TURN = DIES * BLOCK_UNITS
"""Mapping units that fill a block of each die of a channel: a cycle of collection."""

_GC: dict[str, Any] = {
    "background": "3 blocks",
    "foreground": "2 blocks",
    "stop": "3 blocks",
    "pacing": "proportional",
}
"""Thresholds near the preset's shares of its 504 blocks. Collection of a die ends a block above
the threshold where it begins, so that a cycle is a block."""

SENSE_US, PROGRAM_US, ERASE_US = 70, 1000, 7500
"""Middles of what TLC of 2017 took [assumed]: 60 to 80 us, 0.7 to 1.3 ms, 5 to 10 ms."""

_NAND: dict[str, Any] = {
    "read": [f"{SENSE_US} us"],
    "program": [f"{PROGRAM_US} us"],
    # As in the preset, where only their sum matters until something suspends an erase.
    "erase": {
        "steps": 5,
        "ramp": "50 us",
        "execute": "1300 us",
        "recover": "50 us",
        "verify": "100 us",
    },
}

_BANDS: dict[str, Any] = {
    "ftl": {"superblock": {"dies": CHANNELS * DIES}, "gc": {"window": CHANNELS * DIES}}
}
"""Superblocks over all dies. Collection moves a batch to each of them at a time, as it does in
the other layouts."""

SUSPENDS: dict[str, Any] = {
    "scheduler": {"suspension": "es", "program_suspension": "es", "read_routing": "suspend"}
}
"""Reads interrupt erases and programs at once, as often as they come."""

FIRST_COME: dict[str, Any] = {"scheduler": {"bypass": "none"}}
"""Reads wait behind all older operations."""

READS_FIRST: dict[str, Any] = {"scheduler": {"bypass": "drain"}}
"""Reads go first as long as any waits."""


def pressure(programs: int) -> dict[str, Any]:
    """Return tables that bound the outstanding programs of a set, of hosts and of collection."""
    return {"ftl": {"pressure": {"programs": programs}}}


def drive(*changes: dict[str, Any], channels: int = CHANNELS) -> dict[str, Any]:
    """Return a drive without sets whose host data goes to all dies in turn."""
    tables: dict[str, Any] = {
        "preset": "dc-tlc",
        "geometry": {
            "channels": channels,
            "dies_per_package": DIES,
            "blocks_per_plane": BLOCKS,
            "pages_per_block": PAGES_PER_BLOCK,
        },
        "nand": _NAND,
        "ftl": {"over_provisioning": {"exported": f"{channels * CHANNEL_BYTES} B"}, "gc": _GC},
        "buffer": {"size": f"{channels * CHANNEL_BUFFER_MIB} MiB"},
    }
    for each in changes:
        tables = merged(tables, each)
    return tables


def bands(*changes: dict[str, Any]) -> dict[str, Any]:
    """Return a drive without sets, whose bands (superblocks) span all dies."""
    return drive(_BANDS, *changes)


def sets(*changes: dict[str, Any], channels: int = CHANNELS) -> dict[str, Any]:
    """Return a drive whose every channel is an NVM set."""
    return drive({"ftl": {"sets": {"channels": channels}}}, *changes, channels=channels)


AGED: dict[str, Any] = {"fill": "random", "age": {"overwrites": 1.0}}
"""State before each run: full, and as much overwritten at random as it holds."""
