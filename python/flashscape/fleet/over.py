"""Queries over runs that exist, whose directories have their reads."""

from __future__ import annotations

import json
import operator
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashscape import directories, drawing, spelling, units
from flashscape.arguments import checks_arguments
from flashscape.errors import ConfigError, OutputError, Problem
from flashscape.fleet import picture, wanted, words
from flashscape.fleet.fanout import Fanout, fanout
from flashscape.fleet.nouns import NOUNS
from flashscape.fleet.pooled import Pooled
from flashscape.fleet.sources import sources_of
from flashscape.near import listed
from flashscape.requests import how_to_log
from flashscape.result import Result
from flashscape.sweep.reads import READS
from flashscape.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from matplotlib.figure import Figure

    from flashscape.fleet.run import SlowAbove
    from flashscape.fleet.sources import Source, Sources
    from flashscape.fleet.wanted import Queries
    from flashscape.latency import Latency

    Run = Result | str | PathLike[str]


@dataclass(frozen=True, repr=False)
class QueriesOver:
    """Queries over the sources of runs that exist; keys are in docs/fan-out.md."""

    document: dict[str, Any]
    """All figures, as ``flashscape fanout --json`` writes them."""
    latency: Latency
    """Latencies of the reads of all sources together."""

    @property
    def over(self) -> str:
        """Kind of the sources: ``drives``, ``sets`` or ``initiators``."""
        return str(self.document["over"])

    @property
    def sources(self) -> list[dict[str, Any]]:
        """Name and figures of the reads of each source, latencies in nanoseconds."""
        found: list[dict[str, Any]] = self.document["sources"]
        return found

    @property
    def fanout(self) -> Fanout:
        """Slow queries and their latencies, by reads of a stage."""
        return Fanout.from_dict(self.document["fanout"])

    @property
    def sentences(self) -> list[str]:
        """The result in words."""
        return words.of_queries(self.document)

    def to_json(self) -> str:
        """Return the figures as text."""
        return json.dumps(self.document, indent=2, ensure_ascii=False) + "\n"

    def figure(self) -> Figure:
        """Draw latencies and queries; raise OutputError without matplotlib."""
        drawing.refuse(None if drawing.is_available() else drawing.NOT_INSTALLED)
        noun = NOUNS[self.over]
        p99_9 = [source["p99_9_ns"] for source in self.sources]
        tails = picture.Tails(
            f"Latency of reads of {len(self.sources):,} {noun.many} together",
            {"read": self.latency},
            (min(p99_9), max(p99_9)),
            f"best to worst {noun.single}",
        )
        return picture.draw_panels(self.document["title"], tails, self.document["fanout"])

    @checks_arguments
    def draw_to(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Draw to a PNG, PDF or SVG file, chosen by its suffix.

        Raises OutputError for another suffix, if the file exists already without ``force``, and as
        :meth:`figure` does.
        """
        drawing.write(self.figure, path, force=force)

    def _repr_html_(self) -> str:
        from flashscape.report import fleet, html

        tables = fleet.asked(self.document)
        return html.tables(self.document["title"], self.sentences, tables)

    def __repr__(self) -> str:
        return f"<QueriesOver {len(self.sources)} {NOUNS[self.over].many}>"


@checks_arguments(but=("over",))
def queries_over(
    runs: Run | Iterable[Run],
    reads: int | Iterable[int],
    *,
    over: str | None = None,
    stages: int = 1,
    queries: int = wanted.QUERIES,
    slow_above: SlowAbove = None,
    seed: int = 1,
) -> QueriesOver:
    """Sample queries that wait for the slowest of many reads, over the sources of runs that exist.

    ``runs`` are results or their directories; they must have kept their reads
    (``fs.run(…, out="DIR", requests="DIR/requests.parquet")``, or the table ``reads`` of a point).
    ``over`` chooses the sources: ``"drives"`` (each run is one), ``"sets"`` (the NVM sets of each
    run) or ``"initiators"`` (its workloads). By default several runs are drives, and one run is
    split by NVM set, or by initiator if its drive has no sets. NVM sets and initiators without
    reads are not asked.

    ``reads`` has numbers of reads of a stage, of which each is a case. A query has ``stages``
    stages, one after another, and each waits for the slowest of its reads. The latency of a query
    is the sum of these slowest latencies. A query is slow if a read of it is above p99 of all
    reads; ``slow_above`` has further limits: ``"1 ms"``, nanoseconds, or a list of these.
    ``queries`` are sampled in each case, with random numbers of ``seed``. All latencies are in
    nanoseconds.

    Raises ConfigError for numbers out of range, and OutputError for runs without results or reads,
    if there are fewer than two sources, and for the directory of a fleet, which has queries of its
    own.

    >>> asked = fs.queries_over("results", [1, 10, 100])          # doctest: +SKIP
    >>> asked.fanout.rows[2]["slow_moments"]                      # doctest: +SKIP
    """
    if over is not None and (not isinstance(over, str) or over not in NOUNS):
        raise ConfigError(f"over: no choice {over!r} {listed(over, NOUNS)}")
    # NumPy has whole numbers of its own.
    stages, queries, seed = map(operator.index, (stages, queries, seed))
    asked = _wanted(reads, stages, queries, slow_above)
    results = _loaded(runs)
    sources = sources_of(results, over)
    latency = sources.latency
    found = fanout(asked, latency, [each.reads for each in sources.asked], seed, sources.over)
    document = {
        "flashscape": __version__,
        "title": ", ".join(dict.fromkeys(str(each.summary["title"]) for each in results)),
        "over": sources.over,
        "runs": [None if each.folder is None else str(each.folder) for each in results],
        "seed": seed,
        "sources": [_figures(each, found.slow_above_ns) for each in sources.asked],
        "without_reads": list(sources.without_reads),
        "notes": _notes(results, sources),
        "fanout": found.as_dict(),
    }
    return QueriesOver(document, latency)


def _wanted(reads: Any, stages: int, queries: int, slow_above: SlowAbove) -> Queries:
    problems = []

    def fault(key: str, message: str) -> None:
        problems.append(Problem(key.removeprefix("fanout."), "", None, message))

    is_list = isinstance(reads, Iterable) and not isinstance(reads, str)
    listed = list(reads) if is_list else reads
    found = wanted.queries(listed, stages, queries, slow_above, fault)
    if problems or found is None:
        text = "; ".join(f"{problem.path}: {problem.message}" for problem in problems)
        raise ConfigError(text, [(p.path, p.file, p.line, p.message) for p in problems])
    return found


def _loaded(runs: Any) -> list[Result]:
    listed = list(runs) if isinstance(runs, Iterable) and not isinstance(runs, str) else [runs]
    results = [each if isinstance(each, Result) else _load(each) for each in listed]
    if not results:
        raise OutputError("no run is given; name results that have kept their reads")
    folders = Counter(each.folder.resolve() for each in results if each.folder is not None)
    for folder, times in folders.items():
        if times > 1:
            raise OutputError(f"{folder}: is given {units.times(times)}; name each run once")
    return results


def _load(run: str | PathLike[str]) -> Result:
    """Read a run; raise OutputError for a fleet, and as for every command of one run."""
    if not (isinstance(run, str) or hasattr(run, "__fspath__")):
        raise TypeError(
            f"queries_over: {type(run).__name__} is no result of a run; give what fs.run returns, "
            "or its directory"
        )
    folder = Path(run)
    if directories.FLEET.is_in(folder):
        shown = spelling.option(
            f"`flashscape fleet --show {folder}` prints them, and `flashscape fleet FILE --out "
            f"{folder} --fanout 1,10,100` samples others",
            f"Fleet.load({str(folder)!r}).fanout has them, and flashscape.fleet(..., "
            f"out={str(folder)!r}, fanout=[1, 10, 100]) samples others",
        )
        raise OutputError(f"{folder}: is a fleet, which has queries of its own; {shown}")
    if not directories.RUN.is_in(folder) and directories.SWEEP.is_in(folder):
        raise OutputError(_of_sweep(folder))
    return Result.load(folder)


def _of_sweep(folder: Path) -> str:
    """Return the fault of a sweep or study in place of a run, with what can be asked."""
    from flashscape.sweep.result import Sweep

    of_points = {folder / str(p["results"]) for p in Sweep.load(folder) if p["results"]}
    kept = sorted(str(of) for of in of_points if (of / f"{READS}.parquet").is_file())
    if kept:
        return f"{folder}: is a sweep; name points of it that keep their reads: {', '.join(kept)}"
    of = min(map(str, of_points), default="FILE")
    return (
        f"{folder}: is a sweep, whose points keep no reads; run a point again with them, such as "
        f"{how_to_log(of)}"
    )


def _figures(source: Source, limit: int) -> dict[str, Any]:
    """Return the figures of the reads of a source; above ``limit`` they are slow."""
    latency = source.latency
    return {
        "name": source.name,
        "reads": latency.requests,
        "slow_reads": Pooled(latency, 0).above(limit),
        "mean_ns": latency.mean,
        "p50_ns": latency.p50,
        "p99_ns": latency.p99,
        "p99_9_ns": latency.p99_9,
        "max_ns": latency.max,
    }


def _notes(results: Sequence[Result], sources: Sources) -> list[str]:
    notes = []
    if sources.without_reads:
        notes.append(f"{', '.join(sources.without_reads)}: no reads, so that no query asks there")
    digests = Counter(each.digest for each in results)
    if (most := max(digests.values())) > 1:
        notes.append(
            f"{most} of {units.many(len(results), 'run')} are equal (the same digest), so that "
            "they are slow together; clone.number gives a drive random numbers of its own"
        )
    if partial := [each for each in results if not each.complete]:
        notes.append(f"{len(partial)} of {units.many(len(results), 'run')} ended early")
    return notes
