"""The directory of a sweep: finished points are kept one by one, under the hash of their inputs.

sweep.json             the points and what varies, as of the last start
sweep.parquet          all results, once a sweep has ended
sweep.svg              a picture, on demand
points/KEY/            a point: summary.json, with --tables its tables
points/KEY/failed.json the reason of its failure
points/KEY/partial/    results until the failure, if there are any
drives/                drives that points share, while a sweep runs
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import directories, output
from flashscape.errors import OutputError
from flashscape.locking import Lock, Taken
from flashscape.output import Directory, no_directory
from flashscape.result import Result
from flashscape.sweep import inputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from tempfile import TemporaryDirectory

    from flashscape.snapshot import Snapshot

MANIFEST = directories.SWEEP.document
TABLE = "sweep.parquet"
PICTURE = "sweep.svg"
POINTS = "points"
DRIVES = "drives"
FAILED = "failed.json"
PARTIAL = "partial"
_IS_NAME = re.compile(rf"[0-9a-f]{{{inputs.DIGITS}}}").fullmatch
"""Pattern of the names of points and drives: files with other names are never deleted."""

_MANIFEST = {"title": str, "paths": list, "told_by_name": list, "seeded": bool, "points": list}
"""Required keys of a manifest, with their types."""
_POINT = {
    "point": (int,),
    "name": (str,),
    "variation": (str, type(None)),
    "seed": (int, type(None)),
    "values": (dict,),
    "amounts": (dict,),
    "key": (str, type(None)),
    "fault": (str, type(None)),
}
"""Required keys of each of its points, with their types."""


class Done(NamedTuple):
    """Stored data of a finished point."""

    summary: dict[str, Any] | None
    error: str | None
    """Reason for which it has no results."""
    kind: str = ""
    """Type of the exception; empty if it is not known."""


class Store:
    """A directory of results of a sweep."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.points = folder / POINTS
        self.drives = folder / DRIVES

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open the results of a sweep; raise OutputError if there are none."""
        folder = Path(path)
        if folder.name in (MANIFEST, TABLE):
            folder = folder.parent
        if not (folder / MANIFEST).is_file():
            raise OutputError(
                f"{folder}: has no {MANIFEST}; "
                "name a directory that `flashscape sweep --out DIR` has written"
            )
        return cls(folder)

    @classmethod
    @contextlib.contextmanager
    def claim(cls, path: str | os.PathLike[str] | None) -> Iterator[Store]:
        """Claim a directory, new or of an earlier start, for this process alone.

        Without a path, the directory is temporary and lives as long as the process.
        Raises OutputError if it holds something else, cannot be written to, or
        another sweep uses it.
        """
        if path is None:
            path = _temporary()
        if not os.fspath(path):
            raise output.nameless()
        store = cls(Path(path))
        folder = store.folder
        made = [each for each in (folder, *folder.parents) if not each.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _refuse_foreign(folder)
            store.points.mkdir(exist_ok=True)
        except OSError as error:
            _take_away(made)
            raise no_directory(folder, error) from error
        lock = _locked(folder)
        try:
            store._tidy()
            yield store
        finally:
            store._drop_drives()
            lock.release()
            store._leave(made)

    def _leave(self, made: list[Path]) -> None:
        """Remove the directories that were made, if nothing was begun."""
        if not (self.folder / MANIFEST).exists():
            with contextlib.suppress(OSError):
                self.points.rmdir()
            _take_away(made)

    def _tidy(self) -> None:
        """Remove files of a sweep that was killed, and unfinished files of its workers."""
        self._drop_drives()
        for key in self.keys():
            folder = self.path_of(key)
            if not (folder / output.SUMMARY).exists() and not (folder / FAILED).exists():
                shutil.rmtree(folder, ignore_errors=True)

    def _drop_drives(self) -> None:
        """Remove the drives that points shared, finished or not."""
        for file in self.drives.glob("*.snap"):
            # An unfinished file is called .unfinished-PID-NAME.snap.
            if _IS_NAME(file.stem.rpartition("-")[2]):
                with contextlib.suppress(OSError):
                    file.unlink()
        with contextlib.suppress(OSError):
            self.drives.rmdir()

    def path_of(self, key: str) -> Path:
        """Return the directory of a point's results, which need not exist."""
        return self.points / key

    def beside(self, key: str) -> dict[str, str]:
        """Return further files that are stored with a point's results, with their contents."""
        return {}

    def drive_of(self, name: str) -> Path:
        """Return the file of a shared drive, which need not exist."""
        return self.drives / f"{name}.snap"

    def keys(self) -> set[str]:
        """Return the keys of all stored points."""
        return {
            each.name for each in self.points.iterdir() if _IS_NAME(each.name) and each.is_dir()
        }

    def has_tables(self, key: str, tables: Iterable[str]) -> bool:
        """Return True if a point is stored with these tables."""
        folder = self.path_of(key)
        return all((folder / f"{name}.parquet").exists() for name in tables)

    def partial(self, key: str) -> Result | None:
        """Return the results of a failed point until its failure; None if there are none."""
        with contextlib.suppress(OutputError):
            return Result.load(self.path_of(key) / PARTIAL)
        return None

    def done(self, key: str) -> Done | None:
        """Return the stored data of a point; None if they are missing or damaged."""
        folder = self.path_of(key)
        if (folder / output.SUMMARY).exists():
            with contextlib.suppress(OutputError):
                return Done(Result.load(folder).summary, None)
            return None
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            failed = json.loads((folder / FAILED).read_text(encoding="utf-8"))
            return Done(None, str(failed["error"]), str(failed.get("type", "")))
        return None

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of the last start; raise OutputError."""
        found = _manifest(self.folder / MANIFEST)
        lacking = [key for key in _MANIFEST if key not in found]
        lacking += [key for key in _POINT if any(key not in point for point in found["points"])]
        if lacking:
            raise OutputError(
                f"{self.folder / MANIFEST}: is of another version of flashscape "
                f"(it lacks {lacking[0]}); run the sweep again"
            )
        return found

    def write(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all, replacing an earlier one; raise OutputError."""
        Directory(self.folder).add(name, data)

    def remove(self, name: str) -> None:
        """Remove a file that an earlier start has written and this one has not."""
        with contextlib.suppress(OSError):
            (self.folder / name).unlink()


