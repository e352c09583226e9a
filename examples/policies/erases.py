"""Reads that meet erases, and erases that make way for them.

The functions return True or False: whether a read asks an erase to make way, and whether
the erase does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashscape.outside import Meeting, SafePoint


def where_it_pays(meeting: Meeting) -> bool:
    """Ask where the next safe point comes in the first half of what is left of the erase."""
    to_safe = meeting.safe_at_ns - meeting.now_ns
    to_end = meeting.free_at_ns - meeting.now_ns
    return 2 * to_safe < to_end


def unless_urgent(point: SafePoint) -> bool:
    """Make way, but only once where host writes wait for the space that is gained."""
    return not point.urgent or point.suspensions == 0
