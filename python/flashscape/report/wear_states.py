"""States of wear as a table for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape import units
from flashscape.report.table import Rows

if TYPE_CHECKING:
    from flashscape.lifetime.life import Life
    from flashscape.lifetime.state import WearState


def table(life: Life) -> Rows:
    """Return a row for each state: UBER, write amplification, and the wear that the run adds."""
    head = ("cycles", "UBER", "counted", "units lost", "bits read", "WAF", "writes", "cycles added")
    rows = [_row(each) for each in life.states]
    return Rows("States of wear", head, rows, 1)


def _row(state: WearState) -> tuple[str, ...]:
    rate = state.bytes_per_second
    return (
        f"{state.cycles:,}",
        _rate(state.uber),
        _rate(state.uber_counted),
        "–" if state.lost_units is None else f"{state.lost_units:,}",
        "–" if state.bits_read is None else f"{state.bits_read:.2g}",
        f"{state.write_amplification:.2f}",
        "–" if rate is None else units.rate(rate),
        f"{state.added_cycles:.2g}",
    )


def _rate(uber: float | None) -> str:
    return "–" if uber is None else f"{uber:.2e}" if uber else "0"
