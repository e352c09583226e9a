"""NVM sets, their limits and their windows of predictable latency as rows of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.parts import parts
from flashscape.report.table import Rows
from flashscape.window_counts import CAUSES, KINDS, time_ns, warnings

if TYPE_CHECKING:
    from flashscape.measured import Measured


def sets(result: Measured) -> Rows:
    """Return the work of each NVM set; no rows for a drive without sets."""
    # Summaries of earlier versions lack this key.
    rows = [
        (
            f"NVM set {of['set']}",
            units.size(of["exported_bytes"]),
            units.size(of["programmed_bytes"]),
            _ratio(of["write_amplification"]),
            f"{of['erases']:,}",
        )
        for of in result.summary.get("sets") or []
    ]
    head = ("set", "exported", "programmed", "write amplification", "erases")
    return Rows("NVM sets", head, rows, 1)


def endurance(result: Measured) -> Rows:
    """Return the wear of each endurance group; no rows for a drive without NVM sets."""
    # Summaries of earlier versions lack this key.
    found = result.summary.get("endurance_groups") or []
    rows = [_worn(of) for of in found if result.summary.get("sets")]
    head = ("group", "sets", "programmed", "write amplification", "mean erases", "used", "spare")
    return Rows("Endurance groups", head, rows, 1)


def _worn(of: dict[str, Any]) -> tuple[str, ...]:
    used, erases = of["percentage_used"], of["erase_count"]
    return (
        f"{of['group']:,}",
        ", ".join(map(str, of["sets"])),
        units.size(of["programmed_bytes"]),
        _ratio(of["write_amplification"]),
        "–" if erases is None else f"{erases['mean']:,.2f}",
        "–" if used is None else units.percent(used / 100),
        units.percent(of["available_spare"] / 100),
    )


def _ratio(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}"


def pressure(result: Measured) -> Rows:
    """Return the outstanding programs of each part; no rows without a limit of them."""
    rows = [
        (
            name,
            f"{of['programs']:,}",
            units.percent(of["waited"] / of["programs"]) if of["programs"] else "–",
            f"{of['mean']:.2f} of {of['most']:,}",
            units.percent(of["full"]),
        )
        for name, of in parts(result, "pressure")
    ]
    head = ("part", "programs", "waited", "outstanding, mean", "time at the limit")
    return Rows("Limit of outstanding programs", head, rows, 1)


def windows(result: Measured) -> Rows:
    """Return the deterministic windows of each part; no rows for drives without windows."""
    found = parts(result, "windows")
    head: tuple[str, ...] = ("part", "windows", "of the time", "ended by the drive", "broken")
    # Members of an array have no latencies of their own.
    has_reads = all("reads" in of for _, of in found)
    # Only a drive with thresholds warns.
    warns = any(warnings(of) for _, of in found)
    rows = [
        (
            name,
            *_figures(of),
            *([_warned(of)] if warns else ()),
            *(_latencies(of) if has_reads else ()),
        )
        for name, of in found
    ]
    if warns:
        head = (*head, "warnings")
    if has_reads:
        head = (*head, "reads inside, mean and max", "other reads")
    return Rows("Deterministic windows", head, rows, 1)


def _warned(of: dict[str, Any]) -> str:
    told = [f"{each['count']:,} of {kind}" for kind, each in warnings(of).items() if each["count"]]
    return ", ".join(told) or "none"


def window_warnings(result: Measured) -> Rows:
    """Return the warnings of each part by kind; no rows for drives without thresholds."""
    found = [(name, warnings(of)) for name, of in parts(result, "windows")]
    rows = [
        (
            name,
            kind,
            f"{of[kind]['count']:,}",
            units.duration(of[kind]["shortest_ns"]),
        )
        for name, of in found
        for kind in KINDS
        if kind in of
    ]
    head = ("part", "estimate", "warnings", "shortest time to a broken end")
    return Rows("Warnings of deterministic windows", head, rows, 2)


def window_ends(result: Measured) -> Rows:
    """Return the ends of each part's deterministic windows by cause, time broken, and waits."""
    rows = [
        (
            name,
            f"{of['asked']:,}",
            f"{of['begun']:,}",
            *(f"{of['ends'][cause]:,}" for cause in CAUSES),
            _broken(of),
            units.duration(of["waited_ns"]),
            units.duration(of["longest_wait_ns"]),
        )
        for name, of in parts(result, "windows")
    ]
    causes = ("by the host", *(f"by {cause}" for cause in CAUSES if cause != "host"))
    head = ("part", "asked", "begun", *causes, "broken", "waited", "longest wait")
    return Rows("Deterministic windows", head, rows, 1)


def _figures(of: dict[str, Any]) -> tuple[str, ...]:
    time = time_ns(of)
    own = {cause: count for cause, count in of["ends"].items() if cause != "host" and count}
    told = ", ".join(f"{count:,} by {cause}" for cause, count in own.items())
    return (
        f"{of['begun']:,}",
        units.percent(of["dtwin_ns"] / time) if time else "–",
        told or "none",
        _broken(of),
    )


def _broken(of: dict[str, Any]) -> str:
    broken, time = of["broken_ns"], time_ns(of)
    return f"{units.duration(broken)}, {units.percent(broken / time)}" if broken else "–"


def _latencies(of: dict[str, Any]) -> tuple[str, ...]:
    return tuple(_latency(of["reads"][key]) for key in ("dtwin", "other"))


def _latency(reads: dict[str, Any]) -> str:
    if not reads["count"]:
        return "–"
    latency = reads["latency_ns"]
    return f"{units.duration(latency['mean'])}, {units.duration(latency['max'])}"
