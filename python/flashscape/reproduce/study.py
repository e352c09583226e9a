"""A study: one folder with a paper's data and, for each of its exhibits, a module of code.

paper.toml      title, authors, venue, year, link, and the list of exhibits
claims.toml     the paper's claims, and the bounds within which we call them reproduced
figure_4.py     the exhibit figure-4
_runs.py        code that exhibits share; no exhibit, because of the leading underscore
"""

from __future__ import annotations

import hashlib
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from flashscape.errors import StudyError
from flashscape.near import listed
from flashscape.reproduce.claims import read_claims
from flashscape.reproduce.copying import foreign_imports
from flashscape.reproduce.exhibit import Exhibit, blamed
from flashscape.reproduce.faults import Faults, found, read_toml, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from flashscape.reproduce.claims import Claim

_STUDIES = "flashscape.studies"
"""Package of the studies that ship: imported by name, because they build on this package."""

_PAPER = "paper.toml"
_CLAIMS = "claims.toml"
_PAPER_KEYS = ("title", "authors", "venue", "year", "link", "about", "exhibit")


@dataclass(frozen=True)
class Paper:
    """Bibliographic data of a paper."""

    title: str
    authors: tuple[str, ...]
    venue: str
    year: int
    link: str
    """A DOI or an address."""
    about: str
    """Topic of the paper, in a sentence of ours."""
    exhibits: dict[str, str]
    """Titles of its reproduced figures and tables, by name, in order."""


@dataclass(frozen=True)
class Study:
    """A paper, its claims, and the code that measures them."""

    name: str
    paper: Paper
    claims: tuple[Claim, ...]
    exhibits: dict[str, Exhibit]
    """Exhibits by name, in the paper's order."""
    folder: Path | None = None
    """Folder of a user's own study; None for a study that ships."""

    @property
    def named(self) -> str:
        """Name on the command line."""
        return self.name if self.folder is None else str(self.folder)

    def claims_of(self, exhibit: str) -> list[Claim]:
        """Return the claims of an exhibit, in the order of the data."""
        return [claim for claim in self.claims if claim.exhibit == exhibit]


def names() -> list[str]:
    """Return the studies that ship with flashscape."""
    shipped: tuple[str, ...] = _shipped().STUDIES
    return [each.replace("_", "-") for each in shipped]


def _shipped() -> ModuleType:
    return import_module(_STUDIES)


def find(named: str | PathLike[str]) -> tuple[Study, list[str]]:
    """Return the study of ``PAPER[/EXHIBIT]``, and its exhibits; raise StudyError.

    A paper is one that ships with flashscape, or the folder of a user's own study.
    """
    text = str(named).rstrip("/")
    paper, _, exhibit = text.rpartition("/")
    if (Path(text) / _PAPER).is_file():
        paper, exhibit = text, ""
    elif not paper:
        paper, exhibit = exhibit, ""
    if (Path(paper) / _PAPER).is_file():
        study = of_folder(Path(paper))
    elif paper in names():
        study = of_name(paper)
    else:
        raise StudyError(f"no paper {paper!r} {listed(paper, names())}")
    if exhibit and exhibit not in study.exhibits:
        raise StudyError(f"{study.name}: no exhibit {exhibit!r} {listed(exhibit, study.exhibits)}")
    return study, [exhibit] if exhibit else list(study.exhibits)


def of_name(name: str) -> Study:
    """Load a study that ships with flashscape; raise StudyError if it is not valid."""
    module = name.replace("-", "_")
    return _load(name, shipped_folder(name), f"{_STUDIES}.{module}")


def shipped_folder(name: str) -> Path:
    """Return the folder of a study that ships; raise StudyError for an unknown name."""
    if name not in names():
        raise StudyError(f"no paper {name!r} {listed(name, names())}")
    return Path(str(_shipped().__file__)).parent / name.replace("-", "_")


def of_folder(folder: Path) -> Study:
    """Load a study from a user's folder; raise StudyError if it is not valid."""
    folder = folder.resolve()
    # A package of its own, so that two studies may have modules of the same name.
    package = f"_flashscape_study_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    for loaded in [each for each in sys.modules if each.partition(".")[0] == package]:
        # The source may have changed since.
        del sys.modules[loaded]
    root = ModuleType(package)
    root.__path__ = [str(folder)]
    sys.modules[package] = root
    refuse(foreign_imports(folder, _STUDIES))
    with _without_bytecode():
        study = _load(folder.name.replace("_", "-"), folder, package)
    return replace(study, folder=folder)


