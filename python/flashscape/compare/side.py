"""One of the runs that are compared: what it is, and what its figures leave out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashscape import units

if TYPE_CHECKING:
    from flashscape.result import Result


@dataclass(frozen=True, repr=False)
class Side:
    """One of the runs that are compared, or one for each seed."""

    label: str
    """``A``, ``B``, …"""
    name: str
    """What it is: a file, a directory, a variation."""
    seeds: tuple[int, ...]
    """The seed of each run."""
    results: list[Result]
    """One for each seed."""

    @property
    def partial(self) -> str | None:
        """Why its figures leave out what was worst, in a clause; None where they do not."""
        for seed, result in zip(self.seeds, self.results, strict=True):
            if (why := _left_out(result)) is not None:
                whose = self.label if len(self.seeds) == 1 else f"{self.label} (seed {seed})"
                return f"{whose} {why}"
        return None

    @property
    def starved(self) -> str | None:
        """How many of its requests starved, as a sentence; None where none did."""
        found = [result.starvation for result in self.results]
        starved = sum(each["requests"] for each in found if each is not None)
        if not starved:
            return None
        requests = units.many(starved, "request")
        limits = dict.fromkeys(each["limit_ns"] for each in found if each is not None)
        ages = " or ".join(units.duration(limit) for limit in limits)
        return f"{requests} of {self.label} starved (run.starvation.limit: {ages})."


def _left_out(result: Result) -> str | None:
    """Why a run's figures cover only what went well, in a clause."""
    if result.cut_short is not None:
        return f"was {result.cut_short}"
    starvation = result.starvation
    if starvation is None:
        return None
    late = [each["oldest_ns"] >= starvation["limit_ns"] for each in starvation["outstanding"]]
    return "ended with a request that starved and was never answered" if any(late) else None
