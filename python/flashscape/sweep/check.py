"""Check of every point of a design before any of them runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import _flashscape, output
from flashscape.errors import ConfigError, Problem, SnapshotError, TraceError
from flashscape.sweep import inputs, sharing
from flashscape.sweep.design import labels, shown
from flashscape.sweep.effort import Effort, effort
from flashscape.sweep.point import Point
from flashscape.sweep.reading import base_seed
from flashscape.toml import line_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashscape.experiment import Experiment, Unchecked
    from flashscape.sweep.design import Combination, Design
    from flashscape.sweep.reading import Reading

_READ_WHOLE_BELOW = 16 << 20
"""Bytes of a trace that are read for the check; faults further down appear during the run."""

_NAMES_SHOWN = 3
_FAULTS_SHOWN = 50


class _Fault(NamedTuple):
    """A problem, and the points that have it."""

    problem: Problem
    combinations: list[str]
    """Names of the combinations, without the seeds."""


class Points:
    """The points of a design, and the faults of some of them."""

    def __init__(self, design: Design, *, tables: bool = False) -> None:
        self.design = design
        self.title = design.title
        """Title of the sweep, else of its first valid experiment; empty if none has one."""
        self._tables = tables
        self.points: list[Point] = []
        self.faults: dict[Problem, _Fault] = {}
        self.available_bytes: int | None = None
        """Memory that the system had available after the last check; None if not known."""
        self._labels = labels((*design.paths, "seed"))
        self._told_by_name = design.told_by_name
        self._first_seed = base_seed(design.base)
        self._traces: dict[str, Exception | None] = {}

    @property
    def invalid(self) -> list[Point]:
        """Points that cannot be run."""
        return [point for point in self.points if point.fault is not None]

    def check(self, told: Callable[[int, int], None] = lambda _done, _of: None) -> None:
        """Check all points; ``told`` is called with the number done and the total."""
        for combination in self.design.combinations():
            told(len(self.points), self.design.size)
            self._add(combination)

    def _add(self, combination: Combination) -> None:
        settings = combination.settings
        varied = self.design.base.over({s.path: s.value for s in settings})
        try:
            experiment = varied.checked()
            experiment.check_snapshot()
            self._check_traces(experiment)
        except (ConfigError, SnapshotError, TraceError) as error:
            return self._refuse(combination, varied, error)
        config, derived = experiment.config, experiment.derived
        self.title = self.title or str(config.get("title", ""))
        preparation = experiment.preparation
        self.available_bytes = derived["memory_bytes"]["available"]
        for seed in self._seeds():
            if seed is not None:
                config["seed"] = seed
            self._append(combination, varied, config, derived, seed, preparation)
        return None

    def _seeds(self) -> Sequence[int | None]:
        """Return the seeds of each combination; None if it keeps its own."""
        seeds = self.design.seeds
        if not isinstance(seeds, int):
            return seeds or (None,)
        first = self._first_seed
        # An invalid seed is a fault of every point, and has no number.
        return (None,) * seeds if first is None else range(first, first + seeds)

    def _append(
        self,
        combination: Combination,
        varied: Unchecked,
        config: dict[str, Any],
        derived: dict[str, Any],
        seed: int | None,
        preparation: str | None,
    ) -> None:
        written = {s.path: s.value for s in combination.settings}
        effective = {
            path: value_at(config, _flashscape.current_path(path)) for path in self.design.paths
        }
        self.points.append(
            Point(
                number=len(self.points) + 1,
                name=self._name(combination, seed),
                variation=combination.variation,
                seed=config["seed"],
                values={path: written.get(path, effective[path]) for path in effective},
                amounts=effective,
                experiment=varied if seed is None else varied.over({"seed": seed}),
                **demands(config, derived, preparation),
                tables=output.tables_of(config) if self._tables else (),
            )
        )

    def _refuse(
        self,
        combination: Combination,
        varied: Unchecked,
        error: ConfigError | SnapshotError | TraceError,
    ) -> None:
        """Record a combination that cannot be run."""
        problems = self._blamed(combination, error)
        fault = "; ".join(f"{p.path}: {p.message}" if p.path else p.message for p in problems)
        written = {s.path: s.value for s in combination.settings}
        values = {path: written.get(path) for path in self.design.paths}
        for seed in self._seeds():
            point = Point(
                number=len(self.points) + 1,
                name=self._name(combination, seed),
                variation=combination.variation,
                seed=seed,
                values=values,
                amounts=values,
                experiment=varied,
                key=None,
                memory_bytes=0,
                effort=Effort(0.0, 0.0, 0.0, 0.0),
                fault=fault,
            )
            self.points.append(point)
        for problem in problems:
            noted = self.faults.setdefault(problem, _Fault(problem, []))
            noted.combinations.append(self._name(combination, None))

    def _blamed(
        self, combination: Combination, error: ConfigError | SnapshotError | TraceError
    ) -> list[Problem]:
        """Return the faults of a point, with the lines of the sweep file that caused them."""
        if not isinstance(error, ConfigError) or not error.problems:
            return [Problem("", self.design.file, None, str(error))]
        return [self._at_home(combination, problem) for problem in error.problems]

    def _at_home(self, combination: Combination, problem: Problem) -> Problem:
        if problem.file != "override":
            return problem
        for setting in reversed(combination.settings):
            path = _flashscape.current_path(setting.path)
            if problem.path == path or problem.path.startswith((f"{path}.", f"{path}[")):
                line = line_of(setting.place, self.design.lines)
                return problem._replace(file=self.design.file, line=line)
        return problem

    def _check_traces(self, experiment: Experiment) -> None:
        """Read traces once for all points that use them alike."""
        config = experiment.config
        traced = [each for each in config["workload"] if "trace" in each]
        if not traced:
            return
        exported = experiment.derived["capacity"]["exported_bytes"]
        used = [(each["trace"], each.get("region")) for each in traced]
        alike = json.dumps([used, exported], sort_keys=True)
        if alike not in self._traces:
            try:
                experiment.traces(_READ_WHOLE_BELOW)
                self._traces[alike] = None
            except (ConfigError, TraceError) as error:
                self._traces[alike] = error
        if (found := self._traces[alike]) is not None:
            raise found

    def _name(self, combination: Combination, seed: int | None) -> str:
        """Return the name of a point; a variation's name stands for its values."""
        parts = [combination.variation] if combination.variation is not None else []
        parts += [
            f"{self._labels[s.path]}={shown(s.value)}"
            for s in combination.settings
            if s.path not in self._told_by_name
        ]
        if seed is not None:
            parts.append(f"seed={seed}")
        return ", ".join(parts) or "base"


