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


_WRITING = ("write", "write_zeroes")
"""Kinds of requests that use free space."""

_WRITES_AT_LEAST = 2 / 3
"""Share of a run in which workloads write at least, if a longer run is to have more GC."""

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
    if stopped := _stopped_writers(summary, figure):
        return Unsteady(verdict["reason"], stopped)
    # Summaries of earlier versions lack this key.
    return Unsteady(verdict["reason"], longer(summary, verdict.get("needed_ns")))


def _stopped_writers(summary: Mapping[str, Any], figure: str) -> str | None:
    """Return the remedy if all workloads that wrote stopped long before the end; else None.

    A longer run then has no more GC. Latency is concerned if it has the reason of write
    amplification.
    """
    verdicts = summary["steady_state"]
    if verdicts[figure]["reason"] != verdicts["write_amplification"]["reason"]:
        return None
    writers = {
        initiator["name"]
        for initiator in summary["initiators"]
        if any(initiator[kind]["requests"] for kind in _WRITING)
    }
    latest = _WRITES_AT_LEAST * summary["simulated_ns"]
    stopped = {}
    for at, workload in enumerate(summary["config"]["workload"]):
        stop = (workload.get("stop") or {}).get("time")
        name, start = workload.get("name"), workload.get("start", "0 s")
        if name not in writers or stop is None:
            continue
        if units.nanoseconds(start) + units.nanoseconds(stop) <= latest:
            stopped[name] = f'workload[{at}].stop.time, now "{stop}"'
    if not writers or writers - stopped.keys():
        return None
    return f"let writes go on until the end of the run (a larger {', '.join(stopped.values())})"


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
    if not summary["counted_ns"] and (warm_up := summary["config"]["run"].get("warm_up")):
        limits = ", ".join(f"a smaller run.warm_up.{key}" for key in warm_up)
        return f"shorten the warm-up ({limits})"
    factor = None
    if needed_ns is not None and needed_ns > summary["simulated_ns"]:
        factor = needed_ns / summary["simulated_ns"]
    changes = [*_ends(summary, factor)]
    return f"{LONGER} ({', '.join(changes)})" if changes else LONGER


def _ends(summary: Mapping[str, Any], factor: float | None) -> Iterator[str]:
    """Yield the settings that ended a run, with the values that make it so many times as long."""
    run = summary["config"]["run"]
    time = run.get("time")
    limits = [key for key in _LIMITS if run.get(key) is not None]
    workloads = summary["config"]["workload"]
    is_time_alone = not limits and any(map(_is_endless, workloads))
    # A sparse open loop ends at its last request, a little before the time.
    has_reached = time is not None and summary["simulated_ns"] >= units.nanoseconds(time)
    if time is not None and (has_reached or is_time_alone):
        if factor is None:
            yield "a larger run.time"
        else:
            yield f'run.time = "{_rounded_up(units.nanoseconds(time) * factor)}" or more'
        return
    yield from (_larger("run", key, run[key], factor) for key in limits)
    for at, workload in enumerate(workloads):
        path = f"workload[{at}]"
        if "trace" in workload:
            times = workload["trace"].get("repeat", 1)
            more = times + 1 if factor is None else max(times + 1, math.ceil(times * factor))
            yield f"{path}.trace.repeat = {more} or more"
        elif not limits:
            stop = workload.get("stop") or {}
            stops = (key for key in _STOPS if stop.get(key) is not None)
            yield from (_larger(f"{path}.stop", key, stop[key], factor) for key in stops)


def _is_endless(workload: Mapping[str, Any]) -> bool:
    """Return True if only a limit of the run ends a workload."""
    stop = workload.get("stop") or {}
    return "trace" not in workload and not any(stop.get(key) is not None for key in _STOPS)


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
