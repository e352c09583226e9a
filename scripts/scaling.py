"""Measure how a sweep gets faster with workers, and draw docs/images/cluster.svg.

A sweep of 64 points runs on a Dask scheduler of this machine with 1, 2, … workers of one task at
a time, and in the local pool with as many processes. Each is repeated, in turns. Drawn are the
fastest repeat, as other work on the machine only makes sweeps slower, and the range of all. The
figures are in docs/images/cluster.json.

python scripts/scaling.py             # measure, then draw
python scripts/scaling.py --draw      # draw the figures of an earlier measurement
"""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import flashscape as fs
from flashscape import drawing

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "docs" / "images" / "cluster.json"
PICTURE = FIGURES.with_suffix(".svg")

POINTS = 64
REPEATS = 5

EXPERIMENT = {
    "title": "scaling",
    "drive": {
        "preset": "dc-tlc",
        "geometry": {"channels": 2, "dies_per_package": 1, "blocks_per_plane": 64},
        "ftl": {"over_provisioning": {"exported": "1500 MB"}},
    },
    "precondition": {"fill": "random", "age": {"overwrites": 1.0}},
    "workload": [{"name": "host", "reads": "50 %", "queue_depth": 8}],
    "run": {"requests": 450_000},
}


def sweep(**how: object) -> float:
    """Run the sweep; return its seconds, without those of connecting."""
    began = time.perf_counter()
    swept = fs.sweep(EXPERIMENT, seeds=POINTS, share=False, **how)
    took = time.perf_counter() - began
    assert swept.counts["done"] == POINTS, swept.failures
    return took


@contextmanager
def dask(*arguments: str):
    """Run a command of Dask as long as the context."""
    command = [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def on_cluster(workers: int) -> float:
    """Run the sweep with so many workers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    with ExitStack() as kept:
        place = kept.enter_context(tempfile.TemporaryDirectory())
        kept.enter_context(dask("scheduler", "--port", str(port)))
        for _ in range(workers):
            given = ("--nthreads", "1", "--local-directory", place)
            kept.enter_context(dask("worker", address, *given))
        with connected(address, workers) as cluster:
            return sweep(cluster=cluster)


@contextmanager
def connected(address: str, workers: int):
    """Provide the cluster when all workers are there."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            with fs.Cluster(address) as cluster:
                if cluster.executor().slots == workers:
                    yield cluster
                    return
        except fs.ClusterError:
            pass
        time.sleep(0.2)
    raise TimeoutError(f"{workers} workers have not come")


def measure() -> dict[str, object]:
    """Return the seconds of every repeat, by executor and number of processes."""
    cores = len(os.sched_getaffinity(0))
    seconds: dict[str, list[float]] = {}
    for repeat in range(REPEATS):
        for number in range(1, cores + 1):
            for name, run in (
                (f"local pool {number}", lambda n=number: sweep(jobs=n)),
                (f"Dask {number}", lambda n=number: on_cluster(n)),
            ):
                took = run()
                seconds.setdefault(name, []).append(round(took, 3))
                print(f"{repeat + 1}/{REPEATS} {name}: {took:.2f} s", flush=True)
    machine = f"{cores} cores, {platform.machine()}, Python {platform.python_version()}"
    return {"points": POINTS, "machine": machine, "seconds": seconds}


def draw(figures: dict) -> None:
    """Draw points a second over processes, with the line of perfect scaling."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({**drawing.STYLE, "svg.hashsalt": "cluster"}):
        figure = Figure(figsize=(5.2, 3.4), layout="constrained")
        axes = figure.add_subplot()
        base = 0.0
        most = 1
        for name, marker in (("local pool", "o"), ("Dask", "s")):
            of = {
                int(key.rsplit(" ", 1)[1]): [figures["points"] / each for each in seconds]
                for key, seconds in figures["seconds"].items()
                if key.startswith(name)
            }
            best = {number: max(rates) for number, rates in of.items()}
            base, most = base or best[1], max(best)
            low = [best[n] - min(of[n]) for n in best]
            high = [0.0] * len(low)
            axes.errorbar(
                [*best], [*best.values()], [low, high], marker=marker, capsize=3, label=name
            )
        axes.plot([1, most], [base, base * most], ":", color="#9a9a9a", label="in proportion")
        axes.set(xlabel="processes or workers", ylabel="points a second")
        axes.set_title(f"A sweep of {figures['points']} points")
        axes.set_xticks(range(1, most + 1))
        axes.set_ylim(0)
        axes.legend(frameon=False)
        figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    if "--draw" not in sys.argv:
        FIGURES.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    draw(json.loads(FIGURES.read_text(encoding="utf-8")))
