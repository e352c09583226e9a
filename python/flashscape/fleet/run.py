"""Running a fleet: its drives are points of a sweep, and their results are merged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashscape import spelling
from flashscape.arguments import checks_arguments
from flashscape.errors import ConfigError
from flashscape.fleet import reading, result
from flashscape.fleet.result import DOCUMENT, PICTURE, Fleet
from flashscape.sweep import Lines, SilentSweep, Store
from flashscape.sweep import reading as sweeps
from flashscape.sweep.executing import executing
from flashscape.sweep.observer import Begin
from flashscape.sweep.reads import READS
from flashscape.sweep.run import checked, manifest_of, run_points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from flashscape.cluster import Where
    from flashscape.experiment import Experiment, Overrides, Unchecked
    from flashscape.fleet.wanted import Wanted
    from flashscape.sweep import SweepObserver
    from flashscape.sweep.check import Points

    SlowAbove = Sequence[str | int] | str | int | None
    """Limits of slow reads: texts such as ``"1 ms"``, or nanoseconds."""

NUMBER = "clone.number"
OVERWRITES = "clone.overwrites"
_TABLES = ("latency", "series")
"""Tables of each drive that are merged."""


@checks_arguments(but=("age", "fanout", "slow_above"))
def fleet(
    base: Experiment | Mapping[str, Any] | str | PathLike[str],
    *,
    drives: int,
    age: tuple[float, float] | str | None = None,
    fanout: Sequence[int] | int | None = None,
    stages: int | None = None,
    queries: int | None = None,
    slow_above: SlowAbove = None,
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    cluster: Where = None,
    progress: bool | SweepObserver = False,
) -> Fleet:
    """Run drives that begin as the prepared drive of an experiment, and merge their results.

    Drive *i* is the experiment with ``clone.number`` = *i*: the common drive, bad blocks included,
    with random streams of its own. ``age`` has the least and the most further overwrites, as
    multiples of the filled space (``"0 %..25 %"``). An amount between them is drawn for each drive.

    ``fanout`` has numbers of reads. For each of them, ``queries`` (10,000) queries of ``stages``
    (1) stages are sampled, each stage as slow as the slowest of its reads. A query is slow if a
    read of it is above p99 of all reads; ``slow_above`` has further limits, such as ``"1 ms"``.

    ``out`` is a directory for the results, which keeps each drive as soon as it has ended; a second
    call does not run it again. ``jobs`` and ``cluster`` as in :func:`sweep`: they change no result.

    Raises ConfigError, OutputError, ClusterError, FlashscapeError if all drives fail, and on Ctrl-C
    SweepInterrupted; drives that have ended are kept.

    >>> fleet = fs.fleet("experiment.toml", drives=256, age="0 %..25 %", fanout=[1, 10, 100])
    ... # doctest: +SKIP
    >>> fleet.latency("read").p99_9, fleet.fanout.rows   # doctest: +SKIP
    """
    options = reading.Options(drives, age, fanout, stages, queries, slow_above)
    wanted = reading.of_values(base, options)
    return run_fleet(wanted, out=out, jobs=jobs, cluster=cluster, progress=progress)


@checks_arguments
def fleet_file(
    path: str | PathLike[str],
    *,
    overrides: Overrides = (),
    drives: int | None = None,
    age: tuple[float, float] | str | None = None,
    fanout: Sequence[int] | int | None = None,
    stages: int | None = None,
    queries: int | None = None,
    slow_above: SlowAbove = None,
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    cluster: Where = None,
    progress: bool | SweepObserver = False,
) -> Fleet:
    """Run the fleet that a TOML file describes, or that of an experiment; see :func:`fleet`.

    ``overrides`` change the experiment, and the other arguments the table ``[fleet]``.
    """
    options = reading.Options(drives, age, fanout, stages, queries, slow_above)
    wanted = reading.of_file(path, overrides, options)
    return run_fleet(wanted, out=out, jobs=jobs, cluster=cluster, progress=progress)


def run_fleet(
    wanted: Wanted,
    *,
    out: str | PathLike[str] | None,
    jobs: int | None,
    cluster: Where,
    progress: bool | SweepObserver,
) -> Fleet:
    """Run a fleet that was read."""
    if jobs is not None and jobs < 1:
        raise ConfigError(f"jobs={jobs}: a fleet needs at least one process")
    observer = Lines.on_stderr("drive") if progress is True else progress or SilentSweep()
    points = check(wanted, observer)
    with executing(cluster, jobs) as executor, Store.claim(out) as store:
        # They belong to an earlier start.
        for name in (DOCUMENT, PICTURE, result.DRIVES, result.LATENCY):
            store.remove(name)
        begin = Begin(store, points.points, points.available_bytes, executor=executor, share=True)
        swept = run_points(store, manifest_of(points), begin, observer)
        merged = Fleet.of(wanted, swept)
        merged.write_to(store)
    return merged


def check(wanted: Wanted, observer: SweepObserver) -> Points:
    """Check every drive; raise ConfigError."""
    _refuse_array(wanted.base)
    points = checked(_as_sweep(wanted), observer, skip_invalid=False)
    if wanted.queries is not None:
        _refuse_fanout(wanted, points)
    tables = (*_TABLES, *([] if wanted.queries is None else [READS]))
    points.points = [
        replace(point, name=f"drive {point.number}", tables=tables) for point in points.points
    ]
    return points


def _refuse_array(base: Unchecked) -> None:
    """Refuse an experiment of several drives; other faults are told with the drives."""
    try:
        config = base.checked().config
    except ConfigError:
        return
    if "array" in config:
        raise ConfigError(
            f"{base.source.file}: array: a fleet is of single drives, and this experiment joins "
            f"several; leave the table array out{spelling.option(' (--set array=none)', '')}"
        )


def _as_sweep(wanted: Wanted) -> sweeps.Reading:
    """Return the sweep whose points are the drives."""
    base = wanted.base
    if wanted.age is not None:
        base = base.over({OVERWRITES: wanted.age.as_dict()})
    numbers = list(range(1, wanted.drives + 1))
    tables = {"title": wanted.title, "grid": {NUMBER: numbers}}
    return sweeps.of_source(base, tables, wanted.file)


def _refuse_fanout(wanted: Wanted, points: Points) -> None:
    config = points.points[0].experiment.checked().config
    if config["run"].get("untimed", False):
        raise ConfigError(
            f"{wanted.file}: fanout: an untimed run (run.untimed) has no latencies; leave one of "
            "the two out"
        )
