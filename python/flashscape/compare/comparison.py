"""Runs side by side, in pairs: as words, table and document."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashscape import directories, drawing, outages, output, spelling, units
from flashscape.arguments import checks_arguments
from flashscape.frames import to_pandas

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl
    from matplotlib.figure import Figure

    from flashscape.compare.contrast import Contrast
    from flashscape.compare.difference import Difference
    from flashscape.compare.picture import Subject
    from flashscape.compare.side import Side

PICTURE = "comparison.svg"
DOCUMENT = directories.COMPARISON.document


@dataclass(frozen=True, repr=False)
class Comparison:
    """Runs side by side, in pairs."""

    sides: list[Side]
    contrasts: list[Contrast]
    alpha: float
    """The chance, over all figures together, of calling any difference significant by mistake."""
    least: float = 0.0
    """Share of a figure below which a difference does not count."""

    @property
    def winner(self) -> Side | None:
        """The side that wins against each other one; None if none does, or not all were compared.

        Of two sides it is the better one, if that is significant.
        """
        for side in self.sides:
            of = [c for c in self.contrasts if side is c.baseline or side is c.other]
            if len(of) == len(self.sides) - 1 and all(c.winner is side for c in of):
                return side
        return None

    @property
    def headline(self) -> str | None:
        """Sentence on all of several pairs; None for one pair, or if not all were compared."""
        sides = len(self.sides)
        if sides < 3 or len(self.contrasts) < sides * (sides - 1) // 2:
            return None
        if self.winner is not None:
            return f"{self.winner.shown} wins against each of the others."
        wins = [c.winner.shown for c in self.contrasts if c.winner is not None]
        if not wins:
            return "No side wins against another."
        told = ", ".join(f"{name} wins {wins.count(name)}" for name in dict.fromkeys(wins))
        return f"No side wins against all others: of {len(self.contrasts)} pairs {told}."

    @property
    def tests(self) -> int:
        """Number of differences that were tested together."""
        rows = (row for contrast in self.contrasts for row in contrast.differences)
        return sum(row.corrected is not None for row in rows)

    @property
    def method(self) -> str:
        """Description of the intervals and of the correction, in sentences."""
        told = [self._of_method(method, text) for method, text in _METHODS.items()]
        told = [text for text in told if text]
        if told and len(self.sides[0].results) == 1:
            seeds = spelling.option("--seeds N", "seeds=N")
            told.append(f"They cover the course of one run; {seeds} repeats it.")
        return " ".join([*told, self._tested])

    def _of_method(self, method: str, text: str) -> str:
        """Return the sentence about a method, with the sides that it is used for if not for all."""
        whose = [
            contrast.other.shown
            for contrast in self.contrasts
            if any(row.method == method for row in contrast.differences)
        ]
        if len(whose) in (0, len(self.contrasts)):
            return text if whose else ""
        return f"{', '.join(whose)}: {text[:1].lower()}{text[1:]}"

    @property
    def _tested(self) -> str:
        chance = units.percent(self.alpha)
        if self.tests == 0:
            return "Nothing is tested."
        small = f" Differences below {100 * self.least:g} % do not count." if self.least else ""
        if self.tests == 1:
            return (
                "1 difference is tested; it is called significant by mistake in "
                f"{chance} of cases.{small}"
            )
        return (
            f"{self.tests:,} differences are tested together{self._of_what}: the chance of calling "
            f"any of them significant by mistake is {chance} (Holm's correction).{small}"
        )

    @property
    def _of_what(self) -> str:
        """Clause that tells hosts' figures from those of drives, which a verdict leaves out."""
        rows = (row for contrast in self.contrasts for row in contrast.differences)
        of_drives = sum(row.corrected is not None and not row.initiator for row in rows)
        if of_drives in (0, self.tests):
            return ""
        return f" ({self.tests - of_drives:,} of hosts, {of_drives:,} of the drive)"

    @property
    def verdicts(self) -> list[str]:
        """Verdict of each contrast; if there are several, with the names of its two sides."""
        if len(self.contrasts) == 1:
            return [self.contrasts[0].verdict]
        return [f"{c.other.shown} against {c.baseline.shown}: {c.verdict}" for c in self.contrasts]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Return a row for each figure of each contrast; columns as in docs/compare.md."""
        import polars

        rows = [_row(c, row) for c in self.contrasts for row in c.differences]
        return polars.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data: the contents of ``--json``."""
        return {
            "alpha": self.alpha,
            "least": self.least,
            "tests": self.tests,
            "figures": list(self.contrasts[0].wanted.counted),
            "method": self.method,
            "sides": [
                {
                    "label": side.label,
                    "name": side.name,
                    "title": side.title,
                    "is_named": side.is_named,
                    "seeds": list(side.seeds),
                    "digests": [run.digest for run in side.results],
                    "results": list(side.folders),
                    "steady_state": [run.summary["steady_state"] for run in side.results],
                    "worn_out_bytes": [run.worn_out_bytes for run in side.results],
                    "power_cuts": [len(outages.of_run(run)) for run in side.results],
                    "lost_requests": [outages.lost_requests(run) for run in side.results],
                }
                for side in self.sides
            ],
            "contrasts": [_contrast(contrast) for contrast in self.contrasts],
        }

    def to_json(self) -> str:
        """Return the comparison as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    @checks_arguments
    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write ``comparison.json`` to a directory; raise OutputError if it is in use."""
        with output.Directory.claim(path, force=force) as directory:
            self.write_to(directory)

    def write_to(self, directory: output.Directory) -> None:
        """Add the document to a directory; raise OutputError."""
        directory.add(DOCUMENT, self.to_json().encode())

    def pictured(self) -> Subject:
        """Return the subject of the comparison's picture."""
        from flashscape.compare.picture import Row, Subject

        rows = [row for contrast in self.contrasts for row in contrast.differences]
        drawn = [Row(row.group, row.winner is not None) for row in rows]
        return Subject(self.sides, drawn, self.verdicts)

    def figure(self) -> Figure:
        """Draw the sides' latency tails as a figure of matplotlib, which notebooks show.

        Raises OutputError if there is nothing to draw, or matplotlib is not installed.
        """
        from flashscape.compare import picture

        subject = self.pictured()
        drawing.refuse(picture.why_not(subject))
        return picture.draw(subject)

    @checks_arguments
    def draw_to(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Draw the sides' latency tails to a PNG, PDF or SVG file, as its suffix says.

        Raises OutputError for another suffix, if the file exists already without
        ``force``, and as :meth:`figure` does.
        """
        drawing.write(self.figure, path, force=force)

    def to_pandas(self) -> Any:
        """Return :attr:`frame` as a DataFrame of pandas; raise OutputError without pandas."""
        return to_pandas(self.frame)

    def _repr_html_(self) -> str:
        from flashscape.report import html
        from flashscape.report.contrast import differences

        sections = [
            html.Section(
                verdict,
                f"Arrivals: {contrast.arrivals.sentence}",
                differences(contrast),
                contrast.sentences,
                [f"Not tested: {each.sentence}" for each in contrast.untested],
            )
            for contrast, verdict in zip(self.contrasts, self.verdicts, strict=True)
        ]
        first = [side.about for side in self.sides]
        if self.headline is not None:
            first.append(self.headline)
        return html.document(first, sections, self.method)

    def __repr__(self) -> str:
        return f"<Comparison {' '.join(self.verdicts)}>"


_METHODS = {
    "seeds": "Intervals are Student's t over runs that are paired by their seeds.",
    "paired blocks": "Intervals come from blocks of the same requests in both runs: batch means, "
    "and a bootstrap of blocks for percentiles.",
    "blocks": "Intervals come from blocks of each run's own requests, which are not the same.",
    "intervals of the means": "Intervals of means come from those of the summaries, as if the "
    "runs were independent.",
    "slowest requests": "Intervals of far percentiles come from the slowest requests, by their "
    "times and latencies.",
}


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
        "outcome": row.outcome,
        "counts": row.counts,
        "winner": winner.label if winner else None,
        "baseline_samples": row.samples[0],
        "other_samples": row.samples[1],
        "method": row.method,
        "unjudged": row.unjudged,
        "baseline_name": contrast.baseline.name,
        "other_name": contrast.other.name,
    }


def _contrast(contrast: Contrast) -> dict[str, Any]:
    winner = contrast.winner
    return {
        "baseline": contrast.baseline.label,
        "other": contrast.other.label,
        "identical": contrast.are_identical,
        "winner": winner.label if winner else None,
        "untested": [
            {"figures": list(each.names), "why": each.why, "remedy": each.remedy}
            for each in contrast.untested
        ],
        "baseline_name": contrast.baseline.name,
        "other_name": contrast.other.name,
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
