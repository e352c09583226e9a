"""Making the runs of a study: each once, over the cores, kept under the hash of its inputs.

All of it is done by what runs sweeps; a run is a point. What is in the store and has the
same inputs, by the same simulator, is not run again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.errors import ConfigError, Interrupted, SnapshotError, StudyError, SweepInterrupted
from flashscape.experiment import Unchecked, named_files
from flashscape.reproduce.exhibit import blamed
from flashscape.reproduce.outcomes import EndedEarly, Outcome
from flashscape.result import Result
from flashscape.sweep.check import Point, demands
from flashscape.sweep.run import Begin, SilentSweep, listed, run_points

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.reproduce.exhibit import Run, Setting
    from flashscape.reproduce.study import Study
    from flashscape.sweep.run import SweepObserver
    from flashscape.sweep.store import Store


@dataclass(frozen=True)
class Wanted:
    """A run that one exhibit wants, or several."""

    run: Run
    experiment: Unchecked
    exhibits: tuple[str, ...]


def gather(study: Study, exhibits: Iterable[str], setting: Setting) -> dict[str, Wanted]:
    """The runs of some exhibits by name, each once; raise StudyError where two contradict."""
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
    """Runs as points of a sweep, and what became of those that cannot be."""

    points: list[Point]
    configs: dict[str, dict[str, Any]]
    """The complete configuration of each run that has one."""
    outcomes: dict[str, Outcome]
    """Of runs that there is no point for."""
    available_bytes: int | None = None

    @classmethod
    def of(cls, wanted: dict[str, Wanted]) -> Agenda:
        """Check every run, before any of them begins."""
        agenda = cls([], {}, {})
        for name, each in wanted.items():
            agenda._add(name, each)
        tables: dict[str | None, dict[str, None]] = {}
        for point in agenda.points:
            tables.setdefault(point.key, {}).update(dict.fromkeys(point.tables))
        # Runs with equal inputs are made once, and keep what any of them wants.
        agenda.points = [replace(p, tables=tuple(tables[p.key])) for p in agenda.points]
        return agenda

    def _add(self, name: str, wanted: Wanted) -> None:
        try:
            experiment = wanted.experiment.checked()
            config = self.configs[name] = experiment.config
            if absent := [file for file in named_files(config) if not Path(file).is_file()]:
                self.outcomes[name] = Outcome(name, None, absent=absent[0])
                return
            experiment.check_snapshot()
            derived = experiment.derived
            needs = demands(config, derived, experiment.preparation)
        except (ConfigError, SnapshotError, OSError) as error:
            self.outcomes[name] = Outcome(name, None, failed=str(error))
            return
        self.available_bytes = derived["memory_bytes"]["available"]
        self.points.append(
            Point(
                number=len(self.points) + 1,
                name=name,
                variation=name,
                seed=config["seed"],
                values={},
                amounts={},
                experiment=wanted.experiment,
                tables=wanted.run.tables,
                **needs,
            )
        )


def perform(
    wanted: dict[str, Wanted],
    agenda: Agenda,
    store: Store,
    *,
    jobs: int | None,
    observer: SweepObserver | None,
    lasting: bool,
) -> dict[str, Outcome]:
    """Make what is not there yet; return what became of every run.

    ``lasting`` says whether the store outlives this process, which an interruption tells of.
    Raises OutputError, and Interrupted.
    """
    outcomes = dict(agenda.outcomes)
    if agenda.points:
        begin = Begin(store, agenda.points, agenda.available_bytes, jobs=jobs, share=True)
        manifest = _manifest(agenda.points)
        try:
            run_points(store, manifest, begin, observer or SilentSweep())
        except SweepInterrupted as interrupted:
            raise _interrupted(interrupted, lasting=lasting) from None
        errors = {point["name"]: point["error"] for point in manifest["points"]}
        for point in agenda.points:
            run = wanted[point.name].run
            outcomes[point.name] = _outcome(run, str(point.key), store, errors[point.name])
    return {name: outcomes[name] for name in wanted}


def _interrupted(interrupted: SweepInterrupted, *, lasting: bool) -> Interrupted:
    counts = interrupted.sweep.counts
    total = sum(counts.values())
    told = Interrupted(None, f"with {total - counts['open']} of {units.many(total, 'run')} ended")
    told.kept = (
        "those are kept, and the same command goes on with the others"
        if lasting
        else "nothing is kept without --out (out=...)"
    )
    return told


def _manifest(points: list[Point]) -> dict[str, Any]:
    """As a sweep's that varies nothing but names: `flashscape sweep --show` prints it."""
    return {
        "title": "",
        "file": "",
        "paths": [],
        "told_by_name": [],
        "seeded": False,
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "points": listed(points),
    }


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
