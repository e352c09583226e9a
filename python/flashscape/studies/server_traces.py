"""Synthetic traces in place of server traces that do not ship, made from what is known about them.

The traces are those of Microsoft's production servers and enterprise workloads (SNIA IOTTA). Each
figure of a synthetic one is either known, with its source, or an assumption, marked as one. Unknown
figures follow rules that are the same for all traces, and none was chosen by its effect on results:

- reads: the mean of the four server traces whose share is known (TPC-C, Exchange, DTRS, build);
- sequential requests: the mean of the four whose share is known (TPC-C, TPC-E, build, DTRS);
- sizes: the quantiles that are published for the servers of MSR Cambridge;
- rate: 14 MB/s, the geometric mean of the two traces whose rate is known;
- place: a trace uses a part of its volume, so its footprint is eight extents that are spread evenly
  over what is filled;
- hot addresses: the skew of JESD219, the standard workload of enterprise drives;
- arrivals: Poisson. Real ones come in bursts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from flashscape.reproduce import Setting

KIB = 1024
MIB = 1024**2
GIB = 1024**3

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
        return sum(kib * share for kib, share in self.value) * KIB


class Skew(NamedTuple):
    """Addresses of requests that are not sequential, and where they come from."""

    addresses: dict[str, Any]
    """As `workload.addresses`."""
    source: str

    @property
    def told(self) -> str:
        """The pattern in words."""
        others = ", ".join(f"{k} {v}" for k, v in self.addresses.items() if k != "pattern")
        return f"{self.addresses['pattern']}{f' ({others})' if others else ''}"


JESD219 = Skew(
    {"pattern": "jesd219"}, f"{ASSUMED}: JESD219, half of the accesses to 5 % of the addresses"
)

MSRC_READS = SizeFact(
    ((4, 0.25), (16, 0.25), (64, 0.5)),
    f"{ASSUMED}: 75 % of reads of up to 64 KB, as of MSR Cambridge (arXiv 2203.10766)",
)
MSRC_WRITES = SizeFact(
    ((4, 0.5), (20, 0.5)),
    f"{ASSUMED}: 75 % of writes of up to 20 KB, as of MSR Cambridge (arXiv 2203.10766)",
)

READS = Fact(0.65, f"{ASSUMED}: mean of TPC-C 64, Exchange 60, DTRS 85 and build server 50 %")
SEQUENTIAL = Fact(0.083, f"{ASSUMED}: mean of TPC-C 2.1, TPC-E 1.55, build 7.79 and DTRS 21.8 %")

TPCC_SIZES: Sizes = ((8, 0.934), (16, 0.066))
"""Mode 8 KB, mean 8.53 KB: 8 + 0.066 * 8."""

DTRS_SIZES = SizeFact(
    # The third size is assumed.
    ((4, 0.42), (16, 0.2865), (64, 0.2935)),
    "mean 25.05 KB, modes 4 and 64 KB, 42 % of 4 KB",
)

EXCHANGE_SIZES: Sizes = ((4, 0.45), (8, 0.35), (16, 0.15), (20, 0.05))
"""Mean 8 KiB."""

EXCHANGE_RATE = Fact(900, "900 IOPS of an Exchange server (ATC'08)")
TPCC_RATE = Fact(3205, "51,279 IOPS of 16 devices in MQSim's sample, a sixteenth")
_KNOWN_LOADS = ((EXCHANGE_RATE, EXCHANGE_SIZES), (TPCC_RATE, TPCC_SIZES))
BYTES_PER_SECOND = math.prod(
    rate.value * SizeFact(sizes, "").mean_bytes for rate, sizes in _KNOWN_LOADS
) ** (1 / len(_KNOWN_LOADS))
"""Geometric mean of Exchange, 7.4 MB/s, and TPC-C, 28 MB/s."""


@dataclass(frozen=True)
class Trace:
    """A trace as a synthetic one; what a study does not give follows the rules."""

    title: str
    footprint: Fact
    """Bytes on the paper's drive; 0 for all that is filled."""
    reads: Fact = READS
    """Share of reads."""
    read_sizes: SizeFact = MSRC_READS
    write_sizes: SizeFact = MSRC_WRITES
    sequential_reads: Fact = SEQUENTIAL
    """Share of reads that begin where the last one ended."""
    sequential_writes: Fact = SEQUENTIAL
    read_skew: Skew = JESD219
    write_skew: Skew = JESD219
    written_footprint: Fact | None = None
    """Bytes of the footprint to which writes go; None for all of it."""
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
        per_second = BYTES_PER_SECOND / self.mean_bytes
        return Fact(round(per_second), f"{ASSUMED}: 14 MB/s, see the rules")

    def given(self, setting: Setting) -> Path | None:
        """Return the trace's own file; None if the user does not have it."""
        file = setting.trace(self.file)
        return file if file.is_file() else None

    def facts(self) -> dict[str, tuple[str, str]]:
        """Return each figure but the footprint in words, with its source."""
        reads, writes = self.sequential_reads, self.sequential_writes
        return {
            "reads": (f"{self.reads.value * 100:g} %", self.reads.source),
            "mean read": (f"{self.read_sizes.mean_bytes / KIB:.4g} KiB", self.read_sizes.source),
            "mean write": (f"{self.write_sizes.mean_bytes / KIB:.4g} KiB", self.write_sizes.source),
            "sequential reads": (f"{reads.value * 100:g} %", reads.source),
            "sequential writes": (f"{writes.value * 100:g} %", writes.source),
            "addresses of reads": (self.read_skew.told, self.read_skew.source),
            "addresses of writes": (self.write_skew.told, self.write_skew.source),
            "requests a second": (f"{self.rate.value:g}", self.rate.source),
        }


