"""Conversion of a sweep file, or of its tables in Python, to a design; all faults are recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import experiment, toml
from flashscape.errors import ConfigError, Problem, unread
from flashscape.experiment import Experiment, Unchecked
from flashscape.near import listed
from flashscape.sweep.design import POINTS_MOST, Axis, Design, Setting, Variation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

_KEYS = ("title", "base", "set", "grid", "zip", "variation", "seeds")
_SEEDS_BELOW = 2**64


class Reading:
    """A design as far as it could be read, and the faults of the rest."""

    def __init__(self, file: str, lines: Mapping[str, int]) -> None:
        self.file = file
        self.lines = lines
        self.problems: list[Problem] = []
        self.design: Design | None = None
        """Design; None without a base, or with too many points."""

    def fault(self, place: str, message: str) -> None:
        """Record a fault at a path of the sweep file."""
        self.problems.append(Problem(place, self.file, toml.line_of(place, self.lines), message))


def of_file(path: str | PathLike[str], overrides: experiment.Overrides = ()) -> Reading:
    """Read a sweep file; raise ConfigError if it cannot be read or is no TOML."""
    path = Path(path)
    if str(path) == "-":
        raise ConfigError("-: a sweep is not read from the standard input; name a file")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(unread(path, error)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not text in UTF-8") from error
    values, lines = toml.read(text, str(path))
    return _read(values, str(path), lines, overrides, path.parent)


def of_tables(
    base: Experiment | Mapping[str, Any] | str | PathLike[str],
    tables: Mapping[str, Any],
    name: str = "sweep",
) -> Reading:
    """Read the tables of a sweep file, without the base, from Python values."""
    return of_source(Unchecked.of(base), tables, name)


def of_source(base: Unchecked, tables: Mapping[str, Any], name: str) -> Reading:
    """Read the tables of a sweep file, without the base, whose source was read before."""
    plain = json.loads(experiment._json(tables, "", name))
    reading = Reading(name, {})
    _design(plain, base, reading)
    return reading


def _read(
    raw: dict[str, Any],
    file: str,
    lines: Mapping[str, int],
    overrides: experiment.Overrides,
    folder: Path,
) -> Reading:
    reading = Reading(file, lines)
    if "workload" in raw or "drive" in raw:
        reading.fault("", "is an experiment, not a sweep; name it in a sweep file: base = ...")
        return reading
    base = base_of(raw, reading, folder)
    if base is not None:
        _design(raw, base, reading, overrides)
    return reading


def base_of(raw: dict[str, Any], reading: Reading, folder: Path) -> Unchecked | None:
    """Return the experiment that ``base`` names or holds; record a fault and return None."""
    try:
        match raw.get("base"):
            case str(name) if name:
                return Unchecked.of(folder / name)
            case dict(tables):
                return Unchecked.of(tables, folder=folder, name=f"{reading.file} [base]")
            case None:
                reading.fault("base", 'missing; write base = "experiment.toml", or a table [base]')
            case other:
                reading.fault("base", f"{_found(other)} is neither a file's name nor a table")
    except ConfigError as error:
        reading.fault("base", str(error))
    return None


def _design(
    raw: dict[str, Any], base: Unchecked, reading: Reading, overrides: experiment.Overrides = ()
) -> None:
    for key in raw:
        if key not in _KEYS:
            reading.fault(key, f"unknown key {listed(key, _KEYS, 'valid:')}")
    common = tuple(settings_of(raw, reading))
    axes = (*_grid(raw.get("grid", {}), reading), *_zips(raw.get("zip", []), reading))
    variations = _variations(raw.get("variation", []), reading)
    base = base.over({setting.path: setting.value for setting in common})
    fixed = base.over(overrides).overrides[len(base.overrides) :]
    base = base.over(overrides)
    design = Design(
        base=base,
        title=_title(raw, reading),
        variations=variations,
        axes=axes,
        seeds=_seeds(raw.get("seeds"), base, reading),
        file=reading.file,
        lines=reading.lines,
    )
    _clashes(design, [*(s.path for s in common), *(path for path, _, _ in fixed)], reading)
    if not any(key in raw for key in ("grid", "zip", "variation", "seeds")):
        reading.fault("", "nothing varies; write [grid], [[zip]], [[variation]] or seeds")
    elif design.size > POINTS_MOST:
        reading.fault("", f"{design.size:,} points are more than {POINTS_MOST:,}; split the sweep")
    else:
        reading.design = design


def _title(raw: dict[str, Any], reading: Reading) -> str:
    title = raw.get("title", "")
    if not isinstance(title, str):
        reading.fault("title", f"{_found(title)} is not a text")
        return ""
    return title


def settings_of(raw: dict[str, Any], reading: Reading) -> Iterator[Setting]:
    """Yield the settings of all points, in the table ``set``; record faults."""
    yield from _settings(raw.get("set", {}), "set", reading)


def _settings(table: Any, place: str, reading: Reading) -> Iterator[Setting]:
    """Yield every path in a table, with its value.

    A key with a dot or bracket is a path, and its value is taken unchanged. The table
    of any other key is descended into, so quotes around ``drive.buffer.size`` may be omitted.
    """
    if not isinstance(table, dict):
        reading.fault(place, f"{_found(table)} is not a table of paths and values")
        return
    for path, value, at in _leaves(table, "", place):
        yield Setting(path, value, at)


def _leaves(table: dict[str, Any], above: str, place: str) -> Iterator[tuple[str, Any, str]]:
    for key, value in table.items():
        path = f"{above}.{key}" if above else key
        at = f"{place}.{_as_key(key)}"
        if isinstance(value, dict) and value and "." not in key and "[" not in key:
            yield from _leaves(value, path, at)
        else:
            yield path, value, at


def _as_key(key: str) -> str:
    """Return a key as part of a path: in quotes if it is not a bare key."""
    if key and all(c.isascii() and (c.isalnum() or c in "_-") for c in key):
        return key
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _grid(table: Any, reading: Reading) -> Iterator[Axis]:
    for setting in _settings(table, "grid", reading):
        if values := _values(setting, reading):
            rows = tuple((each,) for each in values)
            yield Axis(setting.place, rows)


def _values(setting: Setting, reading: Reading) -> list[Setting]:
    """Return the values of a path; none if they are not a list of different ones."""
    path, values, place = setting
    if not isinstance(values, list):
        reading.fault(place, f"{_found(values)} is not a list of values (write [{_found(values)}])")
        return []
    if not values:
        reading.fault(place, "an empty list leaves no points; give values, or take it away")
    return [Setting(path, value, f"{place}[{index}]") for index, value in enumerate(values)]


def _zips(entries: Any, reading: Reading) -> Iterator[Axis]:
    for table, place in _entries(entries, "zip", reading):
        lists = [_values(setting, reading) for setting in _settings(table, place, reading)]
        if not lists:
            reading.fault(place, "an empty zip; give it lists of equal length")
        elif len({len(values) for values in lists}) > 1:
            lengths = ", ".join(f"{values[0].path} has {len(values)}" for values in lists if values)
            reading.fault(place, f"lists that go together are equally long; {lengths}")
        elif lists[0]:
            yield Axis(place, tuple(zip(*lists, strict=True)))


def _variations(entries: Any, reading: Reading) -> tuple[Variation, ...]:
    variations = []
    names: dict[str, int] = {}
    for index, (table, place) in enumerate(_entries(entries, "variation", reading)):
        name = table.get("name")
        if name is not None and not (isinstance(name, str) and name):
            reading.fault(f"{place}.name", f"{_found(name)} is not a name")
            name = None
        elif name in names:
            reading.fault(f"{place}.name", f'"{name}" is the name of variation {names[name]}, too')
        names.setdefault(name or "", index + 1)
        rest = {key: value for key, value in table.items() if key != "name"}
        variations.append(Variation(name, tuple(_settings(rest, place, reading)), place))
    return tuple(variations)


def _entries(entries: Any, key: str, reading: Reading) -> Iterator[tuple[dict[str, Any], str]]:
    if not isinstance(entries, list):
        reading.fault(key, f"{_found(entries)} is not a list of tables (write [[{key}]])")
        return
    for index, table in enumerate(entries):
        place = f"{key}[{index}]"
        if isinstance(table, dict):
            yield table, place
        else:
            reading.fault(place, f"{_found(table)} is not a table of paths and values")


def _seeds(seeds: Any, base: Unchecked, reading: Reading) -> int | tuple[int, ...] | None:
    def is_seed(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    if seeds is None:
        return None
    if is_seed(seeds) and seeds >= 1:
        if (first := base_seed(base) or 0) + seeds <= _SEEDS_BELOW:
            return int(seeds)
        reading.fault("seeds", f"{seeds} seeds from {first} on do not fit 64 bits")
        return None
    if isinstance(seeds, list) and seeds:
        wrong = [s for s in seeds if not (is_seed(s) and 0 <= s < _SEEDS_BELOW)]
        if not wrong and len(set(seeds)) == len(seeds):
            return tuple(seeds)
        what = f"{_found(wrong[0])} is no seed" if wrong else "a seed stands there twice"
        reading.fault("seeds", f"{what} (write different whole numbers below 2^64)")
        return None
    reading.fault("seeds", f"{_found(seeds)} is neither a number of seeds nor a list of seeds")
    return None


def base_seed(base: Unchecked) -> int | None:
    """Return the seed of an experiment that may be invalid otherwise; None if it is no seed."""
    source = base.source
    try:
        values = json.loads(source.text) if source.is_json else _values_of(source.text, source.file)
        seed = values.get("seed", 1)
        for path, value, is_json in base.overrides:
            if path == "seed":
                seed = json.loads(value) if is_json else _values_of(f"seed = {value}", path)["seed"]
    except (ValueError, AttributeError):
        # An unreadable seed is a fault of every point.
        return None
    return seed if isinstance(seed, int) and not isinstance(seed, bool) else None


def _values_of(text: str, file: str) -> dict[str, Any]:
    return toml.read(text, file)[0]


def _clashes(design: Design, fixed: Sequence[str], reading: Reading) -> None:
    """Record values that would silently replace each other: each path may have one source."""
    varied = [(axis.place, axis.rows[0]) for axis in design.axes]
    if design.seeds is not None:
        varied.append(("seeds", (Setting("seed", None, "seeds"),)))
    for variation in design.variations:
        _covered([(variation.place, variation.settings), *varied], reading)
    if not design.variations:
        _covered(varied, reading)
    paths = {s.path: place for place, settings in varied for s in settings}
    paths |= {s.path: s.place for variation in design.variations for s in variation.settings}
    for path in fixed:
        over = next((p for p in paths if _is_within(path, p)), None)
        # A number of seeds counts from the seed that is set.
        if over and not (path == "seed" and isinstance(design.seeds, int)):
            reading.fault(paths[over], f"{path} is set for all points, and here it varies")
    _repeated(design, reading)


def _covered(layers: list[tuple[str, tuple[Setting, ...]]], reading: Reading) -> None:
    before: list[Setting] = []
    for _, settings in layers:
        for setting in settings:
            for other in before:
                if _is_within(other.path, setting.path):
                    message = f"{setting.path} covers what {other.place} says"
                    place = setting.place.removesuffix("[0]")
                    if not any(p.message == message and p.path == place for p in reading.problems):
                        reading.fault(place, message)
            before.append(setting)


def _repeated(design: Design, reading: Reading) -> None:
    for axis in design.axes:
        seen: dict[str, str] = {}
        for row in axis.rows:
            values = json.dumps([setting.value for setting in row], sort_keys=True)
            if values in seen:
                reading.fault(row[0].place, f"the same as {seen[values]}")
            seen.setdefault(values, row[0].place)


def _is_within(path: str, above: str) -> bool:
    return path == above or path.startswith((f"{above}.", f"{above}["))


def _found(value: Any) -> str:
    """Shorten a value for an error."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
