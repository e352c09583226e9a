"""Projected lives side by side, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.report.table import Rows

if TYPE_CHECKING:
    from flashscape.lifetime.comparison import LifetimeComparison

_ENDS = {"uber": "UBER", "wear": "wear limit", None: "no limit"}


def table(compared: LifetimeComparison) -> Rows:
    """Return a row for each life, with its ratio to the first."""
    head = (
        "life",
        "TBW",
        "× A",
        "drive writes",
        "DWPD",
        "cycles",
        "× A",
        "WAF",
        "ends by",
    )
    rows = [
        (
            f"{row['label']}: {row['name']}",
            f"{row['tbw']:.3g} TB",
            _ratio(row["tbw_ratio"]),
            f"{row['drive_writes']:,.4g}",
            f"{row['dwpd']:.3g}",
            f"{row['cycles']:,.0f}",
            _ratio(row["cycles_ratio"]),
            f"{row['write_amplification']:.2f}",
            _ENDS[row["ends_by"]],
        )
        for row in compared.rows
    ]
    return Rows("Projected lives", head, rows, 1)


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
