"""Kinds of firmware of a set that is read and written: what reads wait behind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashscape.studies.io_determinism import _drives
from flashscape.studies.io_determinism._cases import CASES, SMALL

if TYPE_CHECKING:
    from flashscape.studies.io_determinism._cases import Case


def _same(title: str, *changes: dict[str, Any]) -> Case:
    """Return writes to the set that is read, with changes of the firmware."""
    return replace(CASES["same"], title=title, drive=_drives.sets(*changes), rates=SMALL)


_FIRST = _drives.READS_FIRST

FIRMWARE: dict[str, Case] = {
    "same-first-come": _same("first come", _drives.FIRST_COME),
    "same-batches": replace(CASES["same"], title="reads first, in batches (preset)"),
    "same-reads-first": _same("reads first", _FIRST),
    "same-suspends": _same("reads first, suspension", _FIRST, _drives.SUSPENDS),
}
"""Firmware by name."""
