"""Queries over runs that are no fleet, but whose directories have their reads."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from flashscape.errors import OutputError
from flashscape.fleet.fanout import Fanout, fanout
from flashscape.fleet.stored_reads import StoredReads
from flashscape.fleet.wanted import QUERIES, Queries
from flashscape.latency import Latency

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from flashscape.result import Result


def queries_over(
    results: Sequence[Result], reads: Iterable[int], *, queries: int = QUERIES, seed: int = 1
) -> Fanout:
    """Ask runs as the drives of a fleet; ``reads`` has the reads of a stage of each case.

    Raises OutputError for a run that was not read from a directory, or has no table of its reads.
    """
    stored = [StoredReads(_folder(result, number)) for number, result in enumerate(results, 1)]
    wanted = Queries(tuple(sorted(reads)), queries=queries)
    return fanout(wanted, pooled_latency([result.read for result in results]), stored, seed)


def _folder(result: Result, number: int) -> Path:
    """Return the directory that has the reads of a run."""
    if result.folder is None:
        raise OutputError(
            f"result {number} was not read from a directory, and queries need the reads that are "
            "stored there; give Result.load(DIR) of a run that keeps its reads"
        )
    return result.folder


def pooled_latency(parts: Sequence[Latency]) -> Latency:
    """Return the latencies of several runs as one."""
    own = [part for part in parts if part.requests]
    requests = sum(part.requests for part in own)
    if not requests:
        return Latency(0, None, None, None, ())
    buckets: Counter[int] = Counter()
    for part in own:
        for upper, count in part.buckets:
            buckets[upper] += count
    return Latency(
        requests,
        sum((part.mean or 0.0) * part.requests for part in own) / requests,
        min(part.min for part in own if part.min is not None),
        max(part.max for part in own if part.max is not None),
        tuple(sorted(buckets.items())),
    )
