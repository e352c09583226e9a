"""Values that a user changes in all experiments of a study."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import spelling, units
from flashscape.errors import ConfigError
from flashscape.experiment import Unchecked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.experiment import Overrides


class Changes(NamedTuple):
    """Changed values, as overrides of every experiment."""

    overrides: tuple[tuple[str, str, bool], ...] = ()
    """Path, text, and True if the text is JSON."""

    @classmethod
    def of(cls, overrides: Overrides) -> Changes:
        """Return the changes; raise ConfigError for overrides that have no path and value."""
        return cls(Unchecked.of({}).over(overrides).overrides)

    def on(self, experiment: Unchecked) -> Unchecked:
        """Return an experiment with these changes."""
        return experiment._replace(overrides=(*experiment.overrides, *self.overrides))

    @property
    def values(self) -> dict[str, Any]:
        """Changed values by their paths; those of a command line are texts."""
        return {
            path: json.loads(text) if is_json else text for path, text, is_json in self.overrides
        }

    @property
    def told(self) -> str:
        """The changes in a line, such as ``run.audit=true``."""
        return ", ".join(f"{path}={text}" for path, text, _ in self.overrides)

    def refuse(self, faults: Sequence[str], runs: int) -> None:
        """Raise ConfigError if no run can be made with the changes, with the first fault."""
        if self.overrides and runs and len(faults) == runs:
            option = spelling.option("--set", "overrides")
            none = f"none of the {units.many(runs, 'run')} can be made with {self.told}"
            raise ConfigError(f"{option}: {none}: {faults[0]}")


NO_CHANGES = Changes()
