"""Windows of predictable latency in words: ends, time broken, waits, and remedies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import deciders, units
from flashscape.catalogue import derived_of
from flashscape.parts import parts
from flashscape.window_counts import CAUSES, KINDS, time_ns, warnings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flashscape.measured import Measured

_WRITES = frozenset({"write", "write_zeroes"})
_BY_SPACE = frozenset({"writes", "excursion"})
_LONG = 0.05
"""Share of waits in the time of a part from which a sentence names a setting."""

Figures = dict[str, Any]


def sentences(result: Measured) -> list[str]:
    """Return sentences on deterministic windows: ends, waits, causes and remedies."""
    found = [part.figures for part in parts(result, "windows")]
    # Without windows that the host asked for, a note of the run says so.
    if not any(of["asked"] for of in found):
        return []
    ends = {cause: sum(of["ends"][cause] for of in found) for cause in CAUSES}
    told = [*_ends(ends, result, found), *_waits(result, found)]
    for cause, explains in _EXPLAINED.items():
        if ends[cause]:
            name = f"{cause.capitalize()} ({units.many(ends[cause], 'window')})"
            told.append(f"{name}: {explains(_Setting(result))}")
    if any(ends[cause] for cause in _BY_SPACE):
        told.append(_space(_Setting(result), found))
    return [*told, *_late_warnings(found)]


def _late_warnings(found: list[Figures]) -> list[str]:
    """Return a sentence on warnings that leave a host no time, if there are any."""
    late = [
        f"drive.ftl.windows.{kind}_threshold"
        for kind in KINDS
        if any(warnings(of).get(kind, {}).get("shortest_ns") == 0 for of in found)
    ]
    if not late:
        return []
    return [
        "Some warnings came at the moment at which the window ended by itself: a higher "
        f"{' and '.join(late)} warns sooner."
    ]


def _ends(ends: dict[str, int], result: Measured, found: list[Figures]) -> list[str]:
    total, by_host = sum(ends.values()), ends["host"]
    lasted = _lasted(result, found)
    if not total:
        return [f"No deterministic window has ended.{lasted}"]
    if by_host == total:
        all_of = (
            "The deterministic window" if total == 1 else f"All {total:,} deterministic windows"
        )
        return [f"{all_of} that ended {_was(total)} ended by the host: none was broken.{lasted}"]
    broken = _range((of["broken_ns"] for of in found), units.duration)
    whole = _range(map(time_ns, found), units.duration)
    of_each = " in each part" if len(found) > 1 else ""
    return [
        f"Of {units.many(total, 'deterministic window')} that ended, {total - by_host:,} "
        f"{_was(total - by_host)} broken: the drive ended them before the host did.{lasted}",
        f"The host lacked the broken ones for {broken} of {whole}{of_each}.",
    ]


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _lasted(result: Measured, found: list[Figures]) -> str:
    """Return a sentence on the mean length of windows, after a space."""
    begun = sum(of["begun"] for of in found)
    if not begun:
        return ""
    mean = units.duration(sum(of["dtwin_ns"] for of in found) / begun)
    asked = _asked(result)
    wanted = "" if asked is None else f"; the host asks for {units.duration(asked)}"
    return f" Windows lasted {mean} in the mean{wanted}."


def _asked(result: Measured) -> int | None:
    """Return the length of the windows that a run asks for; None if a plan chooses them."""
    config = result.summary["config"]
    if (host := config["run"].get("windows")) is None:
        return None
    return units.nanoseconds(host.get("dtwin") or config["drive"]["ftl"]["windows"]["dtwin"])


def _waits(result: Measured, found: list[Figures]) -> list[str]:
    asked, begun = (sum(of[key] for of in found) for key in ("asked", "begun"))
    waited = [of["waited_ns"] for of in found]
    if not any(waited):
        return []
    longest = max(of["longest_wait_ns"] for of in found)
    never = asked - begun
    told = [
        f"The host waited {_range(waited, units.duration)} for windows to begin, at most "
        f"{units.duration(longest)} at a time: a window begins when no garbage collection is under "
        "way, no foreground GC is due, and NDWIN Time Minimum Low has passed."
    ]
    if never:
        told.append(
            f"{never:,} of {units.many(asked, 'window')} that the host asked for did not begin "
            "before it gave them up or the run ended."
        )
    # A window that the end of the run cut off is one a part at most.
    if never > len(found) or any(of["waited_ns"] > _LONG * time_ns(of) for of in found):
        told.append(_more_room(_Setting(result)))
    return told


def _more_room(setting: _Setting) -> str:
    """Return a sentence on settings with which GC is done before the next window."""
    if setting.is_closed:
        return (
            "Hosts write as soon as the drive lets them, also in non-deterministic windows: with "
            "fewer writes GC is done sooner."
        )
    return (
        f"Longer non-deterministic windows ({setting.length('ndwin', 'ndwin_high')}) give GC more "
        "time before, and with more spare space (drive.ftl.over_provisioning) it moves less."
    )


def _range(values: Iterable[float], shown: Callable[[float], str]) -> str:
    known = list(values)
    low, high = shown(min(known)), shown(max(known))
    return low if low == high else f"{low} to {high}"


def _is_closed(workload: dict[str, Any]) -> bool:
    if (trace := workload.get("trace")) is not None:
        return bool(trace.get("mode") == "closed")
    return "arrivals" not in workload


class _Setting(NamedTuple):
    """The settings of a run that decide about its windows."""

    result: Measured

    @property
    def drive(self) -> dict[str, Any]:
        """Configuration of the drive, or of each."""
        drive: dict[str, Any] = self.result.summary["config"]["drive"]
        return drive

    @property
    def windows(self) -> dict[str, Any]:
        """Setting drive.ftl.windows."""
        windows: dict[str, Any] = self.drive["ftl"]["windows"]
        return windows

    @property
    def is_closed(self) -> bool:
        """True if an initiator that writes does so in a closed loop."""
        workloads = {of["name"]: of for of in self.result.summary["config"]["workload"]}
        # A trace with several devices may have an initiator for each, with a name of its own.
        writers = {name for name, kind, _ in self.result.groups() if kind in _WRITES}
        return any(_is_closed(workloads[name]) for name in writers & workloads.keys())

    def length(self, key: str, otherwise: str) -> str:
        """Return the setting for the length of windows, with its value."""
        config = self.result.summary["config"]
        if (host := config["run"].get("windows")) is not None:
            return f"run.windows.{key}, now {host.get(key) or self.windows[otherwise]}"
        plan = config["array"]["plan"]
        return (
            f"array.plan.period, now {plan['period']}"
            if "period" in plan
            else "the plan of the array decides"
        )

    def written(self, found: list[Figures]) -> float | None:
        """Return the mean bytes that hosts wrote until space ended a window; None if unknown."""
        unit = units.size_of(self.drive["ftl"]["unit"])
        events = (event for of in found for event in of["events"])
        written = [of["written_units"] * unit for of in events if of["end"] in _BY_SPACE]
        return sum(written) / len(written) if written else None


def _reads(setting: _Setting) -> str:
    return (
        "more reads of 4 KiB came than DTWIN Reads Typical allows. Raise "
        f"drive.ftl.windows.reads, now {setting.windows['reads']:,}, choose shorter windows "
        f"({setting.length('dtwin', 'dtwin')}), or read less."
    )


def _time(setting: _Setting) -> str:
    return (
        "DTWIN Time Maximum passed before the host ended the window. Raise "
        f"drive.ftl.windows.dtwin, now {setting.windows['dtwin']}, or choose shorter windows "
        f"({setting.length('dtwin', 'dtwin')})."
    )


def _writes(_: _Setting) -> str:
    return (
        "hosts wrote more than DTWIN Writes Typical, which follows from the free space when the "
        "window begins, and from the padding in the window before."
    )


def _excursion(setting: _Setting) -> str:
    zeroes = ""
    if any(kind == "write_zeroes" for _, kind, _ in setting.result.groups()):
        zeroes = " Zeroes that hosts write use space, too, but do not count as writes."
    return (
        "foreground GC was due, because a bin had no more free space than drive.ftl.gc.foreground, "
        f"now {setting.drive['ftl']['gc']['foreground']}.{zeroes}"
    )


def _padded(result: Measured) -> float:
    """Return the share of padding in what was programmed, if a setting would lower it; else 0."""
    if not deciders.padding(result):
        return 0.0
    amplification = result.summary["write_amplification"]
    return float(amplification["padding"] / amplification["total"])


def _space(setting: _Setting, found: list[Figures]) -> str:
    """Return sentences on the free space that windows use up, and on settings that give more."""
    between = derived_of(setting.drive)["windows"]["bytes_between_thresholds"]
    padded, written = _padded(setting.result), setting.written(found)
    told = []
    if written is not None:
        told.append(
            f"In windows that ended by writes or excursion hosts wrote {units.size(written)} in "
            "the mean; between the thresholds of background and foreground GC there are "
            f"{units.size(between)}."
        )
    is_short = not padded and written is not None and written < between
    if padded:
        told.append(
            f"{units.percent(padded)} of what was programmed is padding: full programs "
            "(drive.buffer, see below) leave that space to data."
        )
    elif is_short:
        told.append(
            "So windows began with less free space, or bins were filled unevenly. "
            + _more_room(setting)
        )
    shorter = f"shorter windows ({setting.length('dtwin', 'dtwin')})"
    if is_short:
        told.append(f"Fewer writes or {shorter} use less of this space.")
    else:
        now = setting.drive["ftl"]["gc"]["background"]
        told.append(
            f"Fewer writes or {shorter} use less of this space, and a higher threshold of "
            f"background GC (drive.ftl.gc.background, now {now}) keeps more."
        )
    return " ".join(told)


_EXPLAINED: dict[str, Callable[[_Setting], str]] = {
    "reads": _reads,
    "writes": _writes,
    "time": _time,
    "excursion": _excursion,
}
"""Function for each cause: meaning of ends by the drive, and remedies unless it is space."""
