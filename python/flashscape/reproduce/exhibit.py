"""Declarations of an exhibit in a study's code: its runs, measurements, tables and plots.

A study has a module for each exhibit, and in it one :class:`Exhibit` named ``exhibit``,
to which its functions are added::

    exhibit = Exhibit()

    @exhibit.runs
    def runs(setting):
        requests = setting.pick(short=200_000, full=4_000_000)
        return [Run("baseline", {"drive": {...}, "run": {"requests": requests}})]

    @exhibit.measures("E-3")
    def tail_of_baseline(runs):
        tail = percentile(runs["baseline"].result.read, 99.9)
        return Answer(tail.text("ns"), {"baseline_read_p99_9_ns": tail})

    @exhibit.draws("read-tails")
    def read_tails(runs):
        return plots.tails(...)

How all of it fits together is in docs/how-to/add-a-study.md.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from flashscape import output
from flashscape.errors import StudyError
from flashscape.near import listed
from flashscape.reproduce.figures import Figure
from flashscape.reproduce.outcomes import NotRun, Outcomes
from flashscape.reproduce.setting import Setting
from flashscape.sweep import READS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.experiment import Experiment

_IS_NAME = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*").fullmatch
"""Pattern of names of runs, plots and tables: valid file names on any system."""


@dataclass(frozen=True)
class Run:
    """An experiment that exhibits use.

    Exhibits share a run by declaring it identically, under one name: it is run once.
    """

    name: str
    """Name, in lower case with hyphens; also of the experiment's file."""
    experiment: Experiment | Mapping[str, Any] | str | PathLike[str]
    """Experiment, as :func:`flashscape.run` takes it."""
    tables: tuple[str, ...] = ("latency",)
    """Tables of its results that are kept, besides the summary; ``reads`` has each counted read."""
    may_end_with: tuple[str, ...] = ()
    """Types of errors that are findings: a run that ends with one of them counts as made."""

    def __post_init__(self) -> None:
        _must_be_name(self.name, "run")
        known = (*output.TABLES, READS)
        if strange := set(self.tables) - set(known):
            raise ValueError(
                f"run {self.name}: no table {min(strange)} {listed(min(strange), known)}"
            )


@dataclass(frozen=True)
class Answer:
    """Measured figures for a claim."""

    ours: str
    """Our figure as text, with its unit."""
    figures: Mapping[str, Any] = field(default_factory=dict)
    """Figures by the names that the claim declares: :class:`Figure`, or bare values."""
    reason: str | None = None
    """Sentence that says why the claim is not reproduced, if the cause is known."""
    no_better: str | None = None
    """Reason for which the figures support no better verdict than ``direction``, such as
    synthetic traces in place of the paper's; None if there is none."""

    def figure(self, name: str) -> Figure:
        """Return a figure by its name; raise KeyError, TypeError."""
        return Figure.of(self.figures[name])


@contextmanager
def blamed(what: str) -> Iterator[None]:
    """Convert errors of a study's code to StudyError, with the line in its file."""
    try:
        yield
    except (NotRun, StudyError):
        raise
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} ({Path(at.filename).name}, line {at.lineno})"
        raise StudyError(f"{what}: {told}") from error


Declare = Callable[[Setting], Iterable[Run]]
Measure = Callable[[Outcomes], Answer]
Draw = Callable[[Outcomes], "Picture"]
Tabulate = Callable[[Outcomes], "pl.DataFrame"]

_Function = TypeVar("_Function")


class Exhibit:
    """Runs, measurements, tables and plots of one figure, table or passage of a paper."""

    def __init__(self) -> None:
        self.measurements: dict[str, Measure] = {}
        """Measurements by the claim's id."""
        self.plots: dict[str, Draw] = {}
        """Plots by the name of their files."""
        self.tables: dict[str, Tabulate] = {}
        """Tables by the name of their files."""
        self._declare: Declare | None = None

    def runs(self, declare: Declare) -> Declare:
        """Declare the runs: a function of the setting that returns them."""
        if self._declare is not None:
            raise ValueError("an exhibit declares its runs once")
        self._declare = declare
        return declare

    def measures(self, claim: str) -> Callable[[Measure], Measure]:
        """Add the measurement for a claim; one function may serve several."""
        if claim in self.measurements:
            raise ValueError(f"{claim} is measured twice")
        return _adder(self.measurements, claim)

    def draws(self, name: str) -> Callable[[Draw], Draw]:
        """Add a plot: a function of the outcomes that returns a figure of matplotlib."""
        _must_be_name(name, "plot")
        return _adder(self.plots, name)

    def tabulates(self, name: str) -> Callable[[Tabulate], Tabulate]:
        """Add a table: a function of the outcomes that returns a frame of Polars."""
        _must_be_name(name, "table")
        return _adder(self.tables, name)

    def declared(self, setting: Setting) -> list[Run]:
        """Return the runs that it needs; none if it declares none."""
        return [] if self._declare is None else list(self._declare(setting))


def _adder(functions: dict[str, _Function], name: str) -> Callable[[_Function], _Function]:
    """Return a decorator that registers a function by name and returns it unchanged."""
    if name in functions:
        raise ValueError(f"{name} is there twice")

    def add(function: _Function) -> _Function:
        functions[name] = function
        return function

    return add


def _must_be_name(name: str, what: str) -> None:
    if not _IS_NAME(name):
        raise ValueError(f"{name!r} is no name of a {what}: lower case, digits, hyphens, dots")
