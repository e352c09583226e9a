"""Each technique alone, in pairs, and all three, by the age of the drive."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Figure, plots

from . import _measures
from ._drives import AGES, SCHEMES
from ._measures import MEASURES, Effect, effect, idle, told_idle
from ._runs import Case, aged

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

    from ._runs import Measure

exhibit = Exhibit()

_SEEDS = ": median and range"

CASES = [Case(age, scheme) for age in AGES for scheme in SCHEMES]


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each scheme at each age, with each seed."""
    return [run for case in CASES for run in case.runs(setting)]


@exhibit.measures("X-1")
def lengths(runs: Outcomes) -> Answer:
    """Return the fewest erases of a mean block in any run that reached its end."""
    fewest = min(
        _measures.erases_of_a_block(result) for case in CASES for result in case.whole(runs)
    )
    return Answer(f"{fewest:.3g} erases", {"fewest_erases_of_a_block": fewest})


def _all_ages(runs: Outcomes, scheme: str, name: str, reason: str | None = None) -> Answer:
    """Return the greatest multiple of the tail of a technique alone, with any seed, by age."""
    effects = {age: effect(Case(age, scheme), runs, _measures.tail) for age in AGES}
    greatest: Any = tuple(each.greatest if each.multiples else None for each in effects.values())
    told = "; ".join(f"{aged(age)}: {each.text}" for age, each in effects.items())
    return Answer(told, {name: Figure(greatest)}, reason)


@exhibit.measures("X-2")
def suspension(runs: Outcomes) -> Answer:
    """Return p99.99 of reads with erase suspension, over that without it."""
    return _all_ages(runs, "s", "suspension_over_without")


@exhibit.measures("X-3")
def reconstruction(runs: Outcomes) -> Answer:
    """Return p99.99 of reads with reconstruction, over that without it."""
    reason = (
        "a read decides once whether it goes round collection, and a re-read that meets an erase "
        "waits for it"
    )
    return _all_ages(runs, "r", "reconstruction_over_without", reason)


@exhibit.measures("X-4")
def management(runs: Outcomes) -> Answer:
    """Return the mean read of the old drive with HRM, over that without it."""
    found = effect(Case("old", "h"), runs, _measures.mean)
    return Answer(found.text, {"management_over_without": max(found.multiples, default=None)})


def _best_part(case: Case, runs: Outcomes) -> Case | None:
    """Return the part of a combination with the least tail: with fewer techniques, or none."""
    ours = SCHEMES[case.scheme]
    if len(ours.techniques) < 2:
        return None
    parts = [Case(case.age, name) for name, part in SCHEMES.items() if part.is_part_of(ours)]
    tails = {part: part.middle(runs, _measures.tail) for part in parts}
    return min((part for part in parts if tails[part]), key=lambda part: tails[part] or 0.0)


def _added(case: Case, runs: Outcomes) -> tuple[Case, Effect] | None:
    """Return the best part of a combination, and what the combination does to its tail."""
    best = _best_part(case, runs)
    return None if best is None else (best, effect(case, runs, _measures.tail, best))


def _adds(found: Effect) -> str:
    return "redundant" if found.word == "alike" else found.word


def _told(runs: Outcomes, age: str) -> Answer:
    """Return the effects of all schemes on a drive of some age."""
    told = []
    for case in CASES:
        if case.age != age or case == case.baseline:
            continue
        words = [f"{name} {effect(case, runs, of).text}" for name, of in MEASURES.items()]
        units = case.middle(runs, _measures.lost)
        words.append(f"{units:,.0f} mapping units lost" if units else "no data lost")
        if units is None:
            words = [f"stops the drive {_stopped(case, runs)}"]
        words += [told_idle(each) for each in idle(case, runs)]
        if (added := _added(case, runs)) and added[1].middle is not None:
            words.append(f"beside {added[0].title}: {_adds(added[1])}, {added[1].middle:.2f} times")
        told.append(f"{case.title}: {', '.join(words)}")
    return Answer("; ".join(told))


@exhibit.measures("X-5")
def young(runs: Outcomes) -> Answer:
    """Return the effects on a young drive."""
    return _told(runs, "young")


@exhibit.measures("X-6")
def middle_aged(runs: Outcomes) -> Answer:
    """Return the effects on a middle-aged drive."""
    return _told(runs, "middle-aged")


