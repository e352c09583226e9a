"""Quantiles of samples by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

QUANTILES = {"p50": 500_000_000, "p90": 900_000_000, "p99": 990_000_000, "p99_9": 999_000_000}
"""Quantiles of the latency of queries, in billionths."""


def at_ranks(samples: Sequence[int]) -> dict[str, float]:
    """Return each quantile: the least sample that this share of the samples does not exceed."""
    ranked = sorted(samples)
    ranks = {name: -(-share * len(ranked) // 1_000_000_000) for name, share in QUANTILES.items()}
    return {name: ranked[max(1, rank) - 1] for name, rank in ranks.items()}
