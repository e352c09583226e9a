"""Ratings of ACT: the highest multipliers that pass, and the orders that the paper states."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flashscape.act import Trial, load

from . import _act
from ._runs import SCHEMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flashscape.reproduce import Outcome, Outcomes

    Failures = tuple[tuple[str, ...], tuple[str, ...]]

THREADS = (1, 2, 3, 8)
"""Threads that issue small reads in turn. The paper has one thread for each kind of request; the
tool has several, and its fourth condition is about the period of one of them.
"""


class Ratings(NamedTuple):
    """Highest multipliers of the ladder, by scheme; 0 if the lowest fails."""

    stress: dict[str, int]
    performance: dict[str, int]

    @property
    def baseline_is_poor(self) -> bool:
        """True if E-10 holds: Baseline is rated below D-ES and T-ES in the performance test."""
        rated = self.performance
        return 0 < rated["baseline"] < min(rated["d-es"], rated["t-es-64"])

    @property
    def writes_starve(self) -> bool:
        """True if E-11 holds: ES and I-ES fail the stress test at a multiplier that others pass."""
        rated = self.stress
        starving = rated["es"], rated["i-es"]
        others = min(rated["baseline"], rated["d-es"], rated["t-es-64"])
        return min(starving) > 0 and max(starving) < others

    @property
    def deferral_is_best(self) -> bool:
        """True if E-12 holds: D-ES and T-ES have the best ratings in the performance test.

        No scheme is rated above either of them, and one at least is rated below both.
        """
        rated = self.performance
        others = rated["baseline"], rated["es"], rated["i-es"]
        deferring = min(rated["d-es"], rated["t-es-64"])
        return 0 < min(others) < deferring and max(others) <= deferring

    @property
    def in_order(self) -> tuple[str, ...]:
        """Claims whose order holds."""
        return tuple(claim for claim, holds in ORDERS.items() if holds(self))


ORDERS: dict[str, Callable[[Ratings], bool]] = {
    "E-10": lambda rated: rated.baseline_is_poor,
    "E-11": lambda rated: rated.writes_starve,
    "E-12": lambda rated: rated.deferral_is_best,
}
"""Order of ratings that each claim states.

All ratings that it compares are above 0: 0 means only that the lowest multiplier fails.
"""


def of_preset(runs: Outcomes, threads: int = 1) -> Ratings:
    """Return ratings of the preset."""
    ladder = _act.ladder(runs.setting)
    return _rated(
        lambda scheme, k: failures(
            runs[_act.run_name(scheme, k)], k, _act.lengths(k), threads=threads
        ),
        ladder,
    )


def of_variant(runs: Outcomes, variant: _act.Variant, threads: int) -> Ratings:
    """Return ratings of a variant of the drive."""
    ladder = _act.map_ladder(runs.setting)
    return _rated(
        lambda scheme, k: failures(
            runs[_act.map_name(variant, scheme, k)],
            k,
            _act.lengths(k),
            threads=threads,
        ),
        ladder,
    )


def _rated(failures_of: Callable[[str, int], Failures], ladder: Iterable[int]) -> Ratings:
    """Return the highest multipliers below which all pass, too."""
    steps = list(ladder)
    found = Ratings({}, {})
    for scheme in _act.RATED:
        best, failed = [0, 0], [False, False]
        for k in steps:
            for test, why in enumerate(failures_of(scheme, k)):
                failed[test] |= bool(why)
                if not failed[test]:
                    best[test] = k
        found.stress[scheme], found.performance[scheme] = best
    return found


def failures(
    outcome: Outcome, multiplier: int, lengths: load.Lengths, *, threads: int = 1
) -> Failures:
    """Return the reasons for failing the stress test, and the performance test; none if it passes.

    Conditions are those of `flashscape act`, the fourth as the paper states it: the mean service
    time of each kind of request is less than the time from one request of its stream to the next.
    Raises StudyError if the overwrite before the load had not ended when the load began.
    """
    _act.check_salted(outcome)
    if outcome.error is not None:
        starved = (f"it ends: {outcome.error.type}",)
        return starved, starved
    cycle_ns = load.cycle_of(multiplier, _act.cycle_bytes())
    trial = Trial.of(outcome.measured, multiplier, lengths, cycle_ns, threads=threads)
    return trial.stress_failures, trial.failures


def why_no_more(runs: Outcomes, scheme: str) -> str:
    """Return the first condition that a scheme fails above its stress rating, with the preset."""
    stress = of_preset(runs).stress[scheme]
    above = [k for k in _act.ladder(runs.setting) if k > stress]
    if not above:
        return f"{SCHEMES[scheme]} passes all"
    k = above[0]
    why, _ = failures(runs[_act.run_name(scheme, k)], k, _act.lengths(k))
    return f"{SCHEMES[scheme]} at {k}x: {'; '.join(why)}"


Combination = tuple[_act.Variant, int]
"""A variant and a number of threads: a point of the map."""


class Region(NamedTuple):
    """The part of the map in which the order of a claim holds."""

    holds: tuple[Combination, ...]
    together: tuple[Combination, ...]
    """Combinations in which the orders of all claims hold."""
    tried: int

    @property
    def figures(self) -> dict[str, object]:
        """Numbers of combinations, by their names in the claims."""
        return {
            "combinations_in_order": len(self.holds),
            "combinations_in_all_orders": len(self.together),
        }

    @property
    def text(self) -> str:
        """The region in two clauses."""
        return (
            f"the order holds in {_where(self.holds)} of {self.tried} combinations of ramp, buffer "
            f"and threads, those of {', '.join(ORDERS)} together in {_where(self.together)} "
            "(table-3/map)"
        )


def _where(combinations: tuple[Combination, ...]) -> str:
    """Return the number of combinations, and the values that occur in them."""
    if not combinations:
        return "none"
    ramps = sorted({variant.ramp_us for variant, _ in combinations})
    buffers = sorted({variant.buffer_mib for variant, _ in combinations})
    threads = sorted({threads for _, threads in combinations})
    return (
        f"{len(combinations)} (ramps of {_listed(ramps)} us, buffers of {_listed(buffers)} MiB, "
        f"{_listed(threads)} threads)"
    )


def _listed(numbers: list[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last


def region(runs: Outcomes, claim: str) -> Region:
    """Return the part of the map in which the order of a claim holds."""
    variants = _act.variants(runs.setting)
    tried = [(variant, threads) for variant in variants for threads in THREADS]
    in_order = {each: of_variant(runs, *each).in_order for each in tried}
    return Region(
        holds=tuple(each for each, claims in in_order.items() if claim in claims),
        together=tuple(each for each, claims in in_order.items() if len(claims) == len(ORDERS)),
        tried=len(tried),
    )


def figure_of(scheme: str, test: str) -> str:
    """Return the name of a rating in the claims."""
    return f"{scheme.removesuffix('-64').replace('-', '_')}_{test}_multiplier"


def told(rated: dict[str, int]) -> str:
    """Format the ratings of schemes."""
    return ", ".join(f"{SCHEMES[scheme]} {k}x" for scheme, k in rated.items())
