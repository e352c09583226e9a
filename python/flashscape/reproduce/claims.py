"""Claims of a paper, and their bounds on our figures: ``claims.toml`` as data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashscape.near import listed
from flashscape.reproduce.bound_data import Reader
from flashscape.reproduce.faults import found

if TYPE_CHECKING:
    from flashscape.reproduce.bounds import Bound
    from flashscape.reproduce.faults import Faults

PROFILES = ("short", "full")
"""Lengths of runs: minutes, or enough requests for the farthest percentiles."""

CHECKED, CONTEXT = "checked", "context"
_KINDS = (CHECKED, CONTEXT)
_KEYS = ("id", "exhibit", "claim", "paper", "kind", "figures", "bounds", "direction", "short")
_SHORT_KEYS = ("bounds", "direction", "not_run", "note")
_IS_ID = re.compile(r"[A-Z]+-[0-9]+[a-z]?").fullmatch
_IS_FIGURE = re.compile(r"[a-z][a-z0-9_]*").fullmatch


@dataclass(frozen=True)
class Criteria:
    """Requirements of a claim in a profile."""

    bounds: tuple[Bound, ...] = ()
    """Bounds that all hold if the claim is reproduced."""
    direction: tuple[Bound, ...] = ()
    """Weaker bounds: they hold if the order is right and the size is not; empty for none."""
    not_run: str | None = None
    """Reason for which the profile leaves the claim out; None if it does not."""
    note: str | None = None
    """Difference of the profile; None if there is none."""


@dataclass(frozen=True)
class Claim:
    """One statement of a paper that can be checked, or that is context."""

    id: str
    exhibit: str
    text: str
    """Statement, in our own words."""
    paper: str
    """Figure of the paper, with its unit."""
    kind: str
    """``checked``, or ``context`` if there is no number to check."""
    figures: dict[str, str] = field(default_factory=dict)
    """Figures to measure: names that end with units, and their meanings."""
    short: Criteria = Criteria()
    full: Criteria = Criteria()

    @property
    def is_context(self) -> bool:
        """True if there is no number to check."""
        return self.kind == CONTEXT

    def criteria(self, profile: str) -> Criteria:
        """Return the requirements in a profile."""
        return self.short if profile == "short" else self.full


def read_claims(raw: dict[str, Any], faults: Faults, exhibits: tuple[str, ...]) -> list[Claim]:
    """Read all claims of a study; record faults."""
    faults.known(raw, ("claim",), "")
    entries = raw.get("claim")
    if not isinstance(entries, list) or not entries:
        faults.add("claim", "a study has claims; write [[claim]]")
        return []
    claims = []
    for at, entry in enumerate(entries):
        place = f"claim[{at}]"
        if isinstance(entry, dict):
            claims.append(_claim(entry, place, faults, exhibits))
        else:
            faults.add(place, f"{found(entry)} is not a table")
    seen: dict[str, int] = {}
    for at, claim in enumerate(claims):
        if claim.id and claim.id in seen:
            faults.add(f"claim[{at}].id", f"{claim.id} is the id of claim[{seen[claim.id]}], too")
        seen.setdefault(claim.id, at)
    return claims


def _claim(table: dict[str, Any], place: str, faults: Faults, exhibits: tuple[str, ...]) -> Claim:
    faults.known(table, _KEYS, place)
    name, exhibit, text, paper = (
        faults.text(table, key, place) for key in ("id", "exhibit", "claim", "paper")
    )
    if name and not _IS_ID(name):
        faults.add(f"{place}.id", f"{found(name)} is no id such as E-1")
    if exhibit and exhibit not in exhibits:
        message = f"no exhibit {exhibit} {listed(exhibit, exhibits, 'paper.toml has')}"
        faults.add(f"{place}.exhibit", message)
    kind = table.get("kind", CHECKED)
    if kind not in _KINDS:
        faults.add(f"{place}.kind", f"{found(kind)} is none of {', '.join(_KINDS)}")
    figures = _figures(table, place, faults)
    short, full = _both(table, place, faults, tuple(figures), kind)
    return Claim(name, exhibit, text, paper, kind, figures, short, full)


def _figures(table: dict[str, Any], place: str, faults: Faults) -> dict[str, str]:
    given = table.get("figures", {})
    if not isinstance(given, dict):
        faults.add(f"{place}.figures", f"{found(given)} is not a table of names and meanings")
        return {}
    for name, meaning in given.items():
        if not _IS_FIGURE(name):
            faults.add(f"{place}.figures", f"{found(name)} is no name such as read_p99_9_ns")
        if not isinstance(meaning, str) or not meaning.strip():
            faults.add(f"{place}.figures.{name}", f"{found(meaning)} says no meaning")
    return given


def _both(
    table: dict[str, Any], place: str, faults: Faults, figures: tuple[str, ...], kind: Any
) -> tuple[Criteria, Criteria]:
    """Return the requirements of the short and of the full profile."""
    if kind == CONTEXT:
        for key in ("bounds", "direction", "short"):
            if key in table:
                faults.add(f"{place}.{key}", "a claim that is context has nothing to check")
        return Criteria(), Criteria()
    if "bounds" not in table:
        faults.add(place, 'bounds are missing (a claim without a number is kind = "context")')
        return Criteria(), Criteria()
    reader = Reader(faults, figures)
    full = Criteria(
        reader.bounds(table["bounds"], f"{place}.bounds"),
        reader.bounds(table["direction"], f"{place}.direction") if "direction" in table else (),
    )
    short = _short(table["short"], f"{place}.short", reader, full) if "short" in table else full
    used = {
        name for each in (full, short) for b in (*each.bounds, *each.direction) for name in b.names
    }
    if len(faults.problems) == 0 and (unused := [name for name in figures if name not in used]):
        faults.add(f"{place}.figures", f"no bound looks at {', '.join(unused)}")
    return short, full


def _short(table: Any, place: str, reader: Reader, full: Criteria) -> Criteria:
    faults = reader.faults
    if not isinstance(table, dict):
        faults.add(place, f"{found(table)} is not a table")
        return full
    faults.known(table, _SHORT_KEYS, place)
    not_run, note = (
        faults.text(table, key, place, needed=False) or None for key in ("not_run", "note")
    )
    if not_run and len(table) > 1:
        faults.add(place, "what is not run has no bounds and no note")
    if "bounds" in table and note is None:
        faults.add(place, "other bounds need a note that says what is different")
    bounds, direction = full.bounds, full.direction
    if "bounds" in table:
        # The weaker bounds of the full profile may need more than this profile reaches.
        bounds, direction = reader.bounds(table["bounds"], f"{place}.bounds"), ()
    if "direction" in table:
        direction = reader.bounds(table["direction"], f"{place}.direction")
    return Criteria(bounds, direction, not_run, note)
