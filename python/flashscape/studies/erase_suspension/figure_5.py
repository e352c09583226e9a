"""Figure 5: small reads of ACT at 30 times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.act import load
from flashscape.reproduce import Answer, Exhibit, plots

from . import _act, _ratings
from ._runs import LOOKS, SCHEMES
from ._shares import erase_shares

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcome, Outcomes, Run, Setting

exhibit = Exhibit()

_PERCENTILES = (95.0, 99.0, 99.9)


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return the runs of table 3, which include multiplier 30."""
    return [*_act.runs(setting, _act.ladder(setting)), *_act.map_runs(setting)]


@exhibit.measures("E-12")
def ratings(runs: Outcomes) -> Answer:
    """Return performance ratings, and which runs at multiplier 30 end."""
    rated, found = _ratings.of_preset(runs).performance, _ratings.region(runs, "E-12")
    figures: dict[str, object] = {_ratings.figure_of(s, "performance"): k for s, k in rated.items()}
    for scheme, name in (("d-es", "d_es"), ("t-es-64", "t_es")):
        figures[f"{name}_completed"] = _at_30(runs, scheme).error is None
    figures |= found.figures
    each = [_ratings.why_no_more(runs, s) for s in ("es", "d-es", "t-es-64")]
    ours = f"performance {_ratings.told(rated)}; D-ES and T-ES end at {_act.AT}x"
    return Answer(ours, figures, "; ".join([*each, found.text]))


def _at_30(runs: Outcomes, scheme: str) -> Outcome:
    return runs[_act.run_name(scheme, _act.AT)]


@exhibit.draws("small-reads")
def drawn(runs: Outcomes) -> Picture:
    """Draw percentiles of small reads."""
    groups: dict[str, dict[str, float | None]] = {}
    for percent in _PERCENTILES:
        groups[f"p{percent:g}"] = {
            SCHEMES[s]: _at_30(runs, s)
            .measured.of_kind("read", load.slice_name(0))
            .percentile(percent)
            for s in _act.RATED
        }
    behind = [SCHEMES[s] for s in _act.RATED if _is_behind(_at_30(runs, s))]
    return plots.bars(
        groups,
        LOOKS,
        unit="ns",
        label="latency of small reads",
        title=f"ACT at {_act.AT} times",
        log=True,
        overloaded=[(group, scheme) for group in groups for scheme in behind],
        hollow="hollow: the drive does not keep up with the writes",
    )


def _is_behind(run: Outcome) -> bool:
    """Return True if writes starve, or pile up until the end."""
    if run.error is not None:
        return True
    return any(note.startswith("overload: ") for note in run.measured.summary["notes"])


@exhibit.tabulates("causes")
def causes(runs: Outcomes) -> pl.DataFrame:
    """Return the causes of read latency, by scheme."""
    return erase_shares({s: _at_30(runs, s).measured for s in _act.RATED})
