"""Conversion of the flows of a scenario to workloads."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import takewhile
from typing import TYPE_CHECKING

from flashscape import written
from flashscape.imported import Verdict
from flashscape.mqsim.flow import is_file
from flashscape.mqsim.section import sources
from flashscape.mqsim.space import LEVELS, SECTOR
from flashscape.written import Row, Table

if TYPE_CHECKING:
    from pathlib import Path

    from flashscape.mqsim.flow import Flow
    from flashscape.mqsim.section import Section

_SIZES = 64
"""Most entries of a list of sizes."""
_DEVIATIONS = 4
"""Standard deviations at which sizes are cut off: one request in 16,000."""

_INTENSITY = "Intensity"
_UNREAD = "MQSim's own files have this key, but since f096db7 MQSim reads only Bandwidth"

_PRIORITY = "Priority_Class"
_PRIORITIES = {"URGENT": "high", "HIGH": "normal", "MEDIUM": "normal", "LOW": "low"}
_WEIGHTS = {"HIGH": 4, "MEDIUM": 2, "LOW": 1}
"""Turns of the classes that take turns (Host_Interface_NVMe_Priorities.h)."""
_WRITES_WITHOUT_RANK = (
    "MQSim ranks programs, too; here writes have a rank only while they wait for room in the "
    "buffer, and then wait for all programs before them"
)


def table(flow: Flow, device: Section) -> Table:
    """Return the workload of a flow."""
    rows = [Row("name", flow.name)]
    rows += _priority(flow)
    rows += _nvm_set(flow)
    rows += _region(flow)
    rows += _trace(flow, device) if flow.is_trace else _synthetic(flow, device)
    return Table("workload", rows, is_list=True)


def note_caching(flows: list[Flow]) -> None:
    """Record verdicts on the caching modes: one buffer, with one mode for all flows."""
    name = "Device_Level_Data_Caching_Mode"
    drive_caches = any(flow.writes and flow.is_caching for flow in flows)
    for flow in flows:
        mode = flow.section.text(name)
        if flow.writes and flow.is_caching != drive_caches:
            why = (
                "writes are acknowledged from the buffer, as another flow has it: "
                "one way for the whole drive"
            )
            flow.section.say(name, Verdict.APPROXIMATED, why)
        elif mode in ("READ_CACHE", "WRITE_READ_CACHE"):
            flow.section.say(name, Verdict.APPROXIMATED, "there is no read cache here")
        elif not flow.writes and drive_caches == flow.is_caching:
            flow.section.say(
                name, Verdict.MAPPED, "the flow does not write; its reads look into the buffer"
            )
        elif not flow.writes:
            flow.section.say(name, Verdict.INERT, "the flow does not write")
        else:
            where = "the buffer" if drive_caches else "flash"
            flow.section.say(name, Verdict.MAPPED, f"writes are acknowledged from {where}")


def note_priorities(flows: list[Flow], device: Section) -> None:
    """Record verdicts on priority classes, which one scheduler alone looks at."""
    policy, host = device.text("Transaction_Scheduling_Policy"), device.text("HostInterface_Type")
    classes = {flow.section.text(_PRIORITY) for flow in flows}
    turns_of = classes & set(_WEIGHTS)
    of_writers = {flow.section.text(_PRIORITY) for flow in flows if flow.writes}
    for flow in flows:
        flow.is_ranked = policy == "PRIORITY_OUT_OF_ORDER" and host != "SATA"
        if not flow.is_ranked:
            why = f"{policy} does not look at it (TSU_OutofOrder.cpp)"
            flow.section.say(_PRIORITY, Verdict.INERT, "SATA has none" if host == "SATA" else why)
            continue
        verdict, becomes = Verdict.MAPPED, "workload.priority"
        if len(classes) == 1:
            why = "all flows have this class"
        elif flow.section.text(_PRIORITY) == "URGENT":
            why = "before all others"
        elif len(turns_of) == 1:
            why = "after URGENT"
        else:
            verdict = Verdict.APPROXIMATED
            why = turns(turns_of)
        if flow.writes and len(of_writers) > 1:
            verdict = Verdict.APPROXIMATED
            why += f"; {_WRITES_WITHOUT_RANK}"
        flow.section.say(_PRIORITY, verdict, why, becomes=becomes)


def takes_turns(flow: Flow) -> bool:
    """Return True if a flow's class takes turns with others in MQSim."""
    return flow.is_ranked and flow.section.text(_PRIORITY) in _WEIGHTS


