"""Job files as fio reads them: sections, options in order, comments, includes, variables."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from flashscape import foreign
from flashscape.errors import ConfigError, unread
from flashscape.fio_jobs import known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashscape.imported import Faults

_GLOBAL = "global"
_INCLUDE = "include"
_DEPTH = 16
"""Greatest depth of nested includes."""

_VARIABLE = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True, eq=False, slots=True)
class Option:
    """An option with its place in a file."""

    file: str
    line: int
    section: str
    name: str
    """Fio's first name of the option: ``bs`` for ``blocksize``."""
    value: str | None
    """Value; None for an option without one."""

    @property
    def is_shared(self) -> bool:
        """True for an option of [global]."""
        return self.section.startswith(_GLOBAL)

    @property
    def shown(self) -> str:
        """Value as a list shows it."""
        return "on" if self.value is None else self.value


@dataclass(slots=True)
class Section:
    """A job, or options for the jobs below it."""

    title: str
    file: str
    line: int
    options: list[Option] = field(default_factory=list)

    @property
    def is_global(self) -> bool:
        """True for options of later jobs: fio goes by the first letters of the title."""
        return self.title.startswith(_GLOBAL)


def sections(path: Path, faults: Faults) -> list[Section]:
    """Read a job file; record unknown options as faults."""
    if (told := foreign.no_job(path)) is not None:
        raise ConfigError(f"{path}: {told}")
    found: list[Section] = []
    for file, line, text in _lines(path, 0):
        if text.startswith("["):
            title = text[1:].removesuffix("]")
            if file != path:
                raise ConfigError(f"{file}, line {line}: fio allows no [{title}] in an include")
            found.append(Section(title, str(path), line))
            continue
        if not found:
            raise ConfigError(
                f"{path}, line {line}: {text!r} stands before the first [job], which fio refuses; "
                "write [global] above it"
            )
        option = _option(file, line, found[-1].title, text, faults)
        if option is not None:
            found[-1].options.append(option)
    return found


def _lines(path: Path, depth: int) -> Iterator[tuple[Path, int, str]]:
    """Return non-empty lines, with those of includes in place."""
    if depth > _DEPTH:
        raise ConfigError(f"{path}: is included by itself, or {_DEPTH} files deep")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(unread(path, error)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is no job file of fio: it is not text in UTF-8") from error
    for number, line in enumerate(text.splitlines(), 1):
        shown = line.strip()
        if shown.startswith((";", "#")):
            continue
        shown = shown.partition(";")[0].partition("#")[0].strip()
        if shown.startswith(_INCLUDE):
            name = shown.removeprefix(_INCLUDE).strip()
            here = Path(name)
            # Relative to the working directory, or else to the file that includes it.
            yield from _lines(here if here.exists() else path.parent / name, depth + 1)
        elif shown:
            yield path, number, shown


def _option(file: Path, line: int, section: str, text: str, faults: Faults) -> Option | None:
    name, equals, value = (part.strip() for part in text.partition("="))
    place = f"[{section}] {name}"
    first = known.first_name(name)
    if first is None:
        near = known.near(name)
        hint = f" (did you mean {near!r}?)" if near else ""
        faults.add(place, str(file), line, f"fio has no such option{hint}")
        return None
    missing = [found for found in _VARIABLE.findall(value) if not os.environ.get(found)]
    if missing:
        faults.add(
            place,
            str(file),
            line,
            f"the environment has no {missing[0]}, of which fio makes nothing; "
            f"set it: {missing[0]}=VALUE flashscape import-fio …",
        )
        return None
    value = _VARIABLE.sub(lambda match: os.environ[match[1]], value)
    return Option(str(file), line, section, first, value if equals else None)
