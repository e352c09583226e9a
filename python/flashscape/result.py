"""What a run measured: the summary as a dictionary, everything else as tables."""

from __future__ import annotations

import io
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import output
from flashscape.errors import OutputError
from flashscape.latency import KINDS, Latency

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import polars as pl

    from flashscape._flashscape import Table


class Result:
    """The results of one run, from the simulator or from a directory.

    Times are in nanoseconds, sizes in bytes; names carry their units. All keys
    of the summary and all columns are described in docs/results.md.
    """

    def __init__(self, summary: dict[str, Any], tables: Mapping[str, Table | Path]) -> None:
        self.summary = summary
        """The contents of ``summary.json``."""
        self._tables = tables

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Result:
        """Read results that a run has written; raise OutputError."""
        folder = Path(path)
        file = folder / output.SUMMARY
        try:
            summary = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise OutputError(
                f"{folder}: has no results ({output.SUMMARY}: {error.strerror}); "
                "name a directory that `flashscape run --out` has written"
            ) from error
        except ValueError as error:
            raise OutputError(f"{file}: is damaged: {error}") from error
        if not isinstance(summary, dict) or "initiators" not in summary:
            raise OutputError(f"{file}: is not a summary of flashscape")
        return cls(summary, {name: folder / f"{name}.parquet" for name in output.TABLES})

    def frame(self, name: str) -> pl.DataFrame:
        """Return a table by its name; raise OutputError where its file is missing."""
        import polars

        table = self._tables[name]
        if not isinstance(table, Path):
            return polars.DataFrame(table)
        try:
            return polars.read_parquet(table)
        except (OSError, polars.exceptions.PolarsError) as error:
            raise OutputError(f"{table}: cannot be read: {error}") from error

    @cached_property
    def latency(self) -> pl.DataFrame:
        """Histograms: a row for each bucket with requests, by initiator and kind."""
        return self.frame("latency")

    @cached_property
    def blame(self) -> pl.DataFrame:
        """Where the time went: a row for each initiator, kind and state."""
        return self.frame("blame")

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
        """A hash of every completion: equal digests, equal runs."""
        return str(self.summary["digest"])

    @property
    def complete(self) -> bool:
        """False where the run was interrupted."""
        return bool(self.summary["complete"])

    @property
    def write_amplification(self) -> float | None:
        """Bytes programmed over bytes written; None where nothing was written."""
        total: float | None = self.summary["write_amplification"]["total"]
        return total

    def groups(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Initiator, kind and figures of everything that was asked at least once."""
        return [
            (initiator["name"], kind, initiator[kind])
            for initiator in self.summary["initiators"]
            for kind in KINDS
            if initiator[kind]["requests"]
        ]

    def steadiness(self) -> list[tuple[str, dict[str, Any]]]:
        """Figures that could be steady, and whether they are: those that were measured."""
        verdicts = self.summary["steady_state"].items()
        written = self.write_amplification is not None
        return [item for item in verdicts if written or item[0] != "write_amplification"]

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write everything to a directory; raise OutputError where it is in use."""
        self.write_to(output.Directory.claim(path, force=force))

    def write_to(self, directory: output.Directory) -> None:
        """Write everything: the summary last, so that it stands for a whole set."""
        for name in output.TABLES:
            buffer = io.BytesIO()
            self.frame(name).write_parquet(buffer)
            directory.write(f"{name}.parquet", buffer.getvalue())
        if (picture := self._picture()) is not None:
            directory.write(output.PICTURE, picture)
        text = json.dumps(self.summary, indent=2, ensure_ascii=False) + "\n"
        directory.write(output.SUMMARY, text.encode())

    def _picture(self) -> bytes | None:
        from flashscape import picture

        return picture.svg(self) if picture.is_available() and self.groups() else None

    def _repr_html_(self) -> str:
        from flashscape.report import html

        return html.summary(self)

    def __repr__(self) -> str:
        parts = [f"{name} {kind}: {figures['requests']}" for name, kind, figures in self.groups()]
        return f"<Result {'; '.join(parts) or 'without requests'}; digest {self.digest}>"
