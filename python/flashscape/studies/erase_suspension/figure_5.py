"""Figure 5: small reads of ACT at 30 times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.act import load
from flashscape.reproduce import Answer, Exhibit, plots
from flashscape.studies.erase_suspension import _act
from flashscape.studies.erase_suspension._runs import LOOKS, SCHEMES
from flashscape.studies.erase_suspension._shares import erase_shares

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

_PERCENTILES = (95.0, 99.0, 99.9)


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """The ladder of table 3, in which 30 times is."""
    return _act.runs(setting, _act.ladder(setting))


@exhibit.measures("E-12")
def ratings(runs: Outcomes) -> Answer:
    """Performance ratings, and whether the runs at 30 times end."""
    rated = {scheme: _act.ratings(runs, scheme)[1] for scheme in _act.RATED}
    figures: dict[str, object] = {_act.figure_of(s, "performance"): k for s, k in rated.items()}
    for scheme, name in (("d-es", "d_es"), ("t-es-64", "t_es")):
        figures[f"{name}_completed"] = runs[f"act-{scheme}-{_act.AT}x"].error is None
    reason = "; ".join(_act.why_no_more(runs, s) for s in ("es", "d-es", "t-es-64"))
    ours = f"performance {_act.told(rated)}; D-ES and T-ES end at {_act.AT}x"
    return Answer(ours, figures, reason)


@exhibit.draws("small-reads")
def drawn(runs: Outcomes) -> Picture:
    """Percentiles of small reads."""
    groups: dict[str, dict[str, float | None]] = {}
    for percent in _PERCENTILES:
        groups[f"p{percent:g}"] = {
            SCHEMES[s]: runs[f"act-{s}-{_act.AT}x"]
            .measured.of_kind("read", load.slice_name(0))
            .percentile(percent)
            for s in _act.RATED
        }
    return plots.bars(groups, LOOKS, unit="ns", label="latency of small reads", log=True)


@exhibit.tabulates("causes")
def causes(runs: Outcomes) -> pl.DataFrame:
    """What reads wait for, by scheme."""
    return erase_shares({s: runs[f"act-{s}-{_act.AT}x"].measured for s in _act.RATED})
