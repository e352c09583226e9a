"""flashscape: what latency tail an SSD shows its host, and why.

>>> import flashscape as fs
>>> result = fs.run("experiment.toml")      # doctest: +SKIP
>>> result.read.p99_9, result.write_amplification  # doctest: +SKIP
"""

# First, as the rest takes time, in which somebody may already press Ctrl-C.
from flashscape import signals as _signals  # noqa: F401  # isort: skip
from flashscape import trace
from flashscape._flashscape import Completion, __version__
from flashscape.catalogue import Preset, check, presets, schema
from flashscape.drive import Drive
from flashscape.errors import (
    ConfigError,
    FlashscapeError,
    Interrupted,
    OutputError,
    Problem,
    SimulatorError,
    SpaceError,
    TraceError,
)
from flashscape.experiment import Experiment
from flashscape.explain import explain
from flashscape.latency import Latency
from flashscape.result import Result
from flashscape.run import Observer, run

__all__ = [
    "Completion",
    "ConfigError",
    "Drive",
    "Experiment",
    "FlashscapeError",
    "Interrupted",
    "Latency",
    "Observer",
    "OutputError",
    "Preset",
    "Problem",
    "Result",
    "SimulatorError",
    "SpaceError",
    "TraceError",
    "__version__",
    "check",
    "explain",
    "presets",
    "run",
    "schema",
    "trace",
]