def keep(
    folder: Path,
    result: Result,
    tables: Sequence[str],
    beside: Sequence[tuple[str, bytes]] = (),
) -> None:
    """Store a point's results with these tables, whole or not at all; raise OutputError.

    ``beside`` has further files with their contents. A log of requests in the directory is the
    one of this result, and stays.
    """
    with Directory.claim(folder, force=True) as directory:
        if tables:
            result.write_to(directory, tables, beside, spared=(output.REQUESTS,))
        else:
            summary = (output.SUMMARY, _compact(result.summary))
            directory.store([*beside, summary], spared=(output.REQUESTS,))
        _forget_failure(directory)


def _forget_failure(directory: Directory) -> None:
    (directory.path / FAILED).unlink(missing_ok=True)
    shutil.rmtree(directory.path / PARTIAL, ignore_errors=True)


def keep_failure(
    folder: Path,
    error: str,
    kind: str = "",
    partial: Result | None = None,
    tables: Sequence[str] = (),
    beside: Sequence[tuple[str, bytes]] = (),
) -> None:
    """Store the reason of a point's failure, with results until then; raise OutputError.

    ``kind`` is the type of the exception: it may be the finding that a study expects. ``beside``
    has further files with their contents.
    """
    with Directory.claim(folder, force=True) as directory:
        if partial is not None:
            keep(directory.path / PARTIAL, partial, tables)
            log = directory.path / output.REQUESTS
            if log.exists():
                log.replace(directory.path / PARTIAL / output.REQUESTS)
        for name, data in beside:
            directory.add(name, data)
        directory.add(FAILED, _compact({"error": error, "type": kind}))


def packed(folder: Path) -> dict[str, bytes]:
    """Return the files of a point that was stored here, for :func:`keep_packed` elsewhere."""
    found = [each for each in folder.rglob("*") if each.is_file()]
    names = {each.relative_to(folder): each for each in found}
    return {
        name.as_posix(): file.read_bytes()
        for name, file in sorted(names.items())
        if not any(part.startswith(".") for part in name.parts)
    }


