"""Note on the preconditioning of an experiment that a snapshot replaces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from flashscape import units
from flashscape.errors import FlashscapeError
from flashscape.snapshot import origin

if TYPE_CHECKING:
    from flashscape.experiment import Experiment


class _Content(NamedTuple):
    """Mapping units that preconditioning writes."""

    filled: int
    aged: int
    """Mapping units that are overwritten; the maximum if ageing ends when it is steady."""

    def words(self, at_most: str = "") -> str:
        """Return the content in words."""
        if not self.filled:
            return "no data"
        times = units.times(float(f"{self.aged / self.filled:.3g}"), ".3g")
        overwritten = f"overwritten {at_most}{times}" if self.aged else "not overwritten"
        return f"{units.many(self.filled, 'mapping unit')} written, {overwritten}"


def say_replaced(experiment: Experiment, snapshot: Path) -> None:
    """Print a note if the file of a snapshot says that it was filled or aged in another way.

    A snapshot does not say in which order it was filled, at which addresses it was aged, and
    whether its bins are in step.
    """
    try:
        found = origin(snapshot)
    except FlashscapeError:
        # The run reports the error.
        return
    told = note(experiment.config, experiment.derived["capacity"]["logical_units"], found)
    named = experiment.config["precondition"].get("snapshot")
    if named is not None and Path(named).resolve() != snapshot.resolve():
        told = f"note: the snapshot replaces that of [precondition], {named}"
    if told is not None:
        click.echo(told, err=True)


def note(config: dict[str, Any], capacity: int, origin: dict[str, Any]) -> str | None:
    """Return the note; None if nothing is known to differ."""
    wanted = config["precondition"]
    done = origin["preconditioned"]
    if wanted["fill"] == "empty" or done is None:
        return None
    share = float(wanted.get("share", "100 %").rstrip(" %")) / 100
    filled = round(capacity * share)
    age = wanted.get("age", {"overwrites": 0})
    asked = _Content(filled, round(filled * age["overwrites"]))
    there = _Content(done["filled"], done["aged"])
    is_until_steady = age.get("until_steady", False)
    is_steady = is_until_steady and 0 < there.aged <= asked.aged
    is_aged_alike = is_steady or abs(there.aged - asked.aged) <= 1
    if is_aged_alike and abs(there.filled - asked.filled) <= 1:
        return None
    in_words = asked.words("at most " if is_until_steady else "")
    return (
        f"note: the snapshot replaces [precondition] ({in_words}); it was made with {there.words()}"
    )
