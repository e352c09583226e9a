"""Sets of about 1 TB: how many a drive of 16 TB has, and of how many dies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.experiment import Experiment
from flashscape.reproduce import Answer, Exhibit

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes

exhibit = Exhibit()

CHANNELS = 16

DIES = (8, 16, 32)
"""Dies of 512 Gb of a channel."""


def whole_drive(dies: int) -> dict[str, Any]:
    """Return a drive with all blocks of the preset, of which each channel is a set."""
    exported = 1_920_000_000_000 * CHANNELS * dies // 32
    return {
        "preset": "dc-tlc",
        "geometry": {"channels": CHANNELS, "dies_per_package": dies},
        "ftl": {
            # With 4 KiB a drive of 16 TB has more units than 32 bits number.
            "unit": "16 KiB",
            "over_provisioning": {"exported": f"{exported} B"},
            "sets": {"channels": CHANNELS},
        },
    }


def derived(dies: int) -> dict[str, Any]:
    """Return the number of sets of a drive and their exported bytes."""
    load = {"name": "none", "nvm_set": 1, "reads": "100 %", "stop": {"requests": 1}}
    found = Experiment.from_dict({"drive": whole_drive(dies), "workload": [load]}).derived
    exported = found["capacity"]["exported_bytes"]
    return {
        "dies_of_a_set": dies,
        "sets": CHANNELS,
        "exported_bytes": exported,
        "set_bytes": exported // CHANNELS,
    }


@exhibit.measures("N-8")
def sized(runs: Outcomes) -> Answer:
    """Return the bytes of a set by its dies."""
    told = []
    for dies in DIES:
        found = derived(dies)
        told.append(
            f"{found['sets']} sets of {found['set_bytes'] / 1e12:.2f} TB with {dies} dies of 512 Gb"
        )
    return Answer("; ".join(told))


@exhibit.tabulates("sets")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each number of dies."""
    import polars as pl

    return pl.DataFrame([derived(dies) for dies in DIES])
