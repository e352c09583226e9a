"""Synthetic traces in place of the six server traces, made from what is known about them.

The traces (SNIA IOTTA, Microsoft Production Server and Enterprise) do not ship with flashscape.
Each figure here is either known, with its source, or an assumption, marked as one. Unknown figures
follow rules that are the same for all traces, and none was chosen by its effect on the results:

- reads: the mean of the four server traces whose share is known (TPC-C, Exchange, DTRS, build);
- sequential requests: the mean of the four whose share is known (TPC-C, TPC-E, build, DTRS);
- sizes: the quantiles that are published for the servers of MSR Cambridge;
- rate: 14 MB/s, the geometric mean of the two traces whose rate is known;
- place: a trace uses a part of its volume, so its footprint is eight extents that are spread evenly
  over what is filled;
- hot addresses: the skew of JESD219, the standard workload of enterprise drives;
- arrivals: Poisson. Real ones come in bursts.

A trace's file in the directory of traces replaces its synthetic one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import trace as trace_files
from flashscape.studies.tiny_tail_flash._drives import FULL, PAPER_BLOCKS, filled_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from flashscape.reproduce import Setting

_KIB = 1024
_GIB = 1024**3

ASSUMED = "assumed"
"""Beginning of the source of each figure that is not known."""


class Fact(NamedTuple):
    """A figure of a trace, and where it comes from."""

    value: float
    source: str

    @property
    def is_known(self) -> bool:
        """True if the source tells the figure."""
        return not self.source.startswith(ASSUMED)


Sizes = tuple[tuple[int, float], ...]
"""KiB of requests, and their shares."""


class SizeFact(NamedTuple):
    """Sizes of requests, and where they come from."""

    value: Sizes
    source: str

    @property
    def mean_bytes(self) -> float:
        """Mean size."""
        return sum(kib * share for kib, share in self.value) * _KIB


@dataclass(frozen=True)
class Trace:
    """One of the six traces as a synthetic one."""

    title: str
    reads: Fact
    """Share of reads."""
    read_sizes: SizeFact
    write_sizes: SizeFact
    sequential_reads: Fact
    """Share of reads that begin where the last one ended."""
    sequential_writes: Fact
    footprint: Fact
    """Bytes on the paper's drive; 0 for all that is filled."""
    skew: str = "jesd219"
    """Pattern of addresses that are not sequential."""
    skew_source: str = f"{ASSUMED}: JESD219, half of the accesses to 5 % of the addresses"
    known_rate: Fact | None = None
    """Requests a second; None if it is not known."""

    @property
    def name(self) -> str:
        """Name in runs."""
        return self.title.lower()

    @property
    def file(self) -> str:
        """Name of the trace's file, if a user has it."""
        return f"{self.title}.trace"

    @property
    def mean_bytes(self) -> float:
        """Mean size of reads and writes together."""
        reads = self.reads.value
        return reads * self.read_sizes.mean_bytes + (1 - reads) * self.write_sizes.mean_bytes

    @property
    def rate(self) -> Fact:
        """Requests a second."""
        if self.known_rate is not None:
            return self.known_rate
        per_second = _BYTES_PER_SECOND / self.mean_bytes
        return Fact(round(per_second), f"{ASSUMED}: 14 MB/s, see the rules")


_TPCC_SIZES: Sizes = ((8, 0.934), (16, 0.066))
"""Mode 8 KB, mean 8.53 KB: 8 + 0.066 * 8."""

_DTRS_SIZES: Sizes = ((4, 0.42), (16, 0.2865), (64, 0.2935))
"""Modes 4 and 64 KB, 42 % of 4 KB, mean 25.05 KB; the third size is assumed."""

_EXCHANGE_SIZES: Sizes = ((4, 0.45), (8, 0.35), (16, 0.15), (20, 0.05))
"""Mean 8 KiB."""