def keep_packed(folder: Path, files: Mapping[str, bytes]) -> None:
    """Store a point that was stored on another machine; raise OutputError."""
    with Directory.claim(folder, force=True) as directory:
        if output.SUMMARY in files:
            directory.store(sorted(files.items(), key=lambda file: file[0] == output.SUMMARY))
            _forget_failure(directory)
            return
        inner = f"{PARTIAL}/"
        partial = {n.removeprefix(inner): f for n, f in files.items() if n.startswith(inner)}
        if partial:
            keep_packed(directory.path / PARTIAL, partial)
        for name, data in sorted(files.items(), key=lambda file: file[0] == FAILED):
            if not name.startswith(inner):
                directory.add(name, data)


def keep_drive(file: Path, drive: Snapshot) -> None:
    """Save a drive that points share while the sweep runs; raise OutputError."""
    try:
        file.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{file.parent}: cannot be made: {error.strerror}") from error
    drive.save(file, force=True)


def forget_failures(store: Store, keys: Iterable[str]) -> None:
    """Remove the stored failures of points that are run again."""
    for key in keys:
        (store.path_of(key) / FAILED).unlink(missing_ok=True)


_kept: list[TemporaryDirectory[str]] = []
"""Temporary directories."""


def _temporary() -> str:
    """Make a temporary directory for results; it is deleted when the process ends."""
    from tempfile import TemporaryDirectory

    _kept.append(TemporaryDirectory(prefix="flashscape-sweep-"))
    return _kept[-1].name


def _compact(values: dict[str, Any]) -> bytes:
    return (json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _refuse_foreign(folder: Path) -> None:
    """Raise OutputError for a foreign directory: its files may have our names."""
    if (folder / MANIFEST).exists():
        _manifest(folder / MANIFEST)
        return
    # The lock is hidden, and so are unnamed files of a start that was killed at once.
    strange = [f for f in _named(folder) if f.name != POINTS]
    strange += [f for f in _named(folder / POINTS) if not _IS_NAME(f.name)]
    if strange:
        raise OutputError(
            f"{folder}: is not empty (it has {strange[0].relative_to(folder)}) and not of a "
            "sweep; choose another directory"
        )


def _named(folder: Path) -> list[Path]:
    """Return the entries of a directory that are not hidden; none if it does not exist."""
    if not folder.exists():
        return []
    return sorted(each for each in folder.iterdir() if not each.name.startswith("."))


def _manifest(file: Path) -> dict[str, Any]:
    """Read a manifest, of any version; raise OutputError if it is invalid or damaged."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _damaged(file, str(error)) from error
    if not isinstance(found, dict) or not {"paths", "points"} <= found.keys():
        raise OutputError(f"{file}: is not of a sweep; choose another directory")
    for key, kind in _MANIFEST.items():
        if key in found and not isinstance(found[key], kind):
            raise _damaged(file, f"{key} is no {kind.__name__}")
    for key in ("paths", "told_by_name"):
        if not all(isinstance(path, str) for path in found.get(key, ())):
            raise _damaged(file, f"{key} is no list of texts")
    for at, point in enumerate(found["points"]):
        if (fault := _fault_of(point, found["paths"])) is not None:
            raise _damaged(file, f"points[{at}]{fault}")
    return found


def _fault_of(point: Any, paths: list[str]) -> str | None:
    """Return the fault of a point of a manifest; None if there is none."""
    if not isinstance(point, dict):
        return " is no table"
    for key, kinds in _POINT.items():
        if key in point and not isinstance(point[key], kinds):
            return f".{key} is no {kinds[0].__name__}"
    for key in ("values", "amounts"):
        if lacking := [path for path in paths if path not in point.get(key, paths)]:
            return f".{key} lacks {lacking[0]}"
    name = point.get("key")
    return None if name is None or _IS_NAME(name) else ".key is no name of a point"


def _damaged(file: Path, why: str) -> OutputError:
    return OutputError(
        f"{file}: is damaged: {why}; to go on with what is in {file.parent / POINTS}, "
        "leave nothing else in the directory"
    )


def _take_away(made: list[Path]) -> None:
    for folder in made:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _locked(folder: Path) -> Lock:
    """Lock the directory; raise OutputError."""
    try:
        return Lock(folder)
    except Taken as taken:
        raise OutputError(
            f"{folder}: a sweep is at work in it ({taken.owner}); "
            "wait for its end, or choose another directory"
        ) from None
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written to: {error.strerror}") from error
