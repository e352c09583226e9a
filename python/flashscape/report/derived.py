"""Figures that follow from a configuration, as rows of text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flashscape import interruptions, units, written
from flashscape.report.table import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence


def tables(figures: dict[str, Any], drive: dict[str, Any]) -> list[Rows]:
    """Return every table of ``flashscape check`` for an experiment with this drive."""
    commands = _durations(figures["durations_ns"])
    return [
        *([_rows("Array", _array(figures["array"]))] if "array" in figures else []),
        _rows("Capacity", _capacity(figures["capacity"])),
        _rows("Organisation", _organisation(figures["organisation"])),
        *(
            [_rows("Superblocks", _superblocks(figures["superblocks"], figures["durations_ns"]))]
            if "superblocks" in figures
            else []
        ),
        *([_rows("NVM sets", _sets(figures["sets"]))] if "sets" in figures else []),
        *(
            [_rows("Windows of predictable latency", _windows(figures["windows"]))]
            if "windows" in figures
            else []
        ),
        *([_rows("Pressure", _pressure(figures["pressure"]))] if "pressure" in figures else []),
        _rows("Commands", [*commands, *_suspends(drive, figures["suspension_points_ns"])]),
        _rows("Bandwidth limits, each alone", _limits(figures["limits"])),
        _rows("Garbage collection", _thresholds(drive, figures["gc_free_blocks_per_bin"])),
        _rows("Memory of a run", _memory(figures["memory_bytes"])),
    ]


def workloads(config: dict[str, Any]) -> Rows:
    """Return the settings of each workload."""
    rows = [
        (
            workload["name"],
            ", ".join(f"{k} = {written.value(v)}" for k, v in workload.items() if k != "name"),
        )
        for workload in config["workload"]
    ]
    return Rows("Workloads", ("initiator", "asks for"), rows, 2)


def _rows(title: str, rows: list[tuple[str, str]]) -> Rows:
    return Rows(title, ("figure", "value"), rows, 2)


def _array(array: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("drives, each as below", f"{array['drives']:,}"),
        ("members", f"{array['members']:,}"),
        ("plan of the host", array["policy"]),
        ("exported", f"{units.size(array['exported_bytes'])} ({array['exported_bytes']:,} B)"),
    ]
    if (leveling := array["leveling"]) is not None:
        copied = units.size(leveling["copied_bytes_of_exchange"])
        between = units.size(round(leveling["host_bytes_between_exchanges"]))
        rows += [
            ("chunks", f"{leveling['chunks']:,}, {leveling['chunks_of_member']:,} of each member"),
            (
                "levels differences above",
                f"{leveling['gap_in_overwrites']:.3g} overwrites of a member",
            ),
            (
                "an exchange copies",
                f"{copied}; on average at most one in {between} of hosts' writes",
            ),
            ("memory of the host", units.size(leveling["host_memory_bytes"])),
        ]
    return rows


def _capacity(capacity: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (
            "exported",
            f"{units.size(capacity['exported_bytes'])} ({capacity['exported_bytes']:,} B)",
        ),
        (
            "physical",
            f"{units.size(capacity['physical_bytes'])} ({capacity['physical_bytes']:,} B)",
        ),
        *(
            [("parity", f"{units.size(capacity['parity_bytes'])} beside what is exported")]
            if capacity["parity_bytes"]
            else []
        ),
        ("over-provisioning: spare / exported", units.percent(capacity["spare_over_exported"])),
        ("over-provisioning: reserved / physical", units.percent(capacity["reserved_of_physical"])),
        (
            "over-provisioning: spare for collection / data",
            units.percent(capacity["spare_for_collection"]),
        ),
        ("mapping unit", f"{capacity['mapping_unit_bytes']:,} B"),
        ("mapping units", f"{capacity['logical_units']:,}"),
    ]


def _organisation(organisation: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("dies", f"{organisation['dies']:,}"),
        ("planes", f"{organisation['planes']:,}"),
        ("pools", f"{organisation['pools']:,}"),
        ("bins (units of garbage collection)", f"{organisation['bins']:,}"),
        ("blocks a bin", f"{organisation['blocks_per_bin']:,}"),
        ("block", units.size(organisation["block_bytes"])),
        ("one program command writes", units.size(organisation["program_bytes"])),
        ("pins from controller to flash", f"{organisation['pins']:,}"),
    ]


def _superblocks(superblocks: dict[str, Any], durations: dict[str, Any]) -> list[tuple[str, str]]:
    def members(width: int | None) -> str:
        return "no parity" if width is None else f"{width - 1} of data and 1 of parity"

    widths = superblocks["width"]
    return [
        ("dies of a superblock", f"{superblocks['dies']:,}"),
        ("groups of dies", f"{superblocks['groups_of_dies']:,}"),
        ("erase blocks of a superblock", f"{superblocks['erase_blocks']:,}"),
        ("superblock", units.size(superblocks["bytes"])),
        (
            "an erase occupies",
            f"all {superblocks['dies']:,} dies, for {units.duration(durations['erase'])}",
        ),
        *((f"stripes of {source}", members(width)) for source, width in widths.items()),
        (
            "spare / exported, if all data has parity",
            units.percent(superblocks["spare_if_protected"]),
        ),
    ]


def _sets(sets: dict[str, Any]) -> list[tuple[str, str]]:
    each = sets["count"] // sets["endurance_groups"]
    rows = [("sets", f"{sets['count']:,}")]
    for numbers, of in _alike(sets["each"]):
        flash = (
            f"{units.many(of['planes'], 'plane')} of {units.many(of['dies'], 'die')} "
            f"on {units.many(of['channels'], 'channel')}"
        )
        rows += [
            (
                f"{numbers}: namespace",
                f"{units.size(of['exported_bytes'])} ({of['exported_bytes']:,} B)",
            ),
            ("  spare space", units.size(of["spare_bytes"])),
            ("  flash", flash),
            ("  pools", f"{of['pools']:,}"),
            ("  bins", f"{of['bins']:,}"),
        ]
    return [
        *rows,
        ("write buffer of each", units.size(sets["buffer_bytes"])),
        *_recovery(sets["read_recovery_levels"]),
        ("endurance groups", f"{sets['endurance_groups']:,} of {units.many(each, 'set')}"),
    ]


def _alike(each: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return sets with equal figures together, each with the numbers of the sets."""
    numbers: dict[str, list[int]] = {}
    for number, of in enumerate(each, 1):
        numbers.setdefault(json.dumps(of), []).append(number)
    if len(numbers) == 1:
        return [("each", each[0])]
    return [(f"set {', '.join(map(str, own))}", json.loads(of)) for of, own in numbers.items()]


