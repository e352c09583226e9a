"""Result of a run: figures and tables, independent of where they are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashscape.arguments import checks_arguments
from flashscape.latency import KINDS, Latency
from flashscape.near import listed
from flashscape.refusal import ConfigError

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl


class Measured(ABC):
    """The figures of one run. :class:`flashscape.Result` reads and writes them.

    Errors, reports and pictures depend on this class, and it depends on none of them.
    """

    def __init__(self, summary: dict[str, Any]) -> None:
        self.summary = summary
        """Contents of ``summary.json``."""

    @abstractmethod
    def frame(self, name: str) -> pl.DataFrame:
        """Return a table by its name; raise ConfigError for an unknown one, else OutputError."""

    @abstractmethod
    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write summary and tables to a directory; raise OutputError if it is in use."""

    @property
    @abstractmethod
    def requests(self) -> pl.LazyFrame | None:
        """Every counted request with its blame, read when it is collected; None without a log."""

    @cached_property
    def latency(self) -> pl.DataFrame:
        """Histograms: a row for each bucket with requests, by initiator and kind."""
        return self.frame("latency")

    @cached_property
    def blame(self) -> pl.DataFrame:
        """Blame: time in each state, a row for each initiator, kind and state."""
        return self.frame("blame")

    @cached_property
    def bands(self) -> pl.DataFrame:
        """Blame by latency: a row for each band of 1.6 % with requests."""
        return self.frame("bands")

    @cached_property
    def series(self) -> pl.DataFrame:
        """Time series: a row for each interval of the run."""
        return self.frame("series")

    @cached_property
    def wear(self) -> pl.DataFrame:
        """Erases and valid data of each block at the end of the run."""
        return self.frame("wear")

    @cached_property
    def units(self) -> pl.DataFrame:
        """Share of the counted time for which each smallest unit of the flash was busy.

        With ``record.collection``, also the share for which collection held it.
        """
        return self.frame("units")

    @cached_property
    def errors(self) -> pl.DataFrame:
        """Codewords by their number of errors; OutputError if the drive has no bit errors."""
        return self.frame("errors")

    @cached_property
    def slowest(self) -> pl.DataFrame:
        """The slowest requests of each initiator and kind, with the time in each state.

        Sorted by falling latency; ``record.slowest`` says how many are kept.
        """
        return self.frame("slowest")

    @checks_arguments
    def of_kind(self, kind: str | None, initiator: str | None = None) -> Latency:
        """Return the latencies of a kind of request, of one initiator or of all together.

        ``kind`` None selects all kinds together.

        Raises ConfigError for an unknown name.
        """
        chosen = self._figures(kind, initiator)
        asked = [figures for figures in chosen if figures["requests"]]
        if not asked:
            return Latency(0, None, None, None, ())
        requests = sum(figures["requests"] for figures in asked)
        if self.untimed:
            return Latency(requests, None, None, None, ())
        latencies = [figures["latency_ns"] for figures in asked]
        total = sum(one["mean"] * of["requests"] for one, of in zip(latencies, asked, strict=True))
        return Latency(
            requests=requests,
            mean=total / requests,
            min=min(one["min"] for one in latencies),
            max=max(one["max"] for one in latencies),
            buckets=self._buckets(kind, initiator),
        )

    def _figures(self, kind: str | None, initiator: str | None) -> list[dict[str, Any]]:
        if kind is not None and kind not in KINDS:
            raise ConfigError(f"no kind {kind!r} {listed(kind, KINDS)}")
        names = [of_one["name"] for of_one in self.summary["initiators"]]
        if initiator is not None and initiator not in names:
            raise ConfigError(f"no initiator {initiator!r} {listed(initiator, names)}")
        chosen = [of for of in self.summary["initiators"] if initiator in (None, of["name"])]
        return [of[each] for of in chosen for each in KINDS if kind in (None, each)]

    def _buckets(self, kind: str | None, initiator: str | None) -> tuple[tuple[int, int], ...]:
        import polars as pl

        rows = self.latency
        if kind is not None:
            rows = rows.filter(pl.col("kind") == kind)
        if initiator is not None:
            rows = rows.filter(pl.col("initiator") == initiator)
        joined = rows.group_by("high_ns").agg(pl.col("requests").sum()).sort("high_ns")
        return tuple(joined.iter_rows())

    @property
    def all(self) -> Latency:
        """Latencies of all requests of all kinds."""
        return self.of_kind(None)

    @property
    def read(self) -> Latency:
        """Latencies of all reads."""
        return self.of_kind("read")

    @property
    def write(self) -> Latency:
        """Latencies of all writes."""
        return self.of_kind("write")

    @property
    def digest(self) -> str:
        """Hash of every completion; of an untimed run, of every command.

        Equal digests, equal runs.
        """
        return str(self.summary["digest"])

    @property
    def complete(self) -> bool:
        """False if the run was interrupted, or ended because a request starved."""
        return bool(self.summary["complete"])

    @property
    def starvation(self) -> dict[str, Any] | None:
        """Requests that starved (docs/results.md); None if ``run.starvation`` is not given."""
        # Summaries of earlier versions lack this key.
        found: dict[str, Any] | None = self.summary.get("starvation")
        return found

    @property
    def closed_loops(self) -> dict[str, dict[str, Any]]:
        """Standstills of closed loops, and what open ones would see, by the initiator's name.

        docs/results.md lists the keys.
        """
        # Summaries of earlier versions lack this key.
        found = ((each["name"], each.get("closed_loop")) for each in self.summary["initiators"])
        return {name: figures for name, figures in found if figures is not None}

    @property
    def recovery(self) -> dict[str, Any] | None:
        """Power cuts and the cost of recovery (docs/results.md); None without drive.recovery."""
        found: dict[str, Any] | None = self.summary.get("recovery")
        return found

    @property
    def cut_short(self) -> str | None:
        """Reason for an early end: ``interrupted`` or ``ended by starvation``; None if complete."""
        if self.complete:
            return None
        starvation = self.starvation
        has_starved = starvation is not None and starvation["ended_run"]
        return "ended by starvation" if has_starved else "interrupted"

    @property
    def untimed(self) -> bool:
        """True if the run took no simulated time (``run.untimed``)."""
        return bool(self.summary["config"]["run"].get("untimed", False))

    @property
    def copies(self) -> int:
        """Times that each write is programmed: 1 for one drive, 2 for data and its parity."""
        # Summaries of earlier versions lack this key.
        array = self.summary.get("array")
        if array is None:
            return 1
        policy = self.summary["config"]["array"]["plan"]["policy"]
        return {"rotation": 2, "leveling": 1}.get(policy, len(array["members"]))

    @property
    def moved_bytes(self) -> int:
        """Bytes that the plan of an array copied to level the wear of its members."""
        # Summaries of earlier versions lack these keys.
        leveling = ((self.summary.get("array") or {}).get("plan") or {}).get("leveling")
        return 0 if leveling is None else int(leveling["copied_bytes"])

    @property
    def worn_out_bytes(self) -> int | None:
        """Bytes asked for until the drive was worn out, in an untimed run; else None."""
        # Summaries of earlier versions lack this key.
        worn: int | None = self.summary.get("worn_out_bytes")
        return worn

    @property
    def write_amplification(self) -> float | None:
        """Bytes programmed over bytes written; None if nothing was written."""
        total: float | None = self.summary["write_amplification"]["total"]
        return total

    def groups(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Initiator, kind and figures of all groups with timed requests."""
        return [
            (initiator["name"], kind, initiator[kind])
            for initiator in self.summary["initiators"]
            for kind in KINDS
            if initiator[kind]["requests"] and initiator[kind]["latency_ns"]["max"] is not None
        ]

    def steadiness(self) -> list[tuple[str, dict[str, Any]]]:
        """Measured figures that could be steady, with their verdicts."""
        verdicts = self.summary["steady_state"].items()
        written = self.write_amplification is not None
        return [item for item in verdicts if written or item[0] != "write_amplification"]
