"""Queries over many sources of reads: each stage is as slow as the slowest of its reads.

Sources are drives, the NVM sets of drives, or initiators. ``pooled`` draws the reads from the
latencies of all sources, as if each read were independent. ``moments`` asks sources that are chosen
at random at the same moments of their runs. The difference is what sources that are slow together,
or differ for long, do to queries.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from flashscape.fleet import moments, pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.fleet.moments import Reads
    from flashscape.fleet.wanted import Queries
    from flashscape.latency import Latency


@dataclass(frozen=True)
class Fanout:
    """Queries of some reads a stage, both ways."""

    rows: tuple[dict[str, Any], ...]
    """A row for each number of reads; columns are in docs/fleet.md."""
    stages: int
    queries: int
    slow_above_ns: int
    """A read above this is slow: p99 of the pooled reads."""
    slow_reads: float
    """Share of the pooled reads that are slow."""
    slow_at_moments: float | None
    """Share of the reads at the sampled moments that are slow; None without moments."""
    why_no_moments: str | None
    """Reason for which no query could be asked at the same moments."""
    over: str = "drives"
    """Sources of the reads: ``drives``, ``sets`` or ``initiators``."""
    limits: tuple[dict[str, Any], ...] = ()
    """The same for each further limit of slow reads: ``slow_above_ns``, ``slow_reads``,
    ``slow_at_moments`` and ``rows``."""

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {**asdict(self), "rows": list(self.rows), "limits": list(self.limits)}

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Fanout:
        """Undo :meth:`as_dict`."""
        # Results of earlier versions lack limits.
        limits = tuple(found.get("limits", ()))
        return cls(**{**found, "rows": tuple(found["rows"]), "limits": limits})


def fanout(
    wanted: Queries, latency: Latency, sources: Sequence[Reads], seed: int, over: str = "drives"
) -> Fanout:
    """Sample queries over sources, whose reads have together ``latency``."""
    limit = latency.p99
    assert limit is not None, "there are reads"
    own = pooled.Pooled(latency, seed)
    limits = (limit, *wanted.slow_above)
    asked = moments.asked(wanted, sources, limits, seed, over)
    first, *others = (_slow_above(wanted, own, asked, at, each) for at, each in enumerate(limits))
    rows = []
    for of_limit in first["rows"]:
        reads = of_limit["reads"]
        row = {"reads": reads, "slow_pooled": of_limit["slow_pooled"]}
        row |= {f"{name}_pooled_ns": v for name, v in own.figures(wanted, reads).items()}
        rows.append(row | (asked.figures(reads) if asked.why_not is None else {}))
    return Fanout(
        tuple(rows),
        wanted.stages,
        wanted.queries,
        limit,
        first["slow_reads"],
        first["slow_at_moments"],
        asked.why_not,
        over,
        tuple(others),
    )


def _slow_above(
    wanted: Queries, own: pooled.Pooled, asked: moments.Asked, at: int, limit: int
) -> dict[str, Any]:
    """Return the shares of slow reads and queries by the limit of a number."""
    share = own.above(limit)
    rows = [
        {"reads": reads, "slow_pooled": slow(share, reads * wanted.stages)}
        | (asked.shares(reads, at) if asked.why_not is None else {})
        for reads in wanted.reads
    ]
    return {
        "slow_above_ns": limit,
        "slow_reads": share,
        "slow_at_moments": asked.slow_reads[at] if asked.why_not is None else None,
        "rows": rows,
    }


def slow(share: float, reads: int) -> float:
    """Return the share of queries with a slow read, if reads are slow with ``share``."""
    return 1.0 - pooled.power(1.0 - share, reads)
