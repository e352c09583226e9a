"""Running the experiments of a comparison, as points of a sweep: side by side, kept one by one."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flashscape import output, spelling, units
from flashscape.errors import (
    ConfigError,
    FlashscapeError,
    Interrupted,
    PolicyError,
    SnapshotError,
    SpaceError,
    StarvationError,
    TraceError,
    unread,
)
from flashscape.experiment import Unchecked
from flashscape.result import Result
from flashscape.run import run
from flashscape.sweep import NamedRuns
from flashscape.sweep.reads import LOG
from flashscape.sweep.run import run_missing

if TYPE_CHECKING:
    from flashscape.compare.place import Places
    from flashscape.experiment import Experiment
    from flashscape.sweep import SweepObserver
    from flashscape.sweep.executor import Ended, Executor, Prepared


class Planned(NamedTuple):
    """A run of a comparison."""

    place: str
    """Its directory in that of the comparison: A, or A/seed-2."""
    told: str
    """Its name in messages."""
    experiment: Experiment


@dataclass
class Runs:
    """All runs of a comparison."""

    planned: list[Planned]
    shows_progress: bool
    """True to show the progress of runs in this process."""
    _named: NamedRuns = field(default_factory=NamedRuns)

    def __post_init__(self) -> None:
        for each in self.planned:
            if each.experiment.has_callables:
                continue
            tables = (*output.tables_of(each.experiment.config), LOG)
            try:
                self._named.add(each.told, Unchecked.of(each.experiment), each.experiment, tables)
            except OSError as error:
                raise ConfigError(unread(str(error.filename), error)) from error

    @cached_property
    def places(self) -> dict[str, str]:
        """The place of each run, with the key of its inputs."""
        keys = self._named.keys
        # Nothing tells if a function of this process is the one of an earlier start.
        return {each.place: keys.get(each.told, f"once {each.place}") for each in self.planned}

    def all(self, store: Places, executor: Executor, observer: SweepObserver) -> list[Result]:
        """Do the runs that are not in the store; return the results of all.

        Raises KeyboardInterrupt, and the error of a run, unless it is about starvation.
        """
        here = [each for each in self.planned if each.experiment.has_callables]
        begin = self._named.begin(store, executor)
        begin.fit()
        kinds: dict[str, tuple[str, str]] = {}
        if begin.to_run:
            ended = run_missing(store, begin, _Watched(observer, store))
            if ended.interrupted:
                raise KeyboardInterrupt
            kinds = {key: (ended.kinds[key], why) for key, why in ended.errors.items()}
        elif not here:
            observer.begins(begin)
            observer.over()
        for each in here:
            self._here(store, each)
        return [self._result(store, each, kinds) for each in self.planned]

    def _here(self, store: Places, each: Planned) -> None:
        """Run an experiment with functions of this process, which others cannot have."""
        folder = store.path_of(self.places[each.place])
        # A run that ends by starvation keeps its results until then.
        with contextlib.suppress(StarvationError):
            run(
                each.experiment,
                out=folder,
                requests=folder / output.REQUESTS,
                force=True,
                progress=self.shows_progress,
            )
        store.forget_comparison()

    def _result(self, store: Places, each: Planned, ended: dict[str, tuple[str, str]]) -> Result:
        key = self.places[each.place]
        done = store.done(key)
        if each.experiment.has_callables or (done is not None and done.summary is not None):
            folder = store.copy_to(each.place, key)
            return _counted(_titled(Result.load(folder), each), each)
        if done is not None and done.kind == StarvationError.__name__:
            # A starved run is a result, which keeps either side from being named the winner.
            starved = store.partial(key)
            if starved is not None:
                return _counted(starved, each)
        kind, why = ended.get(key) or (
            ("", "its results are not there") if done is None else (done.kind, str(done.error))
        )
        raise _error_of(kind)(f"{each.told}: {why}")

    def interrupted(self, store: Places, *, is_kept: bool) -> Interrupted:
        """Return an interruption that says what is kept."""
        keys = self.places.values()
        done = sum(store.done(key) is not None for key in keys)
        told = Interrupted(None, f"with {done} of {units.many(len(keys), 'run')} ended")
        if is_kept:
            told.kept = (
                "nothing is compared; runs that have ended are kept, and the same command goes on "
                "with the others"
            )
        else:
            out = spelling.option("--out DIR", "out=...")
            told.kept = f"nothing is compared, and nothing is kept without {out}"
        return told


def _titled(result: Result, each: Planned) -> Result:
    """Return a result with the title that its experiment has now; an earlier start may differ."""
    title = each.experiment.config.get("title") or Path(each.experiment.title).name
    if result.summary["title"] != title and result.folder is not None:
        result.summary["title"] = title
        text = json.dumps(result.summary, indent=2, ensure_ascii=False) + "\n"
        output.Directory(result.folder).add(output.SUMMARY, text.encode())
    return result


def _counted(result: Result, each: Planned) -> Result:
    if not result.untimed and not result.groups():
        raise ConfigError(f"{each.told}: no request was counted, so there is nothing to compare")
    return result


_ERRORS = (ConfigError, PolicyError, SnapshotError, SpaceError, TraceError)


def _error_of(kind: str) -> type[FlashscapeError]:
    """Return the class of an error that another process has told."""
    return next((each for each in _ERRORS if each.__name__ == kind), FlashscapeError)


class _Watched:
    """Forwards what happens, and forgets an earlier comparison when the first run has ended."""

    def __init__(self, observer: SweepObserver, store: Places) -> None:
        self._observer, self._store = observer, store
        self.checking, self.begins = observer.checking, observer.begins
        self.tick, self.over = observer.tick, observer.over

    def prepared(self, prepared: Prepared) -> None:
        self._observer.prepared(prepared)

    def ended(self, ended: Ended) -> None:
        self._store.forget_comparison()
        self._observer.ended(ended)
