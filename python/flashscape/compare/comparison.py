"""Runs side by side: what differs, by how much, how surely, and what the tail's difference is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashscape import output, units
from flashscape.compare import differences as of
from flashscape.regions import FOUNDED, region

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from flashscape.causes import Cause
    from flashscape.compare.arrivals import Arrivals
    from flashscape.compare.differences import Difference
    from flashscape.result import Result

PICTURE = "comparison.svg"
DOCUMENT = "comparison.json"

_FAR = (99.9, 99.0, 90.0, 50.0)
_NAMED = 0.1
"""Causes below this share of the tail's difference are not named."""

_COSTS = {
    "write_amplification": "write amplification",
    "erases": "erases",
    "worn_out_bytes": "asked for until worn out",
    "erase_count_stddev": "erases of a block, standard deviation",
}


@dataclass(frozen=True, repr=False)
class Side:
    """One of the runs that are compared, or one for each seed."""

    label: str
    """``A``, ``B``, …"""
    name: str
    """What it is: a file, a directory, a variation."""
    seeds: tuple[int, ...]
    """The seed of each run."""
    results: list[Result]
    """One for each seed."""

    @property
    def partial(self) -> str | None:
        """Why its figures leave out what was worst, in a clause; None where they do not."""
        for seed, result in zip(self.seeds, self.results, strict=True):
            if (why := _left_out(result)) is not None:
                whose = self.label if len(self.seeds) == 1 else f"{self.label} (seed {seed})"
                return f"{whose} {why}"
        return None

    @property
    def starved(self) -> str | None:
        """How many of its requests starved, as a sentence; None where none did."""
        found = [result.starvation for result in self.results]
        starved = sum(each["requests"] for each in found if each is not None)
        if not starved:
            return None
        requests = units.many(starved, "request")
        limits = dict.fromkeys(each["limit_ns"] for each in found if each is not None)
        ages = " or ".join(units.duration(limit) for limit in limits)
        return f"{requests} of {self.label} starved (run.starvation.limit: {ages})."


def _left_out(result: Result) -> str | None:
    """Why a run's figures cover only what went well, in a clause."""
    if result.cut_short is not None:
        return f"was {result.cut_short}"
    starvation = result.starvation
    if starvation is None:
        return None
    late = [each["oldest_ns"] >= starvation["limit_ns"] for each in starvation["outstanding"]]
    return "ended with a request that starved and was never answered" if any(late) else None


@dataclass(frozen=True)
class Tail:
    """Requests beyond a percentile, in both runs, and where their time went."""

    initiator: str
    kind: str
    above: float
    """The percentile."""
    each_ns: tuple[dict[Cause, float], dict[Cause, float]]
    """Time of a request by cause, in the mean over the seeds; of baseline and other."""

    @property
    def change_ns(self) -> dict[Cause, float]:
        """Other less baseline, by cause, the largest change first."""
        before, after = self.each_ns
        causes = [*before, *(cause for cause in after if cause not in before)]
        changes = {cause: after.get(cause, 0) - before.get(cause, 0) for cause in causes}
        return dict(sorted(changes.items(), key=lambda item: -abs(item[1])))

    @property
    def total_ns(self) -> tuple[float, float]:
        """Latency of these requests in the mean."""
        return sum(self.each_ns[0].values()), sum(self.each_ns[1].values())


def _course(run: Result) -> tuple[object, ...]:
    """What a run did: its digest, which without time is of commands alone, and the flash's wear."""
    return run.digest, run.summary["wear"], run.summary["write_amplification"]


