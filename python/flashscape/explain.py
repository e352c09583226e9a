"""Explanation of the tail: causes in the mean compared with causes beyond a percentile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashscape import (
    interruptions,
    outages,
    remedies,
    spelling,
    standstills,
    steadiness,
    together,
    units,
    windows,
)
from flashscape.causes import OWN_SERVICE, by_cause
from flashscape.host_writes import why_not_one
from flashscape.latency import KINDS
from flashscape.regions import region, regions
from flashscape.request_group import NAMED_SHARE, Group

if TYPE_CHECKING:
    from flashscape.measured import Measured

_WORST = 2
"""Number of initiators whose requests of a kind are explained if there are many."""

_QUICK_NS = 100_000
"""Latency below which requests have no tail, if it is also below 1 % of the worst."""


@dataclass(frozen=True, repr=False)
class Explanation:
    """Explanation of a run's latency tail."""

    groups: list[Group]
    """All initiators and kinds with requests, in the order of the results."""
    joint: list[Group]
    """Requests of each kind that several initiators have issued, together."""
    shown: list[Group]
    """Groups that are worth an explanation, those of several initiators first."""
    others: list[str]
    """Sentences about the other groups."""
    remarks: list[str]
    """Sentences about the whole run."""
    windows: list[str] = field(default_factory=list)
    """Sentences about deterministic windows; none if the drives have no windows."""

    @property
    def sentences(self) -> list[str]:
        """All sentences."""
        told = [f"{g.initiator}: {' '.join(g.sentences)}" for g in self.shown]
        return [*told, *self.windows, *self.others, *self.remarks]

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    __repr__ = __str__


def explain(result: Measured, *, everything: bool = False) -> Explanation:
    """Explain where the tail of a run comes from.

    Requests of a kind from several initiators are explained together. Initiators with equal
    workloads are told as one, and of many others only the worst, unless ``everything`` is True.
    """
    if result.untimed:
        return Explanation([], [], [], [], _untimed(result))
    groups = [_group(result, *described) for described in result.groups()]
    joint = _joint(result, groups)
    told = groups if everything else _units(result, groups, joint)
    quick = _quick([*joint, *told])
    waiting = [group for group in told if group not in quick]
    single = waiting if everything else _worst(waiting)
    left = [group for group in waiting if group not in single]
    shown = [*(group for group in joint if group not in quick), *single]
    remarks = [
        *result.summary["notes"],
        *_completeness(result),
        *outages.sentences(result),
        *_so_what(shown, result),
        *remedies.sentences(_named_by_kind(shown), result),
        *interruptions.sentences(result),
        *standstills.sentences(result),
        *_write_amplification(result),
        *_steadiness(result),
        *_emptiness(groups),
    ]
    equal = [] if everything else _equal(result, groups, shown)
    others = [*equal, *_more(left), *_quick_ones(quick)]
    return Explanation(groups, joint, shown, others, remarks, windows.sentences(result))


def _untimed(result: Measured) -> list[str]:
    """Return the sentences about a run without latencies: its cost to the flash."""
    return [
        *result.summary["notes"],
        *_completeness(result),
        *_write_amplification(result),
        *_cleaning(result),
        *_wear(result),
    ]


def _cleaning(result: Measured) -> list[str]:
    efficiency = result.summary["collection"]["cleaning_efficiency"]
    if efficiency is None:
        return ["No block was erased."]
    moved = units.percent(1 - efficiency)
    return [
        f"Cleaning efficiency is {units.percent(efficiency)}: this share of the erased blocks was "
        f"superseded data, and {moved} was valid data that had to be moved first."
    ]


def _wear(result: Measured) -> list[str]:
    wear = result.summary["wear"]
    erases, spread = wear["erases"], wear["erase_count"]
    blocks = wear["bad_blocks"]
    bad = f"{blocks:,} {'block is' if blocks == 1 else 'blocks are'} bad"
    if spread is None:
        return [f"No block is good any more: {bad}."]
    times = units.times(erases)
    return [
        f"Blocks were erased {times} in the run. Since new, good ones were erased "
        f"{spread['min']:.0f} to {spread['max']:.0f} times each, {spread['mean']:.1f} in the mean; "
        f"{bad}.",
        *_migrations(wear["migrations"]),
    ]


def _migrations(migrations: int) -> list[str]:
    if not migrations:
        return []
    return [f"Wear-leveling moved the data of others to {units.many(migrations, 'worn block')}."]


def _group(result: Measured, initiator: str, kind: str, figures: dict[str, Any]) -> Group:
    return _of(result, initiator, kind, (initiator,), figures)


