"""Program and erase cycles that parity takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Figure

from ._drives import FULL
from ._runs import listed, no_better, result, runs_of
from ._traces import TRACES

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Run, Setting
    from flashscape.result import Result

exhibit = Exhibit()

_LEAST, _MOST = 0.15, 0.18
"""Range of the paper for four of the six traces."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each trace with ttFlash, and under Base, with and without parity."""
    return runs_of(setting, (FULL, "base", "base-rain"))


def _extra(found: Result) -> float:
    """Return the pages of parity that are programmed for each of data."""
    amplification = found.summary["write_amplification"]
    return float(amplification["parity"] / amplification["host"])


@exhibit.measures("T-9")
def extra(runs: Outcomes) -> Answer:
    """Return what parity adds to the programs of data."""
    ours = Figure(tuple(_extra(result(runs, trace, FULL)) for trace in TRACES))
    near = sum(_LEAST <= round(float(number), 3) <= _MOST for number in ours.numbers)
    figures = {"traces_near_ideal": near, "extra_cycles_share": ours}
    reason = (
        "Writes of the synthetic traces are small beside a stripe, and random, so that an update "
        "of a stripe has few pages; only sequential writes fill stripes"
    )
    return Answer(listed(ours, "share"), figures, reason, no_better(runs))


@exhibit.tabulates("cycles")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return programs by their source and erased blocks, with and without parity."""
    import polars as pl

    rows = []
    for name, trace in TRACES.items():
        for level in (FULL, "base-rain", "base"):
            summary = result(runs, name, level).summary
            amplification = summary["write_amplification"]
            rows.append(
                {
                    "trace": trace.title,
                    "level": level,
                    **{
                        f"{part}_programs": amplification[part] for part in ("host", "parity", "gc")
                    },
                    "all_programs": amplification["total"],
                    "erased_blocks": summary["collection"]["blocks"],
                    "cleaning_efficiency": summary["collection"]["cleaning_efficiency"],
                }
            )
    return pl.DataFrame(rows)