def _recovery(levels: list[int] | None) -> list[tuple[str, str]]:
    given = "" if levels is None else ", ".join(map(str, levels))
    return [("read recovery levels, by set", given)] if given else []


def _windows(windows: dict[str, Any]) -> list[tuple[str, str]]:
    reads, host = windows["dtwin_reads_typical"], windows["host"]
    asks = "for none: all windows of a run are non-deterministic"
    if host is not None:
        times = [units.duration(host[key]) for key in ("dtwin_ns", "ndwin_ns")]
        asks = f"for {times[0]} each, {times[1]} apart, sets {host['order']}"
    return [
        ("DTWIN Time Maximum", units.duration(windows["dtwin_time_maximum_ns"])),
        ("DTWIN Reads Typical", "any number" if reads is None else f"{reads:,}"),
        *_thresholds_of(windows),
        ("NDWIN Time Minimum Low", units.duration(windows["ndwin_time_minimum_low_ns"])),
        ("NDWIN Time Minimum High", units.duration(windows["ndwin_time_minimum_high_ns"])),
        ("Optimal Write Size", units.size(windows["optimal_write_size"])),
        (
            "space between background and foreground threshold, each set",
            units.size(windows["bytes_between_thresholds"]),
        ),
        (
            "DTWIN Writes Typical, if GC keeps up and programs are full",
            f"{windows['dtwin_writes_typical']:,}",
        ),
        ("the host asks for deterministic windows", asks),
    ]


