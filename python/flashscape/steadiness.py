"""Figures that are not known to be steady: which they are, the reason, and the remedy.

The simulator writes the verdicts to the summary, with reasons that hold for any workload, and with
the length of a run that would tell more. The remedy depends on what ended the run, and is added
here: a trace has a fixed length, and a longer run of an overloaded drive is no steadier.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import overload, units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FIGURES = ("write_amplification", "latency")
"""Figures with a verdict, as keys of ``steady_state``."""

LONGER = "run longer"

OVERLOADED = "the workload is overloaded, so a longer run would not be steadier"

_LIMITS = ("requests", "bytes")
"""Limits of a run that count; ``time`` is the other one."""

_STOPS = ("time", "requests", "bytes")
"""Limits of a workload."""


_REPEATS = 3
"""Fewest cycles with a verdict on steady state."""


class Unsteady(NamedTuple):
    """Reason that a figure is not known to be steady, and the remedy."""

    why: str
    remedy: str | None
    """Remedy; None if a longer run would not help."""

    @property
    def told(self) -> str:
        """Reason and remedy as a clause."""
        return f"{self.why}; {self.remedy}" if self.remedy else self.why


def unsteady(summary: Mapping[str, Any], figure: str) -> Unsteady | None:
    """Return why a figure of a run is not known to be steady.

    None if it is steady, or if the run did not measure it.
    """
    verdict = summary["steady_state"][figure]
    is_measured = figure != "write_amplification" or _is_written(summary)
    is_untimed = summary["config"]["run"].get("untimed", False)
    if verdict["reached"] or not is_measured or is_untimed:
        return None
    if is_overloaded(summary):
        return Unsteady(f"{verdict['reason']}; {OVERLOADED}", None)
    # Summaries of earlier versions lack this key.
    return Unsteady(verdict["reason"], longer(summary, verdict.get("needed_ns")))


def _is_written(summary: Mapping[str, Any]) -> bool:
    return summary["write_amplification"]["total"] is not None


def is_overloaded(summary: Mapping[str, Any]) -> bool:
    """Return True if requests came faster than the drive served them."""
    return any(note.startswith(overload.BEGINNING) for note in summary["notes"])


def cycles(summary: Mapping[str, Any]) -> str | None:
    """Return the number of GC cycles that were counted, and their length; None without any."""
    # Summaries of earlier versions lack this key.
    found = summary.get("cycles")
    if found is None:
        return None
    count = f"{found['count']:,.0f}" if found["count"] >= 10 else f"{found['count']:.1f}"
    return f"{count} cycles of {units.duration(found['mean_ns'])}"


def regular_cycle(summary: Mapping[str, Any]) -> float | None:
    """Return the length of a run's cycles; None if they are not regular, or there are none."""
    # Summaries of earlier versions lack this key.
    found = summary.get("cycles") or {}
    length: float | None = found.get("regular_ns")
    return length


def repeats(summary: Mapping[str, Any]) -> bool:
    """Return True if enough GC cycles were counted to tell that they repeat."""
    found = summary.get("cycles")
    return found is not None and found["count"] >= _REPEATS


def longer(summary: Mapping[str, Any], needed_ns: float | None = None) -> str | None:
    """Return how to make a run longer, by what ended it; None if it would not help.

    ``needed_ns`` is the length that the run should have, if it is known.
    """
    if is_overloaded(summary):
        return None
    if not summary["complete"]:
        # A request that starves would starve in a longer run.
        starvation = summary.get("starvation")
        return None if starvation and starvation["ended_run"] else "run it to its end"
    factor = None
    if needed_ns is not None and needed_ns > summary["simulated_ns"]:
        factor = needed_ns / summary["simulated_ns"]
    changes = [*_ends(summary, factor)]
    return f"{LONGER} ({', '.join(changes)})" if changes else LONGER


def _ends(summary: Mapping[str, Any], factor: float | None) -> Iterator[str]:
    """Yield the settings that ended a run, with the values that make it so many times as long."""
    run = summary["config"]["run"]
    time = run.get("time")
    if time is not None and summary["simulated_ns"] >= units.nanoseconds(time):
        if factor is None:
            yield "a larger run.time"
        else:
            yield f'run.time = "{_rounded_up(units.nanoseconds(time) * factor)}" or more'
        return
    limits = [key for key in _LIMITS if run.get(key) is not None]
    yield from (_larger("run", key, run[key], factor) for key in limits)
    for at, workload in enumerate(summary["config"]["workload"]):
        path = f"workload[{at}]"
        if "trace" in workload:
            times = workload["trace"].get("repeat", 1)
            more = times + 1 if factor is None else max(times + 1, math.ceil(times * factor))
            yield f"{path}.trace.repeat = {more} or more"
        elif not limits:
            stop = workload.get("stop") or {}
            stops = (key for key in _STOPS if stop.get(key) is not None)
            yield from (_larger(f"{path}.stop", key, stop[key], factor) for key in stops)


def _larger(path: str, key: str, value: Any, factor: float | None) -> str:
    if factor is None or not isinstance(value, int):
        return f"a larger {path}.{key}"
    return f"{path}.{key} = {_two_digits(value * factor):.0f} or more"


def _rounded_up(ns: float) -> str:
    """Return a time with two digits, not less than the given one: ``65 s``."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{_two_digits(ns / size):g} {unit}"
    return f"{math.ceil(ns)} ns"


def _two_digits(value: float) -> float:
    """Return the least number of two digits that is not below a value."""
    digits = math.floor(math.log10(value)) - 1
    return math.ceil(value / 10**digits) * 10**digits if digits >= 0 else math.ceil(value * 10) / 10
