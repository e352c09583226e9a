"""Queries that wait for the slowest of many reads, over drives with sets and without."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from flashscape.fleet import queries_over
from flashscape.reproduce import Answer, Exhibit, Figure, Run, plots

from ._cases import CASES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.fleet import Fanout
    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

DRIVES = 16
"""Drives that a query may ask at the same moment."""

READS = (1, 4, 16, 64, 256)
"""Reads of a query: "dozens of subqueries" [paper] and around that."""

RATE = 51_200
"""Writes a second of each drive: a fifth of what it can take."""

LAYOUTS = {"bands": "no sets: bands", "others": "sets: writes to all others"}

_QUERIES = 10_000


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return drives that begin alike and are aged apart, in each layout."""
    made = []
    for layout in LAYOUTS:
        experiment = CASES[layout].experiment(setting, RATE)
        for number in range(1, DRIVES + 1):
            clone = {"number": number, "overwrites": {"from": 0.0, "to": 0.25}}
            made.append(
                Run(
                    _name(layout, number),
                    experiment | {"clone": clone},
                    tables=("latency", "reads"),
                )
            )
    return made


def _name(layout: str, number: int) -> str:
    return f"fan-out-{layout}-{number}"


@cache
def _asked(runs: Outcomes, layout: str) -> Fanout:
    """Ask all drives of a layout."""
    results = [runs[_name(layout, number)].result for number in range(1, DRIVES + 1)]
    return queries_over(results, READS, queries=_QUERIES).fanout


def _rows(runs: Outcomes, layout: str) -> list[dict[str, Any]]:
    return list(_asked(runs, layout).rows)


def _over_mean(rows: list[dict[str, Any]]) -> float:
    """Return the mean query of the most reads over that of one read."""
    return round(float(rows[-1]["mean_moments_ns"] / rows[0]["mean_moments_ns"]), 2)


@exhibit.measures("N-7")
def longest(runs: Outcomes) -> Answer:
    """Return mean queries and shares of slow ones, from the same moments and by the formula."""
    bands, sets = (_rows(runs, layout) for layout in LAYOUTS)
    # Queries come at moments, and in a closed loop a moment meets slow reads more often than a
    # random read is one.
    share = _asked(runs, "bands").slow_at_moments or 0.0
    # The formula, computed apart from the code that is checked.
    formula = tuple(1 - (1 - share) ** row["reads"] for row in bands)
    slow = tuple(row["slow_moments"] for row in bands)
    figures: dict[str, Any] = {
        "slow_share": Figure(slow, _QUERIES),
        "formula_share": Figure(formula, _QUERIES),
        "bands_over_mean_read": _over_mean(bands),
        "sets_over_mean_read": _over_mean(sets),
    }
    ours = (
        f"a query of {READS[-1]} reads takes {figures['bands_over_mean_read']:.2f} mean reads "
        f"without sets, {figures['sets_over_mean_read']:.2f} with them; slow: "
        f"{', '.join(f'{each:.1%}' for each in slow)}, "
        f"formula {', '.join(f'{each:.1%}' for each in formula)}"
    )
    return Answer(ours, figures)


@exhibit.tabulates("queries")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each layout and number of reads; columns are those of a fleet."""
    import polars as pl

    return pl.DataFrame(
        [{"configuration": LAYOUTS[name]} | row for name in LAYOUTS for row in _rows(runs, name)]
    )


_CURVES = {
    ("bands", "moments"): "bands, same moments",
    ("bands", "pooled"): "bands, slowest of independent reads",
    ("others", "moments"): "sets, same moments",
    ("others", "pooled"): "sets, slowest of independent reads",
}

LOOKS = plots.Looks(*_CURVES.values())


@exhibit.draws("queries")
def drawn(runs: Outcomes) -> Picture:
    """Draw mean queries, and shares of slow ones, by their reads."""
    panels = {
        label: {
            title: [(row["reads"], row[f"{name}_{way}{unit}"]) for row in _rows(runs, layout)]
            for (layout, way), title in _CURVES.items()
        }
        for label, name, unit in (
            ("mean latency of a query", "mean", "_ns"),
            ("queries with a read above p99", "slow", ""),
        )
    }
    units = {"mean latency of a query": "ns", "queries with a read above p99": "share"}
    return plots.lines(panels, LOOKS, x_label="reads of a query", units=units, apart=True)
