"""The drive under test, from a preset, a file or a table: filled and aged as the tool does it.

The tool writes the whole device twice by rising address; then its own large writes at random
addresses bring the drive to its steady state. Here the sequential fill takes no simulated time,
and the large writes are issued as fast as the drive accepts them. ``precondition.age`` cannot
replace them: it overwrites single units, but 128 KiB that were written together lie together
on flash, and that makes large reads fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import spelling
from flashscape.act import load
from flashscape.catalogue import presets
from flashscape.errors import ConfigError, Interrupted
from flashscape.experiment import Experiment, Unchecked
from flashscape.near import listed
from flashscape.output import File, refuse_inputs
from flashscape.run import run
from flashscape.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashscape.experiment import Overrides
    from flashscape.result import Result
    from flashscape.run import Observer

OVERWRITES = 1.0
"""Overwrites of the drive before the test. On a drive that was filled by rising address, garbage
collection of the presets is steady after half of that (docs/act.md)."""

_IDLE = {"name": "act", "reads": "100 %", "stop": {"requests": 1}}
"""The placeholder workload of an experiment that is only checked, never run."""

_OVERWRITES_MOST = 1000.0
_DEPTH = 32
"""Outstanding writes while the drive is aged: enough to keep its dies busy."""


@dataclass(frozen=True)
class Source:
    """A drive, and the figures that follow from it."""

    label: str
    """Name of the drive: a preset or a file, and the keys that were changed."""
    drive: dict[str, Any]
    """Its complete ``[drive]`` table."""
    seed: int
    exported_bytes: int
    cycle_bytes: int
    """Bytes that a host writes in a cycle of garbage collection."""
    files: tuple[str, ...]
    """Files that were read for it."""

    @classmethod
    def of(
        cls,
        drive: str | PathLike[str] | Mapping[str, Any] | Experiment,
        overrides: Overrides = (),
        *,
        seed: int | None = None,
    ) -> Source:
        """Read a drive from a preset, a table, a file or an experiment; raise ConfigError.

        ``drive`` is a preset's name, a table as under ``[drive]``, or an experiment or its
        file, of which the drive and the seed are taken. ``overrides`` are paths that begin
        with ``drive``.
        """
        pairs = _refuse_others(overrides)
        label = "the drive"
        if isinstance(drive, (str, PathLike)):
            label = fspath(drive)
        if isinstance(drive, str) and drive in presets():
            checked = _of_table({"preset": drive}, pairs, drive)
        elif isinstance(drive, (str, PathLike)):
            checked = _of_file(drive, pairs)
        elif isinstance(drive, Experiment):
            # Other processes would not find a function of this process.
            Unchecked.of(drive)
            checked, label = drive.replace(pairs), drive.title
        else:
            checked = _of_table(dict(drive), pairs, "drive")
        if pairs:
            each = dict(pairs).items()
            label += " with " + ", ".join(f"{path} = {value}" for path, value in each)
        return cls._checked(checked, label, seed)

    @classmethod
    def _checked(cls, experiment: Experiment, label: str, seed: int | None) -> Source:
        config, derived = experiment.config, experiment.derived
        if "array" in config:
            raise ConfigError(f"{label}: act tests one drive; leave the table array out")
        if config["drive"]["ftl"].get("sets") is not None:
            raise _of_sets(label)
        load.large_blocks(derived)
        return cls(
            label=label,
            drive=config["drive"],
            seed=config["seed"] if seed is None else seed,
            exported_bytes=derived["capacity"]["exported_bytes"],
            cycle_bytes=load.cycle_bytes(derived),
            files=tuple(experiment.files),
        )


def _of_table(table: dict[str, Any], overrides: Any, name: str) -> Experiment:
    try:
        return Experiment.from_dict({"drive": table, "workload": [_IDLE]}, overrides, name=name)
    except ConfigError as error:
        # The placeholder names no set: only a drive with sets asks for one.
        if any(problem.path == "workload[0].nvm_set" for problem in error.problems):
            raise _of_sets(name) from error
        raise


def _of_sets(label: str) -> ConfigError:
    return ConfigError(
        f"{label}: drive.ftl.sets: act tests a whole drive, and its streams name no NVM set; leave "
        "drive.ftl.sets out, and nvm_set of the workloads of a file"
    )


def _of_file(path: str | PathLike[str], overrides: Any) -> Experiment:
    name = fspath(path)
    if isinstance(path, str) and not Path(name).suffix and not Path(name).exists():
        raise ConfigError(f"{name}: is neither a preset {listed(name, presets())} nor a file")
    return Experiment.from_file(path, overrides)


def _refuse_others(overrides: Overrides) -> Any:
    """Refuse overrides outside of ``drive`` and ``seed``: act sets the rest itself."""
    pairs = overrides.items() if isinstance(overrides, Mapping) else overrides
    for path, _ in pairs:
        if path != "seed" and str(path).split(".")[0] != "drive":
            raise ConfigError(
                f"{path}: act brings its own workload, run and preconditioning; "
                "what can be set is drive.… and seed"
            )
    return overrides


@dataclass(frozen=True)
class Prepared:
    """A drive that is ready: a snapshot file that any number of runs start from."""

    file: Path
    overwrites: float | None
    """Overwrites of the drive; None for a snapshot that was given."""
    write_amplification: float | None
    """Write amplification in the last quarter of the overwriting; None without overwriting."""


@contextmanager
def prepared(
    source: Source,
    *,
    overwrites: float | None,
    snapshot: Snapshot | str | PathLike[str] | None,
    save_drive: str | PathLike[str] | None,
    force: bool,
    observer: Callable[[], Observer],
) -> Iterator[Prepared]:
    """Fill and age the drive, or use a given snapshot; remove a temporary file on exit.

    ``observer`` is called after all checks, just before the drive is filled.

    Raises ConfigError, OutputError, SnapshotError, SpaceError, and Interrupted.
    """
    from tempfile import TemporaryDirectory

    times = OVERWRITES if overwrites is None else overwrites
    if not 0 <= times <= _OVERWRITES_MOST:
        raise ConfigError(f"overwrites: {times:g}: a drive is overwritten 0 to 1000 times")
    if snapshot is not None and (overwrites is not None or save_drive is not None):
        saving = spelling.option("--save-drive", "save_drive")
        what = saving if overwrites is None else spelling.option("--overwrites", "overwrites")
        raise ConfigError(f"{what}: the drive of a snapshot is taken as it is; leave one out")
    with ExitStack() as kept:
        if isinstance(snapshot, (str, PathLike)):
            place = Path(snapshot).absolute()
            _check_snapshot(source, place)
            yield Prepared(place, None, None)
            return
        file = None
        if save_drive is not None:
            refuse_inputs((save_drive,), source.files)
            file = kept.enter_context(File.claim(save_drive, "--save-drive", force=force))
        folder = Path(kept.enter_context(TemporaryDirectory(prefix="flashscape-act-")))
        place = folder / "drive.snap"
        if snapshot is not None:
            snapshot.save(place)
            _check_snapshot(source, place)
            yield Prepared(place, None, None)
            return
        amplification = _age(source, times, place, observer())
        if file is not None:
            Snapshot.load(place).write_to(file)
        yield Prepared(place, times, amplification)


def _check_snapshot(source: Source, place: Path) -> None:
    """Check at once that the drive can be started from a file."""
    tables = {
        "drive": source.drive,
        "precondition": {"snapshot": str(place)},
        "workload": [_IDLE],
    }
    Experiment.from_dict(tables, name=source.label).check_snapshot()


def _age(source: Source, overwrites: float, place: Path, observer: Observer) -> float | None:
    """Fill the drive, overwrite it and save it; return its write amplification at the end."""
    blocks = source.exported_bytes // load.LARGE_BYTES
    count = max(1, round(blocks * overwrites))
    writes = {
        "name": "ageing",
        "reads": "0 %",
        "size": f"{load.LARGE_BYTES} B",
        "region": {"size": f"{blocks * load.LARGE_BYTES} B"},
        "queue_depth": _DEPTH,
        "stop": {"requests": count},
    }
    experiment = Experiment.from_dict(
        {
            "title": f"Filling and ageing {source.label}",
            "seed": source.seed,
            "drive": source.drive,
            "precondition": {"fill": "sequential"},
            "workload": [writes],
            "record": {"slowest": 0},
        },
        name=source.label,
    )
    if not overwrites:
        try:
            Snapshot.take(experiment, ongoing=observer.preconditioning).save(place)
        finally:
            observer.ended()
        return None
    try:
        result = run(experiment, save_drive=place, progress=observer)
    except Interrupted:
        # The measured figures of the ageing are not a result.
        raise Interrupted(None, "while filling and ageing the drive") from None
    return _latest_amplification(result)


def _latest_amplification(result: Result) -> float | None:
    """Return units programmed per unit written by hosts, over the last quarter of a run."""
    series = result.series
    last = series.tail(max(1, len(series) // 4))

    def programmed(source: str) -> int:
        return int(last[f"{source}_units_programmed"].sum())

    host = programmed("host")
    sources = ("gc", "padding", "scrub", "summary", "parity", "rebuild")
    others = sum(programmed(each) for each in sources)
    return (host + others) / host if host else None
