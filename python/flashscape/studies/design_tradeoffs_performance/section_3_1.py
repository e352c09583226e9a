"""Section 3.1: pages a second of one package, and the time of a page copied between two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.catalogue import check
from flashscape.reproduce import Answer, Exhibit, Run

from ._drives import (
    INTERLEAVED,
    free_running,
    joined,
    units,
)
from ._loads import FRESH

if TYPE_CHECKING:
    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

_BUSES = {"paper": "42240 kB/s", "code": "40 MB/s"}
"""Transfer rates: a page of 4096 + 128 B crosses the bus in 100 us [table 1], or at 25 ns a byte in
105.6 us [the authors' code]."""

_BLOCKS = 64
"""Blocks of a plane: the measured figures do not depend on their number."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return reads of one package at depth 64, and copies between two packages."""
    requests = setting.pick(short=50_000, full=500_000)
    reads = {"name": "reads", "reads": "100 %", "queue_depth": 64}
    found = []
    for bus, rate in _BUSES.items():
        for degree in (1, 2):
            drive = _package(1, rate, INTERLEAVED[degree])
            found.append(
                Run(
                    f"reads-{bus}-{degree}",
                    {
                        "title": f"Reads of a package, {degree} at a time",
                        "drive": drive,
                        "precondition": FRESH,
                        "workload": [reads],
                        "run": {"requests": requests},
                    },
                )
            )
        found.extend(_copy(bus, rate, degree) for degree in (1, 2, 4))
    return found


def _package(channels: int, rate: str, unit: str) -> dict[str, Any]:
    return free_running(
        geometry={"channels": channels, "blocks_per_plane": _BLOCKS},
        nand={"channel": rate},
        # The figures are those of a package alone; summary pages are firmware.
        ftl={"summary_page": False},
        concurrency=units(unit),
    )


def _copy(bus: str, rate: str, degree: int) -> Run:
    """Return reads of one package and writes to another, eight pages of each outstanding.

    Half of the space is one stripe, so that each package has one. Pages go through the host; each
    crosses the bus of its package once. The run ends before cleaning begins.
    """
    drive = _package(2, rate, INTERLEAVED[degree])
    idle = {"name": "idle", "reads": "100 %", "stop": {"requests": 1}}
    exported = check({"drive": drive, "workload": [idle]})["capacity"]["exported_bytes"]
    half = f"{exported // 8192 * 4096} B"
    stream = {"addresses": {"pattern": "sequential"}, "queue_depth": 8}
    source = {"name": "source", "reads": "100 %", "region": {"size": half}}
    target = {"name": "target", "reads": "0 %", "region": {"size": half, "offset": half}}
    return Run(
        f"copy-{bus}-{degree}",
        {
            "title": f"A copy between two packages, {degree} operations of each at a time",
            "drive": joined(drive, {"ftl": {"allocation": {"stripe": half}}}),
            "precondition": FRESH,
            "workload": [source | stream, target | stream],
            "run": {"time": "250 ms"},
        },
    )


def _reads_per_second(runs: Outcomes, bus: str, degree: int) -> float:
    [host] = runs[f"reads-{bus}-{degree}"].result.summary["initiators"]
    return float(host["read"]["iops"])


def _copy_ns(runs: Outcomes, bus: str, degree: int) -> float:
    """Return the time of a page in the slower of the two streams."""
    source, target = runs[f"copy-{bus}-{degree}"].result.summary["initiators"]
    return 1e9 / min(float(source["read"]["iops"]), float(target["write"]["iops"]))


@exhibit.measures("A-1")
def reads(runs: Outcomes) -> Answer:
    """Return rates of serial and interleaved reads, with bus times of 100 and 105.6 us a page."""
    figures = {
        f"{way}_{bus}_requests_per_second": _reads_per_second(runs, bus, degree)
        for bus in _BUSES
        for way, degree in (("serial", 1), ("interleaved", 2))
    }
    one, other = (
        f"{figures[f'serial_{bus}_requests_per_second']:,.0f} and "
        f"{figures[f'interleaved_{bus}_requests_per_second']:,.0f} pages/s"
        for bus in _BUSES
    )
    return Answer(f"{one}; with 105.6 us a page on the bus {other}", figures)


@exhibit.measures("A-2")
def copies(runs: Outcomes) -> Answer:
    """Return copy times with two dies and two plane pairs of each package, and with fewer."""
    figures = {f"copy_{bus}_ns": _copy_ns(runs, bus, 4) for bus in _BUSES}
    fewer = ", ".join(
        f"{_copy_ns(runs, 'paper', degree) / 1e3:.1f} us with {degree}" for degree in (2, 1)
    )
    ours = (
        f"{figures['copy_paper_ns'] / 1e3:.1f} us a page with 4 programs of a package at a time "
        f"({figures['copy_code_ns'] / 1e3:.1f} with 105.6 us on the bus); {fewer}"
    )
    return Answer(ours, figures)
