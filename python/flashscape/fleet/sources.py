"""Runs that exist as sources of reads: each run as a drive, or split by NVM set or initiator.

A log of requests tells the initiator of each read, and the configuration the NVM set of each
initiator. The table ``reads`` of a point tells neither, so that such a run is a drive alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashscape import spelling
from flashscape.errors import OutputError
from flashscape.fleet.stored_reads import HeldReads, StoredReads, file_of
from flashscape.latency import Latency
from flashscape.output import REQUESTS
from flashscape.requests import how_to_log
from flashscape.sweep.reads import READS, of_log

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from flashscape.fleet.moments import Reads
    from flashscape.result import Result

Parts = dict[str, list[str]]
"""Initiators of each part of a run, by the name of the part."""


@dataclass(frozen=True)
class Source:
    """Reads that queries may ask for."""

    name: str
    latency: Latency
    """Latencies of its reads, from the histograms of its run."""
    reads: Reads


@dataclass(frozen=True)
class Sources:
    """All sources of some runs."""

    over: str
    """Kind of the sources: ``drives``, ``sets`` or ``initiators``."""
    asked: tuple[Source, ...]
    without_reads: tuple[str, ...]
    """Names of the NVM sets or initiators that have no reads."""

    @property
    def latency(self) -> Latency:
        """Latencies of the reads of all sources together."""
        return pooled_latency([source.latency for source in self.asked])


def sources_of(runs: Sequence[Result], over: str | None) -> Sources:
    """Return the sources of runs; raise OutputError if there are fewer than two.

    Without ``over``, several runs are drives, and one run is split by NVM set, or by initiator if
    its drive has no sets.
    """
    for at, run in enumerate(runs):
        if run.untimed:
            raise OutputError(
                f"{_name(runs, at)}: is an untimed run (run.untimed), which has no latencies"
            )
    chosen = over if over is not None else _natural(runs)
    found = _drives(runs) if chosen == "drives" else _split(runs, chosen)
    if len(found.asked) < 2:
        raise OutputError(f"{_name(runs, 0)}: {_too_few(found, runs[0])}")
    return found


def _natural(runs: Sequence[Result]) -> str:
    if len(runs) > 1:
        return "drives"
    return "initiators" if _lack_of_sets(runs[0]) else "sets"


def _too_few(found: Sources, run: Result) -> str:
    """Say why there are not two sources, and how to get them."""
    remedy = "give the results of several runs, each of which is a drive then"
    if found.over == "drives":
        return (
            "one run is one drive, and queries need two sources or more; split it "
            f"({spelling.option('--over', 'over=')} sets or initiators), or {remedy}"
        )
    if not found.asked:
        return "has no reads that queries could ask for; give its workloads reads"
    names = " and ".join(source.name for source in found.asked)
    if found.over == "initiators":
        return f"of its initiators, {names} reads, and queries need two sources or more; {remedy}"
    readers = sum(bool(each["read"]["requests"]) for each in run.summary["initiators"])
    split = f"{_ask_initiators()}, or " if readers > 1 else ""
    return (
        f"of its NVM sets, {names} has reads, and queries need two sources or more; {split}{remedy}"
    )


def _ask_initiators() -> str:
    over = spelling.option("--over initiators", 'over="initiators"')
    return f"ask its initiators ({over})"


def _drives(runs: Sequence[Result]) -> Sources:
    asked = []
    for at, run in enumerate(runs):
        name = _name(runs, at)
        if not run.read.requests:
            raise OutputError(f"{name}: has no reads that queries could ask for; leave it out")
        asked.append(_checked(Source(name, run.read, _reads_of_drive(run, name)), name))
    return Sources("drives", tuple(asked), ())


def _reads_of_drive(run: Result, name: str) -> Reads:
    if run.log is None and _has_table(run):
        assert run.folder is not None
        return StoredReads(run.folder)
    return HeldReads(_of_log(run, name))


def _split(runs: Sequence[Result], over: str) -> Sources:
    asked, without_reads = [], []
    for at, run in enumerate(runs):
        name = _name(runs, at)
        parts = _sets(run, name) if over == "sets" else _initiators(run)
        rows: pl.DataFrame | None = None
        for part, initiators in parts.items():
            part_name = part if len(runs) == 1 else f"{name}, {part}"
            latency = pooled_latency([run.of_kind("read", each) for each in initiators])
            if not latency.requests:
                without_reads.append(part_name)
                continue
            rows = _of_log(run, name, "initiator") if rows is None else rows
            reads = HeldReads(_of_part(rows, initiators))
            asked.append(_checked(Source(part_name, latency, reads), name))
    return Sources(over, tuple(asked), tuple(without_reads))


def _initiators(run: Result) -> Parts:
    return {each["name"]: [each["name"]] for each in run.summary["initiators"]}


def _sets(run: Result, name: str) -> Parts:
    """Return the initiators of each NVM set; raise OutputError for a run that has no sets."""
    if (lack := _lack_of_sets(run)) is not None:
        raise OutputError(
            f"{name}: {lack}; {_ask_initiators()}, or give the results of several runs, each of "
            "which is a drive then"
        )
    sets = {_of_devices(each): each["nvm_set"] for each in run.summary["config"]["workload"]}
    parts: Parts = {f"NVM set {each['set']}": [] for each in run.summary["sets"]}
    for initiator in run.summary["initiators"]:
        whole = initiator["name"]
        before, _, _ = whole.rpartition(".")
        # Of a trace whose devices are separate, each is an initiator.
        key = (whole, False) if (whole, False) in sets else (before, True)
        parts[f"NVM set {sets[key]}"].append(whole)
    return parts


def _of_devices(workload: dict[str, Any]) -> tuple[str, bool]:
    """Return the name of a workload, and True if its initiators are the devices of its trace."""
    return workload["name"], workload.get("trace", {}).get("combine") == "separate"


def _lack_of_sets(run: Result) -> str | None:
    """Say why a run cannot be split by NVM set; None if it can."""
    if run.summary.get("array") is not None:
        return "the host's plan (array) chooses the NVM set of each read, not the workload"
    if not run.summary.get("sets"):
        return "its drive has no NVM sets (drive.ftl.sets)"
    return None


def _of_log(run: Result, name: str, *beside: str) -> pl.DataFrame:
    """Return the counted reads in the log of a run; raise OutputError without one."""
    import polars as pl

    requests = run.requests
    if requests is None:
        raise OutputError(f"{name}: {_how_to_keep(run)}")
    try:
        return of_log(requests, *beside).collect()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise OutputError(f"{run.log}: cannot be read: {error}") from error


def _how_to_keep(run: Result) -> str:
    if _has_table(run):
        return (
            f"keeps arrival and latency of its reads ({READS}.parquet), but not their initiators, "
            f"so that it cannot be split; run it again: {_again(run)}"
        )
    return f"has no log of its reads ({REQUESTS} is missing); run it again: {_again(run)}"


def _again(run: Result) -> str:
    """Return how to run it again so that it keeps its reads."""
    return how_to_log() if run.folder is None else how_to_log(str(run.folder))


def _has_table(run: Result) -> bool:
    return run.folder is not None and file_of(run.folder).is_file()


def _of_part(rows: pl.DataFrame, initiators: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    return rows.filter(pl.col("initiator").is_in(initiators)).drop("initiator")


def _checked(source: Source, run: str) -> Source:
    """Return a source whose reads are those of its histogram; raise OutputError for others."""
    kept, counted = len(source.reads.frame()), source.latency.requests
    if kept != counted:
        raise OutputError(
            f"{run}: keeps {kept:,} reads of {source.name}, but its summary counts {counted:,}: "
            "the files belong to different runs; run the experiment again"
        )
    return source


def _name(runs: Sequence[Result], at: int) -> str:
    """Return the name of a run in errors and tables."""
    folder = runs[at].folder
    return f"result {at + 1}" if folder is None else str(folder)


def pooled_latency(parts: Sequence[Latency]) -> Latency:
    """Return the latencies of several sources as one."""
    own = [part for part in parts if part.requests]
    requests = sum(part.requests for part in own)
    if not requests:
        return Latency(0, None, None, None, ())
    buckets: Counter[int] = Counter()
    for part in own:
        for upper, count in part.buckets:
            buckets[upper] += count
    return Latency(
        requests,
        sum((part.mean or 0.0) * part.requests for part in own) / requests,
        min(part.min for part in own if part.min is not None),
        max(part.max for part in own if part.max is not None),
        tuple(sorted(buckets.items())),
    )
