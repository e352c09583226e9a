"""The server traces on the drives of this study; ``server_traces`` has the rules.

The paper squeezes traces of Microsoft's production servers to 200 GiB. A trace's file in the
directory of traces replaces its synthetic one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.studies import server_traces
from flashscape.studies.server_traces import (
    DTRS_SIZES,
    GIB,
    KIB,
    MSRC_READS,
    MSRC_WRITES,
    Fact,
    Skew,
    Trace,
)

from ._drives import (
    SHORTER,
    exported_bytes,
    seconds,
)

if TYPE_CHECKING:
    from pathlib import Path

    from flashscape.reproduce import Setting


def _hot(percent: float, source: str) -> Skew:
    """Return a skew of which the share of the hottest fifth of addresses is known."""
    pattern = {"pattern": "hot-cold", "hot_space": "20 %", "hot_accesses": f"{percent} %"}
    return Skew(pattern, source)


_READ_GIB, _WRITTEN_GIB = 40.5, 1.0
"""Data that DAP-DS reads and writes (table 4)."""

_READS_PER_WRITE = (_READ_GIB / MSRC_READS.mean_bytes) / (_WRITTEN_GIB / MSRC_WRITES.mean_bytes)

TRACES = {
    trace.name: trace
    for trace in (
        Trace(
            title="DAP-DS",
            footprint=Fact(1.1 * GIB, "4 KiB blocks of a slice"),
            reads=Fact(
                round(_READS_PER_WRITE / (1 + _READS_PER_WRITE), 3),
                "follows from 40.5 GiB read and 1.0 GiB written (table 4) with the assumed sizes",
            ),
            written_footprint=Fact(0.2 * GIB, "table 4"),
            write_skew=_hot(77.8, "77.8 % of written data in the top 20 % of addresses (table 4)"),
        ),
        Trace(
            title="DAP-PS",
            footprint=Fact(0.85 * GIB, "4 KiB blocks of a slice"),
            read_skew=_hot(20.3, "20.3 % of read data in the top 20 % of addresses (table 4)"),
        ),
        Trace(
            title="DTRS",
            footprint=Fact(5.3 * GIB, "4 to 7 GiB, slices of development tools: geometric mean"),
            reads=Fact(
                0.85, "follows from 21.8 % sequential requests, 20 % of reads, 32 % of writes"
            ),
            read_sizes=DTRS_SIZES,
            write_sizes=DTRS_SIZES,
            sequential_reads=Fact(0.20, "20 % of reads exactly sequential"),
            sequential_writes=Fact(0.32, "32 % of writes exactly sequential"),
        ),
        Trace("LM-TBE", Fact(56 * GIB, "27 to 116 GiB, slices of an hour: geometric mean")),
        Trace("MSN-BEFS", Fact(6.8 * GIB, "5.4 to 8.5 GiB, slices: geometric mean")),
        Trace("MSN-CFS", Fact(0.63 * GIB, "0.5 to 0.8 GiB, slices: geometric mean")),
    )
}
"""The traces by name: those that the paper names, and DTRS of the same set, which is known well."""

SKEWED = ("lm-tbe", "msn-befs", "msn-cfs")
"""Traces whose reads are skewed, as the paper says."""

_GRAIN = 64 * KIB


def _extents(setting: Setting, footprint: Fact) -> list[dict[str, str]]:
    used = int(footprint.value / setting.pick(short=SHORTER, full=1))
    return server_traces.extents(used, exported_bytes(setting), _GRAIN)


def extents(setting: Setting, trace: Trace) -> list[dict[str, str]]:
    """Return the regions of a trace, spread over the drive; smaller in the short profile."""
    return _extents(setting, trace.footprint)


def streams(setting: Setting, trace: Trace) -> list[dict[str, Any]]:
    """Return the workloads of a synthetic trace."""
    written = trace.written_footprint
    of_writes = None if written is None else _extents(setting, written)
    return server_traces.streams(trace, extents(setting, trace), of_writes)


def load(setting: Setting, trace: Trace) -> dict[str, Any]:
    """Return workloads and length of a run of the trace's file, or of the synthetic one."""
    file = trace.given(setting)
    if file is not None:
        return {"workload": [_replay(file)], "run": {}}
    return {"workload": streams(setting, trace), "run": {"time": f"{seconds(setting)} s"}}


def _replay(file: Path) -> dict[str, Any]:
    """Return a workload that plays a trace once, squeezed onto the drive."""
    played = {"file": str(file), "combine": "fold", "out_of_range": "scale"}
    return {"name": "trace", "trace": played}
