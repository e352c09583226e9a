"""Pictures of results in a directory."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from flashscape import drawing, output, toml
from flashscape.arguments import checks_arguments
from flashscape.compare import kept
from flashscape.compare import picture as overlay
from flashscape.compare.comparison import DOCUMENT
from flashscape.compare.comparison import PICTURE as OVERLAY
from flashscape.errors import ConfigError, OutputError, unread
from flashscape.fleet import DOCUMENT as FLEET
from flashscape.fleet import PICTURE as FLEET_PICTURE
from flashscape.fleet import Fleet
from flashscape.lifetime import COMPARED, COMPARED_PICTURE, Lifetime, LifetimeComparison
from flashscape.lifetime import DOCUMENT as LIFE
from flashscape.lifetime import PICTURE as LIFE_PICTURE
from flashscape.picture import draw, svg, why_not
from flashscape.result import Result
from flashscape.sweep import Sweep
from flashscape.sweep.store import MANIFEST
from flashscape.sweep.store import PICTURE as EFFECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from matplotlib.figure import Figure

_REPRODUCTION = "reproduction.json"
_COMMANDS = "`flashscape run`, `replay`, `compare`, `sweep`, `fleet` or `lifetime`"
_WRITTEN_BY = f"{_COMMANDS} has written with --out DIR"


@checks_arguments
def plot(
    path: str | PathLike[str],
    out: str | PathLike[str] | None = None,
    *,
    force: bool = False,
    percentiles: str | Iterable[float | str] | None = None,
) -> list[Path]:
    """Draw all pictures of a directory of results, in the place of earlier ones.

    For a run that is ``tail.svg``, for a comparison ``comparison.svg`` and those of its runs, for
    a sweep ``sweep.svg``, for a fleet ``fleet.svg``, for a projected life ``lifetime.svg`` and that
    of its sweep, for lives that were compared ``lifetimes.svg``. With ``out`` only the first of
    them is drawn, to that PNG, PDF or SVG file, which replaces an existing one only with ``force``.
    ``percentiles`` are those of a sweep's picture, four at most. Returns the files. Needs
    matplotlib. Raises OutputError if the directory has no results, there is nothing to draw, or
    ``out`` cannot be written, and ConfigError for percentiles that the points of a sweep do not
    keep, and for those of another picture.

    >>> fs.plot("results")     # doctest: +SKIP
    """
    folder = Path(path)
    if folder.name in (output.SUMMARY, DOCUMENT, MANIFEST, LIFE, FLEET, COMPARED):
        folder = folder.parent
    if percentiles is not None:
        _refuse_percentiles(folder)
    if out is not None:
        # Check before the results are read, which takes a while.
        drawing.form_of(out)
        drawing.write(_first(folder, percentiles), out, force=force)
        return [Path(out)]
    if (folder / COMPARED).is_file():
        return [_of_lives(folder)]
    if (folder / LIFE).is_file():
        return _of_life(folder)
    if (folder / FLEET).is_file():
        return [_of_fleet(folder)]
    if (folder / MANIFEST).is_file():
        return [_of_sweep(folder, percentiles)]
    if (folder / DOCUMENT).is_file():
        return _of_comparison(folder)
    if (folder / output.SUMMARY).is_file():
        return [_of_run(folder)]
    raise OutputError(_why_nothing(folder))


def _refuse_percentiles(folder: Path) -> None:
    """Raise ConfigError if the picture of a directory shows whole distributions, or none."""
    is_other = any((folder / each).is_file() for each in (LIFE, FLEET))
    if is_other or not (folder / MANIFEST).is_file():
        raise ConfigError(
            f"percentiles: only the picture of a sweep has a choice, and {folder} is none; leave "
            "them out"
        )


def _first(folder: Path, percentiles: str | Iterable[float | str] | None) -> Callable[[], Figure]:
    """Return the function that draws the first picture of a directory."""
    if (folder / COMPARED).is_file():
        return LifetimeComparison.load(folder).figure
    if (folder / LIFE).is_file():
        return Lifetime.load(folder).figure
    if (folder / FLEET).is_file():
        return Fleet.load(folder).figure
    if (folder / MANIFEST).is_file():
        swept = Sweep.load(folder)
        _refuse(folder, swept.why_not_drawn())
        return lambda: swept.figure(percentiles)
    if (folder / DOCUMENT).is_file():
        subject = kept.pictured(folder)
        _refuse(folder, overlay.why_not(subject))
        return lambda: overlay.draw(subject)
    if (folder / output.SUMMARY).is_file():
        result = Result.load(folder)
        _refuse(folder, why_not(result))
        return lambda: _drawn(result, folder)
    raise OutputError(_why_nothing(folder))


def _drawn(result: Result, folder: Path) -> Figure:
    try:
        return draw(result)
    except (KeyError, TypeError) as error:
        raise result.other_version(folder, str(error)) from error


def _why_nothing(folder: Path) -> str:
    """Describe a directory without results, and say which one to name instead."""
    name = f"name a directory that {_WRITTEN_BY}"
    if not folder.exists():
        told = unread(folder, FileNotFoundError()).replace("no such file", "no such directory")
        return f"{told}; {name}"
    if not folder.is_dir():
        return f"{folder}: is a file, and results are a directory; {name}"
    if (folder / _REPRODUCTION).is_file():
        return f"{folder}: has a reproduction, whose plots are drawn by `{_again(folder)}`"
    return (
        f"{folder}: has no results (none of {output.SUMMARY}, {DOCUMENT}, {MANIFEST} is there); "
        f"{name}"
    )


def _again(folder: Path) -> str:
    """Return the command that draws a reproduction again; it reuses the kept runs."""
    here = shlex.quote(str(folder))
    try:
        found = json.loads((folder / _REPRODUCTION).read_text(encoding="utf-8"))
        study = shlex.quote(str(found.get("folder") or found["study"]))
        # Values of a command line are texts.
        pairs = (
            f"{path}={value if isinstance(value, str) else toml.inline(value)}"
            for path, value in found.get("set", {}).items()
        )
        changed = "".join(f" --set {shlex.quote(pair)}" for pair in pairs)
        return f"flashscape reproduce {study} --profile {found['profile']}{changed} --out {here}"
    except (OSError, ValueError, KeyError, TypeError):
        return f"flashscape reproduce PAPER --out {here}"


def _refuse(folder: Path, why: str | None) -> None:
    if why is not None:
        raise OutputError(f"{folder}: no picture: {why}")


def _of_run(folder: Path) -> Path:
    result = Result.load(folder)
    _refuse(folder, why_not(result))
    try:
        drawn = svg(result)
    except (KeyError, TypeError) as error:
        raise result.other_version(folder, str(error)) from error
    output.Directory(folder).add(output.PICTURE, drawn)
    return folder / output.PICTURE


def _of_comparison(folder: Path) -> list[Path]:
    subject = kept.pictured(folder)
    _refuse(folder, overlay.why_not(subject))
    output.Directory(folder).add(OVERLAY, overlay.svg(subject))
    return [folder / OVERLAY, *(_of_run(each) for each in kept.runs_of(folder))]


def _of_life(folder: Path) -> list[Path]:
    drawn = drawing.encoded(Lifetime.load(folder).figure(), "svg")
    output.Directory(folder).add(LIFE_PICTURE, drawn)
    is_pictured = Sweep.load(folder).why_not_drawn() is None
    others = [_of_sweep(folder, None)] if is_pictured else []
    return [folder / LIFE_PICTURE, *others]


def _of_lives(folder: Path) -> Path:
    drawn = drawing.encoded(LifetimeComparison.load(folder).figure(), "svg")
    output.Directory(folder).add(COMPARED_PICTURE, drawn)
    return folder / COMPARED_PICTURE


def _of_fleet(folder: Path) -> Path:
    drawn = drawing.encoded(Fleet.load(folder).figure(), "svg")
    output.Directory(folder).add(FLEET_PICTURE, drawn)
    return folder / FLEET_PICTURE


def _of_sweep(folder: Path, percentiles: str | Iterable[float | str] | None) -> Path:
    _refuse(folder, Sweep.load(folder).draw(percentiles))
    return folder / EFFECTS