@contextmanager
def _without_bytecode() -> Iterator[None]:
    """Import from source: a compiled module is compared with its source by whole seconds only."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    invalidate_caches()
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _load(name: str, folder: Path, package: str) -> Study:
    paper, claims, all_faults = read_data(folder)
    refuse(all_faults)
    exhibits = _modules(paper, folder, package)
    study = Study(name, paper, tuple(claims), exhibits)
    refuse([_code_faults(study, folder)])
    return study


def read_data(folder: Path) -> tuple[Paper, list[Claim], list[Faults]]:
    """Return the data of a study, and their faults; raise StudyError for text that is no TOML."""
    raw, of_paper = read_toml(folder / _PAPER)
    paper = _paper(raw, of_paper)
    raw, of_claims = read_toml(folder / _CLAIMS)
    claims = read_claims(raw, of_claims, tuple(paper.exhibits))
    for exhibit in paper.exhibits:
        if claims and not any(claim.exhibit == exhibit for claim in claims):
            of_paper.add("exhibit", f"{exhibit} has no claim in {_CLAIMS}")
    return paper, claims, [of_paper, of_claims]


def _paper(raw: dict[str, Any], faults: Faults) -> Paper:
    faults.known(raw, _PAPER_KEYS, "")
    title, venue, link, about = (
        faults.text(raw, key, "") for key in ("title", "venue", "link", "about")
    )
    authors = raw.get("authors")
    if not isinstance(authors, list) or not all(isinstance(each, str) for each in authors):
        faults.add("authors", f"{found(authors)} is not a list of names")
        authors = []
    year = raw.get("year")
    if not isinstance(year, int) or isinstance(year, bool):
        faults.add("year", f"{found(year)} is no year")
        year = 0
    exhibits = _exhibits(raw.get("exhibit"), faults)
    return Paper(title, tuple(authors), venue, year, link, about, exhibits)


def _exhibits(entries: Any, faults: Faults) -> dict[str, str]:
    if not isinstance(entries, list) or not entries:
        faults.add("exhibit", "a paper has exhibits; write [[exhibit]] with name and title")
        return {}
    exhibits: dict[str, str] = {}
    for at, entry in enumerate(entries):
        place = f"exhibit[{at}]"
        if not isinstance(entry, dict):
            faults.add(place, f"{found(entry)} is not a table")
            continue
        faults.known(entry, ("name", "title"), place)
        name, title = (faults.text(entry, key, place) for key in ("name", "title"))
        if name in exhibits:
            faults.add(f"{place}.name", f"{name} is there twice")
        elif name:
            exhibits[name] = title
    return exhibits


def _modules(paper: Paper, folder: Path, package: str) -> dict[str, Exhibit]:
    """Return the exhibit of each module; raise StudyError with all modules that lack one."""
    faults = Faults(folder / _PAPER)
    exhibits = {}
    files = {file.stem.replace("_", "-") for file in folder.glob("[!_]*.py")}
    for name in paper.exhibits:
        file = f"{name.replace('-', '_')}.py"
        if name not in files:
            faults.add("exhibit", f"{name} has no code; write {folder / file}")
            continue
        with blamed(f"{folder / file}"):
            module = import_module(f"{package}.{name.replace('-', '_')}")
        exhibit = getattr(module, "exhibit", None)
        if isinstance(exhibit, Exhibit):
            exhibits[name] = exhibit
        else:
            faults.add("exhibit", f"{folder / file} has no exhibit = Exhibit()")
    for name in sorted(files - paper.exhibits.keys()):
        file = f"{name.replace('-', '_')}.py"
        faults.add("exhibit", f"{file} is none of the exhibits (modules they share begin with _)")
    refuse([faults])
    return exhibits


def _code_faults(study: Study, folder: Path) -> Faults:
    """Return claims without a measurement, and measurements of unknown claims."""
    faults = Faults(folder / _CLAIMS)
    for at, claim in enumerate(study.claims):
        if not claim.is_context and claim.id not in study.exhibits[claim.exhibit].measurements:
            file = f"{claim.exhibit.replace('-', '_')}.py"
            message = f'{file} does not measure {claim.id} (write @exhibit.measures("{claim.id}"))'
            faults.add(f"claim[{at}]", message)
    for name, exhibit in study.exhibits.items():
        own = [claim.id for claim in study.claims_of(name)]
        for measured in exhibit.measurements:
            if measured not in own:
                file = f"{name.replace('-', '_')}.py"
                hint = listed(measured, own, "it has")
                message = f"{file} measures {measured}, no claim of it {hint}"
                faults.add("", message)
    return faults