@exhibit.measures("X-7")
def old(runs: Outcomes) -> Answer:
    """Return the effects on an old drive."""
    return _told(runs, "old")


def _spans(runs: Outcomes, measure: Measure) -> dict[str, dict[str, Any]]:
    """Return the figures of all schemes, by age."""
    return {
        aged(age): {case.title: case.figures(runs, measure) for case in CASES if case.age == age}
        for age in AGES
    }


@exhibit.draws("tails")
def drawn(runs: Outcomes) -> Picture:
    """Draw p99.99 of reads by age and scheme."""
    tails = _spans(runs, _measures.tail)
    return plots.spans(tails, unit="ns", label=f"p99.99 of reads{_SEEDS}", absent="the drive stops")


@exhibit.draws("writes")
def drawn_writes(runs: Outcomes) -> Picture:
    """Draw write amplification by age and scheme."""
    writes = _spans(runs, _measures.writes)
    return plots.spans(writes, label=f"write amplification{_SEEDS}", absent="the drive stops")


@exhibit.tabulates("schemes")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return reads, wear and lost data of each scheme at each age, as medians over the seeds."""
    import polars as pl

    return pl.DataFrame([row(case, runs) | _parts(case, runs) for case in CASES])


def _parts(case: Case, runs: Outcomes) -> dict[str, Any]:
    """Return the columns about the best part of a combination."""
    added = _added(case, runs)
    return {
        "best_part": added[0].title if added else None,
        "times_best_part": added[1].middle if added else None,
        "adds": _adds(added[1]) if added else None,
    }


def row(case: Case, runs: Outcomes) -> dict[str, Any]:
    """Return the row of a case: medians, ranges of multiples, and what they mean."""
    made: dict[str, Any] = {
        "age": case.age,
        "cycles": AGES[case.age],
        "scheme": case.title,
        "stopped": _stopped(case, runs),
        "erases_of_a_block": case.middle(runs, _measures.erases_of_a_block),
        "read_mean_ns": case.middle(runs, _measures.mean),
        "read_p99_9_ns": case.middle(runs, lambda result: float(result.read.percentile(99.9) or 0)),
        "read_p99_99_ns": case.middle(runs, _measures.tail),
        "write_amplification": case.middle(runs, _measures.writes),
        "erases_of_a_block_for_each_drive_write": case.middle(runs, _measures.wear),
        "interruptions_of_an_erase": case.middle(runs, _measures.interruptions),
        "lost_units": case.middle(runs, _measures.lost),
        "counted_uber": case.middle(runs, lambda result: _uber(result, "counted")),
        "expected_uber": case.middle(runs, lambda result: _uber(result, "expected")),
    }
    for name, of in MEASURES.items():
        found = effect(case, runs, of)
        made[f"{name.replace(' ', '_')}_effect"] = None if case == case.baseline else found.word
        made[f"{name.replace(' ', '_')}_times"] = found.middle
        made[f"{name.replace(' ', '_')}_least"] = min(found.multiples, default=None)
        made[f"{name.replace(' ', '_')}_most"] = max(found.multiples, default=None)
    made["idle"] = ", ".join(told_idle(each) for each in idle(case, runs))
    return made


def _stopped(case: Case, runs: Outcomes) -> str:
    """Return with how many seeds the drive stopped."""
    results = case.results(runs)
    return f"{results.count(None)} of {len(results)}"


def _uber(result: Any, kind: str) -> float:
    return float(result.summary["errors"]["uber"][kind] or 0.0)


@exhibit.measures("X-8")
def worn(runs: Outcomes) -> Answer:
    """Return the interruptions of an erase, and the rise of the error rate by those of a life."""
    told = []
    for age, cycles in AGES.items():
        case = Case(age, "s")
        often = case.middle(runs, _measures.interruptions)
        rise = case.middle(runs, partial(_measures.rise_of_errors, cycles=cycles))
        told.append(
            f"{aged(age)}: {often or 0:.2g} pulses for each erase, a rise of {rise or 0:.0%}"
        )
    most = max(Case(age, "d").middle(runs, _measures.interruptions) or 0 for age in AGES)
    return Answer("; ".join([*told, f"between pulses: {most:.2g}"]))
