"""Figures of a summary as rows of text, for terminals and notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import interruptions, outages, percentiles, standstills, steadiness, units
from flashscape.causes import CAUSES, OTHER, by_cause
from flashscape.host_writes import why_not_one
from flashscape.latency import KINDS
from flashscape.parts import member_name
from flashscape.quantities import Quantity, quantity
from flashscape.regions import FOUNDED
from flashscape.report.errors import errors
from flashscape.report.sets import endurance, pressure, sets, windows
from flashscape.report.table import Rows
from flashscape.together import ALL, joint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flashscape.causes import Cause
    from flashscape.measured import Measured
    from flashscape.request_group import Group

_COUNTED_BELOW = 1_000
"""Number of samples beyond a percentile below which the table shows it."""
_CAUSES_SHOWN = 3
_CUTS_SHOWN = 12
_SEEN = 0.0005
"""Share below which a cause has no row of its own."""


def tenants(result: Measured) -> Rows:
    """Return the initiators' parts of the drive, if several share it."""
    workloads = result.summary["config"]["workload"]
    head = ("initiator", "part of the drive", "requests from", "starts", "priority")
    rows = [
        (
            workload["name"],
            part(workload),
            Path(workload["trace"]["file"]).name if "trace" in workload else "synthetic",
            workload.get("start", "0 s"),
            workload["priority"],
        )
        for workload in workloads
    ]
    return Rows("Tenants", head, rows if len(rows) > 1 else [], 5)


def part(workload: Mapping[str, Any]) -> str:
    """Return a workload's part of the drive, or of its NVM set."""
    region = workload.get("region") or {}
    if (nvm_set := workload.get("nvm_set")) is not None:
        name = f"NVM set {nvm_set}"
        return f"{name}, {_range(region)}" if region else name
    return _range(region) if region else "the whole"


def _range(region: Mapping[str, Any]) -> str:
    offset, size = quantity(region.get("offset", "0 B")), quantity(region.get("size"))
    assert offset is not None, "a checked configuration has quantities"
    if size is None:
        return f"{_place(offset)} to the end"
    if offset.unit == size.unit:
        return f"{_place(offset)} to {_place(Quantity(offset.amount + size.amount, size.unit))}"
    return f"{_place(size)} from {_place(offset)} on"


def _place(place: Quantity) -> str:
    if place.unit == "share":
        return f"{100 * float(place.amount):g} %"
    return units.size(int(place.amount))


_Group = tuple[str | None, str | None, dict[str, Any]]
"""Initiator, kind and figures; None stands for all initiators, or all kinds."""


def _with_all(result: Measured) -> list[_Group]:
    """Return the groups of requests, followed by those of several initiators and kinds."""
    groups: list[_Group] = [*result.groups()]
    of_kinds = _joint(result)
    # All of one kind are all. Summaries of earlier versions lack these figures.
    is_told = len(of_kinds) == 1 and len({kind for _, kind, _ in groups}) == 1
    several = len(groups) > 1 and not is_told
    groups += of_kinds
    if several and "all" in result.summary:
        groups.append((None, None, result.summary["all"]))
    return groups


def _joint(result: Measured) -> list[_Group]:
    """Return the requests of each kind that several initiators have issued."""
    return [(None, kind, figures) for kind, figures in joint(result.summary)]


def _labels(initiator: str | None, kind: str | None) -> tuple[str, str]:
    """Return the cells with the names of a group."""
    return initiator or ALL, (kind or ALL).replace("_", "-")


def requests(result: Measured) -> Rows:
    """Return throughput by initiator and kind; for an untimed run, requests and bytes."""
    if result.untimed:
        return _asked(result)
    seconds = result.summary["counted_ns"] / 1e9

    def cells(figures: dict[str, Any]) -> tuple[str, ...]:
        return (
            units.count(figures["iops"]),
            units.rate(figures["bytes"] / seconds if seconds else 0.0),
        )

    return _requests(_with_all(result), ("IOPS", "throughput"), cells)


def _asked(result: Measured) -> Rows:
    groups: list[_Group] = [
        (initiator["name"], kind, initiator[kind])
        for initiator in result.summary["initiators"]
        for kind in KINDS
        if initiator[kind]["requests"]
    ]
    asked = [*groups, *_joint(result)]
    return _requests(asked, ("bytes",), lambda figures: (units.size(figures["bytes"]),))


