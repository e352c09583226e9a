"""A paper's claims with their verdicts, its tables and plots, and the runs behind them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flashscape.arguments import checks_arguments
from flashscape.near import listed
from flashscape.reproduce.exhibit import blamed
from flashscape.reproduce.outcomes import NotRun, Outcomes
from flashscape.reproduce.plots import curves
from flashscape.reproduce.verdicts import VERDICTS, CheckedClaim, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import polars as pl

    from flashscape.reproduce.changes import Changes
    from flashscape.reproduce.outcomes import Outcome
    from flashscape.reproduce.setting import Setting
    from flashscape.reproduce.study import Paper, Study


class Judged:
    """Verdicts on a paper's claims, or on one exhibit's; documents show them."""

    def __init__(
        self,
        study: Study,
        setting: Setting,
        claims: list[CheckedClaim],
        runs: Mapping[str, Outcome],
        runs_of: Mapping[str, Mapping[str, Outcome]],
    ) -> None:
        self._study = study
        self._setting = setting
        self._runs_of = runs_of
        self.claims: tuple[CheckedClaim, ...] = tuple(claims)
        """Every claim with its verdict, by exhibit, in the order of the data."""
        self.runs: Mapping[str, Outcome] = runs
        """Outcome of every run, by name; ``.whole`` is its :class:`Result`."""
        self.folder: Path | None = None
        """Directory that it is kept in; None if it is not kept."""
        self.notes: list[str] = []
        """Missing tables and plots, with reasons."""
        self.frames: dict[str, pl.DataFrame] = self._tabulated()
        """Tables by ``exhibit/name``."""

    @property
    def study(self) -> str:
        """Name of the paper on the command line."""
        return self._study.name

    @property
    def paper(self) -> Paper:
        """Title, authors and venue."""
        return self._study.paper

    @property
    def profile(self) -> str:
        """``short`` or ``full``."""
        return self._setting.profile

    @property
    def changes(self) -> Changes:
        """Values that were changed in all experiments."""
        return self._setting.changes

    @property
    def exhibits(self) -> dict[str, str]:
        """Titles of the reproduced exhibits, by name."""
        return {name: self.paper.exhibits[name] for name in self._runs_of}

    @checks_arguments
    def __getitem__(self, claim: str) -> CheckedClaim:
        """Return a claim by its id; raise KeyError."""
        for each in self.claims:
            if each.id == claim:
                return each
        raise KeyError(f"no claim {claim} {listed(claim, [each.id for each in self.claims])}")

    def __iter__(self) -> Iterator[CheckedClaim]:
        return iter(self.claims)

    def __len__(self) -> int:
        return len(self.claims)

    @checks_arguments
    def of_exhibit(self, exhibit: str) -> list[CheckedClaim]:
        """Return the claims of an exhibit."""
        return [claim for claim in self.claims if claim.exhibit == exhibit]

    @property
    def counts(self) -> dict[Verdict, int]:
        """Number of claims with each verdict."""
        return {v: sum(claim.verdict == v for claim in self.claims) for v in VERDICTS}

    @property
    def failures(self) -> list[tuple[str, str]]:
        """Name and reason of every run that could not be made; absent traces are no failure."""
        return [(n, o.failed) for n, o in self.runs.items() if o.failed is not None]

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each claim."""
        import polars as pl

        names = ("id", "exhibit", "claim", "paper", "ours", "verdict", "reason", "note")
        columns = {name: [getattr(claim, name) for claim in self.claims] for name in names}
        return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))

    def as_json(self) -> list[dict[str, Any]]:
        """Return every claim as ``--json`` writes it."""
        where = {"study": self.study, "profile": self.profile, "set": self.changes.values}
        return [claim.as_json() | where for claim in self.claims]

    def to_json(self) -> str:
        """Return the claims as JSON text."""
        return json.dumps(self.as_json(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @property
    def plots(self) -> list[str]:
        """Plots that can be drawn, as ``exhibit/name``."""
        return [f"{e}/{name}" for e in self._runs_of for name in self._study.exhibits[e].plots]

    @checks_arguments
    def draw(self, plot: str) -> Any:
        """Draw a plot by its ``exhibit/name`` as a figure of matplotlib; raise KeyError, NotRun."""
        if plot not in self.plots:
            raise KeyError(f"no plot {plot} {listed(plot, self.plots)}")
        exhibit, _, name = plot.partition("/")
        draw = self._study.exhibits[exhibit].plots[name]
        with blamed(f"the plot {plot}"):
            return draw(self._outcomes(exhibit))

    @checks_arguments
    def curves(self, plot: str) -> pl.DataFrame:
        """Return the numbers that a plot shows, by its ``exhibit/name``; raise KeyError, NotRun."""
        return curves.of(self.draw(plot))

    def _outcomes(self, exhibit: str) -> Outcomes:
        return Outcomes(self._setting, self._runs_of[exhibit])

    def _tabulated(self) -> dict[str, pl.DataFrame]:
        frames = {}
        for exhibit in self._runs_of:
            for name, table in self._study.exhibits[exhibit].tables.items():
                try:
                    with blamed(f"the table {exhibit}/{name}"):
                        frames[f"{exhibit}/{name}"] = table(self._outcomes(exhibit))
                except NotRun as refused:
                    self.notes.append(f"no table {exhibit}/{name}: {refused}")
        return frames
