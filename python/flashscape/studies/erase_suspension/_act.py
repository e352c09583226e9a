"""ACT at one multiplier, as a run of its own: what table 3 and figure 5 share.

Large reads and writes are sequential, as those of a log are; so are the writes with which the
drive is filled and overwritten before. Small reads are random.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from flashscape.act import Trial, load
from flashscape.catalogue import check
from flashscape.reproduce import Run
from flashscape.studies.erase_suspension._runs import SCHEMES, STARVES, drive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.reproduce import Outcome, Outcomes, Setting

RATED = ("baseline", "es", "i-es", "d-es", "t-es-64")
"""Ideal-ES, which cannot be built, is not rated."""

AT = 30
"""The multiplier of figure 5."""

_SALT_NS = 10_000_000_000
"""In which the drive is overwritten once, before the load begins: 6.4 GiB at 1 GB/s and more."""


def ladder(setting: Setting) -> range:
    """The multipliers that are tried."""
    tried: range = setting.pick(short=range(8, 42, 2), full=range(2, 61))
    return tried


def runs(setting: Setting, multipliers: Iterable[int], schemes: Iterable[str] = RATED) -> list[Run]:
    """A run for each scheme and multiplier."""
    steps = list(multipliers)
    return [
        Run(
            f"act-{scheme}-{k}x",
            _experiment(scheme, _streams(k, _lengths(k)), _lengths(k)),
            tables=("latency", "bands"),
            may_end_with=STARVES,
        )
        for scheme in schemes
        for k in steps
    ]


@cache
def _derived() -> dict[str, Any]:
    idle = {"name": "idle", "reads": "100 %", "stop": {"requests": 1}}
    return check({"drive": drive("baseline"), "workload": [idle]})


def _lengths(multiplier: int) -> load.Lengths:
    """Whole cycles of collection, five seconds at least, after two of warm-up."""
    cycle = load.cycle_bytes(_derived())
    return load.lengths(multiplier, cycle, warm_up_ns=None, time_ns=None, slices=1)


def _streams(multiplier: int, lengths: load.Lengths) -> list[dict[str, Any]]:
    capacity = _derived()["capacity"]["exported_bytes"]
    streams = load.workloads(
        multiplier, lengths, exported_bytes=capacity, seed=1, arrivals="constant"
    )
    for stream in streams:
        after_ns = int(stream["start"].removesuffix(" ns"))
        stream["start"] = f"{after_ns + _SALT_NS} ns"
        if stream["name"].startswith("large"):
            stream["addresses"] = {"pattern": "sequential"}
    salt = {
        "name": "salt",
        "reads": "0 %",
        "size": "128 KiB",
        "queue_depth": 32,
        "addresses": {"pattern": "sequential"},
        "stop": {"bytes": f"{capacity // load.LARGE_BYTES * load.LARGE_BYTES} B"},
    }
    return [salt, *streams]


def _experiment(
    scheme: str, streams: list[dict[str, Any]], lengths: load.Lengths
) -> dict[str, Any]:
    begin_ns = _SALT_NS + lengths.warm_up_ns
    return {
        "title": f"ACT: {SCHEMES[scheme]}",
        "drive": drive(scheme),
        "precondition": {"fill": "sequential"},
        "workload": streams,
        "run": {
            "time": f"{begin_ns + lengths.slice_ns} ns",
            "warm_up": {"time": f"{begin_ns} ns"},
            "starvation": {"limit": "5 s"},
        },
    }


def failures(outcome: Outcome, multiplier: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Why a run fails the stress test, and the performance test; nothing where it passes.

    Conditions are those of `flashscape act`, the fourth by the paper's words: the mean service
    time of each kind of request is less than the time from one request of its stream to the next.
    """
    if outcome.error is not None:
        starved = (f"it ends: {outcome.error.type}",)
        return starved, starved
    cycle_ns = load.cycle_of(multiplier, load.cycle_bytes(_derived()))
    trial = Trial.of(outcome.measured, multiplier, _lengths(multiplier), cycle_ns, threads=1)
    return trial.stress_failures, trial.failures


def ratings(runs: Outcomes, scheme: str) -> tuple[int, int]:
    """Return the highest multipliers that pass the stress and the performance test.

    All of the ladder below them pass, too; 0 where the lowest fails.
    """
    best, failed = [0, 0], [False, False]
    for k in ladder(runs.setting):
        for test, why in enumerate(failures(runs[f"act-{scheme}-{k}x"], k)):
            failed[test] |= bool(why)
            if not failed[test]:
                best[test] = k
    return best[0], best[1]


def why_no_more(runs: Outcomes, scheme: str) -> str:
    """What a scheme fails at first, above its stress rating."""
    stress, _ = ratings(runs, scheme)
    above = [k for k in ladder(runs.setting) if k > stress]
    if not above:
        return f"{SCHEMES[scheme]} passes all"
    why, _ = failures(runs[f"act-{scheme}-{above[0]}x"], above[0])
    return f"{SCHEMES[scheme]} at {above[0]}x: {'; '.join(why)}"


def figure_of(scheme: str, test: str) -> str:
    """How the claims call a rating."""
    return f"{scheme.removesuffix('-64').replace('-', '_')}_{test}_multiplier"


def told(rated: dict[str, int]) -> str:
    """Ratings of schemes in words."""
    return ", ".join(f"{SCHEMES[scheme]} {k}x" for scheme, k in rated.items())
