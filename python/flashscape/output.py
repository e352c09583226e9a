"""Where results go: nothing is overwritten unasked, and no file is left half written."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from flashscape.errors import OutputError

SUMMARY = "summary.json"
PICTURE = "tail.svg"
TABLES = ("latency", "blame", "series", "wear", "slowest")


class Directory:
    """A directory for the results of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def claim(cls, path: str | os.PathLike[str], *, force: bool) -> Directory:
        """Make the directory; raise OutputError where it holds anything.

        With ``force`` it may, and files of the same names will be replaced.
        """
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            in_use = next(folder.iterdir(), None)
        except OSError as error:
            raise OutputError(f"{folder}: no directory for results: {error.strerror}") from error
        if in_use is not None and not force:
            raise OutputError(
                f"{folder}: is not empty (it has {in_use.name}); "
                "choose another directory, or overwrite with --force (force=True)"
            )
        return cls(folder)

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all; raise OutputError."""
        part = self.path / f".{name}.{os.getpid()}.part"
        try:
            part.write_bytes(data)
            part.replace(self.path / name)
        except OSError as error:
            message = f"{self.path / name}: cannot be written: {error.strerror}"
            raise OutputError(message) from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
