"""Output of results: nothing is overwritten unasked, and a set of results is whole or absent."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import directories, spelling
from flashscape.errors import OutputError
from flashscape.locking import Lock, Taken, is_lock

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

SUMMARY = directories.RUN.document
PICTURE = "tail.svg"
PARQUET = (".parquet", ".pq")
"""Suffixes of a log of requests."""
REQUESTS = "requests.parquet"
"""Name of the log of requests in a directory of results."""
COLUMNS = {
    "latency": {"initiator", "kind", "low_ns", "high_ns", "requests"},
    "blame": {"initiator", "kind", "state", "total_ns"},
    "bands": {"initiator", "kind", "low_ns", "high_ns", "requests"},
    "series": {"begin_ns", "end_ns"},
    "wear": {"block", "bin", "erases", "state"},
    "units": {"unit", "busy"},
    "slowest": {"initiator", "kind", "latency_ns"},
    "errors": {"errors", "host_first_decodes", "internal_first_decodes", "later_decodes"},
}
"""Required columns of each table's file."""
TABLES = tuple(COLUMNS)

ERRORS = "errors"
"""Table that only drives with bit errors have."""

OURS = (SUMMARY, PICTURE, REQUESTS, *(f"{name}.parquet" for name in TABLES))
"""All files of a directory of results; the summary first: a set without it is none."""

_STAGING = ".unfinished-"


def tables_of(config: dict[str, Any]) -> tuple[str, ...]:
    """Return the tables of a run of a configuration."""
    has_errors = config["drive"]["nand"].get("errors") is not None
    return tuple(name for name in TABLES if has_errors or name != ERRORS)


