"""Causes of read latency, by scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from flashscape.result import Result

_TAIL = 99.9


def erase_shares(results: Mapping[str, Result]) -> pl.DataFrame:
    """Return the shares of erases in the latency of all reads and of those beyond p99.9.

    Erases cause it while they run, and until an interrupted one frees its unit (``suspension``).
    The limit of a percentile is known to 1.6 % of its latency.
    """
    import polars as pl

    return pl.DataFrame([_row(scheme, result) for scheme, result in results.items()])


def _row(scheme: str, result: Result) -> dict[str, float | int | str | None]:
    import polars as pl

    bands = result.bands.filter(pl.col("kind") == "read")
    tail = bands.filter(pl.col("low_ns") >= (result.read.percentile(_TAIL) or 0))
    flash = result.summary["flash"]
    row: dict[str, float | int | str | None] = {"scheme": scheme, "read_mean_ns": result.read.mean}
    for name, part in (("all", bands), ("beyond_p99_9", tail)):
        times = part.select(
            pl.col("^(link|firmware|buffer|sense|program|transfer|decode|wait.*|withheld.*)_ns$")
        )
        total = sum(times.sum().row(0)) or 1
        for cause, state in (("erases", "wait_unit_erase_ns"), ("suspension", "wait_suspended_ns")):
            row[f"share_of_{name}_{cause}"] = float(part[state].sum()) / total
    return row | {
        "erases": flash["erases"].get("erase", {}).get("commands", 0),
        **{
            key: flash[key]
            for key in ("erase_suspensions", "erase_deferrals", "extra_ramps", "extra_pulses")
        },
    }
