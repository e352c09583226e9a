"""Each technique alone, in pairs, and all three, by the age of the drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Figure, Run, along, percentile, plots
from flashscape.studies.together._drives import (
    AGES,
    CUT_OFFS,
    PER_SECOND,
    SCHEMES,
    TECHNIQUES,
    drive,
    exported_bytes,
    seconds,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result

exhibit = Exhibit()

LOOKS = plots.Looks(*SCHEMES.values())

NONE = "none"
TAIL = 99.99

ALIKE = 0.05
"""Difference below which two percentiles count as alike; a choice of ours."""

LOAD: dict[str, Any] = {
    "name": "host",
    "reads": "70 %",
    "size": "4 KiB",
    "addresses": {"pattern": "jesd219"},
    "arrivals": {"process": "poisson", "rate": f"{PER_SECOND} IOPS"},
}


def _name(age: str, scheme: str, cut_off: int = CUT_OFFS[0]) -> str:
    return f"{age}-{scheme}{'' if cut_off == CUT_OFFS[0] else f'-{cut_off}'}"


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each scheme at each age, and one of them on an old drive by its cut-off."""
    made = [_run(setting, age, scheme) for age in AGES for scheme in SCHEMES]
    return made + [_run(setting, "old", "rh", cut_off) for cut_off in CUT_OFFS[1:]]


def _run(setting: Setting, age: str, scheme: str, cut_off: int = CUT_OFFS[0]) -> Run:
    gives_up = "" if cut_off == CUT_OFFS[0] else f", gives up after {cut_off} re-reads"
    experiment = {
        "title": f"{age}, {SCHEMES[scheme]}{gives_up}",
        "drive": drive(setting, AGES[age], "" if scheme == NONE else scheme, cut_off),
        "precondition": {"fill": "random", "age": {"overwrites": 1.5}},
        "workload": [LOAD],
        "run": {"time": f"{seconds(setting)} s"},
    }
    return Run(_name(age, scheme, cut_off), experiment)


def _result(runs: Outcomes, age: str, scheme: str) -> Result:
    return runs[_name(age, scheme)].result


def _tails(runs: Outcomes, scheme: str) -> Figure:
    return along(percentile(_result(runs, age, scheme).read, TAIL) for age in AGES)


def _alone(runs: Outcomes, scheme: str, name: str) -> Answer:
    """Return the tails of a technique and of the drive without any."""
    ours, without = _tails(runs, scheme), _tails(runs, NONE)
    figures = {f"{name}_p99_99_ns": ours, "neither_p99_99_ns": without}
    return Answer(f"{ours.text('ns')}; without {without.text('ns')}", figures)


@exhibit.measures("X-1")
def suspension(runs: Outcomes) -> Answer:
    """Return p99.99 of reads with erase suspension, by age."""
    return _alone(runs, "s", "suspension")


@exhibit.measures("X-2")
def reconstruction(runs: Outcomes) -> Answer:
    """Return p99.99 of reads with reconstruction, by age."""
    return _alone(runs, "r", "reconstruction")


@exhibit.measures("X-3")
def management(runs: Outcomes) -> Answer:
    """Return the mean read of the old drive with holistic management."""
    ours, without = (
        Figure(read.mean, read.requests)
        for read in (_result(runs, "old", scheme).read for scheme in ("h", NONE))
    )
    figures = {"management_mean_ns": ours, "neither_mean_ns": without}
    return Answer(f"{ours.text('ns')}; without {without.text('ns')}", figures)


def _of_parts(runs: Outcomes, age: str, scheme: str) -> tuple[float, str]:
    """Return p99.99 over that of the best part of a combination, and that part.

    The parts of a single technique are the drive without it; those of a combination all smaller
    combinations of its techniques.
    """
    parts = [
        part
        for part in SCHEMES
        if part == NONE or (len(part) < len(scheme) and set(part) < set(scheme))
    ]
    ours = percentile(_result(runs, age, scheme).read, TAIL).numbers[0]
    of = {part: percentile(_result(runs, age, part).read, TAIL).numbers[0] for part in parts}
    best = min(of, key=of.__getitem__)
    return float(ours / of[best]), best


def _effect(ratio: float) -> str:
    """Return what a combination does to the best of its parts."""
    if ratio < 1 - ALIKE:
        return "helps"
    return "redundant" if ratio <= 1 + ALIKE else "hurts"


