"""Projected lives side by side, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.report.table import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ENDS = {"uber": "UBER", "wear": "wear limit", None: "no limit"}


def table(lives: Iterable[Mapping[str, Any]]) -> Rows:
    """Return the rows of a comparison of lives, each with its ratio to the first."""
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
        for row in lives
    ]
    return Rows("Projected lives", head, rows, 1)


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
