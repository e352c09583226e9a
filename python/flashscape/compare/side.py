"""One side of a comparison: its name, its runs, and what its figures leave out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashscape import outages, units
from flashscape.latency import KINDS
from flashscape.regions import FOUNDED
from flashscape.steadiness import unsteady

if TYPE_CHECKING:
    from flashscape.result import Result


@dataclass(frozen=True, repr=False)
class Side:
    """One side of a comparison: one run, or one run for each seed."""

    label: str
    """``A``, ``B``, …"""
    name: str
    """Name: a file, a directory, a variation."""
    seeds: tuple[int, ...]
    """The seed of each run."""
    results: list[Result]
    """Result of each seed."""
    folders: tuple[str | None, ...] = ()
    """Directories of the results: relative to the comparison's directory, absolute for an
    earlier run, None if they are not kept."""
    is_named: bool = False
    """True if the user has given the name."""

    @property
    def title(self) -> str:
        """Title of its runs."""
        return str(self.results[0].summary["title"])

    @property
    def about(self) -> str:
        """Label, title, name and seeds, for the list of sides."""
        parts = [self.name, self.title] if self.is_named else [self.title, self.name]
        first, *others = [part for part in dict.fromkeys(parts) if part]
        told = f"{first} ({others[0]})" if others else first
        many = len(self.seeds)
        seeds = f"{many} seeds" if many > 1 else f"seed {self.seeds[0]}"
        return f"{self.label}: {told}, {seeds}"

    @property
    def shown(self) -> str:
        """Name in reports: the given name if there is one, else the label."""
        return self.name if self.is_named else self.label

    @property
    def partial(self) -> str | None:
        """Clause that says why its figures leave out the slowest requests; None if they do not."""
        for seed, result in zip(self.seeds, self.results, strict=True):
            if (why := _left_out(result)) is not None:
                whose = self.shown if len(self.seeds) == 1 else f"{self.shown} (seed {seed})"
                return f"{whose} {why}"
        return None

    @property
    def fate(self) -> str:
        """Clause that says if the drive was worn out, for untimed runs."""
        worn = sum(result.worn_out_bytes is not None for result in self.results)
        if len(self.results) == 1:
            return "was worn out" if worn else "survived"
        if 0 < worn < len(self.results):
            return f"was worn out with {worn} of {len(self.results)} seeds"
        return "was worn out with every seed" if worn else "survived with every seed"

    @property
    def life(self) -> str:
        """Sentence with the bytes until the drive was worn out, or that it survived; untimed."""
        lives = [life for result in self.results if (life := result.worn_out_bytes) is not None]
        # A run that is worn out neither answers nor counts its last request.
        survived = [_asked(result) for result in self.results if result.worn_out_bytes is None]
        if not lives:
            return f"{self.shown} {self.fate} the {_sizes(survived)} asked for."
        told = f"{self.shown} {self.fate} after {_sizes(lives)} had been asked for"
        if survived:
            told += f", and survived {_sizes(survived)} with the others"
        return f"{told}."

    @property
    def cuts(self) -> str:
        """Sentences about the power cuts."""
        told = " ".join(outages.sentences(*self.results)) or "The power was not cut."
        over = f", over {len(self.seeds)} seeds" if len(self.seeds) > 1 else ""
        return f"{self.shown}{over}: {told}"

    def unsteady(self, figure: str) -> tuple[str, str] | None:
        """Runs that are not known to be steady in a figure, and the reason of the first of them.

        None if there is no such run.
        """
        found = [
            why.told
            for result in self.results
            if (why := unsteady(result.summary, figure)) is not None
        ]
        if not found:
            return None
        if len(self.results) == 1:
            return self.shown, found[0]
        return f"{self.shown} ({len(found)} of {units.many(len(self.results), 'seed')})", found[0]

    @property
    def starved(self) -> str | None:
        """Sentence with the number of requests that starved; None if none did."""
        found = [result.starvation for result in self.results]
        starved = sum(each["requests"] for each in found if each is not None)
        if not starved:
            return None
        requests = units.many(starved, "request")
        limits = dict.fromkeys(each["limit_ns"] for each in found if each is not None)
        ages = " or ".join(units.duration(limit) for limit in limits)
        return f"{requests} of {self.shown} starved (run.starvation.limit: {ages})."


def lost_apart(one: Side, other: Side) -> str | None:
    """Clause about requests that power cuts have lost, if these forbid a comparison; or None.

    Latencies and rates leave lost requests out. If both sides lose a similar number, the difference
    is smaller than the number of samples that a percentile needs.
    """
    for ours, theirs in zip(one.results, other.results, strict=True):
        lost = (outages.lost_requests(ours), outages.lost_requests(theirs))
        if bool(lost[0]) != bool(lost[1]) or abs(lost[0] - lost[1]) >= FOUNDED:
            both = [sum(map(outages.lost_requests, side.results)) for side in (one, other)]
            told = [units.many(number, "request") if number else "none" for number in both]
            return f"{one.shown} lost {told[0]} to power cuts, {other.shown} {told[1]}"
    return None


def _asked(result: Result) -> int:
    """Bytes of all requests, in a run without a warm-up."""
    initiators = result.summary["initiators"]
    return sum(initiator[kind]["bytes"] for initiator in initiators for kind in KINDS)


def _sizes(counts: list[int]) -> str:
    """Format sizes: ``14.5 GB``, or ``6.43 GB to 6.52 GB`` if they differ."""
    return " to ".join(dict.fromkeys(units.size(edge) for edge in (min(counts), max(counts))))


def _left_out(result: Result) -> str | None:
    """Clause that says why a run's figures cover only its beginning or its answered requests."""
    if result.cut_short is not None:
        return f"was {result.cut_short}"
    starvation = result.starvation
    if starvation is None:
        return None
    late = [each["oldest_ns"] >= starvation["limit_ns"] for each in starvation["outstanding"]]
    return "ended with a request that starved and was never answered" if any(late) else None