class Directory:
    """A directory for the results of one run; leaving the context removes it if it is empty."""

    def __init__(self, path: Path, made: tuple[Path, ...] = ()) -> None:
        self.path = path
        self._made = made
        self._lock: Lock | None = None
        """Lock from the claim to the release: no other process writes here."""
        self._staging = path / f"{_STAGING}{os.getpid()}"

    @classmethod
    def claim(cls, path: str | os.PathLike[str], *, force: bool) -> Directory:
        """Make the directory; raise OutputError if it is not empty or cannot be written to.

        With ``force`` it may hold anything, and results in it will be replaced, unless
        another process writes there.
        """
        if not os.fspath(path):
            raise nameless()
        folder = Path(path)
        missing = tuple(each for each in (folder, *folder.parents) if not each.exists())
        claimed = cls(folder, missing)
        try:
            claimed._make()
            claimed._check(force=force)
        except OutputError:
            claimed.release()
            raise
        return claimed

    def _make(self) -> None:
        """Make the directory and lock it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise no_directory(self.path, error) from error
        try:
            self._lock = Lock(self.path)
        except Taken as taken:
            raise OutputError(
                f"{self.path}: {taken.owner} writes its results there; choose another "
                "directory, or wait for its end"
            ) from None
        except OSError as error:
            raise self._unwritable(error) from error

    def _check(self, *, force: bool) -> None:
        """Check before the simulation that results can be written."""
        names = sorted(file.name for file in self.path.iterdir() if not _is_left(file))
        if (others := [name for name in names if not is_lock(name)]) and not force:
            option = spelling.option("--force", "force=True")
            raise OutputError(
                f"{self.path}: is not empty (it has {others[0]}); "
                f"choose another directory, or overwrite with {option}"
            )
        try:
            with self._staged() as staging:
                (staging / SUMMARY).write_bytes(b"\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(f"{self.path}: cannot be written to: {error.strerror}")

    def __enter__(self) -> Directory:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.release()

    def release(self) -> None:
        """Release the lock, and remove directories that were made and are still empty."""
        if self._lock is not None:
            self._lock.release()
        for folder in self._made:
            with contextlib.suppress(OSError):
                folder.rmdir()

    def store(self, files: Iterable[tuple[str, bytes]], spared: Collection[str] = ()) -> None:
        """Replace earlier results by these files, the summary last; raise OutputError.

        All files are written before an earlier one is removed: if the disk is full,
        the earlier results stay unchanged. Files with the names ``spared`` stay.
        """
        name = ""
        try:
            with self._staged() as staging:
                names = []
                for name, data in files:
                    (staging / name).write_bytes(data)
                    names.append(name)
                try:
                    self._remove_ours(spared)
                    for name in names:
                        (staging / name).replace(self.path / name)
                except OSError:
                    with contextlib.suppress(OSError):
                        self._remove_ours()
                    raise
        except OSError as error:
            raise self._failed(name, error) from error

    def add(self, name: str, data: bytes) -> None:
        """Add a file, whole or not at all; raise OutputError."""
        try:
            with self._staged() as staging:
                (staging / name).write_bytes(data)
                (staging / name).replace(self.path / name)
        except OSError as error:
            raise self._failed(name, error) from error

    @contextlib.contextmanager
    def _staged(self) -> Iterator[Path]:
        """Provide a directory on the same disk, removed at the end with its contents."""
        for left in filter(_is_left, self.path.glob(f"{_STAGING}*")):
            shutil.rmtree(left, ignore_errors=True)
        try:
            self._staging.mkdir()
            yield self._staging
        finally:
            shutil.rmtree(self._staging, ignore_errors=True)

    def _remove_ours(self, spared: Collection[str] = ()) -> None:
        for name in OURS:
            if name not in spared:
                (self.path / name).unlink(missing_ok=True)

    def _failed(self, name: str, error: OSError) -> OutputError:
        return OutputError(f"{self.path / name}: cannot be written: {error.strerror}")


class File:
    """A file that appears whole or not at all; leaving the context removes an unfinished one."""

    def __init__(self, path: Path, *, may_replace: bool = False) -> None:
        self.path = path
        self._may_replace = may_replace
        self._lock: Lock | None = None
        """Lock from the claim to the release: no other process writes this file."""
        self.staging = path.parent / f"{_STAGING}{os.getpid()}-{path.name}"
        """Path of the unfinished file, on the same disk."""

    @classmethod
    def claim(cls, path: str | os.PathLike[str], option: str, *, force: bool) -> File:
        """Check that the file can be written; raise OutputError if it cannot, or exists.

        ``option`` names it in errors, as commands have it: ``--save-drive``. With ``force`` it
        replaces an earlier file, unless another process writes that.
        """
        if not os.fspath(path):
            write = spelling.option(f"{option} FILE", f"{_in_python(option)}=...")
            raise OutputError(f"the file has no name; write {write}")
        file = cls(Path(path), may_replace=force)
        if file.path.is_dir():
            told = spelling.option(option, _in_python(option))
            raise OutputError(f"{path}: is a directory; {told} takes the name of a file")
        if (dangling := _dangling(file.path)) is not None:
            raise dangling
        if file.path.exists() and not force:
            raise OutputError(
                f"{path}: is there already; choose another name, or overwrite it with "
                f"{spelling.option('--force', 'force=True')}"
            )
        try:
            file._lock = Lock(file.path.parent, file.path.name)
            file._remove_left()
            file.staging.write_bytes(b"\n")
        except Taken as taken:
            if taken.owner == f"process {os.getpid()}":
                raise OutputError(
                    f"{path}: is the name of something else that is written, too (this process "
                    "writes this file already)"
                ) from None
            raise OutputError(
                f"{path}: {taken.owner} writes this file; choose another name, or wait for its end"
            ) from None
        except OSError as error:
            file.release()
            raise file.failed(error) from error
        return file

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.release()

    def release(self) -> None:
        """Remove the unfinished file, and release the lock."""
        with contextlib.suppress(OSError):
            self.staging.unlink()
        if self._lock is not None:
            self._lock.release()

    def keep(self) -> None:
        """Move the finished file to its place; raise OutputError.

        If another program has made a file there since the claim, that is left alone, and this one
        is kept beside it.
        """
        try:
            if self._may_replace:
                self.staging.replace(self.path)
            else:
                self._keep_new()
        except OutputError:
            raise
        except OSError as error:
            raise self.failed(error) from error
        self._may_replace = True

    def _keep_new(self) -> None:
        """Move the finished file to its place, where none may be."""
        try:
            os.link(self.staging, self.path)
        except FileExistsError:
            place = self.path.with_name(f"{self.path.stem}-{os.getpid()}{self.path.suffix}")
            self.staging.replace(place)
            raise OutputError(
                f"{self.path}: was made by another program in the meantime, and is left as it is; "
                f"the file is kept as {place}"
            ) from None
        except OSError:
            # The disk has no links.
            self.staging.replace(self.path)

    def store(self, data: bytes) -> None:
        """Write the whole file; raise OutputError."""
        try:
            self.staging.write_bytes(data)
        except OSError as error:
            raise self.failed(error) from error
        self.keep()

    def failed(self, error: OSError) -> OutputError:
        """Return the error for a file that cannot be written."""
        reason = os.strerror(error.errno) if error.errno else str(error)
        return OutputError(f"{self.path}: cannot be written: {reason}")

    def _remove_left(self) -> None:
        for left in self.path.parent.glob(f"{_STAGING}*"):
            if left.name.endswith(f"-{self.path.name}") and _is_left(left):
                left.unlink(missing_ok=True)


def _in_python(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


def nameless() -> OutputError:
    """Return the error for a directory of results without a name."""
    write = spelling.option("--out DIR", "out=...")
    return OutputError(f"the directory for results has no name; write {write}")


def no_directory(folder: Path, error: OSError) -> OutputError:
    """Return the error for a directory of results that cannot be made or listed."""
    if isinstance(error, OutputError):
        return error
    for each in (folder, *folder.parents):
        if (dangling := _dangling(each)) is not None:
            return dangling
        if each.exists() and not each.is_dir():
            return OutputError(f"{each}: is a file, and results go to a directory")
    return OutputError(
        f"{folder}: results cannot be saved there ({error.strerror}); choose another directory"
    )


def _dangling(path: Path) -> OutputError | None:
    """Return the error for a link that leads nowhere; None for anything else."""
    if path.is_symlink() and not path.exists():
        return OutputError(f"{path}: is a link to {path.readlink()}, which is not there")
    return None


def remove(folder: Path, names: Iterable[str]) -> None:
    """Remove these files from a directory, and the directory itself if it is then empty."""
    with contextlib.suppress(OSError):
        for name in names:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def must_differ(directory: Directory | None, log: File | None, others: Iterable[File]) -> None:
    """Refuse files that would overwrite each other; raise OutputError.

    Only the log of requests may be inside the directory, by its own name.
    """
    names = () if directory is None else [directory.path / name for name in OURS]
    taken = {path.resolve() for path in names if log is None or path.name != REQUESTS}
    for file in (*(() if log is None else (log,)), *others):
        if file.path.resolve() in taken:
            raise OutputError(f"{file.path}: is the name of something else that is written, too")
        taken.add(file.path.resolve())
    reserved = {path.resolve() for path in names if path.name == REQUESTS}
    for file in others:
        if file.path.resolve() in reserved:
            raise OutputError(f"{file.path}: is the name of the log of requests; choose another")


def refuse_inputs(
    targets: Iterable[str | os.PathLike[str] | None], inputs: Iterable[str | os.PathLike[str]]
) -> None:
    """Refuse to overwrite inputs, even with ``force``; raise OutputError.

    For a directory of results, every file that it may hold counts as written.
    """
    read = [Path(each) for each in inputs]
    for target in (Path(each) for each in targets if each is not None and os.fspath(each)):
        places = [target / name for name in OURS] if target.is_dir() else [target]
        for place in filter(Path.exists, places):
            if any(each.exists() and place.samefile(each) for each in read):
                raise OutputError(f"{place}: is read by this very command; choose another name")


def refuse_other_format(log: str | os.PathLike[str]) -> None:
    """Refuse a log of requests whose name promises another format; raise OutputError."""
    file = Path(log)
    if file.suffix and file.suffix.lower() not in PARQUET:
        name = file.with_suffix(PARQUET[0])
        as_csv = spelling.option(
            "", f'; as CSV, later: flashscape.read_requests("{name}").sink_csv("{log}")'
        )
        raise OutputError(
            f"{log}: requests are written as Parquet, whatever the name says; call it {name}"
            f"{as_csv}"
        )


def _is_left(file: Path) -> bool:
    """Return True for the unfinished file of a run that was killed while it wrote."""
    number, _, _ = file.name.removeprefix(_STAGING).partition("-")
    if not file.name.startswith(_STAGING) or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return int(number) == os.getpid()