def _thresholds_of(windows: dict[str, Any]) -> list[tuple[str, str]]:
    reads, writes = (windows[f"dtwin_{kind}_threshold"] for kind in ("reads", "writes"))
    time = windows["dtwin_time_threshold_ns"]
    return [
        (f"DTWIN {kind} Threshold", shown)
        for kind, value, shown in (
            ("Reads", reads, f"{reads:,}" if reads is not None else ""),
            ("Writes", writes, f"{writes:,}" if writes is not None else ""),
            ("Time", time, units.duration(time)),
        )
        if value is not None
    ]


def _pressure(pressure: dict[str, Any]) -> list[tuple[str, str]]:
    most, flash = pressure["programming_at_most"], pressure["flash_units"]
    return [
        ("programs of a set that may be outstanding", f"{pressure['programs']:,}"),
        ("flash units of a set that program at once", f"{most:,} of {flash:,}"),
        (
            "programmed in a set, of hosts and of collection, at most",
            units.rate(pressure["programmed_bytes_per_second"]),
        ),
    ]


def _durations(durations: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("sense, by page type", _list(durations["sense_by_page_type"])),
        ("program, by page type", _list(durations["program_by_page_type"])),
        ("transfer of a mapping unit (a page at most)", units.duration(durations["transfer_unit"])),
        ("transfer of a page", units.duration(durations["transfer_page"])),
        ("transfer for a program command", units.duration(durations["transfer_program"])),
        ("decoding", units.duration(durations["decode"])),
        ("erase", units.duration(durations["erase"])),
    ]


def _suspends(drive: dict[str, Any], steps: Sequence[int]) -> list[tuple[str, str]]:
    """Return the times, in an erase's own time, at which reads can suspend it."""
    name = interruptions.scheme(drive, "suspension")
    if name == "baseline":
        return []
    # The end of the last step is the end of the erase.
    points = _list(steps[:-1]) or "no moment, as it has one step"
    policy = drive["scheduler"]["suspension"]
    timeout = units.duration(units.nanoseconds(policy["after"])) if name == "t-es" else ""
    moments = {
        "d-es": f"after {points}",
        "t-es": f"at once until {timeout} from its beginning, then after {points}",
        "python": f"as the policy decides; at no cost after {points}",
    }
    return [("an erase is suspended for reads", f"{moments.get(name, 'at once')} ({name})")]


def _limits(limits: dict[str, Any]) -> list[tuple[str, str]]:
    link = limits["link_bytes_per_second"]
    return [
        ("channels together", units.rate(limits["channels_bytes_per_second"])),
        ("flash arrays reading", units.rate(limits["array_read_bytes_per_second"])),
        ("flash arrays programming", units.rate(limits["array_program_bytes_per_second"])),
        ("link to the host, each way", "no limit" if link is None else units.rate(link)),
    ]


def _thresholds(drive: dict[str, Any], free: dict[str, int]) -> list[tuple[str, str]]:
    gc = drive["ftl"]["gc"]
    if gc["pacing"] == "host-rate":
        return _of_host_rate(gc, free)
    # In rounds, both thresholds are always equal.
    begins = {"begins, and goes before host writes, at": "background"}
    if gc["background"] != gc["foreground"]:
        begins = {
            "begins in the background at": "background",
            "goes before host writes at": "foreground",
        }
    rows = begins | {"stops at": "stop"}
    return [
        (text, f"{units.many(free[name], 'free block')} in a bin") for text, name in rows.items()
    ]


def _of_host_rate(gc: dict[str, Any], free: dict[str, int]) -> list[tuple[str, str]]:
    blocks = {**free, "halfway": -(-(free["background"] + free["foreground"]) // 2)}
    rows = {
        "follows host writes below": "background",
        "keeps up with them at": "halfway",
        "goes before host writes at": "foreground",
        **({"stops in idle gaps at": "stop"} if "idle_gap" in gc else {}),
    }
    return [
        (text, f"{units.many(blocks[name], 'free block')} in a bin") for text, name in rows.items()
    ]


def _memory(memory: dict[str, Any]) -> list[tuple[str, str]]:
    available = memory["available"]
    return [
        ("map", units.size(memory["map"])),
        ("the rest", units.size(memory["other"])),
        ("auditor", units.size(memory["audit"])),
        ("all", units.size(memory["total"])),
        ("available here", "not known" if available is None else units.size(available)),
    ]


def _list(spans: Sequence[int]) -> str:
    return ", ".join(map(units.duration, spans))
