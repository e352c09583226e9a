"""Rails and ping-pong, each over two drives and over two sets of one drive.

A member has one channel of four dies in each case, so that a set has the flash of a drive, and only
plans and places differ: two sets share a link and the firmware, two drives do not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashscape.experiment import Experiment
from flashscape.reproduce import Answer, Exhibit, along, plots

from . import _cases, _drives
from ._cases import CASES, PERIOD_S
from ._reads import by_rate, listed, rows, tail, times

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

    from ._cases import Case

exhibit = Exhibit()

RATES = (1_600, 3_200, 6_400)
"""Writes a second: at most 80 % of what two members take that both hold all data."""

SETTLE_S = 0.5
"""Pause before a swap. A member then programs 2 w T in T - 0.5 s, which it can at all rates; with
1 s or more it cannot at the highest one, and the cache grows as long as the run lasts."""

_FLAT: dict[str, Any] = {"settle": f"{SETTLE_S} s"}


def _drives_of(title: str, plan: dict[str, Any], *changes: dict[str, Any]) -> Case:
    """Return a plan over two drives of one channel each."""
    return replace(
        CASES["ping-pong"],
        title=title,
        drive=_drives.drive(*changes, channels=1),
        rates=RATES,
        more={"array": {"drives": 2, "plan": plan}},
    )


def _sets_of(title: str, plan: dict[str, Any]) -> Case:
    """Return a plan over two sets of one channel each."""
    return replace(CASES["ping-pong"], title=title, rates=RATES, more=_cases.over_sets(plan))


def _rails(**more: str) -> dict[str, Any]:
    return _cases.ping_pong() | {"policy": "rails", "release": "replicated", **more}


_WINDOWS = _cases.windows()

PLANS: dict[str, Case] = {
    "mirror": _drives_of("mirror of two drives", {"policy": "mirror"}),
    "rails": _drives_of("Rails over two drives", _rails(), _WINDOWS),
    "rails-swap": _drives_of(
        "Rails over two drives, until the swap after next",
        _rails(release="swap-after-next"),
        _WINDOWS,
    ),
    "rails-settles": _drives_of("Rails with a pause, two drives", _rails(**_FLAT), _WINDOWS),
    "rails-sets": _sets_of("Rails over two sets", _rails()),
    "rails-settles-sets": _sets_of("Rails with a pause, two sets", _rails(**_FLAT)),
    "ping-pong-drives": _drives_of("ping-pong over two drives", _cases.ping_pong(), _WINDOWS),
    "ping-pong": replace(CASES["ping-pong"], rates=RATES),
}
"""Plans by name. ``release`` is the moment at which a write leaves the host's cache: when both
members have it, if nothing else is named."""

LOOKS = plots.Looks(*(case.title for case in PLANS.values()))


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each plan, undisturbed and with each rate of writes."""
    return _cases.runs(setting, PLANS)


def _plan(runs: Outcomes, name: str, rate: int) -> dict[str, Any]:
    counts: dict[str, Any] = runs[_cases.run_name(name, rate)].result.summary["array"]
    return counts


def peak(runs: Outcomes, name: str, rate: int) -> float:
    """Return the peak of the cache in multiples of w T, to two decimals."""
    bytes_of = int(_plan(runs, name, rate)["plan"]["peak_cache_bytes"])
    return round(bytes_of / (rate * _drives.UNIT_BYTES * PERIOD_S), 2)


@exhibit.measures("N-11")
def cache(runs: Outcomes) -> Answer:
    """Return the peak of the cache by the rule of its release, in multiples of w T."""
    figures = {
        "replicated_periods": along(peak(runs, "rails", rate) for rate in RATES),
        "swap_after_next_periods": along(peak(runs, "rails-swap", rate) for rate in RATES),
    }
    until_both, until_swap = map(listed, figures.values())
    ours = (
        f"{until_both} w T if a write stays until both drives have it, {until_swap} w T until the "
    )
    return Answer(f"{ours}swap after next", figures)


def capacity(runs: Outcomes, name: str) -> float:
    """Return the bytes that hosts see over those of all members' flash."""
    experiment = PLANS[name].experiment(runs.setting, 0)
    derived: dict[str, Any] = Experiment.from_dict(experiment).derived
    array = derived["array"]
    return float(
        array["exported_bytes"] / (derived["capacity"]["physical_bytes"] * array["drives"])
    )


@exhibit.measures("N-12")
def beside(runs: Outcomes) -> Answer:
    """Return p99.9 of reads, programs for each write and capacity of each plan."""
    told = []
    for name, case in PLANS.items():
        result = runs[_cases.run_name(name, RATES[-1])].result
        programs = result.summary["write_amplification"]["total"]
        text = f"{case.title}: p99.9 {listed(times(runs, name, RATES, tail))} times"
        told.append(f"{text}, {programs:.1f} programs a write, {capacity(runs, name):.0%} exported")
    return Answer("; ".join(told))


@exhibit.tabulates("plans")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each plan and rate."""
    import polars as pl

    made = []
    for row, (name, rate) in zip(rows(runs, PLANS), _points(), strict=True):
        array = _plan(runs, name, rate)
        plan = array["plan"]
        cached = (plan.get("reads_cached") or 0) / max(1, row["reads"])
        made.append(
            row
            | {
                "exported_over_raw": capacity(runs, name),
                "peak_cache_bytes": plan.get("peak_cache_bytes") if rate else None,
                "reads_from_cache_share": cached if rate else None,
                "collecting_at_swaps": plan.get("collecting_at_swaps"),
                "swaps": plan.get("swaps"),
            }
        )
    return pl.DataFrame(made)


def _points() -> list[tuple[str, int]]:
    return [(name, rate) for name, case in PLANS.items() for rate in (0, *case.rates)]


@exhibit.draws("plans")
def drawn(runs: Outcomes) -> Picture:
    """Draw mean and p99.9 of reads by plan and rate."""
    return by_rate(runs, PLANS, LOOKS)
