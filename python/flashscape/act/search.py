"""The result of a search: every multiplier that was tried, and the two ratings."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashscape.act import hunt, picture
from flashscape.act.trial import Trial, row
from flashscape.output import File
from flashscape.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from flashscape.act.hunt import Rating


class Search:
    """Multipliers that were tried on a drive, by rising multiplier."""

    def __init__(
        self, settings: dict[str, Any], trials: Sequence[Trial], step: int, most: int
    ) -> None:
        self.settings = settings
        """Settings of the test; the keys are in docs/act.md."""
        self.trials = tuple(trials)
        self.step = step
        self.most = most
        """The highest multiplier that could have been tried."""

    @property
    def performance(self) -> Rating:
        """The highest multiplier that passes the performance test."""
        return self._rating("passes_performance")

    @property
    def stress(self) -> Rating:
        """The highest multiplier that passes the stress test."""
        return self._rating("passes_stress")

    def _rating(self, test: str) -> Rating:
        tried = {trial.multiplier: getattr(trial, test) for trial in self.trials}
        return hunt.rating(tried, self.most)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Return a row for each multiplier, in rising order; columns are in docs/act.md."""
        import polars as pl

        return pl.DataFrame([row(trial) for trial in self.trials], infer_schema_length=None)

    def to_json(self) -> str:
        """Return all figures as JSON; keys are in docs/act.md."""
        document = {
            "flashscape": __version__,
            **self.settings,
            "step": self.step,
            "most": self.most,
            "performance": self.performance._asdict(),
            "stress": self.stress._asdict(),
            "trials": [trial.as_dict() for trial in self.trials],
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def draw(self, path: str | Path) -> None:
        """Draw latencies and service times over multipliers, as SVG or PNG by the suffix.

        Needs matplotlib. Raises OutputError, also if the file exists already.
        """
        form = picture.form_of(path)
        with File.claim(path, "draw", force=False) as file:
            file.store(self.drawn(form))

    def drawn(self, form: str) -> bytes:
        """Return the picture as bytes: ``svg`` or ``png``."""
        ratings = {"performance": self.performance, "stress": self.stress}
        return picture.drawn(self.settings["drive"], self.trials, ratings, form)

    def __repr__(self) -> str:
        performance, stress = self.performance.multiplier, self.stress.multiplier
        return f"<Search {self.settings['drive']!r}: performance {performance}x, stress {stress}x>"
