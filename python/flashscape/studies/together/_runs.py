"""Runs of the study: a scheme on a drive of some age, with several seeds."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from flashscape.reproduce import Run
from flashscape.studies.loads import jesd219

from ._drives import (
    AGES,
    LIMIT,
    PER_SECOND,
    SCHEMES,
    USUAL,
    Recovery,
    drive,
    seconds,
    seeds,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result

    Measure = Callable[[Result], float]

LOAD = jesd219(PER_SECOND)

STARVES = ("StarvationError",)
"""A drive that leaves a request without an answer for 10 s has stopped: its run ends there."""

_STARVATION = {"limit": "10 s"}


@dataclass(frozen=True)
class Case:
    """A scheme on a drive of some age, with parameters of its recovery."""

    age: str
    scheme: str
    recovery: Recovery = USUAL

    @property
    def baseline(self) -> Case:
        """Re-reads alone in the same layout, on the same drive."""
        name = "rows" if SCHEMES[self.scheme].is_in_superblocks else "none"
        return Case(self.age, name, Recovery(is_limited=self.recovery.is_limited))

    @property
    def title(self) -> str:
        """Scheme, with the parameters that differ from the usual."""
        told = [SCHEMES[self.scheme].title]
        if self.recovery.cut_off != USUAL.cut_off:
            told.append(f"gives up after {self.recovery.cut_off}")
        if self.recovery.above != USUAL.above:
            told.append(f"scrubs above {self.recovery.above}")
        return ", ".join(told)

    def runs(self, setting: Setting) -> Iterator[Run]:
        """Return its runs, one for each seed."""
        limited = f", at most {LIMIT} re-reads" if self.recovery.is_limited else ""
        for seed in seeds(setting):
            yield Run(
                self._name(seed),
                {
                    "title": f"{self.age}, {self.title}{limited}, seed {seed}",
                    "seed": seed,
                    "drive": drive(setting, AGES[self.age], SCHEMES[self.scheme], self.recovery),
                    "precondition": {"fill": "random", "age": {"overwrites": 1.5}},
                    "workload": [LOAD],
                    "run": {"time": f"{seconds(setting)} s", "starvation": _STARVATION},
                },
                may_end_with=STARVES,
            )

    def results(self, runs: Outcomes) -> list[Result | None]:
        """Return its results by seed; None for a drive that stopped."""
        outcomes = [runs[self._name(seed)] for seed in seeds(runs.setting)]
        return [each.result if each.error is None else None for each in outcomes]

    def whole(self, runs: Outcomes) -> list[Result]:
        """Return the results of the runs that reached their end."""
        return [each for each in self.results(runs) if each is not None]

    def figures(self, runs: Outcomes, measure: Measure) -> list[float] | None:
        """Return a figure by seed; None if the drive stopped with any seed."""
        found = self.results(runs)
        return None if None in found else [measure(each) for each in found if each is not None]

    def middle(self, runs: Outcomes, measure: Measure) -> float | None:
        """Return the median of a figure over the seeds; None if the drive stopped."""
        found = self.figures(runs, measure)
        return None if found is None else median(found)

    def _name(self, seed: int) -> str:
        recovery = self.recovery
        parts = [self.age, self.scheme, str(seed)]
        parts += [f"cut-{recovery.cut_off}"] * (recovery.cut_off != USUAL.cut_off)
        parts += [f"above-{recovery.above}"] * (recovery.above != USUAL.above)
        return "-".join(parts + ["limited"] * recovery.is_limited)


def aged(age: str) -> str:
    """Return an age with its cycles."""
    return f"{age} ({AGES[age]:,} cycles)"
