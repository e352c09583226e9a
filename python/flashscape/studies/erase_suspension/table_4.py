"""Table 4: the longest write of TPC-C by the timeout of T-ES."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, along

from ._runs import TIMEOUTS_MS, tpcc
from .figure_6 import longest

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return the synthetic trace under Baseline and with every timeout."""
    return [tpcc(setting, "baseline"), *(tpcc(setting, f"t-es-{n}") for n in TIMEOUTS_MS)]


def _estimates(runs: Outcomes) -> list[int]:
    alone = longest(runs, "baseline", "write").numbers[0]
    return [round(alone) + n * 1_000_000 for n in TIMEOUTS_MS]


@exhibit.measures("E-15")
def longest_writes(runs: Outcomes) -> Answer:
    """Return the longest write by N, beside N plus the longest under Baseline."""
    measured = along(longest(runs, f"t-es-{n}", "write") for n in TIMEOUTS_MS)
    estimated = along(_estimates(runs))
    figures = {"write_max_ns": measured, "estimate_ns": estimated}
    return Answer(f"{measured.text('ns')}; estimated {estimated.text('ns')}", figures)


@exhibit.tabulates("longest-writes")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the paper's table."""
    import polars as pl

    return pl.DataFrame(
        {
            "timeout_ms": TIMEOUTS_MS,
            "estimate_ns": _estimates(runs),
            "write_max_ns": [longest(runs, f"t-es-{n}", "write").value for n in TIMEOUTS_MS],
        }
    )
