"""One of the runs that are compared: what it is, and what its figures leave out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashscape import outages, units
from flashscape.latency import KINDS
from flashscape.regions import FOUNDED

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
    folders: tuple[str | None, ...] = ()
    """Where each of these is kept: as seen from the directory of the comparison, from the
    root where it is an earlier run's, None for nowhere."""
    is_named: bool = False
    """Whether somebody has given the name to tell this side by."""

    @property
    def shown(self) -> str:
        """What reports call it: its name where one was given, else the label."""
        return self.name if self.is_named else self.label

    @property
    def partial(self) -> str | None:
        """Why its figures leave out what was worst, in a clause; None where they do not."""
        for seed, result in zip(self.seeds, self.results, strict=True):
            if (why := _left_out(result)) is not None:
                whose = self.shown if len(self.seeds) == 1 else f"{self.shown} (seed {seed})"
                return f"{whose} {why}"
        return None

    @property
    def fate(self) -> str:
        """Whether its drive was worn out, in a clause, of untimed runs."""
        worn = sum(result.worn_out_bytes is not None for result in self.results)
        if len(self.results) == 1:
            return "was worn out" if worn else "survived"
        if 0 < worn < len(self.results):
            return f"was worn out with {worn} of {len(self.results)} seeds"
        return "was worn out with every seed" if worn else "survived with every seed"

    @property
    def life(self) -> str:
        """When its drive was worn out, or what it survived, as a sentence; untimed."""
        lives = [life for result in self.results if (life := result.worn_out_bytes) is not None]
        # A run that is worn out has its last request neither answered nor counted.
        survived = [_asked(result) for result in self.results if result.worn_out_bytes is None]
        if not lives:
            return f"{self.shown} {self.fate} the {_sizes(survived)} asked for."
        told = f"{self.shown} {self.fate} after {_sizes(lives)} had been asked for"
        if survived:
            told += f", and survived {_sizes(survived)} with the others"
        return f"{told}."

    @property
    def cuts(self) -> str:
        """Its power cuts, in sentences."""
        told = " ".join(outages.sentences(*self.results)) or "The power was not cut."
        over = f", over {len(self.seeds)} seeds" if len(self.seeds) > 1 else ""
        return f"{self.shown}{over}: {told}"

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
        return f"{requests} of {self.shown} starved (run.starvation.limit: {ages})."


def lost_apart(one: Side, other: Side) -> str | None:
    """Why requests that power cuts have lost tell the sides apart, in a clause; or None.

    They are in no latency and no rate. Where both sides lose some, a few more of one are less than
    what a percentile needs behind it.
    """
    for ours, theirs in zip(one.results, other.results, strict=True):
        lost = (outages.lost_requests(ours), outages.lost_requests(theirs))
        if bool(lost[0]) != bool(lost[1]) or abs(lost[0] - lost[1]) >= FOUNDED:
            both = [sum(map(outages.lost_requests, side.results)) for side in (one, other)]
            told = [units.many(number, "request") if number else "none" for number in both]
            return f"{one.shown} lost {told[0]} to power cuts, {other.shown} {told[1]}"
    return None


def _asked(result: Result) -> int:
    """Bytes that were asked for, of a run without a warm-up."""
    initiators = result.summary["initiators"]
    return sum(initiator[kind]["bytes"] for initiator in initiators for kind in KINDS)


def _sizes(counts: list[int]) -> str:
    """Such as ``14.5 GB``, or ``6.43 GB to 6.52 GB`` where they differ."""
    return " to ".join(dict.fromkeys(units.size(edge) for edge in (min(counts), max(counts))))


def _left_out(result: Result) -> str | None:
    """Why a run's figures cover only what went well, in a clause."""
    if result.cut_short is not None:
        return f"was {result.cut_short}"
    starvation = result.starvation
    if starvation is None:
        return None
    late = [each["oldest_ns"] >= starvation["limit_ns"] for each in starvation["outstanding"]]
    return "ended with a request that starved and was never answered" if any(late) else None
