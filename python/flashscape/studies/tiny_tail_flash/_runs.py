"""Runs of the six traces that exhibits share, and figures of their reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Figure, Run, percentile
from flashscape.studies import server_traces

from ._drives import (
    LEVELS,
    PLANES,
    blocks,
    drive,
    plane_pages,
    precondition,
)
from ._traces import (
    TRACES,
    footprint_bytes,
    replay,
    streams,
    written_pages_per_second,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.latency import Latency
    from flashscape.reproduce import Outcomes, Setting
    from flashscape.result import Result
    from flashscape.studies.server_traces import Trace

WARM_UP_SHARE = 0.08
"""Host writes before counting, as a share of all pages.

An aged drive has 34 % of its pages free, and collection begins at 30 %.
"""

TIMES = (99, 99.9, 99.99)
"""Percentiles of table 1."""


def reads_of(setting: Setting) -> int:
    """Return the counted reads of a run: at least ten beyond p99.99, or beyond p99.999."""
    return int(setting.pick(short=200_000, full=1_000_000))


def run_name(trace: str, level: str) -> str:
    """Return the name of a run."""
    return f"{trace}-{level}"


def runs_of(setting: Setting, levels: Iterable[str]) -> list[Run]:
    """Return a run of each trace at each level."""
    return [run(setting, trace, level) for level in levels for trace in TRACES.values()]


def run(setting: Setting, trace: Trace, level: str, **changes: dict[str, Any]) -> Run:
    """Return the run of a trace at a level; its own file, if it is there, is replayed."""
    size = blocks(setting)
    file = trace.given(setting)
    if file is None:
        load, length = streams(trace, size), counted(setting, trace)
    else:
        stream, requests = replay(file, size)
        load, length = [stream], {"warm_up": {"requests": requests}}
    kind = "synthetic" if file is None else trace.file
    experiment = {
        "title": f"{trace.title} ({kind}): {LEVELS[level]}",
        "drive": drive(level, size, **changes),
        "precondition": precondition(level),
        "workload": load,
        "run": length,
        "record": {"collection": True},
    }
    return Run(run_name(trace.name, level), experiment, tables=("latency", "bands"))


def counted(setting: Setting, trace: Trace) -> dict[str, Any]:
    """Return the length of a run of a synthetic trace."""
    pages = PLANES * plane_pages(blocks(setting))
    seconds = WARM_UP_SHARE * pages / written_pages_per_second(trace)
    requests = reads_of(setting) / trace.reads.value + seconds * trace.rate.value
    return {"requests": round(requests), "warm_up": {"time": f"{seconds:.0f} s"}}


def result(runs: Outcomes, trace: str, level: str) -> Result:
    """Return the results of a trace at a level."""
    return runs[run_name(trace, level)].result


def reads(runs: Outcomes, trace: str, level: str) -> Latency:
    """Return the reads of a trace at a level."""
    return result(runs, trace, level).read


def tail(runs: Outcomes, trace: str, level: str, percent: float) -> Figure:
    """Return a percentile of reads."""
    return percentile(reads(runs, trace, level), percent)


def times(runs: Outcomes, level: str, percent: float, over: str = "nogc") -> Figure:
    """Return a percentile of reads of each trace, in multiples of another level's.

    Rounded to a decimal, as the paper has it.
    """
    pairs = [
        (tail(runs, trace, level, percent), tail(runs, trace, over, percent)) for trace in TRACES
    ]
    return _ratios(pairs, digits=1)


def mean_times(runs: Outcomes, level: str, over: str) -> Figure:
    """Return the mean read of each trace, in multiples of another level's."""
    pairs = [(_mean(runs, trace, level), _mean(runs, trace, over)) for trace in TRACES]
    return _ratios(pairs, digits=2)


def _mean(runs: Outcomes, trace: str, level: str) -> Figure:
    latency = reads(runs, trace, level)
    return Figure(latency.mean, latency.requests)


def _ratios(pairs: list[tuple[Figure, Figure]], digits: int) -> Figure:
    both = [each for pair in pairs for each in pair]
    values: Any = tuple(round(float(a.value) / float(b.value), digits) for a, b in pairs)  # type: ignore[arg-type]
    samples = min(each.samples for each in both if each.samples is not None)
    beyond = [each.beyond for each in both if each.beyond is not None]
    return Figure(values, samples, min(beyond, default=None))


def share(of: Result, what: str) -> float:
    """Return the share of reads that ``met`` collection, or were ``blocked`` by it."""
    reads = [initiator["read"] for initiator in of.summary["initiators"]]
    return float(sum(each[what] or 0 for each in reads) / sum(each["requests"] for each in reads))


def shares(runs: Outcomes, level: str, what: str) -> Figure:
    """Return such a share for each trace."""
    of_levels = [result(runs, trace, level) for trace in TRACES]
    values = tuple(share(each, what) for each in of_levels)
    return Figure(values, min(each.read.requests for each in of_levels))


def listed(figure: Figure, unit: str = "") -> str:
    """Format the numbers of a figure with the titles of their traces."""
    values = figure.value if isinstance(figure.value, tuple) else ()
    told = (Figure(value).text(unit) for value in values)
    return ", ".join(f"{t.title} {text}" for t, text in zip(TRACES.values(), told, strict=True))


def no_better(runs: Outcomes) -> str | None:
    """Return the reason for which no verdict is better than ``direction``; None if none is."""
    return server_traces.no_better(runs.setting, TRACES)


def drawn_with(runs: Outcomes) -> str:
    """Return the title of plots of all traces."""
    return "" if no_better(runs) is None else "synthetic traces"


def emptiest(runs: Outcomes) -> str:
    """Say which trace has the emptiest victims under Base, and how little is copied there."""
    gained = {
        name: float(result(runs, name, "base").summary["collection"]["cleaning_efficiency"])
        for name in TRACES
    }
    name = max(gained, key=gained.__getitem__)
    mib = footprint_bytes(TRACES[name], blocks(runs.setting)) / 2**20
    return (
        f"{TRACES[name].title} overwrites so little space, {mib:.0f} MiB here, that "
        f"{gained[name] * 100:.0f} % of the pages of its victims are invalid, and a collection is "
        "hardly more than an erase; the known footprint is that of a part of the trace"
    )


RATES = (
    "How many reads wait under Base follows from the rate of writes: it is known for EXCH, and for "
    "TPCC from a sample of a peak, and assumed for the others"
)
"""Reason for which Base is out of the paper's range."""


def check_no_collection(runs: Outcomes, levels: Iterable[str] = ("nogc", "nogc-plain")) -> None:
    """Raise ValueError if a run without collection has collected."""
    for level in levels:
        for trace in TRACES:
            if collected := result(runs, trace, level).summary["collection"]["blocks"]:
                raise ValueError(f"{run_name(trace, level)} collected {collected} blocks")
