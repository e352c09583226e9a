"""Reads by the intensity of random writes, and by their size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Figure, Run, along, percentile, plots

from ._drives import (
    PAGE_BYTES,
    WIDTH,
    blocks,
    drive,
    filled,
    filled_bytes,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

WRITES_PER_SECOND = (250, 500, 1000, 2000, 4000)
"""Rates of the sweep. At the highest one a channel copies for a fifth of the time."""

PAGES = (1, 2, 3, 4, 5, 6, 7)
"""Sizes of reads: pages of one stripe, up to all its data."""

_READS_PER_SECOND = 1000
_SIZED_PER_SECOND = 400
_SIZED_WRITES_PER_SECOND = 4000
_WARM_UP_SECONDS = 10
_STRIPE = f"{(WIDTH - 1) * PAGE_BYTES // 1024} KiB"

_WAYS: dict[str, tuple[str, bool]] = {
    "alone": ("none", False),
    "turns": ("rotating", False),
    "step": ("none", True),
}
"""How planes of a stripe collect: by themselves, in turn, or in step.

The rotation, and True if all planes begin with the same free space.
"""


def _worn(level: str) -> dict[str, Any]:
    """Return a state in which every plane is at its threshold, so that no run needs to fill it."""
    return filled(level) | {"age": {"overwrites": 2.0}}


def _stream(name: str, rate: float, level: str, blocks: int, **more: Any) -> dict[str, Any]:
    """Return open-loop requests at random addresses of the filled space."""
    region = {"size": f"{filled_bytes(level, blocks)} B"}
    arrivals = {"process": "poisson", "rate": f"{rate:g} IOPS"}
    return {"name": name, "region": region, "arrivals": arrivals, **more}


def _length(reads: int, reads_per_second: float, per_second: float) -> dict[str, Any]:
    """Return the length of a run with so many reads after a warm-up."""
    seconds = reads / reads_per_second + _WARM_UP_SECONDS
    warm_up = {"time": f"{_WARM_UP_SECONDS} s"}
    return {"requests": round(seconds * per_second), "warm_up": warm_up}


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return a run for each rate of writes, and one of all sizes of reads for each way."""
    return [
        *(_of_rate(setting, rate) for rate in WRITES_PER_SECOND),
        *(_of_sizes(setting, name) for name in _WAYS),
    ]


def _of_rate(setting: Setting, rate: int) -> Run:
    """Return single-page reads beside so many random writes, under Base."""
    size = blocks(setting)
    reads = int(setting.pick(short=100_000, full=1_000_000))
    experiment = {
        "drive": drive("base", size),
        "precondition": _worn("base"),
        "workload": [
            _stream("reads", _READS_PER_SECOND, "base", size, reads="100 %"),
            _stream("writes", rate, "base", size, reads="0 %"),
        ],
        "run": _length(reads, _READS_PER_SECOND, _READS_PER_SECOND + rate),
        "record": {"collection": True},
    }
    return Run(f"motivation-writes-{rate}", experiment)


def _of_sizes(setting: Setting, name: str) -> Run:
    """Return reads of all sizes beside random writes; they wait for planes that collect."""
    size = blocks(setting)
    rotation, in_step = _WAYS[name]
    sized = [
        _stream(f"pages-{pages}", _SIZED_PER_SECOND, "pb", size, reads="100 %", **_whole(pages))
        for pages in PAGES
    ]
    writes = _stream("writes", _SIZED_WRITES_PER_SECOND, "pb", size, reads="0 %")
    reads = int(setting.pick(short=60_000, full=400_000))
    per_second = _SIZED_PER_SECOND * len(PAGES) + _SIZED_WRITES_PER_SECOND
    experiment = {
        "drive": drive("pb", size, scheduler={"rotation": rotation}),
        "precondition": _worn("pb") | {"in_step": in_step},
        "workload": [*sized, writes],
        "run": _length(reads, _SIZED_PER_SECOND, per_second),
        "record": {"collection": True},
    }
    return Run(f"motivation-sizes-{name}", experiment)


def _whole(pages: int) -> dict[str, Any]:
    """Return size and alignment of reads of so many pages from the beginning of a stripe."""
    return {"size": f"{pages * PAGE_BYTES // 1024} KiB", "align": _STRIPE}


