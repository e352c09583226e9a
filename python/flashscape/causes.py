"""Causes of a request's latency, as groups of states.

The simulator charges time to some forty states. These groups join states that
have the same remedy; every table and picture uses them.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Cause(NamedTuple):
    """A group of states."""

    name: str
    """Column head."""
    phrase: str
    """Phrase for ``3.2 ms went to …``."""
    colour: str
    """Colour in pictures."""
    states: tuple[str, ...]
    """Patterns of the states that belong to it."""
    is_own: bool = False
    """True for the request's own service: no wait for another operation."""


CAUSES = (
    Cause(
        "own service",
        "own service",
        "#b8c4ce",
        ("link", "firmware", "buffer", "sense", "program", "transfer", "decode", "xor"),
        is_own=True,
    ),
    Cause(
        "host reads",
        "waiting behind other reads of hosts",
        "#6baed6",
        ("wait_unit_host_read", "wait_channel_host_read"),
    ),
    Cause(
        "host programs",
        "waiting behind the programming of host data",
        "#2171b5",
        ("wait_unit_host_program", "wait_channel_host_program"),
    ),
    Cause(
        "read-modify-write",
        "waiting behind reads for read-modify-write",
        "#807dba",
        ("wait_*_rmw_read",),
    ),
    Cause(
        "re-reads",
        "re-reads of what could not be decoded",
        "#bcbddc",
        ("re_read", "wait_*_re_read"),
    ),
    Cause(
        "GC reads",
        "waiting behind reads and commands of garbage collection",
        "#fdae6b",
        ("wait_unit_gc_read", "wait_channel_gc_read", "wait_channel_command"),
    ),
    Cause(
        "GC programs",
        "waiting behind programs of garbage collection",
        "#e6550d",
        ("wait_unit_gc_program", "wait_channel_gc_program"),
    ),
    Cause(
        "scrubbing",
        "waiting behind scrubbing",
        "#7a0177",
        ("wait_unit_scrub", "wait_channel_scrub"),
    ),
    Cause(
        "parity",
        "waiting behind reads and programs for parity",
        "#1d6996",
        ("wait_unit_parity", "wait_channel_parity"),
    ),
    Cause(
        "rebuild",
        "waiting behind the rebuild of data on failed flash",
        "#8c6d31",
        ("wait_unit_rebuild", "wait_channel_rebuild"),
    ),
    Cause(
        "task limit",
        "waiting for one of the firmware's tasks, to read the rest of a stripe",
        "#5ab4ac",
        ("wait_task",),
    ),
    Cause(
        "limit of programs",
        "waiting until fewer programs are outstanding",
        "#01665e",
        ("wait_pressure",),
    ),
    Cause(
        "erases",
        "waiting behind erases",
        "#a50f15",
        ("wait_unit_erase",),
    ),
    Cause(
        "suspension",
        "waiting until an interrupted erase or program has freed its flash or resumed",
        "#df65b0",
        ("wait_suspended",),
    ),
    Cause(
        "no free space",
        "waiting until garbage collection has made space",
        "#67000d",
        ("wait_space_*",),
    ),
    Cause(
        "write buffer",
        "waiting for room in the write buffer",
        "#41ab5d",
        ("wait_buffer", "wait_buffer_memory"),
    ),
    Cause(
        "reserved flash",
        "waiting for flash that is idle but reserved for other operations",
        "#d4b483",
        ("withheld_gc_reserved", "withheld_order"),
    ),
    Cause(
        "queue depth",
        "waiting in the host because the queue is full",
        "#969696",
        ("withheld_queue_depth",),
    ),
    Cause(
        "host's plan",
        "waiting in the host for its plan for several drives",
        "#c49c94",
        ("wait_host_cache", "wait_host_turn", "wait_hedge"),
    ),
    Cause("host's cache", "copying to or from the host's cache", "#98df8a", ("host_cache",)),
    Cause(
        "power off",
        "waiting in the host for a drive that is off or recovers from a power cut",
        "#1b1b1b",
        ("wait_power_off",),
    ),
    Cause("link", "waiting for the link to the host", "#525252", ("wait_link",)),
)

OWN_SERVICE = (
    "Own service is the time in which the drive works on the request itself: link, firmware, "
    "buffer, flash or decoding."
)

OTHER = Cause("other", "something else", "#dddddd", ("*",))
"""Cause of states that a later version may add."""


@cache
def cause_of(state: str) -> Cause:
    """Return the cause that a state belongs to."""
    fits = (c for c in CAUSES if any(fnmatchcase(state, pattern) for pattern in c.states))
    return next(fits, OTHER)


def by_cause(times: Mapping[str, float] | Iterable[tuple[str, float]]) -> dict[Cause, float]:
    """Sum the time in each state by cause, in the order of :data:`CAUSES`."""
    pairs = list(times.items() if hasattr(times, "items") else times)
    sums: dict[Cause, float] = dict.fromkeys((*CAUSES, OTHER), 0)
    for state, ns in pairs:
        sums[cause_of(state)] += ns
    return {cause: ns for cause, ns in sums.items() if ns}
