"""A fleet as its user describes it: a base, a number of drives, their ageing, and queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import spelling, units
from flashscape.sweep.design import POINTS_MOST

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape.experiment import Unchecked

DRIVES_MOST = POINTS_MOST
OVERWRITES_MOST = 1000.0
READS_MOST = 100_000
STAGES_MOST = 100
QUERIES_MOST = 1_000_000
LIMITS_MOST = 3
"""Most limits above which reads are slow, besides p99."""
QUERIES = 10_000
"""Number of queries that are sampled by default."""

_BOUNDS = re.compile(r"\s*([0-9.]+)\s*(%?)\s*\.\.\s*([0-9.]+)\s*(%?)\s*")


class Age(NamedTuple):
    """Bounds of the further overwrites of each drive, as multiples of the filled space."""

    least: float
    most: float

    def as_dict(self) -> dict[str, float]:
        """Return the value of ``clone.overwrites``."""
        return {"from": self.least, "to": self.most}


class Queries(NamedTuple):
    """Queries over many drives: each of ``stages`` waits for the slowest of some reads."""

    reads: tuple[int, ...]
    """Numbers of reads of a stage, rising: each is a case of its own."""
    stages: int = 1
    queries: int = QUERIES
    """Number of queries that are sampled in each case."""
    slow_above: tuple[int, ...] = ()
    """Further limits in nanoseconds, rising: a read above one is slow by it, as one above p99."""


@dataclass(frozen=True)
class Wanted:
    """A fleet that is to be run."""

    base: Unchecked
    file: str
    """Its name in errors."""
    title: str
    drives: int
    age: Age | None
    queries: Queries | None


def drives(value: Any, fault: Callable[[str, str], None]) -> int:
    """Return the number of drives; record a fault."""
    return _whole(value, "drives", DRIVES_MOST, fault)


def age(value: Any, fault: Callable[[str, str], None]) -> Age | None:
    """Return the bounds in ``0 %..25 %``, ``0..0.25`` or a pair of numbers; record a fault."""
    if value is None:
        return None
    found = _bounds(value)
    form = 'write the least and the most further overwrites, such as "0 %..25 %"'
    if found is None:
        fault("age", f"{value!r} is no range; {form}")
    elif not found.least <= found.most:
        fault("age", f"{value!r} begins above its end; {form}")
    elif not 0 < found.most <= OVERWRITES_MOST:
        fault("age", f"{value!r} ends outside of 0..{OVERWRITES_MOST:g}; {form}")
    return found


def _bounds(value: Any) -> Age | None:
    if isinstance(value, str):
        match = _BOUNDS.fullmatch(value)
        if match is None:
            return None
        least, of_least, most, of_most = match.groups()
        # In 0..25 % the unit belongs to both.
        try:
            scaled = float(least) / (100 if of_least or of_most else 1)
            return Age(scaled, float(most) / (100 if of_most else 1))
        except ValueError:
            return None
    is_pair = isinstance(value, Sequence) and len(value) == 2
    if not is_pair or any(isinstance(v, bool) or not isinstance(v, int | float) for v in value):
        return None
    least, most = (float(each) for each in value)
    return Age(least, most) if least >= 0 else None


def queries(
    reads: Any, stages: Any, count: Any, slow_above: Any, fault: Callable[[str, str], None]
) -> Queries | None:
    """Return the queries to sample; None without ``reads``; record faults."""
    if reads is None:
        others = {"stages": stages, "queries": count, "slow_above": slow_above}
        for key, value in others.items():
            if value is not None:
                option = spelling.option("--fanout 1,10,100", "fanout=[1, 10, 100]")
                why = f"has no effect without numbers of reads: write {option}"
                fault(f"fanout.{key}", why)
        return None
    listed = [reads] if isinstance(reads, int) and not isinstance(reads, bool) else reads
    if isinstance(listed, str | bytes) or not isinstance(listed, Sequence) or not listed:
        fault("fanout.reads", f"{reads!r} is no list of numbers of reads; write [1, 10, 100]")
        return None
    found = [_whole(each, "fanout.reads", READS_MOST, fault) for each in listed]
    if any(listed.count(each) > 1 for each in listed):
        fault("fanout.reads", f"{reads!r} names a number twice")
    return Queries(
        tuple(sorted(set(found))),
        1 if stages is None else _whole(stages, "fanout.stages", STAGES_MOST, fault),
        QUERIES if count is None else _whole(count, "fanout.queries", QUERIES_MOST, fault),
        _limits(slow_above, fault),
    )


def _limits(given: Any, fault: Callable[[str, str], None]) -> tuple[int, ...]:
    """Return the limits in ``"1 ms"``, ``"500 us,1 ms"``, nanoseconds, or a list of these."""
    if given is None:
        return ()
    listed = given.split(",") if isinstance(given, str) else given
    listed = listed if isinstance(listed, Sequence) else [listed]
    found = [_limit(each, fault) for each in listed]
    if not found:
        fault("fanout.slow_above", f"{given!r} names no limit; write such as 1 ms")
    if len(found) > LIMITS_MOST:
        fault("fanout.slow_above", f"{len(found)} limits are more than {LIMITS_MOST}")
    if len(set(found)) < len(found):
        fault("fanout.slow_above", f"{given!r} names a limit twice")
    return tuple(sorted(set(found)))


def _limit(given: Any, fault: Callable[[str, str], None]) -> int:
    limit = given
    if isinstance(given, str):
        try:
            limit = units.nanoseconds(given.strip())
        except ValueError as error:
            fault("fanout.slow_above", f"{error}")
            return 1
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        fault("fanout.slow_above", f"{given!r} is no time above 0; write such as 1 ms")
        return 1
    return limit


def _whole(value: Any, key: str, most: int, fault: Callable[[str, str], None]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        fault(key, f"{value!r} is not a whole number from 1 to {most:,}")
        return 1
    return value
