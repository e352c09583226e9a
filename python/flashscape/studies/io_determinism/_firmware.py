"""Kinds of firmware of a set that is read and written: what reads wait behind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import _drives
from ._cases import CASES, SMALL

if TYPE_CHECKING:
    from ._cases import Case


def _same(title: str, *changes: dict[str, Any], programs: int | None = None) -> Case:
    """Return writes to the set that is read, with changes of the firmware.

    A set has four dies. With fewer outstanding programs it takes fewer writes.
    """
    limit = [] if programs is None else [_drives.pressure(programs)]
    share = (programs or _drives.DIES) / _drives.DIES
    rates = tuple(rate for rate in SMALL if rate <= SMALL[-1] * share)
    drive = _drives.sets(*changes, *limit)
    return replace(CASES["same"], title=title, drive=drive, rates=rates)


_FIRST = _drives.READS_FIRST

FIRMWARE: dict[str, Case] = {
    "same-first-come": _same("first come", _drives.FIRST_COME),
    "same-batches": replace(CASES["same"], title="reads first, in batches (preset)"),
    "same-reads-first": _same("reads first", _FIRST),
    "same-4": _same("reads first, a program for each die", _FIRST, programs=_drives.DIES),
    "same-3": _same("reads first, 3 programs", _FIRST, programs=3),
    "same-2": _same("reads first, 2 programs", _FIRST, programs=2),
    "same-1": _same("reads first, 1 program", _FIRST, programs=1),
    "same-suspends": _same("reads first, suspension", _FIRST, _drives.SUSPENDS),
    "same-1-suspends": _same("1 program, suspension", _FIRST, _drives.SUSPENDS, programs=1),
}
"""Firmware by name."""
