"""Where the tail comes from: causes in the mean against causes in the slowest requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.causes import Cause, by_cause

if TYPE_CHECKING:
    from flashscape.result import Result

NAMED_SHARE = 0.1
"""Causes below this share of the time are not named in sentences."""


@dataclass(frozen=True)
class Group:
    """The requests of one kind by one initiator, and where their time went."""

    initiator: str
    kind: str
    figures: dict[str, Any]
    """As in the summary."""
    mean: dict[Cause, float]
    """Share of each cause in the time of all requests."""
    tail: dict[Cause, float]
    """Share of each cause in the time of the slowest; empty where none was kept."""
    slowest: int
    """How many slowest requests of this group were kept."""

    @property
    def waits(self) -> bool:
        """False where all of the time is the requests' own service."""
        return not all(cause.is_own for cause in self.mean)

    @property
    def main_cause(self) -> Cause | None:
        """The cause with the largest share of the slowest requests' time."""
        return max(self.tail, key=lambda cause: self.tail[cause], default=None)


@dataclass(frozen=True)
class Explanation:
    """Where the tail of a run comes from."""

    groups: list[Group]
    sentences: list[str]
    """In plain words, the most important first."""

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def explain(result: Result) -> Explanation:
    """Say where the tail of a run comes from."""
    slow = _slowest_blame(result)
    groups = [
        Group(
            initiator=name,
            kind=kind,
            figures=figures,
            mean=_shares(by_cause(figures["blame_ns"])),
            tail=_shares(by_cause(slow[name, kind][1])) if (name, kind) in slow else {},
            slowest=slow[name, kind][0] if (name, kind) in slow else 0,
        )
        for name, kind, figures in result.groups()
    ]
    sentences = [
        *_completeness(result),
        *(sentence for group in groups for sentence in _tail(group)),
        *_write_amplification(result),
        *_steadiness(result),
        *_emptiness(groups),
    ]
    return Explanation(groups, sentences)


def _slowest_blame(result: Result) -> dict[tuple[str, str], tuple[int, dict[str, int]]]:
    """Of the slowest requests by initiator and kind: how many, and the time in each state."""
    import polars as pl

    described = ("initiator", "kind", "offset_bytes", "length_bytes", "arrived_ns", "latency_ns")
    frame = result.slowest.drop(described[2:], strict=False)
    sums = frame.group_by("initiator", "kind").agg(pl.len().alias("count"), pl.all().sum())
    return {
        (row.pop("initiator"), row.pop("kind")): (
            row.pop("count"),
            {column.removesuffix("_ns"): ns for column, ns in row.items()},
        )
        for row in sums.iter_rows(named=True)
    }


def _shares(times: dict[Cause, int]) -> dict[Cause, float]:
    total = sum(times.values())
    return {cause: ns / total for cause, ns in times.items()}


def _completeness(result: Result) -> list[str]:
    if result.complete:
        return []
    return ["The run was interrupted: these figures describe its beginning only."]


def _tail(group: Group) -> list[str]:
    latency = group.figures["latency_ns"]
    name = f"{group.initiator}: {group.kind.replace('_', '-')} requests"
    if not group.waits:
        most = units.duration(latency["max"])
        return [f"{name} wait for nothing; the slowest took {most}."]
    far = _farthest_percentile(latency)
    sentences = [
        f"{name} take {units.duration(latency['mean'])} in the mean, "
        f"{units.duration(latency[far])} at {far.replace('_', '.')} "
        f"and {units.duration(latency['max'])} at worst. "
        f"In the mean, {_listed(group.mean)}."
    ]
    if group.tail and group.slowest < group.figures["requests"]:
        those = f"the {group.slowest:,} slowest {group.kind.replace('_', '-')} requests"
        if group.slowest == 1:
            those = f"the slowest {group.kind.replace('_', '-')} request"
        sentences.append(f"{group.initiator}: of the time of {those}, {_listed(group.tail)}.")
    return sentences


def _farthest_percentile(latency: dict[str, Any]) -> str:
    """The farthest percentile with at least ten samples behind it."""
    beyond = latency["samples_beyond"]
    founded = [name for name, samples in beyond.items() if samples >= 10]
    return founded[-1] if founded else "p50"


def _listed(shares: dict[Cause, float]) -> str:
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    named = [item for item in ranked if item[1] >= NAMED_SHARE] or ranked[:1]
    parts = [f"{units.percent(share)} is {cause.phrase}" for cause, share in named]
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _write_amplification(result: Result) -> list[str]:
    amplification = result.summary["write_amplification"]
    if amplification["total"] is None:
        return ["Nothing was written, so there is no write amplification."]
    parts = [
        f"{amplification[source]:.2f} {words}"
        for source, words in (
            ("host", "for the data itself"),
            ("gc", "for pages that garbage collection moved"),
            ("padding", "for padding of batches that were not full"),
        )
        if amplification[source] >= 0.005
    ]
    return [
        f"Write amplification is {amplification['total']:.2f}: for each byte that hosts wrote, "
        f"the flash programmed {' + '.join(parts) or 'nothing'}."
    ]


def _steadiness(result: Result) -> list[str]:
    sentences = []
    for figure, verdict in result.steadiness():
        called = figure.replace("_", " ").capitalize()
        if not verdict["reached"]:
            sentences.append(f"{called} is not known to be steady: {verdict['reason']}.")
        elif verdict["from_ns"]:
            begin = units.duration(verdict["from_ns"])
            sentences.append(f"{called} is in steady state from {begin} on.")
        else:
            sentences.append(f"{called} is in steady state over the whole run.")
    return sentences


def _emptiness(groups: list[Group]) -> list[str]:
    unmapped = sum(group.figures["unmapped"] for group in groups)
    if not unmapped:
        return []
    return [
        f"Warning: {unmapped:,} mapping units were read that had never been written. They cost no "
        "flash time, so reads look better than they would on a full drive."
    ]
