"""Deterministic windows of all drives of a fleet: counts and times are added."""

from __future__ import annotations

from typing import Any

from flashscape.window_counts import CAUSES, shortest, warnings

_ADDED = ("asked", "begun", "dtwin_ns", "ndwin_ns", "waited_ns", "broken_ns")


class WindowMerger:
    """Adds up the windows of drives and their NVM sets."""

    def __init__(self) -> None:
        self._total: dict[str, Any] | None = None

    def add(self, summary: dict[str, Any]) -> None:
        """Add the windows of a drive, if it has any."""
        # Summaries of earlier versions lack this key.
        for of in summary.get("windows") or []:
            if self._total is None:
                self._total = {
                    **dict.fromkeys(_ADDED, 0),
                    "longest_wait_ns": 0,
                    "ends": dict.fromkeys(CAUSES, 0),
                    "warnings": {},
                    "reads": {"dtwin": _Reads(), "other": _Reads()},
                }
            total = self._total
            for key in _ADDED:
                total[key] += of[key]
            total["longest_wait_ns"] = max(total["longest_wait_ns"], of["longest_wait_ns"])
            for cause in CAUSES:
                total["ends"][cause] += of["ends"][cause]
            for kind, found in warnings(of).items():
                known = total["warnings"].setdefault(kind, {"count": 0, "shortest_ns": None})
                known["count"] += found["count"]
                known["shortest_ns"] = shortest([known["shortest_ns"], found["shortest_ns"]])
            for which, reads in total["reads"].items():
                reads.add(of["reads"][which])

    def summary(self) -> dict[str, Any] | None:
        """Return the sums; None if no drive has windows."""
        if self._total is None:
            return None
        reads = {which: found.told() for which, found in self._total["reads"].items()}
        return {**self._total, "warnings": self._total["warnings"] or None, "reads": reads}


class _Reads:
    """Latencies of reads inside or outside of deterministic windows, without their histogram."""

    def __init__(self) -> None:
        self._count = 0
        self._sum_ns = 0
        self._bounds: list[int] = []

    def add(self, reads: dict[str, Any]) -> None:
        """Add the reads of an NVM set."""
        if not reads["count"]:
            return
        latency = reads["latency_ns"]
        self._count += reads["count"]
        # The mean is that of a whole number, which 53 bits of a float distinguish.
        self._sum_ns += round(latency["mean"] * reads["count"])
        known = [*self._bounds, latency["min"], latency["max"]]
        self._bounds = [min(known), max(known)]

    def told(self) -> dict[str, Any]:
        """Return count, and mean, min and max; None without reads."""
        if not self._count:
            return {"count": 0, "latency_ns": {"mean": None, "min": None, "max": None}}
        least, most = self._bounds
        latency = {"mean": self._sum_ns / self._count, "min": least, "max": most}
        return {"count": self._count, "latency_ns": latency}
