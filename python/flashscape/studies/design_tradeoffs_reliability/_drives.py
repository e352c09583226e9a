"""Drives of the exhibits: the preset ``fast19`` with a chip, its wear and recovery from errors.

The short profile divides capacity and time by the same factor, at the same rate of requests: load
and reads of a block stay as they are. Open blocks do not become fewer, so each plane has as many
blocks more, which leaves the spare space that GC can use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashscape.reproduce import plots

if TYPE_CHECKING:
    from flashscape.reproduce import Setting

BLOCKS = 1024
"""Blocks of a plane of the paper's drive."""

SHORTER = 16
"""Factor of the short profile."""

SECONDS = 3600
"""Length of the paper's runs."""

EXPORTED_GIB = 200
PHYSICAL_GIB = 256

_OPEN = 2
"""Blocks of a plane that are open: for hosts' data, and for moved data."""

_SCRUBBED = 2
"""Blocks of a plane that scrubbing holds: an open one, and the one whose data it moves."""


@dataclass(frozen=True)
class Chip:
    """A chip of the paper."""

    title: str
    name: str
    """Name of its constants."""
    cycles: tuple[int, ...]
    """Wear states, the least first."""
    strong: int
    """Bits that the code of the paper's section 4.4 corrects."""

    @property
    def weak(self) -> int:
        """Bits of a weak code: a third, as the paper's 25 of 75 bits for TLC."""
        return self.strong // 3

    @property
    def worn(self) -> int:
        """Cycles at the end of life."""
        return self.cycles[-1]


CHIPS = {
    "mlc-3x": Chip("3x-nm MLC", "mlc-3x-nm", (10_000, 30_000, 50_000), 4),
    "mlc-2y": Chip("2y-nm MLC", "mlc-2y-nm", (2_000, 5_000, 10_000), 10),
    "tlc": Chip("72-layer TLC", "tlc-72-layer", (1_000, 3_000, 5_000), 75),
}
"""Chips by name, in the order of the paper's figures."""

TLC = CHIPS["tlc"]

CODEWORD_BITS = 512 * 8

LOOKS = plots.Looks("no limit", "strong code", "weak code")

SCHEMES = {"re-read": "re-reads", "oracle": "oracle scrubbing", "hrm": "HRM"}
"""Schemes under traces, and their names in plots."""


def blocks(setting: Setting, *, scrubs: bool = False) -> int:
    """Return the blocks of a plane, whose drive may scrub beside GC."""
    held = _OPEN + (_SCRUBBED if scrubs else 0)
    return int(setting.pick(short=BLOCKS // SHORTER + held, full=BLOCKS))


def exported_bytes(setting: Setting) -> int:
    """Return the bytes that hosts see."""
    return int(EXPORTED_GIB * 1024**3 // setting.pick(short=SHORTER, full=1))


def seconds(setting: Setting) -> int:
    """Return the length of a run."""
    return int(setting.pick(short=SECONDS // SHORTER, full=SECONDS))


def errors(
    chip: Chip, cycles: int, corrects: int | None, *, one_check: bool = False, **more: Any
) -> dict[str, Any]:
    """Return ``nand.errors`` of a worn chip; without ``corrects`` the code has no limit.

    ``one_check`` has one check for 4 KiB in place of eight codewords; ``more`` are further keys.
    """
    table = {
        "chip": chip.name,
        "codeword": "512 B",
        "re_read_scale": 2,
        "initial_cycles": cycles,
        **({} if corrects is None else {"corrects": corrects}),
        **({"codewords_per_page": 4} if one_check else {}),
    }
    return table | more


def drive(
    setting: Setting, errors: dict[str, Any] | None = None, **ftl: dict[str, Any]
) -> dict[str, Any]:
    """Return a drive with such errors; ``ftl`` are tables of its FTL.

    A code with a limit has as many re-reads as it takes, unless ``ftl`` has another recovery.
    """
    made: dict[str, Any] = {
        "preset": "fast19",
        "geometry": {"blocks_per_plane": blocks(setting, scrubs="scrub" in ftl)},
    }
    space = {"over_provisioning": {"exported": f"{exported_bytes(setting)} B"}}
    if errors is not None:
        made["nand"] = {"errors": errors}
        if "corrects" in errors:
            ftl = {"read_recovery": ladder()} | ftl
    return made | {"ftl": space | ftl}


def precondition() -> dict[str, Any]:
    """Return the state before a run: full, and as much overwritten as the flash holds."""
    return {"fill": "random", "age": {"overwrites": PHYSICAL_GIB / EXPORTED_GIB}}


# What is done about errors.

DIES = 16


def ladder(re_reads: int | None = None) -> dict[str, Any]:
    """Return a recovery of so many re-reads; None: as many as it takes."""
    return {"policy": "ladder"} | ({} if re_reads is None else {"re_reads": re_reads})


def conditional() -> dict[str, Any]:
    """Return the recovery of holistic management: one re-read if there is parity, else any number.

    The paper does not say after how many re-reads protected data is computed: one, the fewest.
    """
    return {"policy": "conditional", "protected": 1}


TASKS = 8
"""Moves of a bin under way, with superblocks over all dies: a bin is the whole drive then, whose
firmware has so many tasks at a time."""


def stripes(data_pages: int | None, *streams: str) -> dict[str, Any]:
    """Return superblocks over all dies with stripes of so many data pages for these streams."""
    if data_pages is None:
        return {"dies": DIES}
    return {"dies": DIES, "width": dict.fromkeys(streams, data_pages + 1)}


def parity(data_pages: int | None, re_reads: int | None) -> dict[str, Any]:
    """Return tables of an FTL whose data all has parity, used after so many re-reads."""
    return {
        "superblock": stripes(data_pages, "host", "collection"),
        "read_recovery": ladder(re_reads),
        "gc": {"window": TASKS},
    }


def scrub(policy: dict[str, Any], window: int) -> dict[str, Any]:
    """Return scrubbing beside GC, which moves so many batches of a block at a time.

    Two limits are ours, because the paper gives none. The interval of polls limits nothing: each of
    at most 16 bins is polled every 160 ms, and a block that is moved takes longer. The rate is that
    of the exported space in an hour.
    """
    return {
        "interval": "10 ms",
        "choice": policy,
        "stream": "own",
        "task": "own",
        "window": window,
        "rate": f"{EXPORTED_GIB * 1024**3 // SECONDS} B/s",
    }


def oracle(threshold: float) -> dict[str, Any]:
    """Return tables of an FTL that moves data with more expected errors than this."""
    return {"scrub": scrub({"policy": "expected-errors", "above": threshold}, 1)}


def hrm() -> dict[str, Any]:
    """Return tables of an FTL with holistic management: parity of cold data, and the rest.

    The paper does not say which benefit is worth its cost: a re-read for each page to move.
    """
    return {
        "superblock": stripes(15, "collection"),
        "read_recovery": conditional(),
        "scrub": scrub({"policy": "cost-benefit", "above": 1}, TASKS),
        "gc": {"window": TASKS},
    }


def early(chip: Chip) -> float:
    """Return the errors at which an early scrubber moves data: 50 of the 75 that TLC's corrects."""
    return chip.strong * 50 / TLC.strong
