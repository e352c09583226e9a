"""The counted reads of a run, or of a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.errors import OutputError
from flashscape.sweep import READS

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

_COLUMNS = {"arrived_ns", "latency_ns"}


class StoredReads:
    """The reads of a drive, in its directory: they are read again each time."""

    def __init__(self, folder: Path) -> None:
        self._file = file_of(folder)

    def frame(self) -> pl.DataFrame:
        """Return arrival and latency of each counted read."""
        import polars as pl

        try:
            found = pl.read_parquet(self._file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise OutputError(f"{self._file}: cannot be read: {error}") from error
        if lacking := _COLUMNS - set(found.columns):
            raise OutputError(
                f"{self._file}: is no table of reads: it lacks the column {min(lacking)}"
            )
        return found


class HeldReads:
    """The reads of a part of a run, in memory: 16 bytes for each."""

    def __init__(self, reads: pl.DataFrame) -> None:
        self._reads = reads

    def frame(self) -> pl.DataFrame:
        """Return arrival and latency of each counted read."""
        return self._reads


def file_of(folder: Path) -> Path:
    """Return the file of the table of reads of a run."""
    return folder / f"{READS}.parquet"
