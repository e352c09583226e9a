"""Forecast of garbage collection in a replay, from the bytes that its traces write.

A bin begins to collect when it opens a block and few others are free. So a replay that writes
less than one block to each bin probably ends before collection begins.
"""

from __future__ import annotations

import math
import re
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import units
from flashscape.errors import ConfigError
from flashscape.progress import Bar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashscape.experiment import Experiment

_KIND = re.compile(r"^  ([a-z_]{1,12}) *(\d+) \([0-9.]+ %\), (\d+) B in the mean$", re.MULTILINE)
"""Line of a trace's announcement: a kind, its requests, and their mean size."""

_DEVICE = re.compile(r"^  device .*\bbytes \d+ to (\d+)", re.MULTILINE)
"""Line of an announcement with the addresses of a device."""

_WRITES = frozenset({"write", "write_zeroes"})
"""Kinds that program mapping units: zeroes only those that they cover in part."""

_FEWEST_PAGES = 24
"""Pages of the smallest blocks that a note recommends."""

_ROUNDS = {"smaller": 50, "same": 2}
"""Blocks that a replay should write to each bin of a smaller drive, and of the same drive.

More than one, because data that is overwritten in the buffer is not programmed.
"""


class Written(NamedTuple):
    """Requests of a trace, from its announcement; repetitions count."""

    requests: int
    """Requests of all kinds."""
    writes: int
    """Writes and write-zeroes."""
    bytes: int
    """Bytes of the writes, to within half a byte a request."""
    end: float
    """Address that none of its requests passes; infinite if the announcement has none."""


def written(announcement: str, repeat: int = 1) -> Written:
    """Read an announcement of a trace that is played ``repeat`` times."""
    kinds = [(kind, int(many), int(mean)) for kind, many, mean in _KIND.findall(announcement)]
    ends = [int(end) for end in _DEVICE.findall(announcement)]
    are_all = ends and not announcement.count(" more devices")
    return Written(
        repeat * sum(many for _, many, _ in kinds),
        repeat * sum(many for kind, many, _ in kinds if kind in _WRITES),
        repeat * sum(many * mean for kind, many, mean in kinds if kind == "write"),
        sum(ends) if are_all else math.inf,
    )


class Room(NamedTuple):
    """Bytes that a drive takes before it collects."""

    bins: int
    round: int
    """Bytes of one block in each bin."""
    free: int
    """Bytes before a bin of a drive that was not aged is at its background threshold."""
    is_aged: bool
    """True if free blocks are near that threshold when the run begins."""
    parts: int
    """Number of parts of the drive, one of which may get all writes."""

    @property
    def bytes(self) -> int:
        """Bytes below which collection is unlikely (aged) or impossible."""
        return (self.round if self.is_aged else self.free) // self.parts


def room(experiment: Experiment, *, is_from_snapshot: bool) -> Room:
    """Return the room of the drive when the run begins."""
    config, derived = experiment.config, experiment.derived
    organisation, capacity = derived["organisation"], derived["capacity"]
    bins, block = organisation["bins"], organisation["block_bytes"]
    precondition = config["precondition"]
    # Data of unknown age is in a snapshot; it may have been collected.
    is_aged = is_from_snapshot or "age" in precondition or "snapshot" in precondition
    filled = 0 if precondition["fill"] == "empty" else capacity["exported_bytes"]
    ftl = config["drive"]["ftl"]
    # Two open blocks; and a bin may have more than its share of bad blocks.
    kept = derived["gc_free_blocks_per_bin"]["background"] + 2
    bad = 2 * float(ftl["bad_blocks"]["factory"].rstrip(" %")) / 100
    free = int(bins * (organisation["blocks_per_bin"] * (1 - bad) - kept) * block) - filled
    # The address decides the pool; for partial writes inside planes, also the bin.
    parts = bins if ftl["partial_writes"] == "plane" else organisation["pools"]
    return Room(bins, bins * block, max(free, bins * block), is_aged, parts)


def _most(experiment: Experiment, traces: list[Written]) -> int:
    """Return the most bytes that the drive can program for the traces, without collection."""
    config, derived = experiment.config, experiment.derived
    buffer = config["drive"]["buffer"]
    # A write may begin and end inside mapping units, which are then programmed whole.
    unit = 2 * derived["capacity"]["mapping_unit_bytes"]
    most: int = sum(trace.bytes + trace.writes * unit for trace in traces)
    is_padded = (
        buffer["durability"] != "capacitor" or "partial_after" in buffer or not buffer["read_hits"]
    )
    if is_padded:
        program = derived["organisation"]["program_bytes"]
        most += sum(trace.requests for trace in traces) * program
    return most


def note(
    experiment: Experiment, announcements: list[str], *, is_from_snapshot: bool = False
) -> str | None:
    """Return a note if the traces hardly make the drive collect; None if they may.

    ``announcements`` has one text for each workload.
    """
    drive, workloads = experiment.config["drive"], experiment.config["workload"]
    collects_anyway = "scrub" in drive["ftl"] or "idle_gap" in drive["ftl"]["gc"]
    if collects_anyway or len(announcements) != len(workloads):
        return None
    repeats = [workload["trace"].get("repeat", 1) for workload in workloads]
    traces = [written(*each) for each in zip(announcements, repeats, strict=True)]
    found = room(experiment, is_from_snapshot=is_from_snapshot)
    those = "the trace writes" if len(traces) == 1 else "the traces write"
    total = sum(trace.bytes for trace in traces)
    if not total:
        told = f"note: {those} nothing, so the drive collects no garbage in this replay"
        return told if found.is_aged else None
    if _most(experiment, traces) >= found.bytes:
        return None
    remedies = _remedies(experiment, traces, found, is_from_snapshot=is_from_snapshot)
    return "\n".join([f"note: {_told(those, total, found)}", *(f"  {each}" for each in remedies)])


