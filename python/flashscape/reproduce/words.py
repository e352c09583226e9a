"""What is said of claims and of a reproduction, on terminals and in documents alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape import units
from flashscape.reproduce.verdicts import VERDICTS

if TYPE_CHECKING:
    from flashscape.reproduce.judged import Judged
    from flashscape.reproduce.verdicts import CheckedClaim


def samples(claim: CheckedClaim) -> str:
    """How many requests stand behind what a claim is judged by: of the weakest figure."""
    counts = [of for name, of in claim.samples.items() if name in claim.judged_by]
    if not counts:
        return "–"
    fewest = min(each["samples"] for each in counts if "samples" in each)
    beyond = [each["at_or_beyond"] for each in counts if "at_or_beyond" in each]
    return f"{fewest:,}" + (f", {min(beyond):,} beyond" if beyond else "")


def remarks(claim: CheckedClaim) -> list[str]:
    """What is to be said of a claim besides its figures: why it is so, and what is different."""
    told = [f"{claim.verdict}: {claim.reason}"] if claim.reason is not None else []
    return told + ([] if claim.note is None else [f"measured {claim.note}"])


def closing(reproduction: Judged) -> list[str]:
    """Runs that failed, and how many claims have each verdict."""
    lines = [f"the run {name} could not be made: {why}" for name, why in reproduction.failures]
    told = [f"{count} {verdict}" for verdict, count in reproduction.counts.items() if count]
    lines.append(f"{units.many(len(reproduction), 'claim')}: {', '.join(told)}")
    return lines


def meanings(reproduction: Judged) -> list[tuple[str, int, str]]:
    """Each verdict, how many claims have it, and what it means."""
    counts = reproduction.counts
    return [(verdict, counts[verdict], about) for verdict, about in VERDICTS.items()]
