"""Logs of requests of points, and the table ``reads``: arrival and latency of each counted read.

A point that is asked for ``requests`` keeps its whole log. For ``reads`` only this table of it is
stored: a few bytes for each read, in the order of their arrival.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from flashscape.output import REQUESTS, no_directory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

READS = "reads"
"""Name of the table. Points have it if they are asked for it; it is none of a run's."""

LOG = Path(REQUESTS).stem
"""Name of the log of requests among the tables that a point is asked for."""

OF_LOGS = (READS, LOG)
"""Names that are none of a run's tables."""


@contextmanager
def log_for(tables: Sequence[str], folder: Path) -> Iterator[Path | None]:
    """Provide the file of a log if one of these tables needs it; None if none does.

    A log that is kept is in the directory of the point's results at once, as it may be large.
    """
    if LOG in tables:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            log = folder / REQUESTS
            log.unlink(missing_ok=True)
        except OSError as error:
            raise no_directory(folder, error) from error
        yield log
        return
    if READS not in tables:
        yield None
        return
    with TemporaryDirectory(prefix="flashscape-reads-") as scratch:
        yield Path(scratch) / REQUESTS


def table_of(log: Path) -> bytes:
    """Return the table as a Parquet file."""
    import polars as pl

    buffer = io.BytesIO()
    of_log(pl.scan_parquet(log)).collect().write_parquet(buffer)
    return buffer.getvalue()


def of_log(requests: pl.LazyFrame, *beside: str) -> pl.LazyFrame:
    """Return the table of a log of requests, with further columns of the log before its own."""
    import polars as pl

    reads = requests.filter(pl.col("kind") == "read")
    columns = reads.select(*beside, "arrived_ns", "latency_ns")
    return columns.sort("arrived_ns", maintain_order=True)
