"""Power cuts of a run, and the cost of recovering from them, as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.measured import Measured

PARTS = {
    "checkpoint_ns": ("checkpoint", "for reading the checkpoint"),
    "scan_ns": ("scan", "for reading metadata"),
    "saved_ns": ("saved data", "for reading what a capacitor had saved"),
    "erase_ns": ("erases", "for erases"),
}
"""Name of each part of recovery, and its phrase in a sentence, by key."""


def of_run(result: Measured) -> list[dict[str, Any]]:
    """Return the power cuts of a run, in order; none without ``drive.recovery``."""
    return [] if result.recovery is None else list(result.recovery["cuts"])


def part_ns(cut: dict[str, Any], key: str) -> int:
    """Return the time of a part of a recovery; 0 for an interrupted one, which lacks parts."""
    return 0 if cut["interrupted"] else int(cut[key])


def audited(result: Measured) -> str | None:
    """Return the audit's statement on power cuts; None without one, as a fault ends the run."""
    if not of_run(result) or not result.summary["config"]["run"].get("audit", False):
        return None
    return "nothing lost that the drive had to keep"


def lost_requests(result: Measured) -> int:
    """Return the number of requests that were outstanding when the power was cut, in all."""
    return sum(cut["lost_requests"] for cut in of_run(result))


def sentences(*results: Measured) -> list[str]:
    """Return sentences about the cuts of runs of one drive together; none without a power cut."""
    cuts = [cut for result in results for cut in of_run(result)]
    if not cuts:
        return []
    told = f"{_when(cuts)}{_parts(cuts)}."
    if lost := sum(map(lost_requests, results)):
        those = units.many(lost, "request")
        told += f" {those} under way got no answer; latencies and rates do not include them."
    found = [
        # Data that was saved stays saved if the recovery begins anew.
        (
            sum(cut["saved_units"] for cut in cuts if not cut["interrupted"]),
            "mapping unit",
            "saved by a capacitor",
        ),
        (sum(cut["half_programmed"] for cut in cuts), "program", "half programmed"),
        (sum(cut["half_erased"] for cut in cuts), "erase", "half erased"),
    ]
    if parts := [f"{units.many(number, noun)} {words}" for number, noun, words in found if number]:
        told += f" Recovery found {', '.join(parts)}."
    if _is_volatile(results[0]):
        told += " The write buffer is volatile: acknowledged writes that were only in it are lost."
    proofs = {audited(result) for result in results if of_run(result)}
    return [told, *(f"Audit: {proved}." for proved in proofs if proved is not None)]


def _is_volatile(result: Measured) -> bool:
    """Return True if a power cut loses acknowledged writes, whose number is not counted."""
    buffer = result.summary["config"]["drive"].get("buffer") or {}
    return bool(buffer.get("durability") == "volatile")


def _when(cuts: Sequence[dict[str, Any]]) -> str:
    times = [cut["duration_ns"] for cut in cuts]
    whole = units.duration(sum(times))
    if len(cuts) == 1:
        at = units.duration(cuts[0]["at_ns"])
        return f"The power was cut at {at}, and the drive served commands again {whole} later"
    mean, most = units.duration(sum(times) / len(times)), units.duration(max(times))
    told = (
        f"The power was cut {units.times(len(cuts))}, and recovery took {mean} in the mean, {most} "
        f"at most and {whole} in all"
    )
    if broken := sum(cut["interrupted"] for cut in cuts):
        told += f" ({units.times(broken)} the next cut came before it was over)"
    return told


def _parts(cuts: Sequence[dict[str, Any]]) -> str:
    whole = [cut for cut in cuts if not cut["interrupted"]]
    sums = {key: sum(part_ns(cut, key) for cut in whole) for key in PARTS}
    told = [f"{units.duration(ns)} {PARTS[key][1]}" for key, ns in sums.items() if ns]
    of = " of those that came to their end" if len(whole) < len(cuts) else ""
    return f"{of}: {', '.join(told)}" if told else ""
