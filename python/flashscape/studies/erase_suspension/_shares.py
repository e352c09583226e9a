"""What the time of reads goes to, by scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from flashscape.result import Result


def erase_shares(results: Mapping[str, Result]) -> pl.DataFrame:
    """Return, of all reads of a run, the mean and the share of their time that erases take.

    Erases take it at work
    (``erases``), and until an interrupted one has freed its unit (``suspension``).
    """
    import polars as pl

    rows = []
    for scheme, result in results.items():
        states: dict[str, int] = {}
        for initiator in result.summary["initiators"]:
            for state, ns in initiator["read"]["blame_ns"].items():
                states[state] = states.get(state, 0) + ns
        total = sum(states.values())
        flash = result.summary["flash"]
        rows.append(
            {
                "scheme": scheme,
                "read_mean_ns": result.read.mean,
                "share_waiting_for_erases": states.get("wait_unit_erase", 0) / total,
                "share_waiting_for_suspension": states.get("wait_suspended", 0) / total,
                "erases": flash["erases"].get("erase", {}).get("commands", 0),
                "erase_suspensions": flash["erase_suspensions"],
                "erase_deferrals": flash["erase_deferrals"],
                "extra_ramps": flash["extra_ramps"],
                "extra_pulses": flash["extra_pulses"],
            }
        )
    return pl.DataFrame(rows)
