"""Files for batch systems: jobs that are Dask workers, through dask-jobqueue."""

from __future__ import annotations

import re
import signal
import sys
import threading
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from shutil import which
from typing import TYPE_CHECKING, Any

from flashscape.errors import ClusterError, ConfigError, unread
from flashscape.near import listed
from flashscape.quantities import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

KINDS = {
    "slurm": ("SLURMCluster", "sbatch"),
    "pbs": ("PBSCluster", "qsub"),
    "lsf": ("LSFCluster", "bsub"),
    "sge": ("SGECluster", "qsub"),
}
"""Batch systems, with their class in dask-jobqueue, and the command that takes jobs."""

_TEXTS = ("queue", "account", "interface", "python", "folder", "logs")
_LISTS = ("prologue", "directives")
_COUNTS = ("workers", "cores")
_NEEDED = ("kind", "workers", "cores", "memory", "walltime")
KEYS = ("kind", *_COUNTS, "memory", "walltime", *_TEXTS, *_LISTS)

_WALLTIME = re.compile(r"(\d+-)?\d{1,3}:\d{2}(:\d{2})?")


@dataclass(frozen=True)
class Jobs:
    """Jobs of a batch system, each of them one worker."""

    kind: str
    workers: int
    """Number of jobs."""
    cores: int
    """Cores of a job, and tasks that it runs at a time."""
    memory: int
    """Bytes of a job."""
    walltime: str
    queue: str | None = None
    account: str | None = None
    interface: str | None = None
    python: str | None = None
    """Python of the workers; by default the path of this one."""
    folder: str | None = None
    """Directory of a worker's files, on its own disk."""
    logs: str | None = None
    prologue: tuple[str, ...] = ()
    """Lines of the job script before the worker starts."""
    directives: tuple[str, ...] = ()
    """Further options of the batch system, such as ``--exclusive``."""

    def options(self) -> dict[str, Any]:
        """Return the arguments for dask-jobqueue."""
        charged = "account" if self.kind in ("slurm", "pbs") else "project"
        given = {
            "queue": self.queue,
            charged: self.account,
            "interface": self.interface,
            "local_directory": self.folder,
            "log_directory": self.logs,
            "walltime": self.walltime,
        }
        return {
            **{name: value for name, value in given.items() if value is not None},
            "cores": self.cores,
            "processes": 1,
            "memory": f"{self.memory} B",
            "python": self.python or sys.executable,
            "job_name": "flashscape",
            "job_script_prologue": list(self.prologue),
            "job_extra_directives": list(self.directives),
        }


def read(file: Path) -> Jobs:
    """Read a file; raise ConfigError with all of its faults."""
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(unread(file, error)) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{file}: is no TOML: {error}") from error
    faults = [*_faults(raw)]
    if faults:
        count = f"{len(faults)} problem{'s' if len(faults) > 1 else ''}"
        raise ConfigError("\n".join((f"{file}: {count}", *(f"  {fault}" for fault in faults))))
    memory = quantity(raw["memory"])
    assert memory is not None
    lists = {key: tuple(raw[key]) for key in _LISTS if key in raw}
    return Jobs(**{**raw, **lists, "memory": int(memory.amount)})


def _faults(raw: Mapping[str, Any]) -> Iterator[str]:
    for key in raw:
        if key not in KEYS:
            yield f"{key}: unknown key {listed(key, KEYS, 'valid:')}"
    for key in _NEEDED:
        if key not in raw:
            yield f"{key}: is missing"
    if "kind" in raw and raw["kind"] not in KINDS:
        yield f"kind: no batch system {raw['kind']!r} {listed(raw['kind'], KINDS)}"
    for key in (each for each in _COUNTS if each in raw):
        if not isinstance(raw[key], int) or isinstance(raw[key], bool) or raw[key] < 1:
            yield f"{key}: {raw[key]!r} is not a whole number from 1"
    memory = quantity(raw.get("memory"))
    if "memory" in raw and (memory is None or memory.unit != "bytes" or memory.amount < 1):
        yield f'memory: {raw["memory"]!r} is no size; write "16 GB"'
    walltime = raw.get("walltime", "1:00:00")
    if not isinstance(walltime, str) or not _WALLTIME.fullmatch(walltime):
        yield f'walltime: {walltime!r} is no time of the batch system; write "02:00:00"'
    for key in (each for each in _TEXTS if each in raw):
        if not isinstance(raw[key], str) or not raw[key].strip():
            yield f"{key}: {raw[key]!r} is not a text"
    for key in (each for each in _LISTS if each in raw):
        lines = raw[key]
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            yield f"{key}: {lines!r} is no list of texts"


def class_of(jobs: Jobs) -> Any:
    """Return dask-jobqueue's class of a batch system; raise ClusterError if it is missing."""
    if find_spec("dask_jobqueue") is None:
        raise ClusterError(
            'cluster: dask-jobqueue is not installed; run: pip install "flashscape[cluster]"'
        )
    # On import it replaces the handler of Ctrl-C by one that ends the process at once.
    handler = signal.getsignal(signal.SIGINT)
    try:
        module = import_module("dask_jobqueue")
    except ValueError as error:
        raise ClusterError(
            "cluster: a file for a batch system can be used in the main thread only"
        ) from error
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)
    return getattr(module, KINDS[jobs.kind][0])


def begin(jobs: Jobs) -> Any:
    """Submit the jobs, and again those that end early; raise ClusterError."""
    of_system, (_, command) = class_of(jobs), KINDS[jobs.kind]
    if which(command) is None:
        raise ClusterError(
            f"cluster: {jobs.kind}: there is no command {command} here; start flashscape on a "
            "machine that submits jobs"
        )
    # Its web page would take a port that others may use.
    quiet = {"dashboard": False, "dashboard_address": ":0"}
    try:
        cluster = of_system(**jobs.options(), scheduler_options=quiet)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise _refused(jobs, error) from error
    try:
        cluster.sync(_submit, cluster, jobs.workers)
        cluster.adapt(minimum=jobs.workers, maximum=jobs.workers)
    except BaseException as error:
        # Dask does not expect that jobs which were never submitted are closed.
        with suppress(Exception):
            cluster.close(timeout=1)
        if isinstance(error, OSError | RuntimeError):
            raise _refused(jobs, error) from error
        raise
    return cluster


async def _submit(cluster: Any, workers: int) -> None:
    """Submit the first jobs; Dask alone does so in the background, and only logs a refusal."""
    for _ in range(workers):
        cluster.worker_spec.update(cluster.new_worker_spec())
    await cluster._correct_state()


def _refused(jobs: Jobs, error: Exception) -> ClusterError:
    """Return the error of a batch system that takes no jobs, in its own words."""
    words = [line.strip() for line in str(error).splitlines() if line.strip()]
    why = "; ".join(words[words.index("stderr:") + 1 :] if "stderr:" in words else words[:1])
    return ClusterError(f"cluster: {jobs.kind} does not take the jobs: {why}")