def _tails(runs: Outcomes) -> Figure:
    return along(
        percentile(runs[f"motivation-writes-{rate}"].result.read, 99.9)
        for rate in WRITES_PER_SECOND
    )


def _met(runs: Outcomes, name: str) -> Figure:
    """Return the share of reads that meet collection, by their pages."""
    of_name = {
        initiator["name"]: initiator["read"]
        for initiator in runs[f"motivation-sizes-{name}"].result.summary["initiators"]
    }
    reads = [of_name[f"pages-{pages}"] for pages in PAGES]
    values = tuple(each["met"] / each["requests"] for each in reads)
    return Figure(values, min(each["requests"] for each in reads))


def _held(runs: Outcomes, name: str) -> float:
    """Return the share of time for which a plane collects, in the mean."""
    summary = runs[f"motivation-sizes-{name}"].result.summary
    return float(summary["collection"]["held"]["mean"])


def _expected(runs: Outcomes) -> dict[str, tuple[float, ...]]:
    alone, turns, step = (_held(runs, name) for name in _WAYS)
    return {
        "alone": tuple(1 - (1 - alone) ** pages for pages in PAGES),
        "turns": tuple(pages * turns for pages in PAGES),
        "step": tuple(pages * step for pages in PAGES),
    }


@exhibit.measures("T-11")
def more(runs: Outcomes) -> Answer:
    """Return tails by the rate of writes, and reads that meet collection by their size."""
    tails, expected = _tails(runs), _expected(runs)
    figures: dict[str, Any] = {"read_p99_9_ns": tails}
    told = []
    for name, formula in (("alone", "1 - (1 - p)^n"), ("turns", "n p")):
        met = _met(runs, name)
        figures |= {f"{name}_met_share": met, f"{name}_expected_share": expected[name]}
        last = Figure(float(met.numbers[-1])).text("share")
        told.append(
            f"{name}: p {Figure(_held(runs, name)).text('share')}, {PAGES[-1]} pages {last}, "
            f"{formula} {Figure(expected[name][-1]).text('share')}"
        )
    step = _met(runs, "step")
    # Both bounds of one page are p, so that only chance decides.
    figures |= {
        "step_met_share": Figure(tuple(float(n) for n in step.numbers[1:]), step.samples),
        "step_least_share": _held(runs, "step"),
        "step_most_share": expected["step"][1:],
    }
    told.append(f"in step: {PAGES[-1]} pages {Figure(float(step.numbers[-1])).text('share')}")
    return Answer(f"p99.9 {tails.text('ns')}; met, planes collect {'; '.join(told)}", figures)


_LOOKS = plots.Looks(
    "measured", "without rotation", "n p", "with rotation", "1 - (1 - p)^n", "begun in step"
)


@exhibit.draws("by-writes")
def by_writes(runs: Outcomes) -> Picture:
    """Draw the tail of reads by the rate of random writes."""
    points = [
        (float(r), float(n)) for r, n in zip(WRITES_PER_SECOND, _tails(runs).numbers, strict=True)
    ]
    panels = {"99.9th percentile of reads, Base": {"measured": points}}
    units = dict.fromkeys(panels, "ns")
    return plots.lines(panels, _LOOKS, x_label="4 KiB writes a second", units=units)


@exhibit.draws("by-size")
def by_size(runs: Outcomes) -> Picture:
    """Draw the share of reads that meet collection by their size, beside both formulas."""
    expected = _expected(runs)
    lines = {
        "without rotation": [float(n) for n in _met(runs, "alone").numbers],
        "1 - (1 - p)^n": list(expected["alone"]),
        "with rotation": [float(n) for n in _met(runs, "turns").numbers],
        "n p": list(expected["turns"]),
        "begun in step": [float(n) for n in _met(runs, "step").numbers],
    }
    points = {
        name: [(float(n), share) for n, share in zip(PAGES, of, strict=True)]
        for name, of in lines.items()
    }
    title = "reads that meet collection"
    return plots.lines(
        {title: points}, _LOOKS, x_label="pages of a read", units={title: "share"}, log_x=False
    )
