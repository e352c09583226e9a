"""Bandwidth of one namespace: striped over all channels, or in one set of as many channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Run, plots

from . import _drives
from ._cases import length
from ._loads import closed
from ._reads import total

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

_ALL = tuple(range(1, _drives.CHANNELS + 1))

_LATE: dict[str, Any] = {
    "ftl": {"gc": {"background": "1 block", "foreground": "1 block", "stop": "1 block"}}
}
"""The latest collection that there is: a die then keeps about as much free as bands do."""

LAYOUTS: dict[str, tuple[str, dict[str, Any], tuple[int | None, ...]]] = {
    "bands": ("no sets: bands", _drives.bands(), (None,)),
    "pool": ("no sets: dies in turn", _drives.drive(), (None,)),
    "one": ("one set", _drives.sets(), (1,)),
    "all": ("all sets, each its own load", _drives.sets(), _ALL),
    "late": ("all sets, collection begins late", _drives.sets(_LATE), _ALL),
}
"""Name, drive and written or read sets of each layout."""

LOADS: dict[str, tuple[str, str, str, int]] = {
    "sequential-writes": ("sequential writes", "writes", "128 KiB", 64),
    "random-writes": ("random writes", "writes", "4 KiB", 512),
    "sequential-reads": ("sequential reads", "reads", "128 KiB", 64),
    "random-reads": ("random reads", "reads", "4 KiB", 512),
}
"""Name, kind, size and requests at a time of each load."""

BEFORE_S = dict.fromkeys(LOADS, 0.5) | {"random-writes": 8.0}
"""Seconds before counting: a drive that is written at random needs some cycles of collection until
it is steady."""

_DIES = _drives.CHANNELS * _drives.DIES

LOOKS = plots.Looks(*(title for title, *_ in LAYOUTS.values()))


@exhibit.runs
def runs(setting: Setting) -> Iterator[Run]:
    """Return each load in each layout; sequential ones on drives that were written in order."""
    factor = float(setting.pick(short=1, full=8))
    for layout, (title, drive, sets) in LAYOUTS.items():
        for load, (what, kind, size, depth) in LOADS.items():
            loops = closed(kind, depth, sets)
            is_random = load.startswith("random")
            addresses = {"pattern": "uniform" if is_random else "sequential"}
            before, counted = BEFORE_S[load], 3.0 if load == "random-writes" else 0.5
            yield Run(
                _name(layout, load),
                tables=("latency", "series"),
                experiment={
                    "title": f"{title}: {what}",
                    "drive": drive,
                    "precondition": _drives.AGED if is_random else {"fill": "sequential"},
                    "workload": [each | {"size": size, "addresses": addresses} for each in loops],
                    "run": length(before, counted * factor),
                },
            )


def _name(layout: str, load: str) -> str:
    return f"bandwidth-{layout}-{load}"


def rate(runs: Outcomes, layout: str, load: str) -> float:
    """Return bytes a second."""
    result = runs[_name(layout, load)].result
    kind = "write" if LOADS[load][1] == "writes" else "read"
    size = 131_072 if LOADS[load][2] == "128 KiB" else 4_096
    return total(result, kind) * size


def free_share(runs: Outcomes, layout: str, load: str) -> float:
    """Return the mean free blocks while counting, over all blocks."""
    import polars as pl

    series = runs[_name(layout, load)].result.series
    counted = series.filter(pl.col("begin_ns") >= BEFORE_S[load] * 1e9)["free_blocks"]
    blocks = _drives.BLOCKS if layout == "bands" else _drives.BLOCKS * _DIES
    return float(counted.mean()) / blocks  # type: ignore[arg-type]


@exhibit.measures("N-10")
def cost(runs: Outcomes) -> Answer:
    """Return the bandwidth of a namespace of one set over that of one over all channels."""
    told = []
    for load, (what, *_) in LOADS.items():
        striped, one, together = (rate(runs, layout, load) for layout in ("bands", "one", "all"))
        told.append(f"{what} 1/{striped / one:.1f}, all sets together {together / striped:.2f}")
    programmed = "; ".join(_told_of_writes(runs, layout) for layout in ("bands", "all", "late"))
    return Answer(f"one set over bands: {'; '.join(told)}; random writes: {programmed}")


def _told_of_writes(runs: Outcomes, layout: str) -> str:
    """Tell what random writes program, and how much space is free meanwhile."""
    found = figures(runs, layout, "random-writes")
    amplification, free = found["programmed_for_each_write"], found["free_blocks_share"]
    share = found["over_bands"]
    return f"{found['layout']} {share:.2f}, amplification {amplification:.2f}, {free:.1%} free"


def figures(runs: Outcomes, layout: str, load: str) -> dict[str, Any]:
    """Return bytes a second of a load in a layout, programs for each write and free blocks."""
    bytes_of = rate(runs, layout, load)
    amplification = runs[_name(layout, load)].result.summary["write_amplification"]["total"]
    writes = LOADS[load][1] == "writes"
    return {
        "load": LOADS[load][0],
        "layout": LAYOUTS[layout][0],
        "bytes_per_second": bytes_of,
        "over_bands": bytes_of / rate(runs, "bands", load),
        "programmed_for_each_write": amplification if writes else None,
        "programmed_bytes_per_second": bytes_of * amplification if writes else None,
        "free_blocks_share": free_share(runs, layout, load),
    }


@exhibit.tabulates("bandwidth")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each load in each layout."""
    import polars as pl

    return pl.DataFrame(
        [figures(runs, layout, load) for load in LOADS for layout in LAYOUTS],
        infer_schema_length=None,
    )


@exhibit.draws("bandwidth")
def drawn(runs: Outcomes) -> Picture:
    """Draw bytes a second of each load in each layout, over those of bands."""
    groups = {
        what: {
            title: rate(runs, layout, load) / rate(runs, "bands", load)
            for layout, (title, *_) in LAYOUTS.items()
        }
        for load, (what, *_) in LOADS.items()
    }
    return plots.bars(groups, LOOKS, unit="share", label="bandwidth over that of bands")
