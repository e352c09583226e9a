"""Suspensions of erases and programs for reads, and the wear that they caused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import units

if TYPE_CHECKING:
    from flashscape.measured import Measured

_KEYS = {"erase": "suspension", "program": "program_suspension"}
"""Configuration key of the suspension scheme, by kind of operation."""


class Made(NamedTuple):
    """Suspensions of a kind of operation."""

    kind: str
    """``erase`` or ``program``."""
    scheme: str
    """Scheme, such as ``t-es``."""
    operations: int
    """Number of commands."""
    suspensions: int
    """Number of suspensions."""
    put_offs: int
    """Number of times that reads went first when an operation was about to start or resume."""
    deferrals: int
    """Number of operations for which a read waited for the end of a step."""

    @property
    def told(self) -> str:
        """All figures in a clause."""
        if not self.operations:
            return f"none, as there was no {self.kind} ({self.scheme})"
        each = self.suspensions / self.operations
        told = (
            f"{units.times(self.suspensions)} in {units.many(self.operations, self.kind)}, "
            f"{each:.3g} a {self.kind} ({self.scheme})"
        ).replace("a erase", "an erase")
        if self.put_offs:
            one = "an erase" if self.kind == "erase" else f"a {self.kind}"
            put_offs = units.times(self.put_offs)
            told += f"; reads delayed the start or resumption of {one} {put_offs}"
        if self.deferrals:
            told += (
                f"; {units.many(self.deferrals, self.kind)} made a read wait for the end of a step"
            )
        return told


def scheme(drive: dict[str, Any], key: str) -> str:
    """Return the policy of ``suspension`` or ``program_suspension`` of the scheduler."""
    policy = drive["scheduler"].get(key, "baseline")
    return str(policy if isinstance(policy, str) else policy["policy"])


def of_run(result: Measured) -> list[Made]:
    """Return the figures of each kind that may be suspended; none for an untimed run."""
    summary = result.summary
    if result.untimed:
        return []
    flash, found = summary["flash"], []
    for kind, key in _KEYS.items():
        name = scheme(summary["config"]["drive"], key)
        if name == "baseline":
            continue
        found.append(
            Made(
                kind=kind,
                scheme=name,
                operations=sum(source["commands"] for source in flash[f"{kind}s"].values()),
                suspensions=flash[f"{kind}_suspensions"],
                # Summaries of earlier versions lack some of these keys.
                put_offs=flash.get(f"{kind}_put_offs", 0),
                deferrals=flash.get(f"{kind}_deferrals", 0),
            )
        )
    return found


def wear(result: Measured) -> str | None:
    """Clause about the wear caused by suspension; None if nothing may be suspended."""
    if not of_run(result):
        return None
    flash, worn = result.summary["flash"], result.summary["wear"]["suspension"]
    ramps, pulses = flash["extra_ramps"], flash["extra_pulses"]
    told = (
        f"{units.many(ramps, 'ramp')} and {units.many(pulses, 'pulse')} more than without "
        "suspension"
        if ramps or pulses
        else "nothing more than without suspension"
    )
    if worn is None or not worn["extra_ramps"]["max"]:
        return told
    since_new, factor = worn["extra_ramps"], worn["error_rate_factor"]
    told += (
        f"; {since_new['mean']:.3g} more ramps a block since new, {since_new['max']:.0f} in the "
        "most worn"
    )
    if factor["max"] > 1:
        mean, most = (units.percent(factor[which] - 1) for which in ("mean", "max"))
        told += f", which raises the raw bit error rate by {mean} in the mean and {most} there"
    return told


def sentences(result: Measured) -> list[str]:
    """Return all figures as sentences."""
    told = [
        f"{each.kind.capitalize()}s suspended for reads: {each.told}." for each in of_run(result)
    ]
    worn = wear(result)
    return told if worn is None else [*told, f"That wore the flash by {worn}."]