def turns(classes: set[str]) -> str:
    """Say how classes take turns in MQSim and here, if all of them have work for a chip."""
    taking = [name for name in _WEIGHTS if name in classes]
    together = sum(_WEIGHTS[name] for name in taking)
    there = ", ".join(f"{name} {_WEIGHTS[name]}" for name in taking)
    here = "LOW waits for the others" if "LOW" in taking else "HIGH and MEDIUM are alike"
    return f"if all have work for a chip, MQSim gives of {together} turns {there}; here {here}"


def _priority(flow: Flow) -> list[Row]:
    if not flow.is_ranked:
        return []
    return [flow.row("priority", _PRIORITIES[flow.section.text(_PRIORITY)], _PRIORITY)]


def _nvm_set(flow: Flow) -> list[Row]:
    if flow.part.nvm_set is None:
        return []
    return [flow.row("nvm_set", flow.part.nvm_set, *LEVELS)]


def _region(flow: Flow) -> list[Row]:
    names = list(LEVELS)
    if not flow.is_trace:
        percent = flow.section.whole("Working_Set_Percentage")
        if not 1 <= percent <= 100:
            flow.section.say(
                "Working_Set_Percentage", why=f"MQSim takes 100 for {percent} (Host_System.cpp)"
            )
        names = ["Working_Set_Percentage", *names]
    if flow.part.offset == 0 and flow.reach == flow.part.namespace_bytes:
        return []
    region: dict[str, written.Value] = {
        "offset": written.size(flow.part.offset),
        "size": written.size(flow.reach),
    }
    remark = ""
    if flow.reach < flow.working_set:
        names = ["Initial_Occupancy_Percentage", *names]
        remark = "MQSim repeats the addresses of its preconditioning"
    return [flow.row("region", region, *names, remark=remark)]


def _synthetic(flow: Flow, device: Section) -> list[Row]:
    section = flow.section
    return [
        flow.row("reads", f"{section.whole('Read_Percentage')} %", "Read_Percentage"),
        _size(flow),
        _align(flow),
        _addresses(flow),
        *_arrivals(flow, device),
        *_stop(flow),
    ]


def _size(flow: Flow) -> Row:
    section, name = flow.section, "Request_Size_Distribution"
    mean, deviation = section.whole("Average_Request_Size"), section.whole("Variance_Request_Size")
    if section.text(name) == "FIXED":
        section.say("Variance_Request_Size", Verdict.INERT, f"{name} is FIXED")
        section.say(name, Verdict.MAPPED, "")
        return flow.row("size", written.size(mean * SECTOR), "Average_Request_Size")
    if deviation == 0:
        section.say(name, Verdict.MAPPED, "without a deviation it is FIXED")
        return flow.row(
            "size", written.size(mean * SECTOR), "Average_Request_Size", "Variance_Request_Size"
        )
    section.say(
        name,
        Verdict.APPROXIMATED,
        "a list of sizes within four standard deviations, rounded up to sectors, at least one",
    )
    listed = sizes(mean, deviation)
    entries: list[dict[str, written.Value]] = [
        {"size": written.size(sectors * SECTOR), "share": f"{written.decimal(share)} %"}
        for sectors, share in listed
    ]
    return flow.row("size", entries, "Average_Request_Size", "Variance_Request_Size")


