"""Sweeps: variations of an experiment, run over the cores, resumable, in one table.

A file or Python values become a design (``reading``, ``design``), then checked
points (``check``, ``inputs``), which an ``executor`` runs (processes of this machine: ``pool``,
``worker``) into a directory (``store``). They become a table (``rows``, ``result``). Polars is
imported only at the end.
``named`` does the same for experiments that have only names.
"""

from flashscape.sweep.executing import executing
from flashscape.sweep.executor import Ended, Executor, Prepared
from flashscape.sweep.named import NamedRuns
from flashscape.sweep.observer import Begin, SilentSweep, SweepObserver
from flashscape.sweep.progress import Lines
from flashscape.sweep.reads import READS
from flashscape.sweep.result import Sweep, SweepInterrupted
from flashscape.sweep.run import sweep, sweep_file
from flashscape.sweep.store import Store

__all__ = [
    "READS",
    "Begin",
    "Ended",
    "Executor",
    "Lines",
    "NamedRuns",
    "Prepared",
    "SilentSweep",
    "Store",
    "Sweep",
    "SweepInterrupted",
    "SweepObserver",
    "executing",
    "sweep",
    "sweep_file",
]
