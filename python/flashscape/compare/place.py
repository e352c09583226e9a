"""The directory of a comparison: a run for each side and seed, in places such as A or B/seed-2.

A file beside the results names the inputs of a run. A further start does not run it again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING

from flashscape import output, spelling
from flashscape.compare.comparison import DOCUMENT, PICTURE
from flashscape.errors import OutputError
from flashscape.sweep import Store
from flashscape.sweep.store import FAILED, PARTIAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from flashscape.sweep.store import Done

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
KEY = "inputs.key"
"""File with the key of a run's inputs."""


class Places(Store):
    """The runs of a comparison, each at a place of its own."""

    def __init__(self, folder: Path, places: Mapping[str, str]) -> None:
        super().__init__(folder)
        self._wanted = {folder / place for place in places}
        self._places: dict[str, str] = {key: place for place, key in reversed(list(places.items()))}

    @classmethod
    @contextlib.contextmanager
    def at(
        cls, path: str | os.PathLike[str], places: Mapping[str, str], *, force: bool
    ) -> Iterator[Places]:
        """Claim a directory, new or of an earlier start; ``places`` has the keys of the runs.

        Raises OutputError if it holds something else, unless ``force`` says to overwrite that, and
        if another process uses it.
        """
        with output.Directory.claim(path, force=True) as directory:
            store = cls(directory.path, places)
            if not force:
                store._refuse_others(places)
            store._move()
            store._drop_drives()
            try:
                yield store
            finally:
                store._drop_drives()

    def path_of(self, key: str) -> Path:
        """Return the directory of a run's results, which need not exist."""
        return self.folder / self._places[key]

    def keys(self) -> set[str]:
        """Return the keys of all runs in the directory."""
        return set(self._known())

    def done(self, key: str) -> Done | None:
        """Return the stored data of a run; None if they are missing, damaged or of another run."""
        return super().done(key) if _key_in(self.path_of(key)) == key else None

    def beside(self, key: str) -> dict[str, str]:
        """Return the file that names the inputs of a run."""
        return {KEY: f"{key}\n"}

    def forget_comparison(self) -> None:
        """Remove the comparison of an earlier start: its runs are being replaced."""
        output.remove(self.folder, (DOCUMENT, PICTURE))

    def copy_to(self, place: str, key: str) -> Path:
        """Return the directory of a run at its place, to which equal runs are copied."""
        folder, source = self.folder / place, self.path_of(key)
        if folder != source and _key_in(folder) != key:
            _remove(folder)
            folder.mkdir(parents=True, exist_ok=True)
            for name in _FILES:
                if (source / name).is_file():
                    _link(source / name, folder / name)
        return folder

    def remove_others(self) -> None:
        """Remove the runs of an earlier comparison that have no place in this one."""
        for folder in runs_in(self.folder):
            if folder not in self._wanted:
                _remove(folder)

    def _known(self) -> dict[str, Path]:
        """Return the directory of each key that is stored."""
        found = {_key_in(folder): folder for folder in runs_in(self.folder)}
        return {key: folder for key, folder in found.items() if key is not None}

    def _refuse_others(self, places: Mapping[str, str]) -> None:
        known = self._known()
        names = sorted(each.name for each in self.folder.iterdir() if each.name[0] != ".")
        if names and not known:
            raise OutputError(f"{self.folder}: is not empty (it has {names[0]}); {_remedy()}")
        for place, key in places.items():
            folder = self.folder / place
            if _has_results(folder) and _key_in(folder) != key:
                raise OutputError(
                    f"{folder}: has the results of another run (another experiment, another trace, "
                    f"or another version of flashscape); {_remedy()}"
                )

    def _move(self) -> None:
        """Move runs to their places: with more seeds, A becomes A/seed-1."""
        for key, folder in self._known().items():
            if key not in self._places or folder == (place := self.path_of(key)):
                continue
            if not _has_results(place):
                place.mkdir(parents=True, exist_ok=True)
                for name in _FILES:
                    if (folder / name).exists():
                        (folder / name).replace(place / name)


_FILES = (*reversed(output.OURS), PARTIAL, FAILED, KEY)
"""Files of a run; what shows that it is complete comes last."""


def _link(source: Path, target: Path) -> None:
    """Let two names stand for one file; copy it if the disk has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def runs_in(folder: Path) -> list[Path]:
    """Return the directories of runs inside the directory of a comparison."""
    sides = [folder / label for label in LABELS]
    return [each for side in sides for each in (*side.glob("seed-*"), side) if each.is_dir()]


def _remedy() -> str:
    force = spelling.option("--force", "force=True")
    return f"choose another directory, or overwrite with {force}"


def _has_results(folder: Path) -> bool:
    return (folder / output.SUMMARY).exists() or (folder / FAILED).exists()


def _key_in(folder: Path) -> str | None:
    """Return the key of the run in a directory; None if none is there."""
    if not _has_results(folder):
        return None
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return (folder / KEY).read_text(encoding="utf-8").strip()
    return None


def _remove(folder: Path) -> None:
    output.remove(folder / PARTIAL, output.OURS)
    output.remove(folder, (*output.OURS, FAILED, KEY))
