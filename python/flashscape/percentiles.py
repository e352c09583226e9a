"""Percentiles by name: parsing the user's choice, and their values in a run."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from flashscape.errors import ConfigError
from flashscape.latency import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.measured import Measured

USUAL = ("p50", "p99", "p99_9", "p99_99")
"""Percentiles that the tables of a run show if none are chosen."""

_PLACES = 7
"""Digits after the point of a percentage: the resolution of billionths."""


def chosen(given: str | Iterable[float | str]) -> dict[str, int]:
    """Parse percentiles such as ``50,99.9`` or ``(50, 99.9)``: names and billionths, rising.

    A name is that of a summary's key, such as ``p99_9``. Raises ConfigError.
    """
    parts = given.split(",") if isinstance(given, str) else list(given)
    if not parts or parts == [""]:
        raise ConfigError("percentiles: none is given; write such as 50,99,99.9")
    found = sorted(_percent(str(part)) for part in parts)
    return {_name(percent): int(percent * 10_000_000) for percent in found}


def billionths(name: str) -> int | None:
    """Return the share of a percentile named ``p99_9`` or ``p99.9``; None for another figure."""
    if name in PERCENTILES:
        return PERCENTILES[name]
    if not name.startswith("p") or not name[1:2].isdigit():
        return None
    try:
        return int(_percent(name[1:].replace("_", ".")) * 10_000_000)
    except ConfigError:
        return None


def beyond(share: int, samples: int) -> int:
    """Return the number of samples that rank at or above a percentile in billionths."""
    return samples - max(1, -(-share * samples // 1_000_000_000)) + 1


def of_group(
    result: Measured, group: tuple[str | None, str | None], figures: dict[str, Any], name: str
) -> tuple[int, int]:
    """Return a percentile of a group with requests, in ns, and the samples at or above it.

    A group is an initiator and a kind; None stands for all of them.
    Percentiles outside of the summary need the histogram: OutputError if it was not kept.
    """
    latency = figures["latency_ns"]
    share = billionths(name)
    assert share is not None, f"{name} is a percentile"
    if name in latency:
        return latency[name], latency["samples_beyond"][name]
    initiator, kind = group
    value = result.of_kind(kind, initiator).percentile(share / 10_000_000)
    assert value is not None, "the group has requests"
    return value, beyond(share, figures["requests"])


def _percent(text: str) -> Decimal:
    try:
        percent = Decimal(text.strip())
    except InvalidOperation:
        raise ConfigError(f"percentiles: {text!r} is not a number such as 99.9") from None
    if not percent.is_finite() or not 0 < percent < 100:
        raise ConfigError(f"percentiles: {text.strip()} is not between 0 and 100")
    if percent != round(percent, _PLACES):
        raise ConfigError(f"percentiles: {text.strip()}: at most {_PLACES} digits after the point")
    return percent


def _name(percent: Decimal) -> str:
    return f"p{percent.normalize():f}".replace(".", "_")
