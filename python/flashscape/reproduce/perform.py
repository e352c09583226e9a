"""Execution of a study's runs: each once, over the cores, stored under the hash of its inputs.

It uses the machinery of sweeps; a run is a point. A run in the store with the same
inputs, by the same simulator, is not run again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import spelling, units
from flashscape.errors import ConfigError, Interrupted, SnapshotError, StudyError
from flashscape.experiment import Unchecked, named_files
from flashscape.reproduce.exhibit import blamed
from flashscape.reproduce.outcomes import EndedEarly, Outcome
from flashscape.result import Result
from flashscape.sweep import NamedRuns, SweepInterrupted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.reproduce.exhibit import Run
    from flashscape.reproduce.setting import Setting
    from flashscape.reproduce.study import Study
    from flashscape.sweep import Executor, Store, SweepObserver


@dataclass(frozen=True)
class Wanted:
    """A run that one exhibit needs, or several."""

    run: Run
    experiment: Unchecked
    exhibits: tuple[str, ...]


def gather(study: Study, exhibits: Iterable[str], setting: Setting) -> dict[str, Wanted]:
    """Return the runs of some exhibits by name, each once; raise StudyError for a conflict."""
    wanted: dict[str, Wanted] = {}
    for name in exhibits:
        seen: set[str] = set()
        with blamed(f"{study.name}/{name}: its runs"):
            declared = study.exhibits[name].declared(setting)
        for run in declared:
            if run.name in seen:
                raise StudyError(f"{study.name}/{name}: declares the run {run.name} twice")
            seen.add(run.name)
            given = Unchecked.of(run.experiment, name=f"{study.name}, run {run.name}")
            given = setting.changes.on(given)
            added = Wanted(run, given, (name,))
            before = wanted.get(run.name)
            wanted[run.name] = added if before is None else _united(before, added, study.name)
    return wanted


def _united(first: Wanted, second: Wanted, study: str) -> Wanted:
    if not _alike(first.experiment, second.experiment):
        raise StudyError(
            f"{study}: {first.exhibits[0]} and {second.exhibits[0]} both have a run "
            f"{first.run.name}, of different experiments; give one of them another name"
        )
    tables = tuple(dict.fromkeys((*first.run.tables, *second.run.tables)))
    errors = tuple(dict.fromkeys((*first.run.may_end_with, *second.run.may_end_with)))
    run = replace(first.run, tables=tables, may_end_with=errors)
    return Wanted(run, first.experiment, (*first.exhibits, *second.exhibits))


def _alike(first: Unchecked, second: Unchecked) -> bool:
    if first == second:
        return True
    try:
        return first.checked().config == second.checked().config
    except ConfigError:
        return False


@dataclass
class Agenda:
    """The runs that can be made, and the outcomes of those that cannot."""

    runs: NamedRuns
    configs: dict[str, dict[str, Any]]
    """Complete configuration of each valid run."""
    outcomes: dict[str, Outcome]
    """Outcomes of runs that cannot be made."""

    @classmethod
    def of(cls, wanted: dict[str, Wanted]) -> Agenda:
        """Check every run before any of them begins."""
        agenda = cls(NamedRuns(), {}, {})
        for name, each in wanted.items():
            agenda._add(name, each)
        return agenda

    def _add(self, name: str, wanted: Wanted) -> None:
        try:
            experiment = wanted.experiment.checked()
            config = self.configs[name] = experiment.config
            if absent := [file for file in named_files(config) if not Path(file).is_file()]:
                self.outcomes[name] = Outcome(name, None, absent=absent[0])
                return
            self.runs.add(name, wanted.experiment, experiment, wanted.run.tables)
        except (ConfigError, SnapshotError, OSError) as error:
            self.outcomes[name] = Outcome(name, None, failed=str(error))


def perform(
    wanted: dict[str, Wanted],
    agenda: Agenda,
    store: Store,
    *,
    executor: Executor,
    observer: SweepObserver | None,
    lasting: bool,
) -> dict[str, Outcome]:
    """Make the missing runs; return the outcome of every run.

    ``lasting`` is True if the store outlives this process; an interruption reports that.
    Raises OutputError, ClusterError, and Interrupted.
    """
    outcomes = dict(agenda.outcomes)
    try:
        errors = agenda.runs.run(store, executor=executor, observer=observer)
    except SweepInterrupted as interrupted:
        raise _interrupted(interrupted, lasting=lasting) from None
    for name, key in agenda.runs.keys.items():
        outcomes[name] = _outcome(wanted[name].run, key, store, errors[name])
    return {name: outcomes[name] for name in wanted}


def _interrupted(interrupted: SweepInterrupted, *, lasting: bool) -> Interrupted:
    counts = interrupted.sweep.counts
    total = sum(counts.values())
    told = Interrupted(None, f"with {total - counts['open']} of {units.many(total, 'run')} ended")
    without = f"nothing is kept without {spelling.option('--out', 'out=...')}"
    told.kept = interrupted.kept if lasting else without
    return told


def _outcome(run: Run, key: str, store: Store, error: str | None) -> Outcome:
    done = store.done(key)
    if done is None or (error is not None and done.summary is not None):
        return Outcome(run.name, key, failed=error or "its results are not there")
    if done.summary is not None:
        return Outcome(run.name, key, whole=Result.load(store.path_of(key)))
    if done.kind in run.may_end_with:
        early = EndedEarly(done.kind, str(done.error), store.partial(key))
        return Outcome(run.name, key, ended_early=early)
    return Outcome(run.name, key, failed=done.error)
