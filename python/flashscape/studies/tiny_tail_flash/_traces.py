"""The six server traces on the drives of this study; ``server_traces`` has the rules.

A trace's file in the directory of traces replaces its synthetic one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape import trace as trace_files
from flashscape.studies import server_traces
from flashscape.studies.server_traces import (
    ASSUMED,
    DTRS_SIZES,
    EXCHANGE_RATE,
    EXCHANGE_SIZES,
    GIB,
    KIB,
    TPCC_RATE,
    TPCC_SIZES,
    Fact,
    SizeFact,
    Skew,
    Trace,
)

from ._drives import FULL, PAPER_BLOCKS, filled_bytes

if TYPE_CHECKING:
    from pathlib import Path

_EXCHANGE = SizeFact(EXCHANGE_SIZES, f"{ASSUMED}: mean 8 KiB, sizes vary")
_TPCC = SizeFact(TPCC_SIZES, "mean 8.53 KB, mode 8 KB")
_TPCC_SKEW = Skew(
    {"pattern": "uniform"}, "the hottest 20 % of MQSim's sample have 21 % of the accesses"
)

TRACES = {
    trace.name: trace
    for trace in (
        Trace("DAP", Fact(0.85 * GIB, "4 KiB blocks of a slice of DAP-PS")),
        Trace(
            title="DTRS",
            reads=Fact(
                0.85, "follows from 21.8 % sequential requests, 20 % of reads, 32 % of writes"
            ),
            read_sizes=DTRS_SIZES,
            write_sizes=DTRS_SIZES,
            sequential_reads=Fact(0.20, "20 % of reads exactly sequential"),
            sequential_writes=Fact(0.32, "32 % of writes exactly sequential"),
            footprint=Fact(5.3 * GIB, "4 to 7 GiB, slices of development tools: geometric mean"),
        ),
        Trace(
            title="EXCH",
            reads=Fact(0.60, "3 reads to 2 writes (ATC'08, from memory)"),
            read_sizes=_EXCHANGE,
            write_sizes=_EXCHANGE,
            footprint=Fact(25e9, "a tenth of 250 GB on ten drives (ATC'08, from memory)"),
            known_rate=EXCHANGE_RATE,
        ),
        Trace("LMBE", Fact(56 * GIB, "27 to 116 GiB, slices of an hour: geometric mean")),
        Trace("MSN", Fact(6.8 * GIB, "5.4 to 8.5 GiB, slices of BEFS and FS: geometric mean")),
        Trace(
            title="TPCC",
            reads=Fact(0.64, "62 to 66 %: the middle"),
            read_sizes=_TPCC,
            write_sizes=_TPCC,
            sequential_reads=Fact(0.021, "2.1 %"),
            sequential_writes=Fact(0.021, "2.1 %"),
            footprint=Fact(0, "addresses up to 233 GB a device: all that is filled"),
            read_skew=_TPCC_SKEW,
            write_skew=_TPCC_SKEW,
            known_rate=TPCC_RATE,
        ),
    )
}
"""The six traces by name."""

_STRIPE_BYTES = 7 * 4 * KIB


def footprint_bytes(trace: Trace, blocks: int) -> int:
    """Return the bytes that a trace uses on a drive of so many blocks a plane, whole stripes."""
    filled = filled_bytes(FULL, blocks)
    wanted = int(trace.footprint.value * blocks / PAPER_BLOCKS) or filled
    return min(wanted, filled) // _STRIPE_BYTES * _STRIPE_BYTES


def extents(trace: Trace, blocks: int) -> list[dict[str, str]]:
    """Return the regions of a trace, spread over what is filled; one if it uses all of it."""
    filled = filled_bytes(FULL, blocks)
    return server_traces.extents(footprint_bytes(trace, blocks), filled, _STRIPE_BYTES)


def streams(trace: Trace, blocks: int) -> list[dict[str, Any]]:
    """Return the workloads of a synthetic trace."""
    return server_traces.streams(trace, extents(trace, blocks))


def written_pages_per_second(trace: Trace) -> float:
    """Return the pages that the host writes in a second."""
    return trace.rate.value * (1 - trace.reads.value) * trace.write_sizes.mean_bytes / 4096


def replay(file: Path, blocks: int) -> tuple[dict[str, Any], int]:
    """Return a workload that plays a trace twice, and the requests of the first time.

    The authors warm their drive up in this way. Addresses beyond what is filled wrap around.
    """
    requests = trace_files.info(file).requests
    played = {"file": str(file), "combine": "fold", "out_of_range": "wrap", "repeat": 2}
    region = {"size": f"{filled_bytes(FULL, blocks)} B"}
    return {"name": "trace", "region": region, "trace": played}, requests
