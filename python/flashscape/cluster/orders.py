"""Orders of tasks for workers that share no files with this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape.sweep import inputs
from flashscape.sweep.sharing import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flashscape.sweep.agenda import Start
    from flashscape.sweep.executor import Task


class Blob(NamedTuple):
    """A file that an experiment names."""

    path: str
    """Path of its name in the configuration."""
    file: Path
    content: str
    """Hash of every byte."""


def blobs_of(task: Task) -> list[Blob]:
    """Return the files that a task reads; raise OSError if one cannot be read.

    Traces play no part in the preparation of a drive.
    """
    point = task.points[0] if isinstance(task, Group) else task
    config = point.experiment.checked().config
    found = [] if isinstance(task, Group) else [*_workload_files(config)]
    found += _policy_files(config["drive"], "drive")
    return [Blob(path, Path(file), inputs.content_of(Path(file))) for path, file in found]


def _workload_files(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield traces and the snapshot, with the paths of their names."""
    for number, workload in enumerate(config["workload"]):
        if "trace" in workload:
            yield f"workload[{number}].trace.file", workload["trace"]["file"]
    if "snapshot" in config["precondition"]:
        yield "precondition.snapshot", config["precondition"]["snapshot"]


def _policy_files(table: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    if table.get("policy") == "python":
        yield f"{path}.file", table["file"]
        return
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _policy_files(value, f"{path}.{name}")


def drive_of(group: Group) -> str:
    """Return the name of a group's drive on workers."""
    return f"{group.name}.snap"


def order(
    task: Task, start: Start, blobs: list[Blob], beside: Mapping[str, str], topic: str
) -> dict[str, Any]:
    """Return the order of a task, for ``host.perform``; ``needs`` is still to be filled in.

    ``beside`` has further files to store with the results of a point.
    """
    common = {
        "number": task.number,
        "topic": topic,
        "files": [[each.path, each.content, each.file.name, str(each.file)] for each in blobs],
        "needs": [],
    }
    if isinstance(task, Group):
        experiment = task.points[0].experiment.as_json()
        given = {"experiment": experiment, "shared_by": len(task.points)}
        return {**common, "task": given, "keep": drive_of(task), "drive": None}
    given = {
        "key": task.key,
        "experiment": task.experiment.as_json(),
        "start": start,
        "tables": list(task.tables),
        "beside": beside,
    }
    return {**common, "task": given, "keep": None, "drive": start.get("drive")}
