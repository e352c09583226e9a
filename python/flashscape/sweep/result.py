"""Results of a sweep, as one table."""

from __future__ import annotations

import io
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashscape import drawing, units
from flashscape.arguments import checks_arguments
from flashscape.errors import ConfigError, Interrupted
from flashscape.frames import to_pandas
from flashscape.result import Result
from flashscape.sweep import rows
from flashscape.sweep.store import PICTURE, TABLE, Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from os import PathLike
    from pathlib import Path

    import polars as pl
    from matplotlib.figure import Figure

    from flashscape.sweep.picture_plan import Subject

DONE, FAILED, INVALID, OPEN = "done", "failed", "invalid", "open"
"""Status of a point: it was run; it failed during the run; its configuration
is impossible; it was not run yet."""


class Sweep:
    """The results of a sweep, from its run or from its directory.

    All columns of :attr:`frame` are described in docs/sweep.md.
    """

    def __init__(self, store: Store, manifest: Mapping[str, Any]) -> None:
        self._store = store
        self.title: str = manifest["title"]
        """Title of the sweep, else of its experiment; empty if neither has one."""
        self.paths: tuple[str, ...] = tuple(manifest["paths"])
        """Varied paths, without the seed."""
        self.is_seeded: bool = manifest["seeded"]
        """True if seeds vary."""
        self.told_by_name: frozenset[str] = frozenset(manifest["told_by_name"])
        """Paths whose values the names of variations stand for."""
        self._points: list[dict[str, Any]] = []
        self.amounts = rows.amount_columns(manifest["points"], self.paths)
        """Column of each path's quantities in base units; None if it has none."""
        self._kinds = rows.columns(manifest["points"], self.paths)
        # Fill columns one by one: all summaries together may not fit the memory.
        self._columns: dict[str, list[Any]] = {name: [] for name in self._kinds}
        for point in manifest["points"]:
            self._add(point)

    @classmethod
    @checks_arguments
    def load(cls, path: str | PathLike[str]) -> Sweep:
        """Read the directory of a sweep, finished or not; raise OutputError."""
        store = Store.open(path)
        return cls(store, store.manifest())

    def _add(self, point: dict[str, Any]) -> None:
        """Add a point of the manifest, with its status."""
        key, fault = point["key"], point["fault"]
        status, error, results = OPEN, point.get("error"), None
        done = None if key is None else self._store.done(key)
        if fault is not None:
            status, error = INVALID, fault
        elif done is not None and done.summary is not None and error is None:
            status = DONE
            results = str(self._store.path_of(key).relative_to(self._store.folder))
        elif done is not None or error is not None:
            # An error of the last start replaces a result of an earlier one.
            status, error = FAILED, error or (done and done.error)
        ended = {**point, "status": status, "error": error, "results": results}
        summary = done.summary if done is not None and status == DONE else None
        self._points.append(ended)
        for row in rows.rows(ended, summary):
            for name, kind in self._kinds.items():
                self._columns[name].append(rows.converted(row.get(name), kind))

    @property
    def folder(self) -> Path:
        """Directory of the sweep."""
        return self._store.folder

    @property
    def counts(self) -> dict[str, int]:
        """Number of points that are ``done``, ``failed``, ``invalid`` and ``open``."""
        counts = dict.fromkeys((DONE, FAILED, INVALID, OPEN), 0)
        for point in self._points:
            counts[point["status"]] += 1
        return counts

    @property
    def failures(self) -> list[tuple[str, str]]:
        """Name and reason of every point that failed or is invalid."""
        bad = (p for p in self._points if p["status"] in (FAILED, INVALID))
        return [(point["name"], str(point["error"])) for point in bad]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A row for each point, initiator and kind with requests, in the order of the file."""
        import polars as pl

        types: dict[str, Any] = {
            "int": pl.Int64,
            "unsigned": pl.UInt64,
            "float": pl.Float64,
            "bool": pl.Boolean,
            "text": pl.String,
            "texts": pl.List(pl.String),
        }
        schema = {name: types[kind] for name, kind in self._kinds.items()}
        return pl.DataFrame(self._columns, schema=schema)

    @checks_arguments
    def result(self, number: int) -> Result:
        """Return the results of a point by its number, from 1.

        Raises ConfigError if there is no such point, and OutputError if it has no results.
        """
        if not 1 <= number <= len(self._points):
            raise ConfigError(f"no point {number} (there are 1 to {len(self._points)})")
        return Result.load(self._store.path_of(self._points[number - 1]["key"] or "none"))

    def over_seeds(self) -> pl.DataFrame:
        """Return means over seeds: a row for each combination of all other values.

        Each metric that is a number has its mean, as ``<metric>``, and the half-width
        of the 95 % confidence interval of that mean over independent runs by Student's
        t, as ``<metric>_ci95`` (null for a single seed). ``seeds`` is the number of
        successful runs. ``worn_out_bytes`` has no mean if some drives survived, because they
        would have the longest lives; ``worn_out_seeds`` is the number of drives that did not.
        """
        from flashscape.sweep.seeds import over_seeds

        return over_seeds(self.frame, self.amounts)

    def write(self) -> None:
        """Write the table to the directory; raise OutputError."""
        buffer = io.BytesIO()
        self.frame.write_parquet(buffer)
        self._store.write(TABLE, buffer.getvalue())
        # The picture may show other points.
        self._store.remove(PICTURE)

    @checks_arguments
    def draw(self, percentiles: str | Iterable[float | str] | None = None) -> str | None:
        """Draw ``sweep.svg`` in the directory; return the reason if there is none, else None.

        ``percentiles`` are those of latency that it shows, four at most; None: p50, p99, p99.9.

        A picture needs varied paths, besides seeds, and matplotlib. Raises OutputError if it
        cannot be written, and ConfigError for percentiles that points do not keep.
        """
        from flashscape.sweep import picture

        subject = self.pictured(percentiles)
        if (why := picture.why_not(subject)) is not None:
            return why
        self._store.write(PICTURE, picture.svg(subject))
        return None

    @checks_arguments
    def figure(self, percentiles: str | Iterable[float | str] | None = None) -> Figure:
        """Draw the effects of the varied paths as a figure of matplotlib, which notebooks show.

        ``percentiles`` as in :meth:`draw`. Raises OutputError if there is nothing to draw, or
        matplotlib is not installed, and ConfigError for percentiles that points do not keep.
        """
        from flashscape.sweep import picture

        subject = self.pictured(percentiles)
        drawing.refuse(picture.why_not(subject))
        return picture.draw(subject)

    @checks_arguments
    def draw_to(
        self,
        path: str | PathLike[str],
        *,
        force: bool = False,
        percentiles: str | Iterable[float | str] | None = None,
    ) -> None:
        """Draw the effects of the varied paths to a PNG, PDF or SVG file, chosen by its suffix.

        ``percentiles`` as in :meth:`draw`. Raises OutputError for another suffix, if the file
        exists already without ``force``, and as :meth:`figure` does.
        """
        drawing.write(lambda: self.figure(percentiles), path, force=force)

    def to_pandas(self) -> Any:
        """Return :attr:`frame` as a DataFrame of pandas; raise OutputError without pandas."""
        return to_pandas(self.frame)

    def why_not_drawn(self) -> str | None:
        """Say why no picture can be drawn; None if one can."""
        from flashscape.sweep import picture

        return picture.why_not(self.pictured())

    @checks_arguments
    def pictured(self, percentiles: str | Iterable[float | str] | None = None) -> Subject:
        """Return the subject of the sweep's picture; raise ConfigError for unknown percentiles."""
        import polars as pl

        from flashscape.report.sweep import kept
        from flashscape.sweep.picture_plan import Subject, dimensions, shown_percentiles

        measured = self.over_seeds().filter(pl.col("kind").is_not_null())
        columns = self.varied
        rows = self.frame.unique("point", keep="first", maintain_order=True)
        points = tuple(rows.select("status", *columns).iter_rows(named=True))
        amounts = {each: self._numbers_of(each) for each in columns}
        subject = Subject(self.title, measured, dimensions(columns, points, amounts), points)
        if percentiles is None:
            return subject
        return subject._replace(percentiles=shown_percentiles(kept(percentiles)))

    def _numbers_of(self, column: str) -> str | None:
        """Return the column that has numbers for one that varies; None if it has words."""
        import polars as pl

        if self.frame[column].dtype in (pl.Int64, pl.Float64):
            return column
        amounts = self.amounts.get(column)
        return None if amounts is None or self.frame[amounts].null_count() else amounts

    @property
    def varied(self) -> tuple[str, ...]:
        """Columns that vary over all points, measured or not, without the seed.

        If variations have names, ``variation`` stands for the paths that they set.
        """
        frame = self.frame
        named = frame["variation"].n_unique() > 1
        paths = (
            path
            for path in self.paths
            if frame[path].n_unique() > 1 and not (named and path in self.told_by_name)
        )
        return (*(["variation"] if named else []), *paths)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over points: ``point`` (number), ``name``, ``values``, ``seed``, ``status`` …."""
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)

    def _repr_html_(self) -> str:
        from flashscape.report import html, sweep

        *sentences, counts = sweep.closing(self)
        heading = self.title or str(self.folder)
        section = html.Section(heading, counts, sweep.table(self), sentences)
        return html.document((), (section,), f"All columns are in {self.folder / TABLE}.")

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {status}" for status, count in self.counts.items() if count)
        return f"<Sweep {self.title or str(self.folder)!r}: {counts}>"


class SweepInterrupted(Interrupted):
    """A sweep was interrupted. ``sweep`` has the finished points, which are kept."""

    def __init__(self, sweep: Sweep) -> None:
        counts = sweep.counts
        left = counts["open"]
        of = units.many(len(sweep), "point")
        super().__init__(None, f"with {len(sweep) - left:,} of {of} ended")
        self.sweep = sweep
        """The finished and the open points."""
        self.kept = "those are kept, and the same command goes on with the others"
