"""Import of fio's job files as experiments, with a verdict on each option."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashscape.arguments import checks_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from flashscape.imported import Imported

__all__ = ["import_fio"]


@checks_arguments
def import_fio(
    path: str | PathLike[str],
    drive: str,
    overrides: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    *,
    sections: Sequence[str] = (),
    without: Sequence[str] = (),
    fill: str = "sequential",
    age: float | None = None,
) -> Imported:
    """Turn a job file of fio into an experiment on the preset ``drive``.

    ``overrides`` change keys of the drive, as texts of a command line; ``sections`` are the
    jobs to import (by default all), ``without`` the options to leave out. ``fill``
    and ``age`` say what the drive contains at first, as for ``replay``. Raises ConfigError with
    every fault at once, each with its file, line and option: an option that changes the load
    and has no counterpart here is a fault.
    """
    # Import here: few users of flashscape import from fio.
    from flashscape.fio_jobs.convert import Wishes, convert

    pairs = list(overrides.items() if hasattr(overrides, "items") else overrides)
    return convert(Path(path), Wishes(drive, pairs, sections, without, fill, age))
