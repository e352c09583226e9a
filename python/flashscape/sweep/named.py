"""Experiments by name, run as points of a sweep: over the cores, stored by their inputs."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashscape.sweep.check import demands
from flashscape.sweep.observer import Begin, SilentSweep
from flashscape.sweep.point import Point
from flashscape.sweep.run import listed, run_points

if TYPE_CHECKING:
    from flashscape.experiment import Experiment, Unchecked
    from flashscape.sweep.executor import Executor
    from flashscape.sweep.observer import SweepObserver
    from flashscape.sweep.store import Store


class NamedRuns:
    """Experiments that share only the place where they run and are stored.

    A run in the store with the same inputs, by the same simulator, is not run again.
    """

    def __init__(self) -> None:
        self._points: list[Point] = []
        self._available_bytes: int | None = None

    def add(
        self, name: str, given: Unchecked, experiment: Experiment, tables: tuple[str, ...]
    ) -> None:
        """Add an experiment, as given and as checked, with the tables to store.

        Raises ConfigError, SnapshotError, and OSError if one of its files cannot be read.
        """
        experiment.check_snapshot()
        config, derived = experiment.config, experiment.derived
        needs = demands(config, derived, experiment.preparation)
        self._available_bytes = derived["memory_bytes"]["available"]
        self._points.append(
            Point(
                number=len(self._points) + 1,
                name=name,
                variation=name,
                seed=config["seed"],
                values={},
                amounts={},
                experiment=given,
                tables=tables,
                **needs,
            )
        )

    @property
    def keys(self) -> dict[str, str]:
        """Name of the stored results of each experiment."""
        return {point.name: str(point.key) for point in self._points}

    def begin(self, store: Store, executor: Executor) -> Begin:
        """Return the plan of a start; runs with equal inputs are made once."""
        points = self._with_common_tables()
        return Begin(store, points, self._available_bytes, executor=executor, share=True)

    def run(
        self, store: Store, *, executor: Executor, observer: SweepObserver | None
    ) -> dict[str, str | None]:
        """Run the experiments that are not in the store; return names, with errors of failed runs.

        Raises OutputError, ClusterError and SweepInterrupted.
        """
        if not self._points:
            return {}
        begin = self.begin(store, executor)
        # Written as a sweep that varies only names: `flashscape sweep --show` prints it.
        manifest: dict[str, Any] = {
            "title": "",
            "file": "",
            "paths": [],
            "told_by_name": [],
            "seeded": False,
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "points": listed(begin.points),
        }
        run_points(store, manifest, begin, observer or SilentSweep())
        return {point["name"]: point["error"] for point in manifest["points"]}

    def _with_common_tables(self) -> list[Point]:
        """Let runs with equal inputs be made once, with the tables that any of them needs."""
        tables: dict[str | None, dict[str, None]] = {}
        for point in self._points:
            tables.setdefault(point.key, {}).update(dict.fromkeys(point.tables))
        return [replace(point, tables=tuple(tables[point.key])) for point in self._points]
