"""Figure 8: a scrubber that knows the expected errors of all data, TLC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Figure, Run, percentile, plots

from ._drives import TLC, drive, errors, oracle
from ._runs import (
    amplification,
    experiment,
    ideal,
    mean,
    named,
    run_of,
    times,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result

exhibit = Exhibit()

THRESHOLDS = (50, 75, 100)
"""Expected errors of a codeword above which data is moved."""

TITLES = {threshold: f"moved above {threshold}" for threshold in THRESHOLDS}

LOOKS = plots.Looks("re-reads alone", *TITLES.values())

LESS_WORN = TLC.cycles[:-1]


def _name(cycles: int, threshold: int, *, one_check: bool = False) -> str:
    return f"scrub-{cycles // 1000}k-{threshold}{'-one' if one_check else ''}"


def _run(setting: Setting, cycles: int, threshold: int, *, one_check: bool = False) -> Run:
    code = errors(TLC, cycles, TLC.strong, one_check=one_check)
    title = f"{TLC.title} at {cycles} cycles, data with more than {threshold} errors is moved"
    made = drive(setting, code, **oracle(threshold))
    return Run(_name(cycles, threshold, one_check=one_check), experiment(setting, title, made))


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each wear with each threshold, and worn flash for both readings of the codeword."""
    declared = [
        *(_run(setting, cycles, at) for cycles in TLC.cycles for at in THRESHOLDS),
        *(run_of(setting, "tlc", cycles, TLC.strong) for cycles in TLC.cycles),
        *(_run(setting, TLC.worn, at, one_check=True) for at in THRESHOLDS),
        run_of(setting, "tlc", TLC.worn, TLC.strong, one_check=True),
    ]
    return [*declared, *(ideal(setting, one_check=one_check) for one_check in (False, True))]


def _scrubbed(runs: Outcomes, cycles: int, at: int, *, one_check: bool = False) -> Result:
    return runs[_name(cycles, at, one_check=one_check)].result


def _re_read(runs: Outcomes, cycles: int, *, one_check: bool = False) -> Result:
    return runs[named("tlc", cycles, TLC.strong, one_check=one_check)].result


@exhibit.measures("R-10")
def moved(runs: Outcomes) -> Answer:
    """Return write amplification and tails by threshold, and means with little wear."""
    worn = {at: _scrubbed(runs, TLC.worn, at) for at in THRESHOLDS}
    less = tuple(
        times(_scrubbed(runs, cycles, at), _re_read(runs, cycles))
        for cycles in LESS_WORN
        for at in THRESHOLDS
    )
    figures: dict[str, object] = {
        f"e{at}_amplification": amplification(result) for at, result in worn.items()
    }
    figures |= {
        "e50_scrub_amplification": amplification(worn[50], "scrub"),
        "e50_gc_amplification": amplification(worn[50], "gc"),
        "e100_scrub_amplification": amplification(worn[100], "scrub"),
        "e100_gc_amplification": amplification(worn[100], "gc"),
        "less_worn_times": less,
        "e50_p99_9_ns": percentile(worn[50].read, 99.9),
        "e100_p99_9_ns": percentile(worn[100].read, 99.9),
    }
    told = "; ".join(
        f"above {at}: {amplification(result):.3g} (scrubbing {amplification(result, 'scrub'):.3g})"
        f", p99.9 {percentile(result.read, 99.9).text('ns')}"
        for at, result in worn.items()
    )
    rate = (
        "fresh data of worn flash has more than 50 expected errors, so the rate of polls, which is "
        "ours, decides how much is moved"
    )
    return Answer(told, figures, no_better=rate)


def _best(runs: Outcomes, *, one_check: bool) -> Answer:
    over = runs[named("tlc", TLC.worn, None, one_check=one_check)].result
    of_thresholds = {
        at: times(_scrubbed(runs, TLC.worn, at, one_check=one_check), over) for at in THRESHOLDS
    }
    best = min(of_thresholds, key=of_thresholds.__getitem__)
    without = _re_read(runs, TLC.worn, one_check=one_check)
    figures = {
        "best_times": Figure(of_thresholds[best], over.read.requests),
        "re_read_times": Figure(times(without, over), without.read.requests),
    }
    told = (
        f"{of_thresholds[best]:.3g} times, moved above {best}; without {times(without, over):.3g}"
    )
    return Answer(told, figures)


@exhibit.measures("R-11")
def best(runs: Outcomes) -> Answer:
    """Return the mean read with the best threshold, in multiples of a code without limit."""
    return _best(runs, one_check=False)


@exhibit.measures("R-11c")
def best_one_check(runs: Outcomes) -> Answer:
    """Return the same with one check for 4 KiB."""
    return _best(runs, one_check=True)


@exhibit.draws("reads")
def drawn(runs: Outcomes) -> Picture:
    """Draw the tails of reads by wear."""
    panels = {
        f"{cycles // 1000}K cycles": {
            "re-reads alone": _re_read(runs, cycles).read,
            **{title: _scrubbed(runs, cycles, at).read for at, title in TITLES.items()},
        }
        for cycles in TLC.cycles
    }
    return plots.tails(panels, LOOKS)


@exhibit.tabulates("runs")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return reads and write amplification of each run."""
    import polars as pl

    rows = []
    for cycles in TLC.cycles:
        results = {"re-reads alone": _re_read(runs, cycles)}
        results |= {title: _scrubbed(runs, cycles, at) for at, title in TITLES.items()}
        for title, found in results.items():
            rows.append(
                {
                    "cycles": cycles,
                    "scrubbing": title,
                    "read_mean_ns": mean(found).value,
                    "read_p99_9_ns": found.read.percentile(99.9),
                    "write_amplification": amplification(found),
                    "of_gc": amplification(found, "gc"),
                    "of_scrubbing": amplification(found, "scrub"),
                }
            )
    return pl.DataFrame(rows)
