"""One multiplier: the measured figures, and the conditions that it meets."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashscape.act.conditions import LIMITS, Service, Share, service_of, why_behind, why_slow
from flashscape.act.load import SMALL_READS, STREAMS, initiators, slice_name
from flashscape.latency import Latency
from flashscape.overload import BEGINNING
from flashscape.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from flashscape.act.conditions import Bucket
    from flashscape.act.load import Lengths, Stream
    from flashscape.result import Result


@dataclass(frozen=True)
class Trial:
    """A run of one multiplier. Times are in nanoseconds of simulated time."""

    multiplier: int
    lengths: Lengths
    cycle_ns: int
    """Time in which the host writes the data of one cycle of garbage collection."""
    small_reads: Latency
    """Latency of all measured small reads."""
    slices: tuple[tuple[Share, ...], ...]
    """Shares of small reads beyond 1, 8 and 64 ms, for each slice of time."""
    services: tuple[Service, ...]
    """The fourth condition for small reads, large reads and large writes."""
    overload: str | None
    """Reason for which the drive does not keep up, if requests pile up until the end."""
    write_amplification: float | None
    digest: str | None
    """Digest of the run; None if the run could not be finished."""
    notes: tuple[str, ...]
    """Notes of the run's summary."""
    settings: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Settings of the test; the keys are in docs/act.md. Empty in a search, which has its own."""
    result: Result | None = field(default=None, compare=False, repr=False)
    """The complete result; None in a search, which does not keep results."""

    @classmethod
    def of(
        cls, result: Result, multiplier: int, lengths: Lengths, cycle_ns: int, *, threads: int
    ) -> Trial:
        """Judge a measured run."""
        notes = tuple(result.summary["notes"])
        told = (note.removeprefix(BEGINNING) for note in notes if note.startswith(BEGINNING))
        buckets = [_buckets(result, slice_name(number)) for number in range(lengths.slices)]
        slices = tuple(tuple(Share.of(limit, each) for limit in LIMITS) for each in buckets)
        figures = {of_one["name"]: of_one for of_one in result.summary["initiators"]}

        def service(stream: Stream) -> Service:
            measured = [figures[n][stream.kind] for n in initiators(stream, lengths.slices)]
            latencies = [
                (each["requests"], each["bytes"], each["latency_ns"]["mean"])
                for each in measured
                if each["requests"]
            ]
            at_a_time = threads if stream is SMALL_READS else 1
            return service_of(stream, multiplier, at_a_time, latencies)

        return cls(
            multiplier=multiplier,
            lengths=lengths,
            cycle_ns=cycle_ns,
            small_reads=_joined(result, lengths.slices),
            slices=slices,
            services=tuple(service(stream) for stream in STREAMS),
            overload=next(told, None),
            write_amplification=result.write_amplification,
            digest=result.digest,
            notes=notes,
        )

    @classmethod
    def overloaded(cls, why: str, multiplier: int, lengths: Lengths, cycle_ns: int) -> Trial | None:
        """Return the trial of a run without memory for waiting requests; None for other errors."""
        _, found, reason = why.partition(BEGINNING)
        if not found:
            return None
        nothing = Latency(0, None, None, None, ())
        return cls(multiplier, lengths, cycle_ns, nothing, (), (), reason, None, None, ())

    @property
    def whole(self) -> tuple[Share, ...]:
        """Shares beyond 1, 8 and 64 ms over all slices together."""
        return tuple(_sum(each) for each in zip(*self.slices, strict=True))

    @property
    def worst(self) -> tuple[Share, ...]:
        """For each threshold the slice with the largest share, which decides."""
        return tuple(
            max(each, key=lambda share: (share.share, share.share_least))
            for each in zip(*self.slices, strict=True)
        )

    @property
    def is_certain(self) -> bool:
        """True if the histograms tell for each slice whether it passes."""
        return all(share.passes is not None for shares in self.slices for share in shares)

    @cached_property
    def failures(self) -> tuple[str, ...]:
        """Every condition that is not met; those of the performance test alone come first."""
        slow = [why_slow(share) for share in self.worst if not share.passes]
        return (*slow, *self.stress_failures)

    @cached_property
    def stress_failures(self) -> tuple[str, ...]:
        """Every condition of the stress test that is not met, as text."""
        behind = [why_behind(service) for service in self.services if not service.passes]
        return (*behind, *([f"overload: {self.overload}"] if self.overload else []))

    @property
    def passes_performance(self) -> bool:
        """True if all four conditions are met."""
        return not self.failures

    @property
    def passes_stress(self) -> bool:
        """True if the fourth condition is met."""
        return not self.stress_failures

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes for the reader of the figures."""
        return tuple(self._remarks())

    def _remarks(self) -> list[str]:
        said = []
        if self.lengths.slice_ns < self.cycle_ns:
            cycles = self.lengths.slice_ns / self.cycle_ns
            said.append(
                f"a slice holds {cycles:.2g} of a cycle of collection "
                f"({self.cycle_ns / 1e9:.3g} s at this multiplier): what it shows depends on "
                "where in the cycle it lies; leave the time to the program, or give more"
            )
        if self.services and not self.overload:
            small = self.services[0]
            if not small.passes and all(each.passes for each in self.services[1:]):
                said.append(
                    f"the drive keeps up, with {small.under_way:.1f} small reads under way in the "
                    f"mean: threads that issue them in turn would, from "
                    f"{int(small.under_way) + 1} on"
                )
        return said

    def counted(self, count: Callable[[str, int], int]) -> Trial:
        """Return the trial with exact shares; ``count`` returns an initiator's slow requests."""
        exact = tuple(
            tuple(share.counted(count(slice_name(number), share.threshold_ns)) for share in shares)
            for number, shares in enumerate(self.slices)
        )
        return replace(self, slices=exact)

    def to_json(self) -> str:
        """Return all figures as JSON; keys are in docs/act.md."""
        document = {"flashscape": __version__, **self.settings, "trials": [self.as_dict()]}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def as_dict(self) -> dict[str, Any]:
        """Return the figures under the keys that docs/act.md describes."""
        latency = self.small_reads
        return {
            "multiplier": self.multiplier,
            "passes_performance": self.passes_performance,
            "passes_stress": self.passes_stress,
            "failures": list(self.failures),
            "warm_up_ns": self.lengths.warm_up_ns,
            "measured_ns": self.lengths.measured_ns,
            "slice_ns": self.lengths.slice_ns,
            "collection_cycle_ns": self.cycle_ns,
            "small_reads": {
                "requests": latency.requests,
                "mean_ns": latency.mean,
                "p50_ns": latency.p50,
                "p95_ns": latency.p95,
                "p99_ns": latency.p99,
                "p99_9_ns": latency.p99_9,
                "max_ns": latency.max,
            },
            "slower_worst_slice": [_share(share) for share in self.worst],
            "slower_whole_run": [_share(share) for share in self.whole],
            "slower_by_slice": [[_share(share) for share in shares] for shares in self.slices],
            "service": [_service(each) for each in self.services],
            "overload": self.overload,
            "write_amplification": self.write_amplification,
            "digest": self.digest,
            "remarks": list(self.remarks),
            "notes": list(self.notes),
        }


