"""A life: the states that were run, the limit that ends it, and the bytes until then."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from flashscape.arguments import checks_arguments
from flashscape.lifetime import projection

if TYPE_CHECKING:
    from flashscape.lifetime.state import WearState

DAYS_OF_A_YEAR = 365


@dataclass(frozen=True)
class Limits:
    """Limits of a life, and the warranty."""

    uber: float | None
    """Highest UBER; None if it is not looked for."""
    wear: int | None
    """Most cycles; None if there is no wear limit."""
    years: float
    """Years of the warranty, for drive writes per day."""


@dataclass(frozen=True)
class Conditions:
    """Conditions of all runs."""

    title: str
    exported_bytes: int
    data_age: str | None
    """Age of data at the beginning, as the configuration has it; None for new data."""
    is_wear_spread: bool
    """True if blocks differ in their cycles at the beginning."""
    has_rate: bool
    """True if hosts that write do so at a rate of their own."""
    config: dict[str, Any] | None = None
    """Complete configuration of the experiment; None in lives of earlier versions."""


@dataclass(frozen=True)
class Life:
    """Figures of the projected life of a drive under a workload."""

    limits: Limits
    conditions: Conditions
    states: tuple[WearState, ...]
    """States of wear that were run, in rising order."""

    @cached_property
    def bracket(self) -> projection.Bracket:
        """Neighbouring states between which UBER crosses its limit."""
        if self.limits.uber is None:
            return projection.Bracket(self.states[-1].cycles, None)
        return projection.bracket(self._rates, self.limits.uber)

    @cached_property
    def uber_cycles(self) -> float | None:
        """Cycles at which UBER crosses its limit; None if it does not, up to the last state."""
        if self.limits.uber is None:
            return None
        return projection.crossing(self._rates, self.bracket, self.limits.uber)

    @property
    def _rates(self) -> dict[int, float]:
        return {each.cycles: each.uber for each in self.states if each.uber is not None}

    @property
    def ends_by(self) -> Literal["uber", "wear"] | None:
        """The limit that comes first; None if none is reached up to the last state."""
        uber, wear = self.uber_cycles, self.limits.wear
        if uber is not None and (wear is None or uber < wear):
            return "uber"
        return None if wear is None else "wear"

    @property
    def cycles(self) -> float:
        """Cycles of a life; without a limit that is reached, those of the last state."""
        uber, wear = self.uber_cycles, self.limits.wear
        if self.ends_by is None:
            return float(self.states[-1].cycles)
        return min(float(each) for each in (uber, wear) if each is not None)

    @cached_property
    def host_bytes(self) -> float:
        """Bytes that hosts can write: the integral over wear of bytes for each cycle."""
        return self.bytes_until(self.cycles)

    @cached_property
    def _bytes_of_a_cycle(self) -> list[tuple[int, float]]:
        """Bytes that hosts write while each block is erased once, for each state."""
        return [(each.cycles, each.good_bytes / each.write_amplification) for each in self.states]

    @checks_arguments
    def bytes_until(self, cycles: float) -> float:
        """Return the bytes that hosts can write until so many cycles."""
        return projection.integral(self._bytes_of_a_cycle, cycles)

    @property
    def tbw(self) -> float:
        """Terabytes that hosts can write, of 10^12 bytes."""
        return self.host_bytes / 1e12

    @property
    def drive_writes(self) -> float:
        """Times that hosts can write the whole exported capacity."""
        return self.host_bytes / self.conditions.exported_bytes

    @property
    def dwpd(self) -> float:
        """Drive writes per day, for the years of the warranty."""
        return self.drive_writes / (DAYS_OF_A_YEAR * self.limits.years)

    @cached_property
    def seconds(self) -> float | None:
        """Seconds of a life at the rate of the runs; None if hosts have no rate of their own."""
        if not self.conditions.has_rate:
            return None
        spans = [
            (cycles, count / state.bytes_per_second)
            for (cycles, count), state in zip(self._bytes_of_a_cycle, self.states, strict=True)
            if state.bytes_per_second
        ]
        return projection.integral(spans, self.cycles) if spans else None
