"""Drives of the exhibits: the preset ``fast17`` on fewer blocks, and the levels of the paper.

The paper's drive has 4096 blocks a plane. Ours have fewer, so that a study fills and warms them
up in seconds: capacity, write buffer and footprints of workloads shrink alike. Channels, planes,
blocks, times and shares stay as they are, and so do the rates of requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import plots
from flashscape.studies.tables import merged

if TYPE_CHECKING:
    from flashscape.reproduce import Setting

CHANNELS = 8
PLANES = 64
PAGES_PER_BLOCK = 256
PAGE_BYTES = 4096
WIDTH = 8
"""Members of a stripe."""

PAPER_BLOCKS = 4096
"""Blocks of a plane of the paper's drive."""

_BUFFER_KIB = 128 * 1024
"""Write buffer of the preset, which has the paper's 64 MiB for data that waits."""

_RESERVED = 0.10

_AGED = {True: (33, 66.4), False: (33.25, 67.1)}
"""With parity and without: the percent of all pages that are valid after ageing, and as many stale;
and of the pages of a block that begins with stale ones, those (released configurations)."""

_WAITS: dict[str, Any] = {"read_routing": "wait", "rotation": "none"}
_FLUSH_WAITS: dict[str, Any] = {"parity": {"flush": "wait"}}
_SHUTS_CHANNEL: dict[str, Any] = {"gc": {"blocking": "channel", "at_once": "none"}}

_LEVELS: dict[str, tuple[str, dict[str, Any]]] = {
    "base": ("Base", {"ftl": {"parity": "none", **_SHUTS_CHANNEL}, "scheduler": _WAITS}),
    "base-rain": ("Base with RAIN", {"ftl": _FLUSH_WAITS | _SHUTS_CHANNEL, "scheduler": _WAITS}),
    "pb": ("+PB", {"ftl": _FLUSH_WAITS, "scheduler": _WAITS}),
    "gtr": ("+GTR", {"ftl": _FLUSH_WAITS, "scheduler": {"rotation": "none"}}),
    "rgc": ("+RGC", {"ftl": _FLUSH_WAITS}),
    "gtf": ("+GTF (ttFlash)", {}),
    "nogc": ("NoGC", {}),
    "nogc-plain": ("NoGC without RAIN", {"ftl": {"parity": "none"}, "scheduler": _WAITS}),
}
"""Levels by name: the name in plots, and tables that differ from the preset's."""

LEVELS = {level: title for level, (title, _) in _LEVELS.items()}
"""Names of the levels in plots."""

STEPS = ("base-rain", "pb", "gtr", "rgc", "gtf")
"""Levels that add one technique after the other, all with parity."""

FULL = STEPS[-1]
"""Level with all techniques: ttFlash."""

LOOKS = plots.Looks(*LEVELS.values())


def blocks(setting: Setting) -> int:
    """Return the blocks of a plane: a sixteenth of the paper's, or a quarter."""
    return int(setting.pick(short=PAPER_BLOCKS // 16, full=PAPER_BLOCKS // 4))


def has_parity(level: str) -> bool:
    """Return True if stripes of the level have parity."""
    return level not in ("base", "nogc-plain")


def drive(level: str, blocks: int, **changes: dict[str, Any]) -> dict[str, Any]:
    """Return the drive of a level with so many blocks a plane; changes are tables of the drive."""
    sizes = {
        "geometry": {"blocks_per_plane": blocks},
        "buffer": {"size": f"{_BUFFER_KIB * blocks // PAPER_BLOCKS} KiB"},
    }
    _, tables = _LEVELS[level]
    return {"preset": "fast17", **merged(merged(sizes, tables), changes)}


def filled(level: str) -> dict[str, Any]:
    """Return the fill before a run: a third of all pages are valid."""
    valid, _ = _AGED[has_parity(level)]
    return {"fill": "sequential", "share": f"{valid / (1 - _RESERVED):.2f} %"}


def precondition(level: str) -> dict[str, Any]:
    """Return the state before a run: a third of all pages valid, and unless NoGC a third stale.

    As in the released code, the first half of the blocks begins with stale pages.
    """
    if level.startswith("nogc"):
        return filled(level)
    stale, of_block = _AGED[has_parity(level)]
    return filled(level) | {"stale": {"share": f"{stale} %", "of_block": f"{of_block} %"}}


def filled_bytes(level: str, blocks: int) -> int:
    """Return the bytes that the host has on the drive before a run, whole stripes of 28 KiB."""
    valid, _ = _AGED[has_parity(level)]
    pages = PLANES * blocks * PAGES_PER_BLOCK * valid / 100
    data = pages * (WIDTH - 1) / WIDTH if has_parity(level) else pages
    return int(data) // (WIDTH - 1) * (WIDTH - 1) * PAGE_BYTES


def plane_pages(blocks: int) -> int:
    """Return the pages of a plane."""
    return blocks * PAGES_PER_BLOCK
