"""Sentences about what hosts wrote, for tables and explanations."""

from __future__ import annotations


def why_not_one(host: float, copies: int, moved: int) -> str:
    """Say why hosts' bytes were not programmed exactly once; empty if they were.

    An array programs them so many times, and one drive once. Its plan may have moved bytes besides.
    """
    if moved:
        return "host includes what the plan copied from member to member"
    if copies > 1:
        why = why_not_one(host / copies, 1, 0).replace("host is", f"host over {copies} is")
        return f"the array programs each write {copies} times" + (f"; {why}" if why else "")
    if host < 0.98:
        return "host is below 1: the buffer absorbed overwritten data, or still has data"
    if host > 1.02:
        return "host is above 1: writes that cover mapping units in part program them whole"
    return ""
