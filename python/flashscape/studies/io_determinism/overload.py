"""A producer beyond the consumer: more writes than a set can take, beside reads of the same set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Run, plots

from . import _cases
from ._cases import CASES
from ._firmware import FIRMWARE
from ._loads import writers
from ._reads import PERCENT, completed, result, row, tail, total

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

    from ._cases import Case

exhibit = Exhibit()

RATE = 19_200
"""Writes a second: 1.2 times the 16,000 that a set takes."""

OVERLOADED = {
    "another": CASES["another"],
    **{name: case for name, case in FIRMWARE.items() if name != "same-3"},
}
"""Writes to another set, then to the same with each kind of firmware."""

EQUAL: dict[str, tuple[str, int]] = {
    "same-4": ("same-reads-first", 13_400),
    "same-2": ("same-reads-first", 8_300),
    "same-1": ("same-reads-first", 4_500),
    "same-1-suspends": ("same-suspends", 3_400),
}
"""Firmware without the limit beside as many writes as the limited one takes when it is overloaded:
its rate is measured in the short profile, and rounded to hundreds. The table shows both rates."""

DRAWN = {name: case for name, case in OVERLOADED.items() if name != "another"}
"""Firmware of the picture: reads beside writes to another set are as if nobody wrote."""

LOOKS = plots.Looks(*(case.title for case in DRAWN.values()))


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each kind of firmware, undisturbed and overloaded."""
    made = []
    tables = _cases.TABLES
    for name, case in OVERLOADED.items():
        alone = case.experiment(setting, 0)
        made += [
            Run(_cases.run_name(name, 0), alone, tables=tables),
            Run(_cases.run_name(name, RATE), _overloaded(setting, case), tables=tables),
        ]
    for name, rate in EQUAL.values():
        experiment = FIRMWARE[name].experiment(setting, rate)
        made.append(Run(_cases.run_name(name, rate), experiment, tables=tables))
    return made


def _overloaded(setting: Setting, case: Case) -> dict[str, Any]:
    """Return more writes than the set takes, from the moment on at which counting begins.

    Before that it gets as many as it takes, so that no write waits yet.
    """
    taken = case.rates[-1]
    experiment = case.experiment(setting, taken)
    warm_up, counted = case.lengths(setting, taken)
    [reads, before] = experiment["workload"]
    [more] = writers(RATE, case.writes)
    before = before | {"name": "before", "stop": {"time": f"{warm_up:.3f} s"}}
    more = more | {"start": f"{warm_up:.3f} s", "stop": {"time": f"{counted:.3f} s"}}
    title = f"{case.title}, {RATE:,} writes/s"
    return experiment | {"title": title, "workload": [reads, before, more]}


def figures(runs: Outcomes, name: str, rate: int = RATE) -> dict[str, Any]:
    """Return what reads take, what writes complete, and how many of them wait at the end."""
    overloaded = result(runs, name, rate)
    writes = overloaded.write
    taken = completed(overloaded)
    found = row(runs, name, rate)
    return {
        "firmware": OVERLOADED[name].title,
        "reads": found["reads"],
        "read_mean_ns": found["read_mean_ns"],
        "read_p99_9_ns": found["read_p99_9_ns"],
        "mean_times": found["mean_times"],
        "p99_9_times": found["p99_9_times"],
        "offered_per_second": rate,
        "writes_per_second": taken,
        "taken_share": taken / rate,
        "write_p50_ns": writes.p50,
        "write_p99_9_ns": writes.percentile(PERCENT),
        "longest_write_ns": writes.max,
        "starved": found["starved"],
        "waiting_on_average": total(overloaded, "write") * float(writes.mean or 0) / 1e9,
        "waits_beyond_p99_9": found["waits_beyond_p99_9"],
    }


@exhibit.measures("N-14")
def overloaded(runs: Outcomes) -> Answer:
    """Return the reads' tail and the writes that are taken, by firmware."""
    told = []
    for name in OVERLOADED:
        found = figures(runs, name)
        times = f"mean {found['mean_times']:.2f}, p{PERCENT:g} {found['p99_9_times']:.1f} times"
        if tail(runs, name, RATE).unknown is not None:
            times = f"mean {found['mean_times']:.2f} times, p{PERCENT:g} of too few reads"
        told.append(f"{found['firmware']}: {times}, takes {found['taken_share']:.0%}")
    for limited, (name, rate) in EQUAL.items():
        found = figures(runs, name, rate)
        times = f"mean {found['mean_times']:.2f}, p{PERCENT:g} {found['p99_9_times']:.1f} times"
        like = OVERLOADED[limited].title
        told.append(f"{found['firmware']}, writes as with {like}: {times}")
    return Answer("; ".join(told))


@exhibit.tabulates("firmware")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each kind of firmware, and for those without a limit at equal writes."""
    import polars as pl

    made = [figures(runs, name) | {"as_many_writes_as": None} for name in OVERLOADED]
    made += [
        figures(runs, name, rate) | {"as_many_writes_as": OVERLOADED[limited].title}
        for limited, (name, rate) in EQUAL.items()
    ]
    return pl.DataFrame(made, infer_schema_length=None)


@exhibit.draws("reads")
def drawn(runs: Outcomes) -> Picture:
    """Draw the distribution of reads for each kind of firmware."""
    curves = {
        case.title: runs[_cases.run_name(name, RATE)].result.read for name, case in DRAWN.items()
    }
    title = f"{RATE:,} writes/s, of {RATE / 1.2:,.0f} that a set takes"
    return plots.tails({"reads": curves}, LOOKS, title=title)
