"""Snapshots: drives that were shut down, from which others can start."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from flashscape import _flashscape, units
from flashscape.arguments import checks_arguments
from flashscape.errors import OutputError
from flashscape.experiment import Experiment
from flashscape.output import File

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike


class Snapshot:
    """A drive that was shut down: the places of its data and its wear, and nothing else.

    Any number of runs and drives may start from one, with other policies, timing or
    schedulers. All settings that decide the places of data (geometry, mapping unit,
    capacity, pools) must be unchanged. Made by :meth:`take`, :meth:`load`,
    :meth:`flashscape.Drive.snapshot`, and ``flashscape.run(..., save_drive=...)``.

    >>> aged = Snapshot.take("experiment.toml")                        # doctest: +SKIP
    >>> aged.save("aged.snap")                                         # doctest: +SKIP
    >>> fs.run("experiment.toml", snapshot=aged)                       # doctest: +SKIP
    """

    def __init__(self, inner: _flashscape.Snapshot) -> None:
        self._inner = inner
        self.origin: dict[str, Any] = json.loads(inner.origin())
        """Origin of the drive: ``flashscape`` (the version), ``title``, ``seed``, ``drive``
        (its configuration), ``preconditioned``, ``ran_ns`` (simulated time after that, in
        nanoseconds), ``erases`` (since it was new), ``mapped_units``."""

    @classmethod
    @checks_arguments
    def take(
        cls,
        experiment: Experiment | Mapping[str, Any] | str | PathLike[str],
        *,
        ongoing: Callable[[float], object] | None = None,
    ) -> Snapshot:
        """Fill and age the drive of an experiment, and shut it down.

        ``ongoing`` is called with the share done. Raises ConfigError and SpaceError.
        """
        return cls(_flashscape.Snapshot.take(Experiment.of(experiment).plan, ongoing))

    @classmethod
    @checks_arguments
    def load(
        cls, path: str | PathLike[str], *, ongoing: Callable[[float], object] | None = None
    ) -> Snapshot:
        """Read a file; raise SnapshotError if it holds no snapshot, or a damaged one."""
        return cls(_flashscape.Snapshot.read(os.fspath(path), ongoing))

    @classmethod
    @checks_arguments
    def of(cls, given: Snapshot | str | PathLike[str]) -> Snapshot:
        """Return a snapshot unchanged, or read it from a file's path."""
        return given if isinstance(given, Snapshot) else cls.load(given)

    @staticmethod
    def files(given: Snapshot | str | PathLike[str]) -> list[str]:
        """Return the file that ``given`` names, if it is a path."""
        return [] if isinstance(given, Snapshot) else [os.fspath(given)]

    @checks_arguments
    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write it to a file, whole or not at all; raise OutputError.

        An existing file is only replaced with ``force``. Its size is about that of
        the drive's map: some 9 bytes for each mapping unit that was ever written.
        """
        if not os.fspath(path):
            raise OutputError("the snapshot has no name; give the path of a file")
        with File.claim(path, "a snapshot", force=force) as file:
            self.write_to(file)

    def write_to(self, file: File) -> None:
        """Write it to a claimed file; raise OutputError."""
        try:
            file.staging.unlink(missing_ok=True)
            self._inner.write(file.staging)
        except OSError as error:
            raise file.failed(error) from error
        file.keep()

    @property
    def inner(self) -> _flashscape.Snapshot:
        """The object of the compiled module."""
        return self._inner

    def __repr__(self) -> str:
        return f"<Snapshot {describe(self.origin)}>"


def origin(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the origin of the snapshot in a file; only the file's beginning is read."""
    found: dict[str, Any] = json.loads(_flashscape.snapshot_origin(os.fspath(path)))
    return found


def describe(origin: Mapping[str, Any]) -> str:
    """Describe the origin of a snapshot in a line."""
    name = origin["title"] or origin["drive"].get("preset") or "a drive"
    ran = f" and {units.duration(origin['ran_ns'])} of work" if origin["ran_ns"] else ""
    mapped = units.many(origin["mapped_units"], "mapping unit")
    erases = units.many(origin["erases"], "erase")
    return f"{name}: {mapped} of data, {erases}, after preconditioning{ran}"
