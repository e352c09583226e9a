"""Bandwidth of one namespace: striped over all channels, or in one set of as many channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Run, plots
from flashscape.studies.io_determinism import _drives
from flashscape.studies.io_determinism._cases import length
from flashscape.studies.io_determinism._loads import closed

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

_ALL = tuple(range(1, _drives.CHANNELS + 1))

LAYOUTS: dict[str, tuple[str, dict[str, Any], tuple[int | None, ...]]] = {
    "bands": ("no sets: bands", _drives.bands(), (None,)),
    "pool": ("no sets: dies in turn", _drives.drive(), (None,)),
    "one": ("one set", _drives.sets(), (1,)),
    "all": ("all sets, each its own load", _drives.sets(), _ALL),
}
"""Name, drive and written or read sets of each layout."""

LOADS: dict[str, tuple[str, str, str, int]] = {
    "sequential-writes": ("sequential writes", "writes", "128 KiB", 64),
    "random-writes": ("random writes", "writes", "4 KiB", 512),
    "sequential-reads": ("sequential reads", "reads", "128 KiB", 64),
    "random-reads": ("random reads", "reads", "4 KiB", 512),
}
"""Name, kind, size and requests at a time of each load."""

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
            # A drive that is written at random needs some cycles of collection until it is steady.
            before, counted = (8.0, 3.0) if load == "random-writes" else (0.5, 0.5)
            yield Run(
                _name(layout, load),
                {
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
    summary = runs[_name(layout, load)].result.summary
    kind = "write" if LOADS[load][1] == "writes" else "read"
    size = 131_072 if LOADS[load][2] == "128 KiB" else 4_096
    return sum(float(each[kind]["iops"] or 0) for each in summary["initiators"]) * size


@exhibit.measures("N-10")
def cost(runs: Outcomes) -> Answer:
    """Return the bandwidth of a namespace of one set over that of one over all channels."""
    told = []
    for load, (what, *_) in LOADS.items():
        striped, one, together = (rate(runs, layout, load) for layout in ("bands", "one", "all"))
        told.append(f"{what} 1/{striped / one:.1f}, all sets together {together / striped:.2f}")
    return Answer(f"one set over bands: {'; '.join(told)}")


@exhibit.tabulates("bandwidth")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return bytes a second of each load in each layout."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "load": what,
                "layout": title,
                "bytes_per_second": rate(runs, layout, load),
                "over_bands": rate(runs, layout, load) / rate(runs, "bands", load),
            }
            for load, (what, *_) in LOADS.items()
            for layout, (title, *_) in LAYOUTS.items()
        ]
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
