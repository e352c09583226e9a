"""The results of all drives as one: counts are added, and histograms bucket by bucket.

Buckets of all runs have the same edges, so a merged histogram is that of the pooled requests, and
so are its percentiles. Sums of nanoseconds are whole numbers: blame sums to latency.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.fleet.windows import WindowMerger
from flashscape.latency import KINDS
from flashscape.together import added, as_summary, latency_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from flashscape.result import Result

_BUCKET = ("initiator", "kind", "low_ns", "high_ns")
_SOURCES = ("host", "gc", "padding", "scrub", "summary", "parity", "rebuild")
_AT_A_TIME = 64
"""Histograms that are in memory before they are added."""


class Merger:
    """Adds up the results of drives, in their order."""

    def __init__(self) -> None:
        self._drives = 0
        self._names: list[str] = []
        self._groups: dict[tuple[str, str], dict[str, Any]] = {}
        self._histograms: list[pl.DataFrame] = []
        self._programmed = dict.fromkeys(_SOURCES, 0)
        self._host_bytes = 0
        self._wear: dict[str, int] = dict.fromkeys(
            ("erases", "erases_since_new", "good_blocks", "bad_blocks", "retired", "migrations"), 0
        )
        self._erase_counts: list[dict[str, float]] = []
        self._erases_of_blocks = 0
        self._windows = WindowMerger()
        self._collected: list[int] = []
        """Blocks that each drive collected."""

    def add(self, result: Result) -> None:
        """Add the results of a drive."""
        self._drives += 1
        summary = result.summary
        self._names = self._names or [each["name"] for each in summary["initiators"]]
        for initiator in summary["initiators"]:
            for kind in KINDS:
                if initiator[kind]["requests"]:
                    self._add_group(initiator["name"], kind, initiator[kind])
        self._histograms.append(result.latency)
        if len(self._histograms) >= _AT_A_TIME:
            self._histograms = [_summed(self._histograms)]
        self._add_writes(summary)
        self._windows.add(summary)
        self._collected.append(summary["collection"]["blocks"])
        for key in self._wear:
            self._wear[key] += summary["wear"][key]
        if summary["wear"]["erase_count"] is not None:
            self._erase_counts.append(summary["wear"]["erase_count"])
            # The mean is that of a whole number, which 53 bits of a float distinguish.
            mean = summary["wear"]["erase_count"]["mean"]
            self._erases_of_blocks += round(mean * summary["wear"]["good_blocks"])

    def _add_group(self, name: str, kind: str, figures: dict[str, Any]) -> None:
        before = self._groups.get((name, kind))
        total = added([figures] if before is None else [before, figures])
        assert total is not None, "there is a group"
        self._groups[(name, kind)] = total

    def _add_writes(self, summary: dict[str, Any]) -> None:
        ratios = summary["write_amplification"]
        self._host_bytes += ratios["host_bytes"]
        for source in _SOURCES:
            self._programmed[source] += ratios["programmed_bytes"][source]

    def histogram(self) -> pl.DataFrame:
        """Return a row for each bucket with requests, by initiator and kind."""
        return _summed(self._histograms)

    def summary(self) -> dict[str, Any]:
        """Return counts, latencies, write amplification, wear and windows of all drives."""
        histogram = self.histogram()
        found = [(name, kind) for name in self._names for kind in KINDS]
        groups = {key: self._groups[key] for key in found if key in self._groups}
        initiators = [
            {
                "initiator": name,
                "kind": kind,
                **as_summary(group, latency_of(histogram, group, [name], kind)),
            }
            for (name, kind), group in groups.items()
        ]
        return {
            "requests": initiators,
            "kinds": [
                {"kind": kind, **as_summary(total, latency_of(histogram, total, None, kind))}
                for kind in KINDS
                if (total := added(g for (_, of), g in groups.items() if of == kind))
            ],
            "write_amplification": self._amplification(),
            "wear": {**self._wear, "erase_count": self._spread()},
            "collection": {
                "drives": sum(blocks > 0 for blocks in self._collected),
                "blocks": sum(self._collected),
            },
            "windows": self._windows.summary(),
        }

    def _amplification(self) -> dict[str, Any]:
        written = self._host_bytes
        total = sum(self._programmed.values())
        ratios = {of: each / written if written else None for of, each in self._programmed.items()}
        return {
            "total": total / written if written else None,
            **ratios,
            "programmed_bytes": dict(self._programmed),
            "host_bytes": written,
        }

    def _spread(self) -> dict[str, float] | None:
        """Return mean, least and greatest erase count of blocks."""
        if not self._erase_counts:
            return None
        return {
            "mean": self._erases_of_blocks / self._wear["good_blocks"],
            "min": min(each["min"] for each in self._erase_counts),
            "max": max(each["max"] for each in self._erase_counts),
        }


def _summed(histograms: Sequence[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    rows = pl.concat(histograms)
    return rows.group_by(_BUCKET).agg(pl.col("requests").sum()).sort(_BUCKET)
