"""Judgement of a claim by its measured figures: a verdict and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flashscape.errors import StudyError
from flashscape.near import listed
from flashscape.reproduce.compared import Unmeasurable
from flashscape.reproduce.exhibit import blamed
from flashscape.reproduce.figures import words
from flashscape.reproduce.outcomes import NotRun

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.reproduce.bounds import Bound, Finding
    from flashscape.reproduce.claims import Claim, Criteria
    from flashscape.reproduce.exhibit import Answer, Measure
    from flashscape.reproduce.figures import Figure
    from flashscape.reproduce.outcomes import Outcomes

Verdict = Literal["reproduced", "direction", "missed", "not-run", "context"]

VERDICTS: dict[Verdict, str] = {
    "reproduced": "within the bounds that ship as data",
    "direction": "the right order, and the wrong size, or support by synthetic traces only",
    "missed": "not even the right order",
    "not-run": "a trace is absent, or the profile has too few samples",
    "context": "no number to check",
}
"""Every verdict with its meaning, from the best on."""


@dataclass(frozen=True)
class CheckedBound:
    """A bound, with True if our figures hold it."""

    bound: str
    """Text of the bound."""
    source: str
    """``paper``, or ``reading`` for a number of ours where the paper has none."""
    holds: bool | None
    """True if it holds; None if the figures do not tell."""
    is_direction: bool
    """True for the weaker bounds, for the right order with the wrong size."""

    @classmethod
    def of(
        cls, bound: Bound, holds: bool | None = None, *, is_direction: bool = False
    ) -> CheckedBound:
        """Return the result of a bound."""
        return cls(bound.text, bound.source, holds, is_direction)

    def as_json(self) -> dict[str, Any]:
        """Return the bound as ``--json`` writes it."""
        return {
            "bound": self.bound,
            "source": self.source,
            "holds": self.holds,
            "direction": self.is_direction,
        }


@dataclass(frozen=True)
class CheckedClaim:
    """A claim, our figure, and the verdict."""

    id: str
    exhibit: str
    claim: str
    """Statement of the paper, in our words."""
    paper: str
    """Figure of the paper, with its unit."""
    ours: str | None
    """Our figure, with its unit; None if nothing was measured."""
    verdict: Verdict
    reason: str | None
    """Reason for which it is not ``reproduced``; None if it is, or is ``context``."""
    note: str | None
    """Difference of this profile; None if there is none."""
    figures: dict[str, Any]
    """Measured figures: names end with units."""
    samples: dict[str, dict[str, int]]
    """Sample counts of each figure: ``samples``, and for a percentile ``at_or_beyond``."""
    judged_by: tuple[str, ...]
    """Figures that the bounds of this profile use."""
    bounds: tuple[CheckedBound, ...]
    runs: tuple[str, ...]
    """Runs that it was measured in."""

    def as_json(self) -> dict[str, Any]:
        """Return the claim as ``--json`` writes it."""
        return {
            "id": self.id,
            "claim": self.claim,
            "paper": self.paper,
            "ours": self.ours,
            "verdict": self.verdict,
            "reason": self.reason,
            "exhibit": self.exhibit,
            "note": self.note,
            "figures": self.figures,
            "samples": self.samples,
            "judged_by": list(self.judged_by),
            "bounds": [bound.as_json() for bound in self.bounds],
            "runs": list(self.runs),
        }


def check(claim: Claim, measure: Measure | None, runs: Outcomes, profile: str) -> CheckedClaim:
    """Measure a claim and judge it; raise StudyError if data and code do not match."""
    criteria = claim.criteria(profile)
    if criteria.not_run is not None:
        return _told(claim, criteria, "not-run", criteria.not_run)
    if measure is None:
        return _told(claim, criteria, "context", None)
    try:
        with blamed(f"{claim.exhibit}: {claim.id}"):
            answer = measure(runs)
    except NotRun as refused:
        verdict: Verdict = "context" if claim.is_context else "not-run"
        reason = None if claim.is_context else str(refused)
        return _told(claim, criteria, verdict, reason, runs=runs.looked_at)
    figures = _figures(claim, answer)
    verdict, reason, bounds = judge(criteria, figures, is_context=claim.is_context)
    if verdict in ("direction", "missed") and answer.reason:
        reason = f"{reason}. {answer.reason}"
    if verdict == "reproduced" and answer.no_better is not None:
        verdict, reason = "direction", answer.no_better
    return CheckedClaim(
        **_said(claim, criteria),
        ours=answer.ours,
        verdict=verdict,
        reason=reason,
        figures={name: _plain(figure) for name, figure in figures.items()},
        samples={name: s for name, figure in figures.items() if (s := _samples(figure))},
        judged_by=_judged_by(criteria),
        bounds=bounds,
        runs=runs.looked_at,
    )


def _judged_by(criteria: Criteria) -> tuple[str, ...]:
    both = (*criteria.bounds, *criteria.direction)
    return tuple(dict.fromkeys(name for bound in both for name in bound.names))


def judge(
    criteria: Criteria, figures: dict[str, Figure], *, is_context: bool = False
) -> tuple[Verdict, str | None, tuple[CheckedBound, ...]]:
    """Return the verdict on figures, its reason, and the result of each bound."""
    if is_context:
        return "context", None, ()
    try:
        _refuse_unknown(criteria.bounds, figures)
        strong = [(bound, bound.check(figures)) for bound in criteria.bounds]
    except Unmeasurable as nothing:
        return "not-run", str(nothing), _untold(criteria)
    checked = _checked(strong, is_direction=False)
    if all(finding.holds for _, finding in strong):
        return "reproduced", None, checked
    missed = [(bound, finding) for bound, finding in strong if not finding.holds]
    why = "; ".join(_why_not(bound, finding) for bound, finding in missed)
    if all(bound.is_reading for bound, _ in missed):
        return "direction", why, checked
    if not criteria.direction:
        return "missed", why, checked
    try:
        _refuse_unknown(criteria.direction, figures)
        weak = [(bound, bound.check(figures)) for bound in criteria.direction]
    except Unmeasurable as nothing:
        return "missed", f"{why}; whether the order is right is unknown: {nothing}", checked
    checked += _checked(weak, is_direction=True)
    if all(finding.holds for _, finding in weak):
        return "direction", why, checked
    more = "; ".join(finding.why_not for _, finding in weak if not finding.holds)
    return "missed", why if more in why else f"{why}; {more}", checked


def _refuse_unknown(bounds: Iterable[Bound], figures: dict[str, Figure]) -> None:
    """Raise Unmeasurable if a needed figure is unusable."""
    for name in dict.fromkeys(name for bound in bounds for name in bound.names):
        if (why := figures[name].unknown) is not None:
            raise Unmeasurable(f"{words(name)} {why}")


def _why_not(bound: Bound, finding: Finding) -> str:
    return f"{finding.why_not}, a bound of ours" if bound.is_reading else finding.why_not


def _checked(
    findings: Iterable[tuple[Bound, Finding]], *, is_direction: bool
) -> tuple[CheckedBound, ...]:
    return tuple(
        CheckedBound.of(bound, found.holds, is_direction=is_direction) for bound, found in findings
    )


def _untold(criteria: Criteria) -> tuple[CheckedBound, ...]:
    return tuple(CheckedBound.of(bound) for bound in criteria.bounds)


def _figures(claim: Claim, answer: Answer) -> dict[str, Figure]:
    """Return the figures in the order of the data; raise StudyError if names do not match."""
    for name in answer.figures:
        if name not in claim.figures:
            hint = listed(name, claim.figures, "the claim declares")
            raise StudyError(f"{claim.id}: measures {name} {hint}")
    if lacking := [name for name in claim.figures if name not in answer.figures]:
        raise StudyError(f"{claim.id}: does not measure {', '.join(lacking)}")
    try:
        return {name: answer.figure(name) for name in claim.figures}
    except TypeError as error:
        raise StudyError(f"{claim.id}: {error}") from error


def _said(claim: Claim, criteria: Criteria) -> dict[str, Any]:
    return {
        "id": claim.id,
        "exhibit": claim.exhibit,
        "claim": claim.text,
        "paper": claim.paper,
        "note": criteria.note,
    }


def _told(
    claim: Claim,
    criteria: Criteria,
    verdict: Verdict,
    reason: str | None,
    runs: tuple[str, ...] = (),
) -> CheckedClaim:
    """Return a claim for which nothing was measured."""
    nothing: dict[str, Any] = {"ours": None, "figures": {}, "samples": {}, "judged_by": ()}
    bounds = _untold(criteria)
    said = _said(claim, criteria)
    return CheckedClaim(**said, **nothing, verdict=verdict, reason=reason, bounds=bounds, runs=runs)


def _plain(figure: Figure) -> Any:
    """Return a value for JSON, which has no infinite numbers and no NaN."""
    if figure.unknown == "is no finite number":
        return None
    return list(figure.value) if isinstance(figure.value, tuple) else figure.value


def _samples(figure: Figure) -> dict[str, int]:
    counts = {"samples": figure.samples, "at_or_beyond": figure.beyond}
    return {name: count for name, count in counts.items() if count is not None}