@dataclass(frozen=True, repr=False)
class Contrast:
    """One side against the baseline."""

    baseline: Side
    other: Side
    arrivals: Arrivals
    """What the sides have in common in what was asked of them."""
    differences: list[Difference]
    """A row for each figure."""
    tails: list[Tail]
    """For each initiator and kind where the tail's difference comes from."""

    @property
    def partial(self) -> str | None:
        """Why its figures cannot be compared, in a clause; None where they can."""
        return self.baseline.partial or self.other.partial

    @property
    def are_identical(self) -> bool:
        """True where every run went as its like, to the last completion."""
        sides = (self.baseline.results, self.other.results)
        return [_course(run) for run in sides[0]] == [_course(run) for run in sides[1]]

    @property
    def winner(self) -> Side | None:
        """The side that serves hosts better in every figure with a significant difference.

        None where there is no such difference, or where each side has its own.
        """
        named = {row.winner for row in self.differences if row.initiator and row.winner}
        if len(named) != 1:
            return None
        return self.other if named == {"other"} else self.baseline

    def difference(self, initiator: str, kind: str, figure: str) -> Difference:
        """Return one row; raise KeyError where it was not compared."""
        for row in self.differences:
            if (row.initiator, row.kind, row.figure) == (initiator, kind, figure):
                return row
        raise KeyError((initiator, kind, figure))

    @property
    def verdict(self) -> str:
        """Who wins, in a sentence."""
        a, b = self.baseline.label, self.other.label
        if self.are_identical:
            return f"{a} and {b} are the same run, to the last completion."
        if self.partial is not None:
            return (
                f"No winner: {self.partial}, so its figures leave out requests that were not "
                "answered, and are not comparable."
            )
        if self.baseline.results[0].untimed:
            return "Runs without time have no latencies, so no winner: what they cost the flash."
        tested = [row for row in self.differences if row.corrected is not None and row.initiator]
        if not tested:
            return "No difference has an interval, so neither can be named the winner."
        significant = [row for row in tested if row.winner]
        of_all = f"{len(significant)} of {len(tested)} latencies and rates"
        if not significant:
            rest = sum(row.corrected is None and bool(row.initiator) for row in self.differences)
            more = f"; {rest} more have no interval" if rest else ""
            return f"No significant difference in any of {len(tested)} latencies and rates{more}."
        if self.winner is not None:
            return f"{self.winner.label} wins: {of_all} differ significantly, all in its favour."
        wins = sum(row.winner == "other" for row in significant)
        return (
            f"Neither wins: of {of_all} that differ significantly {b} is better in {wins}, "
            f"{a} in {len(significant) - wins}."
        )

    @property
    def sentences(self) -> list[str]:
        """Who starved, one for each initiator and kind, then what it costs the drive."""
        starved = [told for side in (self.baseline, self.other) if (told := side.starved)]
        groups = dict.fromkeys(row.group for row in self.differences if row.initiator)
        return [*starved, *(self._of_group(*group) for group in groups), *self._costs()]

    def _of_group(self, initiator: str, kind: str) -> str:
        name = f"{initiator} {kind.replace('_', '-')}"
        rows = [row for row in self.differences if row.group == (initiator, kind)]
        shown = [row for row in rows if row.winner] or [rows[0], *self._farthest(rows)]
        if not any(row.winner for row in rows):
            figures = "; ".join(_against(row, self) for row in dict.fromkeys(shown))
            if any(row.corrected is not None for row in rows):
                return f"{name}: no significant difference ({figures})."
            return f"{name}: {figures}; without an interval, {self._why_none()}."
        far = self._farthest(shown) or [shown[-1]]
        told = [_moves(row) for row in dict.fromkeys([*far, *_mean(shown)])]
        return f"{name}: {', '.join(told)}.{self._tail(initiator, kind)}"

    def _why_none(self) -> str:
        if self.partial is not None:
            return f"as {self.partial}"
        results = (*self.baseline.results, *self.other.results)
        if any(result.log is None for result in results):
            return "as there are no logs of both runs"
        return (
            "as requests are too few or resemble each other for too long: run longer, or "
            "several seeds"
        )

    @staticmethod
    def _farthest(rows: list[Difference]) -> list[Difference]:
        """The farthest percentile, up to p99.9 where there is a choice."""
        far = [row for row in rows if row.figure in of.FAR]
        upto = [row for row in far if of.FAR.index(row.figure) <= of.FAR.index("p99_9")]
        return (upto or far)[-1:]

    def _tail(self, initiator: str, kind: str) -> str:
        for tail in self.tails:
            if (tail.initiator, tail.kind) != (initiator, kind):
                continue
            before, after = tail.total_ns
            change = after - before
            # What goes the way of the whole, which the rest may partly undo.
            parts = [
                f"{units.duration(abs(ns))} {'more' if change > 0 else 'less'} {cause.phrase}"
                for cause, ns in tail.change_ns.items()
                if ns * change > 0 and abs(ns) >= _NAMED * abs(change)
            ]
            if not parts:
                continue
            return (
                f" Requests beyond p{tail.above:g} take {units.duration(abs(change))} "
                f"{'more' if change > 0 else 'less'} in the mean: {', '.join(parts)}."
            )
        return ""

    def _costs(self) -> list[str]:
        rows = [row for row in self.differences if row.figure in _COSTS]
        return [f"{_COSTS[row.figure].capitalize()}: {_against(row, self)}." for row in rows]


