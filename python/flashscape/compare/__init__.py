"""Comparison of runs: differences with confidence, and a winner only if significant."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import output
from flashscape.compare import analysis, wanted
from flashscape.compare.comparison import DOCUMENT, PICTURE, Comparison
from flashscape.compare.contrast import Contrast
from flashscape.compare.side import Side
from flashscape.errors import ConfigError, Interrupted, StarvationError
from flashscape.experiment import Experiment
from flashscape.latency import KINDS
from flashscape.result import Result
from flashscape.run import Observer, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    Given = Experiment | Result | Mapping[str, Any] | str | PathLike[str]

__all__ = ["Comparison", "Contrast", "Side", "compare", "inputs"]

_LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def compare(
    a: Given,
    b: Given,
    *others: Given,
    names: Sequence[str] | None = None,
    seeds: int = 1,
    alpha: float = 0.05,
    percentiles: str | Iterable[float | str] | None = None,
    figures: Sequence[str] = (),
    out: str | PathLike[str] | None = None,
    force: bool = False,
    progress: bool | Observer = False,
    announce: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare ``b``, and each of the others, with ``a``, under the same arrivals.

    Each is an experiment, which is run, or the results of an earlier run: a
    :class:`Result` or its directory. With ``seeds`` every experiment is run so
    often, from its own seed on, and runs are paired by their seeds. ``alpha`` is the
    chance, over all figures together, of calling any difference significant by
    mistake. ``percentiles`` are those that are compared, such as ``(50, 99.9)``; by default
    p50, p90, p99, p99.9 and on. ``figures`` names those that the verdict is about, such as
    ``["host.read.p99_99"]`` or ``["drive.erases"]``; by default all of hosts. ``names`` are
    what reports and pictures call the sides; by default the titles of experiments and the
    directories of results. ``out`` keeps all results and the comparison
    (:func:`flashscape.plot` draws them). ``announce`` is told before each run which one it is.

    A run that ends by starvation is compared all the same; no winner is named beside it.

    Raises what else :func:`flashscape.run` raises, ConfigError for sides that cannot be
    compared, and on Ctrl-C Interrupted, whose ``kept`` says which runs ``out`` has then.
    """
    given = [side_of(each) for each in (a, b, *others)]
    return compare_sides(
        _names(names, given),
        given,
        is_named=names is not None,
        seeds=seeds,
        alpha=alpha,
        percentiles=percentiles,
        figures=figures,
        out=out,
        force=force,
        progress=progress,
        announce=announce,
    )


def compare_sides(
    named: Sequence[str],
    given: Sequence[Experiment | Result],
    *,
    is_named: bool,
    seeds: int,
    alpha: float,
    percentiles: str | Iterable[float | str] | None,
    figures: Sequence[str],
    out: str | PathLike[str] | None,
    force: bool,
    progress: bool | Observer,
    announce: Callable[[str], None] | None,
) -> Comparison:
    """Compare the other sides with the first; for the other options see :func:`compare`.

    With ``is_named`` reports call the sides by their names instead of A, B, ….
    """
    # Importing takes 20 ms, which other commands need not wait for.
    import tempfile

    _check(given, seeds, alpha)
    looked = wanted.of(percentiles, figures, _groups(given))
    if out is not None:
        output.refuse_inputs(_targets(Path(out), given), inputs(given))
    with ExitStack() as kept:
        directory = None
        if out is not None:
            directory = kept.enter_context(output.Directory.claim(out, force=force))
        # Without a directory for results, logs are kept until they are compared.
        scratch = Path(out or kept.enter_context(tempfile.TemporaryDirectory("-flashscape")))
        tasks = _Tasks(scratch, directory is not None, seeds, force, progress, announce, set(), [])
        try:
            sides = [
                tasks.side(_LABELS[at], named[at], each, len(given), is_named=is_named)
                for at, each in enumerate(given)
            ]
            comparison = Comparison(sides, tasks.contrasts(sides, alpha, looked), alpha)
            if directory is not None:
                comparison.write_to(directory)
        except Interrupted:
            raise
        except KeyboardInterrupt:
            # The interruption came between two runs, or during the comparison of results.
            raise tasks.interrupted("outside of its runs") from None
        if directory is None:
            for side in sides:
                for result in side.results:
                    _let_go(result, scratch)
    return comparison