def _requests(
    groups: list[_Group],
    head: tuple[str, ...],
    cells: Callable[[dict[str, Any]], tuple[str, ...]],
) -> Rows:
    """Return a row for each group; the mapping units without data only if there are any."""
    title, head = "Requests", ("initiator", "kind", "requests", *head)
    rows = [
        (*_labels(name, kind), f"{figures['requests']:,}", *cells(figures))
        for name, kind, figures in groups
    ]
    if any(figures["unmapped"] for _, _, figures in groups):
        title += " (no data: mapping units read that were never written, or were trimmed)"
        head = (*head, "no data")
        empty = [f"{figures['unmapped']:,}" for _, _, figures in groups]
        rows = [(*row, units_read) for row, units_read in zip(rows, empty, strict=True)]
    return Rows(title, head, rows, 2)


def latencies(result: Measured, chosen: str | Iterable[float | str] | None = None) -> Rows:
    """Return latency by initiator and kind, with the samples behind far percentiles.

    Raises ConfigError for text that is no percentile, OutputError if a histogram is missing.
    """
    shown = percentiles.USUAL if chosen is None else tuple(percentiles.chosen(chosen))
    is_steady = result.summary["steady_state"]["latency"]["reached"]
    rows, is_finer = [], False
    for name, kind, figures in _with_all(result):
        latency = figures["latency_ns"]
        mean, longest = units.duration(latency["mean"]), units.duration(latency["max"])
        exact = mean + (_confidence(latency) if is_steady else "")
        known = [percentiles.of_group(result, (name, kind), figures, each) for each in shown]
        is_finer |= any(beyond < FOUNDED for _, beyond in known)
        rows.append((*_labels(name, kind), exact, *(_percentile(*each) for each in known), longest))
    names = (name.replace("_", ".") for name in shown)
    told = f"; !: fewer than {FOUNDED}, so not reliable" if is_finer else ""
    counted = f"in brackets: samples at or beyond the percentile, if below {_COUNTED_BELOW:,}"
    title = f"Latency ({_of_confidence(rows, is_steady)}; {counted}{told})"
    return Rows(title, ("initiator", "kind", "mean", *names, "max"), rows, 2)


def causes(result: Measured) -> Rows:
    """Return the main causes of latency, by initiator and kind."""
    rows = [
        (*_labels(name, kind), _top(figures["blame_ns"]))
        for name, kind, figures in [*result.groups(), *_joint(result)]
    ]
    return Rows("Where the time went, in the mean", ("initiator", "kind", "causes"), rows, 3)


def drive(result: Measured) -> Rows:
    """Return the cost of the run to the drive."""
    summary = result.summary
    wear = summary["wear"]
    rows = [
        ("precondition", _precondition(summary["precondition"])),
        ("write amplification", _amplification(result)),
        ("erases", f"{wear['erases']:,} in this run; {_wear(wear)}"),
    ]
    if (efficiency := summary["collection"]["cleaning_efficiency"]) is not None:
        told = f"{units.percent(efficiency)} of the erased space was invalid data"
        rows.append(("cleaning efficiency", told))
    if streamed := summary["collection"]["streamed_pages"]:
        rows.append(("pages streamed", f"{streamed:,} to another package, past the controller"))
    if migrations := wear["migrations"]:
        rows.append(("migrations", f"{units.many(migrations, 'worn block')} took others' data"))
    if result.untimed:
        rows.append(("worn out", _worn_out(summary["worn_out_bytes"])))
        return Rows("Drive", ("figure", "value"), rows, 2)
    rows += [(f"{each.kind}s suspended", each.told) for each in interruptions.of_run(result)]
    if (worn := interruptions.wear(result)) is not None:
        rows.append(("worn by suspension", worn))
    rows += _detours(result)
    rows += [
        ("flash units busy", _utilisation(summary["utilisation"]["units"])),
        ("channels busy", _utilisation(summary["utilisation"]["channels"])),
        ("requests under way", f"{summary['mean_outstanding']:.2f} in the mean"),
        *_standstills(result),
        *(
            (f"steady {name.replace('_', ' ')}", _steady(result, name, verdict))
            for name, verdict in result.steadiness()
        ),
    ]
    if steadiness.repeats(summary) and (cycles := steadiness.cycles(summary)) is not None:
        rows.append(("GC cycles", cycles))
    title = "Drive" if result.summary.get("array") is None else "Drives together"
    return Rows(title, ("figure", "value"), rows, 2)


def _standstills(result: Measured) -> list[tuple[str, str]]:
    """Return how long queues of closed loops stood still; without seldom ones."""
    queues = [queue for queue in standstills.of_run(result) if queue.share >= _SEEN]
    several = len(result.summary["initiators"]) > 1
    names = [f"{queue.initiator}: " if several else "" for queue in queues]
    told = zip(names, queues, strict=True)
    return [("behind one flash unit", f"{name}{queue.told}") for name, queue in told]


