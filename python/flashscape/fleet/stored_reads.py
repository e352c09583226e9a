"""The counted reads of a run whose directory has the table of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.errors import OutputError
from flashscape.sweep import READS

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


class StoredReads:
    """The reads of a drive, in its directory."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / f"{READS}.parquet"

    def frame(self) -> pl.DataFrame:
        """Return arrival and latency of each counted read."""
        import polars as pl

        try:
            return pl.read_parquet(self._file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise OutputError(f"{self._file}: cannot be read: {error}") from error
