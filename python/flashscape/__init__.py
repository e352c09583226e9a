"""flashscape: what latency tail an SSD shows its host, and why.

>>> import flashscape as fs
>>> result = fs.run("experiment.toml")      # doctest: +SKIP
>>> result.read.p99_9, result.write_amplification  # doctest: +SKIP

Modules are imported when a name of theirs is first used: the command line needs few of them.
"""

# Imported first: the other imports take time, in which the user may already press Ctrl-C.
from flashscape import signals as _signals  # noqa: F401  # isort: skip
from typing import TYPE_CHECKING

from flashscape import _door

if TYPE_CHECKING:
    from flashscape import act as act
    from flashscape import trace as trace
    from flashscape._flashscape import Completion as Completion
    from flashscape._flashscape import __version__ as __version__
    from flashscape.catalogue import Family as Family
    from flashscape.catalogue import Policy as Policy
    from flashscape.catalogue import Preset as Preset
    from flashscape.catalogue import check as check
    from flashscape.catalogue import policies as policies
    from flashscape.catalogue import presets as presets
    from flashscape.catalogue import schema as schema
    from flashscape.cluster import Cluster as Cluster
    from flashscape.compare import Comparison as Comparison
    from flashscape.compare import compare as compare
    from flashscape.drive import Drive as Drive
    from flashscape.errors import ClusterError as ClusterError
    from flashscape.errors import ConfigError as ConfigError
    from flashscape.errors import FlashscapeError as FlashscapeError
    from flashscape.errors import Interrupted as Interrupted
    from flashscape.errors import OutputError as OutputError
    from flashscape.errors import PolicyError as PolicyError
    from flashscape.errors import Problem as Problem
    from flashscape.errors import SimulatorError as SimulatorError
    from flashscape.errors import SnapshotError as SnapshotError
    from flashscape.errors import SpaceError as SpaceError
    from flashscape.errors import StarvationError as StarvationError
    from flashscape.errors import StarvedRequest as StarvedRequest
    from flashscape.errors import StudyError as StudyError
    from flashscape.errors import TraceError as TraceError
    from flashscape.experiment import Experiment as Experiment
    from flashscape.fio_jobs import import_fio as import_fio
    from flashscape.fleet import Fleet as Fleet
    from flashscape.fleet import QueriesOver as QueriesOver
    from flashscape.fleet import fleet as fleet
    from flashscape.fleet import fleet_file as fleet_file
    from flashscape.fleet import queries_over as queries_over
    from flashscape.frames import to_pandas as to_pandas
    from flashscape.imported import Imported as Imported
    from flashscape.latency import Latency as Latency
    from flashscape.lifetime import Lifetime as Lifetime
    from flashscape.lifetime import LifetimeComparison as LifetimeComparison
    from flashscape.lifetime import compare_lifetimes as compare_lifetimes
    from flashscape.lifetime import lifetime as lifetime
    from flashscape.mqsim import import_mqsim as import_mqsim
    from flashscape.one_run import explain as explain
    from flashscape.plotting import plot as plot
    from flashscape.reproduce import Reproduction as Reproduction
    from flashscape.reproduce import reproduce as reproduce
    from flashscape.requests import read_requests as read_requests
    from flashscape.result import Result as Result
    from flashscape.run import Observer as Observer
    from flashscape.run import run as run
    from flashscape.snapshot import Snapshot as Snapshot
    from flashscape.sweep import Sweep as Sweep
    from flashscape.sweep import SweepInterrupted as SweepInterrupted
    from flashscape.sweep import sweep as sweep
    from flashscape.sweep import sweep_file as sweep_file
    from flashscape.tables import Tables as Tables
    from flashscape.tables import tables as tables

_HOMES = {
    "_flashscape": ("Completion", "__version__"),
    "catalogue": ("Family", "Policy", "Preset", "check", "policies", "presets", "schema"),
    "cluster": ("Cluster",),
    "compare": ("Comparison", "compare"),
    "drive": ("Drive",),
    "errors": (
        *("ClusterError", "ConfigError", "FlashscapeError", "Interrupted", "OutputError"),
        *("PolicyError", "Problem", "SimulatorError", "SnapshotError", "SpaceError"),
        *("StarvationError", "StarvedRequest", "StudyError", "TraceError"),
    ),
    "experiment": ("Experiment",),
    "latency": ("Latency",),
    "lifetime": ("Lifetime", "LifetimeComparison", "compare_lifetimes", "lifetime"),
    "frames": ("to_pandas",),
    "imported": ("Imported",),
    "fleet": ("Fleet", "QueriesOver", "fleet", "fleet_file", "queries_over"),
    "fio_jobs": ("import_fio",),
    "mqsim": ("import_mqsim",),
    "one_run": ("explain",),
    "reproduce": ("Reproduction", "reproduce"),
    "plotting": ("plot",),
    "requests": ("read_requests",),
    "result": ("Result",),
    "run": ("Observer", "run"),
    "snapshot": ("Snapshot",),
    "sweep": ("Sweep", "SweepInterrupted", "sweep", "sweep_file"),
    "tables": ("Tables", "tables"),
}
"""The module that each name comes from."""

__all__ = _door.offer(__name__, _HOMES, modules=("act", "trace"))
