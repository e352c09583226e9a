"""Reading the results of a single run, for commands and functions that need one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashscape import output
from flashscape.compare.comparison import DOCUMENT
from flashscape.errors import OutputError
from flashscape.explain import explain as explain_run
from flashscape.result import Result
from flashscape.sweep.store import MANIFEST

if TYPE_CHECKING:
    from os import PathLike

    from flashscape.explain import Explanation
    from flashscape.measured import Measured

_FLEET = "fleet.json"
"""Document of a fleet, whose package takes long to import."""
_NAMED_MOST = 12

_RESULTS = {
    "Comparison": "a Comparison has several runs; explain one of them, such as "
    "comparison.sides[0].results[0]; what differs is in comparison.contrasts[0].sentences",
    "Sweep": "a Sweep has several runs; explain one of them, such as sweep.result(1), of a sweep "
    "with tables=True",
}
"""Errors for results of several runs, by the name of their class."""


def explain(of: Measured | str | PathLike[str], *, everything: bool = False) -> Explanation:
    """Explain where the tail of a run comes from; ``of`` is its result or its directory.

    If many initiators issue the same kind of request, only the worst are explained,
    unless ``everything`` is True.

    Raises OutputError if the directory has no results of a single run, and TypeError for
    anything else that is no result of a run.

    >>> print(fs.explain("results"))     # doctest: +SKIP
    """
    from flashscape.measured import Measured

    if isinstance(of, Measured):
        return explain_run(of, everything=everything)
    if isinstance(of, str) or hasattr(of, "__fspath__"):
        return explain_run(load(Path(of)), everything=everything)
    kind = type(of).__name__
    why = _RESULTS.get(kind, f"{kind} is no result; give what fs.run returns, or its directory")
    raise TypeError(f"explain: {why}")


def load(directory: Path) -> Result:
    """Read the results of a run; raise OutputError for several runs and list them."""
    if not (directory / output.SUMMARY).exists():
        if (directory / _FLEET).is_file():
            raise OutputError(
                f"{directory}: is a fleet, and its drives have summaries only; to examine drive N, "
                "run the fleet's experiment alone with --set clone.number=N and --out"
            )
        if (directory / MANIFEST).is_file():
            raise OutputError(_of_sweep(directory))
        if (directory / DOCUMENT).is_file():
            from flashscape.compare import kept

            runs = [str(each) for each in kept.runs_of(directory)]
            raise OutputError(_told(directory, "a comparison", runs))
    return Result.load(directory)


def _of_sweep(directory: Path) -> str:
    from flashscape.sweep.result import DONE, Sweep

    done = [point for point in Sweep.load(directory) if point["status"] == DONE]
    named = {directory / str(p["results"]): str(p["name"]) for p in done}
    # Equal points share a directory.
    whole = {p: name for p, name in named.items() if (p / "bands.parquet").is_file()}
    if named and not whole:
        return (
            f"{directory}: is a sweep, and its points have summaries only; to examine a single "
            "run, run the sweep again with --tables (tables=True) and name one of its points"
        )
    return _told(directory, "a sweep", [f"{place} ({name})" for place, name in whole.items()])


def _told(directory: Path, what: str, runs: list[str]) -> str:
    if not runs:
        return f"{directory}: is {what}, and no run of it is kept there"
    more = len(runs) - _NAMED_MOST
    listed = "".join(f"\n  {run}" for run in runs[:_NAMED_MOST])
    rest = f"\n  and {more} more" if more > 0 else ""
    return f"{directory}: is {what}; name one of the runs in it:{listed}{rest}"
