"""Sweeps: variations of an experiment, run over the cores, resumable, in one table.

From a file or Python's own values to a design (``reading``, ``design``), to checked
points (``check``, ``inputs``), over processes (``pool``, ``worker``) into a directory
(``store``) and to a table (``rows``, ``result``). Polars is imported at the end only.
"""

from flashscape.sweep.result import Sweep
from flashscape.sweep.run import sweep, sweep_file

__all__ = ["Sweep", "sweep", "sweep_file"]