EXTENTS = 8
"""Extents of a footprint."""


def extents(used: int, filled: int, grain: int) -> list[dict[str, str]]:
    """Return regions of so many bytes, spread over what is filled; one if they are all of it.

    ``grain`` divides their offsets and sizes.
    """
    count = EXTENTS if used + EXTENTS * grain < filled else 1
    size, apart = (each // count // grain * grain for each in (used, filled))
    return [{"offset": f"{apart * place} B", "size": f"{size} B"} for place in range(count)]


def streams(
    trace: Trace, regions: list[dict[str, str]], written: list[dict[str, str]] | None = None
) -> list[dict[str, Any]]:
    """Return the workloads of a synthetic trace.

    Each region has reads and writes, each random and sequential. ``written`` are regions of writes,
    as many, if they are others.
    """
    both = zip(regions, regions if written is None else written, strict=True)
    return [
        stream
        for place, (of_reads, of_writes) in enumerate(both)
        for kind, region in (("reads", of_reads), ("writes", of_writes))
        for stream in _streams_of(trace, kind, region, place, len(regions))
    ]


def _streams_of(
    trace: Trace, kind: str, region: dict[str, str], place: int, extents: int
) -> list[dict[str, Any]]:
    is_read = kind == "reads"
    share = trace.reads.value if is_read else 1 - trace.reads.value
    sizes = trace.read_sizes if is_read else trace.write_sizes
    sequential = (trace.sequential_reads if is_read else trace.sequential_writes).value
    skew = trace.read_skew if is_read else trace.write_skew
    parts = [{"size": f"{kib} KiB", "share": f"{part * 100:.4g} %"} for kib, part in sizes.value]
    made = []
    for order, part, addresses in (
        ("random", 1 - sequential, skew.addresses),
        ("sequential", sequential, {"pattern": "sequential"}),
    ):
        rate = trace.rate.value / extents * share * part
        made.append(
            {
                "name": f"{order}-{kind}-{place}",
                "reads": "100 %" if is_read else "0 %",
                "size": parts,
                "align": "4 KiB",
                "region": region,
                "addresses": addresses,
                "arrivals": {"process": "poisson", "rate": f"{rate:.4g} IOPS"},
            }
        )
    return made


def no_better(setting: Setting, traces: dict[str, Trace]) -> str | None:
    """Return the reason for which no verdict is better than ``direction``; None if none is."""
    synthetic = [trace for trace in traces.values() if trace.given(setting) is None]
    if not synthetic:
        return None
    names = ", ".join(trace.title for trace in synthetic)
    files = ", ".join(trace.file for trace in synthetic)
    return (
        f"synthetic traces ({names}) show no more than the direction; the files {files} in the "
        "directory of traces take their place"
    )
