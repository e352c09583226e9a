"""Locks for directories and files that only one process at a time may use."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LOCK = ".lock"
"""Name of the lock file in a directory."""


WITHOUT_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
"""Errors of a file system that has no locks."""


class Taken(Exception):  # noqa: N818 - callers say what it means for them
    """Another process uses the directory or file."""

    def __init__(self, owner: str) -> None:
        super().__init__(owner)
        self.owner = owner
        """Owner, such as "process 123"; "another process" if it has not written its number yet."""


class Lock:
    """A lock on a directory, or on a name in it, which the system releases with the process."""

    def __init__(self, folder: Path, name: str = "") -> None:
        """Take the lock; raise Taken, or OSError if the directory cannot be written to."""
        import fcntl

        self._path = folder / (f"{LOCK}-{name}" if name else LOCK)
        while True:
            file = self._path.open("a+", encoding="ascii")
            try:
                # A lock belongs to the open file, so it also excludes threads of this process.
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                number = file.read().strip()
                file.close()
                raise Taken(f"process {number}" if number else "another process") from None
            except OSError as error:
                file.close()
                if error.errno in WITHOUT_LOCKS:
                    self._path.unlink()
                    told = "its file system cannot lock files; choose a directory on another one"
                    raise OSError(error.errno, told) from error
                raise
            if _is_still(self._path, file.fileno()):
                break
            # The previous owner removed the file between our opening and locking it.
            file.close()
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._file = file

    def release(self) -> None:
        """Remove the file and release the lock; do nothing if that was done."""
        if not self._file.closed:
            with contextlib.suppress(OSError):
                self._path.unlink()
            self._file.close()


def is_lock(name: str) -> bool:
    """Return True for the name of a lock file."""
    return name == LOCK or name.startswith(f"{LOCK}-")


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
