"""Papers reproduced: their experiments run, and each claim judged within bounds that are data.

From a study's folder (``study``) with its claims (``claims``, ``bounds``, ``compared``,
``bound_data``) and exhibits (``exhibit``) to runs over the cores (``perform``, by the sweep's
pool and store), what became of them (``outcomes``), verdicts (``verdicts``), and all of it
together (``reproduction``). What a study's code needs is imported from here, and from ``plots``.
"""

from flashscape.reproduce import plots
from flashscape.reproduce.api import reproduce
from flashscape.reproduce.exhibit import Answer, Exhibit, Run
from flashscape.reproduce.figures import Figure, along, percentile
from flashscape.reproduce.outcomes import EndedEarly, NotRun, Outcome, Outcomes
from flashscape.reproduce.reproduction import Reproduction
from flashscape.reproduce.setting import Setting
from flashscape.reproduce.verdicts import CheckedBound, CheckedClaim

__all__ = [
    "Answer",
    "CheckedBound",
    "CheckedClaim",
    "EndedEarly",
    "Exhibit",
    "Figure",
    "NotRun",
    "Outcome",
    "Outcomes",
    "Reproduction",
    "Run",
    "Setting",
    "along",
    "percentile",
    "plots",
    "reproduce",
]