def _of(
    result: Measured, name: str, kind: str, initiators: tuple[str, ...], figures: dict[str, Any]
) -> Group:
    bands = together.bands(result, kind, initiators)
    slowest = together.slowest(result, kind, initiators)
    found = regions(bands, slowest)
    far = max((r.above for r in found if 50 < r.above <= 99.9), default=None)
    requests = figures["requests"]
    return Group(
        initiator=name,
        kind=kind,
        figures=figures,
        mean_ns={cause: ns / requests for cause, ns in by_cause(figures["blame_ns"]).items()},
        regions=found,
        tail=None if far is None else region(bands, slowest, far),
        initiators=initiators,
    )


def _joint(result: Measured, groups: list[Group]) -> list[Group]:
    """Return the requests of each kind that several initiators have issued, together."""
    joint = []
    for kind, figures in together.joint(result.summary):
        names = tuple(group.initiator for group in groups if group.kind == kind)
        joint.append(_of(result, together.ALL, kind, names, figures))
    return joint


def _units(result: Measured, groups: list[Group], joint: list[Group]) -> list[Group]:
    """Return the groups, with those of equal workloads as one; without what ``joint`` tells."""
    units = together.alike(result)
    told: list[Group] = []
    for group in groups:
        unit = next(names for names in units if group.initiator in names)
        names = tuple(g.initiator for g in groups if g.kind == group.kind and g.initiator in unit)
        if len(names) == 1:
            told.append(group)
        elif not any((names, group.kind) == (of.initiators, of.kind) for of in (*told, *joint)):
            figures = together.figures(result, group.kind, names)
            told.append(_of(result, together.name_of(names), group.kind, names, figures))
    return told


def _equal(result: Measured, groups: list[Group], told: list[Group]) -> list[str]:
    """Return a sentence on the spread between initiators with equal workloads, of each kind."""
    units = together.alike(result)
    sentences = []
    for several in told:
        unit = next((names for names in units if set(several.initiators) <= set(names)), ())
        if len(several.initiators) < 2 or not unit:
            continue
        own = [g for g in groups if g.kind == several.kind and g.initiator in several.initiators]
        sentences.append(
            f"{_kind(several.kind)} requests of each of these {len(own)} equal initiators took "
            f"{_span(own)} at p99.9 ({_how_to_tell_all()})."
        )
    return sentences


def _quick(groups: list[Group]) -> list[Group]:
    """Return the groups whose slowest request is too fast to explain."""
    longest = max((group.figures["latency_ns"]["max"] for group in groups), default=0)
    limit = min(_QUICK_NS, longest / 100)
    return [g for g in groups if not g.waits or g.figures["latency_ns"]["max"] < limit]


def _worst(groups: list[Group]) -> list[Group]:
    """Return the initiators with the longest tail of each kind; all if they are few."""
    if len(groups) <= 2 * _WORST:
        return groups
    shown = []
    for kind in KINDS:
        own = [group for group in groups if group.kind == kind]
        own.sort(key=lambda group: -group.figures["latency_ns"]["p99_9"])
        shown += own[:_WORST]
    return shown


def _more(groups: list[Group]) -> list[str]:
    sentences = []
    for kind in KINDS:
        own = [group for group in groups if group.kind == kind]
        if not own:
            continue
        whose = units.many(sum(len(group.initiators) for group in own), "more initiator")
        sentences.append(
            f"{_kind(kind)} requests of {whose} took {_span(own)} at p99.9 ({_how_to_tell_all()})."
        )
    return sentences


def _how_to_tell_all() -> str:
    return spelling.option("`flashscape explain --all`", "explain(..., everything=True)")


def _kind(kind: str) -> str:
    return kind.replace("_", "-").capitalize()


def _span(groups: list[Group]) -> str:
    """Return the least and the greatest p99.9 of groups."""
    latencies = [group.figures["latency_ns"]["p99_9"] for group in groups]
    edges = dict.fromkeys(units.duration(edge) for edge in (min(latencies), max(latencies)))
    return " to ".join(edges)


def _quick_ones(groups: list[Group]) -> list[str]:
    """Return one sentence for each kind that hardly ever waits."""
    sentences = []
    for kind in KINDS:
        own = [group for group in groups if group.kind == kind]
        if not own:
            continue
        # The first is that of all initiators together, if there is one.
        own = own[:1] if own[0].initiator == together.ALL else own
        requests = sum(group.figures["requests"] for group in own)
        longest = units.duration(max(group.figures["latency_ns"]["max"] for group in own))
        waiting = "hardly waited" if any(group.waits for group in own) else "never waited"
        those = units.many(requests, f"{kind.replace('_', '-')} request")
        many = sum(len(group.initiators) for group in own)
        whose = own[0].initiator if len(own) == 1 else f"{many} initiators"
        sentences.append(f"{whose}: {those} {waiting}; the slowest took {longest}.")
    return sentences


