"""What a run measured: the summary as a dictionary, everything else as tables."""

from __future__ import annotations

import contextlib
import io
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import output
from flashscape._flashscape import __version__
from flashscape.errors import OutputError, unread
from flashscape.latency import KINDS, Latency
from flashscape.requests import read_requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from os import PathLike

    import polars as pl

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
"""What reports rely on in a summary."""


class Result:
    """The results of one run, from the simulator or from a directory.

    Times are in nanoseconds, sizes in bytes; names carry their units. All keys
    of the summary and all columns are described in docs/results.md.
    """

    def __init__(
        self, summary: dict[str, Any], tables: Mapping[str, Table | Path | pl.DataFrame]
    ) -> None:
        self.summary = summary
        """The contents of ``summary.json``."""
        self._tables = tables
        self.log: Path | None = None
        """The file of all counted requests, where one was written."""
        self.folder: Path | None = None
        """The directory that it was read from, where it was."""

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Result:
        """Read results that a run has written; raise OutputError."""
        folder = Path(path)
        if folder.name == output.SUMMARY:
            folder = folder.parent
        if folder.is_file():
            raise OutputError(
                f"{folder}: is a file, and results are a directory; "
                f"name one that `flashscape run --out DIR` has written"
            )
        file = folder / output.SUMMARY
        try:
            summary = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not folder.exists():
                told = unread(folder, error).replace("no such file", "no such directory")
                raise OutputError(
                    f"{told}; name one that `flashscape run --out` has written"
                ) from error
            raise OutputError(
                f"{folder}: has no results ({output.SUMMARY}: {error.strerror}); "
                "name a directory that `flashscape run --out` has written"
            ) from error
        except ValueError as error:
            raise OutputError(f"{file}: is damaged: {error}") from error
        if not isinstance(summary, dict) or "initiators" not in summary:
            raise OutputError(f"{file}: is not a summary of flashscape")
        result = cls(summary, {name: folder / f"{name}.parquet" for name in output.TABLES})
        if lacking := [key for key in _KEYS if key not in summary]:
            raise result.other_version(file, ", ".join(lacking))
        result.folder = folder
        if (log := folder / output.REQUESTS).exists():
            result.log = log
        return result

    def other_version(self, file: Path, lacking: str) -> OutputError:
        """What to say where the summary lacks something that this version writes."""
        made_by = self.summary.get("flashscape", "unknown")
        return OutputError(
            f"{file}: was written by another version of flashscape ({made_by}; this is "
            f"{__version__}) and lacks {lacking}; run the experiment again"
        )

    def frame(self, name: str) -> pl.DataFrame:
        """Return a table by its name; raise OutputError where its file is missing."""
        import polars

        table = self._tables[name]
        if not isinstance(table, Path):
            return polars.DataFrame(table)
        if not table.exists():
            raise OutputError(
                f"{table}: is not there; the points of a sweep keep their tables only with "
                "--tables (tables=True), and a study's those that its Run names"
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

    @cached_property
    def latency(self) -> pl.DataFrame:
        """Histograms: a row for each bucket with requests, by initiator and kind."""
        return self.frame("latency")

    @cached_property
    def blame(self) -> pl.DataFrame:
        """Where the time went: a row for each initiator, kind and state."""
        return self.frame("blame")

    @cached_property
    def bands(self) -> pl.DataFrame:
        """Where the time went by latency: a row for each band of 1.6 % with requests."""
        return self.frame("bands")

    @cached_property
    def series(self) -> pl.DataFrame:
        """What changed in the course of the run: a row for each interval."""
        return self.frame("series")

    @cached_property
    def wear(self) -> pl.DataFrame:
        """Erases and live data of each block at the end of the run."""
        return self.frame("wear")

    @cached_property
    def slowest(self) -> pl.DataFrame:
        """The slowest requests of each initiator and kind, with the time in each state.

        All together slowest first; ``record.slowest`` says how many are kept.
        """
        return self.frame("slowest")

    @property
    def requests(self) -> pl.LazyFrame | None:
        """Every counted request with its blame, read when it is collected; None without a log."""
        if self.log is None:
            return None
        return read_requests(self.log, digest=self.digest)

    def of_kind(self, kind: str, initiator: str | None = None) -> Latency:
        """Latencies of a kind of request, of one initiator or of all together."""
        return Latency.of(self, kind, initiator)

    @property
    def read(self) -> Latency:
        """Latencies of all reads."""
        return self.of_kind("read")

    @property
    def write(self) -> Latency:
        """Latencies of all writes."""
        return self.of_kind("write")

    @property
    def digest(self) -> str:
        """A hash of every completion, or, without time, of all that was done.

        Equal digests, equal runs.
        """
        return str(self.summary["digest"])

    @property
    def complete(self) -> bool:
        """False where the run was interrupted, or ended because a request starved."""
        return bool(self.summary["complete"])

    @property
    def starvation(self) -> dict[str, Any] | None:
        """Requests that starved (docs/results.md); None where ``run.starvation`` is not given."""
        # Summaries of earlier versions have no such key.
        found: dict[str, Any] | None = self.summary.get("starvation")
        return found

    @property
    def recovery(self) -> dict[str, Any] | None:
        """Power cuts, and what recovering took (docs/results.md); None without drive.recovery."""
        found: dict[str, Any] | None = self.summary.get("recovery")
        return found

    @property
    def cut_short(self) -> str | None:
        """What ended the run early: ``interrupted`` or ``ended by starvation``."""
        if self.complete:
            return None
        starvation = self.starvation
        has_starved = starvation is not None and starvation["ended_run"]
        return "ended by starvation" if has_starved else "interrupted"

    @property
    def untimed(self) -> bool:
        """Whether the run took no simulated time (``run.untimed``)."""
        return bool(self.summary["config"]["run"].get("untimed", False))

    @property
    def worn_out_bytes(self) -> int | None:
        """What had been asked for when the drive was worn out, in a run without time; or None."""
        # Summaries of earlier versions have no such key.
        worn: int | None = self.summary.get("worn_out_bytes")
        return worn

    @property
    def write_amplification(self) -> float | None:
        """Bytes programmed over bytes written; None where nothing was written."""
        total: float | None = self.summary["write_amplification"]["total"]
        return total

    def groups(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Initiator, kind and figures of everything that was asked at least once, with time."""
        return [
            (initiator["name"], kind, initiator[kind])
            for initiator in self.summary["initiators"]
            for kind in KINDS
            if initiator[kind]["requests"] and initiator[kind]["latency_ns"]["max"] is not None
        ]

    def steadiness(self) -> list[tuple[str, dict[str, Any]]]:
        """Figures that could be steady, and whether they are: those that were measured."""
        verdicts = self.summary["steady_state"].items()
        written = self.write_amplification is not None
        return [item for item in verdicts if written or item[0] != "write_amplification"]

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write everything to a directory; raise OutputError where it is in use."""
        with output.Directory.claim(path, force=force) as directory:
            self.write_to(directory)
            self.draw_to(directory)

    def write_to(self, directory: output.Directory, tables: Iterable[str] = output.TABLES) -> None:
        """Write tables (all, or those that are named) and summary, all or none; summary last."""
        directory.store(self._files(tables))

    def draw_to(self, directory: output.Directory) -> None:
        """Add the picture, which takes longest and which results can do without."""
        from flashscape import picture

        if picture.is_available() and self.groups():
            directory.add(output.PICTURE, picture.svg(self))

    def _files(self, tables: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for name in tables:
            yield f"{name}.parquet", self._parquet(name)
        text = json.dumps(self.summary, indent=2, ensure_ascii=False) + "\n"
        yield output.SUMMARY, text.encode()

    def _parquet(self, name: str) -> bytes:
        """Encode a table, which takes milliseconds and is not given up."""
        while True:
            buffer = io.BytesIO()
            # Polars raises this on Ctrl-C by itself, though Python puts the signal off.
            with contextlib.suppress(KeyboardInterrupt):
                self.frame(name).write_parquet(buffer)
                return buffer.getvalue()

    def __getstate__(self) -> dict[str, Any]:
        """Tables go along as frames: the simulator's cannot be copied, and files may be gone."""
        tables = {name: self.frame(name) for name in output.TABLES}
        return {"summary": self.summary, "_tables": tables, "log": self.log}

    def _repr_html_(self) -> str:
        from flashscape.report import html

        return html.summary(self)

    def __repr__(self) -> str:
        parts = [f"{name} {kind}: {figures['requests']}" for name, kind, figures in self.groups()]
        return f"<Result {'; '.join(parts) or 'without requests'}; digest {self.digest}>"
