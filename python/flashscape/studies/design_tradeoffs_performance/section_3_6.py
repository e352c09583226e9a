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
"""Sequential ones where any of equal victims is cleaned, not the last."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """All is written once, and then as much everywhere, but where cold data lie."""
    small = baseline(geometry={"blocks_per_plane": setting.pick(short=128, full=2048)})
    physical = derived(small)["capacity"]["physical_bytes"]
    drawn = joined(small, {"ftl": {"gc": {"victim": {"policy": "greedy", "ties": "random"}}}})
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

    @property
    def concentrated(self) -> float:
        """How much faster they are reused than if all blocks had their share of the erases."""
        return 1 / self.share


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
    figures, told, why = {}, [], []
    for pattern in PATTERNS:
        without, most = (_reuse(runs, percent, pattern) for percent in (COLD[0], COLD[-1]))
        faster = figures[f"{pattern}_faster"] = _faster(runs, COLD[-1], pattern)
        figures[f"{pattern}_reused_share"] = most.share
        told.append(
            f"under {pattern} writes {most.share:.1%} of the blocks, {faster:.2f} times as fast as "
            f"without cold data ({_faster(runs, COLD[1], pattern):.2f} times with {COLD[1]} % "
            f"cold), {most.concentrated:.1f} times as fast as if all had their share of the erases"
        )
        why.append(
            f"under {pattern} writes {without.share:.1%} of the blocks over {most.share:.1%}, "
            f"times {most.written:.2f} over {without.written:.2f} pages written for each of "
            f"hosts: {without.share / most.share * most.written / without.written:.2f}"
        )
    drawn = _reuse(runs, COLD[-1], _DRAWN)
    spare, hot = _spare(), 1 - COLD[-1] / 100
    reason = (
        f"What is not cold are {hot - spare:.0%} of the blocks with hot data and the reserve of "
        f"{spare:.0%}: {hot:.0%}, by which the paper's factor is {1 / hot:.0f} if all of them are "
        "reused in turn and a drive moves as much with cold data as without. Here it is, as "
        f"blocks reused and pages written give it, {'; '.join(why)}. With cold data uniform writes "
        "go to less space, and less is moved. Under sequential ones, of equal victims the last "
        "is cleaned, and what of the reserve lies above the threshold is never needed; where any "
        f"of them is cleaned {drawn.share:.1%} are reused, "
        f"{_faster(runs, COLD[-1], _DRAWN):.2f} times as fast"
    )
    return Answer("; ".join(told), figures, reason)


def _spare() -> float:
    """The share of the blocks that is not exported; summary pages are no place for data."""
    return float(derived(baseline())["capacity"]["reserved_of_physical"])


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
