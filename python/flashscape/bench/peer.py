"""CPU time compared with MQSim's: both simulators run the same two files, in turn."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape.bench.values import NotMeasuredError, Value
from flashscape.mqsim import import_mqsim

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashscape.bench.values import Run


class Work(NamedTuple):
    """A load that both simulators run."""

    workload: str
    """Name of a file in ``experiments/peer``, without its suffix."""
    scheduler: str
    """MQSim's ``Transaction_Scheduling_Policy``; flashscape runs the same way for both."""
    repeat_at_most: int = 2
    """Most repetitions: a run of MQSim takes up to a minute, and long runs vary little."""


SHIPPED, FASTER = "PRIORITY_OUT_OF_ORDER", "OUT_OF_ORDER"

WORKS = {
    "peer_read_ratio": Work("read", SHIPPED),
    "peer_mixed_ratio": Work("mixed", SHIPPED),
    "peer_gc_ratio": Work("gc", SHIPPED),
    "peer_read_faster_ratio": Work("read", FASTER, 1),
    "peer_mixed_faster_ratio": Work("mixed", FASTER, 1),
    "peer_gc_faster_ratio": Work("gc", FASTER, 1),
}
"""Loads by the key of the figure."""

QUICK_REQUESTS = 20_000


class PeerRun(NamedTuple):
    """One run of MQSim."""

    cpu_seconds: float
    """CPU time from the end of preconditioning to the end of the simulation."""
    flash_operations: int
    """Pages read and programmed, and blocks erased."""


class Pair(NamedTuple):
    """MQSim's drive file and workload file, and the experiment imported from them."""

    drive: Path
    workload: Path
    experiment: Path
    requests: int


def compare(
    program: Path,
    folder: Path,
    work: Work,
    repeat: int,
    quick: bool,
    ours: Callable[[Path], Run],
) -> tuple[Value, dict[str, Any]]:
    """Return the ratio and its details; raise NotMeasuredError.

    ``folder`` has the files and ``ours`` measures a run of an experiment file. Both simulators
    run in turn, and the best run of each counts.
    """
    if not program.is_file():
        raise NotMeasuredError(f"no MQSim is there ({program}); `make peer` builds it")
    with tempfile.TemporaryDirectory() as place:
        pair = _pair(folder, work, Path(place), quick)
        theirs, mine = [], []
        for _ in range(repeat):
            theirs.append(_run(program.resolve(), pair))
            mine.append(ours(pair.experiment))
    per_io = 1e9 / pair.requests
    samples = [run.cpu_seconds * per_io for run in theirs]
    own_samples = [run["run_cpu_seconds"] * per_io for run in mine]
    ratio = min(samples) / min(own_samples)
    details = {
        "workload": work.workload,
        "scheduler": work.scheduler,
        "requests": pair.requests,
        "ns_per_io": round(min(own_samples), 1),
        "peer_ns_per_io": round(min(samples), 1),
        "flash_operations_per_io": round(mine[0]["flash_operations"] / pair.requests, 3),
        "peer_flash_operations_per_io": round(theirs[0].flash_operations / pair.requests, 3),
        "ns_per_io_of_each_run": [round(ns, 1) for ns in own_samples],
        "peer_ns_per_io_of_each_run": [round(ns, 1) for ns in samples],
    }
    return Value(round(ratio, 2), pair.requests, mine[0]["digest"]), details


def _pair(folder: Path, work: Work, place: Path, quick: bool) -> Pair:
    """Copy the files to a place that MQSim may write to, and import them."""
    drive = (folder / "drive.xml").read_text("utf-8").replace(SHIPPED, work.scheduler)
    workload = (folder / f"{work.workload}.xml").read_text("utf-8")
    key = "Total_Requests_To_Generate"
    if quick:
        workload = re.sub(rf"<{key}>\d+", f"<{key}>{QUICK_REQUESTS}", workload)
    [requests] = re.findall(rf"<{key}>(\d+)", workload)
    pair = Pair(place / "drive.xml", place / "workload.xml", place / "ours.toml", int(requests))
    pair.drive.write_text(drive, "utf-8")
    pair.workload.write_text(workload, "utf-8")
    pair.experiment.write_text(import_mqsim(pair.drive, pair.workload).toml, "utf-8")
    return pair


def _run(program: Path, pair: Pair) -> PeerRun:
    """Run MQSim, and read its CPU time when it reports the end of a phase."""
    command = [str(program), "-i", str(pair.drive), "-w", str(pair.workload)]
    began = ended = 0.0
    served = 0
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=pair.drive.parent,
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("Finished preconditioning"):
                began = _cpu_seconds(child.pid)
            elif line.startswith("MQSim finished"):
                ended = _cpu_seconds(child.pid)
            elif found := re.search(r"requests serviced: *(\d+)", line):
                served = int(found[1])
    if served < pair.requests:
        raise NotMeasuredError(
            f"{program} served {served:,} of {pair.requests:,} requests; "
            "docs/bench.md says which faults of MQSim's keep it from that"
        )
    report = pair.workload.with_name(f"{pair.workload.stem}_scenario_1.xml")
    return PeerRun(ended - began, _flash_operations(report.read_text("utf-8", "replace")))


def _cpu_seconds(process: int) -> float:
    """CPU time that another process has used so far."""
    if sys.platform != "linux":
        raise NotMeasuredError("only Linux tells the CPU time of another process while it runs")
    # MAKE_PROCESS_CPUCLOCK of the kernel: bits 3 and up are the inverted process, 2 is CPU time.
    return time.clock_gettime((~process << 3) | 2)


def _flash_operations(report: str) -> int:
    """Count operations on planes; a multi-plane command addresses two planes on this drive."""

    def count(kind: str) -> int:
        return sum(map(int, re.findall(rf'Issued_Flash_{kind}_CMD="(\d+)"', report)))

    return sum(
        count(kind) + 2 * count(f"Multiplane_{kind}") for kind in ("Read", "Program", "Erase")
    )
