"""Forecast of garbage collection in a run, from the bytes that its workloads write.

A bin begins to collect when it opens a block and few others are free. A drive that preconditioning
has not brought so far takes its free blocks first. In any other drive one of the bins may open a
block soon, so the run probably ends before collection begins only if it writes very little.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import units
from flashscape.cli import options, smaller
from flashscape.cli.amounts import Written, of_workloads
from flashscape.progress import Bar

if TYPE_CHECKING:
    from flashscape.experiment import Experiment


class Room(NamedTuple):
    """Bytes that a drive takes before it collects."""

    bins: int
    round: int
    """Bytes of one block in each bin."""
    free: int
    """Bytes before a bin of a drive that has not collected yet is at its background threshold."""
    is_aged: bool
    """True if free blocks are near that threshold when the run begins."""
    parts: int
    """Number of parts of the drive, one of which may get all writes."""
    share: float
    """Share of a round that an aged drive takes, more likely than not, without a collection."""

    @property
    def bytes(self) -> int:
        """Bytes below which collection is unlikely (aged) or impossible."""
        return int((self.round * self.share if self.is_aged else self.free) / self.parts)


def room(experiment: Experiment, *, is_from_snapshot: bool) -> Room:
    """Return the room of the drive when the run begins."""
    config, derived = experiment.config, experiment.derived
    organisation = derived["organisation"]
    bins, block = organisation["bins"], organisation["block_bytes"]
    ftl = config["drive"]["ftl"]
    # Two open blocks; and a bin may have more than its share of bad blocks.
    kept = derived["gc_free_blocks_per_bin"]["background"] + 2
    bad = 2 * float(ftl["bad_blocks"]["factory"].rstrip(" %")) / 100
    usable = bins * (organisation["blocks_per_bin"] * (1 - bad) - kept) * block
    free = int(usable - _programmed_before(experiment))
    # Data of unknown age is in a snapshot; it may have been collected.
    is_known = not (is_from_snapshot or "snapshot" in config["precondition"])
    # The address decides the pool; for partial writes inside planes, also the bin.
    parts = bins if ftl["partial_writes"] == "plane" else organisation["pools"]
    share = _share_of_round(config, bins // parts, is_known=is_known)
    return Room(bins, bins * block, free, not is_known or free <= 0, parts, share)


def _programmed_before(experiment: Experiment) -> float:
    """Return the most bytes that preconditioning programs until the drive collects."""
    precondition, capacity = experiment.config["precondition"], experiment.derived["capacity"]
    if precondition["fill"] == "empty":
        return 0
    filled = capacity["exported_bytes"] * _share(precondition.get("share", "100 %"))
    overwrites = precondition.get("age", {"overwrites": 0})["overwrites"]
    stale = _share(precondition.get("stale", {"share": "0 %"})["share"])
    # A fill writes the parity of each stripe once; overwrites may write it each time.
    stored = max(1 + capacity["parity_bytes"] / capacity["exported_bytes"], _of_rows(experiment))
    written = filled * (stored + overwrites * with_parity(experiment))
    return float(written + stale * capacity["physical_bytes"])


def _share(text: str) -> float:
    return float(text.rstrip(" %")) / 100


def _of_rows(experiment: Experiment) -> float:
    """Return the bytes that a superblock's rows take for each byte of hosts: 1 without parity."""
    width = experiment.derived.get("superblocks", {"width": {"host": None}})["width"]["host"]
    return 1.0 if width is None else width / (width - 1)


def with_parity(experiment: Experiment) -> float:
    """Return the most bytes that the drive programs for each byte of hosts, with parity."""
    return 2.0 if "parity" in experiment.config["drive"]["ftl"] else _of_rows(experiment)


def _share_of_round(config: dict[str, Any], bins: int, *, is_known: bool) -> float:
    """Return the share of a round in which none of the bins of a part begins, more likely than not.

    A bin is anywhere in its open block. Bins in step open their blocks at about the same time,
    which is in the first half of a round as likely as not. Other bins have times of their own.
    """
    ftl = config["drive"]["ftl"]
    if ftl["gc"]["background"].endswith("pages") or ftl["gc"]["pacing"] == "host-rate":
        # Any program may reach the threshold, or calls for moves at once.
        return 0
    if config["precondition"].get("in_step", False):
        return 1
    # In turns, all bins take as much of hosts' data, but moved data fills blocks of its own only.
    # Ageing brings bins out of step.
    allocation = ftl["allocation"]
    is_in_step = (
        is_known
        and "age" not in config["precondition"]
        and allocation["streams"] == "separate"
        and allocation["choice"] != "most-free"
    )
    return 0.5 if is_in_step else float(1 - 0.5 ** (1 / bins))