_MSRC_READS = SizeFact(
    ((4, 0.25), (16, 0.25), (64, 0.5)),
    f"{ASSUMED}: 75 % of reads of up to 64 KB, as of MSR Cambridge (arXiv 2203.10766)",
)
_MSRC_WRITES = SizeFact(
    ((4, 0.5), (20, 0.5)),
    f"{ASSUMED}: 75 % of writes of up to 20 KB, as of MSR Cambridge (arXiv 2203.10766)",
)

_READS = Fact(0.65, f"{ASSUMED}: mean of TPC-C 64, Exchange 60, DTRS 85 and build server 50 %")
_SEQUENTIAL = Fact(0.083, f"{ASSUMED}: mean of TPC-C 2.1, TPC-E 1.55, build 7.79 and DTRS 21.8 %")

_EXCHANGE_RATE = Fact(900, "900 IOPS of an Exchange server (ATC'08)")
_TPCC_RATE = Fact(3205, "51,279 IOPS of 16 devices in MQSim's sample, a sixteenth")
_KNOWN_LOADS = ((_EXCHANGE_RATE, _EXCHANGE_SIZES), (_TPCC_RATE, _TPCC_SIZES))
_BYTES_PER_SECOND = math.prod(
    rate.value * SizeFact(sizes, "").mean_bytes for rate, sizes in _KNOWN_LOADS
) ** (1 / len(_KNOWN_LOADS))
"""Geometric mean of Exchange, 7.4 MB/s, and TPC-C, 28 MB/s."""


def _little_known(title: str, footprint: Fact) -> Trace:
    """Return a trace of which only the footprint is known."""
    return Trace(
        title=title,
        reads=_READS,
        read_sizes=_MSRC_READS,
        write_sizes=_MSRC_WRITES,
        sequential_reads=_SEQUENTIAL,
        sequential_writes=_SEQUENTIAL,
        footprint=footprint,
    )


TRACES = {
    trace.name: trace
    for trace in (
        _little_known("DAP", Fact(0.85 * _GIB, "4 KiB blocks of a slice of DAP-PS")),
        Trace(
            title="DTRS",
            reads=Fact(
                0.85, "follows from 21.8 % sequential requests, 20 % of reads, 32 % of writes"
            ),
            read_sizes=SizeFact(_DTRS_SIZES, "mean 25.05 KB, modes 4 and 64 KB, 42 % of 4 KB"),
            write_sizes=SizeFact(_DTRS_SIZES, "mean 25.05 KB, modes 4 and 64 KB, 42 % of 4 KB"),
            sequential_reads=Fact(0.20, "20 % of reads exactly sequential"),
            sequential_writes=Fact(0.32, "32 % of writes exactly sequential"),
            footprint=Fact(5.3 * _GIB, "4 to 7 GiB, slices of development tools: geometric mean"),
        ),
        Trace(
            title="EXCH",
            reads=Fact(0.60, "3 reads to 2 writes (ATC'08, from memory)"),
            read_sizes=SizeFact(_EXCHANGE_SIZES, f"{ASSUMED}: mean 8 KiB, sizes vary"),
            write_sizes=SizeFact(_EXCHANGE_SIZES, f"{ASSUMED}: mean 8 KiB, sizes vary"),
            sequential_reads=_SEQUENTIAL,
            sequential_writes=_SEQUENTIAL,
            footprint=Fact(25e9, "a tenth of 250 GB on ten drives (ATC'08, from memory)"),
            known_rate=_EXCHANGE_RATE,
        ),
        _little_known("LMBE", Fact(56 * _GIB, "27 to 116 GiB, slices of an hour: geometric mean")),
        _little_known(
            "MSN", Fact(6.8 * _GIB, "5.4 to 8.5 GiB, slices of BEFS and FS: geometric mean")
        ),
        Trace(
            title="TPCC",
            reads=Fact(0.64, "62 to 66 %: the middle"),
            read_sizes=SizeFact(_TPCC_SIZES, "mean 8.53 KB, mode 8 KB"),
            write_sizes=SizeFact(_TPCC_SIZES, "mean 8.53 KB, mode 8 KB"),
            sequential_reads=Fact(0.021, "2.1 %"),
            sequential_writes=Fact(0.021, "2.1 %"),
            footprint=Fact(0, "addresses up to 233 GB a device: all that is filled"),
            skew="uniform",
            skew_source="the hottest 20 % of MQSim's sample have 21 % of the accesses",
            known_rate=_TPCC_RATE,
        ),
    )
}
"""The six traces by name."""

