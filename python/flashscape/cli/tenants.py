"""Tenants: traces that share a drive, their options, and their parts of the drive."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from flashscape.cli import options
from flashscape.near import listed
from flashscape.together import ALL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashscape.experiment import Experiment

ALONE = "trace"
"""Name of a trace that has the drive to itself."""

_ENTRY = re.compile(r",(?=\s*\w+\s*=)")
"""Commas before a key; commas in lists and file names are not matched."""


class Tenant(NamedTuple):
    """A trace and the options that hold for it alone."""

    file: Path
    name: str | None = None
    workload: dict[str, Any] = {}  # noqa: RUF012 -- never changed
    """Keys of ``[[workload]]``."""
    trace: dict[str, Any] = {}  # noqa: RUF012 -- never changed
    """Keys of ``workload.trace``."""

    @property
    def label(self) -> str:
        """Name of the tenant in messages, before all tenants have names."""
        return self.name or str(self.file)


def _whole(text: str) -> int:
    return int(text)


def depth(text: str) -> int | str:
    """Read a queue depth: a whole number, or ``none`` for no limit; raise ValueError."""
    return text if text == _UNLIMITED else int(text)


def _numbers(text: str) -> list[int]:
    return options.numbers(text, "0,1")


_UNLIMITED = "none"
_REGION = ("offset", "size")
_WORKLOAD: dict[str, Callable[[str], Any]] = {
    "start": str,
    "priority": str,
    "queue_depth": depth,
    "read_recovery_level": _whole,
}
_TRACE: dict[str, Callable[[str], Any]] = {
    "format": str,
    "mode": str,
    "time_scale": float,
    "disorder": str,
    "spread": str,
    "event": str,
    "time_unit": str,
    "waits": str,
    "block_size": str,
    "length_unit": str,
    "truncated": str,
    "devices": _numbers,
    "combine": str,
    "out_of_range": str,
    "repeat": _whole,
}
KEYS = ("file", "name", *_REGION, *_WORKLOAD, *_TRACE)
"""Keys of a tenant: those of ``[[workload]]``, of its region and of its trace."""

_SAID: dict[Callable[[str], Any], str] = {
    _whole: "a whole number",
    depth: "a whole number or none",
    float: "a number",
    _numbers: "a list such as 0,1",
}


def parse(text: str) -> Tenant:
    """Parse ``name=web,file=a.gz,start=10 s``; report all faults."""
    entries: dict[str, str] = {}
    faults = []
    for entry in _ENTRY.split(text):
        key, equals, value = (part.strip() for part in entry.partition("="))
        if not equals:
            faults.append(f"{entry.strip()!r} is not of the form key=value")
        elif key not in KEYS:
            faults.append(f"there is no key {key!r} {listed(key, KEYS)}")
        elif key in entries:
            faults.append(f"{key} is given twice")
        elif not value:
            faults.append(f"{key} has no value")
        else:
            entries[key] = value
    if "file" not in entries and not faults:
        faults.append("file=... is missing: the trace of the tenant")
    workload = _taken(entries, _WORKLOAD, faults)
    trace = _taken(entries, _TRACE, faults)
    if faults:
        raise click.BadParameter(f"{text!r}: {'; '.join(faults)}")
    if region := {key: entries[key] for key in _REGION if key in entries}:
        workload["region"] = region
    return Tenant(Path(entries["file"]), entries.get("name"), workload, trace)


def _taken(
    entries: dict[str, str], known: dict[str, Callable[[str], Any]], faults: list[str]
) -> dict[str, Any]:
    """Return the values of known keys; a value that cannot be read is a fault."""
    taken = {}
    for key in known:
        if key in entries:
            try:
                taken[key] = known[key](entries[key])
            except (ValueError, click.BadParameter):
                faults.append(f"{key}={entries[key]} is not {_SAID[known[key]]}")
    return taken


def named(tenants: Sequence[Tenant]) -> list[Tenant]:
    """Give each tenant a unique name: the one given, or one made from its file."""
    if not tenants:
        raise click.UsageError("no trace is named; give TRACE, or --tenant file=...")
    given = [tenant.name for tenant in tenants if tenant.name is not None]
    if twice := sorted({name for name in given if given.count(name) > 1}):
        raise click.UsageError(f"two tenants are called {twice[0]!r}; give each a name of its own")
    if len(tenants) == 1 and not given and not tenants[0].workload and not tenants[0].trace:
        return [tenants[0]._replace(name=ALONE)]
    taken = {ALL, *given}
    return [tenant._replace(name=tenant.name or _free(tenant.file, taken)) for tenant in tenants]


def _free(file: Path, taken: set[str]) -> str:
    """Return the file's name without suffixes, with a number appended if it is taken."""
    stem = file.name.split(".")[0] or file.name
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name


def partition(experiment: Experiment) -> list[dict[str, Any]]:
    """Return equal regions for the workloads: as large as fits, in whole mapping units."""
    capacity = experiment.derived["capacity"]
    unit, exported = capacity["mapping_unit_bytes"], capacity["exported_bytes"]
    workloads = experiment.config["workload"]
    if beside := [w["name"] for w in workloads if "region" in w]:
        told = f"{', '.join(beside)} has a part of its own (offset, size)"
        raise click.UsageError(f"--partition divides the whole drive, but {told}")
    size = exported // unit // len(workloads) * unit
    if size == 0:
        many = len(workloads)
        raise click.UsageError(f"--partition: the drive has fewer than {many} mapping units")
    return [
        {"offset": f"{number * size} B", "size": f"{size} B"} for number in range(len(workloads))
    ]
