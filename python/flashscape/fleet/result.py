"""The result of a fleet: merged figures, a table of drives, and queries over them."""

from __future__ import annotations

import io
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import directories, drawing
from flashscape.arguments import checks_arguments
from flashscape.errors import ConfigError, FlashscapeError, OutputError, unread
from flashscape.fleet import fanout as asking
from flashscape.fleet import merged, picture, words
from flashscape.fleet.correlation import Course, correlation
from flashscape.fleet.fanout import Fanout
from flashscape.fleet.notes import notes
from flashscape.fleet.spread import of_drive, spread
from flashscape.fleet.stored_reads import StoredReads
from flashscape.latency import KINDS, Latency
from flashscape.near import listed
from flashscape.sweep import Store, Sweep
from flashscape.together import latency_of
from flashscape.version import __version__

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl
    from matplotlib.figure import Figure

    from flashscape.fleet.wanted import Wanted
    from flashscape.result import Result

DOCUMENT = directories.FLEET.document
DRIVES = "drives.parquet"
LATENCY = "latency.parquet"
PICTURE = "fleet.svg"

_OF_POINTS = ("name", "variation", "results", "cpu_seconds")
"""Columns of a sweep's table that differ between starts, or say nothing about a drive."""


class Fleet:
    """The merged results of a fleet; keys and columns are in docs/fleet.md."""

    def __init__(
        self, document: dict[str, Any], drives: pl.DataFrame, histogram: pl.DataFrame, sweep: Sweep
    ) -> None:
        self.document = document
        """Contents of ``fleet.json``."""
        self.drives = drives
        """A row for each drive, initiator and kind with requests, with the columns of a sweep."""
        self.histogram = histogram
        """A row for each bucket of latency with requests of all drives, by initiator and kind."""
        self.sweep = sweep
        """The drives as points of a sweep."""

    @classmethod
    def of(cls, wanted: Wanted, swept: Sweep) -> Fleet:
        """Merge the results of drives that were run; raise FlashscapeError if all have failed."""
        points = list(swept)
        done = [point["point"] for point in points if point["status"] == "done"]
        if not done:
            name, why = swept.failures[0]
            raise FlashscapeError(f"no drive of the fleet has results ({name}): {why}")
        merger, figures, courses, reads, told = merged.Merger(), [], [], [], []
        last: Result | None = None
        for number in done:
            last = swept.result(number)
            merger.add(last)
            figures.append(of_drive(last))
            told.append(last.summary["notes"])
            if not last.untimed:
                courses.append(Course(last))
            assert last.folder is not None
            reads.append(StoredReads(last.folder))
        assert last is not None
        histogram = merger.histogram()
        config = last.summary["config"]
        document: dict[str, Any] = {
            "flashscape": __version__,
            "title": swept.title or last.summary["title"],
            "drives": len(points),
            "failed": [[name, why] for name, why in swept.failures],
            "seed": config["seed"],
            "age": config["clone"].get("overwrites"),
            **merger.summary(),
            "spread": spread(done, figures),
            "correlation": correlation(courses),
            "fanout": None,
            "notes": notes(told),
        }
        if wanted.queries is not None:
            latency = _pooled(document, histogram, "read", None)
            if not latency.requests:
                raise FlashscapeError("fanout: no drive has read; add reads to the workload")
            seed = config["seed"]
            asked = asking.fanout(wanted.queries, latency, reads, seed)
            document["fanout"] = asked.as_dict()
        return cls(document, _table(swept), histogram, swept)

    def write_to(self, store: Store) -> None:
        """Write all files; raise OutputError."""
        store.write(DRIVES, _parquet(self.drives))
        store.write(LATENCY, _parquet(self.histogram))
        store.write(DOCUMENT, self.to_json().encode())

    def to_json(self) -> str:
        """Return the contents of ``fleet.json`` as text."""
        return json.dumps(self.document, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    @checks_arguments
    def load(cls, path: str | PathLike[str]) -> Fleet:
        """Read a directory that ``flashscape fleet --out`` has written; raise OutputError."""
        import polars as pl

        folder = Path(path)
        folder = folder.parent if folder.name == DOCUMENT else folder
        try:
            document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
            frames = [pl.read_parquet(folder / name) for name in (DRIVES, LATENCY)]
        except FileNotFoundError as error:
            raise OutputError(
                f"{folder}: has no results of a fleet ({DOCUMENT}); name a directory that "
                "`flashscape fleet --out DIR` has written"
            ) from error
        except OSError as error:
            raise OutputError(unread(folder / DOCUMENT, error)) from error
        except (ValueError, pl.exceptions.PolarsError) as error:
            raise OutputError(f"{folder}: is damaged: {error}") from error
        # Fleets of earlier builds lack these keys.
        document.setdefault("windows", None)
        document.setdefault("collection", None)
        if document["fanout"] is not None:
            document["fanout"].setdefault("over", "drives")
            document["fanout"].setdefault("limits", [])
        return cls(document, frames[0], frames[1], Sweep.load(folder))

    @property
    def title(self) -> str:
        """Title of the fleet, else of its experiment."""
        return str(self.document["title"])

    @checks_arguments
    def latency(self, kind: str = "read", initiator: str | None = None) -> Latency:
        """Return the latencies of a kind of request of all drives, pooled.

        Raises ConfigError for an unknown kind or initiator.
        """
        if kind not in KINDS:
            raise ConfigError(f"no kind {kind!r} {listed(kind, KINDS)}")
        names = list(dict.fromkeys(each["initiator"] for each in self.document["requests"]))
        if initiator is not None and initiator not in names:
            raise ConfigError(f"no initiator {initiator!r} {listed(initiator, names)}")
        return _pooled(self.document, self.histogram, kind, initiator)

    @cached_property
    def fanout(self) -> Fanout | None:
        """Queries over the drives; None if none were asked for."""
        found = self.document["fanout"]
        return None if found is None else Fanout.from_dict(found)

    @property
    def correlation(self) -> dict[str, Any] | None:
        """Correlation of the drives over time; None for a single drive or a very short run."""
        found: dict[str, Any] | None = self.document["correlation"]
        return found

    @property
    def spread(self) -> dict[str, Any]:
        """Least, median and greatest value of each figure over the drives."""
        found: dict[str, Any] = self.document["spread"]
        return found

    @property
    def write_amplification(self) -> float | None:
        """Bytes programmed over bytes written by hosts, of all drives; None if none wrote."""
        total: float | None = self.document["write_amplification"]["total"]
        return total

    @property
    def failures(self) -> list[tuple[str, str]]:
        """Name and reason of every drive that has failed."""
        return [(name, why) for name, why in self.document["failed"]]

    @checks_arguments
    def result(self, drive: int) -> Result:
        """Return the results of a drive by its number, from 1; raise ConfigError or OutputError."""
        return self.sweep.result(drive)

    @property
    def sentences(self) -> list[str]:
        """The result in words."""
        return words.sentences(self.document)

    def figure(self) -> Figure:
        """Draw latencies and queries; raise OutputError without matplotlib."""
        drawing.refuse(picture.why_not(self.document))
        return picture.draw(self.document, {kind: self.latency(kind) for kind in KINDS})

    @checks_arguments
    def draw_to(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Draw to a PNG, PDF or SVG file, chosen by its suffix.

        Raises OutputError for another suffix, if the file exists already without ``force``, and as
        :meth:`figure` does.
        """
        drawing.write(self.figure, path, force=force)

    def _repr_html_(self) -> str:
        from flashscape.report import fleet, html

        return html.tables(self.title, self.sentences, fleet.everything(self.document))

    def __repr__(self) -> str:
        return f"<Fleet {self.title!r}: {self.document['drives']:,} drives>"


def _pooled(
    document: dict[str, Any], histogram: pl.DataFrame, kind: str, initiator: str | None
) -> Latency:
    """Return merged latencies of a kind; without requests they are empty."""
    if initiator is None:
        groups = [each for each in document["kinds"] if each["kind"] == kind]
    else:
        all_of_them = document["requests"]
        groups = [e for e in all_of_them if (e["initiator"], e["kind"]) == (initiator, kind)]
    if not groups:
        return Latency(0, None, None, None, ())
    (found,) = groups
    group = {**found, "min": found["latency_ns"]["min"], "max": found["latency_ns"]["max"]}
    names = None if initiator is None else [initiator]
    return latency_of(histogram, group, names, kind)


def _table(swept: Sweep) -> pl.DataFrame:
    frame = swept.frame
    dropped = [n for n in frame.columns if n in _OF_POINTS or n.startswith("clone.number")]
    return frame.drop(dropped).rename({"point": "drive"})


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()
