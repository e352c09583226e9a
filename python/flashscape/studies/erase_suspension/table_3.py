"""Table 3: the highest multipliers at which each scheme passes ACT's two tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, plots

from . import _act, _ratings
from ._runs import LOOKS, SCHEMES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return a ladder of multipliers for each scheme, with the preset and its variants."""
    return [*_act.runs(setting, _act.ladder(setting)), *_act.map_runs(setting)]


@exhibit.measures("E-10")
def baseline(runs: Outcomes) -> Answer:
    """Compare Baseline's ratings with the others'."""
    rated, found = _ratings.of_preset(runs), _ratings.region(runs, "E-10")
    figures: dict[str, object] = {
        _ratings.figure_of(scheme, "performance"): rated.performance[scheme]
        for scheme in ("baseline", "d-es", "t-es-64")
    }
    figures |= found.figures
    reason = "; ".join(
        [*(_ratings.why_no_more(runs, s) for s in ("baseline", "t-es-64")), found.text]
    )
    ours = f"stress {rated.stress['baseline']}x; performance {_ratings.told(rated.performance)}"
    return Answer(ours, figures, reason)


@exhibit.measures("E-11")
def stress(runs: Outcomes) -> Answer:
    """Return stress ratings."""
    rated, found = _ratings.of_preset(runs).stress, _ratings.region(runs, "E-11")
    figures: dict[str, object] = {_ratings.figure_of(s, "stress"): k for s, k in rated.items()}
    figures |= found.figures
    each = [_ratings.why_no_more(runs, s) for s in _act.RATED]
    return Answer(f"stress {_ratings.told(rated)}", figures, "; ".join([*each, found.text]))


@exhibit.draws("ratings")
def drawn(runs: Outcomes) -> Picture:
    """Draw both ratings of each scheme with the preset, by the number of threads."""
    rated = {threads: _ratings.of_preset(runs, threads) for threads in _ratings.THREADS}
    panels = {
        test: {
            SCHEMES[scheme]: [
                (float(n), float(getattr(of, test)[scheme])) for n, of in rated.items()
            ]
            for scheme in _act.RATED
        }
        for test in ("stress", "performance")
    }
    paper = [
        plots.Reference(32.0, "paper: Baseline 32, one thread", "Baseline"),
        plots.Reference(22.0, "paper: ES and I-ES fail above 22", "ES"),
    ]
    return plots.lines(
        panels,
        LOOKS,
        x_label="threads that issue small reads",
        title=f"multiplier; ramp {_act.PRESET.ramp_us} us, buffer {_act.PRESET.buffer_mib} MiB",
        references={"stress": paper},
        apart=True,
    )


def _threads(number: int) -> str:
    return "1 thread" if number == 1 else f"{number} threads"


@exhibit.draws("map")
def mapped(runs: Outcomes) -> Picture:
    """Draw the variants for which each of the paper's orders holds, by the number of threads."""
    panels = {
        _threads(threads): {
            (float(variant.buffer_mib), float(variant.ramp_us)): list(
                _ratings.of_variant(runs, variant, threads).in_order
            )
            for variant in _act.variants(runs.setting)
        }
        for threads in _ratings.THREADS
    }
    looks = plots.Looks(*_ratings.ORDERS)
    axes = ("write buffer in MiB", "erase ramp in us")
    title = "filled: the order of the claim's ratings holds; hollow: it does not"
    return plots.marks(panels, looks, labels=axes, title=title)


@exhibit.tabulates("ratings")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return ratings with the preset, by the number of threads."""
    import polars as pl

    rows = []
    for threads in _ratings.THREADS:
        stress, performance = _ratings.of_preset(runs, threads)
        rows += [
            {
                "scheme": scheme,
                "threads": threads,
                "stress_multiplier": stress[scheme],
                "performance_multiplier": performance[scheme],
            }
            for scheme in stress
        ]
    return pl.DataFrame(rows)


@exhibit.tabulates("map")
def region(runs: Outcomes) -> pl.DataFrame:
    """Return ratings of each variant, and the claims whose order holds there."""
    import polars as pl

    rows = []
    for variant in _act.variants(runs.setting):
        for threads in _ratings.THREADS:
            rated = _ratings.of_variant(runs, variant, threads)
            row: dict[str, object] = {
                "erase_ramp_us": variant.ramp_us,
                "write_buffer_mib": variant.buffer_mib,
                "threads": threads,
            }
            row |= {_ratings.figure_of(s, "stress"): k for s, k in rated.stress.items()}
            row |= {_ratings.figure_of(s, "performance"): k for s, k in rated.performance.items()}
            row |= {f"{claim} holds": claim in rated.in_order for claim in _ratings.ORDERS}
            rows.append(row)
    return pl.DataFrame(rows)
