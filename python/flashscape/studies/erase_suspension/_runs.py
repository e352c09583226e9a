"""Runs and schemes that the exhibits share.

The drive is the preset ``atc19``, which also names the values that the paper leaves open,
with the reasons for our choices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Run, plots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.reproduce import Setting

SCHEMES = {
    "baseline": "Baseline",
    "es": "ES",
    "ideal-es": "Ideal-ES",
    "i-es": "I-ES",
    "d-es": "D-ES",
    "t-es-64": "T-ES(64)",
}
"""Schemes of the paper, by the names of their runs."""

LOOKS = plots.Looks(*SCHEMES.values())

STARVES = ("StarvationError",)
"""Errors that are findings if they end a run."""

TIMEOUTS_MS = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
"""N of T-ES (table 4)."""

_STARVATION_LIMIT = "5 s"
"""Limit beyond any N plus the time of a collection. The paper's simulator gives up, too."""


def _t_es(timeout_ms: int) -> dict[str, str]:
    return {"policy": "t-es", "after": f"{timeout_ms} ms"}


def drive(scheme: str) -> dict[str, Any]:
    """Return the drive under one of the schemes, or under ``t-es-N`` for any N."""
    policy: Any = scheme
    if scheme.startswith("t-es-"):
        policy = _t_es(int(scheme.removeprefix("t-es-")))
    return {"preset": "atc19", "scheduler": {"suspension": policy}}


FULL = {"fill": "random", "age": {"overwrites": 2.0}}
"""Precondition that also fills the drive's spare space, as in the paper's measurements."""


def fio_name(scheme: str, seed: int = 1) -> str:
    """Return the name of a run of the mix."""
    return f"fio-{scheme}" if seed == 1 else f"fio-{scheme}-seed-{seed}"


