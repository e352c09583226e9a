"""Results of a run: the summary as a dictionary, everything else as tables."""

from __future__ import annotations

import contextlib
import io
import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import drawing, output, spelling, stored
from flashscape._flashscape import __version__
from flashscape.arguments import checks_arguments
from flashscape.errors import ConfigError, OutputError
from flashscape.frames import to_pandas
from flashscape.measured import Measured
from flashscape.near import listed
from flashscape.requests import how_to_log, read_requests

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from os import PathLike

    import polars as pl
    from matplotlib.figure import Figure

    from flashscape._flashscape import Table

_KEYS = (
    "title",
    "complete",
    "simulated_ns",
    "counted_ns",
    "host_cpu_seconds",
    "digest",
    "mean_outstanding",
    "flash",
    "write_amplification",
    "wear",
    "utilisation",
    "steady_state",
    "precondition",
    "notes",
    "config",
)
"""Keys of a summary that reports rely on."""


class Result(Measured):
    """The results of one run, from the simulator or from a directory.

    Times are in nanoseconds, sizes in bytes; names carry their units. All keys
    of the summary and all columns are described in docs/results.md.
    """

    def __init__(
        self, summary: dict[str, Any], tables: Mapping[str, Table | Path | pl.DataFrame]
    ) -> None:
        super().__init__(summary)
        self._tables = tables
        self.log: Path | None = None
        """File of all counted requests, if one was written."""
        self.folder: Path | None = None
        """Directory that it was read from; None for a result of a run."""

    @classmethod
    @checks_arguments
    def load(cls, path: str | PathLike[str]) -> Result:
        """Read results that a run has written; raise OutputError, and list the runs of several."""
        folder = Path(path)
        if folder.name == output.SUMMARY:
            folder = folder.parent
        summary = stored.summary(folder)
        result = cls(summary, {name: folder / f"{name}.parquet" for name in output.TABLES})
        if lacking := [key for key in _KEYS if key not in summary]:
            raise result.other_version(folder / output.SUMMARY, ", ".join(lacking))
        result.folder = folder
        if (log := folder / output.REQUESTS).exists():
            result.log = log
        return result

    def other_version(self, file: Path, lacking: str) -> OutputError:
        """Return the error for a summary that lacks something that this version writes."""
        made_by = self.summary.get("flashscape", "unknown")
        return OutputError(
            f"{file}: was written by another version of flashscape ({made_by}; this is "
            f"{__version__}) and lacks {lacking}; run the experiment again"
        )

    @checks_arguments
    def frame(self, name: str) -> pl.DataFrame:
        """Return a table by its name.

        Raises ConfigError for an unknown name, and OutputError if this run has no such table or
        its file is missing.
        """
        import polars

        if name not in output.TABLES:
            log = "; the log of requests is .requests" if name == "requests" else ""
            raise ConfigError(f"no table {name!r} {listed(name, output.TABLES)}{log}")
        if name not in self._names:
            raise OutputError(
                f"this run has no table {name}: its drive has no bit errors (drive.nand.errors)"
            )
        table = self._tables[name]
        if not isinstance(table, Path):
            return polars.DataFrame(table)
        if not table.exists():
            raise OutputError(
                f"{table}: is not there: these results have kept only a part of their "
                "tables (a study keeps the tables that its Run names); run it again to have all: "
                f"{spelling.how_to_repeat(table.parent)}"
            )
        try:
            frame = polars.read_parquet(table)
        except (OSError, polars.exceptions.PolarsError) as error:
            raise OutputError(f"{table}: cannot be read: {error}") from error
        if lacking := output.COLUMNS[name] - set(frame.columns):
            raise OutputError(
                f"{table}: is not the table {name} of this version: it lacks the column "
                f"{min(lacking)}; run the experiment again"
            )
        return frame

    @property
    def _names(self) -> tuple[str, ...]:
        return output.tables_of(self.summary["config"])

    @property
    def requests(self) -> pl.LazyFrame | None:
        """Every counted request with its blame, read when it is collected; None without a log."""
        if self.log is None:
            return None
        return read_requests(self.log, digest=self.digest)

    @checks_arguments
    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write summary and tables to a directory; raise OutputError if it is in use."""
        with output.Directory.claim(path, force=force) as directory:
            self.write_to(directory)

    def write_to(
        self,
        directory: output.Directory,
        tables: Iterable[str] | None = None,
        beside: Iterable[tuple[str, bytes]] = (),
        spared: Collection[str] = (),
    ) -> None:
        """Write tables (all, or the named ones) and summary, all or none; the summary last.

        ``beside`` are further files. Earlier files with the names ``spared`` stay.
        """
        files = self._files(self._names if tables is None else tables)
        directory.store(chain(beside, files), spared)

    def _files(self, tables: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for name in tables:
            yield f"{name}.parquet", self._parquet(name)
        text = json.dumps(self.summary, indent=2, ensure_ascii=False) + "\n"
        yield output.SUMMARY, text.encode()

    def _parquet(self, name: str) -> bytes:
        """Encode a table; this takes milliseconds and is not interrupted."""
        while True:
            buffer = io.BytesIO()
            # Polars raises this on Ctrl-C by itself, even while Python defers the signal.
            with contextlib.suppress(KeyboardInterrupt):
                self.frame(name).write_parquet(buffer)
                return buffer.getvalue()

    def detach(self) -> None:
        """Read all tables, as their directory is about to be deleted; forget the log."""
        self._tables = {name: self.frame(name) for name in self._names}
        self.folder = self.log = None

    def __getstate__(self) -> dict[str, Any]:
        """Pickle tables as frames: the simulator's cannot be copied, and files may be gone."""
        tables = {name: self.frame(name) for name in self._names}
        return {"summary": self.summary, "_tables": tables, "log": self.log}

    @checks_arguments
    def to_pandas(self, name: str) -> Any:
        """Return a table by its name (``requests``, too) as a DataFrame of pandas.

        Raises ConfigError for an unknown name, and OutputError if the table is missing or
        pandas is not installed.
        """
        known = (*output.TABLES, "requests")
        if name not in known:
            raise ConfigError(f"no table {name!r} {listed(name, known)}")
        if name != "requests":
            return to_pandas(self.frame(name))
        log = self.requests
        if log is None:
            raise OutputError(
                f"this run has no log of requests; one that has is made by {how_to_log()}"
            )
        return to_pandas(log)

    def figure(self) -> Figure:
        """Draw the latency tail as a figure of matplotlib, which notebooks show.

        Raises OutputError if there is nothing to draw, or matplotlib is not installed.
        """
        from flashscape import picture

        drawing.refuse(picture.why_not(self))
        return picture.draw(self)

    @checks_arguments
    def draw_to(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Draw the latency tail to a PNG, PDF or SVG file, as its suffix says.

        Raises OutputError for another suffix, if the file exists already without
        ``force``, and as :meth:`figure` does.
        """
        drawing.write(self.figure, path, force=force)

    def _repr_html_(self) -> str:
        from flashscape.report import html

        return html.summary(self)

    def __repr__(self) -> str:
        parts = [f"{name} {kind}: {figures['requests']:,}" for name, kind, figures in self.groups()]
        return f"<Result {'; '.join(parts) or 'without requests'}; digest {self.digest}>"