def row(trial: Trial) -> dict[str, Any]:
    """Return the figures of a trial as a row of a table."""
    latency = trial.small_reads
    found: dict[str, Any] = {
        "multiplier": trial.multiplier,
        "passes_performance": trial.passes_performance,
        "passes_stress": trial.passes_stress,
        "failures": "; ".join(trial.failures),
        "small_reads": latency.requests,
        "p50_ns": latency.p50,
        "p95_ns": latency.p95,
        "p99_ns": latency.p99,
        "p99_9_ns": latency.p99_9,
        "max_ns": latency.max,
    }
    for at, limit in enumerate(LIMITS):
        name = f"slower_than_{limit.label.replace(' ', '_')}_share"
        found[f"worst_slice_{name}"] = trial.worst[at].share if trial.slices else None
        found[name] = trial.whole[at].share if trial.slices else None
    for at, stream in enumerate(STREAMS):
        name = stream.name.replace("-", "_")
        service = trial.services[at] if trial.services else None
        found[f"{name}_mean_ns"] = service.mean_ns if service else None
        found[f"{name}_period_ns"] = service.period_ns if service else None
    return found | {
        "measured_ns": trial.lengths.measured_ns,
        "write_amplification": trial.write_amplification,
        "digest": trial.digest,
    }


def _share(share: Share) -> dict[str, Any]:
    return {
        "threshold_ns": share.threshold_ns,
        "limit_share": share.limit_share,
        "requests": share.requests,
        "slower_least": share.slower_least,
        "slower_most": share.slower_most,
        "passes": share.passes,
    }


def _service(service: Service) -> dict[str, Any]:
    return {
        "stream": service.stream,
        "requests": service.requests,
        "bytes": service.bytes,
        "rate_per_second": service.rate_per_second,
        "threads": service.threads,
        "mean_ns": service.mean_ns,
        "period_ns": service.period_ns,
        "under_way": service.under_way,
        "passes": service.passes,
    }


def _sum(shares: Sequence[Share]) -> Share:
    first = shares[0]
    return Share(
        first.threshold_ns,
        first.limit_share,
        sum(share.requests for share in shares),
        sum(share.slower_least for share in shares),
        sum(share.slower_most for share in shares),
    )


def _frame(result: Result) -> pl.DataFrame:
    import polars as pl

    return result.latency.filter(pl.col("kind") == SMALL_READS.kind)


def _buckets(result: Result, initiator: str) -> list[Bucket]:
    """Return the histogram of an initiator's reads, cut to the exact least and greatest latency."""
    import polars as pl

    rows = _frame(result).filter(pl.col("initiator") == initiator)
    known = result.of_kind(SMALL_READS.kind, initiator)
    if known.min is None or known.max is None:
        return []
    columns = rows.select("low_ns", "high_ns", "requests").iter_rows()
    return [(max(low, known.min), min(high, known.max), count) for low, high, count in columns]


def _joined(result: Result, slices: int) -> Latency:
    """Join all small reads, without the large ones."""
    import polars as pl

    parts = [result.of_kind(SMALL_READS.kind, slice_name(number)) for number in range(slices)]
    parts = [part for part in parts if part.requests]
    if not parts:
        return Latency(0, None, None, None, ())
    names = [slice_name(number) for number in range(slices)]
    rows = _frame(result).filter(pl.col("initiator").is_in(names))
    joined = rows.group_by("high_ns").agg(pl.col("requests").sum()).sort("high_ns")
    requests = sum(part.requests for part in parts)
    return Latency(
        requests=requests,
        mean=sum(part.requests * (part.mean or 0.0) for part in parts) / requests,
        min=min(part.min for part in parts if part.min is not None),
        max=max(part.max for part in parts if part.max is not None),
        buckets=tuple(joined.iter_rows()),
    )