def _most(experiment: Experiment, amounts: list[Written], *, is_aged: bool) -> float:
    """Return the most bytes that the drive can program for the workloads, without collection.

    For an aged drive, of which only what is likely is told, the mean is enough for the edges of
    writes.
    """
    config, derived = experiment.config, experiment.derived
    buffer = config["drive"]["buffer"]
    # A write may begin and end inside mapping units, which are then programmed whole.
    unit = (1 if is_aged else 2) * derived["capacity"]["mapping_unit_bytes"]
    edges = sum(amount.writes for amount in amounts if not amount.is_aligned)
    most = sum(amount.bytes for amount in amounts) + edges * unit
    is_padded = (
        buffer["durability"] != "capacitor" or "partial_after" in buffer or not buffer["read_hits"]
    )
    if is_padded:
        program = derived["organisation"]["program_bytes"]
        most += sum(amount.requests for amount in amounts) * program
    return float(most * with_parity(experiment))


def note(
    experiment: Experiment,
    announcements: list[str],
    *,
    is_from_snapshot: bool = False,
    run: str = "run",
    has_own: bool = False,
    verb: str = "",
) -> str | None:
    """Return a note if the workloads hardly make the drive collect; None if they may.

    ``announcements`` has one text for each trace. ``run`` is the word for the run; ``has_own``
    says if the command has options of its own for the drive's content; ``verb`` names it.
    """
    ftl = experiment.config["drive"]["ftl"]
    collects_anyway = "scrub" in ftl or "idle_gap" in ftl["gc"]
    amounts = None if collects_anyway else of_workloads(experiment, announcements)
    if amounts is None:
        return None
    found = room(experiment, is_from_snapshot=is_from_snapshot)
    who = _who(experiment)
    total = sum(amount.bytes for amount in amounts)
    if not total:
        told = f"note: {who} nothing, so the drive collects no garbage in this {run}"
        return told if found.is_aged and announcements else None
    if _most(experiment, amounts, is_aged=found.is_aged) >= found.bytes:
        return None
    at_most = "at most " if any(amount.is_bound for amount in amounts) else ""
    first = _told(f"{who} {at_most}{units.size(total)}", found, run)
    needed = smaller.Needed(experiment, amounts, _ageing(experiment, found))
    is_resizable = not (is_from_snapshot or "snapshot" in experiment.config["precondition"])
    remedies = needed.remedies(found.round, is_resizable=is_resizable)
    lines = [smaller.shown(remedy, has_own=has_own, verb=verb) for remedy in remedies]
    return "\n".join(
        [f"note: {first}", *(f"  {line}" for line in lines or [smaller.at_least(found.round)])]
    )


def _who(experiment: Experiment) -> str:
    workloads = experiment.config["workload"]
    noun = "trace" if all("trace" in workload for workload in workloads) else "workload"
    return f"the {noun} writes" if len(workloads) == 1 else f"the {noun}s write"


def _ageing(experiment: Experiment, found: Room) -> smaller.Changes:
    """Return the changes that age the drive, unless it is aged."""
    if found.is_aged:
        return {}
    is_empty = experiment.config["precondition"]["fill"] == "empty"
    fill = {"precondition.fill": "random"} if is_empty else {}
    # The first overwrites fill what is free.
    exported = experiment.derived["capacity"]["exported_bytes"]
    spare = found.free if not is_empty else found.free - exported
    overwrites = 1 + max(0, math.floor(spare / exported))
    return {**fill, "precondition.age": {"overwrites": overwrites}}


def _told(written: str, found: Room, run: str) -> str:
    if not found.is_aged:
        return (
            f"garbage collection cannot begin in this {run}: {written}, and the drive takes "
            f"{units.size(found.free)} of writes before collection begins"
        )
    blocks = "a new block" if found.bins == 1 else f"a new block in each of its {found.bins} bins"
    return (
        f"garbage collection will probably not begin in this {run}: {written}; the drive opens "
        f"{blocks}, which begins collection, once in {units.size(found.round)} of writes"
    )


class Forecasting(Bar):
    """A progress bar that prints the note after the announcement of the last trace."""

    def __init__(self, experiment: Experiment, *, is_from_snapshot: bool) -> None:
        super().__init__()
        self._experiment = experiment
        self._is_from_snapshot = is_from_snapshot
        self._announcements: list[str] = []

    def surveyed(self, announcement: str) -> None:
        """Print a description of a trace, and after the last one the note."""
        is_alone = len(self._experiment.config["workload"]) == 1
        # Options of the command are for all traces, and keys of --tenant for one.
        super().surveyed(options.as_options(announcement) if is_alone else announcement)
        self._announcements.append(announcement)
        if len(self._announcements) == len(self._experiment.config["workload"]):
            told = note(
                self._experiment,
                self._announcements,
                is_from_snapshot=self._is_from_snapshot,
                run="replay",
                has_own=True,
            )
            if told is not None:
                super().surveyed(told)
