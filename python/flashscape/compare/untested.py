"""Figures that a comparison cannot test, with the reasons and the remedies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flashscape import units
from flashscape.compare import differences
from flashscape.compare.side import lost_apart
from flashscape.compare.wanted import DRIVE, name
from flashscape.compare.words import COSTS, figure_name
from flashscape.regions import FOUNDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashscape.compare.difference import Difference
    from flashscape.compare.side import Side
    from flashscape.compare.wanted import Wanted

SEEDS = "compare the experiment files with --seeds 5 (seeds=5)"


class Untested(NamedTuple):
    """Figures that could not be tested, for one reason."""

    names: tuple[str, ...]
    """Names, as ``--for`` takes them."""
    why: str
    """Reason, as a clause."""
    remedy: str | None
    """Remedy; None if there is none."""

    @property
    def sentence(self) -> str:
        """Reason and remedy as a sentence."""
        remedy = f"; to test them, {self.remedy}" if self.remedy else ""
        return f"{_listed(self.names)}: {self.why}{remedy}."


class Compared(NamedTuple):
    """Inputs of a comparison that the reasons are derived from."""

    baseline: Side
    other: Side
    rows: Sequence[Difference]
    has_logs: bool
    wanted: Wanted

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides."""
        return self.baseline, self.other

    @property
    def untimed(self) -> bool:
        """True if the runs were untimed."""
        return self.baseline.results[0].untimed


def of(compared: Compared) -> list[Untested]:
    """Return the untested figures that count, in the order of the table."""
    alike: dict[tuple[str, str | None], list[str]] = {}
    for row in compared.rows:
        if row.counts and row.corrected is None:
            alike.setdefault(_reason(row, compared), []).append(name(*row.group, row.figure))
    for each, why in _absent(compared):
        alike.setdefault(why, []).append(each)
    return [Untested(tuple(names), *why) for why, names in alike.items()]


def of_hosts(found: Sequence[Untested]) -> list[Untested]:
    """Return the untested figures without those of the drive."""
    costs = {name("", "", cost) for cost in COSTS}
    kept = (each._replace(names=tuple(n for n in each.names if n not in costs)) for each in found)
    return [each for each in kept if each.names]


def _reason(row: Difference, compared: Compared) -> tuple[str, str | None]:
    if row.unjudged is not None:
        return row.unjudged, None
    if partial := compared.baseline.partial or compared.other.partial:
        return f"{partial}, so its slowest requests are missing", "run it to its end"
    if row.initiator and (lost := lost_apart(*compared.sides)) is not None:
        return lost, None
    if len(compared.baseline.results) == 1 and (not row.initiator or row.figure == "iops"):
        return "one run of each does not show the spread between runs", SEEDS
    if compared.has_logs:
        return (
            "there are too few independent samples: too few requests, or latencies that stay "
            "correlated for too long",
            f"run longer, or {SEEDS}",
        )
    lacking = [s.shown for s in compared.sides if any(run.log is None for run in s.results)]
    # Logs may have been deleted since the runs were compared.
    whose = lacking or [side.shown for side in compared.sides]
    what = "has no log of its requests" if len(whose) == 1 else "have no log of their requests"
    return (
        f"{' and '.join(whose)} {what}",
        "compare the experiment files, or make the runs again with --requests DIR/requests.parquet "
        "beside --out DIR (for far percentiles a larger record.slowest will do)",
    )


def _absent(compared: Compared) -> Iterable[tuple[str, tuple[str, str | None]]]:
    """Figures that the user has asked for, and that the runs do not have."""
    rows = {name(*row.group, row.figure) for row in compared.rows}
    for each in (*compared.wanted.counted, *_of_chosen(compared)):
        if each not in rows:
            rows.add(each)
            yield each, _why_absent(each, compared)


def _of_chosen(compared: Compared) -> Iterable[str]:
    """The chosen percentiles, of each group, if all compared figures count."""
    wanted = compared.wanted
    if wanted.are_chosen and not wanted.counted and not compared.untimed:
        groups = dict.fromkeys(row.group for row in compared.rows if row.initiator)
        yield from (name(*group, share) for group in groups for share in wanted.shares)


def _why_absent(each: str, compared: Compared) -> tuple[str, str | None]:
    who, _, figure = each.rpartition(".")
    if who == DRIVE and figure in COSTS:
        both = " and ".join(side.shown for side in compared.sides)
        return f"was not measured in both {both}", None
    if compared.untimed:
        return "untimed runs have no latencies and no rates", None
    initiator, _, kind = who.rpartition(".")
    for side in compared.sides:
        for run in side.results:
            if (initiator, kind) not in [(one, of) for one, of, _ in run.groups()]:
                return f"{side.shown} has counted no such requests", None
    if figure == "iops":
        return "the rate of an open loop is that of its arrivals, on any drive", None
    one, other = (_fewest(side, (initiator, kind), figure) for side in compared.sides)
    return (
        f"only {units.many(one, 'request')} of {compared.baseline.shown} and {other:,} of "
        f"{compared.other.shown} are at or beyond it; a test needs {FOUNDED}",
        "run longer",
    )


def _fewest(side: Side, group: tuple[str, str], figure: str) -> int:
    return min(differences.samples([run], group, figure) for run in side.results)


def _listed(names: Sequence[str]) -> str:
    """List figures by group: ``host read p50, p99; host write p50``."""
    by_group: dict[str, list[str]] = {}
    for each in names:
        who, _, figure = each.rpartition(".")
        by_group.setdefault(who, []).append(figure_name(figure))
    told = []
    for who, figures in by_group.items():
        initiator, _, kind = who.rpartition(".")
        whose = f"{initiator} {kind.replace('_', '-')} " if initiator else ""
        told.append(f"{whose}{', '.join(figures)}")
    return "; ".join(told)
