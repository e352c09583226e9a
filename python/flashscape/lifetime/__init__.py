"""The life of a drive: bytes that hosts can write until UBER or wear reaches a limit.

The states of wear run as points of a sweep (``run``, ``state``), the next ones are chosen and the
end is calculated (``projection``, ``life``), and told (``result``, ``words``, ``picture``). Lives
are compared with each other (``comparison``).
"""

from flashscape.lifetime.comparison import (
    COMPARED,
    COMPARED_PICTURE,
    LifetimeComparison,
    compare_lifetimes,
    is_life,
)
from flashscape.lifetime.life import Conditions, Limits
from flashscape.lifetime.result import DOCUMENT, PICTURE, Lifetime
from flashscape.lifetime.run import lifetime
from flashscape.lifetime.state import WearState

__all__ = [
    "COMPARED",
    "COMPARED_PICTURE",
    "DOCUMENT",
    "PICTURE",
    "Conditions",
    "Lifetime",
    "LifetimeComparison",
    "Limits",
    "WearState",
    "compare_lifetimes",
    "is_life",
    "lifetime",
]