def demands(
    config: dict[str, Any], derived: dict[str, Any], preparation: str | None
) -> dict[str, Any]:
    """Return the fields of a point that follow from its complete configuration."""
    return {
        "key": inputs.key(config),
        "memory_bytes": derived["memory_bytes"]["total"],
        "effort": effort(config, derived),
        "preparation": preparation and inputs.short(f"{config['seed']} {preparation}"),
        "kept_bytes": sharing.kept_bytes(derived["memory_bytes"]["map"]),
    }


def refuse(reading: Reading, points: Points | None) -> None:
    """Raise ConfigError with all faults of a sweep file and its points."""
    listed = [(problem, "") for problem in reading.problems]
    for problem, names in points.faults.values() if points is not None else ():
        # A faulty part of the file may cause missing values elsewhere.
        if not reading.problems or problem.file == reading.file:
            listed.append((problem, _where(names, points)))
    if not listed:
        return
    listed.sort(key=lambda each: (each[0].file != reading.file, each[0].line or 0))
    count = f"{len(listed)} problem{'s' if len(listed) > 1 else ''}"
    lines = [f"  {_text(problem, reading.file)}{where}" for problem, where in listed]
    if len(lines) > _FAULTS_SHOWN:
        lines[_FAULTS_SHOWN:] = [f"  and {len(lines) - _FAULTS_SHOWN} more"]
    text = "\n".join((f"{reading.file}: {count}", *lines))
    raise ConfigError(
        text, [(p.path, p.file, p.line, f"{p.message}{where}") for p, where in listed]
    )


def _text(problem: Problem, file: str) -> str:
    line = "" if problem.line is None else f"line {problem.line}"
    source = "" if problem.file == file else problem.file
    place = ", ".join(part for part in (f"{source} {line}".strip(), problem.path) if part)
    return f"{place}: {problem.message}" if place else problem.message


def _where(names: list[str], points: Points | None) -> str:
    """Say which points have a fault, by the names of their combinations."""
    if points is None:
        return ""
    total = len(points.points)
    seeds = points.design.seeds
    of_each = seeds if isinstance(seeds, int) else len(seeds or (0,))
    if len(names) * of_each == total:
        return f" (in all {total} points)" if total > 1 else ""
    shown_names = "; ".join(names[:_NAMES_SHOWN])
    more = f"; and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f" (in {len(names) * of_each} of {total} points: {shown_names}{more})"


def value_at(config: dict[str, Any], path: str) -> Any:
    """Return the value at a path of a complete configuration; None if it has none."""
    value: Any = config
    for step in path.replace("[", ".[").split("."):
        try:
            value = value[int(step[1:-1])] if step.startswith("[") else value[step]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value
