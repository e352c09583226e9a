"""Reading a directory of results for commands that need a single run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape import output
from flashscape.compare.comparison import DOCUMENT
from flashscape.errors import OutputError
from flashscape.result import Result
from flashscape.sweep.store import MANIFEST

if TYPE_CHECKING:
    from pathlib import Path

_NAMED_MOST = 12


def load(directory: Path) -> Result:
    """Read the results of a run; raise OutputError for several runs and list them."""
    if not (directory / output.SUMMARY).exists():
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
    with_tables = (directory / str(p["results"]) / "bands.parquet" for p in done)
    what = "a sweep"
    if not any(file.is_file() for file in with_tables):
        what += " without --tables, which keeps summaries alone; run it again with --tables"
    named = {str(directory / str(p["results"])): str(p["name"]) for p in done}
    return _told(directory, what, [f"{place} ({name})" for place, name in named.items()])


def _told(directory: Path, what: str, runs: list[str]) -> str:
    if not runs:
        return f"{directory}: is {what}, and no run of it is kept there"
    more = len(runs) - _NAMED_MOST
    listed = "".join(f"\n  {run}" for run in runs[:_NAMED_MOST])
    rest = f"\n  and {more} more" if more > 0 else ""
    return f"{directory}: is {what}; name one of the runs in it:{listed}{rest}"
