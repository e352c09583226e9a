"""Drives of the study: a slice of the preset ``fast19``, with techniques in either of two layouts.

Chosen, where no paper decides:

- **Size.** Eight dies of one plane, with few blocks, so that a run lasts longer than it takes to
  erase each block once. What a block sees between two erases does not depend on the size: hosts
  read 7 / 3 as often as they write, so an erase block of 2048 mapping units is read 7 / 3 * 2048 /
  WA times, if WA is the write amplification.
- **Layouts.** Reconstruction needs stripes of logical addresses, and so a pool for each die. The
  selective parity of HRM needs superblocks, and so one pool. So there are two layouts, each with a
  drive of re-reads alone, and a technique is compared with the drive of its own layout. All else is
  the same in all drives, the window of moves included.
- **Erases** have the five steps of the paper of erase suspension, whose sum is the 5 ms of the
  preset. Each pulse that is interrupted wears the block, as that paper cites.
- **Spare space** is half of what is exported. With the 28 % of the preset, parity of all data
  leaves 12 %, and write amplification hides everything else.
- **The buffer** is flushed from 60 % on, so that stripes and pages fill: with the eager buffer of
  the preset, updates of stripes program pages that are mostly padding.
- **Re-reads** have no limit, as in the baseline of the paper of reliability (its section 4.1) and
  as in HRM for data without parity. Only data that HRM gives up has a limit. Limited drives have
  at most three re-reads for all data, as in its section 4.2.
- **HRM** gives protected data up after ``cut_off`` re-reads; the paper names no number. It scrubs a
  block with more than ``above`` re-reads for each page of valid data; the paper names no number for
  this either. Nine is where scrubbing breaks even: to read, program and erase a page takes 609 us,
  and a re-read of 4 KiB 66 us.
- **Beside reconstruction** all data has parity already, so HRM has no selective parity there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashscape.studies.tables import merged

if TYPE_CHECKING:
    from flashscape.reproduce import Setting

AGES = {"young": 1_000, "middle-aged": 3_000, "old": 5_000}
"""Cycles of 72-layer TLC: the wear states of the paper of reliability."""

TECHNIQUES = {
    "s": "erase suspension",
    "d": "erase suspension between pulses",
    "r": "reconstruction",
    "c": "scrubbing",
    "h": "HRM",
}
"""Techniques by letter. The first interrupts pulses (ES of the paper), which wears blocks; the
second does not (D-ES). Scrubbing is that of HRM, without its other parts."""


@dataclass(frozen=True)
class Scheme:
    """Techniques in a layout."""

    techniques: str
    """Letters."""
    is_in_superblocks: bool = False

    @property
    def title(self) -> str:
        """Name in plots and tables."""
        names = " + ".join(TECHNIQUES[each] for each in self.techniques) or "re-reads alone"
        is_told = self.is_in_superblocks and "h" not in self.techniques
        return f"{names}, in superblocks" if is_told else names

    def is_part_of(self, other: Scheme) -> bool:
        """Return whether another scheme adds techniques to it, in the same layout."""
        return (
            self.is_in_superblocks == other.is_in_superblocks and self._contained < other._contained
        )

    @property
    def _contained(self) -> set[str]:
        return set(self.techniques) | ({"c"} if "h" in self.techniques else set())


SCHEMES = {
    "none": Scheme(""),
    "s": Scheme("s"),
    "d": Scheme("d"),
    "r": Scheme("r"),
    "sr": Scheme("sr"),
    "rc": Scheme("rc"),
    "src": Scheme("src"),
    "rh": Scheme("rh"),
    "srh": Scheme("srh"),
    "rows": Scheme("", is_in_superblocks=True),
    "rows-s": Scheme("s", is_in_superblocks=True),
    "h": Scheme("h", is_in_superblocks=True),
    "sh": Scheme("sh", is_in_superblocks=True),
}
"""Schemes by the letters of their techniques; ``rows`` are superblocks without parity."""

CUT_OFFS = (1, 2, 3)
"""Re-reads until HRM gives protected data up. Schemes have the last."""

ABOVE = {"early": 1, "at break-even": 9}
"""Re-reads for each page to move, from which on HRM scrubs a block. Schemes have the last."""

LIMIT = 3
"""Most re-reads of ``limited`` drives."""


@dataclass(frozen=True)
class Recovery:
    """Parameters of re-reads and scrubbing."""

    cut_off: int = CUT_OFFS[-1]
    above: int = ABOVE["at break-even"]
    is_limited: bool = False

    def at_most(self, key: str) -> dict[str, int]:
        """Return the key of a limit of re-reads, if there is a limit."""
        return {key: LIMIT} if self.is_limited else {}


USUAL = Recovery()

DIES = 8
PER_SECOND = 4_000
SPARE = 1.5
"""Physical over exported capacity, without blocks that are open or moved."""

_OPEN = 4
"""Blocks of a plane that are no spare space: open ones, and those that are moved."""

_BLOCK_ROW_BYTES = DIES * 512 * 16 * 1024
"""Bytes of a block of each plane."""

RISE_PER_1000 = 0.144
"""Rise of the error rate of a block by 1000 interrupted pulses, for sub-20 nm TLC (cited by the
paper of erase suspension)."""


def _data_blocks(setting: Setting) -> int:
    return int(setting.pick(short=24, full=56))


def blocks(setting: Setting) -> int:
    """Return the blocks of a plane."""
    return _data_blocks(setting) + _OPEN


def exported_bytes(setting: Setting) -> int:
    """Return the bytes that hosts see."""
    return int(_data_blocks(setting) * _BLOCK_ROW_BYTES / SPARE)


def seconds(setting: Setting) -> int:
    """Return the length of a run: as many writes of the whole drive in both profiles."""
    return int(setting.pick(short=264, full=616))


def seeds(setting: Setting) -> range:
    """Return the seeds of each scheme."""
    return range(1, 1 + setting.pick(short=3, full=5))


def drive(setting: Setting, cycles: int, scheme: Scheme, recovery: Recovery) -> dict[str, Any]:
    """Return the drive of a scheme at some wear."""
    made = merged(_base(setting, cycles, recovery), _layout(scheme))
    if "s" in scheme.techniques:
        made = merged(made, _SUSPENSION)
    if "d" in scheme.techniques:
        made = merged(made, {"scheduler": {"suspension": "d-es"}})
    if "r" in scheme.techniques:
        made = merged(made, _RECONSTRUCTION)
    if "h" in scheme.techniques or "c" in scheme.techniques:
        made = merged(made, {"ftl": {"scrub": _scrub(recovery)}})
    if "h" in scheme.techniques:
        conditional = {"policy": "conditional", "protected": recovery.cut_off}
        made["ftl"]["read_recovery"] = conditional | recovery.at_most("unprotected")
    return made


def _base(setting: Setting, cycles: int, recovery: Recovery) -> dict[str, Any]:
    return {
        "preset": "fast19",
        "geometry": {
            "channels": 4,
            "packages_per_channel": 2,
            "planes_per_die": 1,
            "blocks_per_plane": blocks(setting),
        },
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
            "block_planes": 1,
            "over_provisioning": {"exported": f"{exported_bytes(setting)} B"},
            "read_recovery": {"policy": "ladder"} | recovery.at_most("re_reads"),
            # As late as the preset, in blocks: its share of few blocks is less than one.
            "gc": {"background": "2 blocks", "stop": "2 blocks", "window": 8},
        },
        "buffer": {
            "size": "8 MiB",
            "flush": {"policy": "watermark", "high": "60 %", "low": "59 %"},
        },
    }


def _layout(scheme: Scheme) -> dict[str, Any]:
    if not scheme.is_in_superblocks:
        return {"ftl": {"allocation": {"pool": "die"}}}
    parity = {"width": {"collection": DIES}} if "h" in scheme.techniques else {}
    return {"ftl": {"superblock": {"dies": DIES} | parity, "allocation": {"pool": "drive"}}}


_SUSPENSION: dict[str, Any] = {
    "scheduler": {"suspension": "es"},
    "nand": {"error_rate_per_1000_suspensions": f"{RISE_PER_1000:.1%}"},
}

_RECONSTRUCTION: dict[str, Any] = {
    "ftl": {"parity": {"width": DIES}},
    "scheduler": {"read_routing": {"policy": "reconstruct", "convert": "profitable"}},
}


def _scrub(recovery: Recovery) -> dict[str, Any]:
    return {
        "interval": "10 ms",
        "choice": {"policy": "cost-benefit", "above": recovery.above},
        "stream": "own",
        "task": "own",
        "window": 8,
    }
