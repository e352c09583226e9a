"""One measured run, in a process of its own: ``python -m flashscape.bench.one FILE [PATH=VALUE]…``.

Prints the figures as JSON. Memory is measured while the drive still exists;
CPU time is divided at the end of preconditioning.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from flashscape.errors import FlashscapeError
from flashscape.experiment import Experiment
from flashscape.run import Silent, run


class Stopwatch(Silent):
    """Records CPU time as a run advances."""

    def __init__(self) -> None:
        self.began = time.process_time()
        self.ended_at = self.began
        self.preconditioned: list[tuple[float, float]] = []
        """Share of preconditioning that is done, and CPU time then."""
        self.resident_bytes: int | None = None

    def preconditioning(self, share: float) -> None:
        """Record the CPU time for a share of preconditioning."""
        self.preconditioned.append((share, time.process_time()))

    def ended(self) -> None:
        """Record the CPU time at the end, and the memory."""
        self.ended_at = time.process_time()
        self.resident_bytes = resident_bytes()

    def filled_at(self, share: float) -> float:
        """Return the CPU time at the end of the fill, which is ``share`` of preconditioning."""
        # Shares are reported after each million of units, and rounded.
        noted = (at for done, at in self.preconditioned if done >= share - 1e-5)
        return next(noted, self.began)

    def aged_at(self) -> float:
        """Return the CPU time at the end of preconditioning."""
        return self.preconditioned[-1][1] if self.preconditioned else self.began


def resident_bytes() -> int | None:
    """Memory of this process; None if the system does not report it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    [kib] = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(kib) * 1024


def measured(experiment: Experiment) -> dict[str, Any]:
    """Run an experiment and return its figures."""
    watch = Stopwatch()
    result = run(experiment, progress=watch)
    done = result.summary["precondition"]
    work = done["filled_units"] + done["aged_units"]
    filled_at = watch.filled_at(done["filled_units"] / max(work, 1))
    aged_at = watch.aged_at()
    geometry = result.summary["config"]["drive"]["geometry"]
    planes = experiment.derived["organisation"]["planes"]
    return {
        "digest": result.digest,
        "requests": sum(figures["requests"] for _, _, figures in result.groups()),
        "flash_operations": result.summary["flash"]["commands"],
        "filled_units": done["filled_units"],
        "programmed_units": done["programmed_units"],
        "units": experiment.derived["capacity"]["logical_units"],
        "pages": planes * geometry["blocks_per_plane"] * geometry["pages_per_block"],
        "fill_cpu_seconds": filled_at - watch.began,
        "age_cpu_seconds": aged_at - filled_at,
        "run_cpu_seconds": watch.ended_at - aged_at,
        "resident_bytes": watch.resident_bytes,
    }


def main(file: str, *overrides: str) -> int:
    """Measure and print; report an error in one line."""
    pairs = [tuple(override.split("=", 1)) for override in overrides]
    try:
        experiment = Experiment.from_file(file, [(path, value) for path, value in pairs])
        print(json.dumps(measured(experiment)))
    except FlashscapeError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
