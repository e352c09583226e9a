"""The table ``reads`` of a point: arrival and latency of each counted read, in this order.

Its runs keep a log of requests, of which only this is stored: a few bytes for each read.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

READS = "reads"
"""Name of the table. Points have it if they are asked for it; it is none of a run's."""


@contextmanager
def log_for(tables: Sequence[str]) -> Iterator[Path | None]:
    """Provide the file of a log if the table is among these; None if it is not."""
    if READS not in tables:
        yield None
        return
    with TemporaryDirectory(prefix="flashscape-reads-") as folder:
        yield Path(folder) / "requests.parquet"


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
