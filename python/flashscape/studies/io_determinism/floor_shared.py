"""Closed loops over all sets: each set is read and written, so that sets alone separate nothing.

The floor demo beside this has reads and writes in different sets. Here each loop has an equal share
in every set. What is left to help reads is the firmware of a set: its order, a limit of programs,
suspension. The depth of writes is one: from 4 on it makes no difference, because the drive's
buffer answers writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape.reproduce import Answer, Exhibit, Run, plots

from . import _drives
from ._loads import closed
from ._reads import PERCENT, completed, starved
from .floor_demo import (
    BASES,
    FASTEST,
    TABLES,
    Point,
    beside_writes,
    improved,
    without_sets,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result

exhibit = Exhibit()

READ_DEPTHS = (16, 256)
"""Reads at a time: at least one for each set."""

WRITE_DEPTH = 256

_ALL = tuple(range(1, _drives.CHANNELS + 1))
_FIRST = _drives.READS_FIRST


class Kind(NamedTuple):
    """A drive, the sets of its loops, and the programs that a set has outstanding at most."""

    title: str
    drive: dict[str, Any]
    sets: tuple[int | None, ...] = _ALL
    programs: int = _drives.DIES


def _limited(title: str, programs: int, *changes: dict[str, Any]) -> Kind:
    drive = _drives.sets(_FIRST, *changes, _drives.pressure(programs))
    return Kind(title, drive, programs=programs)


KINDS: dict[str, Kind] = {
    "pool": Kind("dies in turn, reads first in batches (preset)", _drives.drive(), (None,)),
    "pool-first-come": Kind("dies in turn, first come", _drives.drive(_drives.FIRST_COME), (None,)),
    "bands-reads-first": Kind("bands, reads first", _drives.bands(_FIRST), (None,)),
    "bands-suspends": Kind("bands, suspension", _drives.bands(_drives.SUSPENDS), (None,)),
    "first-come": Kind("sets, first come", _drives.sets(_drives.FIRST_COME)),
    "batches": Kind("sets, reads first in batches (preset)", _drives.sets()),
    "reads-first": Kind("sets, reads first", _drives.sets(_FIRST)),
    "2": _limited("sets, reads first, 2 programs", 2),
    "1": _limited("sets, reads first, 1 program", 1),
    "suspends": Kind("sets, reads first, suspension", _drives.sets(_FIRST, _drives.SUSPENDS)),
    "1-suspends": _limited("sets, 1 program, suspension", 1, _drives.SUSPENDS),
}
"""Firmware that is compared with bands without suspension. A set, too, takes its dies in turn: a
drive that does so and has no sets differs from sets by nothing else."""

_TABLE_ONLY = ("pool", "pool-first-come", "bands-reads-first")

LOOKS = plots.Looks(*(kind.title for name, kind in KINDS.items() if name not in _TABLE_ONLY))


@exhibit.runs
def runs(setting: Setting) -> Iterator[Run]:
    """Return each kind of firmware beside bands, at each depth of reads."""
    for depth in READ_DEPTHS:
        for base in BASES:
            yield without_sets(setting, base, _point(depth))
        for name, (title, drive, sets, programs) in KINDS.items():
            loops = closed("reads", depth, sets), closed("writes", WRITE_DEPTH, sets)
            fastest = FASTEST * programs / _drives.DIES
            experiment = beside_writes(setting, title, drive, loops, fastest)
            yield Run(_name(name, depth), experiment, tables=TABLES)


def _point(depth: int) -> Point:
    return Point(depth, WRITE_DEPTH)


def _name(kind: str, depth: int) -> str:
    return f"shared-{kind}-{depth}"


def _base(runs: Outcomes, base: str, depth: int) -> Result:
    return runs[f"floor-{base.replace('_', '-')}-{depth}-{WRITE_DEPTH}"].result


def rows(runs: Outcomes) -> list[dict[str, Any]]:
    """Return the rates and the tails of each kind, and its ratios over both kinds of bands."""
    made = []
    for depth in READ_DEPTHS:
        bases = {base: _base(runs, base, depth) for base in BASES}
        named = {BASES[base][0]: result for base, result in bases.items()}
        named |= {kind.title: runs[_name(name, depth)].result for name, kind in KINDS.items()}
        for title, result in named.items():
            ratios = {
                f"over_{base}_{name}": value
                for base, without in bases.items()
                for name, value in improved(without, result).items()
            }
            made.append({"read_depth": depth, "firmware": title} | _figures(result) | ratios)
    return made


def _figures(result: Result) -> dict[str, Any]:
    reads, writes = result.read, result.write
    return {
        "reads_per_second": completed(result, "read"),
        "writes_per_second": completed(result),
        "read_mean_ns": reads.mean,
        "read_p99_ns": reads.percentile(99),
        "read_p99_9_ns": reads.percentile(PERCENT),
        "write_mean_ns": writes.mean,
        "write_p99_9_ns": writes.percentile(PERCENT),
        "write_max_ns": writes.max,
        "starved": starved(result),
        "programmed_for_each_write": result.summary["write_amplification"]["total"],
    }


@exhibit.measures("N-15")
def shared(runs: Outcomes) -> Answer:
    """Return reads and writes of each kind over those of bands, by depth."""
    told: dict[str, list[str]] = {}
    for row in rows(runs):
        reads, fewer = row["over_bands_read_rate_times"], row["over_bands_fewer_writes_times"]
        text = f"{reads:.2f} and {1 / fewer:.2f}" if fewer else f"{reads:.2f} and none"
        late = f", {row['starved']:,} starve" if row["starved"] else ""
        told.setdefault(row["firmware"], []).append(text + late)
    listed = (f"{firmware}: {'; '.join(texts)}" for firmware, texts in told.items())
    depths = " and ".join(map(str, READ_DEPTHS))
    return Answer(
        f"reads and writes over bands, with {depths} reads at a time: {' | '.join(listed)}"
    )


@exhibit.tabulates("firmware")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return a row for each kind of firmware and depth of reads."""
    import polars as pl

    return pl.DataFrame(rows(runs), infer_schema_length=None)


_GAINS = {
    "read IOPS": "read_rate_times",
    "write IOPS": "fewer_writes_times",
    "mean read": "mean_times",
    "p99 of reads": "p99_times",
    "p99.9 of reads": "p99_9_times",
}


def _gains(runs: Outcomes, depth: int) -> Picture:
    """Draw what each kind gains over bands in batches; below 1 it loses."""
    at_depth = [row for row in rows(runs) if row["read_depth"] == depth]
    schemes = [row for row in at_depth if row["firmware"] in LOOKS.schemes]
    groups = {
        label: {row["firmware"]: _gain(row, name) for row in schemes}
        for label, name in _GAINS.items()
    }
    title = f"{depth} reads and {WRITE_DEPTH} writes at a time over all sets"
    if not all(row["over_bands_fewer_writes_times"] for row in schemes):
        title += ". Without a mark: no write completed"
    label = "times as good as bands in batches"
    return plots.bars(groups, LOOKS, label=label, title=title, log=True)


def _gain(row: dict[str, Any], name: str) -> float | None:
    value: float | None = row[f"over_bands_{name}"]
    return 1 / value if value and name == "fewer_writes_times" else value


@exhibit.draws("gains-of-16-reads")
def drawn(runs: Outcomes) -> Picture:
    """Draw the gains with a read in each set."""
    return _gains(runs, READ_DEPTHS[0])


@exhibit.draws("gains-of-256-reads")
def drawn_deep(runs: Outcomes) -> Picture:
    """Draw the gains with 16 reads in each set."""
    return _gains(runs, READ_DEPTHS[1])