def _combined(runs: Outcomes, age: str) -> Answer:
    told = []
    for scheme, title in SCHEMES.items():
        if len(scheme) < 2 or scheme == NONE:
            continue
        ratio, best = _of_parts(runs, age, scheme)
        told.append(f"{title} {_effect(ratio)}: {ratio:.3g} times {SCHEMES[best]}")
    return Answer("; ".join(told))


@exhibit.measures("X-4")
def young(runs: Outcomes) -> Answer:
    """Return what combinations add on a young drive."""
    return _combined(runs, "young")


@exhibit.measures("X-5")
def middle_aged(runs: Outcomes) -> Answer:
    """Return what combinations add on a middle-aged drive."""
    return _combined(runs, "middle-aged")


@exhibit.measures("X-6")
def old(runs: Outcomes) -> Answer:
    """Return what combinations add on an old drive."""
    return _combined(runs, "old")


@exhibit.measures("X-7")
def cut_offs(runs: Outcomes) -> Answer:
    """Return the tail and lost data of reconstruction and HRM on an old drive, by cut-off."""
    told = []
    for cut_off in CUT_OFFS:
        found = runs[_name("old", "rh", cut_off)].result
        tail = percentile(found.read, TAIL).text("ns")
        told.append(f"{cut_off} re-reads: p99.99 {tail}, {_lost(found):,} units lost")
    return Answer("; ".join(told))


def _lost(result: Result) -> int:
    """Return mapping units that reads of hosts did not get, or that moves lost."""
    uber = result.summary["errors"]["uber"]
    return int(uber["units"] + uber["moved_units"])


def _by_age(runs: Outcomes, figure: Any) -> dict[str, dict[str, float | None]]:
    return {
        age: {title: figure(_result(runs, age, scheme)) for scheme, title in SCHEMES.items()}
        for age in AGES
    }


@exhibit.draws("tails")
def drawn(runs: Outcomes) -> Picture:
    """Draw p99.99 of reads by age and scheme."""
    tails = _by_age(runs, lambda result: float(percentile(result.read, TAIL).numbers[0]))
    return plots.bars(tails, LOOKS, unit="ns", label="p99.99 of reads", log=True)


@exhibit.draws("writes")
def drawn_writes(runs: Outcomes) -> Picture:
    """Draw write amplification by age and scheme."""
    writes = _by_age(runs, lambda result: float(result.summary["write_amplification"]["total"]))
    return plots.bars(writes, LOOKS, label="write amplification")


def _cycles(runs: Outcomes, result: Result) -> float:
    """Return cycles of a mean block for each time that hosts write what the drive exports."""
    wear = result.summary["wear"]
    blocks = wear["erases_since_new"] / wear["erase_count"]["mean"]
    drive_writes = result.summary["write_amplification"]["host_bytes"] / exported_bytes(
        runs.setting
    )
    return float(wear["erases"] / blocks / drive_writes)


@exhibit.tabulates("schemes")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return reads, wear and lost data of each scheme at each age."""
    import polars as pl

    rows = []
    for age in AGES:
        for scheme, title in SCHEMES.items():
            found = _result(runs, age, scheme)
            errors, writes = found.summary["errors"], found.summary["write_amplification"]
            ratio, best = (None, None) if scheme == NONE else _of_parts(runs, age, scheme)
            rows.append(
                {
                    "age": age,
                    "scheme": title,
                    "read_mean_ns": found.read.mean,
                    "read_p99_9_ns": found.read.percentile(99.9),
                    "read_p99_99_ns": found.read.percentile(TAIL),
                    "times_best_part": ratio,
                    "best_part": None if best is None else SCHEMES[best],
                    "effect": None if ratio is None else _effect(ratio),
                    "write_amplification": writes["total"],
                    "of_gc": writes["gc"],
                    "of_scrubbing": writes["scrub"],
                    "of_parity": writes["parity"],
                    "cycles_per_drive_write": _cycles(runs, found),
                    "rebuilds": sum(errors["rebuilds"].values()),
                    "lost_units": _lost(found),
                    "counted_uber": errors["uber"]["counted"],
                    "expected_uber": errors["uber"]["expected"],
                }
            )
    return pl.DataFrame(rows)


assert len(SCHEMES) == 2 ** len(TECHNIQUES), "every combination has a scheme"
