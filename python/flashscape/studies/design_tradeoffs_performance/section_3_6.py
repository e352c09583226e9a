"""Section 3.6: how fast blocks are reused where some of them hold cold data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flashscape.reproduce import Answer, Exhibit, Run
from flashscape.studies.design_tradeoffs_performance._drives import (
    PAGE_BYTES,
    baseline,
    derived,
    joined,
)
from flashscape.studies.design_tradeoffs_performance._loads import FRESH

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

COLD = (0, 25, 75)
"""Percent of the blocks that hold data which is never written again. The notes speak of 25 % with
cold data and of 25 % that are reused, which are two cases."""

PATTERNS = ("uniform", "sequential")
"""Writes that the claim is judged by."""

_DRAWN = "sequential-drawn"
"""Sequential ones where the best of ten drawn blocks is cleaned, not the first of equals."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """All is written once, and then as much everywhere, but where cold data lie."""
    small = baseline(geometry={"blocks_per_plane": setting.pick(short=128, full=2048)})
    physical = derived(small)["capacity"]["physical_bytes"]
    drawn = joined(small, {"ftl": {"gc": {"victim": {"policy": "d-choices", "choices": 10}}}})
    found = []
    for percent in COLD:
        cold = percent * physical // 100 // PAGE_BYTES * PAGE_BYTES
        for pattern in (*PATTERNS, _DRAWN):
            writes = {
                "name": "hot",
                "reads": "0 %",
                "region": {"offset": f"{cold} B"},
                "addresses": {"pattern": pattern.removesuffix("-drawn")},
            }
            found.append(
                Run(
                    f"cold-{percent}-{pattern}",
                    {
                        "title": f"{percent} % of the blocks hold cold data, {pattern} writes",
                        "drive": drawn if pattern == _DRAWN else small,
                        "precondition": FRESH,
                        "workload": [writes],
                        "run": {"untimed": True, "bytes": f"{4 * physical} B"},
                    },
                    tables=("wear",),
                )
            )
    return found


class _Reuse(NamedTuple):
    """Blocks that were reused, and how fast, after the same writes of hosts."""

    share: float
    erases: float
    written: float


def _reuse(runs: Outcomes, percent: int, pattern: str) -> _Reuse:
    result = runs[f"cold-{percent}-{pattern}"].result
    erases = result.wear["erases"]
    reused = erases.filter(erases > 0)
    written = float(result.summary["write_amplification"]["total"])
    return _Reuse(len(reused) / len(erases), float(reused.sum()) / len(reused), written)


def _faster(runs: Outcomes, percent: int, pattern: str) -> float:
    """How much faster a block is reused than without cold data."""
    return _reuse(runs, percent, pattern).erases / _reuse(runs, COLD[0], pattern).erases


@exhibit.measures("A-17")
def reuse(runs: Outcomes) -> Answer:
    """Erases of a block that is reused, over those on a drive without cold data."""
    figures = {f"{pattern}_faster": _faster(runs, 75, pattern) for pattern in PATTERNS}
    told, why = [], []
    for pattern in PATTERNS:
        without, most = (_reuse(runs, percent, pattern) for percent in (COLD[0], COLD[-1]))
        times = " and ".join(f"{_faster(runs, percent, pattern):.2f}" for percent in COLD[1:])
        told.append(f"{times} times as fast with 25 % and 75 % cold under {pattern} writes")
        why.append(
            f"under {pattern} writes {without.share:.0%} of the blocks are reused without cold "
            f"data and {most.share:.0%} with 75 %, and {without.written:.2f} and "
            f"{most.written:.2f} pages written for each of hosts"
        )
    drawn, faster = _reuse(runs, COLD[-1], _DRAWN), _faster(runs, COLD[-1], _DRAWN)
    reason = (
        f"The drive moves less with cold data, or reuses fewer blocks: {'; '.join(why)}. Of equal "
        "victims the first is cleaned; where the best of ten that are drawn is, sequential writes "
        f"reuse {drawn.share:.0%} of the blocks, {faster:.2f} times as fast"
    )
    return Answer("; ".join(told), figures, reason)


@exhibit.tabulates("reuse")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """How blocks are reused by how much of the drive is cold."""
    import polars as pl

    rows = []
    for pattern in (*PATTERNS, _DRAWN):
        for percent in COLD:
            found = _reuse(runs, percent, pattern)
            rows.append(
                {
                    "writes": pattern,
                    "cold_percent": percent,
                    "reused_share": found.share,
                    "erases_of_a_reused_block": found.erases,
                    "times_as_fast": _faster(runs, percent, pattern),
                    "write_amplification": found.written,
                }
            )
    return pl.DataFrame(rows)