def _completeness(result: Measured) -> list[str]:
    if result.cut_short is None:
        return []
    return [f"The run was {result.cut_short}: these figures describe its beginning only."]


def _named_by_kind(groups: list[Group]) -> dict[str, set[str]]:
    """Return the causes that are named, by kind of request."""
    named: dict[str, set[str]] = {}
    for group in groups:
        for shares in (group.mean, group.tail_share):
            causes = (cause.name for cause, share in shares.items() if share >= NAMED_SHARE)
            named.setdefault(group.kind, set()).update(causes)
    return named


def _so_what(groups: list[Group], result: Measured) -> list[str]:
    """Return the background of the named causes on this drive."""
    named: set[str] = set().union(*_named_by_kind(groups).values())
    sentences = []
    drive = result.summary["config"]["drive"]
    nand = drive["nand"]
    if named & {"erases", "suspension"}:
        lasts = units.duration(_erase_ns(nand["erase"]))
        sentences.append(f"An erase lasts {lasts}, {_interrupted(drive, 'suspension')}.")
    if named & {"GC programs", "host programs"}:
        programs = [units.nanoseconds(text) for text in nand["program"]]
        low, high = units.duration(min(programs)), units.duration(max(programs))
        lasts = low if low == high else f"{low} to {high}"
        sentences.append(f"A program lasts {lasts}, {_interrupted(drive, 'program_suspension')}.")
    if "own service" in named:
        sentences.append(OWN_SERVICE)
    return sentences


_SCHEMES = {
    "baseline": "and nothing interrupts it: other operations on that flash wait until its end",
    "d-es": "and reads interrupt it at the end of a step (d-es)",
    "t-es": "and reads interrupt it at once, or at the end of a step once it has timed out (t-es)",
}


def _interrupted(drive: dict[str, Any], key: str) -> str:
    """Return a clause on how reads interrupt an operation under the drive's suspension."""
    name = interruptions.scheme(drive, key)
    return _SCHEMES.get(name, f"and reads may interrupt it ({name}); others wait until its end")


def _erase_ns(erase: dict[str, Any] | str) -> float:
    if isinstance(erase, str):
        return units.nanoseconds(erase)
    phases = (text for text in erase.values() if isinstance(text, str))
    return float(erase.get("steps", 1)) * sum(map(units.nanoseconds, phases))


def _write_amplification(result: Measured) -> list[str]:
    amplification = result.summary["write_amplification"]
    if amplification["total"] is None:
        return ["Nothing was written, so there is no write amplification."]
    parts = [
        f"{amplification[source]:.2f} {words}"
        for source, words in (
            ("host", "for the data itself"),
            ("gc", "for pages that garbage collection moved"),
            ("scrub", "for pages that scrubbing moved"),
            ("summary", "for summaries of full blocks"),
            ("parity", "for parity"),
            ("rebuild", "for data that was rebuilt"),
            ("padding", "for padding of batches that were not full"),
        )
        if amplification.get(source, 0) >= 0.005
    ]
    why = why_not_one(amplification["host"], result.copies, result.moved_bytes)
    why = f" ({why})" if why else ""
    return [
        f"Write amplification is {amplification['total']:.2f}: for each byte that hosts wrote, "
        f"the flash programmed {' + '.join(parts) or 'nothing'}{why}."
    ]


def _steadiness(result: Measured) -> list[str]:
    summary = result.summary
    begin = summary["simulated_ns"] - summary["counted_ns"]
    figures_of: dict[str, list[str]] = {}
    for figure, verdict in result.steadiness():
        if (unsteady := steadiness.unsteady(summary, figure)) is not None:
            told = f"not known to be steady: {unsteady.told}"
        elif verdict["from_ns"] > begin:
            told = f"in steady state from {units.duration(verdict['from_ns'])} on"
        else:
            told = f"in steady state over the whole {'counted time' if begin else 'run'}"
        figures_of.setdefault(told, []).append(figure.replace("_", " "))
    sentences = []
    for told, figures in figures_of.items():
        called = " and ".join(figures).capitalize()
        sentences.append(f"{called} {'is' if len(figures) == 1 else 'are'} {told}.")
    if steadiness.repeats(summary):
        sentences.append(f"Garbage collection repeats: {steadiness.cycles(summary)}.")
    return sentences


def _emptiness(groups: list[Group]) -> list[str]:
    unmapped = sum(group.figures["unmapped"] for group in groups)
    if not unmapped:
        return []
    return [
        f"Warning: {units.many(unmapped, 'mapping unit')} read had no data: never written, or "
        "trimmed. That cost no flash time, so reads look better than they would on a full drive."
    ]
