"""flashscape: what latency tail an SSD shows its host, and why.

>>> import flashscape as fs
>>> result = fs.run("experiment.toml")      # doctest: +SKIP
>>> result.read.p99_9, result.write_amplification  # doctest: +SKIP
"""

# First, as the rest takes time, in which somebody may already press Ctrl-C.
from flashscape import signals as _signals  # noqa: F401  # isort: skip
from flashscape import act, trace
from flashscape._flashscape import Completion, __version__
from flashscape.catalogue import Family, Policy, Preset, check, policies, presets, schema
from flashscape.compare import Comparison, compare
from flashscape.drive import Drive
from flashscape.errors import (
    ConfigError,
    FlashscapeError,
    Interrupted,
    OutputError,
    PolicyError,
    Problem,
    SimulatorError,
    SnapshotError,
    SpaceError,
    StarvationError,
    StarvedRequest,
    StudyError,
    TraceError,
)
from flashscape.experiment import Experiment
from flashscape.explain import explain
from flashscape.latency import Latency
from flashscape.mqsim import Imported, import_mqsim
from flashscape.reproduce import Reproduction, reproduce
from flashscape.requests import read_requests
from flashscape.result import Result
from flashscape.run import Observer, run
from flashscape.snapshot import Snapshot
from flashscape.sweep import Sweep, SweepInterrupted, sweep, sweep_file

__all__ = [
    "Comparison",
    "Completion",
    "ConfigError",
    "Drive",
    "Experiment",
    "Family",
    "FlashscapeError",
    "Imported",
    "Interrupted",
    "Latency",
    "Observer",
    "OutputError",
    "Policy",
    "PolicyError",
    "Preset",
    "Problem",
    "Reproduction",
    "Result",
    "SimulatorError",
    "Snapshot",
    "SnapshotError",
    "SpaceError",
    "StarvationError",
    "StarvedRequest",
    "StudyError",
    "Sweep",
    "SweepInterrupted",
    "TraceError",
    "__version__",
    "act",
    "check",
    "compare",
    "explain",
    "import_mqsim",
    "policies",
    "presets",
    "read_requests",
    "reproduce",
    "run",
    "schema",
    "sweep",
    "sweep_file",
    "trace",
]
