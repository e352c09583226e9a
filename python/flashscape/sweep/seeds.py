"""Means over seeds, with confidence intervals from independent runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flashscape._flashscape import student_quantile
from flashscape.steadiness import FIGURES
from flashscape.sweep import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

_LIFE = "worn_out_bytes"
"""Metric that only worn-out drives have: the others would have larger values."""

WORN_OUT = "worn_out_seeds"
"""Number of seeds whose drives were worn out; a mean life is given only if all of them were."""

OVERLOADED = "overloaded_seeds"
"""Number of seeds with an overloaded initiator, whose latencies show the run's length only."""

UNSTEADY = {figure: f"{figure}_unsteady_seeds" for figure in FIGURES}
"""Number of seeds whose run is not known to be steady in a figure."""

_OF_CUTS = ("power_cuts", "recovery_ns", "lost_requests")
"""Metrics that are 0 in a run without a power cut."""


def unsteady_seeds(row: Mapping[str, Any], metric: str) -> int:
    """Return the number of runs behind a row's metric that are not known to be steady in it."""
    if metric in ("write_amplification", "erases"):
        return int(row[UNSTEADY["write_amplification"]])
    if metric == "iops" or metric.endswith("_ns"):
        return int(row[UNSTEADY["latency"]])
    return 0


def over_seeds(frame: pl.DataFrame, amounts: Mapping[str, str | None]) -> pl.DataFrame:
    """Return means over seeds of a sweep's table; ``amounts`` names the columns that vary."""
    import polars as pl

    # An interval within one run has no meaningful mean over runs.
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
        (pl.col("overloaded").list.len() > 0).sum().alias(OVERLOADED),
        *(
            pl.col(f"{figure}_steady_reason").count().alias(column)
            for figure, column in UNSTEADY.items()
        ),
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
    # The mean of worn-out drives alone would be that of the shortest lives.
    is_whole = pl.col(WORN_OUT) == pl.col("seeds")
    lives = (pl.when(is_whole).then(pl.col(name)).alias(name) for name in (_LIFE, f"{_LIFE}_ci95"))
    return means.with_columns(lives).select(
        "point", *groups, "seeds", WORN_OUT, OVERLOADED, *UNSTEADY.values(), *pairs
    )


def _half_width(runs: int) -> float | None:
    """Return the factor from a standard deviation to the half-width of a mean's interval."""
    return None if runs < 2 else student_quantile(0.975, runs - 1) / math.sqrt(runs)
