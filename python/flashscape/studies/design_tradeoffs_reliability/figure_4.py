"""Figure 4: the mean read by chip, wear and code, with re-reads alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Figure, plots

from ._drives import CHIPS, CODEWORD_BITS, LOOKS, TLC
from ._runs import (
    amplification,
    chips_told,
    ideal,
    mean,
    named,
    re_reads,
    rounded,
    run_of,
    times,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting
    from flashscape.result import Result

exhibit = Exhibit()

CODES = {"strong": "strong code", "weak": "weak code"}
"""Codes with a limit, by their names in the claims."""


def _corrects(chip: str, code: str) -> int:
    return CHIPS[chip].strong if code == "strong" else CHIPS[chip].weak


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each chip at each wear with each code, for both readings of the codeword."""
    return [
        run
        for one_check in (False, True)
        for run in (
            ideal(setting, one_check=one_check),
            *(
                run_of(setting, chip, cycles, _corrects(chip, code), one_check=one_check)
                for chip, of in CHIPS.items()
                for cycles in of.cycles
                for code in CODES
            ),
        )
    ]


def _result(runs: Outcomes, chip: str, cycles: int, code: str, *, one_check: bool) -> Result:
    name = named(chip, cycles, _corrects(chip, code), one_check=one_check)
    return runs[name].result


def _ideal(runs: Outcomes, *, one_check: bool) -> Result:
    return runs[named("tlc", TLC.worn, None, one_check=one_check)].result


def _times(runs: Outcomes, chip: str, code: str, *, one_check: bool) -> Figure:
    """Return the mean read at each wear, in multiples of that with a code without limit."""
    over = _ideal(runs, one_check=one_check)
    results = [
        _result(runs, chip, cycles, code, one_check=one_check) for cycles in CHIPS[chip].cycles
    ]
    samples = min(each.read.requests for each in results)
    return Figure(tuple(rounded(times(each, over)) for each in results), samples)


def _by_wear(runs: Outcomes, *, one_check: bool) -> Answer:
    figures: dict[str, Figure | float] = {}
    told, most = [], dict.fromkeys(CHIPS, 0.0)
    for code, title in CODES.items():
        of_chips = {chip: _times(runs, chip, code, one_check=one_check) for chip in CHIPS}
        for chip, figure in of_chips.items():
            figures[f"{chip.replace('-', '_')}_{code}_times"] = figure
        values = {chip: [float(n) for n in figure.numbers] for chip, figure in of_chips.items()}
        most = {chip: max(most[chip], *of) for chip, of in values.items()}
        told.append(f"{title}: {chips_told(values)}")
    figures |= {f"{chip.replace('-', '_')}_most_times": value for chip, value in most.items()}
    return Answer("; ".join(told), figures)


@exhibit.measures("R-2")
def by_wear(runs: Outcomes) -> Answer:
    """Return the mean read by chip, wear and code."""
    return _by_wear(runs, one_check=False)


@exhibit.measures("R-2c")
def by_wear_one_check(runs: Outcomes) -> Answer:
    """Return the same with one check for 4 KiB."""
    return _by_wear(runs, one_check=True)


def _most(runs: Outcomes, *, one_check: bool) -> Answer:
    result = _result(runs, "tlc", TLC.worn, "weak", one_check=one_check)
    ours = times(result, _ideal(runs, one_check=one_check))
    figures = {"tlc_5k_weak_times": Figure(ours, result.read.requests)}
    told = f"{ours:.3g} times, {1 + re_reads(result):.3g} senses a read"
    return Answer(told, figures)


@exhibit.measures("R-3")
def most(runs: Outcomes) -> Answer:
    """Return the mean read of worn TLC with a weak code."""
    return _most(runs, one_check=False)


@exhibit.measures("R-3c")
def most_one_check(runs: Outcomes) -> Answer:
    """Return the same with one check for 4 KiB."""
    return _most(runs, one_check=True)


def _drawn(runs: Outcomes, *, one_check: bool) -> Picture:
    groups = {}
    for chip, of in CHIPS.items():
        over = _ideal(runs, one_check=one_check)
        for cycles in of.cycles:
            results = {
                title: _result(runs, chip, cycles, code, one_check=one_check)
                for code, title in CODES.items()
            }
            bars = {title: times(each, over) for title, each in results.items()}
            groups[f"{of.title}\n{cycles // 1000}K"] = {"no limit": 1.0, **bars}
    checks = "one check for 4 KiB" if one_check else "eight codewords for 4 KiB"
    title = f"{checks}; codes: " + ", ".join(
        f"{of.title} {of.strong} and {of.weak} bits" for of in CHIPS.values()
    )
    label = "mean read, multiple of a code without limit"
    return plots.bars(groups, LOOKS, label=label, title=title)


@exhibit.draws("means")
def drawn(runs: Outcomes) -> Picture:
    """Draw the mean read of each chip at each wear."""
    return _drawn(runs, one_check=False)


@exhibit.draws("means-one-check")
def drawn_one_check(runs: Outcomes) -> Picture:
    """Draw the same with one check for 4 KiB."""
    return _drawn(runs, one_check=True)


@exhibit.tabulates("runs")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return reads and re-reads of each run, for both readings of the codeword."""
    import polars as pl

    rows = []
    for one_check in (False, True):
        over = _ideal(runs, one_check=one_check)
        for chip, of in CHIPS.items():
            for cycles in of.cycles:
                for code in CODES:
                    found = _result(runs, chip, cycles, code, one_check=one_check)
                    errors = found.summary["errors"]
                    rows.append(
                        {
                            "checks_for_4_kib": 1 if one_check else 8,
                            "chip": of.title,
                            "cycles": cycles,
                            "corrects": _corrects(chip, code),
                            "reads": found.read.requests,
                            "read_mean_ns": mean(found).value,
                            "times": times(found, over),
                            "read_p99_9_ns": found.read.percentile(99.9),
                            "re_reads_a_read": re_reads(found),
                            "mean_errors": errors["first_decodes"]["mean_errors"],
                            "mean_rate": errors["first_decodes"]["mean_errors"] / CODEWORD_BITS,
                            "write_amplification": amplification(found),
                        }
                    )
    return pl.DataFrame(rows)
