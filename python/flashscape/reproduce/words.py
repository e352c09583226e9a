"""Sentences about claims and reproductions, for terminals and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape import spelling, units
from flashscape.reproduce.verdicts import VERDICTS

if TYPE_CHECKING:
    from flashscape.reproduce.judged import Judged
    from flashscape.reproduce.verdicts import CheckedClaim


def samples(claim: CheckedClaim) -> str:
    """Return the least number of requests behind the figures that a claim is judged by."""
    counts = [of for name, of in claim.samples.items() if name in claim.judged_by]
    if not counts:
        return "–"
    fewest = min(each["samples"] for each in counts if "samples" in each)
    beyond = [each["at_or_beyond"] for each in counts if "at_or_beyond" in each]
    return f"{fewest:,}" + (f", {min(beyond):,} beyond" if beyond else "")


def remarks(claim: CheckedClaim) -> list[str]:
    """Return the remarks on a claim: the reason of its verdict, and the profile's difference."""
    told = [f"{claim.verdict}: {claim.reason}"] if claim.reason is not None else []
    return told + ([] if claim.note is None else [f"measured {claim.note}"])


def changed(reproduction: Judged) -> list[str]:
    """Say that all experiments were changed, if they were."""
    if not reproduction.changes.overrides:
        return []
    option = spelling.option("--set", "overrides")
    return [
        f"All experiments were changed by {option}: {reproduction.changes.told}. Verdicts compare "
        "these experiments, and not the paper's, with the paper's figures."
    ]


def closing(reproduction: Judged) -> list[str]:
    """Return the runs that failed, and the number of claims with each verdict."""
    lines = [f"the run {name} could not be made: {why}" for name, why in reproduction.failures]
    lines += changed(reproduction)
    told = [f"{count} {verdict}" for verdict, count in reproduction.counts.items() if count]
    lines.append(f"{units.many(len(reproduction), 'claim')}: {', '.join(told)}")
    return lines


def meanings(reproduction: Judged) -> list[tuple[str, int, str]]:
    """Return each verdict, the number of claims with it, and its meaning."""
    counts = reproduction.counts
    return [(verdict, counts[verdict], about) for verdict, about in VERDICTS.items()]
