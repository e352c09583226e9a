"""Conversion of tables of ``claims.toml`` to bounds; all faults are recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flashscape.near import listed, meant
from flashscape.quantities import quantity
from flashscape.reproduce.bounds import (
    COMPARISONS,
    SOURCES,
    AnyOf,
    Bound,
    Equal,
    Limited,
    Monotone,
    Near,
    Ordered,
)
from flashscape.reproduce.compared import Limit, Subject, Tolerance
from flashscape.reproduce.faults import found
from flashscape.reproduce.figures import exact, unit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flashscape.reproduce.faults import Faults

_SUBJECTS = ("of", "ratio", "difference")
_KINDS = (*_SUBJECTS, "ordering", "monotone", "any_of")
_UNIT_EXAMPLES = {"ns": "ms", "bytes": "KiB", "share": "%"}


@dataclass(frozen=True)
class Reader:
    """Reads the bounds of one claim."""

    faults: Faults
    figures: tuple[str, ...]
    """Names of the figures that the claim declares."""

    def bounds(self, tables: Any, place: str) -> tuple[Bound, ...]:
        """Return all valid bounds of a list of tables, each with its source."""
        return self._listed(tables, place, self._sourced)

    def _listed(
        self, tables: Any, place: str, read: Callable[[Any, str], Bound | None]
    ) -> tuple[Bound, ...]:
        if not isinstance(tables, list) or not tables:
            self.faults.add(place, f"{found(tables)} is not a list of bounds")
            return ()
        bounds = (read(table, f"{place}[{at}]") for at, table in enumerate(tables))
        return tuple(bound for bound in bounds if bound is not None)

    def _sourced(self, table: Any, place: str) -> Bound | None:
        if not isinstance(table, dict):
            return self._bound(table, place)
        source = table.get("source")
        if source is None:
            self.faults.add(place, 'source is missing (write source = "paper" or "reading")')
        elif source not in SOURCES:
            message = f"{found(source)} is no source {listed(source, SOURCES)}"
            self.faults.add(f"{place}.source", message)
        bound = self._bound({key: table[key] for key in table if key != "source"}, place)
        return None if bound is None or source not in SOURCES else replace(bound, source=source)

    def _bound(self, table: Any, place: str) -> Bound | None:
        if not isinstance(table, dict):
            self.faults.add(place, f"{found(table)} is not a table")
            return None
        kinds = [kind for kind in _KINDS if kind in table]
        if len(kinds) != 1:
            keys = ", ".join(table) or "nothing"
            known = (*_KINDS, *COMPARISONS)
            hint = next((h for key in table if key not in known and (h := meant(key, known))), "")
            message = f"has {keys} ({hint}a bound has exactly one of {', '.join(_KINDS)})"
            self.faults.add(place, message)
            return None
        before = len(self.faults.problems)
        match kinds[0]:
            case "ordering":
                bound: Bound | None = self._ordering(table, place)
            case "monotone":
                bound = self._monotone(table, place)
            case "any_of":
                self.faults.known(table, ("any_of",), place)
                bound = AnyOf(self._listed(table["any_of"], f"{place}.any_of", self._bound))
            case _:
                bound = self._comparison(kinds[0], table, place)
        return bound if len(self.faults.problems) == before else None

    def _comparison(self, form: str, table: dict[str, Any], place: str) -> Bound | None:
        limits = [key for key in COMPARISONS if key in table]
        self.faults.known(table, (form, *COMPARISONS, "target", "within", "equals"), place)
        named = [table[form]] if form == "of" else table[form]
        names = self._names(named, f"{place}.{form}", exactly=1 if form == "of" else 2)
        kinds = bool(limits) + ("target" in table or "within" in table) + ("equals" in table)
        if kinds != 1:
            self.faults.add(
                place, f"needs limits ({', '.join(COMPARISONS)}), or target and within, or equals"
            )
            return None
        if not names:
            return None
        if "equals" in table:
            return self._equal(form, names[0], table["equals"], f"{place}.equals")
        subject = Subject(form, names)
        if limits:
            read = [(k, self._limit(table[k], subject.unit, f"{place}.{k}")) for k in limits]
            return Limited(subject, tuple((key, limit) for key, limit in read if limit))
        return self._near(subject, table, place)

    def _near(self, subject: Subject, table: dict[str, Any], place: str) -> Bound | None:
        if not {"target", "within"} <= table.keys():
            self.faults.add(place, "target and within go together")
            return None
        target = self._limit(table["target"], subject.unit, f"{place}.target")
        given = table["within"] if isinstance(table["within"], list) else [table["within"]]
        read = [self._tolerance(each, subject.unit, f"{place}.within") for each in given]
        within = tuple(each for each in read if each is not None)
        return None if target is None or not within else Near(subject, target, within)

    def _equal(self, form: str, name: str, value: Any, place: str) -> Bound | None:
        if form != "of":
            self.faults.add(place, f"goes with of alone, not with {form}; write target and within")
            return None
        if isinstance(value, bool) or (isinstance(value, str) and not unit_of(name)):
            return Equal(name, value)
        amount = self._amount(value, unit_of(name), place)
        return None if amount is None else Equal(name, amount)

    def _ordering(self, table: dict[str, Any], place: str) -> Bound | None:
        self.faults.known(table, ("ordering", "by", "strict", "gap"), place)
        entries = table["ordering"]
        if not isinstance(entries, list) or len(entries) < 2:
            self.faults.add(f"{place}.ordering", "needs two figures or groups of them at least")
            return None
        groups = [
            self._names(each if isinstance(each, list) else [each], f"{place}.ordering[{at}]")
            for at, each in enumerate(entries)
        ]
        flat = [name for group in groups for name in group]
        self._same_unit(flat, f"{place}.ordering")
        by = table.get("by", "each")
        if by not in ("each", "mean"):
            self.faults.add(f"{place}.by", f"{found(by)} is neither each nor mean")
        gap = None
        if "gap" in table:
            unit = unit_of(flat[0]) if flat else ""
            gap = self._tolerance(table["gap"], unit, f"{place}.gap")
        strict = self._flag(table, "strict", True, place)
        return Ordered(tuple(groups), by == "mean", strict, gap)

    def _monotone(self, table: dict[str, Any], place: str) -> Bound | None:
        self.faults.known(table, ("monotone", "direction", "inversions", "strict"), place)
        names = self._names([table["monotone"]], f"{place}.monotone", exactly=1)
        way = table.get("direction")
        if way not in ("rising", "falling"):
            self.faults.add(f"{place}.direction", f"{found(way)} is neither rising nor falling")
        inversions = table.get("inversions", 0)
        if not isinstance(inversions, int) or isinstance(inversions, bool) or inversions < 0:
            self.faults.add(f"{place}.inversions", f"{found(inversions)} is no number of steps")
        strict = self._flag(table, "strict", False, place)
        return Monotone(names[0], way == "rising", inversions, strict) if names else None

    def _names(self, given: Any, place: str, *, exactly: int | None = None) -> tuple[str, ...]:
        """Return names of figures that the claim declares; none if any is not declared."""
        if not isinstance(given, list) or not given or exactly not in (None, len(given)):
            count = f"{exactly} figures" if exactly else "figures"
            self.faults.add(place, f"{found(given)} is not a list of {count}")
            return ()
        before = len(self.faults.problems)
        for name in given:
            self._known(name, place)
        if len(self.faults.problems) == before and exactly == 2:
            self._same_unit(given, place)
        return tuple(given) if len(self.faults.problems) == before else ()

    def _known(self, name: Any, place: str) -> None:
        if not isinstance(name, str):
            self.faults.add(place, f"{found(name)} is no figure's name")
        elif name not in self.figures:
            declared = listed(name, self.figures, "the claim declares")
            self.faults.add(place, f"no figure {name} {declared}")

    def _same_unit(self, names: Iterable[str], place: str) -> None:
        found_units = {unit_of(name) for name in names}
        if len(found_units) > 1:
            named = " and ".join(sorted(unit or "no unit" for unit in found_units))
            self.faults.add(place, f"compares figures of {named}")

    def _limit(self, value: Any, unit: str, place: str) -> Limit | None:
        if not isinstance(value, dict):
            amount = self._amount(value, unit, place)
            return None if amount is None else Limit(unit, amount)
        self.faults.known(value, ("figure", "times", "plus"), place)
        name = value.get("figure")
        self._known(name, f"{place}.figure")
        if isinstance(name, str) and unit_of(name) != unit:
            named = unit_of(name) or "no unit"
            self.faults.add(place, f"{name} has {named}, and what it limits {unit or 'no unit'}")
        times = self._amount(value.get("times", 1), "", f"{place}.times")
        plus = Fraction(0)
        if "plus" in value:
            plus = self._amount(value["plus"], unit, f"{place}.plus") or plus
        return Limit(unit, plus, name, times if times is not None else Fraction(1))

    def _tolerance(self, value: Any, unit: str, place: str) -> Tolerance | None:
        """Read a tolerance; a share of the target is written with %, for any unit."""
        read = quantity(value)
        if read is not None and read.unit == "share":
            return Tolerance(Fraction(read.amount), True, unit)
        amount = self._amount(value, "" if unit == "share" else unit, place)
        if amount is not None and amount < 0:
            self.faults.add(place, f"{found(value)} is below 0")
        return None if amount is None else Tolerance(amount, False, unit)

    def _amount(self, value: Any, unit: str, place: str) -> Fraction | None:
        """Return a number in the base unit: text with a suitable unit, else a bare number."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if unit not in _UNIT_EXAMPLES:
                return exact(value)
            example = _UNIT_EXAMPLES[unit]
            self.faults.add(place, f'{value} has no unit (write such as "{value} {example}")')
            return None
        negative = isinstance(value, str) and value.strip().startswith("-")
        read = quantity(value.strip()[1:] if negative else value)
        if read is None:
            self.faults.add(place, f"{found(value)} is no number and no quantity")
            return None
        if read.unit != unit:
            self.faults.add(place, f"{found(value)} is of {read.unit}, not of {unit or 'no unit'}")
            return None
        return -Fraction(read.amount) if negative else Fraction(read.amount)

    def _flag(self, table: dict[str, Any], key: str, default: bool, place: str) -> bool:
        value = table.get(key, default)
        if not isinstance(value, bool):
            self.faults.add(f"{place}.{key}", f"{found(value)} is neither true nor false")
        return bool(value)
