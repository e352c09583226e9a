"""Victim policies: which block garbage collection takes.

A function gets the blocks of a bin and returns the place of one of ``blocks.gaining``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashscape.outside import Candidates


def greedy(blocks: Candidates) -> int:
    """Take the block with the least valid data, as the built-in policy does."""
    return min(blocks.gaining, key=blocks.valid.__getitem__)


def cold_first(blocks: Candidates) -> int:
    """Take the emptiest of the blocks that are at least half as old as the oldest.

    Data of a young block may still die by itself; that of an old one has stopped.
    """
    oldest = max(blocks.age[block] for block in blocks.gaining)
    cold = (block for block in blocks.gaining if 2 * blocks.age[block] >= oldest)
    return min(cold, key=blocks.valid.__getitem__)


def at_random(blocks: Candidates) -> int:
    """Take any block. ``random`` is another number for each question, the same in each run."""
    return blocks.gaining[blocks.random % len(blocks.gaining)]
