"""Figure 7: parity inside the drive, used after three re-reads; and what parity costs writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots

from . import _parity
from ._drives import TLC
from ._parity import LOOKS, PARITY, TITLES
from ._runs import (
    amplification,
    need_rebuilds,
    unrecovered,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting
    from flashscape.result import Result

exhibit = Exhibit()

RE_READS = 3
FEWER = 1
"""Re-reads of figure 6, with which write amplification is compared."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each wear without parity and with both stripes, and worn flash after one re-read."""
    fewer = [_parity.run(setting, TLC.worn, stripe, FEWER) for stripe in PARITY]
    return [*_parity.runs_of(setting, RE_READS), *fewer]


def _host(result: Result) -> float:
    """Return programs of hosts' data and of its parity, over host writes."""
    of_parity = result.summary["write_amplification"].get("parity_of") or {}
    return amplification(result, "host") + float(of_parity.get("host") or 0)


@exhibit.measures("R-7")
def writes(runs: Outcomes) -> Answer:
    """Return write amplification, and what parity adds to the parts of hosts and of GC."""
    none = _parity.result(runs, TLC.worn, "none", FEWER)
    figures = {"none_amplification": amplification(none)}
    told = [f"without parity {amplification(none):.3g}"]
    for stripe in PARITY:
        one, three = (_parity.result(runs, TLC.worn, stripe, count) for count in (FEWER, RE_READS))
        host = _host(one) / _host(none)
        gc = amplification(one, "gc") / amplification(none, "gc")
        figures |= {
            f"{stripe}_amplification": amplification(one),
            f"{stripe}_amplification_of_3": amplification(three),
            f"{stripe}_host_times": host,
            f"{stripe}_gc_times": gc,
        }
        told.append(
            f"{TITLES[stripe]} {amplification(one):.3g} (hosts {host:.3g} times, GC {gc:.3g} "
            f"times), after three re-reads {amplification(three):.3g}"
        )
    return Answer("; ".join(told), figures)


@exhibit.measures("R-9")
def recovered(runs: Outcomes) -> Answer:
    """Return the mean read in multiples of that without parity, and what is not recovered."""
    need_rebuilds(runs, _parity.names(RE_READS, [TLC.worn]))
    lost = {
        cycles: sum(
            unrecovered(_parity.result(runs, cycles, stripe, RE_READS)) for stripe in PARITY
        )
        for cycles in TLC.cycles
    }
    less = sum(units for cycles, units in lost.items() if cycles != TLC.worn)
    means = {s: _parity.mean_times(runs, s, RE_READS) for s in PARITY}
    figures: dict[str, object] = {f"{s}_mean_times": figure for s, figure in means.items()}
    figures |= {"less_worn_failed": less, "worn_failed": lost[TLC.worn]}
    told = "; ".join(f"{TITLES[s]}: mean {figure.text('')} times" for s, figure in means.items())
    return Answer(f"{told}; not recovered {less} and, worn, {lost[TLC.worn]}", figures)


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
    return plots.tails(panels, LOOKS, title="parity is used after three re-reads")


@exhibit.draws("writes")
def drawn_writes(runs: Outcomes) -> Picture:
    """Draw the parts of write amplification on worn flash."""
    groups = {
        part: {
            title: amplification(_parity.result(runs, TLC.worn, stripe, RE_READS), part)
            for stripe, title in TITLES.items()
        }
        for part in ("total", "host", "gc", "parity")
    }
    return plots.bars(groups, LOOKS, label="programs over host writes")


@exhibit.tabulates("runs")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return reads, recovery and write amplification of each run."""
    return _parity.table(runs, RE_READS)
