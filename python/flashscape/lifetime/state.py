"""A state of wear: one run, and its figures that a life follows from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from flashscape import steadiness
from flashscape.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping


SOURCES = ("host", "gc", "scrub", "summary", "parity", "rebuild", "padding")
"""Sources of programs, as keys of a summary's write amplification."""


@dataclass(frozen=True)
class WearState:
    """Figures of a run that begins with blocks of so many cycles."""

    cycles: int
    write_amplification: float
    """Bytes programmed for each byte that hosts wrote."""
    erased_for_each_programmed: float
    """Bytes erased for each byte programmed: near 1 if the run is steady."""
    bytes_per_second: float | None
    """Bytes that hosts wrote per second; None in an untimed run."""
    uber: float | None
    """UBER from the sum of the probabilities of all reads; None without bit errors or reads."""
    uber_counted: float | None
    """UBER from mapping units that hosts did not get."""
    lost_units: int | None
    """Those mapping units."""
    moved_units: int | None
    """Mapping units that GC and scrubbing lost when they moved them: in no UBER."""
    bits_read: int | None
    added_cycles: float
    """Erases of a block at the end, the mean: filling, ageing and the run."""
    erases_of_a_block: float
    """Erases of a block in counted time, the mean."""
    counted_ns: int
    is_steady: bool
    """True if write amplification is known to be steady."""
    good_bytes: int
    """Bytes of all blocks that are not bad."""
    digest: str
    programmed: dict[str, float] | None = None
    """Parts of the write amplification by source, without those that are 0; None in lives of
    earlier versions."""
    unsteady: str | None = None
    """Reason why write amplification is not known to be steady, with the remedy; None if it is, or
    if the run was untimed."""

    @classmethod
    def of(cls, cycles: int, summary: Mapping[str, Any], derived: Mapping[str, Any]) -> WearState:
        """Read the figures of a run; raise ConfigError if no life follows from them."""
        amplification, wear = summary["write_amplification"], summary["wear"]
        total, written = amplification["total"], amplification["host_bytes"]
        if not written or not total:
            raise ConfigError(
                f"lifetime: at {cycles:,} cycles the run programmed nothing for hosts, so no life "
                "in written bytes follows; add writes to the workload, or run longer"
            )
        if not wear["erases"]:
            raise ConfigError(
                f"lifetime: at {cycles:,} cycles the run erased no block, so its write "
                "amplification is not that of use; age the drive further (precondition.age), or "
                "run longer"
            )
        organisation = derived["organisation"]
        block, blocks = organisation["block_bytes"], organisation["bins"]
        blocks = blocks * organisation["blocks_per_bin"] - wear["bad_blocks"]
        uber = (summary.get("errors") or {}).get("uber") or {}
        seconds = summary["counted_ns"] / 1e9
        found = steadiness.unsteady(summary, "write_amplification")
        return cls(
            cycles=cycles,
            write_amplification=total,
            erased_for_each_programmed=wear["erases"] * block / (total * written),
            bytes_per_second=written / seconds if seconds else None,
            uber=uber.get("expected"),
            uber_counted=uber.get("counted"),
            lost_units=uber.get("units"),
            moved_units=uber.get("moved_units"),
            bits_read=uber.get("bits_read"),
            added_cycles=(wear["erase_count"] or {}).get("mean", 0.0),
            erases_of_a_block=wear["erases"] / max(blocks, 1),
            counted_ns=summary["counted_ns"],
            is_steady=bool(summary["steady_state"]["write_amplification"]["reached"]),
            unsteady=None if found is None else found.told,
            good_bytes=blocks * block,
            digest=summary["digest"],
            programmed={name: part for name in SOURCES if (part := amplification.get(name))},
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the figures under the keys that docs/lifetime.md describes."""
        return asdict(self)
