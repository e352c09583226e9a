"""The summary of a run in a directory; of a directory with several runs, a list of them.

Experiments are read from summaries, so this module imports neither experiments nor results.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from flashscape import directories, output
from flashscape.errors import OutputError, unread
from flashscape.spelling import how_to_repeat

if TYPE_CHECKING:
    from pathlib import Path

_NAMED_MOST = 12


def summary(folder: Path, *, for_tables: bool = True) -> dict[str, Any]:
    """Read the summary of a run; raise OutputError for several runs and list them.

    With ``for_tables`` only runs that have kept their tables are listed.
    """
    if folder.is_file():
        raise OutputError(
            f"{folder}: is a file, and results are a directory; "
            f"name one that `flashscape run --out DIR` has written"
        )
    file = folder / output.SUMMARY
    if not file.exists() and (kind := directories.kind_of(folder)) is not None:
        raise OutputError(_told(folder, kind.told, for_tables=for_tables))
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
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
    if not isinstance(found, dict) or "initiators" not in found:
        raise OutputError(f"{file}: is not a summary of flashscape")
    return found


def _told(directory: Path, what: str, *, for_tables: bool) -> str:
    runs = _runs_in(directory)
    if not runs:
        return f"{directory}: is {what}, and no run of it is kept there"
    whole = [
        told
        for place, told in runs.items()
        if not for_tables or (place / "bands.parquet").is_file()
    ]
    if not whole:
        place, told = next(iter(runs.items()))
        return (
            f"{directory}: has the runs of {what}, and keeps their summaries only; run one of "
            f"them again to examine it, such as {told}: {how_to_repeat(place)}"
        )
    more = len(whole) - _NAMED_MOST
    listed = "".join(f"\n  {told}" for told in whole[:_NAMED_MOST])
    rest = f"\n  and {more:,} more" if more > 0 else ""
    return f"{directory}: is {what}; name one of the runs in it:{listed}{rest}"


def _runs_in(directory: Path) -> dict[Path, str]:
    """Return the directories of runs that have ended, as text; those of a sweep with names."""
    found = {
        summary.parent: str(summary.parent)
        for depth in ("*", "*/*")
        for summary in directory.glob(f"{depth}/{output.SUMMARY}")
    }
    names = _names_in(directory / directories.SWEEP.document)
    order = {key: at for at, key in enumerate(names)}
    return {
        place: f"{told} ({names[place.name]})" if place.name in names else told
        for place, told in sorted(found.items(), key=lambda f: (order.get(f[0].name, -1), f[0]))
    }


def _names_in(manifest: Path) -> dict[str, str]:
    """Return the name of each point of a sweep, by the name of its directory."""
    # Equal points share a directory.
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        points = json.loads(manifest.read_text(encoding="utf-8"))["points"]
        return {str(point["key"]): str(point["name"]) for point in points}
    return {}