def _detours(result: Measured) -> list[tuple[str, str]]:
    """Return what reads had to do with collection, if that was recorded, and detours of reads."""
    summary, rows = result.summary, []
    reads = [initiator["read"] for initiator in summary["initiators"]]
    asked = sum(of["requests"] for of in reads)
    # Summaries of earlier versions lack these keys.
    if asked and all(of.get("met") is not None for of in reads):
        met, blocked = (sum(of[key] for of in reads) / asked for key in ("met", "blocked"))
        told = f"{units.percent(met)} met it, {units.percent(blocked)} waited for it"
        rows.append(("reads and collection", told))
    if (held := summary["collection"].get("held")) is not None:
        rows.append(("held by collection", _utilisation(held)))
    detours = summary.get("detours", {})
    if rebuilt := detours.get("computed_units"):
        besides = f"{detours['units_read_besides']:,} were read besides"
        rows.append(("units computed from their stripes", f"{rebuilt:,}, for which {besides}"))
    data, parity = (detours.get(f"held_{what}_units", 0) for what in ("data", "parity"))
    if data or parity:
        told = f"{data:,} of data, {parity:,} of parity"
        rows.append(("units that stripes did not wait for", told))
    return rows


def plan(result: Measured) -> Rows:
    """Return what the host's plan for several drives did; no rows for one drive."""
    # Summaries of earlier versions lack this key.
    array = result.summary.get("array")
    if array is None:
        return Rows("Host's plan", ("figure", "value"), [], 2)
    counts, hedges = array["plan"], array["plan"]["hedges"]
    rows = [("policy", result.summary["config"]["array"]["plan"]["policy"])]
    if counts["kept_writes"]:
        rows += [
            ("swaps", f"{counts['swaps']:,}"),
            ("writes kept", f"{counts['kept_writes']:,}, {_cached(counts)}"),
            ("writes that waited for the cache", f"{counts['writes_delayed']:,}"),
            ("reads from the cache", _reads_cached(counts)),
        ]
    if rebuilt := counts.get("parts_rebuilt"):
        rows.append(("parts of reads computed from other members", f"{rebuilt:,}"))
    if leveling := counts.get("leveling"):
        rows += _leveling(array, leveling)
    if collecting := counts.get("collecting_at_swaps"):
        rows.append(("members that still collected when they were to be read", f"{collecting:,}"))
    if hedges["issued"]:
        told = (f"{hedges[key]:,} {key}" for key in ("sent", "cancelled", "won"))
        rows.append(("hedged reads", f"{hedges['issued']:,} issued: {', '.join(told)}"))
    return Rows("Host's plan", ("figure", "value"), rows, 2)


