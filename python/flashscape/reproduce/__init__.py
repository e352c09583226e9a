"""Reproduction of papers: runs of their experiments, and verdicts on their claims.

The bounds of claims are data. The way goes from a study's folder (``study``) with its claims
(``claims``, ``bounds``, ``compared``, ``bound_data``) and exhibits (``exhibit``) to runs over
the cores (``perform``, by the sweep's pool and store), their outcomes (``outcomes``), verdicts
(``verdicts``), and the whole (``reproduction``). A study's code imports from here and ``plots``.
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
