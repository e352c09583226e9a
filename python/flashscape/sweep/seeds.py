"""Means over seeds, with the confidence that independent runs give."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashscape._flashscape import student_quantile
from flashscape.sweep import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

_LIFE = "worn_out_bytes"
"""What only drives have that were worn out: the others would have had more of it."""

WORN_OUT = "worn_out_seeds"
"""How many seeds are behind a mean life, were it one of all."""

_OF_CUTS = ("power_cuts", "recovery_ns", "lost_requests")
"""What comes to nothing in a run without a power cut."""


def over_seeds(frame: pl.DataFrame, amounts: Mapping[str, str | None]) -> pl.DataFrame:
    """Means over seeds of a sweep's table; ``amounts`` names the columns of what varies."""
    import polars as pl

    # Of an interval within a run there is no mean over runs.
    numbers = [n for n, kind in rows.metrics().items() if kind in ("int", "float")]
    numbers.remove("mean_ci95_ns")
    both = (name for each in amounts.items() for name in each)
    varied = [name for name in both if name is not None]
    groups = ["variation", *varied, "initiator", "kind"]
    done = frame.filter(pl.col("status") == "done")
    is_cut = pl.col("power_cuts").is_not_null().any().over(groups)
    done = done.with_columns(
        pl.when(is_cut).then(pl.col(name).fill_null(0)).otherwise(pl.col(name)).alias(name)
        for name in _OF_CUTS
    )
    joined = done.group_by(groups, maintain_order=True).agg(
        pl.col("point").first(),
        pl.len().alias("seeds"),
        *(pl.col(name).mean() for name in numbers),
        *(pl.col(name).std().alias(f"{name}_ci95") for name in numbers),
        *(pl.col(name).count().alias(f"{name}_runs") for name in numbers),
    )
    most = max(joined["seeds"], default=0)
    factors = {runs: _half_width(runs) for runs in range(most + 1)}
    half_widths = (
        pl.col(f"{name}_ci95")
        * pl.col(f"{name}_runs").replace_strict(factors, return_dtype=pl.Float64)
        for name in numbers
    )
    pairs = (each for name in numbers for each in (name, f"{name}_ci95"))
    means = joined.with_columns(*half_widths, pl.col(f"{_LIFE}_runs").alias(WORN_OUT))
    # The mean of those that were worn out would be of the shortest lives.
    is_whole = pl.col(WORN_OUT) == pl.col("seeds")
    lives = (pl.when(is_whole).then(pl.col(name)).alias(name) for name in (_LIFE, f"{_LIFE}_ci95"))
    return means.with_columns(lives).select("point", *groups, "seeds", WORN_OUT, *pairs)


def _half_width(runs: int) -> float | None:
    """By which a standard deviation becomes the half-width of a mean's interval."""
    return None if runs < 2 else student_quantile(0.975, runs - 1) / math.sqrt(runs)
