"""The directory of a reproduction.

reproduction.json   what --json writes, and of which study, profile and version
report.md, .html    all of it to read
claims.csv          the claims, their verdicts and reasons; claims.parquet the same
EXHIBIT/            its plots (PNG, SVG, their curves as CSV) and tables (Parquet, CSV)
experiments/        every run as a file that `flashscape run` takes
runs/               results, run by run: a sweep's directory
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import directories
from flashscape.errors import OutputError
from flashscape.output import Directory, nameless, no_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from flashscape.reproduce.study import Study

MANIFEST = directories.REPRODUCTION.document
RUNS = "runs"
EXPERIMENTS = "experiments"


class Place:
    """The directory that keeps a reproduction; files appear whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    @contextlib.contextmanager
    def claim(cls, path: str | os.PathLike[str], study: Study) -> Iterator[Place]:
        """Claim a directory, new or of an earlier start; raise OutputError for a foreign one."""
        if not os.fspath(path):
            raise nameless()
        folder = Path(path)
        made = [each for each in (folder, *folder.parents) if not each.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _refuse_foreign(folder, study)
        except OSError as error:
            raise no_directory(folder, error) from error
        try:
            yield cls(folder)
        finally:
            for each in made:
                with contextlib.suppress(OSError):
                    each.rmdir()

    def write(self, name: str, data: bytes, below: str = "") -> None:
        """Write a file, replacing an earlier one; raise OutputError."""
        folder = self.folder / below if below else self.folder
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be made: {error.strerror}") from error
        Directory(folder).add(name, data)

    def write_frame(self, name: str, frame: pl.DataFrame, below: str = "") -> None:
        """Write a table as Parquet and as CSV; raise OutputError."""
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        self.write(f"{name}.parquet", buffer.getvalue(), below)
        self.write(f"{name}.csv", frame.write_csv().encode(), below)

    def write_manifest(self, values: dict[str, Any]) -> None:
        """Write the study and the progress of the directory; raise OutputError."""
        text = json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False)
        self.write(MANIFEST, f"{text}\n".encode())


def _refuse_foreign(folder: Path, study: Study) -> None:
    """Raise OutputError for a foreign directory: its files may have our names."""
    strange = sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))
    if MANIFEST not in strange:
        if strange:
            raise OutputError(
                f"{folder}: is not empty (it has {strange[0]}) and not of a reproduction; "
                "choose another directory"
            )
        return
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        other = found["study"]
        # Reproductions of earlier versions lack this key.
        is_own = found.get("folder", study.folder) is not None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(f"{folder / MANIFEST}: is damaged; choose another directory") from error
    if other != study.name:
        raise OutputError(f"{folder}: is of {other}, not of {study.name}; choose another directory")
    if is_own != (study.folder is not None):
        kinds = ("the study that ships", "a folder's own study")
        raise OutputError(
            f"{folder}: is of {kinds[is_own]} {other}, not of {kinds[not is_own]}; choose another "
            "directory"
        )
