"""Counts of windows of predictable latency in results."""

from __future__ import annotations

from typing import Any

CAUSES = ("host", "reads", "writes", "time", "excursion")
"""Causes of the end of a deterministic window, in the order of the results."""


def time_ns(figures: dict[str, Any]) -> int:
    """Return the time in windows of both kinds."""
    return int(figures["dtwin_ns"] + figures["ndwin_ns"])
