"""Explanation of a single run, from its result or its directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashscape.arguments import checks_arguments
from flashscape.explain import explain as explain_run
from flashscape.result import Result

if TYPE_CHECKING:
    from os import PathLike

    from flashscape.explain import Explanation
    from flashscape.measured import Measured

_RESULTS = {
    "Comparison": "a Comparison has several runs; explain one of them, such as "
    "comparison.sides[0].results[0]; what differs is in comparison.contrasts[0].sentences",
    "Sweep": "a Sweep has several runs; explain one of them, such as sweep.result(1), of a sweep "
    "with tables=True",
}
"""Errors for results of several runs, by the name of their class."""


@checks_arguments(but=("of",))
def explain(of: Measured | str | PathLike[str], *, everything: bool = False) -> Explanation:
    """Explain where the tail of a run comes from; ``of`` is its result or its directory.

    Requests of a kind from several initiators are explained together. Initiators with equal
    workloads are told as one, and of many others only the worst, unless ``everything`` is True.

    Raises OutputError if the directory has no results of a single run, and TypeError for
    anything else that is no result of a run.

    >>> print(fs.explain("results"))     # doctest: +SKIP
    """
    from flashscape.measured import Measured

    if isinstance(of, Measured):
        return explain_run(of, everything=everything)
    if isinstance(of, str) or hasattr(of, "__fspath__"):
        return explain_run(Result.load(Path(of)), everything=everything)
    kind = type(of).__name__
    why = _RESULTS.get(kind, f"{kind} is no result; give what fs.run returns, or its directory")
    raise TypeError(f"explain: {why}")