def fio(
    setting: Setting, schemes: Iterable[str] = SCHEMES, seeds: Iterable[int] = (1,)
) -> list[Run]:
    """Return runs of 4 KiB at random over the whole drive, 70 % reads, queue depth 16.

    A quarter of the short profile's requests would do for ten reads beyond p99.999.
    """
    requests = setting.pick(short=6_000_000, full=30_000_000)
    mix = {"name": "fio", "reads": "70 %", "size": "4 KiB", "queue_depth": 16}
    return [
        Run(
            fio_name(scheme, seed),
            {
                "seed": seed,
                "title": f"4 KiB random, 70 % reads, QD 16: {SCHEMES[scheme]}",
                "drive": drive(scheme),
                "precondition": FULL,
                "workload": [mix],
                "run": {
                    "requests": requests,
                    "warm_up": {"requests": requests // 10},
                    "starvation": {"limit": _STARVATION_LIMIT},
                },
            },
            tables=("latency", "bands"),
            may_end_with=STARVES,
        )
        for seed in seeds
        for scheme in schemes
    ]


MICRO_MS = 2000
"""T of figure 3."""

MICRO_TIMES = (1, 2, 4)
"""Lengths of the runs of figure 3, in multiples of T."""


def micro(schemes: Iterable[str]) -> list[Run]:
    """Return 128 KiB reads beside 128 KiB writes, each at queue depth 1, for T, 2 T and 4 T.

    Nothing is issued after the end; a write that starves until then is answered after the reads,
    and counts with its whole latency.
    """
    streams = [
        {"name": "reads", "reads": "100 %", "size": "128 KiB"},
        {"name": "writes", "reads": "0 %", "size": "128 KiB"},
    ]
    return [
        Run(
            f"micro-{scheme}-{times}",
            {
                "title": f"128 KiB reads beside 128 KiB writes, {times} T: {SCHEMES[scheme]}",
                "drive": drive(scheme),
                "precondition": FULL,
                "workload": streams,
                "run": {"time": f"{times * MICRO_MS} ms"},
            },
        )
        for scheme in schemes
        for times in MICRO_TIMES
    ]


_READS_PER_SECOND = 32_100
_CLEANERS = 32
_THINK_US = 1600
"""Pause of a writer. The TPC-C trace has 51.3 thousand requests a second, 62.6 % of them reads. So
many writers with such pauses would issue the other 19.2 thousand if they were never delayed."""

DENSER = 5
"""Read rate relative to the trace, in the runs in which both ES and I-ES should starve.

Starvation needs reads that are dense on a die: I-ES starves if they leave no 1.1 ms free;
ES, which keeps executed pulses, starves if they leave no ramp free, 0.1 ms. At the trace's own
pace only I-ES does. Both starve in the paper, so the reads of its trace are denser.
"""

_UNITS_OF_A_READ = 3 - 1 / 8
"""Mean number of 4 KiB mapping units that 8 KiB at any multiple of 512 B cover."""

_DIES = 8


def lambda_t(denser: int = 1) -> float:
    """Return the reads of a die in the time of a step, of a millisecond."""
    return denser * _READS_PER_SECOND * _UNITS_OF_A_READ / _DIES / 1000


def tpcc(setting: Setting, scheme: str, denser: int = 1) -> Run:
    """Return a run of the synthetic TPC-C trace: 8 KiB at any multiple of 512 B, uniform.

    Users' reads have open arrivals (Poisson), at the trace's rate or denser. Writes are those of 32
    page cleaners, which would issue writes at the trace's rate if they were never delayed. So they
    cannot pile up without bound behind a starving erase while reads continue, and the drive gets
    a larger share of reads than in the trace.
    """
    timeout_ms = int(scheme.removeprefix("t-es-")) if scheme.startswith("t-es-") else 0
    seconds = (10 if timeout_ms <= 1024 else 30) * setting.pick(short=1, full=4)
    place = {"size": "8 KiB", "align": "512 B"}
    arrivals = {"process": "poisson", "rate": f"{denser * _READS_PER_SECOND} IOPS"}
    reads = {"name": "users", "reads": "100 %", **place, "arrivals": arrivals}
    writes = {"name": "cleaners", "reads": "0 %", **place, "queue_depth": _CLEANERS}
    writes["think_time"] = {"mean": f"{_THINK_US // denser} us"}
    name = SCHEMES.get(scheme, f"T-ES({timeout_ms})")
    pace = "" if denser == 1 else f", {denser} times as dense"
    return Run(
        tpcc_name(scheme, denser),
        {
            "title": f"TPC-C, synthetic{pace}: {name}",
            "drive": drive(scheme),
            "precondition": FULL,
            "workload": [reads, writes],
            "run": {
                "time": f"{seconds} s",
                "warm_up": {"time": "500 ms"},
                "starvation": {"limit": _STARVATION_LIMIT},
            },
        },
        tables=("latency", "bands"),
        may_end_with=STARVES,
    )


def tpcc_name(scheme: str, denser: int = 1) -> str:
    """Return the name of a run of the synthetic trace."""
    return f"tpcc-{scheme}" if denser == 1 else f"tpcc-dense-{scheme}"


TRACE = "tpcc-small.trace"
"""A part of the TPC-C trace, 7 thousand requests of 136 ms, which is included in MQSim."""


def tpcc_trace(setting: Setting) -> list[Run]:
    """Return the trace itself under each scheme, at its own pace, if its file exists.

    Its 16 devices are folded into the drive. Reads continue for 136 ms, so no erase can starve
    longer.
    """
    file = setting.trace(TRACE)
    if not file.exists():
        return []
    trace = {"file": str(file), "format": "mqsim", "combine": "fold", "out_of_range": "wrap"}
    return [
        Run(
            f"tpcc-trace-{scheme}",
            {
                "title": f"TPC-C trace: {SCHEMES[scheme]}",
                "drive": drive(scheme),
                "precondition": FULL,
                "workload": [{"name": "tpcc", "trace": trace}],
                "run": {"starvation": {"limit": _STARVATION_LIMIT}},
            },
            may_end_with=STARVES,
        )
        for scheme in SCHEMES
    ]
