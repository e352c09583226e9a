"""Erase suspension, reads round collection, both, neither: what is left of the tail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Run, plots
from flashscape.studies.tables import merged

from ._drives import FULL
from ._runs import TIMES, run
from ._traces import TRACES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result

exhibit = Exhibit()

_ERASES: dict[str, Any] = {
    "ftl": {"gc": {"reserve_until": "copied"}},
    "scheduler": {"suspension": "es"},
}
"""Reads may interrupt erases, at once and at no cost, but no copies."""

_ASKS: dict[str, Any] = {"scheduler": {"read_routing": "suspend"}}
"""Reads that do not go round a collection ask for that."""

_COPIES: dict[str, Any] = {
    "ftl": {"gc": {"preemptible": True}},
    "nand": {"copy_back_pages": "any"},
    "scheduler": {"suspension": "es"},
}
"""Reads also go between the copies of a collection, which no drive of the paper lets them.

Copies that keep odd and even pages apart would need a collection that is not interrupted.
"""

SCHEMES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "neither": ("neither", "pb", {}),
    "suspension": ("erase suspension", "pb", merged(_ERASES, _ASKS)),
    "reconstruction": ("reconstruction", FULL, {}),
    "both": ("both", FULL, _ERASES),
    "preemptible": ("erase suspension, reads between copies", "pb", merged(_COPIES, _ASKS)),
}
"""Schemes by name: the name in plots, the level, and tables that differ from it."""

LOOKS = plots.Looks(*(title for title, _, _ in SCHEMES.values()))

_TRACE = "tpcc"
"""The trace with the most collections a second."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return the trace under each scheme; all have parity, and a collection shuts its plane."""
    made = []
    for name, (title, level, changes) in SCHEMES.items():
        base = run(setting, TRACES[_TRACE], level, **changes)
        experiment = dict(base.experiment) | {"title": f"TPCC: {title}"}  # type: ignore[arg-type]
        made.append(Run(f"suspension-{name}", experiment, tables=base.tables))
    return made


def _result(runs: Outcomes, name: str) -> Result:
    return runs[f"suspension-{name}"].result


@exhibit.measures("T-14")
def told(runs: Outcomes) -> Answer:
    """Return the 99.9th percentile of reads under each scheme."""
    each = (
        f"{title} {_text(_result(runs, name).read.percentile(99.9))}"
        for name, (title, _, _) in SCHEMES.items()
    )
    return Answer(f"p99.9 of reads: {', '.join(each)}")


def _text(latency_ns: int | None) -> str:
    from flashscape import units

    return "–" if latency_ns is None else units.duration(latency_ns)


@exhibit.tabulates("schemes")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return percentiles of reads, and the time of reads beyond p99 by its cause."""
    import polars as pl

    return pl.DataFrame([_row(runs, name) for name in SCHEMES])


def _row(runs: Outcomes, name: str) -> dict[str, Any]:
    result = _result(runs, name)
    return {
        "scheme": SCHEMES[name][0],
        "read_mean_ns": result.read.mean,
        **{f"read_p{p:g}_ns".replace(".", "_"): result.read.percentile(p) for p in TIMES},
        "read_max_ns": result.read.max,
        **_waits(result),
        "erases": result.summary["flash"]["erases"]["erase"]["commands"],
        "erase_suspensions": result.summary["flash"]["erase_suspensions"],
    }


def _waits(result: Result) -> dict[str, float]:
    """Return the mean time in microseconds that a read waits, by what it waits for."""
    import polars as pl

    bands = result.bands.filter(pl.col("kind") == "read")
    states = [name for name in bands.columns if name.startswith(("wait", "withheld"))]
    totals = {name: float(bands[name].sum()) / result.read.requests for name in states}
    return {name: round(total) for name, total in totals.items() if total >= 1}


@exhibit.draws("reads")
def drawn(runs: Outcomes) -> Picture:
    """Draw the cumulative curves of reads."""
    curves = {title: _result(runs, name).read for name, (title, _, _) in SCHEMES.items()}
    return plots.tails({"reads of TPCC": curves}, LOOKS)
