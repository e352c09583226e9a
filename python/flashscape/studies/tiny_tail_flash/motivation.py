"""Reads by the intensity of random writes, and by their size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Figure, Run, along, percentile, plots
from flashscape.studies.tiny_tail_flash._drives import (
    PAGE_BYTES,
    WIDTH,
    blocks,
    drive,
    filled_bytes,
    precondition,
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
_SIZED_WRITES_PER_SECOND = 1500
_STRIPE = f"{(WIDTH - 1) * PAGE_BYTES // 1024} KiB"

_ROTATIONS = {"alone": "none", "turns": "rotating"}
"""How planes of a stripe collect: by themselves, or in turn."""


def _worn(level: str) -> dict[str, Any]:
    """Return a state in which every plane is at its threshold, so that no run needs to fill it."""
    return precondition(level) | {"age": {"overwrites": 2.0}}


def _stream(name: str, rate: float, level: str, blocks: int, **more: Any) -> dict[str, Any]:
    """Return open-loop requests at random addresses of the filled space."""
    region = {"size": f"{filled_bytes(level, blocks)} B"}
    arrivals = {"process": "poisson", "rate": f"{rate:g} IOPS"}
    return {"name": name, "region": region, "arrivals": arrivals, **more}


def _experiment(
    setting: Setting, level: str, streams: list[dict[str, Any]], reads: int, **scheduler: Any
) -> dict[str, Any]:
    per_second = sum(float(each["arrivals"]["rate"].split()[0]) for each in streams)
    of_reads = sum(
        float(s["arrivals"]["rate"].split()[0]) for s in streams if s["reads"] == "100 %"
    )
    warm_up = 10.0
    requests = reads * per_second / of_reads + warm_up * per_second
    return {
        "drive": drive(level, blocks(setting), scheduler=scheduler),
        "precondition": _worn(level),
        "workload": streams,
        "run": {"requests": round(requests), "warm_up": {"time": f"{warm_up:g} s"}},
        "record": {"collection": True},
    }


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return a run for each rate of writes, and one of all sizes of reads for each rotation."""
    reads = int(setting.pick(short=100_000, full=1_000_000))
    size = blocks(setting)
    made = []
    for rate in WRITES_PER_SECOND:
        streams = [
            _stream("reads", _READS_PER_SECOND, "base", size, reads="100 %"),
            _stream("writes", rate, "base", size, reads="0 %"),
        ]
        experiment = _experiment(setting, "base", streams, reads)
        made.append(Run(f"motivation-writes-{rate}", experiment))
    for name, rotation in _ROTATIONS.items():
        sized = [
            _stream(
                f"pages-{pages}",
                _SIZED_PER_SECOND,
                "pb",
                size,
                reads="100 %",
                size=f"{pages * PAGE_BYTES // 1024} KiB",
                align=_STRIPE,
            )
            for pages in PAGES
        ]
        writes = _stream("writes", _SIZED_WRITES_PER_SECOND, "pb", size, reads="0 %")
        each = int(setting.pick(short=60_000, full=400_000))
        experiment = _experiment(
            setting, "pb", [*sized, writes], each * len(PAGES), rotation=rotation
        )
        made.append(Run(f"motivation-sizes-{name}", experiment))
    return made


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
    alone, turns = _held(runs, "alone"), _held(runs, "turns")
    return {
        "alone": tuple(1 - (1 - alone) ** pages for pages in PAGES),
        "turns": tuple(pages * turns for pages in PAGES),
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
    return Answer(f"p99.9 {tails.text('ns')}; met, planes collect {'; '.join(told)}", figures)


_LOOKS = plots.Looks("measured", "without rotation", "n p", "with rotation", "1 - (1 - p)^n")


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
    }
    points = {
        name: [(float(n), share) for n, share in zip(PAGES, of, strict=True)]
        for name, of in lines.items()
    }
    title = "reads that meet collection"
    return plots.lines(
        {title: points}, _LOOKS, x_label="pages of a read", units={title: "share"}, log_x=False
    )
