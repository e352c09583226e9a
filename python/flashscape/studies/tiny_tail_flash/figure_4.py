"""Figure 4: planes that one collection shuts, as a diagram and as measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Run

from ._drives import (
    CHANNELS,
    PLANES,
    blocks,
    drive,
    filled,
    filled_bytes,
)
from ._runs import share

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

SHUT = {"controller": PLANES, "channel": PLANES // CHANNELS, "plane": 1}
"""Planes that a collection shuts while it copies, by what it blocks."""

_WRITES_PER_SECOND = 400
"""So few that planes of a channel hardly ever wait for each other's collections."""

_READS_PER_SECOND = 1000


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return single-page reads at random beside few random writes, for each kind of blocking."""
    reads = int(setting.pick(short=200_000, full=1_000_000))
    size = blocks(setting)
    region = {"size": f"{filled_bytes('base', size)} B"}
    streams = [
        {
            "name": name,
            "reads": share,
            "region": region,
            "arrivals": {"process": "poisson", "rate": f"{rate} IOPS"},
        }
        for name, share, rate in (
            ("reads", "100 %", _READS_PER_SECOND),
            ("writes", "0 %", _WRITES_PER_SECOND),
        )
    ]
    return [
        Run(
            f"figure-4-{blocking}",
            {
                # All channels at once are hardly ever quiet.
                "drive": drive(
                    "base",
                    size,
                    ftl={"gc": {"blocking": blocking, "background_begins": "any-time"}},
                ),
                "precondition": filled("base") | {"age": {"overwrites": 2.0}},
                "workload": streams,
                "run": {"requests": reads, "warm_up": {"requests": reads // 10}},
                "record": {"collection": True},
            },
        )
        for blocking in SHUT
    ]


def _measured(runs: Outcomes, blocking: str) -> float:
    """Return the reads that meet collection over the time for which a plane collects.

    It is a little below the number of planes, because the erase of a collection shuts its own only.
    """
    result = runs[f"figure-4-{blocking}"].result
    return share(result, "met") / float(result.summary["collection"]["held"]["mean"])


@exhibit.measures("T-13")
def shut(runs: Outcomes) -> Answer:
    """Return the planes that a collection shuts, as reads at random meet it."""
    told = (f"{blocking} {_measured(runs, blocking):.1f} of {PLANES}" for blocking in SHUT)
    return Answer(f"{', '.join(told)} planes, erases included, which shut one")


@exhibit.tabulates("planes")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the planes that a collection shuts."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "blocking": blocking,
                "planes": PLANES,
                "shut_while_copying": planes,
                "met_over_held": _measured(runs, blocking),
            }
            for blocking, planes in SHUT.items()
        ]
    )


_COLLECTS, _SHUT, _OPEN = "#D55E00", "#E9B48C", "#E8EEF2"


@exhibit.draws("planes")
def drawn(runs: Outcomes) -> Picture:
    """Draw the planes of the drive by channels, and those that one collection shuts."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    ways = PLANES // CHANNELS
    figure = Figure(figsize=(9.6, 3.7), layout="constrained")
    for axes, (blocking, planes) in zip(figure.subplots(1, len(SHUT)), SHUT.items(), strict=True):
        for channel in range(CHANNELS):
            for way in range(ways):
                is_shut = planes == PLANES or (planes > 1 and channel == 0)
                colour = _COLLECTS if channel == way == 0 else _SHUT if is_shut else _OPEN
                square = Rectangle(
                    (channel, -way), 0.86, 0.86, facecolor=colour, edgecolor="#888888"
                )
                axes.add_patch(square)
        axes.set(xlim=(-0.2, CHANNELS + 0.1), ylim=(-ways + 0.8, 1.2), aspect="equal")
        axes.set_xticks([at + 0.43 for at in range(CHANNELS)], [str(at) for at in range(CHANNELS)])
        axes.set_yticks([])
        axes.set_xlabel("channel")
        axes.set_title(f"blocks the {blocking}: {planes} of {PLANES}", fontsize=10)
        axes.spines[:].set_visible(False)
    title = "One collection copies (dark). Reads of the planes in colour wait."
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, color="#555555")
    return figure
