"""Projected lives side by side: their figures, the settings that differ, and what that says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import directories, drawing, units
from flashscape.arguments import checks_arguments
from flashscape.errors import ConfigError, OutputError, unread
from flashscape.lifetime import picture, projection
from flashscape.lifetime.result import Lifetime
from flashscape.output import Directory
from flashscape.sides import checked_names
from flashscape.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    import polars as pl
    from matplotlib.figure import Figure

    LifeOrPath = Lifetime | str | PathLike[str]

COMPARED = directories.LIFETIMES.document
COMPARED_PICTURE = "lifetimes.svg"

_LABELS = "ABCDEFGH"
"""Names of lives in tables; so many can be told apart in a picture."""
_SETTINGS_MOST = 12
_NOT_SETTINGS = ("title",)
_EQUAL = 5e-5
"""Difference, as a share, that is none."""
_TIMES = (0.5, 2.0)
"""Ratios from which times are told, and not percent."""


@dataclass(frozen=True, repr=False)
class LifetimeComparison:
    """Projected lives against the first of them; keys are in docs/lifetime.md."""

    names: tuple[str, ...]
    lives: tuple[Lifetime, ...]

    @property
    def settings(self) -> dict[str, list[Any]]:
        """Paths of the settings that differ, with the value in each life; None if it has none."""
        flat = [dict(_flat(life.conditions.config or {})) for life in self.lives]
        paths = dict.fromkeys(path for each in flat for path in each)
        found = {path: [each.get(path) for each in flat] for path in paths}
        return {
            path: values
            for path, values in found.items()
            if path not in _NOT_SETTINGS and any(value != values[0] for value in values)
        }

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Figures of each life, and their ratios to those of the first."""
        return [self._row(at) for at in range(len(self.lives))]

    def _row(self, at: int) -> dict[str, Any]:
        life, first = self.lives[at], self.lives[0]
        figures = _figures(life)
        of_first = _figures(first)
        ratios = {
            f"{name}_ratio": figures[name] / of_first[name] if of_first[name] else None
            for name in ("tbw", "dwpd", "cycles", "bytes_of_a_cycle")
        }
        label = {"label": _LABELS[at], "name": self.names[at]}
        return {**label, **figures, "ends_by": life.ends_by, **ratios}

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each life."""
        import polars as pl

        return pl.DataFrame(self.rows, infer_schema_length=None)

    @property
    def sentences(self) -> list[str]:
        """The result in words, and what keeps the lives from being compared."""
        return [*self._verdicts(), *self._settings_told(), *self._cautions()]

    def _verdicts(self) -> Iterator[str]:
        first, *others = self.rows
        for at, row in enumerate(others, 1):
            if row["tbw_ratio"] is None:
                yield f"{row['label']} against A: hosts can write nothing in the life of A."
                continue
            yield (
                f"{row['label']} against A: hosts write {_change(row['tbw_ratio'])} bytes, "
                f"{_tbw(self.lives[at])} for {_tbw(self.lives[0])}. The flash lasts "
                f"{_change(row['cycles_ratio'])} cycles, and takes "
                f"{_change(row['bytes_of_a_cycle_ratio'])} bytes in each (write amplification "
                f"{row['write_amplification']:.2f} for {first['write_amplification']:.2f})."
            )

    def _settings_told(self) -> list[str]:
        if any(life.conditions.config is None for life in self.lives):
            return ["Settings cannot be compared: a life is of an earlier version, without them."]
        found = self.settings
        if not found:
            return ["All settings are equal."]
        told = [
            f"{path} ({', '.join(map(_shown, values))})"
            for path, values in list(found.items())[:_SETTINGS_MOST]
        ]
        more = f"; and {len(found) - _SETTINGS_MOST} more" if len(found) > _SETTINGS_MOST else ""
        return [f"Settings that differ: {'; '.join(told)}{more}."]

    def _cautions(self) -> Iterator[str]:
        limits = [life.limits for life in self.lives]
        if len({limit.uber for limit in limits}) > 1:
            listed = ", ".join(_uber(limit.uber) for limit in limits)
            yield f"note: limits of UBER differ ({listed}): a longer life may be a weaker limit."
        if len({limit.years for limit in limits}) > 1:
            yield "note: the warranties differ, so compare TBW and not DWPD."
        if len({life.conditions.exported_bytes for life in self.lives}) > 1:
            yield "note: the exported capacities differ, so compare drive writes, and not TBW."
        if len({life.conditions.data_age for life in self.lives}) > 1:
            yield "note: the age of data at the beginning differs."
        if any(life.ends_by is None for life in self.lives):
            yield "note: a life that reaches no limit is longer than its figures say (at least)."
        if noted := [_LABELS[at] for at, life in enumerate(self.lives) if life.notes]:
            yield (
                f"note: {' and '.join(noted)} had notes about figures that are easily misread; "
                "they are in lifetime.json."
            )
        yield (
            "Each state of wear is one run with one seed, so nothing here is tested for "
            "significance. Another seed moves a crossing of UBER by some percent."
        )

    def to_json(self) -> str:
        """Return all figures, and the lives themselves, as JSON."""
        document = {
            "flashscape": __version__,
            "rows": self.rows,
            "settings": self.settings,
            "sentences": self.sentences,
            "lives": [json.loads(life.to_json()) for life in self.lives],
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    @checks_arguments
    def load(cls, path: str | PathLike[str]) -> LifetimeComparison:
        """Read a directory that `flashscape compare --out` has written; raise OutputError."""
        file = Path(path)
        file = file / COMPARED if file.is_dir() else file
        try:
            document = json.loads(file.read_text(encoding="utf-8"))
            names = tuple(row["name"] for row in document["rows"])
            lives = tuple(Lifetime.of(each) for each in document["lives"])
        except OSError as error:
            raise OutputError(unread(file, error)) from error
        except (ValueError, KeyError, TypeError) as error:
            raise OutputError(f"{file}: is damaged ({error}); compare the lives again") from error
        return cls(names, lives)

    @checks_arguments
    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write ``lifetimes.json`` to a directory; raise OutputError if it is in use."""
        with Directory.claim(path, force=force) as directory:
            directory.add(COMPARED, self.to_json().encode())

    def figure(self) -> Figure:
        """Draw the lives over wear; raise OutputError without matplotlib."""
        drawing.refuse(picture.why_not())
        return picture.draw_together(dict(zip(self.labels, self.lives, strict=True)))

    @checks_arguments
    def draw_to(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Draw to a PNG, PDF or SVG file, chosen by its suffix.

        Raises OutputError for another suffix, if the file exists already without ``force``, and as
        :meth:`figure` does.
        """
        drawing.write(self.figure, path, force=force)

    @property
    def labels(self) -> list[str]:
        """Label and name of each life."""
        return [f"{_LABELS[at]}: {name}" for at, name in enumerate(self.names)]

    def _repr_html_(self) -> str:
        from flashscape.report import html, lifetimes

        return html.tables("Projected lives", self.sentences, [lifetimes.table(self.rows)])

    def __repr__(self) -> str:
        told = ", ".join(f"{row['label']} {row['tbw']:.3g} TBW" for row in self.rows)
        return f"<LifetimeComparison: {told}>"


@checks_arguments
def compare_lifetimes(
    a: LifeOrPath, b: LifeOrPath, *others: LifeOrPath, names: Sequence[str] | None = None
) -> LifetimeComparison:
    """Compare projected lives with the first of them: bytes, cycles, and the settings that differ.

    Each is a :class:`Lifetime`, or the directory or ``lifetime.json`` of one. ``names`` are what
    tables and pictures call them, by default their directories, else their titles. Raises
    ConfigError for names that do not fit, and OutputError for what is no life.

    >>> fs.compare_lifetimes("out/greedy", "out/fifo").rows     # doctest: +SKIP
    """
    given = (a, b, *others)
    if len(given) > len(_LABELS):
        raise ConfigError(f"{len(given)} lives: at most {len(_LABELS)} can be compared")
    lives = tuple(each if isinstance(each, Lifetime) else Lifetime.load(each) for each in given)
    if names is None:
        names = [
            life.conditions.title if isinstance(each, Lifetime) else str(each)
            for each, life in zip(given, lives, strict=True)
        ]
    else:
        names = checked_names(names, len(given), "lives")
    return LifetimeComparison(tuple(names), lives)


def is_life(path: str | PathLike[str]) -> bool:
    """Return True for the directory or the ``lifetime.json`` of a projected life."""
    file = Path(path)
    return file.name == directories.LIFETIME.document or directories.LIFETIME.is_in(file)


def _figures(life: Lifetime) -> dict[str, float]:
    """Return the figures of a life that are compared."""
    return {
        "tbw": life.tbw,
        "dwpd": life.dwpd,
        "drive_writes": life.drive_writes,
        "cycles": life.cycles,
        "bytes_of_a_cycle": life.host_bytes / life.cycles if life.cycles else 0.0,
        "write_amplification": projection.at(
            [(each.cycles, each.write_amplification) for each in life.states], life.cycles
        ),
    }


def _tbw(life: Lifetime) -> str:
    return f"{'at least ' if life.ends_by is None else ''}{life.tbw:.3g} TB"


def _change(ratio: float) -> str:
    """Say how much more or less there is: ``12.3 % more``, ``3.2 times as many``."""
    if abs(ratio - 1) < _EQUAL:
        return "equally many"
    if not _TIMES[0] < ratio < _TIMES[1]:
        return f"{ratio:.3g} times as many"
    return f"{units.percent(abs(ratio - 1))} {'more' if ratio > 1 else 'fewer'}"


def _uber(limit: float | None) -> str:
    return "none" if limit is None else f"{limit:g}"


def _shown(value: Any) -> str:
    return "–" if value is None else value if isinstance(value, str) else json.dumps(value)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a configuration by their paths."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _flat(entry, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for at, entry in enumerate(value):
            yield from _flat(entry, f"{path}[{at}]")
    else:
        yield path, value