def _told(those: str, total: int, found: Room) -> str:
    if not found.is_aged:
        return (
            f"garbage collection cannot begin in this replay: {those} {units.size(total)}, and the "
            f"drive takes {units.size(found.free)} of writes before collection begins"
        )
    blocks = "a new block" if found.bins == 1 else f"a new block in each of its {found.bins} bins"
    return (
        f"garbage collection will probably not begin in this replay: {those} {units.size(total)}; "
        f"the drive opens {blocks}, which begins collection, once in {units.size(found.round)} of "
        "writes"
    )


def _remedies(
    experiment: Experiment, traces: list[Written], found: Room, *, is_from_snapshot: bool
) -> list[str]:
    """Return options that make the drive collect, one remedy a line."""
    total = sum(trace.bytes for trace in traces)
    ageing = [] if found.is_aged else ["--age", "1"]
    if ageing and experiment.config["precondition"]["fill"] == "empty":
        ageing = ["--fill", "random", *ageing]
    if ageing and total >= _ROUNDS["same"] * found.round:
        return [f"remedy: age the drive: {shlex.join(ageing)}"]
    told = []
    # The drive of a snapshot has its size.
    smaller = None if is_from_snapshot else _smaller(experiment, traces)
    if smaller is not None:
        told.append(f"remedy: make the drive smaller: {shlex.join([*smaller, *ageing])}")
    them = "the trace" if len(traces) == 1 else "the traces"
    more = _repeated(experiment, _ROUNDS["same"] * found.round / total)
    told.append(f"remedy: play {them} at least so many times: {shlex.join([*more, *ageing])}")
    return told


def _repeated(experiment: Experiment, times: float) -> list[str]:
    """Return options that play each trace so many times as often."""
    options = []
    for index, workload in enumerate(experiment.config["workload"]):
        repeat = math.ceil(times * workload["trace"].get("repeat", 1))
        options += ["--set", f"workload[{index}].trace.repeat={repeat}"]
    return options


def _smaller(experiment: Experiment, traces: list[Written]) -> list[str] | None:
    """Return options for one die whose blocks the traces fill many times; None if there is none."""
    derived = experiment.derived
    spare = f"{100 * derived['capacity']['spare_over_exported']:.1f} %"
    total = sum(trace.bytes for trace in traces)
    pages = experiment.config["drive"]["geometry"]["pages_per_block"]
    found = None
    for fewer in _halves(pages):
        one = ("channels", "packages_per_channel", "dies_per_package")
        changes: dict[str, Any] = {f"drive.geometry.{key}": 1 for key in one}
        changes["drive.geometry.pages_per_block"] = fewer
        changes["drive.ftl.over_provisioning"] = {"spare": spare}
        try:
            drive = experiment.replace(changes)
        except ConfigError:
            break
        found = _options(experiment, drive, traces), room(drive, is_from_snapshot=False)
        if total >= _ROUNDS["smaller"] * found[1].round:
            break
    if found is None:
        return None
    options, taken = found
    if total < _ROUNDS["smaller"] * taken.round:
        options += _repeated(experiment, _ROUNDS["smaller"] * taken.round / total)
    return options


def _halves(pages: int) -> Iterator[int]:
    """Yield a number of pages, its half, its quarter, and so on, while they are whole."""
    yield pages
    while pages % 2 == 0 and pages // 2 >= _FEWEST_PAGES:
        pages //= 2
        yield pages


def _options(experiment: Experiment, smaller: Experiment, traces: list[Written]) -> list[str]:
    """Return the options that make the smaller drive from the one of the experiment."""
    options: list[str] = []
    before, after = (each.config["drive"]["geometry"] for each in (experiment, smaller))
    for key, value in after.items():
        if value != before[key]:
            options += ["--set", f"drive.geometry.{key}={value}"]
    spare = smaller.config["drive"]["ftl"]["over_provisioning"]["spare"]
    options += ["--set", f'drive.ftl.over_provisioning={{spare="{spare}"}}']
    exported = smaller.derived["capacity"]["exported_bytes"]
    refuses = any(
        workload["trace"]["out_of_range"] == "refuse" and trace.end > exported
        for workload, trace in zip(experiment.config["workload"], traces, strict=True)
    )
    return [*options, "--out-of-range", "wrap"] if refuses else options


class Forecasting(Bar):
    """A progress bar that prints the note after the announcement of the last trace."""

    def __init__(self, experiment: Experiment, *, is_from_snapshot: bool) -> None:
        super().__init__()
        self._experiment = experiment
        self._is_from_snapshot = is_from_snapshot
        self._announcements: list[str] = []

    def surveyed(self, announcement: str) -> None:
        """Print a description of a trace, and after the last one the note."""
        super().surveyed(announcement)
        self._announcements.append(announcement)
        if len(self._announcements) == len(self._experiment.config["workload"]):
            told = note(
                self._experiment, self._announcements, is_from_snapshot=self._is_from_snapshot
            )
            if told is not None:
                super().surveyed(told)
