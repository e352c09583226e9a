"""The load of a multiplier: three streams, each with a constant rate of requests."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from flashscape.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

Arrivals = Literal["constant", "poisson"]
"""Arrival process of the requests of a stream."""

LARGE_BYTES = 128 * 1024
"""Size and alignment of a large read or write: ``large-block-op-kbytes`` [tool]."""

_SMALL_BYTES = 3 * 512
"""Size of a small read: a record of 1500 bytes in blocks of 512 B [tool]."""

_SMALL_ALIGN = 512
"""Alignment of small reads: the smallest size that the device reads [tool]."""

_STEP_NS = 125_000_000
"""An eighth of a second, in which every stream has a whole number of requests."""

_WARM_UP_NS = 2_000_000_000
_SLICE_NS = 5_000_000_000
"""The shortest slice, if GC cycles do not need a longer one: 10,000 small reads at multiplier 1."""


@dataclass(frozen=True)
class Stream:
    """One kind of request, with a fixed rate for each unit of the multiplier."""

    name: str
    """Name, also of the initiator in results; random numbers depend on it."""
    kind: Literal["read", "write"]
    bytes: int
    """Bytes of a request."""
    per_second: int
    """Requests a second at multiplier 1 [paper]."""

    @property
    def label(self) -> str:
        """The name as people read it."""
        return self.name.replace("-", " ")


SMALL_READS = Stream("small-reads", "read", _SMALL_BYTES, 2000)
LARGE_READS = Stream("large-reads", "read", LARGE_BYTES, 24)
LARGE_WRITES = Stream("large-writes", "write", LARGE_BYTES, 24)
STREAMS = (SMALL_READS, LARGE_READS, LARGE_WRITES)


class Lengths(NamedTuple):
    """Lengths of a run, in simulated nanoseconds: multiples of an eighth of a second."""

    warm_up_ns: int
    """Time that is simulated first and not counted."""
    slice_ns: int
    slices: int

    @property
    def measured_ns(self) -> int:
        """Time that is counted."""
        return self.slice_ns * self.slices

    @property
    def whole_ns(self) -> int:
        """Time from the first request to the last."""
        return self.warm_up_ns + self.measured_ns


def lengths(
    multiplier: int,
    cycle_bytes: int,
    *,
    warm_up_ns: int | None,
    time_ns: int | None,
    slices: int,
) -> Lengths:
    """Return the lengths of a run at this multiplier; None selects the length that is needed.

    If bins fill at one pace, garbage collection comes in cycles, and a host writes ``cycle_bytes``
    in each. The warm-up and each slice last for whole cycles, so that all slices have the same
    share of garbage collection.
    """
    cycle_ns = cycle_of(multiplier, cycle_bytes)

    def cycles(least_ns: int) -> int:
        return -(-least_ns // cycle_ns) * cycle_ns

    warm_up = cycles(_WARM_UP_NS) if warm_up_ns is None else warm_up_ns
    each = cycles(_SLICE_NS) if time_ns is None else -(-time_ns // slices)
    return Lengths(_rounded_up(warm_up), _rounded_up(each), slices)


def cycle_of(multiplier: int, cycle_bytes: int) -> int:
    """Nanoseconds in which the large writes of a multiplier amount to ``cycle_bytes``."""
    return -(-cycle_bytes * 1_000_000_000 // (LARGE_WRITES.per_second * LARGE_BYTES * multiplier))


def _rounded_up(ns: int) -> int:
    return -(-ns // _STEP_NS) * _STEP_NS


def workloads(
    multiplier: int, lengths: Lengths, *, exported_bytes: int, seed: int, arrivals: Arrivals
) -> list[dict[str, Any]]:
    """Return the ``[[workload]]`` tables of a multiplier.

    The small reads of each slice are an initiator of their own; slices follow each other at one
    pace, so every slice has its own histogram. All addresses are random; large requests are aligned
    to 128 KiB [tool] and stay in the space that whole large blocks fill. Each stream begins at a
    time within its first period that depends on the seed, so that streams are never in step.
    """
    region = {"size": f"{exported_bytes // LARGE_BYTES * LARGE_BYTES} B"}

    def workload(name: str, stream: Stream, begin_ns: int, span_ns: int) -> dict[str, Any]:
        rate = stream.per_second * multiplier
        table = {
            "name": name,
            "reads": "100 %" if stream.kind == "read" else "0 %",
            "size": f"{stream.bytes} B",
            "align": f"{_SMALL_ALIGN if stream is SMALL_READS else LARGE_BYTES} B",
            "region": region,
            "arrivals": {"process": arrivals, "rate": f"{rate} IOPS"},
        }
        if arrivals == "constant":
            phase = _phase_ns(stream.name, seed, 1_000_000_000 / rate)
            # Spans are chosen so that this is exact.
            count = rate * span_ns // 1_000_000_000
            return table | {"start": f"{begin_ns + phase} ns", "stop": {"requests": count}}
        return table | {"start": f"{begin_ns} ns", "stop": {"time": f"{span_ns} ns"}}

    small = []
    for number in range(lengths.slices):
        # The first slice follows the warm-up, which is not counted.
        lead = lengths.warm_up_ns if number == 0 else 0
        begin = lengths.warm_up_ns + number * lengths.slice_ns - lead
        name = slice_name(number)
        small.append(workload(name, SMALL_READS, begin, lengths.slice_ns + lead))
    others = [workload(s.name, s, 0, lengths.whole_ns) for s in (LARGE_READS, LARGE_WRITES)]
    return [*small, *others]


def slice_name(number: int) -> str:
    """Return the initiator of a slice's small reads; slices count from 0 here, from 1 in names."""
    return f"{SMALL_READS.name}-{number + 1}"


def initiators(stream: Stream, slices: int) -> list[str]:
    """Return the initiators that a stream has in results."""
    if stream is SMALL_READS:
        return [slice_name(number) for number in range(slices)]
    return [stream.name]


def _phase_ns(name: str, seed: int, period_ns: float) -> int:
    """Return the time at which a stream begins: inside its first period, away from its ends."""
    drawn = hashlib.blake2b(f"act phase {seed} {name}".encode(), digest_size=8).digest()
    share = int.from_bytes(drawn, "big") / 2**64
    return round(period_ns * (0.125 + 0.75 * share))


def experiment(
    drive: Mapping[str, Any],
    tables: list[dict[str, Any]],
    lengths: Lengths,
    *,
    title: str,
    seed: int,
) -> dict[str, Any]:
    """Return the experiment of one run; the run starts from a drive that is given to it."""
    return {
        "title": title,
        "seed": seed,
        "drive": dict(drive),
        "workload": tables,
        "run": {"warm_up": {"time": f"{lengths.warm_up_ns} ns"}},
    }


def cycle_bytes(derived: Mapping[str, Any]) -> int:
    """Bytes that a host writes in a cycle of garbage collection, if all bins fill at one pace.

    A bin is collected from its background threshold until more than its stop threshold is free.
    """
    organisation, free = derived["organisation"], derived["gc_free_blocks_per_bin"]
    blocks = max(1, free["stop"] + 1 - free["background"])
    return int(blocks * organisation["bins"] * organisation["block_bytes"])


def large_blocks(derived: Mapping[str, Any]) -> int:
    """Number of whole large blocks in a drive; raise ConfigError if there is none."""
    exported = derived["capacity"]["exported_bytes"]
    if exported < LARGE_BYTES:
        raise ConfigError(f"the drive exports {exported} bytes, less than one block of 128 KiB")
    return int(exported // LARGE_BYTES)
