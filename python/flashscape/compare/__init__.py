"""Comparison of runs: differences with confidence, and a winner only if significant."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from flashscape import output
from flashscape.again import config_of, is_result
from flashscape.arguments import checks_arguments
from flashscape.compare import analysis, effects, wanted
from flashscape.compare.comparison import DOCUMENT, PICTURE, Comparison
from flashscape.compare.contrast import Contrast
from flashscape.compare.place import LABELS, Places, runs_in
from flashscape.compare.runs import Planned, Runs
from flashscape.compare.side import Side
from flashscape.errors import ConfigError
from flashscape.experiment import Experiment
from flashscape.latency import KINDS
from flashscape.result import Result
from flashscape.sides import checked_names
from flashscape.sweep import Lines, SilentSweep, executing
from flashscape.together import ALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from flashscape.cluster import Where
    from flashscape.sweep import SweepObserver

    SideOrPath = Experiment | Result | Mapping[str, Any] | str | PathLike[str]

__all__ = ["Comparison", "Contrast", "Side", "compare", "inputs"]

Pairs = Literal["all", "first"]


class Options(NamedTuple):
    """What is compared, and how."""

    seeds: int = 1
    alpha: float = 0.05
    least: str | float = effects.LEAST
    pairs: Pairs = "all"
    percentiles: str | Iterable[float | str] | None = None
    figures: Sequence[str] = ()


@checks_arguments
def compare(
    a: SideOrPath,
    b: SideOrPath,
    *others: SideOrPath,
    names: Sequence[str] | None = None,
    seeds: int = 1,
    alpha: float = 0.05,
    least: str | float = effects.LEAST,
    pairs: Pairs = "all",
    percentiles: str | Iterable[float | str] | None = None,
    figures: Sequence[str] = (),
    out: str | PathLike[str] | None = None,
    force: bool = False,
    jobs: int | None = None,
    cluster: Where = None,
    progress: bool | SweepObserver = False,
) -> Comparison:
    """Compare runs in pairs, if possible under the same arrivals.

    Each is an experiment, which is run, or the results of an earlier run: a
    :class:`Result` or its directory. With ``seeds`` every experiment is run so
    often, from its own seed on, and runs are paired by their seeds; results are then run again.
    ``pairs="first"`` compares the others with ``a`` alone, and not with each other. ``alpha`` is
    the chance, over all figures together, of calling any difference significant by mistake. A
    difference below ``least``, a share of the figure such as ``"1 %"`` or 0.01, makes no side
    better. ``percentiles`` are those that are compared, such as ``(50, 99.9)``; by default
    p50, p90, p99, p99.9 and on. ``figures`` names those that the verdict is about, such as
    ``["host.read.p99_99"]`` or ``["drive.erases"]``; by default all of hosts. ``names`` are what
    reports and pictures call the sides; by default A, B and so on.

    ``out`` keeps all results and the comparison (:func:`flashscape.plot` draws them). A second
    call does not repeat runs that have ended. ``jobs`` and ``cluster`` as in
    :func:`flashscape.sweep`: they change no result.

    A run that ends by starvation is compared all the same; no winner is named beside it.

    Raises what else :func:`flashscape.run` raises, ConfigError for sides that cannot be
    compared, ClusterError, and on Ctrl-C Interrupted; with ``out`` ended runs are kept.
    """
    given = [side_of(each, again=seeds > 1) for each in (a, b, *others)]
    return compare_sides(
        [_name(each) for each in given] if names is None else checked_names(names, len(given)),
        given,
        Options(seeds, alpha, least, pairs, percentiles, figures),
        is_named=names is not None,
        out=out,
        force=force,
        jobs=jobs,
        cluster=cluster,
        progress=progress,
    )


def compare_sides(
    named: Sequence[str],
    given: Sequence[Experiment | Result],
    options: Options,
    *,
    is_named: bool,
    out: str | PathLike[str] | None,
    force: bool,
    jobs: int | None,
    cluster: Where,
    progress: bool | SweepObserver,
) -> Comparison:
    """Compare sides in pairs; for the other options see :func:`compare`.

    With ``is_named`` reports call the sides by their names instead of A, B, ….
    """
    _check(given, options, jobs)
    rules = analysis.Rules(
        wanted.of(options.percentiles, options.figures, _groups(given)),
        options.alpha,
        effects.least(options.least),
        options.pairs == "all",
    )
    if out is not None:
        output.refuse_inputs(_targets(Path(out), given), inputs(given))
    observer = Lines.on_stderr("run") if progress is True else progress or SilentSweep()
    titles = named if is_named else (None,) * len(given)
    planned = [
        _planned(label, each, title, options.seeds)
        for label, each, title in zip(LABELS, given, titles, strict=False)
    ]
    runs = Runs([run for each in planned for run in each], progress is True)
    is_kept = out is not None
    with ExitStack() as kept:
        executor = kept.enter_context(executing(cluster, jobs))
        store = kept.enter_context(_place(out, runs.places, force=force))
        try:
            results = iter(runs.all(store, executor, observer))
            sides = [
                _side(_About(label, name, is_named), each, of_side, results, is_kept=is_kept)
                for label, name, each, of_side in zip(LABELS, named, given, planned, strict=False)
            ]
            with _telling(sides, shown=progress is True) as tell:
                contrasts = analysis.contrasts(sides, rules, tell)
            comparison = Comparison(sides, contrasts, rules.alpha, rules.least)
            if is_kept:
                _keep(comparison, store, force=force)
            else:
                _detach(sides, store)
        except KeyboardInterrupt:
            raise runs.interrupted(store, is_kept=is_kept) from None
    return comparison


def _keep(comparison: Comparison, store: Places, *, force: bool) -> None:
    """Write a comparison beside its runs; with ``force`` other runs are removed."""
    if force:
        store.remove_others()
    store.write(DOCUMENT, comparison.to_json().encode())
    store.remove(PICTURE)


def _detach(sides: Sequence[Side], store: Places) -> None:
    """Read the results whose directory is about to be deleted."""
    for result in (run for side in sides for run in side.results):
        if result.folder is not None and store.folder in result.folder.parents:
            result.detach()


def side_of(given: SideOrPath, *, again: bool) -> Experiment | Result:
    """Return a side; with ``again`` the results of an earlier run become its experiment."""
    if isinstance(given, Result):
        return repeated(given) if again else given
    if isinstance(given, Experiment):
        return given
    if not again and (isinstance(given, str) or hasattr(given, "__fspath__")):
        path = Path(given)
        if is_result(path):
            return Result.load(path)
    return Experiment.of(given)


def repeated(result: Result) -> Experiment:
    """Return the experiment of an earlier run; raise ConfigError if its results do not have it."""
    name = str(result.folder or result.summary["title"] or "a result")
    return Experiment.from_dict(config_of(result.summary, name, snapshot_given=False), name=name)


def _name(side: Experiment | Result) -> str:
    """Return the title of an experiment; the directory of earlier results, which is unique."""
    if isinstance(side, Experiment):
        return side.title
    return str(side.summary["title"] if side.folder is None else side.folder)


def _groups(given: Sequence[Experiment | Result]) -> wanted.Groups:
    """Return the initiators and kinds that may have figures, as far as known before the runs."""
    names: dict[str, None] = {}
    kinds: dict[str, None] = {}
    has_traces = False
    for each in given:
        if isinstance(each, Result):
            groups = each.groups()
            names |= dict.fromkeys(name for name, _, _ in groups)
            kinds |= dict.fromkeys(kind for _, kind, _ in groups)
        else:
            workloads = each.config["workload"]
            names |= dict.fromkeys(workload["name"] for workload in workloads)
            kinds |= dict.fromkeys(KINDS)
            has_traces |= any("trace" in workload for workload in workloads)
    if len(names) > 1 or has_traces:
        # The devices of a trace may be initiators.
        names[ALL] = None
    return wanted.Groups(tuple(names), tuple(kinds), has_traces)


def _check(given: Sequence[Experiment | Result], options: Options, jobs: int | None) -> None:
    seeds, alpha = options.seeds, options.alpha
    if len(given) > len(LABELS):
        raise ConfigError(f"{len(given)} sides: at most {len(LABELS)} can be compared")
    if jobs is not None and jobs < 1:
        raise ConfigError(f"jobs: {jobs} is none; give 1 or more")
    without = [_is_untimed(each) for each in given]
    if any(without) and not all(without):
        raise ConfigError(
            f"{LABELS[without.index(True)]} takes no time (run.untimed) and "
            f"{LABELS[without.index(False)]} does: latencies and rates of one have nothing to be "
            "compared with; set run.untimed alike in all"
        )
    if seeds < 1:
        raise ConfigError(f"seeds: {seeds} is none; give 1 or more")
    if not 0 < alpha < 1:
        raise ConfigError(f"alpha: {alpha} is not between 0 and 1")
    for at, each in enumerate(given):
        if isinstance(each, Result) and not each.untimed and not each.groups():
            raise ConfigError(f"{LABELS[at]} ({_name(each)}): has no counted requests")
        last = _first_seed(each) + seeds - 1
        if last >= 2**64:
            raise ConfigError(
                f"{LABELS[at]} ({_name(each)}): {seeds} seeds from {_first_seed(each)} on do not "
                "fit 64 bits"
            )


def _is_untimed(side: Experiment | Result) -> bool:
    if isinstance(side, Result):
        return side.untimed
    return bool(side.config["run"].get("untimed", False))


def _first_seed(side: Experiment | Result) -> int:
    config = side.config if isinstance(side, Experiment) else side.summary["config"]
    return int(config.get("seed", 1))


class _About(NamedTuple):
    """What a side is called."""

    label: str
    name: str
    is_named: bool


def _planned(
    label: str, given: Experiment | Result, title: str | None, seeds: int
) -> list[Planned]:
    """Return the runs of a side; none for the results of an earlier run."""
    if isinstance(given, Result):
        return []
    told = title or label
    if title is not None:
        given = given.replace({"title": title})
    if seeds == 1:
        return [Planned(label, told, given)]
    first = _first_seed(given)
    return [
        Planned(f"{label}/seed-{seed}", f"{told}, seed {seed}", given.replace({"seed": seed}))
        for seed in range(first, first + seeds)
    ]


@contextmanager
def _place(
    out: str | PathLike[str] | None, places: Mapping[str, str], *, force: bool
) -> Iterator[Places]:
    """Provide the directory of the runs; without a name they are kept until they are compared."""
    # Importing takes 20 ms, which other commands need not wait for.
    from tempfile import TemporaryDirectory

    with ExitStack() as kept:
        if out is None:
            out = kept.enter_context(TemporaryDirectory(prefix="flashscape-compare-"))
        yield kept.enter_context(Places.at(out, places, force=force))


def _side(
    about: _About,
    given: Experiment | Result,
    planned: Sequence[Planned],
    results: Iterator[Result],
    *,
    is_kept: bool,
) -> Side:
    """Return a side; its runs are the next of the results."""
    label, name, is_named = about
    if isinstance(given, Result):
        place = None if given.folder is None else str(given.folder.absolute())
        return Side(label, name, (_first_seed(given),), [given], (place,), is_named)
    own = [next(results) for _ in planned]
    seeds = tuple(int(result.summary["config"].get("seed", 1)) for result in own)
    folders = tuple(each.place if is_kept else None for each in planned)
    return Side(label, name, seeds, own, folders, is_named)


@contextmanager
def _telling(sides: Sequence[Side], *, shown: bool) -> Iterator[Callable[[float], None]]:
    """Provide the function that is called with the share of the comparison that is done."""
    # Logs may be large.
    if not shown or not any(run.log for side in sides for run in side.results):
        yield lambda _share: None
        return
    from flashscape.progress import Bar

    bar = Bar()
    try:
        yield bar.comparing
    finally:
        bar.comparing(1.0)
        bar.ended()


def inputs(given: Sequence[Experiment | Result]) -> list[str | Path]:
    """Return all files that a comparison reads."""
    read: list[str | Path] = []
    for each in given:
        if isinstance(each, Experiment):
            read += each.files
        elif each.folder is not None:
            read += [each.folder / name for name in output.OURS]
    return read


def _targets(folder: Path, given: Sequence[Experiment | Result]) -> list[Path]:
    """Return all paths that a comparison may write to or remove."""
    mine = [folder / DOCUMENT, folder / PICTURE]
    runs = any(isinstance(each, Experiment) for each in given)
    return [*mine, *runs_in(folder)] if runs else mine
