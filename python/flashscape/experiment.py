"""An experiment: one checked configuration, ready to run any number of times."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import again, foreign
from flashscape._flashscape import Plan
from flashscape.arguments import checks_arguments
from flashscape.errors import ConfigError, unread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    Overrides = Mapping[str, Any] | Sequence[tuple[str, Any]]

_Override = tuple[str, str, bool]
"""Path, text of a value, and True if the text is JSON (else as on a command line)."""

_Policy = tuple[str, "Callable[..., Any]"]
"""Path of a policy, and the function that decides."""

_ROW = re.compile(
    r"\s*(time_us,op,offset,length|BeginHeader|fio version [23] iolog|Timestamp,.*|device_id,.*"
    r"|[0-9]+,[0-9]+\s+[0-9]+\s+[0-9]+\s.*|[0-9.]+([\s,]+[^\s,]+){3,8})\s*",
    re.IGNORECASE,
)
"""First line of a trace, in any of the known formats."""

_SWEEP = re.compile(r"^\s*(base\s*=|\[(base|grid|fleet)\b|\[\[(variation|zip)\]\])", re.MULTILINE)
"""Keys that stand at the top of a sweep or fleet file, and never of an experiment."""


_FILLING = "precondition"
"""Table of the content of the drive, which a snapshot replaces."""


class _Source(NamedTuple):
    """The source of an experiment, kept for making variations."""

    text: str
    file: str
    is_json: bool
    folder: str | None


class Experiment:
    """A drive, its content, its workloads, and the figures to record.

    Made with :meth:`from_file`, :meth:`from_toml` or :meth:`from_dict`; all of
    them raise :class:`ConfigError` with every fault at once. An experiment never
    changes: :meth:`replace` makes another one.
    """

    def __init__(
        self,
        source: _Source,
        overrides: tuple[_Override, ...],
        policies: tuple[_Policy, ...] = (),
        *,
        snapshot_given: bool = False,
    ) -> None:
        self._source = source
        self._overrides = overrides
        self._policies = policies
        self._snapshot_given = snapshot_given
        if snapshot_given:
            self.refuse_preconditioning()
        self.plan = Plan.load(
            source.text,
            file=source.file,
            is_json=source.is_json,
            overrides=overrides,
            folder=source.folder,
            policies=policies,
            snapshot_given=snapshot_given,
        )

    @classmethod
    @checks_arguments
    def from_file(
        cls,
        path: str | PathLike[str],
        overrides: Overrides = (),
        *,
        snapshot_given: bool = False,
    ) -> Experiment:
        """Read a TOML file, or JSON if its suffix is ``.json``; of a result, its experiment.

        Relative paths of traces start from the file's folder. A directory of results, or its
        ``summary.json``, stands for the experiment of that run, whose relative paths start from the
        current directory. ``snapshot_given`` means that the run
        will get a snapshot. The run then checks if that drive has enough space for
        the GC thresholds; otherwise the drive of the experiment is checked now.
        Raises ConfigError, also if the file cannot be read.
        """
        source = _read(Path(path), snapshot_given=snapshot_given)
        return cls(source, _pairs(overrides), snapshot_given=snapshot_given)

    @classmethod
    @checks_arguments
    def from_toml(
        cls, text: str, overrides: Overrides = (), *, folder: str | PathLike[str] | None = None
    ) -> Experiment:
        """Read TOML text. Relative paths of traces start from ``folder``, else the current one."""
        _must_be_text(text, "configuration")
        return cls(_Source(text, "configuration", False, _text(folder)), _pairs(overrides))

    @classmethod
    @checks_arguments
    def from_text(
        cls,
        text: str,
        overrides: Overrides = (),
        *,
        folder: str | PathLike[str] | None = None,
        name: str = "configuration",
        snapshot_given: bool = False,
    ) -> Experiment:
        """Read TOML, or JSON if it begins with a brace; errors call it ``name``.

        Relative paths of traces start from ``folder``, else the current one; ``snapshot_given``
        as in :meth:`from_file`.
        """
        _must_be_text(text, name)
        is_json = text.lstrip().startswith("{")
        source = _Source(text, name, is_json, _text(folder))
        return cls(source, _pairs(overrides), snapshot_given=snapshot_given)

    @classmethod
    @checks_arguments
    def from_dict(
        cls,
        config: Mapping[str, Any],
        overrides: Overrides = (),
        *,
        folder: str | PathLike[str] | None = None,
        name: str = "configuration",
        snapshot_given: bool = False,
    ) -> Experiment:
        """Take a dictionary with the keys of the TOML form; errors call it ``name``.

        Besides Python's own values it may hold paths, and NumPy's scalars and arrays.
        ``snapshot_given`` as in :meth:`from_file`.
        """
        source = _written(config, folder, name)
        return cls(source, _pairs(overrides), snapshot_given=snapshot_given)

    @classmethod
    @checks_arguments
    def of(
        cls,
        given: Experiment | Mapping[str, Any] | str | PathLike[str],
        *,
        snapshot_given: bool = False,
    ) -> Experiment:
        """Return the experiment that an experiment, a dictionary or a file's path describes.

        ``snapshot_given`` as in :meth:`from_file`; an existing experiment keeps its own.
        """
        if isinstance(given, Experiment):
            return given
        if isinstance(given, str) or hasattr(given, "__fspath__"):
            return cls.from_file(given, snapshot_given=snapshot_given)
        return cls.from_dict(given, snapshot_given=snapshot_given)

    @checks_arguments
    def replace(self, overrides: Overrides = (), **tables: Any) -> Experiment:
        """Return the same experiment with other values, by their dotted paths.

        The values of a mapping are Python values; the texts of a list of pairs are
        read as on a command line.

        >>> experiment.replace({"drive.ftl.gc.victim": "fifo"}, seed=2)  # doctest: +SKIP
        """
        changed = (*self._overrides, *_pairs(overrides), *_pairs(tables))
        return self._with(changed, self._policies)

    @checks_arguments
    def with_policy(self, path: str, function: Callable[..., Any]) -> Experiment:
        """Return the same experiment with a Python function as the policy at ``path``.

        The function's arguments, its result and its cost in run time are described in
        ``docs/how-to/add-a-policy.md``. Raises ConfigError for an unknown path.

        >>> def fullest(blocks):
        ...     return max(blocks.gaining, key=lambda block: blocks.valid[block])
        >>> experiment.with_policy("drive.ftl.gc.victim", fullest)  # doctest: +SKIP
        """
        name = getattr(function, "__qualname__", type(function).__qualname__)
        named = {"policy": "python", "file": again.AS_CALLABLE, "function": name}
        others = tuple(policy for policy in self._policies if policy[0] != path)
        changed = (*self._overrides, *_pairs({path: named}))
        return self._with(changed, (*others, (path, function)))

    def _with(self, overrides: tuple[_Override, ...], policies: tuple[_Policy, ...]) -> Experiment:
        given = self._snapshot_given
        return Experiment(self._source, overrides, policies, snapshot_given=given)

    @property
    def config(self) -> dict[str, Any]:
        """The complete configuration, with preset, overrides and defaults."""
        return _object(self.plan.resolved())

    @property
    def derived(self) -> dict[str, Any]:
        """Figures that follow from it: capacity, durations, limits, thresholds, memory."""
        return _object(self.plan.derived())

    @property
    def files(self) -> list[str]:
        """Files that it was read from and depends on, as far as they exist."""
        return [f for f in (self._source.file, *named_files(self.config)) if Path(f).is_file()]

    @checks_arguments
    def traces(self, whole_below: int | None = None) -> list[str]:
        """Read the traces, and return a description of each in a few lines.

        Of a file of more than ``whole_below`` bytes only the first rows are read.
        Raises TraceError or ConfigError if one cannot be replayed.
        """
        return self.plan.traces(whole_below)

    @property
    def preparation(self) -> str | None:
        """Key of all that filling and ageing the drive depend on; None without preconditioning.

        Experiments with equal keys fill and age their drives alike, to the last bit.
        """
        return self.plan.preparation()

    def check_snapshot(self) -> None:
        """Check the snapshot that the configuration names, if any, without reading all of it.

        Raises SnapshotError or ConfigError if the drive cannot be started from it.
        """
        self.plan.check_snapshot()

    def refuse_preconditioning(self) -> None:
        """Raise ConfigError if an override changes ``precondition``: a snapshot replaces that.

        The table of the experiment's own text is not refused; it is replaced.
        """
        given = [path for path, _, _ in self._overrides if re.split(r"[.\[]", path)[0] == _FILLING]
        if given:
            paths = ", ".join(dict.fromkeys(given))
            why = (
                "has no effect on a drive that is started from a snapshot, because it is filled "
                "and aged already; leave this setting out, or the snapshot"
            )
            raise ConfigError(f"{paths}: {why}", [(path, "override", None, why) for path in given])

    @property
    def has_callables(self) -> bool:
        """True if a function of this process is a policy, which other processes cannot have."""
        return bool(self._policies)

    @property
    def title(self) -> str:
        """Title of the experiment, else the name of its file."""
        return str(self.config.get("title") or self._source.file)

    def _repr_html_(self) -> str:
        from flashscape.report import derived, html

        config, figures = self.config, self.derived
        contents = [derived.workloads(config), *derived.tables(figures, config["drive"])]
        return html.tables(self.title, figures["notes"], contents)

    def __repr__(self) -> str:
        return f"<Experiment {self.title!r}>"


class Unchecked(NamedTuple):
    """The source of an experiment, before it is checked.

    It is sent to other processes as it is, and makes the same experiment there.
    """

    source: _Source
    overrides: tuple[_Override, ...] = ()

    @classmethod
    def of(
        cls,
        given: Experiment | Mapping[str, Any] | str | PathLike[str],
        *,
        folder: str | PathLike[str] | None = None,
        name: str = "configuration",
    ) -> Unchecked:
        """Read the source as :meth:`Experiment.of` does; raise ConfigError only if unreadable."""
        if isinstance(given, Experiment):
            _refuse_callables(given._policies)
            return cls(given._source, given._overrides)
        if isinstance(given, str) or hasattr(given, "__fspath__"):
            return cls(_read(Path(given), snapshot_given=False))
        return cls(_written(given, folder, name))

    def over(self, overrides: Overrides) -> Unchecked:
        """Return the source with further overrides."""
        return self._replace(overrides=(*self.overrides, *_pairs(overrides)))

    def checked(self) -> Experiment:
        """Return the checked experiment; raise ConfigError with every fault."""
        return Experiment(self.source, self.overrides)

    def as_json(self) -> list[Any]:
        """Return the argument of :meth:`from_json`."""
        return [list(self.source), [list(override) for override in self.overrides]]

    @classmethod
    def from_json(cls, values: list[Any]) -> Unchecked:
        """Undo :meth:`as_json`."""
        source, overrides = values
        return cls(_Source(*source), tuple((path, text, js) for path, text, js in overrides))


def named_files(config: Mapping[str, Any]) -> list[str]:
    """Files that a complete configuration names."""
    traces = [each["trace"]["file"] for each in config["workload"] if "trace" in each]
    snapshot = config["precondition"].get("snapshot")
    policies = [*_of_policies(config["drive"]), *_of_policies(config.get("array") or {})]
    return [*traces, *([] if snapshot is None else [snapshot]), *policies]


def _of_policies(table: Mapping[str, Any]) -> Iterator[str]:
    if table.get("policy") == "python":
        yield table["file"]
        return
    for value in table.values():
        if isinstance(value, Mapping):
            yield from _of_policies(value)


def _refuse_callables(policies: tuple[_Policy, ...]) -> None:
    """Refuse functions of this process: other processes cannot find them."""
    if policies:
        path = policies[0][0]
        raise ConfigError(
            f"{path}: a function that was given with with_policy() cannot go to other processes; "
            f'put it in a file and name that: {path} = {{ policy = "python", '
            'file = "policy.py", function = "choose" }'
        )


def _read(path: Path, *, snapshot_given: bool) -> _Source:
    if str(path) == "-":
        raise ConfigError("-: only `run` and `check` read the standard input; name a file")
    if again.is_result(path):
        config, file = again.config_in(path, snapshot_given=snapshot_given)
        return _written(config, None, str(file))
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(unread(path, error)) from error
    except UnicodeDecodeError as error:
        if (told := foreign.description(path)) is not None:
            raise ConfigError(f"{path}: {told}") from error
        hint = _trace_hint(path) if _is_packed(path) else ""
        raise ConfigError(f"{path}: is not text in UTF-8{hint}") from error
    if (kind := _kind_of(text)) is not None:
        checks = f"flashscape {kind} {path} --dry-run"
        each = "points" if kind == "sweep" else "drives"
        raise ConfigError(f"{path}: is a {kind}, not an experiment; {checks} checks its {each}")
    earlier = again.config_of_text(text, path, snapshot_given=snapshot_given)
    if earlier is not None:
        return _written(earlier, None, str(path))
    if foreign.is_job_and_no_toml(text) or text.startswith("{"):
        told = foreign.description(path)
        if told is not None:
            raise ConfigError(f"{path}: {told}")
    if _ROW.fullmatch(text.split("\n", 1)[0].removeprefix("\ufeff")):
        raise ConfigError(f"{path}: is no experiment{_trace_hint(path)}")
    return _Source(text, str(path), path.suffix.lower() == ".json", str(path.parent))


def _kind_of(text: str) -> str | None:
    """Return ``sweep`` or ``fleet`` for a file that has a base; None for an experiment."""
    if not _SWEEP.search(text):
        return None
    # Importing takes milliseconds, which plain experiments need not wait for.
    import tomllib

    try:
        keys = tomllib.loads(text).keys()
    except tomllib.TOMLDecodeError:
        return None
    if "drive" in keys or "workload" in keys:
        return None
    return "fleet" if "fleet" in keys else "sweep"


def _written(config: Mapping[str, Any], folder: str | PathLike[str] | None, name: str) -> _Source:
    return _Source(_json(config, "", name), name, True, _text(folder))


def _object(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value


def _text(folder: str | PathLike[str] | None) -> str | None:
    return None if folder is None else str(Path(folder))


def _trace_hint(path: Path) -> str:
    return f"; it looks like a trace: flashscape replay {path} --drive PRESET"


def _is_packed(path: Path) -> bool:
    """Return True for gzip and Zstandard, by their magic numbers."""
    with path.open("rb") as file:
        return file.read(4).startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd"))


def _pairs(overrides: Overrides) -> tuple[_Override, ...]:
    """Keep texts as on a command line; encode Python values as JSON."""
    if isinstance(overrides, Mapping):
        return tuple((_path(path), _json(value, path), True) for path, value in overrides.items())
    pairs: list[_Override] = []
    for pair in overrides:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise ConfigError(f"override: {pair!r} is not a pair of a path and a value")
        path, value = pair
        if isinstance(value, str):
            _must_be_text(value, f"override, {path}")
            pairs.append((_path(path), value, False))
        else:
            pairs.append((_path(path), _json(value, path), True))
    return tuple(pairs)


def _path(path: object) -> str:
    if not isinstance(path, str):
        raise ConfigError(f"override: {path!r} is not a path such as 'drive.ftl.gc.victim'")
    _must_be_text(path, "override")
    return path


def _must_be_text(text: str, place: str) -> None:
    """Refuse text that UTF-8 cannot encode: half characters from broken input."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"{place}: {text[error.start]!r} is not a character") from error


