"""Tables of results for Python: text when printed, HTML in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashscape.report import html, rows, text
from flashscape.report import sweep as of_sweeps
from flashscape.result import Result
from flashscape.sweep.result import Sweep
from flashscape.sweep.store import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike


class Tables:
    """Tables of results, as the command line prints them."""

    def __init__(self, headline: str, notes: Sequence[str], contents: Sequence[rows.Rows]) -> None:
        self._headline = headline
        self._notes = list(notes)
        self._contents = list(contents)

    def __str__(self) -> str:
        return text.plain(self._headline, self._notes, self._contents)

    def _repr_html_(self) -> str:
        return html.tables(self._headline, self._notes, self._contents)

    def __repr__(self) -> str:
        return f"<Tables of {self._headline}>"


def tables(
    of: Result | Sweep | str | PathLike[str],
    percentiles: str | Iterable[float | str] | None = None,
) -> Tables:
    """Return the tables that ``run`` or ``sweep`` prints, from results or their directory.

    ``percentiles`` are those of latency, such as ``(50, 99.99)``; None: the usual ones.
    Raises ConfigError for invalid percentiles and for those that the points of a sweep do not
    keep, and OutputError if results or the needed histograms are missing.

    >>> print(fs.tables(result, percentiles=(50, 99.5)))     # doctest: +SKIP
    """
    if isinstance(of, (str, Path)) or hasattr(of, "__fspath__"):
        folder = Path(of)
        of = Sweep.load(folder) if (folder / MANIFEST).is_file() else Result.load(folder)
    if isinstance(of, Sweep):
        return Tables(of.title or "Sweep", [], [of_sweeps.table(of, percentiles)])
    contents = rows.everything(of, percentiles)
    return Tables(rows.headline(of), of.summary["notes"], contents)
