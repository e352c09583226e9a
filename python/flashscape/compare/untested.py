"""Figures that a comparison cannot test, with the reasons and the remedies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flashscape import percentiles, spelling, steadiness, units
from flashscape.compare import differences, groups, slowest
from flashscape.compare.difference import UNSTEADY
from flashscape.compare.side import lost_apart
from flashscape.compare.wanted import is_of_drive, name
from flashscape.compare.words import figure_name
from flashscape.regions import FOUNDED
from flashscape.requests import how_to_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashscape.compare.difference import Difference
    from flashscape.compare.side import Side
    from flashscape.compare.wanted import Wanted

_FAR = 990_000_000
"""Percentile, in billionths, from which on a table of the slowest requests may suffice."""


def several_seeds() -> str:
    """Return the remedy for figures that one run of each side cannot judge."""
    return f"compare with {spelling.option('--seeds 5', 'seeds=5')}"


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


class _Reason(NamedTuple):
    """Reason that a figure could not be tested; figures of one reason share a sentence."""

    why: str
    """Clause; :data:`_FEW` and :data:`_NO_LOG` are completed by the numbers."""
    remedy: str | None
    is_length: bool = False
    """True if a longer run is a remedy, too: how to make it longer is said first."""


_FEW = _Reason("too few requests are at or beyond it", None, is_length=True)
_NO_LOG = _Reason("no log", "compare the experiment files")

_Found = tuple[_Reason, tuple[int, ...]]
"""Reason, and the numbers that differ between figures of one reason."""


def of(compared: Compared) -> list[Untested]:
    """Return the untested figures that count: those with few samples first, then as the table."""
    alike: dict[_Reason, list[tuple[str, tuple[int, ...]]]] = {}
    for each, (reason, numbers) in (*_present(compared), *_absent(compared)):
        alike.setdefault(reason, []).append((each, numbers))
    found = sorted(alike.items(), key=lambda item: item[0] != _FEW)
    return [_told(reason, dict(named), compared) for reason, named in found]


def _told(reason: _Reason, named: dict[str, tuple[int, ...]], compared: Compared) -> Untested:
    names = tuple(named)
    if reason == _NO_LOG:
        return Untested(names, *_no_log(named, compared))
    why = _few(list(named.values()), compared) if reason == _FEW else reason.why
    return Untested(names, why, _completed(reason, compared))


def _completed(reason: _Reason, compared: Compared) -> str | None:
    """Return the remedy with the way to run longer; without it if that would not help."""
    if not reason.is_length:
        return reason.remedy
    ways = [steadiness.longer(side.results[0].summary) for side in compared.sides]
    # The sides may differ in their limits; what the baseline needs is an example.
    way = None if None in ways else ways[0]
    return ", or ".join(filter(None, (way, reason.remedy))) or None


def _few(each: Sequence[tuple[int, ...]], compared: Compared) -> str:
    """Return the clause about percentiles with too few requests."""
    if len(each) == 1:
        one, other = each[0]
        return (
            f"only {units.many(one, 'request')} of {compared.baseline.shown} and {other:,} of "
            f"{compared.other.shown} are at or beyond it; a test needs {FOUNDED}"
        )
    fewest = [min(of) for of in each]
    span = " to ".join(dict.fromkeys(f"{edge:,}" for edge in (min(fewest), max(fewest))))
    what = "request is" if span == "1" else "requests are"
    return f"only {span} {what} at or beyond each; a test needs {FOUNDED}"


def _no_log(named: dict[str, tuple[int, ...]], compared: Compared) -> tuple[str, str]:
    """Return reason and remedy for figures that need the order of the requests."""
    lacking = [s.shown for s in compared.sides if any(run.log is None for run in s.results)]
    # Logs may have been deleted since the runs were compared.
    whose = lacking or [side.shown for side in compared.sides]
    what = "has no log of its requests" if len(whose) == 1 else "have no log of their requests"
    remedy = (
        f"{several_seeds()}, which runs them again with logs, or keep a log beside each run: "
        f"{how_to_log()}"
    )
    needed = [number for numbers in named.values() for number in numbers]
    if needed:
        which = "" if len(named) == 1 else " for percentiles from p99 on,"
        remedy += f";{which} a record.slowest of {max(needed):,} or more may do, too"
    return f"{' and '.join(whose)} {what}", remedy


def of_hosts(found: Sequence[Untested]) -> list[Untested]:
    """Return the untested figures without those of the drive."""
    kept = (
        each._replace(names=tuple(n for n in each.names if not is_of_drive(n))) for each in found
    )
    return [each for each in kept if each.names]


def _present(compared: Compared) -> Iterable[tuple[str, _Found]]:
    """Figures of the table that were not tested."""
    for row in compared.rows:
        if row.counts and row.corrected is None:
            yield name(*row.group, row.figure), _reason(row, compared)


def _reason(row: Difference, compared: Compared) -> _Found:
    if row.unjudged is not None:
        is_unsteady = row.unjudged.startswith(UNSTEADY)
        return _Reason(row.unjudged, _steadier(compared) if is_unsteady else None), ()
    if partial := compared.baseline.partial or compared.other.partial:
        why = f"{partial}, so its slowest requests are missing"
        return _Reason(why, "run it to its end"), ()
    if row.fewest is not None:
        return _FEW, row.fewest
    if row.initiator and (lost := lost_apart(*compared.sides)) is not None:
        return _Reason(lost, None), ()
    if len(compared.baseline.results) == 1 and (not row.initiator or row.figure == "iops"):
        return _Reason("one run of each does not show the spread between runs", several_seeds()), ()
    if compared.has_logs:
        why = (
            "there are too few independent samples: too few requests, or latencies that stay "
            "correlated for too long"
        )
        return _Reason(why, several_seeds(), is_length=True), ()
    return _without_logs(row, compared)


def _steadier(compared: Compared) -> str | None:
    """Return what would show if write amplification is steady; None if nothing would."""
    runs = (run for side in compared.sides for run in side.results)
    found = (steadiness.unsteady(run.summary, "write_amplification") for run in runs)
    return next((each.remedy for each in found if each is not None), None)


def _without_logs(row: Difference, compared: Compared) -> _Found:
    """Return the reason for a figure of runs without logs; see :mod:`.slowest`."""
    share = percentiles.billionths(row.figure)
    if share is None or share < _FAR:
        return _NO_LOG, ()
    bursts, needed = [], []
    for side, beyond in zip(compared.sides, row.samples, strict=True):
        missing = slowest.missing(side.results[0], row.group, beyond)
        if missing is not None and missing.slowest is None:
            bursts.append(side.shown)
        elif missing is not None and missing.slowest is not None:
            needed.append(missing.slowest)
    if bursts:
        why = (
            f"the slowest requests of {' and '.join(bursts)} come in too few bursts to tell the "
            "error of their number, and there are no logs"
        )
        return _Reason(why, several_seeds(), is_length=True), ()
    return _NO_LOG, (max(needed),) if needed else ()


def _absent(compared: Compared) -> Iterable[tuple[str, _Found]]:
    """Figures that the user has asked for, or that a run's tables show, but that have no row."""
    rows = {name(*row.group, row.figure) for row in compared.rows}
    for each in (*compared.wanted.counted, *_usual(compared)):
        if each not in rows:
            rows.add(each)
            yield each, _why_absent(each, compared)


def _usual(compared: Compared) -> Iterable[str]:
    """The chosen percentiles, or those of a run's tables, of each group, if all figures count."""
    wanted = compared.wanted
    if not wanted.counted and not compared.untimed:
        compared_groups = dict.fromkeys(row.group for row in compared.rows if row.initiator)
        shares = wanted.shares if wanted.are_chosen else percentiles.USUAL
        yield from (name(*group, share) for group in compared_groups for share in shares)


def _why_absent(each: str, compared: Compared) -> _Found:
    who, _, figure = each.rpartition(".")
    if is_of_drive(each):
        both = " and ".join(side.shown for side in compared.sides)
        return _Reason(f"was not measured in both {both}", None), ()
    if compared.untimed:
        return _Reason("untimed runs have no latencies and no rates", None), ()
    initiator, _, kind = who.rpartition(".")
    group = (initiator, kind)
    for side in compared.sides:
        for run in side.results:
            if group not in groups.of_run(run):
                return _Reason(f"{side.shown} has counted no such requests", None), ()
    if figure == "iops":
        why = "the rate of an open loop is that of its arrivals, on any drive"
        return _Reason(why, None), ()
    ones, others = (side.results for side in compared.sides)
    return _FEW, differences.fewest(ones, others, group, figure)


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