def side_of(given: Given) -> Experiment | Result:
    if isinstance(given, (Experiment, Result)):
        return given
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        path = Path(given)
        if path.is_dir() or path.name == output.SUMMARY:
            return Result.load(path)
    return Experiment.of(given)


def _name(side: Experiment | Result) -> str:
    """Return the title of an experiment; the directory of earlier results, which is unique."""
    if isinstance(side, Experiment):
        return side.title
    return str(side.summary["title"] if side.folder is None else side.folder)


def _names(names: Sequence[str] | None, given: Sequence[Experiment | Result]) -> list[str]:
    if names is None:
        return [_name(each) for each in given]
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"names: {names!r} is not a list of texts")
    if len(names) != len(given):
        raise ConfigError(f"names: {len(names)} for {len(given)} sides; give one to each")
    if double := [name for name in names if list(names).count(name) > 1]:
        raise ConfigError(
            f"names: {double[0]!r} is given twice, and would not tell the sides apart"
        )
    return list(names)


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
    return wanted.Groups(tuple(names), tuple(kinds), has_traces)


def _check(given: Sequence[Experiment | Result], seeds: int, alpha: float) -> None:
    if len(given) > len(_LABELS):
        raise ConfigError(f"{len(given)} sides: at most {len(_LABELS)} can be compared")
    without = [_is_untimed(each) for each in given]
    if any(without) and not all(without):
        raise ConfigError(
            f"{_LABELS[without.index(True)]} takes no time (run.untimed) and "
            f"{_LABELS[without.index(False)]} does: latencies and rates of one have nothing to be "
            "compared with; set run.untimed alike in all"
        )
    if seeds < 1:
        raise ConfigError(f"seeds: {seeds} is none; give 1 or more")
    if not 0 < alpha < 1:
        raise ConfigError(f"alpha: {alpha} is not between 0 and 1")
    if seeds > 1 and any(isinstance(each, Result) for each in given):
        raise ConfigError(
            "seeds: results of an earlier run cannot be repeated; name experiment files"
        )
    for at, each in enumerate(given):
        if isinstance(each, Result) and not each.untimed and not each.groups():
            raise ConfigError(f"{_LABELS[at]} ({_name(each)}): has no counted requests")
        last = _first_seed(each) + seeds - 1
        if last >= 2**64:
            raise ConfigError(
                f"{_LABELS[at]} ({_name(each)}): {seeds} seeds from {_first_seed(each)} on do not "
                "fit 64 bits"
            )


def _is_untimed(side: Experiment | Result) -> bool:
    if isinstance(side, Result):
        return side.untimed
    return bool(side.config["run"].get("untimed", False))


def _first_seed(side: Experiment | Result) -> int:
    config = side.config if isinstance(side, Experiment) else side.summary["config"]
    return int(config.get("seed", 1))


