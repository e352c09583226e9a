"""Tables of results for Python: text when printed, HTML in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashscape.arguments import checks_arguments
from flashscape.compare.comparison import Comparison
from flashscape.directories import SWEEP
from flashscape.errors import ConfigError
from flashscape.report import contrast as contrast_rows
from flashscape.report import html, rows, text
from flashscape.report import sweep as of_sweeps
from flashscape.result import Result
from flashscape.sweep.result import Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from flashscape.measured import Measured
    from flashscape.report.table import Rows


class Tables:
    """Tables of results, as the command line prints them."""

    def __init__(self, headline: str, notes: Sequence[str], contents: Sequence[Rows]) -> None:
        self._headline = headline
        self._notes = list(notes)
        self._contents = list(contents)

    def __str__(self) -> str:
        return text.plain(self._headline, self._notes, self._contents)

    def _repr_html_(self) -> str:
        return html.tables(self._headline, self._notes, self._contents)

    def __repr__(self) -> str:
        return f"<Tables of {self._headline}>"


@checks_arguments
def tables(
    of: Measured | Sweep | Comparison | str | PathLike[str],
    percentiles: str | Iterable[float | str] | None = None,
) -> Tables:
    """Return the tables that a command prints, from results or the directory of a run or sweep.

    ``percentiles`` are those of latency, such as ``(50, 99.99)``; None: the usual ones. A
    comparison has those that it was made with.
    Raises ConfigError for invalid percentiles and for those that the points of a sweep do not
    keep, and OutputError if results or the needed histograms are missing.

    >>> print(fs.tables(result, percentiles=(50, 99.5)))     # doctest: +SKIP
    """
    if isinstance(of, str) or hasattr(of, "__fspath__"):
        folder = Path(of)
        of = Sweep.load(folder) if SWEEP.is_in(folder) else Result.load(folder)
    if isinstance(of, Sweep):
        notes = [*of_sweeps.overloads(of), *of_sweeps.steadiness(of)]
        return Tables(of.title or "Sweep", notes, [of_sweeps.table(of, percentiles)])
    if isinstance(of, Comparison):
        if percentiles is not None:
            raise ConfigError(
                "percentiles: a comparison has those that it was made with; give them to fs.compare"
            )
        return _of_comparison(of)
    contents = rows.everything(of, percentiles)
    return Tables(rows.headline(of), of.summary["notes"], contents)


def _of_comparison(compared: Comparison) -> Tables:
    """Return the table of each contrast, below the sides and the verdicts."""
    sides = "; ".join(side.about for side in compared.sides)
    contents = []
    for contrast in compared.contrasts:
        content = contrast_rows.differences(contrast)
        if len(compared.contrasts) > 1:
            against = f"{contrast.other.shown} against {contrast.baseline.shown}"
            content = content._replace(title=f"{against}. {content.title}".removesuffix(". "))
        contents.append(content)
    found = [*([compared.headline] if compared.headline else []), *compared.verdicts]
    return Tables(f"{sides}. {' '.join(found)}", [], contents)
