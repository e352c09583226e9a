"""Settings that decide how long waits of some causes last, without a value that is always better.

Their sentences have the values of the run, and the effect of other values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import interruptions, units

if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from flashscape.measured import Measured

_PADDED = 0.1
"""Share of padding, in what the flash programmed, from which a sentence names its setting."""

Drive = dict[str, Any]


class Decider(NamedTuple):
    """A setting that decides how long waits of some states are."""

    causes: frozenset[str]
    path: str
    tells: Callable[[Drive], str]
    """Function that returns its value, and the effect of another value."""
    states: frozenset[str] = frozenset()
    """States of these causes that it decides; empty for all of them."""
    applies: Callable[[Drive], bool] = lambda _: True
    """Predicate: the drive has the setting, or may have it."""


def _at(path: str, otherwise: str) -> Callable[[Drive], str]:
    """Return a function for the value at a path of the drive."""

    def value(drive: Drive) -> str:
        found: Any = drive
        for key in path.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        return otherwise if found is None else str(found)

    return value


def stages_only(drive: Drive) -> bool:
    """Return True if writes are acknowledged from flash, so that no buffer hides it."""
    return bool(drive["buffer"]["durability"] == "none")


def _link(drive: Drive) -> str:
    return f"is {_at('link.rate', 'none')(drive)}, {_at('link.duplex', '')(drive)} duplex"


def _buffer(drive: Drive) -> str:
    return (
        f"is {_at('buffer.size', 'none')(drive)}: a larger buffer takes longer bursts of writes; "
        "sustained writes are as fast as the flash"
    )


def _durability(drive: Drive) -> str:
    return (
        'is "none": a write is acknowledged when all of it is on flash. The buffer only stages '
        "its data, so a larger buffer does not make writes faster"
    )


def _unit(drive: Drive) -> str:
    return (
        f"is {_at('ftl.unit', '')(drive)}: writes that begin and end at its multiples need no "
        "read before them"
    )


def _suspension(drive: Drive) -> str:
    schemes = f'is "{interruptions.scheme(drive, "suspension")}"'
    schemes += f' (for programs "{interruptions.scheme(drive, "program_suspension")}")'
    bounds = []
    for key in ("suspension_bounds", "program_suspension_bounds"):
        known = drive["scheduler"].get(key, {})
        bounds += [f"{key}.{name} is {known[name]}" for name in ("most", "gap") if name in known]
    told = ", ".join(bounds) if bounds else "suspension_bounds (most, gap) sets no limit"
    return f"{schemes}; {told}"


def _reservation(drive: Drive) -> str:
    gc = drive["ftl"]["gc"]
    until = gc.get("reserve_until", "erase")
    ends = {
        "copied": "until the last copy of its victim",
        "erase": "until the erase of its victim",
        "stop": "until it has freed enough blocks",
    }
    told = (
        f'is false, and drive.ftl.gc.reserve_until is "{until}": a collection keeps its flash '
        f"{ends[until]}, also while the flash is idle"
    )
    blocking = gc.get("blocking", "plane")
    kept = {"channel": "its channel", "controller": "all channels"}.get(blocking)
    if kept is None:
        return told
    return f'{told}; drive.ftl.gc.blocking is "{blocking}": it keeps {kept} while it copies'


def _order(drive: Drive) -> str:
    """Return the settings that choose between operations that wait for the same flash."""
    told = f'is "{interruptions.scheme(drive, "bypass")}"'
    scheduler = drive["scheduler"]
    channel = scheduler.get("channel", "out-first")
    name = channel if isinstance(channel, str) else channel["policy"]
    others = [f'drive.scheduler.channel is "{name}"']
    for key in ("rounds.unit", "erase_batching.quiet"):
        value = _at(key, "")(scheduler)
        others += [f'drive.scheduler.{key} is "{value}"'] if value else []
    return f"{told}, {' and '.join(others)}: they decide which operation an idle flash waits for"


def _space(drive: Drive) -> str:
    gc = drive["ftl"]["gc"]
    return (
        f"is {gc['background']}, and drive.ftl.gc.foreground is {gc['foreground']}: free space of "
        "a bin at which collection begins, and at which it goes before writes. A background "
        "threshold further above the foreground threshold lets collection begin earlier"
    )


def _dies(drive: Drive) -> int:
    geometry = drive["geometry"]
    keys = ("channels", "packages_per_channel", "dies_per_package")
    return int(math.prod(geometry[key] for key in keys))


def _geometry(drive: Drive) -> str:
    return (
        "decides how many reads and programs the flash serves at once: it has "
        f"{units.many(_dies(drive), 'die')} of "
        f"{units.many(drive['geometry']['planes_per_die'], 'plane')}"
    )


DECIDERS = (
    Decider(frozenset({"link"}), "drive.link", _link),
    Decider(
        frozenset({"write buffer"}),
        "drive.buffer.size",
        _buffer,
        applies=lambda drive: not stages_only(drive),
    ),
    Decider(
        frozenset({"write buffer"}), "drive.buffer.durability", _durability, applies=stages_only
    ),
    Decider(frozenset({"read-modify-write"}), "drive.ftl.unit", _unit),
    Decider(
        frozenset({"scrubbing"}),
        "drive.ftl.scrub",
        lambda _: "decides how often blocks are read or written anew",
    ),
    Decider(frozenset({"suspension"}), "drive.scheduler.suspension", _suspension),
    Decider(
        frozenset({"reserved flash"}),
        "drive.ftl.gc.preemptible",
        _reservation,
        frozenset({"withheld_gc_reserved"}),
        lambda drive: drive["ftl"]["gc"]["preemptible"] is False,
    ),
    Decider(
        frozenset({"reserved flash"}),
        "drive.scheduler.bypass",
        _order,
        frozenset({"withheld_order"}),
    ),
    Decider(frozenset({"no free space"}), "drive.ftl.gc.background", _space),
    Decider(
        frozenset({"limit of programs"}),
        "drive.ftl.pressure.programs",
        lambda drive: (
            f"is {_at('ftl.pressure.programs', 'none')(drive)}: more outstanding programs of an "
            "NVM set let writes go on sooner, and reads meet more of them"
        ),
    ),
    Decider(
        frozenset({"task limit"}),
        "drive.ftl.tasks.most",
        lambda drive: (
            f"is {_at('ftl.tasks.most', 'none')(drive)}: more tasks at a time let reads that "
            "rebuild data begin sooner"
        ),
    ),
    Decider(
        frozenset({"queue depth"}),
        "queue_depth of the workload",
        lambda _: "decides how many requests the host has in the drive at once",
    ),
    Decider(frozenset({"host reads", "host programs"}), "drive.geometry", _geometry),
)


def sentences(causes: Set[str], states: Set[str], drive: Drive) -> list[str]:
    """Return a sentence for each setting that decides one of the causes.

    ``states`` are those in which requests spent time.
    """
    return [
        f"{decider.path} {decider.tells(drive)}."
        for decider in DECIDERS
        if decider.causes & causes
        and (not decider.states or decider.states & states)
        and decider.applies(drive)
    ]


def padding(result: Measured) -> list[str]:
    """Return sentences on the settings that make the drive program batches that are not full."""
    amplification = result.summary["write_amplification"]
    total = amplification["total"]
    if not total or amplification["padding"] < _PADDED * total:
        return []
    buffer = result.summary["config"]["drive"]["buffer"]
    durability, after = buffer["durability"], buffer.get("partial_after")
    share = units.percent(amplification["padding"] / total)
    told = []
    if after is not None:
        told.append(
            f'drive.buffer.partial_after is "{after}": a batch that is not full is padded and '
            "programmed when its first data has waited for so long. A longer time leaves less "
            "padding"
        )
    elif durability == "none":
        told.append(_alone(result.summary["config"]["drive"]))
    flushes = sum(f["requests"] for _, kind, f in result.groups() if kind == "flush")
    if durability == "volatile" and flushes:
        told.append(
            f'drive.buffer.durability is "volatile": each of the {flushes:,} flush requests makes '
            "the drive program what is in the buffer, however little it is. With "
            '"capacitor" a flush has nothing to do'
        )
    if not buffer["read_hits"] and durability != "none":
        told.append(
            "drive.buffer.read_hits is false: a read of data in the buffer first makes the drive "
            "program it. With true the buffer serves it"
        )
    return [f"{each} ({share} of what was programmed is padding)." for each in told]


def _alone(drive: Drive) -> str:
    """Return a clause on writes that are programmed at once, each with its own padding."""
    # Partial writes inside planes need this durability.
    early = "" if drive["ftl"]["partial_writes"] == "plane" else ', and so does "capacitor"'
    return (
        'drive.buffer.durability is "none", without drive.buffer.partial_after: each write is '
        "programmed alone and at once, and the rest of its last program is padding. A "
        f"partial_after lets writes share a program{early}"
    )