@dataclass(frozen=True, repr=False)
class Comparison:
    """Runs side by side: the first against each of the others."""

    sides: list[Side]
    contrasts: list[Contrast]
    alpha: float
    """The chance, over all figures together, of calling any difference significant by mistake."""

    @property
    def winner(self) -> Side | None:
        """Of two sides, the one that is better; None where that is not significant."""
        return self.contrasts[0].winner if len(self.contrasts) == 1 else None

    @property
    def tests(self) -> int:
        """How many differences were tested together."""
        rows = (row for contrast in self.contrasts for row in contrast.differences)
        return sum(row.corrected is not None for row in rows)

    @property
    def method(self) -> str:
        """How intervals were made and probabilities corrected, in sentences."""
        methods = {r.method for c in self.contrasts for r in c.differences} - {"none"}
        told = [text for method, text in _METHODS.items() if method in methods]
        if told and len(self.sides[0].results) == 1:
            told.append("They cover the course of one run; --seeds N repeats it.")
        told.append(
            f"{units.many(self.tests, 'difference')} {'is' if self.tests == 1 else 'are'} tested "
            f"together (Holm), at {units.percent(self.alpha)} "
            "for all of them."
            if self.tests
            else "Nothing is tested."
        )
        return " ".join(told)

    @property
    def verdicts(self) -> list[str]:
        """Who wins in each contrast; of several, with the names of the two."""
        if len(self.contrasts) == 1:
            return [self.contrasts[0].verdict]
        return [f"{c.other.label} against {c.baseline.label}: {c.verdict}" for c in self.contrasts]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A row for each figure of each contrast; columns as in docs/compare.md."""
        import polars

        rows = [_row(c, row) for c in self.contrasts for row in c.differences]
        return polars.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data: what ``--json`` writes."""
        return {
            "alpha": self.alpha,
            "tests": self.tests,
            "method": self.method,
            "sides": [
                {
                    "label": side.label,
                    "name": side.name,
                    "seeds": list(side.seeds),
                    "digests": [run.digest for run in side.results],
                }
                for side in self.sides
            ],
            "contrasts": [_contrast(contrast) for contrast in self.contrasts],
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write ``comparison.json`` and, with matplotlib, its picture to a directory."""
        with output.Directory.claim(path, force=force) as directory:
            self.write_to(directory)

    def write_to(self, directory: output.Directory) -> None:
        """Add document and picture to a directory; raise OutputError."""
        from flashscape import picture

        directory.add(DOCUMENT, self.to_json().encode())
        if picture.is_available() and not self.sides[0].results[0].untimed:
            from flashscape.compare import picture as overlay

            directory.add(PICTURE, overlay.svg(self))

    def _repr_html_(self) -> str:
        from flashscape.report import html

        return html.comparison(self)

    def __repr__(self) -> str:
        return f"<Comparison {' '.join(self.verdicts)}>"


_METHODS = {
    "seeds": "Intervals are Student's t over runs that are paired by their seeds.",
    "paired blocks": "Intervals come from blocks of the same requests in both runs: batch means, "
    "and a bootstrap of blocks for percentiles.",
    "blocks": "Intervals come from blocks of each run's own requests, which are not the same.",
    "intervals of the means": "Intervals of means come from those of the summaries, as if the "
    "runs were independent; without logs of both (--requests) percentiles have none.",
}


def tails(one: Side, other: Side, groups: list[tuple[str, str]]) -> list[Tail]:
    """Where the requests beyond the farthest founded percentile spent their time."""
    found = []
    for group in groups:
        fewest = min(_requests(run, group) for run in (*one.results, *other.results))
        founded = (p for p in _FAR if round(fewest * (100 - p) / 100, 6) >= FOUNDED)
        if (above := next(founded, None)) is None:
            continue
        each = [_mean_blame([_blame(run, group, above) for run in s.results]) for s in (one, other)]
        found.append(Tail(*group, above, (each[0], each[1])))
    return found


def _requests(run: Result, group: tuple[str, str]) -> int:
    return next((f["requests"] for name, kind, f in run.groups() if (name, kind) == group), 0)


def _blame(run: Result, group: tuple[str, str], above: float) -> dict[Cause, float]:
    import polars as pl

    own = (pl.col("initiator") == group[0]) & (pl.col("kind") == group[1])
    return region(run.bands.filter(own), run.slowest.filter(own), above).each_ns


def _mean_blame(each: list[dict[Cause, float]]) -> dict[Cause, float]:
    causes = dict.fromkeys(cause for one in each for cause in one)
    return {cause: sum(one.get(cause, 0) for one in each) / len(each) for cause in causes}


def _mean(rows: list[Difference]) -> list[Difference]:
    return [row for row in rows if row.figure == "mean"]


def figure_name(figure: str) -> str:
    """As people write it: ``p99.9``, ``the mean``."""
    return {"iops": "IOPS", **_COSTS}.get(figure, figure.replace("_", "."))


def shown(figure: str, value: float) -> str:
    """A value of a figure, in its unit."""
    if figure == "iops":
        return units.count(value)
    if figure in ("write_amplification", "erase_count_stddev"):
        return f"{value:.3f}"
    if figure == "worn_out_bytes":
        return units.size(value)
    if figure == "erases":
        return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
    return units.duration(value)


def signed(figure: str, value: float) -> str:
    """A difference with its sign."""
    if value == 0:
        return "0"
    return f"{'+' if value > 0 else '−'}{shown(figure, abs(value))}"


def _moves(row: Difference) -> str:
    verb = "rises" if row.difference > 0 else "falls"
    what = "the mean" if row.figure == "mean" else figure_name(row.figure)
    low, high = row.interval or (row.difference, row.difference)
    percent = f"{100 * (1 - row.alpha):.4g}"
    return (
        f"{what} {verb} from {shown(row.figure, row.baseline)} to {shown(row.figure, row.other)} "
        f"({signed(row.figure, row.difference)}; {percent} %: {signed(row.figure, low)} to "
        f"{signed(row.figure, high)})"
    )


def _against(row: Difference, contrast: Contrast) -> str:
    name = "" if row.figure in _COSTS else f"{figure_name(row.figure)} "
    told = (
        f"{name}{shown(row.figure, row.baseline)} in {contrast.baseline.label}, "
        f"{shown(row.figure, row.other)} in {contrast.other.label}"
    )
    if row.figure in _COSTS and row.corrected is not None:
        told += ", a significant difference" if row.is_significant else ", not significant"
    return told


def _row(contrast: Contrast, row: Difference) -> dict[str, Any]:
    low, high = row.interval or (None, None)
    winner = {"baseline": contrast.baseline, "other": contrast.other, None: None}[row.winner]
    return {
        "baseline": contrast.baseline.label,
        "other": contrast.other.label,
        "initiator": row.initiator,
        "kind": row.kind,
        "figure": row.figure,
        "baseline_value": row.baseline,
        "other_value": row.other,
        "difference": row.difference,
        "low": low,
        "high": high,
        "p": row.estimate.p if row.estimate else None,
        "p_corrected": row.corrected,
        "significant": row.is_significant,
        "winner": winner.label if winner else None,
        "baseline_samples": row.samples[0],
        "other_samples": row.samples[1],
        "method": row.method,
    }


def _contrast(contrast: Contrast) -> dict[str, Any]:
    winner = contrast.winner
    return {
        "baseline": contrast.baseline.label,
        "other": contrast.other.label,
        "identical": contrast.are_identical,
        "winner": winner.label if winner else None,
        "verdict": contrast.verdict,
        "sentences": contrast.sentences,
        "arrivals": contrast.arrivals.likeness,
        "arrivals_reason": contrast.arrivals.sentence,
        "differences": [_row(contrast, row) for row in contrast.differences],
        "tails": [
            {
                "initiator": tail.initiator,
                "kind": tail.kind,
                "above_percentile": tail.above,
                "baseline_ns": {cause.name: ns for cause, ns in tail.each_ns[0].items()},
                "other_ns": {cause.name: ns for cause, ns in tail.each_ns[1].items()},
            }
            for tail in contrast.tails
        ],
    }
