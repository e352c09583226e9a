"""The workload and the ratings of the Aerospike Certification Tool (docs/act.md)."""

from flashscape.act import load
from flashscape.act.certify import SearchObserver, run, search
from flashscape.act.conditions import Service, Share
from flashscape.act.hunt import Rating
from flashscape.act.search import Search
from flashscape.act.trial import Trial

__all__ = [
    "Rating",
    "Search",
    "SearchObserver",
    "Service",
    "Share",
    "Trial",
    "load",
    "run",
    "search",
]
