"""One drive for three techniques: the preset ``fast19``, changed where the techniques need it.

Chosen, where no paper decides:

- **Erases** have the five steps of the paper of erase suspension, whose sum is the 5 ms of the
  preset.
- **Spare space** is half of what is exported. With the 28 % of the preset, parity of all data
  leaves 12 %, and write amplification hides everything else.
- **The buffer** keeps 32 MiB and is flushed from 60 % on, so that stripes and pages fill: with
  the eager buffer of the preset, updates of stripes program pages that are mostly padding.
- **Re-reads** end after three, as in the second half of the paper of reliability. Without an
  end no data would ever be lost, and there would be nothing to compare.
- **Reconstruction** is parity over logical stripes of eight dies, and reads that go round
  collection where that gains time. Its collections do not take turns, because scrubbing as a
  task of its own does not, either.
- **Holistic management** has parity for moved data in rows of all 16 dies, gives protected data
  up after one re-read, and scrubs where re-reads outnumber the pages to move. Beside
  reconstruction all data has parity already, so its selective parity is left out.
- **The load** is that of the paper of reliability at five times its rate, so that erases matter
  at p99.99.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from flashscape.studies.tables import merged

if TYPE_CHECKING:
    from flashscape.reproduce import Setting

AGES = {"young": 1_000, "middle-aged": 3_000, "old": 5_000}
"""Cycles of 72-layer TLC: the wear states of the paper of reliability."""

TECHNIQUES = {"s": "erase suspension", "r": "reconstruction", "h": "HRM"}
"""Techniques by letter."""

SCHEMES: dict[str, str] = {"none": "re-reads alone"} | {
    "".join(chosen): " + ".join(TECHNIQUES[each] for each in chosen)
    for count in (1, 2, 3)
    for chosen in combinations(TECHNIQUES, count)
}
"""Schemes by the letters of their techniques, and their names in plots."""

DIES = 16
WIDTH = 8
PER_SECOND = 10_000

_SPARE = 1.5
"""Physical over exported capacity."""

_BLOCK_ROW_BYTES = DIES * 2 * 512 * 16 * 1024
"""Bytes of a block of each plane."""


def blocks(setting: Setting) -> int:
    """Return the blocks of a plane."""
    return int(setting.pick(short=96, full=384))


def exported_bytes(setting: Setting) -> int:
    """Return the bytes that hosts see."""
    return int(blocks(setting) * _BLOCK_ROW_BYTES / _SPARE)


def seconds(setting: Setting) -> int:
    """Return the length of a run: a block is read as often in both profiles."""
    return int(setting.pick(short=60, full=240))


def _base(setting: Setting, cycles: int) -> dict[str, Any]:
    return {
        "preset": "fast19",
        "geometry": {"blocks_per_plane": blocks(setting)},
        "nand": {
            "erase": {
                "steps": 5,
                "ramp": "100 us",
                "execute": "700 us",
                "recover": "100 us",
                "verify": "100 us",
            },
            "errors": {
                "chip": "tlc-72-layer",
                "codeword": "512 B",
                "corrects": 75,
                "re_read_scale": 2,
                "initial_cycles": cycles,
            },
        },
        "ftl": {
            "over_provisioning": {"exported": f"{exported_bytes(setting)} B"},
            "read_recovery": {"policy": "ladder", "re_reads": 3},
        },
        "buffer": {
            "size": "32 MiB",
            "flush": {"policy": "watermark", "high": "60 %", "low": "59 %"},
        },
    }


_SUSPENSION: dict[str, Any] = {"scheduler": {"suspension": "es"}}

_RECONSTRUCTION: dict[str, Any] = {
    "ftl": {"parity": {"width": WIDTH}, "allocation": {"pool": "die"}},
    "scheduler": {"read_routing": {"policy": "reconstruct", "convert": "profitable"}},
}

_MANAGEMENT: dict[str, Any] = {
    "ftl": {
        "scrub": {
            "interval": "10 ms",
            "choice": {"policy": "cost-benefit", "above": 1},
            "stream": "own",
            "task": "own",
            "window": 8,
        },
    }
}

CUT_OFFS = (1, 2, 3)
"""Re-reads until HRM gives protected data up; the paper names none. Schemes have the first."""

_UNPROTECTED = 3

_SELECTIVE: dict[str, Any] = {
    "ftl": {
        "superblock": {"dies": DIES, "width": {"collection": DIES}},
        "gc": {"window": 8},
    }
}


def drive(setting: Setting, cycles: int, scheme: str, cut_off: int = CUT_OFFS[0]) -> dict[str, Any]:
    """Return the drive of a scheme at some wear."""
    made = _base(setting, cycles)
    if "s" in scheme:
        made = merged(made, _SUSPENSION)
    if "r" in scheme:
        made = merged(made, _RECONSTRUCTION)
    if "h" in scheme:
        made = merged(made, _MANAGEMENT)
        made["ftl"]["read_recovery"] = {
            "policy": "conditional",
            "protected": cut_off,
            "unprotected": _UNPROTECTED,
        }
        if "r" not in scheme:
            made = merged(made, _SELECTIVE)
    return made
