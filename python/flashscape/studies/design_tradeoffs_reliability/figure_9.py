"""Figure 9: data that has aged when the run begins, with re-reads, parity and scrubbing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Figure, Run, plots

from ._drives import (
    CHIPS,
    drive,
    early,
    errors,
    oracle,
    parity,
)
from ._runs import (
    amplification,
    chips_told,
    experiment,
    ideal,
    named,
    rounded,
    times,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result

exhibit = Exhibit()

AGES: dict[str, tuple[int, int] | None] = {
    "new": None,
    "month": (0, 30),
    "months": (30, 90),
}
"""Days of the data at the beginning; the paper names 30 to 90, the others are assumed."""

OLD = "months"

TITLES = {"re-read": "re-reads alone", "parity": "15 data pages a stripe", "scrub": "scrubbing"}

LOOKS = plots.Looks(*TITLES.values())

PARITY_RE_READS = 1
"""Re-reads before parity is used."""


def _name(chip: str, age: str, scheme: str) -> str:
    return f"aged-{chip}-{age}-{scheme}"


def _run(setting: Setting, chip: str, age: str, scheme: str) -> Run:
    of, days = CHIPS[chip], AGES[age]
    aged: dict[str, Any] = {}
    if days is not None:
        aged["initial_age"] = {"from": f"{days[0]} d", "to": f"{days[1]} d"}
    code = errors(of, of.worn, of.strong, **aged)
    tables = {"re-read": {}, "parity": parity(15, PARITY_RE_READS), "scrub": oracle(early(of))}
    old = "new data" if days is None else f"data of {days[0]} to {days[1]} days"
    title = f"{of.title} at {of.worn} cycles, {old}: {TITLES[scheme]}"
    made = drive(setting, code, **tables[scheme])
    return Run(_name(chip, age, scheme), experiment(setting, title, made))


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return worn chips with data of each age under each scheme."""
    return [
        ideal(setting),
        *(_run(setting, chip, age, s) for chip in CHIPS for age in AGES for s in TITLES),
    ]


def _result(runs: Outcomes, chip: str, age: str, scheme: str) -> Result:
    return runs[_name(chip, age, scheme)].result


def _ideal(runs: Outcomes) -> Result:
    return runs[named("tlc", CHIPS["tlc"].worn, None)].result


def _gains(runs: Outcomes, chip: str) -> list[float]:
    """Return the mean read with re-reads over that with scrubbing, by age."""
    return [
        rounded(times(_result(runs, chip, age, "re-read"), _result(runs, chip, age, "scrub")))
        for age in AGES
    ]


@exhibit.measures("R-12")
def gains(runs: Outcomes) -> Answer:
    """Return what scrubbing gains over re-reads, by chip and age of the data."""
    of_chips = {chip: _gains(runs, chip) for chip in CHIPS}
    figures: dict[str, object] = {}
    for chip, values in of_chips.items():
        name = chip.replace("-", "_")
        figures |= {f"{name}_gain_times": tuple(values), f"{name}_most_times": values[-1]}
    return Answer(chips_told(of_chips), figures)


@exhibit.measures("R-13")
def old(runs: Outcomes) -> Answer:
    """Return mean reads of old data on 2y-nm MLC, in multiples of a code without limit."""
    of_schemes = {
        scheme: times(_result(runs, "mlc-2y", OLD, scheme), _ideal(runs)) for scheme in TITLES
    }
    samples = _result(runs, "mlc-2y", OLD, "scrub").read.requests
    figures = {
        "scrub_times": Figure(of_schemes["scrub"], samples),
        "re_read_times": Figure(of_schemes["re-read"], samples),
    }
    told = ", ".join(f"{TITLES[s]} {value:.3g} times" for s, value in of_schemes.items())
    return Answer(told, figures)


@exhibit.draws("means")
def drawn(runs: Outcomes) -> Picture:
    """Draw the mean read by chip and age of the data."""
    groups = {}
    for chip, of in CHIPS.items():
        for age, days in AGES.items():
            told = "new" if days is None else f"{days[0]}–{days[1]} days"
            groups[f"{of.title}\n{told}"] = {
                title: times(_result(runs, chip, age, scheme), _ideal(runs))
                for scheme, title in TITLES.items()
            }
    return plots.bars(groups, LOOKS, label="mean read, multiple of a code without limit")


@exhibit.tabulates("runs")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return reads and write amplification of each run."""
    import polars as pl

    rows = []
    for chip, of in CHIPS.items():
        for age in AGES:
            for scheme, title in TITLES.items():
                found = _result(runs, chip, age, scheme)
                rows.append(
                    {
                        "chip": of.title,
                        "age": age,
                        "scheme": title,
                        "times": times(found, _ideal(runs)),
                        "read_p99_9_ns": found.read.percentile(99.9),
                        "write_amplification": amplification(found),
                    }
                )
    return pl.DataFrame(rows)
