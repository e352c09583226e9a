"""Figures of each drive, and how far the drives lie apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.result import Result

_PERCENTILES = ("p50", "p99", "p99_9")


def of_drive(result: Result) -> dict[str, float | None]:
    """Return the figures of a drive that are compared with those of others."""
    summary = result.summary
    figures: dict[str, float | None] = {
        "iops": summary["all"]["iops"],
        "write_amplification": summary["write_amplification"]["total"],
        "erases": summary["wear"]["erases"],
        "aged_units": summary["precondition"]["aged_units"],
    }
    for kind in ("read", "write"):
        latency = result.of_kind(kind)
        figures[f"{kind}_mean_ns"] = latency.mean
        for name in _PERCENTILES:
            figures[f"{kind}_{name}_ns"] = getattr(latency, name)
        figures[f"{kind}_max_ns"] = latency.max
    return figures


def spread(numbers: Sequence[int], figures: Sequence[dict[str, float | None]]) -> dict[str, Any]:
    """Return least, median and greatest value of each figure, with the drives that have them.

    Of equal values, the first drive counts. A figure that some drives lack is left out.
    """
    found: dict[str, Any] = {}
    for name in figures[0] if figures else ():
        values = [each[name] for each in figures]
        if any(value is None for value in values):
            continue
        ranked = sorted(
            (value, number)
            for value, number in zip(values, numbers, strict=True)
            if value is not None
        )
        least, most = ranked[0], max(ranked, key=lambda each: (each[0], -each[1]))
        found[name] = {
            "least": least[0],
            "least_drive": least[1],
            "median": ranked[(len(ranked) - 1) // 2][0],
            "most": most[0],
            "most_drive": most[1],
        }
    return found
