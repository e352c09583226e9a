"""Runs and schemes that the exhibits share.

The drive is the preset ``atc19``; what the paper leaves open of it, and why it is as it is,
stands there.
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
"""The paper's schemes by the names of their runs."""

LOOKS = plots.Looks(*SCHEMES.values())

STARVES = ("StarvationError",)
"""How a run may end that is a finding."""

TIMEOUTS_MS = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
"""N of T-ES (table 4)."""

_STARVATION_LIMIT = "5 s"
"""Beyond any N and what collection adds to it. The paper's simulator gives up, too."""


def _t_es(timeout_ms: int) -> dict[str, str]:
    return {"policy": "t-es", "after": f"{timeout_ms} ms"}


def drive(scheme: str) -> dict[str, Any]:
    """The drive under one of the schemes, or under ``t-es-N`` for any N."""
    policy: Any = scheme
    if scheme.startswith("t-es-"):
        policy = _t_es(int(scheme.removeprefix("t-es-")))
    return {"preset": "atc19", "scheduler": {"suspension": policy}}


FULL = {"fill": "random", "age": {"overwrites": 2.0}}
"""The drive with its spare space full, too, as the paper measures."""


def fio(setting: Setting, schemes: Iterable[str] = SCHEMES) -> list[Run]:
    """4 KiB at random over the whole drive, 70 % reads, queue depth 16.

    A seventh are enough for ten reads beyond p99.999: 1.4 million.
    """
    requests = setting.pick(short=6_000_000, full=30_000_000)
    mix = {"name": "fio", "reads": "70 %", "size": "4 KiB", "queue_depth": 16}
    return [
        Run(
            f"fio-{scheme}",
            {
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
            may_end_with=STARVES,
        )
        for scheme in schemes
    ]


MICRO_MS = 1900
"""T of figure 3."""

_READS_BEGIN_MS = 520
"""When the reads join the writes, which collect by then.

A write that starves from there on has waited for five times as long at the end of 4 T as at the
end of T if that is T / 4 at least. At queue depth 1 it is one write that starves: with fewer than
1000 before it is their p99.9. An erase with ES may still get through by chance, when reads of other
dies hold a request up for longer than a ramp.
"""


def micro(schemes: Iterable[str]) -> list[Run]:
    """128 KiB reads beside 128 KiB writes, each at queue depth 1, for T and for 4 T.

    The reads join when the writes have gone on for a while. Nothing is issued after the end; a
    write that starves by then is answered when the reads are, and counts with its whole wait.
    """
    writes = {"name": "writes", "reads": "0 %", "size": "128 KiB"}
    reads = {"name": "reads", "reads": "100 %", "size": "128 KiB"}
    reads["start"] = f"{_READS_BEGIN_MS} ms"
    return [
        Run(
            f"micro-{scheme}-{times}",
            {
                "title": f"128 KiB reads beside 128 KiB writes, {times} T: {SCHEMES[scheme]}",
                "drive": drive(scheme),
                "precondition": FULL,
                "workload": [writes, reads],
                "run": {"time": f"{times * MICRO_MS} ms"},
                "record": {"interval": "20 ms", "slowest": 1000},
            },
            tables=("latency", "series", "slowest"),
        )
        for scheme in schemes
        for times in (1, 4)
    ]


_TIME_SCALE = 0.2
"""Of the trace's stamps. Erases starve only where reads are dense on a die: I-ES where they leave
no 1.1 ms free, which at the trace's own pace they do not (lambda t_step = 12 on eight dies); ES,
which keeps what it has executed, where they leave no ramp free, 0.1 ms. In the paper both
starve, so its reads are denser than the trace's: five times as dense, lambda t_step is 60.
"""

READS_PER_SECOND = round(32_200 / _TIME_SCALE)
"""Of TPC-C: 62.6 % of the trace's 51.4 thousand requests a second, at that pace."""

_UNITS_OF_A_READ = 3 - 1 / 8
"""Mapping units of 4 KiB that 8 KiB at any 512 B lie on, in the mean."""

_DIES = 8


def lambda_t() -> float:
    """Reads of a die in the time of a step, of a millisecond."""
    return READS_PER_SECOND * _UNITS_OF_A_READ / _DIES / 1000


def tpcc(scheme: str) -> Run:
    """The stand-in for the TPC-C trace: 8 KiB at any 512 B, uniform, 62.6 % reads.

    Users' reads come openly (Poisson) at the trace's rate. Writes are those of 32 page cleaners
    that would make the trace's rate, 0.6 of the reads', if nothing held them up; they do not
    pile up without bound behind a starving erase, while reads go on. Ten seconds are 1.6
    million reads; where N is long, a run is longer.
    """
    timeout_ms = int(scheme.removeprefix("t-es-")) if scheme.startswith("t-es-") else 0
    seconds = 10 if timeout_ms <= 1024 else 20
    place = {"size": "8 KiB", "align": "512 B"}
    arrivals = {"process": "poisson", "rate": f"{READS_PER_SECOND} IOPS"}
    reads = {"name": "users", "reads": "100 %", **place, "arrivals": arrivals}
    writes = {"name": "cleaners", "reads": "0 %", **place, "queue_depth": 32}
    writes["think_time"] = {"mean": f"{round(1600 * _TIME_SCALE)} us"}
    name = SCHEMES.get(scheme, f"T-ES({timeout_ms})")
    return Run(
        f"tpcc-{scheme}",
        {
            "title": f"TPC-C stand-in: {name}",
            "drive": drive(scheme),
            "precondition": FULL,
            "workload": [reads, writes],
            "run": {
                "time": f"{seconds} s",
                "warm_up": {"time": "500 ms"},
                "starvation": {"limit": _STARVATION_LIMIT},
            },
        },
        may_end_with=STARVES,
    )


TRACE = "tpcc-small.trace"
"""Part of the TPC-C trace, 7 thousand requests of 136 ms, which comes with MQSim."""


def tpcc_trace(setting: Setting) -> list[Run]:
    """The trace itself under each scheme, at its own pace, where it is there.

    Its 14 devices are folded into the drive. Reads go on for 136 ms, so no erase can starve for
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
