"""Changes of an experiment that make its drive collect: a smaller drive, or more writes.

A bin begins to collect when it opens a block, so the traces must write a block to each bin.
Fewer dies have fewer bins. Fewer blocks in a bin would not make it open one sooner. Smaller
blocks would, but erases are then more frequent than on the real drive.
"""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import units, written
from flashscape.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashscape.cli.amounts import Written
    from flashscape.experiment import Experiment

Changes = dict[str, Any]
"""Values of an experiment by their dotted paths."""

_LEVELS = ("channels", "packages_per_channel", "dies_per_package")
"""Keys of the geometry in the order in which they are reduced."""

_FEWEST_PAGES = 24
"""Pages of the smallest blocks that a note recommends."""

ROUNDS = {"smaller": 5, "same": 2}
"""Blocks that the run should write to each bin of a smaller drive, and of the same drive.

More than one, because data that is overwritten in the buffer is not programmed. The same drive
has many bins, so a few blocks of each are many blocks.
"""

_OWN = {"precondition.fill": "--fill", "precondition.age": "--age"}
"""Options of commands that make an experiment, in the place of ``--set``."""


class Remedy(NamedTuple):
    """A change of the experiment, in words and as values."""

    words: str
    changes: Changes


class Needed(NamedTuple):
    """Experiment whose drive hardly collects, and what its workloads write."""

    experiment: Experiment
    amounts: list[Written]
    ageing: Changes
    """Changes that age the drive; none if it is aged."""

    @property
    def total(self) -> float:
        """Bytes that all workloads write."""
        return sum(amount.bytes for amount in self.amounts)

    def remedies(self, round_: int, *, is_resizable: bool) -> list[Remedy]:
        """Return changes that make the drive collect, the most faithful first.

        ``round_`` is one block in each bin, in bytes; the drive of a snapshot keeps its size.
        """
        if self.ageing and self.total >= ROUNDS["same"] * round_:
            return [Remedy("age the drive", self.ageing)]
        found = self._resized() if is_resizable else []
        if (times := self._repeated(ROUNDS["same"] * round_ / self.total)) is not None:
            words = f"play {self._them} more often"
            # It is the same drive, but a smaller one is aged sooner.
            found.insert(1, Remedy(words, {**times, **self.ageing}))
        return [remedy for remedy in found if self._is_sound(remedy.changes)]

    @property
    def _them(self) -> str:
        return "the trace" if len(self.amounts) == 1 else "the traces"

    def _is_sound(self, changes: Changes) -> bool:
        try:
            self.experiment.replace(changes)
        except ConfigError:
            return False
        return True

    def _resized(self) -> list[Remedy]:
        """Return remedies with a smaller drive: of fewer dies, then of smaller blocks."""
        drives = [
            (changes, round_)
            for changes in _fewer_dies(self.experiment.config["drive"]["geometry"])
            if (round_ := self._round(changes)) is not None
        ]
        for changes, round_ in drives:
            if self.total >= ROUNDS["smaller"] * round_:
                return [self._remedy("make the drive smaller", changes)]
        smallest, round_ = drives[-1] if drives else ({}, self._round({}))
        found = []
        times = None if round_ is None else self._repeated(ROUNDS["smaller"] * round_ / self.total)
        if drives and times is not None:
            words = f"make the drive smaller and play {self._them} more often"
            found.append(self._remedy(words, {**smallest, **times}))
        return [*found, *self._smaller_blocks(smallest)]

    def _smaller_blocks(self, smallest: Changes) -> list[Remedy]:
        pages = self.experiment.config["drive"]["geometry"]["pages_per_block"]
        for fewer in _halves(pages):
            changes = {**smallest, "drive.geometry.pages_per_block": fewer}
            round_ = self._round(changes)
            if round_ is not None and self.total >= ROUNDS["smaller"] * round_:
                words = (
                    f"make the drive and its blocks smaller (erases are {pages // fewer} times "
                    "as frequent then, and the latency tail is longer than on the real drive)"
                )
                return [self._remedy(words, changes)]
        return []

    def _remedy(self, words: str, changes: Changes) -> Remedy:
        drive = self.experiment.replace({**changes, **self._spare})
        exported = drive.derived["capacity"]["exported_bytes"]
        wrapped = {
            f"workload[{index}].trace.out_of_range": "wrap"
            for index, (workload, amount) in enumerate(
                zip(self.experiment.config["workload"], self.amounts, strict=True)
            )
            if "trace" in workload
            and workload["trace"]["out_of_range"] == "refuse"
            and amount.end > exported
        }
        is_resized = any(path.startswith("drive.") for path in changes)
        spare = self._spare if is_resized else {}
        return Remedy(words, {**changes, **spare, **wrapped, **self.ageing})

    @property
    def _spare(self) -> Changes:
        spare = self.experiment.derived["capacity"]["spare_over_exported"]
        return {"drive.ftl.over_provisioning": {"spare": f"{100 * spare:.1f} %"}}

    def _round(self, changes: Changes) -> int | None:
        """Return one block in each bin of a changed drive; None if there is no such drive."""
        try:
            organisation = self.experiment.replace({**changes, **self._spare}).derived
        except ConfigError:
            return None
        bins: int = organisation["organisation"]["bins"]
        return bins * int(organisation["organisation"]["block_bytes"])

    def _repeated(self, times: float) -> Changes | None:
        """Return changes that play each trace so many times as often; None without traces."""
        workloads = self.experiment.config["workload"]
        if not all("trace" in workload for workload in workloads):
            return None
        return {
            f"workload[{index}].trace.repeat": math.ceil(times * workload["trace"].get("repeat", 1))
            for index, workload in enumerate(workloads)
        }


def _fewer_dies(geometry: dict[str, int]) -> Iterator[Changes]:
    """Yield geometries of ever fewer dies, down to one: half of a level, or one of it."""
    changes: Changes = {}
    for level in _LEVELS:
        number = geometry[level]
        while number > 1:
            number = number // 2 if number % 2 == 0 else 1
            changes[f"drive.geometry.{level}"] = number
            yield dict(changes)


def _halves(pages: int) -> Iterator[int]:
    """Yield half of a number of pages, its quarter, and so on, while they are whole."""
    while pages % 2 == 0 and pages // 2 >= _FEWEST_PAGES:
        pages //= 2
        yield pages


def options(changes: Changes, *, has_own: bool) -> str:
    """Return changes as options of a command line.

    ``has_own`` is True for commands that make an experiment: ``--age 1`` says there what
    ``--set 'precondition.age={ overwrites = 1 }'`` says to others.
    """
    texts: list[str] = []
    is_wrapped = False
    for path, value in changes.items():
        if has_own and path in _OWN:
            texts += [_OWN[path], f"{value['overwrites']:g}" if isinstance(value, dict) else value]
        elif has_own and path.endswith("].trace.out_of_range"):
            texts += [] if is_wrapped else ["--out-of-range", value]
            is_wrapped = True
        else:
            texts += [
                "--set",
                f"{path}={value if isinstance(value, str) else written.value(value)}",
            ]
    return shlex.join(texts)


def shown(remedy: Remedy, *, has_own: bool, verb: str = "") -> str:
    """Return a remedy as a line of a note; ``verb`` names the command if it has ended."""
    return f"remedy: {remedy.words}: {verb}{options(remedy.changes, has_own=has_own)}"


def at_least(round_: int) -> str:
    """Return the remedy of last resort, which is no option."""
    return f"remedy: let the run write {units.size(ROUNDS['same'] * round_)} or more"
