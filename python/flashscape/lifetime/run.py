"""Running the states of wear, as points of a sweep, until the end of life is known."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import spelling, units
from flashscape.arguments import checks_arguments
from flashscape.cluster import opened
from flashscape.errors import ConfigError, FlashscapeError, Interrupted
from flashscape.experiment import Experiment
from flashscape.lifetime import projection
from flashscape.lifetime.life import Conditions, Limits
from flashscape.lifetime.result import DOCUMENT, PICTURE, Lifetime
from flashscape.lifetime.state import WearState
from flashscape.sweep import Lines, Store, SweepInterrupted, sweep

if TYPE_CHECKING:
    from os import PathLike

    from flashscape.cluster import Where
    from flashscape.sweep import Sweep, SweepObserver

UBER_OF_CLIENTS = 1e-15
"""UBER of a client drive at its end of life [JESD218]; of an enterprise drive it is 1e-16."""

_WEAR = "drive.nand.errors.initial_cycles"
_AGE = "drive.nand.errors.initial_age"
_HOURS_OF_A_DAY = 24
_NONE, _ALL = "0 %", "100 %"
"""Shares as a checked configuration has them."""
_YEARS_MOST = 100
_DAYS_MOST = 36_500


@checks_arguments
def lifetime(
    experiment: Experiment | Mapping[str, Any] | str | PathLike[str],
    *,
    uber: float | None = None,
    cycles: Sequence[int] | None = None,
    endurance: int | None = None,
    years: float = 5,
    retention_days: float | None = None,
    out: str | PathLike[str] | None = None,
    jobs: int | None = None,
    cluster: Where = None,
    progress: bool | SweepObserver = False,
) -> Lifetime:
    """Project the life of a drive: run its experiment at several states of wear.

    A life ends at the wear at which the summed UBER crosses ``uber`` (1e-15), or at the wear limit
    ``endurance`` (``drive.nand.endurance``), whichever comes first. ``cycles`` are the states that
    are run in any case; without it they are chosen. Further states are run until two neighbours
    within 2 % enclose the crossing. ``years`` is the warranty of drive writes per day;
    ``retention_days`` is the age of data at the beginning of each run (``initial_age``).

    ``out`` is a directory for ``lifetime.json`` and the runs, which are those of a sweep: a second
    call does not repeat them. ``jobs`` is the number of processes, and ``cluster`` names other
    machines for them, as in :func:`sweep`: neither changes a result.

    Raises ConfigError, OutputError, ClusterError, FlashscapeError if a run fails, and on Ctrl-C
    Interrupted.

    >>> life = fs.lifetime("experiment.toml", uber=1e-16)       # doctest: +SKIP
    >>> life.tbw, life.dwpd, life.ends_by, life.assumptions     # doctest: +SKIP
    """
    checked = Experiment.of(experiment)
    if cycles is not None:
        # NumPy has whole numbers of its own.
        cycles = list(map(operator.index, cycles))
    task = _task(checked, uber, cycles, endurance, years, retention_days)
    with ExitStack() as kept:
        there = kept.enter_context(opened(cluster))
        folder = kept.enter_context(_folder(out))
        if out is not None:
            with Store.claim(folder) as store:
                # They belong to an earlier start.
                store.remove(DOCUMENT)
                store.remove(PICTURE)
        try:
            found = _states(task, folder, jobs, there, progress)
        except SweepInterrupted as interrupted:
            told = Interrupted(None, f"while running states of wear, {interrupted.where}")
            without = f"nothing is saved ({spelling.option('--out DIR', 'out=...')} saves runs)"
            told.kept = without if out is None else interrupted.kept
            raise told from None
        life = Lifetime(task.limits, task.conditions, tuple(found))
        if out is not None:
            with Store.claim(folder) as store:
                store.write(DOCUMENT, life.to_json().encode())
    return life


@dataclass(frozen=True)
class _Task:
    """An experiment, the states that are wanted, and the limits."""

    experiment: Experiment
    plan: projection.Plan
    limits: Limits
    conditions: Conditions
    initial: Any
    """Cycles at the beginning as the experiment has them."""
    varies: bool
    """True if flash has bit errors, and so wear has an effect."""

    def sweep(
        self, cycles: Sequence[int], out: Path, jobs: int | None, cluster: Where, progress: Any
    ) -> Sweep:
        """Run these states, as far as they are not in the directory."""
        varied: dict[str, Any] = {"seeds": [self.experiment.config["seed"]]}
        if self.varies:
            varied = {"grid": {_WEAR: [_worn(self.initial, each) for each in cycles]}}
        return sweep(
            self.experiment,
            **varied,
            out=out,
            jobs=jobs,
            cluster=cluster,
            progress=progress,
            name="lifetime",
        )


def _folder(out: str | PathLike[str] | None) -> Any:
    """Return a context with the directory of the runs, which is temporary without a name."""
    from contextlib import nullcontext
    from tempfile import TemporaryDirectory

    return TemporaryDirectory(prefix="flashscape-lifetime-") if out is None else nullcontext(out)


def _states(
    task: _Task,
    folder: str | PathLike[str],
    jobs: int | None,
    cluster: Where,
    progress: bool | SweepObserver,
) -> list[WearState]:
    """Run rounds of states until the result is known; return all states in rising order."""
    found: dict[int, WearState] = {}
    refined = 0
    while wanted := task.plan.wanted({c: each.uber for c, each in found.items()}, refined):
        if found and max(wanted) < max(found):
            refined += 1
        cycles = sorted({*found, *wanted})
        # Each round counts its own runs.
        observer = Lines.on_stderr("state") if progress is True else progress
        swept = task.sweep(cycles, Path(folder), jobs, cluster, observer)
        for name, why in swept.failures:
            raise FlashscapeError(f"lifetime: a state of wear cannot be run ({name}): {why}")
        derived = task.experiment.derived
        for at, each in enumerate(cycles, 1):
            if each not in found:
                found[each] = WearState.of(each, swept.result(at).summary, derived)
        _refuse_no_reads(task, found[wanted[0]])
    return [found[each] for each in sorted(found)]


def _refuse_no_reads(task: _Task, state: WearState) -> None:
    if task.limits.uber is not None and state.uber is None:
        others = "" if task.limits.wear is None else ", or leave drive.nand.errors out"
        raise ConfigError(
            f"lifetime: hosts read nothing, so there is no UBER; add reads to the workload{others}"
        )


def _task(
    experiment: Experiment,
    uber: float | None,
    cycles: Sequence[int] | None,
    endurance: int | None,
    years: float,
    retention_days: float | None,
) -> _Task:
    """Check all options before anything runs; raise ConfigError."""
    _check_numbers(uber, cycles, endurance, years, retention_days)
    config = experiment.config
    if "array" in config:
        raise ConfigError("array: the life of one drive is projected; leave array out")
    wear = endurance or config["drive"]["nand"]["endurance"] or None
    errors = config["drive"]["nand"].get("errors")
    why = _why_no_uber(config)
    if why is not None:
        given = {
            "uber": uber,
            **({} if errors else {"cycles": cycles, "retention": retention_days}),
        }
        _refuse_without_uber(why, wear, given)
    if retention_days is not None:
        age = f"{retention_days * _HOURS_OF_A_DAY:g} h"
        experiment = experiment.replace({_AGE: age})
    limit = None if why is not None else (uber or UBER_OF_CLIENTS)
    plan = projection.Plan.of(cycles, limit=limit, wear=wear)
    if errors is None:
        plan = projection.Plan((0,), None, wear, grows=False)
    initial = (errors or {}).get("initial_cycles", 0)
    return _Task(
        experiment,
        plan,
        Limits(limit, wear, years),
        Conditions(
            title=experiment.title,
            exported_bytes=experiment.derived["capacity"]["exported_bytes"],
            data_age=_age(experiment.config, retention_days),
            is_wear_spread=isinstance(initial, Mapping),
            has_rate=_has_rate(config),
            config=experiment.config,
        ),
        initial,
        varies=errors is not None,
    )


def _why_no_uber(config: Mapping[str, Any]) -> str | None:
    """Say why all that hosts read can be decoded; None if some may not."""
    errors = config["drive"]["nand"].get("errors")
    if errors is None:
        return "the flash has no bit errors; give drive.nand.errors"
    if "corrects" not in errors:
        return "the code corrects any number of errors; give drive.nand.errors.corrects"
    recovery = config["drive"]["ftl"].get("read_recovery") or {"policy": "ladder"}
    if recovery["policy"] == "ladder" and "re_reads" not in recovery:
        return "reads are repeated as often as it takes; give drive.ftl.read_recovery.re_reads"
    return None


def _refuse_without_uber(why: str, wear: int | None, given: Mapping[str, Any]) -> None:
    """Raise ConfigError if no limit is left, or an option would have no effect."""
    if wear is None:
        raise ConfigError(
            f"lifetime: no life ends: UBER stays 0, because {why}; or give a wear limit "
            f"({spelling.option('--endurance CYCLES', 'endurance=...')}, drive.nand.endurance): "
            "then write amplification alone counts"
        )
    for name, value in given.items():
        if value is not None:
            raise ConfigError(f"{name}: has no effect, because {why}, or leave this option out")


def _check_numbers(
    uber: float | None,
    cycles: Sequence[int] | None,
    endurance: int | None,
    years: float,
    retention_days: float | None,
) -> None:
    if uber is not None and not 0 < uber < 1:
        raise ConfigError(f"uber: {uber:g} is not above 0 and below 1; write 1e-15, for example")
    if not 0 < years <= _YEARS_MOST:
        raise ConfigError(f"years: {years:g} is not above 0 and at most {_YEARS_MOST}")
    if retention_days is not None and not 0 < retention_days <= _DAYS_MOST:
        raise ConfigError(f"retention: {retention_days:g} days are not above 0 and at most 36,500")
    most = projection.CYCLES_MOST
    if endurance is not None and not 1 <= endurance <= most:
        raise ConfigError(f"endurance: {endurance} is not a whole number from 1 to {most}")
    if cycles is not None and not cycles:
        raise ConfigError("cycles: names no state; write 1000,3000 or auto")
    for each in cycles or ():
        if each > most:
            raise ConfigError(f"cycles: {each!r} is not a whole number from 0 to {most}")


def _worn(initial: Any, cycles: int) -> Any:
    """Return ``initial_cycles`` with this mean; differences between blocks stay in proportion."""
    if not isinstance(initial, Mapping):
        return cycles
    if "mean" in initial:
        share = initial["deviation"] / initial["mean"] if initial["mean"] else 0.0
        return {"mean": cycles, "deviation": round(share * cycles)}
    mean = (initial["from"] + initial["to"]) / 2
    share = (initial["to"] - mean) / mean if mean else 0.0
    return {"from": round(cycles * (1 - share)), "to": round(cycles * (1 + share))}


def _age(config: Mapping[str, Any], retention_days: float | None) -> str | None:
    """Return the age of data at the beginning in words; None for new data."""
    age = (config["drive"]["nand"].get("errors") or {}).get("initial_age")
    if age is None:
        return None
    if retention_days is not None:
        return f"{retention_days:g} days"
    if isinstance(age, Mapping):
        return " ".join(f"{key} {value}" for key, value in age.items())
    return units.duration(units.nanoseconds(age))


def _has_rate(config: Mapping[str, Any]) -> bool:
    """Return True if all workloads that write arrive at a rate, and not as the drive answers."""
    if config["run"].get("untimed", False):
        return False
    return all(_is_open(each) for each in config["workload"] if _may_write(each))


def _may_write(workload: Mapping[str, Any]) -> bool:
    if "mix" in workload:
        return bool(workload["mix"].get("write", _NONE) != _NONE)
    return bool(workload.get("reads") != _ALL)


def _is_open(workload: Mapping[str, Any]) -> bool:
    trace = workload.get("trace")
    return "arrivals" in workload if trace is None else bool(trace["mode"] == "open")
