"""Where results go: nothing is overwritten unasked, and a set of results is whole or not there."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from flashscape.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUMMARY = "summary.json"
PICTURE = "tail.svg"
COLUMNS = {
    "latency": {"initiator", "kind", "low_ns", "high_ns", "requests"},
    "blame": {"initiator", "kind", "state", "total_ns"},
    "bands": {"initiator", "kind", "low_ns", "high_ns", "requests"},
    "series": {"begin_ns", "end_ns"},
    "wear": {"block", "bin", "erases", "state"},
    "slowest": {"initiator", "kind", "latency_ns"},
}
"""Columns without which a file is not the table that it is named for."""
TABLES = tuple(COLUMNS)

_OURS = (SUMMARY, PICTURE, *(f"{name}.parquet" for name in TABLES))
"""The summary first: a set without it is none."""

_STAGING = ".unfinished-"


class Directory:
    """A directory for the results of one run; as a context, it goes where nothing was written."""

    def __init__(self, path: Path, made: tuple[Path, ...] = ()) -> None:
        self.path = path
        self._made = made
        self._staging = path / f"{_STAGING}{os.getpid()}"

    @classmethod
    def claim(cls, path: str | os.PathLike[str], *, force: bool) -> Directory:
        """Make the directory; raise OutputError where it holds anything or cannot be written to.

        With ``force`` it may hold anything, and results in it will be replaced.
        """
        if not os.fspath(path):
            raise OutputError("the directory for results has no name; write --out DIR (out=...)")
        folder = Path(path)
        missing = tuple(each for each in (folder, *folder.parents) if not each.exists())
        claimed = cls(folder, missing)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            in_use = next((f for f in folder.iterdir() if not _is_left(f)), None)
        except OSError as error:
            claimed.release()
            raise OutputError(f"{folder}: no directory for results: {error.strerror}") from error
        if in_use is not None and not force:
            raise OutputError(
                f"{folder}: is not empty (it has {in_use.name}); "
                "choose another directory, or overwrite with --force (force=True)"
            )
        # Found out before the simulation, not after it.
        try:
            with claimed._staged() as staging:
                (staging / SUMMARY).write_bytes(b"\n")
        except OSError as error:
            claimed.release()
            raise OutputError(f"{folder}: cannot be written to: {error.strerror}") from error
        return claimed

    def __enter__(self) -> Directory:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.release()

    def release(self) -> None:
        """Take away the directories that were made for results and are still empty."""
        for folder in self._made:
            with contextlib.suppress(OSError):
                folder.rmdir()

    def store(self, files: Iterable[tuple[str, bytes]]) -> None:
        """Put these files, the summary last, in the place of earlier results; raise OutputError.

        All are written before any earlier one goes: where the disk is full,
        what was there stays as it was.
        """
        name = ""
        try:
            with self._staged() as staging:
                names = []
                for name, data in files:
                    (staging / name).write_bytes(data)
                    names.append(name)
                try:
                    self._remove_ours()
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
        """A directory on the same disk, gone at the end with all that is in it."""
        for left in filter(_is_left, self.path.glob(f"{_STAGING}*")):
            shutil.rmtree(left, ignore_errors=True)
        try:
            self._staging.mkdir()
            yield self._staging
        finally:
            shutil.rmtree(self._staging, ignore_errors=True)

    def _remove_ours(self) -> None:
        for name in _OURS:
            (self.path / name).unlink(missing_ok=True)

    def _failed(self, name: str, error: OSError) -> OutputError:
        return OutputError(f"{self.path / name}: cannot be written: {error.strerror}")


def _is_left(file: Path) -> bool:
    """Whether this is what a run left behind that was killed while it wrote."""
    number = file.name.removeprefix(_STAGING)
    if not file.name.startswith(_STAGING) or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return int(number) == os.getpid()