def _json(value: object, path: str, name: str = "override") -> str:
    """Write a value as JSON; ``path`` is its place in what errors call ``name``."""
    try:
        return json.dumps(_plain(value, path, name), ensure_ascii=False, allow_nan=False)
    except RecursionError as error:
        place = f"{name}, {path}" if path else name
        raise ConfigError(f"{place}: contains itself, or is nested too deeply") from error


def _plain(value: object, path: str, name: str) -> object:
    """Convert NumPy scalars, NumPy arrays and paths to values that JSON has."""

    def refuse(why: str) -> ConfigError:
        return ConfigError(f"{name}, {path}: {why}" if path else f"{name}: {why}")

    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        _must_be_text(value, f"{name}, {path}" if path else name)
        return str(value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise refuse(f"{value} does not fit 64 bits")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise refuse(f"{value} is not a finite number")
        return float(value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise refuse(f"the key {key!r} is not a string")
            _must_be_text(key, name)
        below = f"{path}." if path else ""
        return {key: _plain(entry, below + key, name) for key, entry in value.items()}
    # A range counts as a list; bytes are no list of numbers.
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [_plain(entry, f"{path}[{i}]", name) for i, entry in enumerate(value)]
    raise refuse(f"{value!r} is not a value that a configuration can have")