def sizes(mean: int, deviation: int) -> list[tuple[int, Decimal]]:
    """Sectors and their shares in percent: a normal distribution, rounded up, at least one."""
    most = math.ceil(mean + _DEVIATIONS * deviation)
    least = max(math.ceil(mean - _DEVIATIONS * deviation), 1)
    width = math.ceil((most - least + 1) / _SIZES)
    ends = [*range(least + width - 1, most, width), most]
    below = 0.0
    weights = []
    for end in ends:
        upto = _below(end, mean, deviation) if end < most else 1.0
        weights.append((max(end - width // 2, 1), upto - below))
        below = upto
    shares = [(sectors, Decimal(round(weight * 10**6)) / 10**4) for sectors, weight in weights]
    middle = max(range(len(shares)), key=lambda index: shares[index][1])
    rest = 100 - sum(share for _, share in shares)
    shares[middle] = (shares[middle][0], shares[middle][1] + rest)
    return [(sectors, share) for sectors, share in shares if share > 0]


def _below(value: float, mean: float, deviation: float) -> float:
    """Return the share of a normal distribution below a value."""
    return (1 + math.erf((value - mean) / deviation / math.sqrt(2))) / 2


def _align(flow: Flow) -> Row:
    section, names = flow.section, ("Generated_Aligned_Addresses", "Address_Alignment_Unit")
    if not section.truth(names[0]):
        section.say(names[1], Verdict.INERT, f"{names[0]} is false")
        return flow.row("align", "512 B", names[0])
    section.say(names[0], why="")
    return flow.row("align", written.size(flow.align), *names)


def _addresses(flow: Flow) -> Row:
    section, hot_name = flow.section, "Percentage_of_Hot_Region"
    name = "Address_Distribution"
    distribution, hot = section.text(name), section.whole(hot_name)
    if distribution != "RANDOM_HOTCOLD":
        section.say(hot_name, Verdict.INERT, f"{name} is {distribution}")
    if distribution == "STREAMING":
        section.say(
            name,
            Verdict.APPROXIMATED,
            "from the beginning of the region; MQSim begins at a random place",
        )
        aligned = math.ceil(flow.mean_bytes / flow.align) * flow.align
        if aligned == flow.mean_bytes or section.text("Request_Size_Distribution") == "NORMAL":
            return flow.row("addresses", "sequential", name)
        stride: dict[str, written.Value] = {"pattern": "strided", "stride": written.size(aligned)}
        return flow.row("addresses", stride, name, "Address_Alignment_Unit")
    if distribution == "RANDOM_UNIFORM":
        section.say(name, Verdict.MAPPED, "")
        return flow.row("addresses", "uniform", name)
    section.say(name, Verdict.MAPPED, "uniform inside and outside the hot region")
    if not 0 < hot < 100:
        section.refuse(
            hot_name,
            f"with {hot} % MQSim asks for one place only, or never for the rest; "
            "write 1 to 99, or RANDOM_UNIFORM",
        )
    section.say(
        hot_name, why=f"{100 - hot} % of the requests go to the first {hot} % of the region"
    )
    pattern: dict[str, written.Value] = {
        "pattern": "hot-cold",
        "hot_space": f"{hot} %",
        "hot_accesses": f"{100 - hot} %",
    }
    return flow.row("addresses", pattern, name, hot_name)


def _arrivals(flow: Flow, device: Section) -> list[Row]:
    section, name = flow.section, "Synthetic_Generator_Type"
    if section.text(name) == "QUEUE_DEPTH":
        section.say("Bandwidth", Verdict.INERT, f"{name} is QUEUE_DEPTH")
        if section.has(_INTENSITY):
            section.say(_INTENSITY, why=f"{_UNREAD}; nothing uses it, as {name} is QUEUE_DEPTH")
        section.say(name, Verdict.MAPPED, "closed loop", becomes="workload.queue_depth")
        return _depth(flow, device, section.whole("Average_No_of_Reqs_in_Queue"))
    section.say("Average_No_of_Reqs_in_Queue", Verdict.INERT, f"{name} is BANDWIDTH")
    section.say(name, Verdict.MAPPED, "open loop, exponential gaps")
    return [*_rate(flow), *_depth(flow, device, None)]


def _rate(flow: Flow) -> list[Row]:
    """Return the rate of an open loop, if its key can be used."""
    section = flow.section
    key, unit = _rate_key(section)
    average = section.whole("Average_Request_Size")
    requests = section.whole(key) // unit // average
    if not 1 <= requests <= 10**9:
        section.refuse(
            key,
            f"is {requests} requests a second, with which MQSim divides by zero or by "
            f"nothing left; write at least {average * unit}, a request a second",
        )
        return []
    gap = 10**9 // requests
    why = (
        f"{requests} requests of {average} sectors a second in whole numbers, a "
        f"gap of {gap} ns in the mean"
    )
    if key == _INTENSITY:
        why = f"in sectors a second, as MQSim read it until 0d76b1d: {why}"
    section.say(key, Verdict.MAPPED, why, becomes="workload.arrivals")
    rate = f"{written.decimal(round(Decimal(10**9) / gap, 3))} IOPS"
    arrivals: dict[str, written.Value] = {"process": "poisson", "rate": rate}
    return [flow.row("arrivals", arrivals, key, "Average_Request_Size")]


def _rate_key(section: Section) -> tuple[str, int]:
    """Return the key of an open loop's rate, and the number of its units in a sector."""
    if not section.has(_INTENSITY):
        return "Bandwidth", SECTOR
    if section.has("Bandwidth"):
        section.say(_INTENSITY, why=f"{_UNREAD}, which stands beside it")
        return "Bandwidth", SECTOR
    if not section.is_written("Synthetic_Generator_Type", "ARRIVAL_RATE"):
        section.refuse(
            _INTENSITY,
            "MQSim reads only Bandwidth, so this file leaves the rate of the flow to chance; "
            "write Bandwidth, in bytes a second, in the place of Intensity",
        )
    section.say("Bandwidth", Verdict.INERT, "the file has an older key of it, Intensity")
    return _INTENSITY, 1


def _depth(flow: Flow, device: Section, wanted: int | None) -> list[Row]:
    """Return a queue's depth: the flow's, as far as MQSim's device takes requests."""
    if device.text("HostInterface_Type") == "SATA":
        device.say("Queue_Fetch_Size", Verdict.INERT, "SATA has none")
        limit = wanted
    else:
        limit = device.whole("Queue_Fetch_Size")
    if wanted is None:
        return [Row("queue_depth", limit, sources(device, "Queue_Fetch_Size"))] if limit else []
    if limit is None or wanted <= limit:
        return [flow.row("queue_depth", wanted, "Average_No_of_Reqs_in_Queue")]
    why = (
        f"{wanted} are wanted, Queue_Fetch_Size allows {limit}; the others wait in "
        "MQSim's queue, and are not issued here"
    )
    flow.section.say("Average_No_of_Reqs_in_Queue", Verdict.APPROXIMATED, why)
    return [Row("queue_depth", limit, sources(device, "Queue_Fetch_Size"))]


def _stop(flow: Flow) -> list[Row]:
    section = flow.section
    time, requests = section.whole("Stop_Time"), section.whole("Total_Requests_To_Generate")
    if time:
        section.say(
            "Total_Requests_To_Generate",
            Verdict.INERT,
            "Stop_Time is more than 0 (IO_Flow_Synthetic.cpp)",
        )
        return [flow.row("stop", {"time": written.time(time)}, "Stop_Time")]
    section.say("Stop_Time", Verdict.MAPPED, "0: Total_Requests_To_Generate counts")
    if requests == 0:
        section.refuse(
            "Total_Requests_To_Generate",
            "and Stop_Time are both 0: the flow would do nothing; give one of them",
        )
    return [flow.row("stop", {"requests": requests}, "Total_Requests_To_Generate")]


def _trace(flow: Flow, device: Section) -> list[Row]:
    section = flow.section
    replay: dict[str, written.Value] = {
        "format": "mqsim",
        "combine": "fold",
        "out_of_range": "wrap",
    }
    count, unit = section.whole("Relay_Count"), section.text("Time_Unit")
    if unit != "NANOSECOND":
        scale = {"PICOSECOND": "0.001", "MICROSECOND": "1000.0"}[unit]
        section.say(
            "Time_Unit",
            why=(
                "MQSim reads stamps as nanoseconds whatever it says "
                "(IO_Flow_Trace_Based.cpp), so does this; if they are not, add "
                f"time_scale = {scale} to the trace"
            ),
        )
    if count > 1:
        replay["repeat"] = count
    file = flow.trace or _missing_trace(flow)
    rows = [
        flow.row(
            "trace",
            {"file": str(file), **replay},
            "File_Path",
            *(("Relay_Count",) if count > 1 else ()),
        )
    ]
    return [*rows, *_depth(flow, device, None), *_beginning(flow, file, count)]


def part_of(file: Path, percent: int) -> tuple[int, int]:
    """Return the requests that MQSim takes of a trace, and all of them (IO_Flow_Trace_Based.cpp).

    MQSim counts lines up to the first without five columns, and truncates in binary:
    29 % of 100 are 28.
    """
    with file.open("rb") as lines:
        five = (len([part for part in line.split(b" ") if part.strip()]) == 5 for line in lines)
        total = sum(1 for _ in takewhile(bool, five))
    return int(percent / 100 * total), total


def _missing_trace(flow: Flow) -> Path:
    """Refuse a flow whose trace is nowhere; return the first place at which it was sought."""
    places = flow.trace_places
    if not flow.section.text("File_Path").strip():
        flow.section.refuse("File_Path", "is missing")
    else:
        tried = " nor at ".join(dict.fromkeys(map(str, places)))
        flow.section.refuse("File_Path", f"there is no trace at {tried}")
    return places[0]


def _beginning(flow: Flow, file: Path, count: int) -> list[Row]:
    section, name = flow.section, "Percentage_To_Be_Executed"
    percent = section.whole(name)
    if count > 1:
        section.say(name, Verdict.INERT, "Relay_Count is more than 1 (IO_Flow_Trace_Based.cpp)")
        return []
    if percent == 100 or not is_file(file):
        section.say(name, Verdict.MAPPED, "all of it")
        return []
    if percent > 100:
        section.refuse(name, f"{percent} % is more than the trace; write 100, or a Relay_Count")
        return []
    requests, total = part_of(file, percent)
    if requests == 0:
        section.refuse(name, f"{percent} % of {total} requests are none")
        return []
    section.say(name, Verdict.MAPPED, f"{requests} of {total} requests")
    return [flow.row("stop", {"requests": requests}, name, remark=f"of {total} requests")]
