"""Section 3.6: how fast blocks are reused where most of them hold cold data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.catalogue import check
from flashscape.reproduce import Answer, Exhibit, Run
from flashscape.studies.design_tradeoffs_performance._drives import baseline
from flashscape.studies.design_tradeoffs_performance._loads import FRESH

if TYPE_CHECKING:
    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

_COLD = 0.75
"""Share of the blocks that hold data which is never written again."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """All is written once, and then only what lies on the last quarter of the blocks."""
    drive = baseline(geometry={"blocks_per_plane": setting.pick(short=128, full=2048)})
    idle = {"name": "idle", "reads": "100 %", "stop": {"requests": 1}}
    capacity = check({"drive": drive, "workload": [idle]})["capacity"]
    cold = int(_COLD * capacity["physical_bytes"]) // 4096 * 4096
    writes = {"name": "hot", "reads": "0 %", "region": {"offset": f"{cold} B"}}
    return [
        Run(
            "cold-data",
            {
                "title": "Three quarters of the blocks hold cold data",
                "drive": drive,
                "precondition": FRESH,
                "workload": [writes],
                "run": {"untimed": True, "bytes": f"{4 * capacity['physical_bytes']} B"},
            },
            tables=("wear",),
        )
    ]


@exhibit.measures("A-17")
def reuse(runs: Outcomes) -> Answer:
    """Erases of blocks that are reused, over the mean of all."""
    erases = runs["cold-data"].result.wear["erases"]
    reused = erases.filter(erases > 0)
    share = len(reused) / len(erases)
    faster = float(reused.sum()) / len(reused) / (float(erases.sum()) / len(erases))
    return Answer(
        f"{share:.1%} of the blocks are reused, {faster:.2f} times as fast", {"faster": faster}
    )