_STRIPE_BYTES = 7 * 4 * _KIB

EXTENTS = 8
"""Extents of a footprint."""


def footprint_bytes(trace: Trace, blocks: int) -> int:
    """Return the bytes that a trace uses on a drive of so many blocks a plane, whole stripes."""
    filled = filled_bytes(FULL, blocks)
    wanted = int(trace.footprint.value * blocks / PAPER_BLOCKS) or filled
    return min(wanted, filled) // _STRIPE_BYTES * _STRIPE_BYTES


def extents(trace: Trace, blocks: int) -> list[dict[str, str]]:
    """Return the regions of a trace, spread over what is filled; one if it uses all of it."""
    used, filled = footprint_bytes(trace, blocks), filled_bytes(FULL, blocks)
    count = EXTENTS if used + EXTENTS * _STRIPE_BYTES < filled else 1
    size, apart = (each // count // _STRIPE_BYTES * _STRIPE_BYTES for each in (used, filled))
    return [{"offset": f"{apart * place} B", "size": f"{size} B"} for place in range(count)]


def streams(trace: Trace, blocks: int) -> list[dict[str, Any]]:
    """Return the workloads of a synthetic trace.

    Each extent has reads and writes, each random and sequential.
    """
    regions = extents(trace, blocks)
    return [
        stream
        for place, region in enumerate(regions)
        for stream in _streams_of(trace, region, place, len(regions))
    ]


def _streams_of(
    trace: Trace, region: dict[str, str], place: int, extents: int
) -> list[dict[str, Any]]:
    rate, reads = trace.rate.value / extents, trace.reads.value
    made = []
    for kind, share, sizes, sequential in (
        ("reads", reads, trace.read_sizes, trace.sequential_reads.value),
        ("writes", 1 - reads, trace.write_sizes, trace.sequential_writes.value),
    ):
        of_kind = {
            "reads": "100 %" if kind == "reads" else "0 %",
            "size": [
                {"size": f"{kib} KiB", "share": f"{part * 100:.4g} %"} for kib, part in sizes.value
            ],
            "align": "4 KiB",
            "region": region,
        }
        for order, part, pattern in (
            ("random", 1 - sequential, trace.skew),
            ("sequential", sequential, "sequential"),
        ):
            arrivals = {"process": "poisson", "rate": f"{rate * share * part:.4g} IOPS"}
            made.append(
                {"name": f"{order}-{kind}-{place}", **of_kind, "addresses": {"pattern": pattern}}
                | {"arrivals": arrivals}
            )
    return made


def written_pages_per_second(trace: Trace) -> float:
    """Return the pages that the host writes in a second."""
    return trace.rate.value * (1 - trace.reads.value) * trace.write_sizes.mean_bytes / 4096


def given(setting: Setting, trace: Trace) -> Path | None:
    """Return the trace's own file; None if the user does not have it."""
    file = setting.trace(trace.file)
    return file if file.is_file() else None


def replay(file: Path, blocks: int) -> tuple[dict[str, Any], int]:
    """Return a workload that plays a trace twice, and the requests of the first time.

    The authors warm their drive up in this way. Addresses beyond what is filled wrap around.
    """
    requests = trace_files.info(file).requests
    played = {"file": str(file), "combine": "fold", "out_of_range": "wrap", "repeat": 2}
    region = {"size": f"{filled_bytes(FULL, blocks)} B"}
    return {"name": "trace", "region": region, "trace": played}, requests
