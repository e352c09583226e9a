"""Running a sweep: all points are checked, then the missing ones are run."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import signals
from flashscape.arguments import checks_arguments
from flashscape.errors import ClusterError, ConfigError, OutputError
from flashscape.sweep import reading
from flashscape.sweep.check import Points, refuse
from flashscape.sweep.executing import executing
from flashscape.sweep.executor import Work
from flashscape.sweep.observer import Begin, SilentSweep
from flashscape.sweep.result import Sweep, SweepInterrupted
from flashscape.sweep.store import MANIFEST, Store, forget_failures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from flashscape.cluster import Where
    from flashscape.experiment import Experiment, Overrides
    from flashscape.sweep.design import Design
    from flashscape.sweep.executor import Ended, Prepared
    from flashscape.sweep.observer import SweepObserver
    from flashscape.sweep.point import Point
    from flashscape.sweep.reading import Reading


@checks_arguments(but=("grid", "zipped", "variations", "seeds"))
def sweep(
    base: Experiment | Mapping[str, Any] | str | PathLike[str],
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    zipped: Sequence[Mapping[str, Sequence[Any]]] = (),
    variations: Sequence[Mapping[str, Any]] | Mapping[str, Mapping[str, Any]] = (),
    seeds: int | Sequence[int] | None = None,
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    cluster: Where = None,
    tables: bool = False,
    skip_invalid: bool = False,
    retry_failed: bool = False,
    share: bool = True,
    progress: bool | SweepObserver = False,
    name: str = "sweep",
) -> Sweep:
    """Run variations of an experiment over the cores, and return their results.

    ``grid`` has a list of values for each dotted path, and all values are combined;
    each entry of ``zipped`` has lists that go together; each of ``variations`` is a
    table of paths and values with a ``name``, or a mapping of names to such tables.
    ``seeds`` is the number of runs of each combination, or a list of seeds. A file
    of this shape is run by :func:`sweep_file`.

    ``out`` is a directory that keeps results point by point, so that a second
    call does not repeat finished points; without it results are kept until the end
    of the process. ``jobs`` is the number of parallel processes (by default, of
    cores). ``cluster`` is the address of a Dask scheduler (``tcp://HOST:8786``), a file for a
    batch system, or an open :class:`Cluster`: its workers run the points, at most ``jobs`` at
    a time, with the same results. ``tables`` keeps every table of each point. ``skip_invalid``
    records points that are impossible instead of refusing the sweep. ``retry_failed`` runs
    points again that failed before. With ``share=False`` every point fills and ages its own
    drive, instead of sharing one with points that do it alike: results are the same.
    ``name`` is the name of the sweep in errors.

    A point that fails does not end the sweep: look at ``failures`` of the result.
    Raises ConfigError with the faults of all points, OutputError, ClusterError, and on
    Ctrl-C SweepInterrupted; finished points are kept.

    >>> swept = fs.sweep(
    ...     "experiment.toml",
    ...     grid={"workload[0].queue_depth": [1, 4, 16]},
    ...     seeds=3,
    ... )  # doctest: +SKIP
    >>> swept.frame.select("workload[0].queue_depth", "kind", "p99_ns")  # doctest: +SKIP
    """
    tables_of_it: dict[str, Any] = {}
    if grid is not None:
        tables_of_it["grid"] = grid
    if zipped:
        tables_of_it["zip"] = zipped
    if variations:
        tables_of_it["variation"] = _named(variations)
    if seeds is not None:
        tables_of_it["seeds"] = seeds
    return run_sweep(
        reading.of_tables(base, tables_of_it, name),
        out=out,
        jobs=jobs,
        cluster=cluster,
        tables=tables,
        skip_invalid=skip_invalid,
        retry_failed=retry_failed,
        share=share,
        progress=progress,
    )


def _named(
    variations: Sequence[Mapping[str, Any]] | Mapping[str, Mapping[str, Any]],
) -> Any:
    """Convert variations to a file's form; other values are refused when that is read."""
    if not isinstance(variations, Mapping):
        return variations
    named = []
    for name, settings in variations.items():
        if not isinstance(settings, Mapping):
            raise ConfigError(f"variations: {name}: {settings!r} is no table of paths and values")
        if "name" in settings:
            raise ConfigError(f"variations: {name}: has another name, {settings['name']!r}")
        named.append({"name": name, **settings})
    return named


@checks_arguments
def sweep_file(
    path: str | PathLike[str],
    *,
    overrides: Overrides = (),
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    cluster: Where = None,
    tables: bool = False,
    skip_invalid: bool = False,
    retry_failed: bool = False,
    share: bool = True,
    progress: bool | SweepObserver = False,
) -> Sweep:
    """Run the sweep that a TOML file describes; for the other options see :func:`sweep`.

    ``overrides`` change the base of all points.
    """
    return run_sweep(
        reading.of_file(path, overrides),
        out=out,
        jobs=jobs,
        cluster=cluster,
        tables=tables,
        skip_invalid=skip_invalid,
        retry_failed=retry_failed,
        share=share,
        progress=progress,
    )


def run_sweep(
    read: Reading,
    *,
    out: str | PathLike[str] | None,
    jobs: int | None,
    cluster: Where,
    tables: bool,
    skip_invalid: bool,
    retry_failed: bool,
    share: bool,
    progress: bool | SweepObserver,
) -> Sweep:
    """Check a sweep that was read, and run it."""
    if jobs is not None and jobs < 1:
        raise ConfigError(f"jobs={jobs}: a sweep needs at least one process")
    observer = _observer(progress)
    points = checked(read, observer, skip_invalid=skip_invalid, tables=tables)
    with executing(cluster, jobs) as executor, Store.claim(out) as store:
        if retry_failed:
            _forget_failures(store, points)
        available = points.available_bytes
        begin = Begin(store, points.points, available, executor=executor, share=share)
        return run_points(store, manifest_of(points), begin, observer)


def checked(
    read: Reading,
    observer: SweepObserver,
    *,
    skip_invalid: bool,
    tables: bool = False,
) -> Points:
    """Check every point; raise ConfigError with all faults of the file and of the points."""
    if read.design is None:
        refuse(read, None)
        raise AssertionError("what could not be read has a fault")
    points = Points(read.design, tables=tables)
    with _ending(observer):
        points.check(observer.checking)
    if read.problems or not skip_invalid or len(points.invalid) == len(points.points):
        refuse(read, points)
    return points


@contextmanager
def _ending(observer: SweepObserver) -> Iterator[None]:
    """Remove the observer's output from the terminal if a check fails."""
    try:
        yield
    except BaseException:
        observer.over()
        raise


def run_points(
    store: Store, manifest: dict[str, Any], begin: Begin, observer: SweepObserver
) -> Sweep:
    """Run the missing points of a manifest; raise SweepInterrupted."""
    begin.fit()
    store.write(MANIFEST, _as_bytes(manifest))
    ended = run_missing(store, begin, observer)
    return _result(store, manifest, ended.errors, interrupted=ended.interrupted)


class AllEnded(NamedTuple):
    """The end of all points that were run."""

    errors: dict[str, str]
    """Errors of points, by key."""
    kinds: dict[str, str]
    """Types of the exceptions, by key, as far as known."""
    interrupted: bool


def run_missing(store: Store, begin: Begin, observer: SweepObserver) -> AllEnded:
    """Run the points that are not in the store; raise OutputError and ClusterError."""
    desk = _Desk(observer)
    interrupted = False
    try:
        if begin.to_run:
            # Processes start while the terminal is prepared.
            work = Work(begin.agenda(), store, desk)
            begin.executor.run(work, begin.jobs, before=lambda: observer.begins(begin))
        else:
            observer.begins(begin)
    except KeyboardInterrupt:
        interrupted = True
    except (OutputError, ClusterError) as error:
        raise type(error)(
            f"{error}; what has ended is kept, and the same command goes on"
        ) from error
    finally:
        observer.over()
    return AllEnded(desk.errors, desk.kinds, interrupted)


def _result(
    store: Store, manifest: dict[str, Any], errors: dict[str, str], *, interrupted: bool
) -> Sweep:
    for point in manifest["points"]:
        # An error that may not occur again is not stored as the point's result.
        point["error"] = errors.get(point["key"])
    with signals.deferred():
        store.write(MANIFEST, _as_bytes(manifest))
        swept = Sweep(store, manifest)
        swept.write()
    if interrupted:
        raise SweepInterrupted(swept)
    return swept


class _Desk:
    """Watches the pool, forwards events, and remembers the errors."""

    def __init__(self, observer: SweepObserver) -> None:
        self._observer = observer
        self.errors: dict[str, str] = {}
        self.kinds: dict[str, str] = {}

    def ended(self, ended: Ended) -> None:
        if ended.error is not None:
            self.errors[str(ended.point.key)] = ended.error
            self.kinds[str(ended.point.key)] = ended.kind
        self._observer.ended(ended)

    def prepared(self, prepared: Prepared) -> None:
        self._observer.prepared(prepared)

    def tick(self, shares: dict[int, float]) -> None:
        self._observer.tick(shares)

    def idle(self) -> None:
        """Import polars while a core is free: the table at the end needs it."""
        # An interrupted import would leave the module half imported.
        with signals.deferred():
            import polars  # noqa: F401


def manifest_of(points: Points) -> dict[str, Any]:
    """Return the manifest of a sweep that begins."""
    design: Design = points.design
    return {
        "title": points.title,
        "file": design.file,
        "paths": list(design.paths),
        "told_by_name": sorted(design.told_by_name),
        "seeded": design.is_seeded,
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "points": listed(points.points),
    }


def listed(points: Sequence[Point]) -> list[dict[str, Any]]:
    """Return points as entries of a manifest."""
    return [
        {
            "point": point.number,
            "name": point.name,
            "variation": point.variation,
            "seed": point.seed,
            "values": point.values,
            "amounts": point.amounts,
            "key": point.key,
            "fault": point.fault,
        }
        for point in points
    ]


def _as_bytes(manifest: dict[str, Any]) -> bytes:
    return (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode()


def _forget_failures(store: Store, points: Points) -> None:
    keys = [point.key for point in points.points if point.key is not None]
    failed = [key for key in keys if (done := store.done(key)) and done.error is not None]
    forget_failures(store, failed)


def _observer(progress: bool | SweepObserver) -> SweepObserver:
    if progress is True:
        from flashscape.sweep.progress import Lines

        return Lines.on_stderr()
    return progress or SilentSweep()
