"""Measures the figures: runs experiments in processes of their own, and the bare loops."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape._flashscape import __version__
from flashscape.bench import machine, peer
from flashscape.bench.figures import FIGURES, ONCE, QUICK, QUICK_OF
from flashscape.bench.values import NotMeasuredError, Value, of_bare_loops, of_runs
from flashscape.errors import ConfigError, FlashscapeError
from flashscape.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flashscape.bench.values import Run


class Wanted(NamedTuple):
    """Options of a benchmark."""

    groups: tuple[str, ...]
    repeat: int
    quick: bool
    experiments: Path
    floor: Path | None
    peer: Path
    """MQSim's program, which need not exist."""


def measure(wanted: Wanted, say: Callable[[str], None]) -> dict[str, Any]:
    """Return the contents of ``bench.json``; raise FlashscapeError."""
    bench = _Bench(wanted, say)
    values: dict[str, Value] = {}
    skipped: dict[str, str] = {}
    found_on = machine.describe()
    for figure in FIGURES:
        if figure.group not in wanted.groups:
            skipped[figure.key] = "not asked for"
            continue
        try:
            values[figure.key] = _value(bench, figure.key, figure.experiments)
        except NotMeasuredError as reason:
            skipped[figure.key] = str(reason)
    return {
        "flashscape": __version__,
        "machine": found_on,
        "quick": wanted.quick,
        "repeat": wanted.repeat,
        **{f.key: values[f.key].value if f.key in values else None for f in FIGURES},
        "digests": {key: value.digest for key, value in values.items()},
        "samples": {key: value.samples for key, value in values.items()},
        "bounds": {
            figure.key: {"pass": figure.bounds.passing, "goal": figure.bounds.goal}
            for figure in FIGURES
            if figure.bounds is not None
        },
        "verdicts": {
            figure.key: figure.bounds.verdict(values[figure.key].value)
            for figure in FIGURES
            # Short runs say nothing about speed.
            if figure.bounds is not None and figure.key in values and not wanted.quick
        },
        "skipped": skipped,
        "runs": bench.runs,
        "peer": bench.pairs,
    }


def _value(bench: _Bench, key: str, experiments: tuple[str, ...]) -> Value:
    if key.startswith("floor_"):
        return bench.floor(key)
    if key in peer.WORKS:
        return bench.peer(key)
    return of_runs(key, [bench.run(experiment) for experiment in experiments])


class _Bench:
    """Runs each experiment once for all figures that need it."""

    def __init__(self, wanted: Wanted, say: Callable[[str], None]) -> None:
        self._wanted = wanted
        self._say = say
        self._floors: dict[str, Value] | None = None
        self.runs: dict[str, Run] = {}
        self.pairs: dict[str, dict[str, Any]] = {}
        """Details of each ratio to MQSim."""

    def run(self, name: str) -> Run:
        if name not in self.runs:
            self.runs[name] = self._run(name)
        return self.runs[name]

    def _run(self, name: str) -> Run:
        file = self._wanted.experiments / f"{name}.toml"
        if self._wanted.quick and name == "bench-large":
            raise NotMeasuredError("a drive of 16 TB is not quick")
        if not file.exists():
            raise FlashscapeError(
                f"{file}: there is no such file; call this in flashscape's repository, "
                "or name the folder with --experiments"
            )
        short = QUICK | QUICK_OF.get(name, {}) if self._wanted.quick else {}
        _check_memory(file, short)
        repeat = 1 if name in ONCE else self._wanted.repeat
        self._say(f"{name}: {_times(repeat)}")
        return _best(name, (_one(file, short) for _ in range(repeat)))

    def peer(self, key: str) -> Value:
        wanted, work = self._wanted, peer.WORKS[key]
        repeat = min(wanted.repeat, work.repeat_at_most)
        if wanted.peer.is_file():
            self._say(f"beside MQSim, {work.workload}, {work.scheduler}: {_times(repeat)}")
        value, self.pairs[key] = peer.compare(
            wanted.peer, wanted.experiments / "peer", work, repeat, wanted.quick, _one
        )
        return value

    def floor(self, key: str) -> Value:
        if self._floors is None:
            self._floors = self._measure_floors()
        return self._floors[key]

    def _measure_floors(self) -> dict[str, Value]:
        program = self._wanted.floor or _floor_of_cargo()
        if not program.exists():
            raise NotMeasuredError(
                f"{program} is not there; build it with cargo build --release -p flashscape-floor"
            )
        self._say("bare loops: best of 3")
        short = ("--writes", "200000", "--events", "200000") if self._wanted.quick else ()
        lines = _output_of([str(program), "--json", *short]).splitlines()
        return of_bare_loops([json.loads(line) for line in lines])


def _times(repeat: int) -> str:
    return "once" if repeat == 1 else f"{repeat} times"


def _one(file: Path, overrides: dict[str, str] | None = None) -> Run:
    """Measure one run, in a process of its own."""
    command = [sys.executable, "-m", "flashscape.bench.one", str(file)]
    command += [f"{path}={value}" for path, value in (overrides or {}).items()]
    run: Run = json.loads(_output_of(command))
    return run


def _check_memory(file: Path, overrides: dict[str, str]) -> None:
    try:
        Experiment.from_file(file, list(overrides.items()))
    except ConfigError as error:
        lacking = [problem.message for problem in error.problems if "memory" in problem.message]
        if len(lacking) == len(error.problems) == 1:
            raise NotMeasuredError(lacking[0]) from error
        raise


def _best(name: str, runs: Iterable[Run]) -> Run:
    """Join repetitions: keep the least of each time; everything else must agree."""
    best: Run = {}
    for run in runs:
        if best and run["digest"] != best["digest"]:
            raise FlashscapeError(
                f"this is a bug of flashscape, please report it: {name} had digest "
                f"{best['digest']} and then {run['digest']}"
            )
        for key in ("fill_cpu_seconds", "age_cpu_seconds", "run_cpu_seconds"):
            run[key] = min(run[key], best.get(key, run[key]))
        best = run
    return best


def _floor_of_cargo() -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR", "target"), "release", "floor")


def _output_of(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise FlashscapeError(f"{' '.join(command)} failed: {ended.stderr.strip()}")
    return ended.stdout
