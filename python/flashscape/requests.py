"""The log of requests that ``--requests`` writes: read lazily, as it may exceed the memory."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from flashscape import spelling
from flashscape._flashscape import states
from flashscape.arguments import checks_arguments
from flashscape.errors import OutputError
from flashscape.output import REQUESTS

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

FIGURES = (
    "initiator",
    "index",
    "kind",
    "offset_bytes",
    "length_bytes",
    "arrived_ns",
    "finished_ns",
    "latency_ns",
    "unmapped",
    "failed",
)
"""Columns of a log that are not states of blame."""


def how_to_log(of: str = "FILE") -> str:
    """Return how to run an experiment, or a result again, so that it keeps a log of requests."""
    return spelling.option(
        f"flashscape run {shlex.quote(of)} --out DIR --requests DIR/{REQUESTS}",
        f"flashscape.run({of!r}, out=..., requests=...)",
    )


@checks_arguments
def read_requests(path: str | PathLike[str], *, digest: str | None = None) -> pl.LazyFrame:
    """Return the requests in a file that ``--requests`` has written, in order of completion.

    A row for each counted request; the columns are described in docs/results.md. With
    ``digest`` the log must belong to the run with this digest. Raises OutputError if the
    file cannot be read or is no log of requests.
    """
    import polars

    path = Path(path)
    try:
        about = polars.read_parquet_metadata(path)
        frame = polars.scan_parquet(path)
        columns = frame.collect_schema().names()
    except (OSError, polars.exceptions.PolarsError) as error:
        raise OutputError(f"{path}: cannot be read: {error}") from error
    wanted = [*FIGURES, *(f"{name}_ns" for name, _ in states())]
    if lacking := [name for name in wanted if name not in columns]:
        raise OutputError(
            f"{path}: is not a log of requests of this version: it lacks the column {lacking[0]}"
        )
    if digest is not None and about.get("digest") != digest:
        raise OutputError(f"{path}: is the log of another run than the results beside it")
    return frame
