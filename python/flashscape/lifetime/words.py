"""A life in sentences: the verdict, what is extrapolated, and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape import spelling, units
from flashscape.lifetime.life import DAYS_OF_A_YEAR
from flashscape.lifetime.projection import CYCLES_MOST, TOLERANCE

if TYPE_CHECKING:
    from flashscape.lifetime.life import Life
    from flashscape.lifetime.state import WearState

_EVENTS = 100
"""Counted failures below which a counted UBER says nothing."""

_UNEVEN = 0.1
"""Difference of erased and programmed bytes, as a share, from which it is told."""

_ERASES = 1.0
"""Erases of a block in a run, the mean, below which reads of a block are not those of use."""

_SECONDS_OF_A_DAY = 86_400


def verdict(life: Life) -> list[str]:
    """Return the limits, the bytes until the first, and the time, as sentences."""
    lines = [*_of_uber(life), *_of_wear(life)]
    if not life.cycles:
        first = life.states[0].cycles
        unknown = f"So the life is less than {first:,} cycles; how long it is was not looked for."
        return [*lines, unknown if first else "So hosts can write nothing: 0 TBW, 0 DWPD."]
    least = "at least " if life.ends_by is None else ""
    capacity = units.size(life.conditions.exported_bytes)
    lines.append(
        f"Until then hosts write {least}{life.tbw:.3g} TB (TBW): {life.drive_writes:,.4g} drive "
        f"writes of {capacity}, {life.dwpd:.3g} a day (DWPD) over {years(life)}."
    )
    if life.seconds:
        rate = units.rate(life.host_bytes / life.seconds)
        lines.append(
            f"At the rate of the workload, {rate} of writes, that takes "
            f"{least}{_span(life.seconds)}."
        )
    return lines


def _span(seconds: float) -> str:
    days = seconds / _SECONDS_OF_A_DAY
    return f"{days:.3g} days" if days < DAYS_OF_A_YEAR else f"{days / DAYS_OF_A_YEAR:.3g} years"


def years(life: Life) -> str:
    """Return the years of the warranty."""
    return "a year" if life.limits.years == 1 else f"{life.limits.years:g} years"


def _of_uber(life: Life) -> list[str]:
    limit, (below, above) = life.limits.uber, life.bracket
    cycles = spelling.option("--cycles", "cycles=")
    if limit is None:
        return []
    if above is None:
        if below == life.limits.wear:
            return [f"UBER does not reach {limit:g} up to the wear limit."]
        more = "" if below == CYCLES_MOST else f"; name higher {cycles} to find its end"
        return [
            f"UBER does not reach {limit:g} up to {below:,} cycles, the most that were run{more}."
        ]
    if below is None:
        more = f"; name lower {cycles} to find the crossing" if above else ""
        return [
            f"UBER is {life.states[0].uber:.3g} at {above:,} cycles, the least that were run: "
            f"above {limit:g}{more}."
        ]
    return [
        f"UBER reaches {limit:g} at {life.uber_cycles:,.0f} cycles, between {below:,} and "
        f"{above:,} cycles, two states that were run."
    ]


def _of_wear(life: Life) -> list[str]:
    wear = life.limits.wear
    if wear is None:
        return []
    if life.ends_by == "wear":
        return [f"The wear limit of {wear:,} cycles ends the life."]
    return [f"That is before the wear limit of {wear:,} cycles."]


def assumptions(life: Life) -> list[str]:
    """Return sentences about what is extrapolated."""
    lines = [
        "The workload stays as it is until the end of life. Write amplification between the "
        "states is interpolated; below the least and above the highest state it is theirs.",
        _of_length(life),
    ]
    if life.limits.uber is None:
        return [*lines, "All blocks wear alike, and all of them last until the wear limit."]
    return [
        *lines,
        _of_age(life.conditions.data_age),
        "UBER is the sum of the probabilities that reads of hosts fail, over the bits read. It "
        "covers bit errors alone: no failed flash, no firmware, no power cuts.",
        _of_spread(life),
        "The crossing is interpolated in log UBER over cycles, between states at most "
        f"{100 * TOLERANCE:g} % apart. Each state is one run, whose UBER has some chance in it.",
    ]


def _of_length(life: Life) -> str:
    erased = max(each.erases_of_a_block for each in life.states)
    counted = max(each.counted_ns for each in life.states)
    span = f"{units.duration(counted)} counted, " if counted else ""
    told = f"Each state is a short run ({span}{erased:.2g} erases of a block in the mean)."
    if life.limits.uber is None:
        return told
    return (
        f"{told} Blocks begin it without reads: if they are read more often between two erases in "
        "use, read disturb, and so UBER, is higher than here."
    )


def _of_age(age: str | None) -> str:
    if age is None:
        return (
            "Data is as old as the run is long: no retention (nand.errors.initial_age, "
            f"{spelling.option('--retention', 'retention=')}). Older data has a higher UBER."
        )
    return f"Data that was there at the beginning is {age} old; data of the run is new."


def _of_spread(life: Life) -> str:
    added = max(each.added_cycles for each in life.states)
    wear = (
        "Blocks differ in wear as the experiment says, in proportion to the state"
        if life.conditions.is_wear_spread
        else "All blocks are worn alike"
    )
    return (
        f"{wear}. Filling, ageing and the run add {added:.2g} cycles to each in the mean, which "
        "the state does not include. Blocks that wear faster fail sooner."
    )


def notes(life: Life) -> list[str]:
    """Return warnings about figures that are easily misread."""
    lines = _of_amplification(life)
    return lines if life.limits.uber is None else [*lines, *_of_failures(life)]


def _of_amplification(life: Life) -> list[str]:
    worst = max(life.states, key=lambda state: abs(state.erased_for_each_programmed - 1))
    if abs(worst.erased_for_each_programmed - 1) > _UNEVEN:
        return [
            f"at {worst.cycles:,} cycles the run erased {worst.erased_for_each_programmed:.2f} "
            "bytes for each byte that it programmed: write amplification is not yet that of use; "
            "age the drive further (precondition.age), or run longer"
        ]
    if drifting := [each for each in life.states if _drifts(each)]:
        told = f"{_share(life, drifting)} write amplification is not known to be steady"
        why = next((each.unsteady for each in drifting if each.unsteady is not None), None)
        if why is None:
            return [f"{told}: age the drive further (precondition.age), or run longer"]
        return [f"{told}: {why}; a drive that is aged further (precondition.age) may be steady"]
    return []


def _drifts(state: WearState) -> bool:
    """Return True if write amplification is not known to be steady; an untimed run is not judged.

    Lives of earlier versions have no reason.
    """
    is_timed = state.bytes_per_second is not None
    return state.unsteady is not None or (is_timed and not state.is_steady)


def _of_failures(life: Life) -> list[str]:
    lines = []
    shortest = min(life.states, key=lambda state: state.erases_of_a_block)
    erases = shortest.erases_of_a_block
    if erases < _ERASES:
        needed = units.duration(shortest.counted_ns * _ERASES / erases)
        lines.append(
            f"a block is erased {erases:.2g} times in a run: in use it is read for longer before "
            "its erase, so read disturb and UBER are higher; run longer, with at least "
            f"{needed} counted, until the result stays"
        )
    if few := [each for each in life.states if (each.lost_units or 0) < _EVENTS]:
        lines.append(
            f"{_share(life, few)} fewer than {_EVENTS} mapping units were lost: there the counted "
            "UBER says nothing, and only the summed one counts"
        )
    if lost := [each for each in life.states if each.moved_units]:
        most = max(lost, key=lambda state: state.moved_units or 0)
        lines.append(
            f"{_share(life, lost)} GC and scrubbing lost data that they moved, at {most.cycles:,} "
            f"cycles {most.moved_units:,} mapping units: these are in no UBER, so hosts lose more "
            "than it says"
        )
    above, limit = life.bracket.above, life.limits.uber or 0.0
    later = [each for each in life.states if above is not None and each.cycles > above]
    if passing := [f"{each.cycles:,}" for each in later if (each.uber or 0.0) <= limit]:
        lines.append(
            "beyond the first crossing UBER is below the limit again at "
            f"{', '.join(passing)} cycles"
        )
    return lines


def _share(life: Life, states: list[WearState]) -> str:
    """Say in how many states something holds."""
    if len(states) < len(life.states):
        return f"in {len(states)} of {len(life.states)} states"
    return "in the state that was run" if len(states) == 1 else f"in all {len(states)} states"