def _leveling(array: dict[str, Any], leveling: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what a plan that levels wear has moved, and what each member was sent to write."""
    copied, hosts = leveling["copied_bytes"], leveling["host_bytes"]
    share = f", {units.percent(copied / hosts)} of hosts' writes" if hosts else ""
    counts = array["plan"]
    rows = [
        ("exchanges of chunks", f"{leveling['exchanges']:,}"),
        ("copied for these", f"{units.size(copied)}{share}"),
        ("writes that waited for an exchange", f"{counts['writes_delayed']:,}"),
        ("reads from the host's memory", _reads_cached(counts)),
    ]
    for member, written in zip(array["members"], leveling["members"], strict=True):
        of_hosts, copies = (units.size(written[key]) for key in ("host_bytes", "copied_bytes"))
        rows.append((f"sent to {member_name(member)}", f"{of_hosts} of hosts, {copies} of copies"))
    return rows


def _cached(counts: dict[str, Any]) -> str:
    return f"at most {units.size(counts['peak_cache_bytes'])} at a time"


def _reads_cached(counts: dict[str, Any]) -> str:
    return f"{counts['reads_cached']:,} whole, {counts['reads_cached_in_part']:,} in part"


def members(result: Measured) -> Rows:
    """Return the work of each member of an array; no rows for one drive."""
    array = result.summary.get("array") or {"members": []}
    rows = []
    for member in array["members"]:
        work, amplification = member["work"], member["work"]["write_amplification"]
        rows.append(
            (
                member_name(member),
                units.size(work["host_bytes_programmed"]),
                units.size(work["programmed_bytes"]),
                "–" if amplification is None else f"{amplification:.2f}",
                f"{work['erases']:,}",
            )
        )
    head = ("member", "of hosts", "programmed", "write amplification", "erases")
    return Rows("Members of the array", head, rows, 1)


def failures(result: Measured) -> Rows:
    """Return the failures of flash, and the progress of the rebuild; no rows without a failure."""
    # Summaries of earlier versions lack this key.
    of = result.summary.get("failures") or {"failures": []}
    rows = [
        (f"{failure['what']} failed", _failed(failure["at_ns"], failure["lost_units"]))
        for failure in of["failures"]
    ]
    if not rows:
        return Rows("Failures of flash", ("what", "value"), [], 1)
    rows.append(("units that reads computed", f"{of['computed_units']:,}"))
    for key, words in (
        ("retried_units", "units programmed again elsewhere"),
        ("units_without_room", "units written to parity alone"),
    ):
        if of[key]:
            rows.append((words, f"{of[key]:,}"))
    if of["rebuild"]:
        rows.append(("rebuild", _rebuild(of["rebuild"])))
    rows.append(("units still lost", f"{of['lost_units']:,}"))
    return Rows("Failures of flash", ("what", "value"), rows, 1)


def _failed(at_ns: int, lost: int) -> str:
    return f"at {units.duration(at_ns)}, {lost:,} mapping units were lost"


def _rebuild(rebuild: dict[str, Any]) -> str:
    done = f"{rebuild['units']:,} units"
    if rebuild["ended_ns"] is None:
        return f"{done}, not over"
    took = units.duration(rebuild["ended_ns"] - rebuild["began_ns"])
    return f"{done} in {took}{', then no flash had room' if rebuild['lacks_room'] else ''}"


def power_cuts(result: Measured) -> Rows:
    """Return the power cuts, with the duration and cost of recovery; no rows without a cut.

    Parts of the recovery that took no time in any cut have no column. Of many cuts, the
    longest are shown.
    """
    cuts = outages.of_run(result)
    told = []
    if len(cuts) > _CUTS_SHOWN:
        told.append(f"the {_CUTS_SHOWN} with the longest recovery of {len(cuts):,}")
        cuts = sorted(cuts, key=lambda cut: -cut["duration_ns"])[:_CUTS_SHOWN]
        cuts.sort(key=lambda cut: cut["at_ns"])
    if (proved := outages.audited(result)) is not None:
        told.append(f"audit: {proved}")
    title = f"Power cuts ({'; '.join(told)})" if told else "Power cuts"
    parts = [key for key in outages.PARTS if any(outages.part_ns(cut, key) for cut in cuts)]
    found = ["half_programmed", *(["half_erased"] if any(c["half_erased"] for c in cuts) else [])]
    rows = []
    for cut in cuts:
        after = " (until the next cut)" if cut["interrupted"] else ""
        recovered = (units.duration(cut["at_ns"]), units.duration(cut["duration_ns"]) + after)
        spans = (units.duration(ns) if (ns := outages.part_ns(cut, key)) else "–" for key in parts)
        counts = tuple(f"{cut[key]:,}" for key in ("lost_requests", "saved_units", *found))
        rows.append((*recovered, *spans, *counts))
    names = (f"of it {outages.PARTS[key][0]}" for key in parts)
    last = ("lost requests", "saved units", *(key.replace("_", "-") for key in found))
    return Rows(title, ("cut at", "recovery", *names, *last), rows, 1)


def shares(group: Group) -> Rows:
    """Return the causes of a kind's latency: for all requests, and by range of percentiles."""
    columns = [group.mean_ns, *(region.each_ns for region in group.regions)]
    rows = [
        (cause.name, *(_spent(times, cause) for times in columns))
        for cause in (*CAUSES, OTHER)
        if any(times.get(cause, 0) > _SEEN * sum(times.values()) for times in columns)
    ]
    rows.append(("together", *(units.duration(sum(times.values())) for times in columns)))
    head = ("spent on", "all", *(region.name for region in group.regions))
    return Rows("", head, rows, 1)


def _spent(times: dict[Cause, float], cause: Cause) -> str:
    return units.duration(times[cause]) if cause in times else "–"


def everything(result: Measured, chosen: str | Iterable[float | str] | None = None) -> list[Rows]:
    """Return every table of a summary, with the chosen percentiles; None: the usual ones."""
    timed = [] if result.untimed else [latencies(result, chosen), causes(result)]
    parts = [
        tenants(result),
        requests(result),
        *timed,
        power_cuts(result),
        failures(result),
        errors(result),
        plan(result),
        members(result),
        sets(result),
        endurance(result),
        pressure(result),
        windows(result),
        drive(result),
    ]
    return [part for part in parts if part.rows]


def headline(result: Measured) -> str:
    """Return a line about the run."""
    summary = result.summary
    title = summary["title"] or "Run"
    span = "no time" if result.untimed else units.duration(summary["simulated_ns"])
    state = f" – {result.cut_short.upper()}, partial results" if result.cut_short else ""
    return (
        f"{title}{state}: {span} simulated in "
        f"{units.duration(summary['host_cpu_seconds'] * 1e9)} of CPU time, digest {result.digest}"
    )


def _of_confidence(rows: Sequence[tuple[str, ...]], is_steady: bool) -> str:
    """Return what the intervals of a table of latencies are, or why it has none."""
    if not is_steady:
        return "no ±, because the mean is not known to be steady"
    if not any("±" in row[2] for row in rows):
        return "no ±, because too few requests were counted, or they vary too much"
    return "± 95 % confidence of the mean"


def _confidence(latency: dict[str, Any]) -> str:
    """Return the interval of a mean; empty if it is wider than the mean, or the mean is 0."""
    half_width = latency.get("mean_ci95")
    if half_width is None or half_width > latency["mean"] or not latency["mean"]:
        return ""
    return f" ± {units.percent(half_width / latency['mean'])}"


def _percentile(value: int, beyond: int) -> str:
    return units.duration(value) + behind(beyond, _COUNTED_BELOW)


def behind(beyond: float | None, below: int) -> str:
    """Return the samples behind a percentile if they are few, marked if they are too few."""
    if beyond is None or beyond >= below:
        return ""
    # Round a mean over seeds down, so that 9.7 does not show as enough.
    return f" ({int(beyond):,}{'!' if beyond < FOUNDED else ''})"


def _top(blame: dict[str, int]) -> str:
    times = by_cause(blame)
    total = sum(times.values())
    ranked = sorted(times.items(), key=lambda item: -item[1])[:_CAUSES_SHOWN]
    return ", ".join(f"{cause.name} {units.percent(ns / total)}" for cause, ns in ranked)


def _precondition(done: dict[str, Any]) -> str:
    if not done["filled_units"]:
        return "none: the drive was empty"
    parts = [f"filled ({units.many(done['filled_units'], 'unit')})"]
    if done["stale_units"]:
        parts.append(f"beside stale pages ({units.many(done['stale_units'], 'unit')})")
    if done["aged_units"]:
        times = done["aged_units"] / done["filled_units"]
        parts.append(f"overwritten {units.times(float(f'{times:.3g}'), '.3g')}")
    if (amplification := done["write_amplification"]) is not None:
        parts.append(f"write amplification {amplification:.2f} at its end")
    if (is_steady := done["steady"]) is not None:
        parts.append("steady" if is_steady else "NOT STEADY")
    return ", ".join(parts)


_SELDOM = ("scrub", "summary", "parity", "rebuild")
"""Sources of programs that most drives lack."""


def _amplification(result: Measured) -> str:
    amplification = result.summary["write_amplification"]
    total = amplification["total"]
    if total is None:
        return "nothing was written"
    # Summaries of earlier versions lack some of these.
    seldom = [source for source in _SELDOM if amplification.get(source)]
    sources = ["host", "gc", *seldom, "padding"]
    parts = [f"{source} {amplification[source] or 0:.2f}" for source in sources]
    why = why_not_one(amplification["host"] or 0, result.copies, result.moved_bytes)
    return f"{total:.2f} = {' + '.join(parts)}{f'; {why}' if why else ''}"


def _wear(wear: dict[str, Any]) -> str:
    spread = wear["erase_count"]
    if spread is None:
        return "no good block left"
    low, high, mean = spread["min"], spread["max"], spread["mean"]
    return f"blocks {low:.0f} to {high:.0f} times since new, {mean:.1f} in the mean"


def _worn_out(asked: int | None) -> str:
    return "no" if asked is None else f"after {units.size(asked)} had been asked for"


def _utilisation(spread: dict[str, float]) -> str:
    low, high = units.percent(spread["min"]), units.percent(spread["max"])
    return f"{units.percent(spread['mean'])} in the mean ({low} to {high})"


def _steady(result: Measured, figure: str, verdict: dict[str, Any]) -> str:
    if (unsteady := steadiness.unsteady(result.summary, figure)) is not None:
        return f"not known: {unsteady.told}"
    begin = result.summary["simulated_ns"] - result.summary["counted_ns"]
    if verdict["from_ns"] > begin:
        return f"from {units.duration(verdict['from_ns'])} on"
    return "over the whole counted time" if begin else "over the whole run"
