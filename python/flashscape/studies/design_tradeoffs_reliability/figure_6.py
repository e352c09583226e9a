"""Figure 6: parity inside the drive, used after one re-read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.experiment import Experiment
from flashscape.reproduce import Answer, Exhibit, Figure, plots

from . import _parity
from ._drives import (
    BLOCKS,
    EXPORTED_GIB,
    TLC,
    stripes,
)
from ._parity import LOOKS, PARITY, STRIPES, TITLES
from ._runs import (
    need_rebuilds,
    reads_for_rebuilds,
    rebuild_failures,
    rebuilds,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

RE_READS = 1


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each wear without parity and with both stripes."""
    return _parity.runs_of(setting, RE_READS)


def whole_drive(stripe: str) -> dict[str, Any]:
    """Return the paper's drive in both profiles, for its capacity."""
    return {
        "preset": "fast19",
        "geometry": {"blocks_per_plane": BLOCKS},
        "ftl": {
            "over_provisioning": {"exported": f"{EXPORTED_GIB} GiB"},
            "superblock": stripes(STRIPES[stripe], "host", "collection"),
        },
    }


def _spare(stripe: str) -> float:
    """Return spare over exported capacity if all data has such parity."""
    idle = {"name": "idle", "reads": "100 %"}
    whole = {"drive": whole_drive(stripe), "workload": [idle], "run": {"requests": 1}}
    return float(Experiment.from_dict(whole).derived["superblocks"]["spare_if_protected"])


@exhibit.measures("R-5")
def spare(runs: Outcomes) -> Answer:
    """Return effective over-provisioning, as the drive tells it."""
    for stripe in STRIPES:
        # A version without superblocks has no such runs.
        _ = runs[_parity.name(TLC.worn, stripe, RE_READS)].result
    figures = {f"{stripe}_spare_share": round(_spare(stripe), 6) for stripe in STRIPES}
    told = (f"{TITLES[s]} {Figure(figures[f'{s}_spare_share']).text('share')}" for s in STRIPES)
    return Answer(", ".join(told), figures)


@exhibit.measures("R-6")
def slower(runs: Outcomes) -> Answer:
    """Return mean and p99.9 of reads in multiples of those without parity."""
    need_rebuilds(runs, _parity.names(RE_READS, [TLC.worn]))
    figures: dict[str, object] = {}
    told = []
    for stripe in PARITY:
        figures[f"{stripe}_mean_times"] = mean = _parity.mean_times(runs, stripe, RE_READS)
        figures[f"{stripe}_p99_9_times"] = tail = _parity.tail_times(runs, stripe, RE_READS)
        worn = _parity.result(runs, TLC.worn, stripe, RE_READS)
        figures[f"{stripe}_read_pages"] = reads_for_rebuilds(worn) / rebuilds(worn)
        told.append(f"{TITLES[stripe]}: mean {mean.text('')}, p99.9 {tail.text('')} times")
    return Answer("; ".join(told), figures)


@exhibit.measures("R-8")
def failed(runs: Outcomes) -> Answer:
    """Return the share of rebuilds that fail, by wear."""
    need_rebuilds(runs, _parity.names(RE_READS))
    figures = {}
    for cycles in TLC.cycles:
        for stripe in PARITY:
            found = _parity.result(runs, cycles, stripe, RE_READS)
            tried = rebuilds(found)
            share = Figure(rebuild_failures(found) / tried, tried)
            figures[f"{stripe}_{cycles // 1000}k_failed_share"] = share
    told = (f"{name} {figure.text('share')}" for name, figure in figures.items())
    return Answer(", ".join(told), figures)


@exhibit.draws("reads")
def drawn(runs: Outcomes) -> Picture:
    """Draw the tails of reads by wear."""
    panels = {
        f"{cycles // 1000}K cycles": {
            title: _parity.result(runs, cycles, stripe, RE_READS).read
            for stripe, title in TITLES.items()
        }
        for cycles in TLC.cycles
    }
    return plots.tails(panels, LOOKS, title="parity is used after one re-read")


@exhibit.tabulates("runs")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return reads, recovery and write amplification of each run."""
    return _parity.table(runs, RE_READS)
