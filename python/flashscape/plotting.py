"""Pictures of results in a directory."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flashscape import directories, drawing, output, spelling, toml
from flashscape.arguments import checks_arguments
from flashscape.compare import kept
from flashscape.compare import picture as overlay
from flashscape.compare.comparison import PICTURE as OVERLAY
from flashscape.directories import kind_of
from flashscape.errors import ConfigError, OutputError, unread
from flashscape.fleet import PICTURE as FLEET_PICTURE
from flashscape.fleet import Fleet
from flashscape.lifetime import COMPARED_PICTURE, Lifetime, LifetimeComparison
from flashscape.lifetime import PICTURE as LIFE_PICTURE
from flashscape.picture import draw, svg, why_not
from flashscape.result import Result
from flashscape.sweep import Sweep
from flashscape.sweep.store import PICTURE as EFFECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from matplotlib.figure import Figure

    Percentiles = str | Iterable[float | str] | None
    WithFigure = type[Lifetime] | type[Fleet] | type[LifetimeComparison]

_COMMANDS = "`flashscape run`, `replay`, `compare`, `sweep`, `fleet` or `lifetime`"


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
    if folder.name in [kind.document for kind in directories.KINDS]:
        folder = folder.parent
    kind = kind_of(folder)
    if percentiles is not None and kind is not directories.SWEEP:
        raise ConfigError(
            f"percentiles: only the picture of a sweep has a choice, and {folder} is none; leave "
            "them out"
        )
    if out is not None:
        # Check before the results are read, which takes a while.
        drawing.form_of(out)
    if kind is None:
        raise OutputError(_why_nothing(folder))
    how = _HOW[kind]
    if out is None:
        return how.all(folder, percentiles)
    drawing.write(how.first(folder, percentiles), out, force=force)
    return [Path(out)]


def _drawn(result: Result, folder: Path) -> Figure:
    try:
        return draw(result)
    except (KeyError, TypeError) as error:
        raise result.other_version(folder, str(error)) from error


def _why_nothing(folder: Path) -> str:
    """Describe a directory without results, and say which one to name instead."""
    out = spelling.option("--out DIR", "out=...")
    name = f"name a directory that {_COMMANDS} has written with {out}"
    if not folder.exists():
        told = unread(folder, FileNotFoundError()).replace("no such file", "no such directory")
        return f"{told}; {name}"
    if not folder.is_dir():
        return f"{folder}: is a file, and results are a directory; {name}"
    if directories.REPRODUCTION.is_in(folder):
        return f"{folder}: has a reproduction, whose plots are drawn by `{_again(folder)}`"
    common = (directories.RUN, directories.COMPARISON, directories.SWEEP)
    documents = ", ".join(kind.document for kind in common)
    return f"{folder}: has no results (none of {documents} is there); {name}"


def _again(folder: Path) -> str:
    """Return the command that draws a reproduction again; it reuses the kept runs."""
    here = shlex.quote(str(folder))
    try:
        found = json.loads((folder / directories.REPRODUCTION.document).read_text(encoding="utf-8"))
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


def _of_run(folder: Path, _: Percentiles = None) -> list[Path]:
    result = Result.load(folder)
    _refuse(folder, why_not(result))
    try:
        drawn = svg(result)
    except (KeyError, TypeError) as error:
        raise result.other_version(folder, str(error)) from error
    return [_stored(folder, output.PICTURE, drawn)]


def _stored(folder: Path, name: str, drawn: bytes) -> Path:
    output.Directory(folder).add(name, drawn)
    return folder / name


def _first_of_run(folder: Path, _: Percentiles) -> Callable[[], Figure]:
    result = Result.load(folder)
    _refuse(folder, why_not(result))
    return lambda: _drawn(result, folder)


def _of_comparison(folder: Path, _: Percentiles) -> list[Path]:
    subject = kept.pictured(folder)
    _refuse(folder, overlay.why_not(subject))
    own = _stored(folder, OVERLAY, overlay.svg(subject))
    return [own, *(file for each in kept.runs_of(folder) for file in _of_run(each))]


def _first_of_comparison(folder: Path, _: Percentiles) -> Callable[[], Figure]:
    subject = kept.pictured(folder)
    _refuse(folder, overlay.why_not(subject))
    return lambda: overlay.draw(subject)


def _of_sweep(folder: Path, percentiles: Percentiles = None) -> list[Path]:
    _refuse(folder, Sweep.load(folder).draw(percentiles))
    return [folder / EFFECTS]


def _first_of_sweep(folder: Path, percentiles: Percentiles) -> Callable[[], Figure]:
    swept = Sweep.load(folder)
    _refuse(folder, swept.why_not_drawn())
    return lambda: swept.figure(percentiles)


def _of_life(folder: Path, _: Percentiles) -> list[Path]:
    own = _of_one(Lifetime, LIFE_PICTURE)(folder, None)
    is_pictured = Sweep.load(folder).why_not_drawn() is None
    return [*own, *(_of_sweep(folder) if is_pictured else [])]


def _of_one(of: WithFigure, name: str) -> Callable[[Path, Percentiles], list[Path]]:
    """Return the function that draws the only picture of a directory."""

    def draw(folder: Path, _: Percentiles) -> list[Path]:
        return [_stored(folder, name, drawing.encoded(of.load(folder).figure(), "svg"))]

    return draw


def _first_of(of: WithFigure) -> Callable[[Path, Percentiles], Callable[[], Figure]]:
    return lambda folder, _: of.load(folder).figure


class _How(NamedTuple):
    """Functions that draw a kind of directories of results."""

    all: Callable[[Path, Percentiles], list[Path]]
    """Draws all pictures, and returns their files."""
    first: Callable[[Path, Percentiles], Callable[[], Figure]]
    """Returns the function that draws the first picture."""


_HOW = {
    directories.RUN: _How(_of_run, _first_of_run),
    directories.COMPARISON: _How(_of_comparison, _first_of_comparison),
    directories.SWEEP: _How(_of_sweep, _first_of_sweep),
    directories.LIFETIME: _How(_of_life, _first_of(Lifetime)),
    directories.FLEET: _How(_of_one(Fleet, FLEET_PICTURE), _first_of(Fleet)),
    directories.LIFETIMES: _How(
        _of_one(LifetimeComparison, COMPARED_PICTURE), _first_of(LifetimeComparison)
    ),
}
"""Functions that draw each kind."""
