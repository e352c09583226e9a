"""Loads that several studies share."""

from __future__ import annotations

from typing import Any


def jesd219(per_second: int) -> dict[str, Any]:
    """Return the synthetic load of the paper of reliability (FAST'19): 70 % reads, 4 KiB, skewed.

    That arrivals are exponential is assumed.
    """
    return {
        "name": "host",
        "reads": "70 %",
        "size": "4 KiB",
        "addresses": {"pattern": "jesd219"},
        "arrivals": {"process": "poisson", "rate": f"{per_second} IOPS"},
    }
