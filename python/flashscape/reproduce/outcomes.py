"""Outcomes of runs: a result, an error that is a finding, or a failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashscape import spelling
from flashscape.errors import StudyError
from flashscape.near import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flashscape.reproduce.setting import Setting
    from flashscape.result import Result


class NotRun(Exception):  # noqa: N818 - no error, but a verdict
    """The run says nothing about a claim, for the reason in the text."""


@dataclass(frozen=True)
class EndedEarly:
    """An expected error that ended a run."""

    type: str
    """Type of the exception, such as ``SpaceError``."""
    message: str
    partial: Result | None
    """Results until the error, if there are any."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run."""

    name: str
    key: str | None
    """Key of its inputs; None if they could not be read."""
    whole: Result | None = None
    ended_early: EndedEarly | None = None
    failed: str | None = None
    """Reason for which it could not be made."""
    absent: str | None = None
    """Name of a missing trace."""

    @property
    def status(self) -> str:
        """``done``, ``ended-early``, ``failed`` or ``absent``."""
        if self.whole is not None:
            return "done"
        if self.ended_early is not None:
            return "ended-early"
        return "absent" if self.absent is not None else "failed"

    @property
    def result(self) -> Result:
        """Results of a complete run; raise NotRun, which is the claim's verdict."""
        if self.ended_early is not None:
            raise NotRun(f"the run {self.name} ended early: {self.ended_early.message}")
        self._must_be_made()
        assert self.whole is not None
        return self.whole

    @property
    def error(self) -> EndedEarly | None:
        """Error that ended the run; None if it is complete. Raises NotRun as ``result`` does."""
        self._must_be_made()
        return self.ended_early

    @property
    def measured(self) -> Result:
        """Results, up to an error that ended the run; raise NotRun if there are none."""
        if self.ended_early is not None and self.ended_early.partial is not None:
            return self.ended_early.partial
        return self.result

    def _must_be_made(self) -> None:
        if self.absent is not None:
            raise NotRun(
                f"the run {self.name} needs {self.absent}, which is not there "
                f"({spelling.option('--traces DIR', 'traces=...')} names the directory of traces)"
            )
        if self.failed is not None:
            raise NotRun(f"the run {self.name} could not be made: {self.failed}")


class Outcomes:
    """The runs of one exhibit by their names, for its measurements, plots and tables.

    Records which of them a measurement has used.
    """

    def __init__(self, setting: Setting, of_runs: Mapping[str, Outcome]) -> None:
        self.setting = setting
        """Profile and directory of traces."""
        self._of_runs = of_runs
        self._looked_at: dict[str, None] = {}

    def __getitem__(self, name: str) -> Outcome:
        """Return a run's outcome; raise StudyError for a run that the exhibit does not declare."""
        if name not in self._of_runs:
            hint = listed(name, self._of_runs, "the exhibit declares")
            raise StudyError(f"no run {name} {hint}")
        self._looked_at[name] = None
        return self._of_runs[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all runs."""
        return iter(self._of_runs)

    def __len__(self) -> int:
        return len(self._of_runs)

    @property
    def looked_at(self) -> tuple[str, ...]:
        """Names of the runs that were used, in order."""
        return tuple(self._looked_at)
