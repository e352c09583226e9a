"""Configurations under write disturbance: reads at queue depth 1 beside writes of some rate.

A run counts when collection is steady, and whole cycles of it. The reader begins where counting
begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Run
from flashscape.studies.tables import merged

from . import _drives
from ._loads import reader, writers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashscape.reproduce import Setting

SMALL = (800, 1_600, 3_200, 6_400, 12_800)
"""Writes a second that a set of the drive can take: at most 80 % of its 16,000."""

LARGE = (3_200, 6_400, 12_800, 51_200, 204_800)
"""Writes a second that a drive can take: at most 80 % of its 255,000."""

_BEFORE = 4
"""Cycles of collection before counting: a drive that is written fast uses up its free blocks until
it has those of the lower threshold."""

PERIOD_S = 4
"""Period of ping-pong: long enough that a member collects all that it has written before it is
read, at 80 % of what a member can take; the slides give none."""

_TURNS_S = 64
"""Least seconds that count with a plan of periods."""

STARVATION: dict[str, Any] = {"starvation": {"limit": "1 s", "then": "report"}}
"""Requests that take a second or longer are counted: a mean hides that some writes get no turn."""


@dataclass(frozen=True)
class Case:
    """A drive, the sets that are read and written, and the rates of writes that it can take."""

    title: str
    drive: dict[str, Any]
    reads: int | None
    """Set that is read; None without sets."""
    writes: tuple[int | None, ...]
    """Sets that are written."""
    rates: tuple[int, ...]
    channels: int = _drives.CHANNELS
    """Channels that get writes."""
    copies: int = 1
    """Number of members that each write goes to."""
    depth: int = 1
    """Reads at a time."""
    period: float = PERIOD_S
    """Seconds for which a member writes, with several copies."""
    least_s: tuple[float, float] = (8, 60)
    """Least seconds that count, in the short and in the full profile."""
    turns: tuple[int, int] = (2, 8)
    """Cycles of collection that count, in the short and in the full profile."""
    more: dict[str, Any] = field(default_factory=dict)
    """Further tables of the experiment."""

    def experiment(self, setting: Setting, rate: int) -> dict[str, Any]:
        """Return the experiment with so many writes a second; 0 is undisturbed."""
        warm_up, counted = self.lengths(setting, rate)
        reads = reader(self.reads, warm_up, self.depth)
        sets = [reads, *(writers(rate, self.writes) if rate else [])]
        tables = {
            "title": f"{self.title}, {rate:,} writes/s",
            "drive": self.drive,
            "precondition": _drives.AGED,
            "workload": sets,
            # Arrays cannot count requests that starve.
            "run": length(warm_up, counted) | ({} if "array" in self.more else STARVATION),
        }
        return merged(tables, self.more)

    def lengths(self, setting: Setting, rate: int) -> tuple[float, float]:
        """Return the seconds before counting, and those that count."""
        if not rate:
            return 0.0, 2.0
        at = setting.pick(short=0, full=1)
        least = float(self.least_s[at])
        turn = _drives.CHANNEL_TURN * self.channels * self.copies / rate
        warm_up, counted = _BEFORE * turn, max(least, self.turns[at] * turn)
        if self.copies > 1:
            # Whole turns of both members, and several: what a turn programs is a lump.
            both = 2 * self.period
            counted = max(counted, _TURNS_S)
            warm_up, counted = (-(-each // both) * both for each in (warm_up, counted))
        return float(warm_up), float(counted)


def length(warm_up_s: float, counted_s: float) -> dict[str, Any]:
    """Return the length of a run."""
    whole = {"time": f"{warm_up_s + counted_s:.3f} s"}
    return whole | ({"warm_up": {"time": f"{warm_up_s:.3f} s"}} if warm_up_s else {})


def windows(period: float = PERIOD_S) -> dict[str, Any]:
    """Return windows of predictable latency that outlast a period: the plan chooses them."""
    lengths = {"dtwin": f"{2 * period:g} s", "ndwin_low": "1 ms", "ndwin_high": f"{period:g} s"}
    return {"ftl": {"windows": lengths}}


def ping_pong(period: float = PERIOD_S) -> dict[str, Any]:
    """Return the plan of the host. The size of its cache is that of the ATC'14 paper on Rails."""
    cache = {"size": "4 GB", "latency": "1 us"}
    return {"policy": "ping-pong", "period": f"{period:g} s", "cache": cache}


def over_sets(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a plan over the sets of one drive."""
    return {"array": {"drives": 1, "plan": plan}}


def ping_pong_case(title: str, rates: tuple[int, ...], period: float = PERIOD_S) -> Case:
    """Return ping-pong over two sets of one drive."""
    return Case(
        title,
        _drives.sets(windows(period), channels=2),
        None,
        (None,),
        rates,
        channels=1,
        copies=2,
        period=period,
        more=over_sets(ping_pong(period)),
    )


_OTHERS = tuple(range(2, _drives.CHANNELS + 1))

CASES: dict[str, Case] = {
    "bands": Case("no sets: bands", _drives.bands(), None, (None,), LARGE),
    "pool": Case("no sets: dies in turn", _drives.drive(), None, (None,), LARGE),
    "suspends": Case(
        "no sets: bands, suspension", _drives.bands(_drives.SUSPENDS), None, (None,), LARGE
    ),
    "another": Case("sets: writes to another", _drives.sets(), 1, (2,), SMALL, channels=1),
    "others": Case("sets: writes to all others", _drives.sets(), 1, _OTHERS, LARGE),
    "same": Case("sets: writes to the same", _drives.sets(), 1, (1,), SMALL, channels=1),
    "ping-pong": ping_pong_case("ping-pong over two sets", SMALL[:4]),
}
"""Configurations by name."""


def run_name(case: str, rate: int) -> str:
    """Return the name of a run."""
    return f"{case}-{rate}"


TABLES = ("latency", "bands", "series")
"""Tables of a run that its row needs."""


def runs(setting: Setting, cases: Mapping[str, Case]) -> list[Run]:
    """Return the runs of cases at all of their rates, and undisturbed."""
    return [
        Run(run_name(name, rate), case.experiment(setting, rate), tables=TABLES)
        for name, case in cases.items()
        for rate in (0, *case.rates)
    ]
