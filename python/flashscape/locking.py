"""Directories that one process at a time works in."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LOCK = ".lock"
"""The file of a directory that is locked while somebody works there."""


class Taken(Exception):  # noqa: N818 - callers say what it means for them
    """Somebody else works in the directory."""

    def __init__(self, owner: str) -> None:
        super().__init__(owner)
        self.owner = owner
        """Such as "process 123"; "another process" if it has not said yet who it is."""


class Lock:
    """A lock on a directory. The system lets go of it when the process ends, in whatever way."""

    def __init__(self, folder: Path) -> None:
        """Take the lock; raise Taken, or OSError if the directory cannot be written to."""
        import fcntl

        self._path = folder / LOCK
        while True:
            file = self._path.open("a+", encoding="ascii")
            try:
                # A lock belongs to what was opened: threads of a process keep each other out, too.
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                number = file.read().strip()
                file.close()
                raise Taken(f"process {number}" if number else "another process") from None
            except OSError:
                file.close()
                raise
            if _is_still(self._path, file.fileno()):
                break
            # The one before has taken the file away between opening and locking it.
            file.close()
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._file = file

    def release(self) -> None:
        """Take the file away and let others in; nothing if that has happened."""
        if not self._file.closed:
            with contextlib.suppress(OSError):
                self._path.unlink()
            self._file.close()


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
