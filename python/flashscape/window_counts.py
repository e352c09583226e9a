"""Counts of windows of predictable latency in results."""

from __future__ import annotations

from typing import Any

CAUSES = ("host", "reads", "writes", "time", "excursion")
"""Causes of the end of a deterministic window, in the order of the results."""

KINDS = ("reads", "writes", "time")
"""Kinds of warnings, in the order of the results."""


def warnings(figures: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the warnings by kind; none without thresholds, and in results of earlier versions."""
    return figures.get("warnings") or {}


def shortest(known: list[int | None]) -> int | None:
    """Return the shortest of times some of which are not known; None if none is."""
    return min((each for each in known if each is not None), default=None)


def time_ns(figures: dict[str, Any]) -> int:
    """Return the time in windows of both kinds."""
    return int(figures["dtwin_ns"] + figures["ndwin_ns"])
