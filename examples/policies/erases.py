"""Reads that meet erases, and erases that are suspended for them.

A routing returns True or False: whether a read asks an erase to suspend. A suspension
returns what the erase does then: True (at the end of its step), False (it goes on), "cancel",
"suspend" or "freeze".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashscape.outside import Asked, Meeting


def where_it_pays(meeting: Meeting) -> bool:
    """Ask where the next safe point comes in the first half of what is left of the erase."""
    to_safe = meeting.safe_at_ns - meeting.now_ns
    to_end = meeting.free_at_ns - meeting.now_ns
    return 2 * to_safe < to_end


def unless_foreground(asked: Asked) -> bool:
    """Suspend, but only once where host writes wait for the space that is gained."""
    return not asked.foreground or asked.suspensions == 0


def early_in_a_step(asked: Asked) -> bool | str:
    """Give up a pulse in the first fifth of its step; later let the step end."""
    return "cancel" if 5 * asked.into_step_ns < asked.step_ns else True
