"""Runs that exhibits share, and figures of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Figure, NotRun, Run
from flashscape.studies.loads import jesd219

from ._drives import (
    CHIPS,
    TLC,
    drive,
    errors,
    precondition,
    seconds,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result

PER_SECOND = 2000
"""Requests: one each 0.5 ms on average."""

LOAD = jesd219(PER_SECOND)
"""The paper's synthetic load."""

IDEAL = "ideal"
"""Run of worn TLC with a code without limit. Reads take the same with any chip and wear then."""

FEWEST = 100
"""Rebuilds below which nothing is said about them."""


def experiment(setting: Setting, title: str, drive: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return an hour of the synthetic load on a drive, or the short profile's share of it."""
    return {
        "title": title,
        "drive": drive,
        "precondition": precondition(),
        "workload": [LOAD],
        "run": {"time": f"{seconds(setting)} s"},
    } | more


def named(chip: str, cycles: int, corrects: int | None, *, one_check: bool = False) -> str:
    """Return the name of a run; the code without limit is the same for all."""
    if corrects is None:
        return f"{IDEAL}{'-one' if one_check else ''}"
    return f"{chip}-{cycles // 1000}k-{corrects}{'-one' if one_check else ''}"


def run_of(
    setting: Setting, chip: str, cycles: int, corrects: int | None, *, one_check: bool = False
) -> Run:
    """Return a run with re-reads alone."""
    of = CHIPS[chip]
    code = "a code without limit" if corrects is None else f"a {corrects}-bit code"
    checks = ", one check for 4 KiB" if one_check else ""
    title = f"{of.title} at {cycles} cycles with {code}{checks}"
    made = drive(setting, errors(of, cycles, corrects, one_check=one_check))
    name = named(chip, cycles, corrects, one_check=one_check)
    return Run(name, experiment(setting, title, made), tables=("latency", "errors"))


def ideal(setting: Setting, *, one_check: bool = False) -> Run:
    """Return the run with a code without limit."""
    return run_of(setting, "tlc", TLC.worn, None, one_check=one_check)


def mean(result: Result) -> Figure:
    """Return the mean read."""
    return Figure(result.read.mean, result.read.requests)


def times(result: Result, over: Result) -> float:
    """Return the mean read in multiples of another's."""
    assert result.read.mean is not None
    assert over.read.mean is not None
    return result.read.mean / over.read.mean


def rounded(value: float) -> float:
    """Return a multiple with two decimals, as the paper has 1.25.

    A few re-reads change the order of later operations, and so the mean by less than 0.03 %.
    """
    return round(value, 2)


def re_reads(result: Result) -> float:
    """Return re-reads for each read of a host that was decoded."""
    return float(result.summary["errors"]["re_reads"].get("host_read", 0) / result.read.requests)


def checks(*, hosts_alone: bool = False) -> pl.Expr:
    """Return first checks by their errors: all of them, or those of reads of hosts."""
    import polars as pl

    of_hosts = pl.col("host_first_decodes")
    return of_hosts if hosts_alone else of_hosts + pl.col("internal_first_decodes")


def below(result: Result, limit: int, *, hosts_alone: bool = False) -> float:
    """Return the share of first checks that find fewer errors than this."""
    import polars as pl

    counted = checks(hosts_alone=hosts_alone)
    few, every = result.errors.select(
        counted.filter(pl.col("errors") < limit).sum().alias("few"), counted.sum().alias("all")
    ).row(0)
    return float(few) / float(every)


def amplification(result: Result, part: str = "total") -> float:
    """Return write amplification: ``total``, ``host``, ``gc``, ``scrub`` or ``parity``."""
    return float(result.summary["write_amplification"][part])


# Figures of rebuilds, by the names that results of a later version have.


def rebuilds(result: Result) -> int:
    """Return reads whose data was computed from the rest of their stripes."""
    return int(sum(result.summary["errors"]["rebuilds"].values()))


def rebuild_failures(result: Result) -> int:
    """Return those of them that failed, because another member could not be read either."""
    return int(sum(result.summary["errors"]["rebuild_failures"].values()))


def reads_for_rebuilds(result: Result) -> int:
    """Return reads of other members."""
    return int(result.summary["errors"]["reads_for_rebuilds"])


def unrecovered(result: Result) -> int:
    """Return mapping units that reads of hosts did not get."""
    units: dict[str, int] = result.summary["errors"]["unrecovered_units"]
    return units.get("host_read", 0)


def expected_unrecovered(result: Result) -> float:
    """Return mapping units that reads of hosts did not get, summed from their probabilities."""
    return float(result.summary["errors"]["uber"]["expected_units"])


def need_rebuilds(runs: Outcomes, names: Sequence[str]) -> None:
    """Raise NotRun if one of these runs has too few rebuilds to say anything."""
    found = {name: runs[name].result for name in names}
    few = [name for name, result in found.items() if rebuilds(result) < FEWEST]
    if few:
        told = ", ".join(
            f"{name} {rebuilds(found[name])} of {found[name].read.requests:,} reads, "
            f"{expected_unrecovered(found[name]):.2g} unrecovered units expected"
            for name in few
        )
        raise NotRun(f"fewer than {FEWEST} rebuilds: {told}")


def chips_told(values: Mapping[str, Sequence[float]]) -> str:
    """Format numbers by chip."""
    return "; ".join(
        f"{CHIPS[chip].title} {', '.join(f'{value:.3g}' for value in of)}"
        for chip, of in values.items()
    )
