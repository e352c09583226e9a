"""Table 3: how far each scheme passes ACT's stress and performance test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots
from flashscape.studies.erase_suspension import _act
from flashscape.studies.erase_suspension._runs import LOOKS, SCHEMES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """A ladder of multipliers for each scheme."""
    return _act.runs(setting, _act.ladder(setting))


def _ratings(runs: Outcomes, test: int) -> dict[str, int]:
    return {scheme: _act.ratings(runs, scheme)[test] for scheme in _act.RATED}


@exhibit.measures("E-10")
def baseline(runs: Outcomes) -> Answer:
    """Baseline's ratings beside the others'."""
    stress, performance = _ratings(runs, 0), _ratings(runs, 1)
    figures = {_act.figure_of(s, "performance"): k for s, k in performance.items()}
    figures["baseline_stress_multiplier"] = stress["baseline"]
    reason = "; ".join(_act.why_no_more(runs, s) for s in ("baseline", "i-es"))
    ours = f"stress {stress['baseline']}x; performance {_act.told(performance)}"
    return Answer(ours, figures, reason)


@exhibit.measures("E-11")
def stress(runs: Outcomes) -> Answer:
    """Stress ratings."""
    rated = _ratings(runs, 0)
    figures = {_act.figure_of(s, "stress"): k for s, k in rated.items()}
    reason = "; ".join(_act.why_no_more(runs, s) for s in _act.RATED)
    return Answer(f"stress {_act.told(rated)}", figures, reason)


@exhibit.draws("ratings")
def drawn(runs: Outcomes) -> Picture:
    """Both ratings of each scheme."""
    groups: dict[str, dict[str, float | None]] = {
        test: {SCHEMES[s]: float(k) for s, k in _ratings(runs, at).items()}
        for at, test in enumerate(("stress", "performance"))
    }
    references = {
        ("stress", SCHEMES["baseline"]): 32.0,
        ("stress", SCHEMES["es"]): 22.0,
        ("stress", SCHEMES["i-es"]): 22.0,
    }
    return plots.bars(groups, LOOKS, label="multiplier", references=references)


@exhibit.tabulates("ratings")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """The same as a table."""
    import polars as pl

    stress, performance = _ratings(runs, 0), _ratings(runs, 1)
    return pl.DataFrame(
        {
            "scheme": list(stress),
            "stress_multiplier": list(stress.values()),
            "performance_multiplier": list(performance.values()),
        }
    )