class _Tasks(NamedTuple):
    """Settings and state that all runs of a comparison share."""

    folder: Path
    is_kept: bool
    seeds: int
    force: bool
    progress: bool | Observer
    announce: Callable[[str], None] | None
    heard: set[str]
    """Announcements about traces that were made already; they are not repeated."""
    ended: list[Path]
    """Directories of the runs that have ended."""

    def side(
        self, label: str, name: str, given: Experiment | Result, sides: int, *, is_named: bool
    ) -> Side:
        if isinstance(given, Result):
            place = None if given.folder is None else str(given.folder.absolute())
            return Side(label, name, (_first_seed(given),), [given], (place,), is_named)
        if is_named:
            given = given.replace({"title": name})
        seeds = tuple(_first_seed(given) + more for more in range(self.seeds))
        results: list[Result] = []
        folders: list[str | None] = []
        for at, seed in enumerate(seeds):
            told = label if self.seeds == 1 else f"{label}, seed {seed}"
            if self.announce is not None:
                number = _LABELS.index(label) * self.seeds + at + 1
                self.announce(f"run {number} of {sides * self.seeds}: {told} ({name})")
            place = label if self.seeds == 1 else f"{label}/seed-{seed}"
            results.append(self._run(place, given, seed, told))
            folders.append(place if self.is_kept else None)
        return Side(label, name, seeds, results, tuple(folders), is_named)

    def _run(self, place: str, experiment: Experiment, seed: int, told: str) -> Result:
        if seed != experiment.config.get("seed", 1):
            experiment = experiment.replace(seed=seed)
        folder = self.folder / place
        if not self.is_kept:
            folder.mkdir(parents=True, exist_ok=True)
        log = folder / output.REQUESTS
        try:
            result = run(
                experiment,
                out=folder if self.is_kept else None,
                requests=log,
                force=self.force,
                progress=self._observer(),
            )
        except Interrupted as interrupted:
            raise self._interrupted(folder, told, interrupted) from None
        except StarvationError as error:
            if not isinstance(error.result, Result):
                raise
            # A starved run is a result, which keeps either side from being named the winner.
            result = error.result
        self.ended.append(folder)
        self._has_results(folder)
        if not result.untimed and not result.groups():
            raise ConfigError(f"{told}: no request was counted, so there is nothing to compare")
        return result

    def _has_results(self, folder: Path) -> None:
        """Mark the directory as this comparison's when the first results are in it."""
        if self.is_kept and self.ended in ([], [folder]):
            _clear(self.folder, folder)

    def _interrupted(self, folder: Path, told: str, interrupted: Interrupted) -> Interrupted:
        """Return the interruption of a run, with the runs that are kept so far."""
        where = f"in {told}, {interrupted.where}".strip(", ")
        if interrupted.result is None:
            return self.interrupted(where)
        self._has_results(folder)
        is_part = not interrupted.result.complete
        return self.interrupted(where, f"{folder} ({'in part' if is_part else 'complete'})")

    def interrupted(self, where: str, *more: str) -> Interrupted:
        """Return an interruption that names the runs kept so far, and ``more``."""
        passed_on = Interrupted(None, where)
        kept = [*map(str, self.ended), *more]
        if self.is_kept and kept:
            passed_on.kept = (
                f"nothing is compared; results are kept in {', '.join(kept)}; "
                "--force begins anew in the same directory"
            )
        return passed_on

    def contrasts(self, sides: list[Side], alpha: float, looked: wanted.Wanted) -> list[Contrast]:
        """Analyse the results; the observer is called with the share done."""
        observer = self._observer()
        comparing = getattr(observer, "comparing", None)
        if self.announce is not None and any(run.log for side in sides for run in side.results):
            # The logs may be large.
            self.announce("comparing the requests")
        try:
            return analysis.contrasts(sides, alpha, looked, comparing or _say_nothing)
        finally:
            if comparing is not None:
                comparing(1.0)
                observer.ended()  # type: ignore[union-attr]

    def _observer(self) -> bool | Observer:
        if self.progress is not True:
            return self.progress
        from flashscape.progress import Bar

        heard, is_kept = self.heard, self.is_kept

        class Once(Bar):
            def saving(self, complete: bool) -> None:
                if is_kept:
                    super().saving(complete)

            def surveyed(self, announcement: str) -> None:
                if announcement not in heard:
                    heard.add(announcement)
                    super().surveyed(announcement)

        return Once()


def _say_nothing(_share: float) -> None:
    """Ignore the share done."""


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
    return [*mine, *_runs(folder)] if runs else mine


def _runs(folder: Path) -> list[Path]:
    """Return the directories of runs inside a comparison's own directory."""
    sides = [folder / label for label in _LABELS]
    return [each for side in sides for each in (*side.glob("seed-*"), side) if each.is_dir()]


def _clear(folder: Path, kept: Path) -> None:
    """Remove the files of an earlier comparison from the directory, except ``kept``."""
    output.remove(folder, (DOCUMENT, PICTURE))
    for each in _runs(folder):
        if each != kept:
            output.remove(each, output.OURS)


def _let_go(result: Result, scratch: Path) -> None:
    """Forget a log that is about to be deleted."""
    if result.log is not None and scratch in result.log.parents:
        result.log = None
