"""Figures that are not known to be steady: which they are, the reason, and the remedy.

The simulator writes the verdicts to the summary, with reasons that hold for any workload. A trace
has a fixed length, so the remedy "run longer" depends on the workloads and is completed here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import overload

if TYPE_CHECKING:
    from collections.abc import Mapping

FIGURES = ("write_amplification", "latency")
"""Figures with a verdict, as keys of ``steady_state``."""

LONGER = "run longer"

_ADVICE = re.compile(r"; run longer| \(run longer(?P<more>[^)]*)\)")
"""Advice in a reason of the simulator."""

_LIMITS = ("time", "requests", "bytes")


class Unsteady(NamedTuple):
    """Reason that a figure is not known to be steady, and the remedy."""

    why: str
    remedy: str | None
    """Remedy; None if a longer run would not help."""

    @property
    def told(self) -> str:
        """Reason and remedy as a clause."""
        return f"{self.why}; {self.remedy}" if self.remedy else self.why


def unsteady(summary: Mapping[str, Any], figure: str) -> Unsteady | None:
    """Return why a figure of a run is not known to be steady.

    None if it is steady, or if the run did not measure it.
    """
    verdict = summary["steady_state"][figure]
    config = summary["config"]
    is_measured = figure != "write_amplification" or _is_written(summary)
    if verdict["reached"] or not is_measured or config["run"].get("untimed", False):
        return None
    found = _ADVICE.search(verdict["reason"])
    if found is None and any(note.startswith(overload.BEGINNING) for note in summary["notes"]):
        # A longer run of an overloaded drive has longer latencies, and is no steadier.
        return Unsteady(verdict["reason"], None)
    more = (found["more"] or "") if found else ""
    return Unsteady(_ADVICE.sub("", verdict["reason"]), longer(config) + more)


def _is_written(summary: Mapping[str, Any]) -> bool:
    return summary["write_amplification"]["total"] is not None


def longer(config: Mapping[str, Any]) -> str:
    """Return how to make a run longer: a trace must be repeated, as its length is fixed."""
    repeats = {
        f"workload[{at}].trace.repeat": workload["trace"].get("repeat", 1)
        for at, workload in enumerate(config["workload"])
        if "trace" in workload
    }
    if not repeats:
        return LONGER
    limits = [f"run.{key}" for key in _LIMITS if config["run"].get(key) is not None]
    if len(repeats) == 1:
        [(path, times)] = repeats.items()
        more = f"{path} = {times + 1} or more"
    else:
        more = f"larger {' and '.join(repeats)}"
    limited = f"a larger {' and '.join(limits)} and " if limits else ""
    return f"{LONGER}, with {limited}{more}"
