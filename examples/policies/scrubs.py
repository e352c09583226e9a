"""Scrub choices: which block is written anew, if any.

A function gets the blocks of a bin and returns the place of one of ``blocks.fitting``, or None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashscape.outside import Written

READS_PER_VALID_UNIT = 2
"""Rows sensed for each valid unit before moving them pays."""


def by_cost(blocks: Written) -> int | None:
    """Take the block that was read most for each unit that would have to be moved."""
    worth = [
        b for b in blocks.fitting if blocks.sensed[b] >= READS_PER_VALID_UNIT * blocks.valid[b]
    ]
    return max(worth, key=lambda b: (blocks.sensed[b] / blocks.valid[b], -b), default=None)
