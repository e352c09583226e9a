"""Fleets: independent drives that begin as one prepared drive, with their results merged.

The drives run as points of a sweep (``reading``, ``run``). Their results are merged (``merged``,
``spread``), compared over time (``correlation``), and asked together by queries (``fanout``,
``pooled``, ``moments``). ``over`` asks other runs, or parts of them (``sources``). ``result``,
``words`` and ``picture`` show what was found.
"""

from flashscape.fleet.fanout import Fanout
from flashscape.fleet.over import QueriesOver, queries_over
from flashscape.fleet.result import DOCUMENT, PICTURE, Fleet
from flashscape.fleet.run import fleet, fleet_file

__all__ = [
    "DOCUMENT",
    "PICTURE",
    "Fanout",
    "Fleet",
    "QueriesOver",
    "fleet",
    "fleet_file",
    "queries_over",
]
