"""Conversion of a fleet file, or of Python values, to a fleet; all faults are told at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import spelling, toml
from flashscape.errors import ConfigError, unread
from flashscape.experiment import Unchecked
from flashscape.fleet import wanted
from flashscape.fleet.wanted import Wanted
from flashscape.near import listed
from flashscape.sweep import reading as sweeps
from flashscape.sweep.check import refuse
from flashscape.sweep.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from os import PathLike

    from flashscape.experiment import Experiment, Overrides

TABLE = "fleet"
_KEYS = ("title", "base", "set", TABLE)
_OF_FLEET = ("drives", "age", "fanout")
_OF_FANOUT = ("reads", "stages", "queries", "slow_above")


class Options(NamedTuple):
    """Values of a fleet, from its file or beside it; None if one is not given."""

    drives: Any = None
    age: Any = None
    fanout: Any = None
    stages: Any = None
    queries: Any = None
    slow_above: Any = None

    @property
    def given(self) -> dict[str, Any]:
        """The values that are given, by name."""
        return {key: value for key, value in self._asdict().items() if value is not None}


def of_values(
    base: Experiment | Mapping[str, Any] | str | PathLike[str], options: Options
) -> Wanted:
    """Return the fleet that Python values describe; raise ConfigError."""
    reading = Reading("fleet", {})
    return _wanted(Unchecked.of(base), "", options, reading, "")


def of_file(path: str | PathLike[str], overrides: Overrides, options: Options) -> Wanted:
    """Return the fleet of a fleet file, or of an experiment with options; raise ConfigError."""
    path = Path(path)
    if str(path) == "-":
        raise ConfigError("-: a fleet is not read from the standard input; name a file")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(unread(path, error)) from error
    except UnicodeDecodeError:
        # Its reader knows the formats that others write.
        text = ""
    raw, lines = ({}, {}) if path.suffix == ".json" or not text else toml.read(text, str(path))
    if TABLE not in raw and "base" not in raw:
        return _wanted(Unchecked.of(path).over(overrides), "", options, Reading("fleet", {}), "")
    reading = Reading(str(path), lines)
    for key in raw:
        if key not in _KEYS:
            reading.fault(key, _unknown(key, _KEYS))
    base = sweeps.base_of(raw, reading, path.parent)
    title = raw.get("title", "")
    if not isinstance(title, str):
        reading.fault("title", f"{title!r} is not a text")
        title = ""
    if base is not None:
        common = {each.path: each.value for each in sweeps.settings_of(raw, reading)}
        base = base.over(common).over(overrides)
    given = _of_table(raw.get(TABLE, {}), reading)
    beside = options.given
    return _wanted(base, title, given._replace(**beside), reading, f"{TABLE}.", beside)


def _of_table(table: Any, reading: Reading) -> Options:
    """Return the values of the table of a fleet file, by the names of options."""
    if not isinstance(table, dict):
        reading.fault(TABLE, f"{table!r} is not a table")
        return Options()
    fanout = table.get("fanout", {})
    for key in table:
        if key not in _OF_FLEET:
            reading.fault(f"{TABLE}.{key}", _unknown(key, _OF_FLEET))
    if not isinstance(fanout, dict):
        reading.fault(f"{TABLE}.fanout", f"{fanout!r} is not a table; write reads = [1, 10, 100]")
        fanout = {}
    for key in fanout:
        if key not in _OF_FANOUT:
            reading.fault(f"{TABLE}.fanout.{key}", _unknown(key, _OF_FANOUT))
    if "fanout" in table and fanout.get("reads") is None:
        reading.fault(f"{TABLE}.fanout.reads", "missing; write reads = [1, 10, 100]")
    return Options(
        table.get("drives"),
        table.get("age"),
        fanout.get("reads"),
        fanout.get("stages"),
        fanout.get("queries"),
        fanout.get("slow_above"),
    )


_OPTION_OF = {
    "fanout.reads": "fanout",
    "fanout.stages": "stages",
    "fanout.queries": "queries",
    "fanout.slow_above": "slow_above",
}


def _wanted(
    base: Unchecked | None,
    title: str,
    given: Options,
    reading: Reading,
    above: str,
    beside: Collection[str] = (),
) -> Wanted:
    def fault(key: str, message: str) -> None:
        # What is given beside a file has no line in it.
        name = _OPTION_OF.get(key, key)
        is_option = not above or name in beside
        option = spelling.option(f"--{name.replace('_', '-')}", name)
        reading.fault(option if is_option else f"{above}{key}", message)

    count = given.drives
    if count is None:
        drives = spelling.option("--drives N", "drives=N")
        fault("drives", f"missing; write the number of drives ({drives})")
        count = 1
    fleet = Wanted(
        base=base if base is not None else Unchecked.of({}),
        file=reading.file,
        title=title,
        drives=wanted.drives(count, fault),
        age=wanted.age(given.age, fault),
        queries=wanted.queries(given.fanout, given.stages, given.queries, given.slow_above, fault),
    )
    refuse(reading, None)
    return fleet


def _unknown(key: str, valid: tuple[str, ...]) -> str:
    return f"unknown key {listed(key, valid, 'valid:')}"
