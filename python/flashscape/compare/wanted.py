"""The figures that are compared, and those that the verdict counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from flashscape import percentiles
from flashscape.compare.words import COSTS, OF_WEAR
from flashscape.errors import ConfigError
from flashscape.latency import KINDS
from flashscape.near import near

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DRIVE = "drive"
"""Initiator in the name of a figure of the whole drive."""

FAR = ("p50", "p90", "p99", "p99_9", "p99_99", "p99_999", "p99_9999")
"""Percentiles that are compared if none are chosen."""

_PLAIN = ("mean", "iops")

_OF_HOST = re.compile(
    rf"(?P<initiator>.+)\.(?P<kind>{'|'.join(KINDS)}|write-zeroes)\.(?P<figure>.+)"
)


_OF_PART = re.compile(rf"(?:{DRIVE}|set)\.[0-9]+\.(?:{'|'.join(OF_WEAR)})")
"""Names of figures of a drive of an array, and of an NVM set."""


class Wanted(NamedTuple):
    """The figures to compare, and those that count."""

    shares: dict[str, int]
    """Percentiles by name, in billionths, rising."""
    are_chosen: bool = False
    """True if the user has named the percentiles."""
    counted: tuple[str, ...] = ()
    """Names of the figures that the verdict counts; empty for all of hosts."""

    def counts(self, initiator: str, kind: str, figure: str) -> bool:
        """Return True if the verdict may count a figure."""
        return not self.counted or name(initiator, kind, figure) in self.counted

    def asks(self, initiator: str, kind: str, figure: str) -> bool:
        """Return True if the user has named the figure, so that it is shown in any case."""
        return self.are_chosen or name(initiator, kind, figure) in self.counted


def default() -> Wanted:
    """Return the figures to compare if none are chosen."""
    return Wanted(_shares(FAR))


def of(
    chosen: str | Iterable[float | str] | None, figures: Sequence[str], groups: Groups
) -> Wanted:
    """Read the user's choice; raise ConfigError for unknown figures.

    A percentile that only ``figures`` name is also compared.
    """
    shares = _shares(FAR) if chosen is None else percentiles.chosen(chosen)
    counted = tuple(dict.fromkeys(_resolved(each, groups, shares) for each in figures))
    # If the initiator's name has a point, the last part is still the figure.
    more = [each.rpartition(".")[2] for each in counted]
    shares = {**shares, **_shares(each for each in more if percentiles.billionths(each))}
    rising = dict(sorted(shares.items(), key=lambda item: item[1]))
    return Wanted(rising, chosen is not None, counted)


def name(initiator: str, kind: str, figure: str) -> str:
    """Return the name of a figure, as ``--for`` takes it: ``host.read.p99_9``, ``drive.erases``.

    Parts of the drives are named ``drive.0.erases`` and ``set.1.erases``.
    """
    if initiator:
        return f"{initiator}.{kind}.{figure}"
    return f"{kind.replace(' ', '.') or DRIVE}.{figure}"


def is_of_drive(text: str) -> bool:
    """Return True for the name of a figure of the drive, or of a part of the drives."""
    drive, _, cost = text.partition(".")
    return (drive == DRIVE and cost in COSTS) or _OF_PART.fullmatch(text) is not None


class Groups(NamedTuple):
    """Initiators and kinds that may have figures, as far as known before the runs."""

    initiators: tuple[str, ...]
    kinds: tuple[str, ...] = KINDS
    are_prefixes: bool = False
    """True if devices of traces may add to the names."""

    def has(self, initiator: str) -> bool:
        """Return True if there is, or may be, such an initiator."""
        return initiator in self.initiators or (
            self.are_prefixes and any(initiator.startswith(f"{own}.") for own in self.initiators)
        )


def _resolved(text: str, groups: Groups, shares: dict[str, int]) -> str:
    """Return the stored name of a figure; ``p99.9`` means ``p99_9``."""
    if is_of_drive(text):
        return text
    if found := _OF_HOST.fullmatch(text):
        kind = found["kind"].replace("-", "_")
        figure = _figure(found["figure"])
        if figure is not None and groups.has(found["initiator"]) and kind in groups.kinds:
            return name(found["initiator"], kind, figure)
    raise ConfigError(_unknown(text, groups, shares))


def _figure(text: str) -> str | None:
    if text.lower() in _PLAIN:
        return text.lower()
    if percentiles.billionths(text) is None:
        return None
    (known,) = percentiles.chosen([text[1:].replace("_", ".")])
    return known


def _unknown(text: str, groups: Groups, shares: dict[str, int]) -> str:
    """Return a message with the valid names, and the most similar one."""
    figures = (*_PLAIN, *shares)
    pairs = [(who, kind) for who in groups.initiators for kind in groups.kinds]
    names = [name(*pair, figure) for pair in pairs for figure in figures]
    names += [name("", "", cost) for cost in COSTS]
    found = near(text, names)
    meant = f" (did you mean {found}?)" if found else ""
    return (
        f"{text}: there is no such figure{meant}; write INITIATOR.KIND.FIGURE, with "
        f"{_or(groups.initiators)}, {_or(groups.kinds)}, and {_or(figures)}; or "
        f"{_or([name('', '', cost) for cost in COSTS])}"
    )


def _or(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _shares(names: Iterable[str]) -> dict[str, int]:
    found = {each: percentiles.billionths(each) for each in names}
    return {each: share for each, share in found.items() if share is not None}
