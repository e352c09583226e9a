"""Measure how far verdicts on steady state, and intervals of means, can be trusted.

Twelve stationary loads run with many seeds, for ten cycles of collection or more. With some seeds
they run ten times as long. The table says how many intervals of the short runs contain the means of
these long ones ("own": of the one with the same seed), how wide they are beside those of the long
runs times the root of ten, and how many runs are called steady. Six loads with a trend say how many
are called steady by mistake.

All drives state their garbage collection in full, so no preset changes them.

python scripts/steady_state.py                   # 100 seeds, ten of them long
python scripts/steady_state.py --long 100        # a long run for each seed
python scripts/steady_state.py --seeds 10 --only waves-closed --json out.json
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import flashscape as fs

TIMES = 10
"""Length of the long run, in short ones."""

WAVES = {
    "victim": "greedy",
    "background": "6 blocks",
    "foreground": "3 blocks",
    "stop": "7 blocks",
    "pacing": "proportional",
    "preemptible": True,
    "copy_back": False,
    "window": 1,
}
"""Collection that begins in all dies at nearly the same time."""

CONTINUOUS = WAVES | {"background": "8 blocks", "foreground": "2 blocks", "stop": "8 blocks"}
CONTINUOUS |= {"pacing": "host-rate"}
"""Collection at the rate of host writes."""

AGED = {"fill": "random", "age": {"overwrites": 3.0}, "in_step": True}


def drive(dies: int = 8, gc: dict[str, Any] = WAVES, **other: Any) -> dict[str, Any]:
    """Return a small drive: blocks of 1 MiB, four of whose dies share a channel."""
    geometry = {"channels": max(1, dies // 2), "dies_per_package": min(2, dies)}
    return {
        "preset": "dc-tlc",
        "geometry": geometry | {"blocks_per_plane": 128, "pages_per_block": 16},
        "ftl": {"over_provisioning": {"spare": "25 %"}, "gc": gc},
        **other,
    }


def host(**keys: Any) -> dict[str, Any]:
    """Return a workload of 4 KiB at uniform addresses, unless a trace brings its own."""
    own = {} if "trace" in keys else {"size": "4 KiB", "addresses": "uniform"}
    return {"name": "host", **own, **keys}


def poisson(rate: str) -> dict[str, Any]:
    """Return the arrivals of an open loop."""
    return {"process": "poisson", "rate": rate}


class Load(NamedTuple):
    """A load: an experiment, and the length of its warm-up and of the short run."""

    drive: dict[str, Any]
    workload: list[dict[str, Any]]
    warm_up_ms: int
    short_ms: int
    precondition: dict[str, Any] = AGED
    trace: str | None = None
    """Kind of a trace that is made for the run."""

    def experiment(self, seed: int, times: int, folder: Path) -> fs.Experiment:
        """Return the experiment of a seed, so many short runs long."""
        workload = self.workload
        if self.trace is not None:
            file = folder / f"{self.trace}-{seed}.csv"
            TRACES[self.trace](file, seed)
            rest = {"file": str(file), **workload[0]["trace"]}
            workload = [workload[0] | {"trace": rest}]
        end = self.warm_up_ms + times * self.short_ms
        return fs.Experiment.from_dict(
            {
                "seed": seed,
                "drive": self.drive,
                "precondition": self.precondition,
                "workload": workload,
                "run": {"time": f"{end} ms", "warm_up": {"time": f"{self.warm_up_ms} ms"}},
                "record": {"slowest": 0},
            }
        )


STATIONARY = {
    "waves-closed": Load(drive(), [host(reads="70 %", queue_depth=16)], 1_500, 1_650),
    "waves-one-by-one": Load(drive(), [host(reads="50 %", queue_depth=1)], 2_000, 4_900),
    "writes-closed": Load(drive(), [host(reads="0 %", queue_depth=8)], 2_500, 500),
    "writes-open": Load(drive(), [host(reads="0 %", arrivals=poisson("12 kIOPS"))], 1_500, 3_600),
    "waves-open": Load(drive(), [host(reads="80 %", arrivals=poisson("40 kIOPS"))], 2_500, 5_500),
    "two-dies": Load(drive(dies=2), [host(reads="70 %", queue_depth=4)], 1_500, 2_600),
    "not-paced": Load(
        drive(gc=WAVES | {"pacing": "none", "background": "8 blocks", "stop": "10 blocks"}),
        [host(reads="70 %", arrivals=poisson("20 kIOPS"))],
        6_000,
        11_000,
    ),
    "bursts": Load(
        drive(),
        [
            host(
                reads="50 %",
                arrivals=poisson("60 kIOPS"),
                bursts={"on": "20 ms", "off": "60 ms"},
            )
        ],
        4_000,
        6_000,
    ),
    "mixed-sizes": Load(
        drive(),
        [
            host(
                reads="60 %",
                queue_depth=8,
                size=[{"size": "4 KiB", "share": "80 %"}, {"size": "64 KiB", "share": "20 %"}],
            )
        ],
        8_000,
        2_000,
    ),
    "whole-collections": Load(
        drive(gc=WAVES | {"victim": "fifo", "preemptible": False, "pacing": "none"}),
        [host(reads="70 %", arrivals=poisson("15 kIOPS"))],
        5_000,
        9_800,
    ),
    "continuous": Load(drive(gc=CONTINUOUS), [host(reads="70 %", queue_depth=8)], 8_000, 1_700),
    "trace": Load(
        drive(),
        [host(trace={"mode": "open", "repeat": 145, "spread": "uniform"})],
        8_000,
        9_000,
        trace="busy-and-idle",
    ),
}

TREND = {
    "space-runs-out": Load(
        drive(),
        [host(reads="50 %", arrivals=poisson("20 kIOPS"))],
        100,
        5_700,
        {"fill": "sequential"},
    ),
    "buffer-overflows": Load(
        drive(buffer={"size": "32 MiB"}),
        [host(reads="0 %", arrivals=poisson("68 kIOPS"))],
        0,
        620,
    ),
    "still-settling": Load(
        drive(),
        [host(reads="50 %", queue_depth=8)],
        50,
        1_500,
        {"fill": "sequential", "age": {"overwrites": 1.0, "addresses": "sequential"}},
    ),
    "hot-set-narrows": Load(
        drive(),
        [host(queue_depth=16, trace={"mode": "closed"})],
        50,
        1_100,
        AGED | {"in_step": False},
        trace="narrowing",
    ),
    "overload": Load(drive(), [host(reads="70 %", arrivals=poisson("250 kIOPS"))], 50, 1_000),
    "sequential-rewrite": Load(
        drive(),
        [host(reads="0 %", addresses="sequential", size="64 KiB", queue_depth=4)],
        50,
        1_000,
    ),
}
TREND["hot-set-narrows"].drive["ftl"]["allocation"] = {"pool": "die", "stripe": "16 MiB"}

HEAD = "time_us,op,offset,length\n"
UNITS = 150_000
"""Mapping units that traces use."""


def busy_and_idle(file: Path, _: int) -> None:
    """Write a trace of 700 ms, the same for all seeds: a busy time and a quieter one."""
    draw, rows, now = random.Random(1), [], 0.0
    while now < 700_000:
        busy = now < 250_000
        now += draw.expovariate(1 / (25 if busy else 90))
        op = "W" if draw.random() < (0.6 if busy else 0.2) else "R"
        length = draw.choice((4_096, 4_096, 16_384))
        rows.append(f"{int(now)},{op},{4_096 * draw.randrange(UNITS - 4)},{length}\n")
    file.write_text(HEAD + "".join(rows))


def narrowing(file: Path, seed: int) -> None:
    """Write a trace whose hot set narrows to a fortieth of what it was, and so to few dies."""
    draw, count = random.Random(seed), 60_000
    width = (UNITS * 10 ** (-1.6 * at / count) for at in range(count))
    rows = (
        f"{5 * at},{'W' if draw.random() < 0.3 else 'R'},{4_096 * int(draw.random() * of)},4096\n"
        for at, of in enumerate(width)
    )
    file.write_text(HEAD + "".join(rows))


TRACES = {"busy-and-idle": busy_and_idle, "narrowing": narrowing}


class Run(NamedTuple):
    """Figures of a run."""

    means: dict[str, tuple[float, float | None]]
    """Mean and half-width by kind of request."""
    steady: dict[str, bool]
    reasons: dict[str, str | None]
    cycles: float | None


def measured(load: Load, seed: int, times: int) -> Run:
    """Run a load."""
    with tempfile.TemporaryDirectory() as folder:
        summary = fs.run(load.experiment(seed, times, Path(folder))).summary
    means = {
        kind: (figures["latency_ns"]["mean"], figures["latency_ns"].get("mean_ci95"))
        for of in summary["initiators"]
        for kind in ("read", "write")
        if (figures := of[kind])["requests"]
    }
    verdicts = summary["steady_state"]
    return Run(
        means,
        {figure: verdict["reached"] for figure, verdict in verdicts.items()},
        {figure: verdict["reason"] for figure, verdict in verdicts.items()},
        (summary["cycles"] or {}).get("count"),
    )


def share(hits: list[bool]) -> float:
    """Return the share that is true."""
    return sum(hits) / len(hits)


def row_of(name: str, kind: str, short: list[Run], long: list[Run]) -> dict[str, Any]:
    """Return the figures of a kind of request of a stationary load.

    The first seeds have a long run too.
    """
    estimates = [run.means[kind] for run in short]
    truths = [run.means[kind][0] for run in long]
    halves = [half for run in long if (half := run.means[kind][1]) is not None]
    wide = statistics.fmean(halves) * math.sqrt(TIMES)
    inside = [
        [half is not None and abs(mean - truth) <= half for truth in truths]
        for mean, half in estimates
    ]
    ratios = [half / wide if wide else 1.0 for _, half in estimates if half is not None]
    return {
        "load": name,
        "kind": kind,
        "seeds": [len(short), len(long)],
        "cycles": statistics.median(run.cycles or math.nan for run in short),
        "covered": share([hit for hits in inside for hit in hits]),
        "covered_own": share([hits[at] for at, hits in enumerate(inside[: len(long)])]),
        "half_width": statistics.median(
            (math.nan if half is None else half) / mean for mean, half in estimates
        ),
        "ratio": statistics.fmean(ratios) if ratios else math.nan,
        "steady": share([run.steady["latency"] for run in short]),
        "steady_long": share([run.steady["latency"] for run in long]),
        "steady_wa": share([run.steady["write_amplification"] for run in short]),
    }


def stationary(
    names: list[str], seeds: range, long_seeds: range, pool: ProcessPoolExecutor
) -> list[dict[str, Any]]:
    """Run the stationary loads, and print and return their rows."""
    print(
        f"{'stationary load':18} {'kind':5} {'cycles':>6} {'covered':>7} {'own':>6} {'±':>8} "
        f"{'width':>5} {'steady':>6} {'long':>6} {'WA':>6}"
    )
    rows = []
    for name in names:
        load = STATIONARY[name]
        long = pool.map(partial(measured, load, times=TIMES), long_seeds)
        short = list(pool.map(partial(measured, load, times=1), seeds))
        long = list(long)
        for kind in short[0].means:
            row = row_of(name, kind, short, long)
            rows.append(row)
            print(
                f"{name:18} {kind:5} {row['cycles']:6.1f} {row['covered']:7.1%} "
                f"{row['covered_own']:6.0%} {row['half_width']:8.3%} {row['ratio']:5.2f} "
                f"{row['steady']:6.0%} {row['steady_long']:6.0%} {row['steady_wa']:6.0%}",
                flush=True,
            )
    if rows:
        mean = {key: statistics.fmean(row[key] for row in rows) for key in ("covered", "ratio")}
        print(f"in all: {mean['covered']:.1%} covered, {mean['ratio']:.2f} times as wide as needed")
    return rows


def trends(names: list[str], seeds: range, pool: ProcessPoolExecutor) -> list[dict[str, Any]]:
    """Run the loads with a trend, and print and return their rows."""
    print(f"{'load with a trend':18} {'steady':>6} {'WA':>6}  a reason")
    rows = []
    for name in names:
        runs = list(pool.map(partial(measured, TREND[name], times=1), seeds))
        row = {
            "load": name,
            "steady": share([run.steady["latency"] for run in runs]),
            "steady_wa": share([run.steady["write_amplification"] for run in runs]),
        }
        rows.append(row)
        reason = next((r for run in runs if (r := run.reasons["latency"])), "")
        print(f"{name:18} {row['steady']:6.0%} {row['steady_wa']:6.0%}  {reason}", flush=True)
    return rows


def main() -> None:
    """Run the study that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--long", type=int, default=10, help="seeds that have a long run, too")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", choices=[*STATIONARY, *TREND])
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    chosen = asked.only or [*STATIONARY, *TREND]
    seeds = range(1, asked.seeds + 1)
    long_seeds = range(1, min(asked.seeds, asked.long) + 1)
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        names = [name for name in STATIONARY if name in chosen]
        rows = stationary(names, seeds, long_seeds, pool)
        rows += trends([name for name in TREND if name in chosen], seeds, pool)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
