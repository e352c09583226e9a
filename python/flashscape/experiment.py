"""An experiment: one checked configuration, ready to run any number of times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape._flashscape import Plan
from flashscape.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    Overrides = Mapping[str, Any] | Sequence[tuple[str, str]]


class _Source(NamedTuple):
    """What an experiment was read from, kept so that variations can be made."""

    text: str
    file: str
    is_json: bool
    folder: str | None


class Experiment:
    """A drive, what is on it, who uses it, and what is recorded.

    Made with :meth:`from_file`, :meth:`from_toml` or :meth:`from_dict`; all of
    them raise :class:`ConfigError` with every fault at once. An experiment never
    changes: :meth:`replace` makes another one.
    """

    def __init__(self, source: _Source, overrides: tuple[tuple[str, str], ...]) -> None:
        self._source = source
        self._overrides = overrides
        self.plan = Plan.load(
            source.text,
            file=source.file,
            is_json=source.is_json,
            overrides=overrides,
            folder=source.folder,
        )

    @classmethod
    def from_file(cls, path: str | PathLike[str], overrides: Overrides = ()) -> Experiment:
        """Read a TOML file (JSON where it is called so).

        Traces are looked for from the file's folder. Raises ConfigError, also
        where the file cannot be read.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: is not text in UTF-8") from error
        source = _Source(text, str(path), path.suffix == ".json", str(path.parent))
        return cls(source, _pairs(overrides))

    @classmethod
    def from_toml(
        cls, text: str, overrides: Overrides = (), *, folder: str | PathLike[str] | None = None
    ) -> Experiment:
        """Read TOML text. Traces are looked for in ``folder``, else in the present one."""
        return cls(_Source(text, "configuration", False, _text(folder)), _pairs(overrides))

    @classmethod
    def from_dict(
        cls,
        config: Mapping[str, Any],
        overrides: Overrides = (),
        *,
        folder: str | PathLike[str] | None = None,
        name: str = "configuration",
    ) -> Experiment:
        """Take a dictionary with the keys of the TOML form; faults call it ``name``."""
        try:
            text = json.dumps(config)
        except TypeError as error:
            raise ConfigError(f"{name}: {error}") from error
        return cls(_Source(text, name, True, _text(folder)), _pairs(overrides))

    @classmethod
    def of(cls, given: Experiment | Mapping[str, Any] | str | PathLike[str]) -> Experiment:
        """Whatever describes an experiment: itself, a dictionary, or a file's path."""
        if isinstance(given, Experiment):
            return given
        if isinstance(given, str) or hasattr(given, "__fspath__"):
            return cls.from_file(given)
        return cls.from_dict(given)

    def replace(self, overrides: Overrides = (), **tables: Any) -> Experiment:
        """Return the same experiment with other values, by their dotted paths.

        >>> experiment.replace({"drive.ftl.gc.victim": "fifo"}, seed=2)  # doctest: +SKIP
        """
        return Experiment(self._source, (*self._overrides, *_pairs(overrides), *_pairs(tables)))

    @property
    def config(self) -> dict[str, Any]:
        """The configuration, complete: preset, overrides and defaults in place."""
        return _object(self.plan.resolved())

    @property
    def derived(self) -> dict[str, Any]:
        """What follows from it: capacity, durations, limits, thresholds, memory."""
        return _object(self.plan.derived())

    @property
    def title(self) -> str:
        """What it is about, else the name of its file."""
        return str(self.config.get("title") or self._source.file)

    def __repr__(self) -> str:
        return f"<Experiment {self.title!r}>"


def _object(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value


def _text(folder: str | PathLike[str] | None) -> str | None:
    return None if folder is None else str(Path(folder))


def _pairs(overrides: Overrides) -> tuple[tuple[str, str], ...]:
    """Texts as on a command line stay as they are; Python's values are written as TOML."""
    if isinstance(overrides, (list, tuple)):
        return tuple(overrides)
    return tuple((path, _toml(value)) for path, value in dict(overrides).items())


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, (bool, int, float, str)):
        return json.dumps(value)
    raise ConfigError(f"override: {value!r} is not a value that a configuration can have")
