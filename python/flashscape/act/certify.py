"""Runs of one multiplier, and the search for the highest multiplier that passes."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_args

from flashscape import spelling, units
from flashscape.act import hunt, load
from flashscape.act.search import Search
from flashscape.act.source import Prepared, Source, prepared
from flashscape.act.trial import Trial
from flashscape.arguments import checks_arguments
from flashscape.cluster import opened
from flashscape.errors import ConfigError, FlashscapeError, Interrupted
from flashscape.experiment import Experiment
from flashscape.near import listed
from flashscape.output import Directory, refuse_inputs
from flashscape.requests import read_requests
from flashscape.run import Silent
from flashscape.run import run as run_once

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from flashscape.act.load import Arrivals, Lengths
    from flashscape.cluster import Where
    from flashscape.experiment import Overrides
    from flashscape.result import Result
    from flashscape.run import Observer
    from flashscape.snapshot import Snapshot
    from flashscape.sweep import SweepObserver

MULTIPLIER_MOST = 100_000
_SLICES_MOST = 1000
_TIME_MOST_NS = 365 * 24 * 3600 * 1_000_000_000


class SearchObserver(Protocol):
    """Observer of a search: its methods are called as the search advances."""

    def ageing(self) -> Observer:
        """Called before the drive is filled and aged; return an observer of that run."""

    def running(self) -> Observer:
        """Called before one multiplier is run; return an observer of that run."""

    def trying(self, multipliers: Sequence[int]) -> SweepObserver:
        """Called before these multipliers are run; return an observer of their runs."""

    def tried(self, trial: Trial) -> None:
        """Called after a multiplier was run."""

    def over(self) -> None:
        """Called when nothing runs any more."""


@dataclass(frozen=True)
class _Settings:
    """Settings that all multipliers have in common."""

    source: Source
    time_ns: int | None
    warm_up_ns: int | None
    slices: int
    threads: int
    arrivals: Arrivals

    def lengths(self, multiplier: int) -> Lengths:
        return load.lengths(
            multiplier,
            self.source.cycle_bytes,
            warm_up_ns=self.warm_up_ns,
            time_ns=self.time_ns,
            slices=self.slices,
        )

    def cycle_ns(self, multiplier: int) -> int:
        return load.cycle_of(multiplier, self.source.cycle_bytes)

    def experiment(self, multiplier: int) -> dict[str, Any]:
        """Return the experiment of a multiplier, without the drive that it starts from."""
        lengths, source = self.lengths(multiplier), self.source
        tables = load.workloads(
            multiplier,
            lengths,
            exported_bytes=source.exported_bytes,
            seed=source.seed,
            arrivals=self.arrivals,
        )
        title = f"ACT {multiplier}x on {source.label}"
        return load.experiment(source.drive, tables, lengths, title=title, seed=source.seed)

    def judge(self, result: Result, multiplier: int) -> Trial:
        lengths, cycle = self.lengths(multiplier), self.cycle_ns(multiplier)
        return Trial.of(result, multiplier, lengths, cycle, threads=self.threads)

    def overloaded(self, why: str, multiplier: int) -> Trial | None:
        """Return the trial of a run that ended with an overload error; None for other errors."""
        lengths, cycle = self.lengths(multiplier), self.cycle_ns(multiplier)
        return Trial.overloaded(why, multiplier, lengths, cycle)

    def as_dict(self, prepared: Prepared) -> dict[str, Any]:
        return {
            "drive": self.source.label,
            "config": self.source.drive,
            "seed": self.source.seed,
            "exported_bytes": self.source.exported_bytes,
            "overwrites": prepared.overwrites,
            "ageing_write_amplification": prepared.write_amplification,
            "threads": self.threads,
            "arrivals": self.arrivals,
            "slices": self.slices,
        }


@checks_arguments(but=("arrivals",))
def run(
    drive: str | PathLike[str] | Mapping[str, Any] | Experiment,
    multiplier: int,
    *,
    overrides: Overrides = (),
    seed: int | None = None,
    time: str | None = None,
    warm_up: str | None = None,
    slices: int = 2,
    threads: int = 1,
    arrivals: Arrivals = "constant",
    overwrites: float | None = None,
    snapshot: Snapshot | str | PathLike[str] | None = None,
    save_drive: str | PathLike[str] | None = None,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    progress: bool | SearchObserver = False,
) -> Trial:
    """Run the workload of the Aerospike Certification Tool at one multiplier.

    ``drive`` is a preset's name, a table as under ``[drive]``, or an experiment or its
    file, of which the drive and the seed are taken; ``overrides`` change paths of the
    drive. It is filled and overwritten ``overwrites`` times (once) by the test's own large
    writes, or started from ``snapshot``. ``save_drive`` keeps it as it is before the test.

    Measured are ``time`` ("20 s"; all slices together) after ``warm_up``; without them as long
    as collection needs, and 10 s after 2 s at least. The worst of ``slices`` decides.
    ``threads`` are those that issue small reads in turn: the issue period of the fourth
    condition is that of one of them. ``out`` is a directory for all results of the run.

    Raises ConfigError, SnapshotError, SpaceError, OutputError, and Interrupted on Ctrl-C.

    >>> trial = fs.act.run("dc-tlc", 30)                      # doctest: +SKIP
    >>> trial.passes_performance, trial.worst, trial.failures  # doctest: +SKIP
    """
    settings = _settings(drive, overrides, seed, time, warm_up, slices, threads, arrivals)
    _check_number("multiplier", multiplier, MULTIPLIER_MOST)
    watcher = _watcher(progress)
    with ExitStack() as kept:
        claimed = None
        if out is not None:
            refuse_inputs((out,), settings.source.files)
            # Claim the directory before the drive is aged, which may take minutes.
            claimed = kept.enter_context(Directory.claim(out, force=force))
        arguments = (settings, overwrites, snapshot, save_drive, force, watcher)
        start = kept.enter_context(_prepared(*arguments))
        config = settings.experiment(multiplier)
        experiment = Experiment.from_dict(config, name=settings.source.label, snapshot_given=True)
        observer = watcher.running() if watcher is not None else False
        if claimed is not None:
            claimed.release()  # The run claims the directory itself.
        try:
            result = run_once(
                experiment, snapshot=start.file, out=out, force=force, progress=observer
            )
        except Interrupted as interrupted:
            kept_of_it = None if out is None else interrupted.result
            raise Interrupted(kept_of_it, interrupted.where) from None
        except FlashscapeError as error:
            overloaded = settings.overloaded(str(error), multiplier)
            if overloaded is None:
                raise
            return replace(overloaded, settings=settings.as_dict(start))
        trial = _exact(settings.judge(result, multiplier), experiment, start)
        return replace(trial, settings=settings.as_dict(start), result=result)


@checks_arguments(but=("arrivals",))
def search(
    drive: str | PathLike[str] | Mapping[str, Any] | Experiment,
    *,
    step: int = 1,
    most: int = 1000,
    overrides: Overrides = (),
    seed: int | None = None,
    time: str | None = None,
    warm_up: str | None = None,
    slices: int = 2,
    threads: int = 1,
    arrivals: Arrivals = "constant",
    overwrites: float | None = None,
    snapshot: Snapshot | str | PathLike[str] | None = None,
    save_drive: str | PathLike[str] | None = None,
    force: bool = False,
    jobs: int | None = None,
    cluster: Where = None,
    progress: bool | SearchObserver = False,
) -> Search:
    """Search for the highest multipliers that pass the performance and the stress test.

    Tried are multiples of ``step`` up to ``most``, ``jobs`` at a time (as many as there are
    cores), all from the same drive, which this machine fills and ages. ``cluster`` names other
    machines that run the multipliers, as in :func:`flashscape.sweep`. Everything else is as in
    :func:`run`. Which multipliers are tried, and all results, depend on neither.

    Raises what :func:`run` raises, and ClusterError.

    >>> found = fs.act.search("dc-tlc", threads=40)    # doctest: +SKIP
    >>> found.performance.multiplier, found.stress.multiplier, found.frame  # doctest: +SKIP
    """
    from tempfile import TemporaryDirectory

    settings = _settings(drive, overrides, seed, time, warm_up, slices, threads, arrivals)
    _check_number("most", most, MULTIPLIER_MOST)
    _check_number("step", step, most)
    _check_number("jobs", jobs if jobs is not None else 1, MULTIPLIER_MOST)
    most = most // step * step
    watcher = _watcher(progress)
    trials: dict[int, Trial] = {}
    with ExitStack() as kept:
        there = kept.enter_context(opened(cluster))
        arguments = (settings, overwrites, snapshot, save_drive, force, watcher)
        start = kept.enter_context(_prepared(*arguments))
        folder = Path(kept.enter_context(TemporaryDirectory(prefix="flashscape-act-")))
        try:
            while batch := next_to_try(trials.values(), step=step, most=most):
                for trial in _round(settings, batch, start, folder, jobs, there, watcher):
                    trials[trial.multiplier] = trial
                    if watcher is not None:
                        watcher.tried(trial)
        except KeyboardInterrupt:
            # In a sweep's words or in no words at all.
            where = f"while searching, with {units.many(len(trials), 'multiplier')} tried"
            told = Interrupted(None, where)
            if trials:
                told.kept = _so_far(
                    Search(settings.as_dict(start), list(trials.values()), step, most)
                )
            raise told from None
        finally:
            if watcher is not None:
                watcher.over()
    return Search(settings.as_dict(start), [trials[k] for k in sorted(trials)], step, most)


def _so_far(found: Search) -> str:
    """Return the ratings that an interrupted search has found, as a clause."""

    def told(rating: hunt.Rating) -> str:
        return f"{rating.multiplier}x" if rating.multiplier else "none"

    saving = spelling.option("--save-drive", "save_drive=...")
    start = spelling.option("--snapshot", "snapshot=...")
    return (
        f"so far the highest that passes the performance test is {told(found.performance)}, the "
        f"stress test {told(found.stress)}; no figures are saved ({saving} saves the aged drive "
        f"for {start})"
    )


def next_to_try(trials: Any, *, step: int, most: int) -> list[int]:
    """Return the multipliers that a rating still depends on."""
    batch: set[int] = set()
    for test in ("passes_performance", "passes_stress"):
        tried = {trial.multiplier: getattr(trial, test) for trial in trials}
        batch.update(hunt.wanted(tried, step=step, most=most))
    return sorted(batch)


def _round(
    settings: _Settings,
    batch: list[int],
    start: Prepared,
    folder: Path,
    jobs: int | None,
    cluster: Where,
    watcher: SearchObserver | None,
) -> Iterator[Trial]:
    """Run some multipliers at a time, as the points of a sweep."""
    from flashscape.sweep import sweep

    experiments = [settings.experiment(multiplier) for multiplier in batch]
    base = {**experiments[0], "precondition": {"snapshot": str(start.file)}}
    variations = [
        {
            "name": f"{multiplier}x",
            "workload": each["workload"],
            "run.warm_up.time": each["run"]["warm_up"]["time"],
        }
        for multiplier, each in zip(batch, experiments, strict=True)
    ]
    swept = sweep(
        base,
        variations=variations,
        out=folder / "points",
        jobs=jobs,
        cluster=cluster,
        tables=True,
        share=False,
        progress=watcher.trying(batch) if watcher is not None else False,
        name=settings.source.label,
    )
    errors = dict(swept.failures)
    for number, multiplier in enumerate(batch, 1):
        why = errors.get(f"{multiplier}x")
        if why is not None:
            overloaded = settings.overloaded(why, multiplier)
            if overloaded is None:
                raise FlashscapeError(f"multiplier {multiplier}: {why}")
            yield overloaded
            continue
        trial = settings.judge(swept.result(number), multiplier)
        # Set the value explicitly: the base of the sweep is another multiplier.
        again = {**experiments[number - 1], "precondition": base["precondition"]}
        yield trial if trial.is_certain else _exact(trial, Experiment.from_dict(again), None)


def _exact(trial: Trial, experiment: Experiment, start: Prepared | None) -> Trial:
    """Count every request if the histogram cannot tell on which side of a limit a share is.

    The count takes the same run again with a log; about one run in a thousand needs it.
    """
    if trial.is_certain:
        return trial
    from tempfile import TemporaryDirectory

    import polars as pl

    snapshot = None if start is None else start.file
    with TemporaryDirectory(prefix="flashscape-act-") as folder:
        log = Path(folder) / "requests.parquet"
        run_once(experiment, snapshot=snapshot, requests=log)
        requests = read_requests(log)

        def count(initiator: str, threshold_ns: int) -> int:
            is_slow = (pl.col("initiator") == initiator) & (pl.col("latency_ns") > threshold_ns)
            return int(requests.select(is_slow.sum()).collect().item())

        return trial.counted(count)


@contextmanager
def _prepared(
    settings: _Settings,
    overwrites: float | None,
    snapshot: Snapshot | str | PathLike[str] | None,
    save_drive: str | PathLike[str] | None,
    force: bool,
    watcher: SearchObserver | None,
) -> Iterator[Prepared]:
    with prepared(
        settings.source,
        overwrites=overwrites,
        snapshot=snapshot,
        save_drive=save_drive,
        force=force,
        observer=Silent if watcher is None else watcher.ageing,
    ) as start:
        yield start


def _settings(
    drive: str | PathLike[str] | Mapping[str, Any] | Experiment,
    overrides: Overrides,
    seed: int | None,
    time: str | None,
    warm_up: str | None,
    slices: int,
    threads: int,
    arrivals: Arrivals,
) -> _Settings:
    """Check first the options that do not depend on the drive: those checks take no time."""
    time_ns = None if time is None else _span("time", time, 1)
    warm_up_ns = None if warm_up is None else _span("warm_up", warm_up, 0)
    _check_number("slices", slices, _SLICES_MOST)
    _check_number("threads", threads, MULTIPLIER_MOST)
    if arrivals not in (choices := get_args(load.Arrivals)):
        raise ConfigError(f"arrivals: no choice {arrivals!r} {listed(arrivals, choices)}")
    source = Source.of(drive, overrides, seed=seed)
    return _Settings(source, time_ns, warm_up_ns, slices, threads, arrivals)


def _span(name: str, text: str, least: int) -> int:
    try:
        ns = units.nanoseconds(text)
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from None
    if not least <= ns <= _TIME_MOST_NS:
        raise ConfigError(f'{name}: "{text}" is not a time from {least} ns to 365 d')
    return ns


def _check_number(name: str, number: int, most: int) -> None:
    if not isinstance(number, int) or not 1 <= number <= most:
        raise ConfigError(f"{name}={number!r}: is not a whole number from 1 to {most}")


def _watcher(progress: bool | SearchObserver) -> SearchObserver | None:
    if progress is True:
        from flashscape.act.progress import Watch

        return Watch()
    return progress or None
