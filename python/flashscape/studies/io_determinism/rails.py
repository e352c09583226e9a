"""Rails over two drives beside ping-pong over two sets: reads, writes, programs, capacity, cache.

A member has one channel in each case, so that only the plans differ.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, along, plots
from flashscape.studies.io_determinism import _cases, _drives
from flashscape.studies.io_determinism._cases import CASES, PERIOD_S
from flashscape.studies.io_determinism._reads import by_rate, listed, rows, tail, times

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting
    from flashscape.studies.io_determinism._cases import Case

exhibit = Exhibit()

RATES = (1_600, 3_200, 6_400)
"""Writes a second: at most 80 % of what two members take that both hold all data."""

SETTLE_S = 0.5
"""Pause before a swap. A member then programs 2 w T in T - 0.5 s, which it can at all rates; with
1 s or more it cannot at the highest one, and the cache grows as long as the run lasts."""

_PAIR: dict[str, Any] = {"ftl": {"windows": _cases.WINDOWS}}


def _over_drives(title: str, plan: dict[str, Any], drive: dict[str, Any]) -> Case:
    array = {"array": {"drives": 2, "plan": plan}}
    return replace(CASES["ping-pong"], title=title, drive=drive, rates=RATES, more=array)


def _rails(title: str, release: str, **more: str) -> Case:
    plan = _cases.PING_PONG | {"policy": "rails", "release": release, **more}
    return _over_drives(title, plan, _drives.drive(_PAIR, channels=1))


PLANS: dict[str, Case] = {
    "mirror": _over_drives("mirror of two drives", {"policy": "mirror"}, _drives.drive(channels=1)),
    "rails": _rails("Rails, until both have it", "replicated"),
    "rails-swap": _rails("Rails, until the swap after next", "swap-after-next"),
    "rails-settles": _rails(
        f"Rails, {SETTLE_S} s of {PERIOD_S} s without writes", "replicated", settle=f"{SETTLE_S} s"
    ),
    "ping-pong": replace(CASES["ping-pong"], rates=RATES),
}
"""Plans by name. ``release`` is the moment at which a write leaves the host's cache."""

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


@exhibit.measures("N-12")
def beside(runs: Outcomes) -> Answer:
    """Return p99.9 of reads, programs for each write and peak cache of each plan."""
    told = []
    for name, case in PLANS.items():
        result = runs[_cases.run_name(name, RATES[-1])].result
        programs = result.summary["write_amplification"]["total"]
        text = f"{case.title}: p99.9 {listed(times(runs, name, RATES, tail))} times"
        told.append(f"{text}, {programs:.1f} programs a write")
    return Answer(f"{'; '.join(told)}; each plan keeps two copies, so half of the capacity is left")


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
