"""Values of a configuration as numbers in base units, for columns to calculate with."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, NamedTuple

_NS, _BYTES, _RATE, _REQUESTS = "ns", "bytes", "bytes_per_second", "requests_per_second"

_PREFIXES = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
_BINARY = {"Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4}


def _units() -> dict[str, tuple[str, Decimal]]:
    """Return the dimension and the size of every unit of configurations."""
    times = {"us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "ns": 1}
    times |= {"min": 6e10, "h": 3.6e12, "d": 8.64e13}
    units = {unit: (_NS, Decimal(int(ns))) for unit, ns in times.items()}
    for prefix, factor in {**_PREFIXES, **_BINARY}.items():
        units[f"{prefix}B"] = (_BYTES, Decimal(factor))
        units[f"{prefix}B/s"] = (_RATE, Decimal(factor))
    for prefix in ("k", "M", "G"):
        # Bus of eight bits: one byte per transfer.
        units[f"{prefix}T/s"] = (_RATE, Decimal(_PREFIXES[prefix]))
    for prefix in ("", "k", "M"):
        for name in ("IOPS", "/s"):
            units[f"{prefix}{name}"] = (_REQUESTS, Decimal(_PREFIXES[prefix]))
    units["%"] = ("share", Decimal("0.01"))
    units["blocks"] = units["block"] = ("blocks", Decimal(1))
    units["% of blocks"] = ("share_of_blocks", Decimal("0.01"))
    units["% of pages"] = ("share_of_pages", Decimal("0.01"))
    return units


UNITS = _units()
"""Dimension and size of each unit."""

_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(\S.*?)\s*")


class Quantity(NamedTuple):
    """An amount in its base unit."""

    amount: Decimal
    unit: str
    """Base unit, as column names end: ``ns``, ``bytes``, ``share``."""


def quantity(value: Any) -> Quantity | None:
    """Parse ``"64 ms"``; None for text that is no quantity."""
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    number, name = found.groups()
    unit = UNITS.get(" ".join(name.split()))
    return None if unit is None else Quantity(Decimal(number) * unit[1], unit[0])


def is_whole(unit: str) -> bool:
    """Return True if amounts of a unit are whole numbers."""
    return unit in (_NS, _BYTES)
