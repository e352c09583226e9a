"""Sweeps: variations of an experiment, run over the cores, resumable, in one table.

A file or Python values become a design (``reading``, ``design``), then checked
points (``check``, ``inputs``), which run over processes (``pool``, ``worker``) into a directory
(``store``) and become a table (``rows``, ``result``). Polars is imported only at the end.
``named`` does the same for experiments that have only names.
"""

from flashscape.sweep.named import NamedRuns
from flashscape.sweep.observer import Begin, SilentSweep, SweepObserver
from flashscape.sweep.pool import Ended, Prepared
from flashscape.sweep.progress import Lines
from flashscape.sweep.result import Sweep, SweepInterrupted
from flashscape.sweep.run import sweep, sweep_file
from flashscape.sweep.store import Store

__all__ = [
    "Begin",
    "Ended",
    "Lines",
    "NamedRuns",
    "Prepared",
    "SilentSweep",
    "Store",
    "Sweep",
    "SweepInterrupted",
    "SweepObserver",
    "sweep",
    "sweep_file",
]
