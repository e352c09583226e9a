"""ACT at one multiplier, as a run of its own: what table 3 and figure 5 share.

Large reads and writes are sequential, as those of a log are; so are the writes with which the
drive is filled and overwritten before. Small reads are random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.act import load
from flashscape.act.conditions import LIMITS, Share, service_of
from flashscape.catalogue import check
from flashscape.reproduce import Run
from flashscape.studies.erase_suspension._runs import SCHEMES, drive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashscape.reproduce import Outcome, Outcomes, Setting

RATED = ("baseline", "es", "i-es", "d-es", "t-es-64")
"""Ideal-ES, which cannot be built, is not rated."""

AT = 30
"""The multiplier of figure 5."""

_SALT_SECONDS = 10
"""In which the drive is overwritten once, before the load begins: 6.4 GiB at 1 GB/s and more."""

_WARM_UP_SECONDS = 0.5


def ladder(setting: Setting) -> range:
    """The multipliers that are tried."""
    tried: range = setting.pick(short=range(8, 42, 2), full=range(2, 61))
    return tried


def runs(setting: Setting, multipliers: Iterable[int], schemes: Iterable[str] = RATED) -> list[Run]:
    """A run for each scheme and multiplier."""
    seconds = setting.pick(short=2.0, full=20.0)
    capacity = check(_experiment("baseline", [], 1.0))["capacity"]["exported_bytes"]
    steps = list(multipliers)
    return [
        Run(f"act-{scheme}-{k}x", _experiment(scheme, _streams(k, capacity, seconds), seconds))
        for scheme in schemes
        for k in steps
    ]


def _streams(multiplier: int, capacity: int, seconds: float) -> list[dict[str, Any]]:
    lengths = load.Lengths(round(_WARM_UP_SECONDS * 1e9), round(seconds * 1e9), 1)
    streams = load.workloads(
        multiplier, lengths, exported_bytes=capacity, seed=1, arrivals="constant"
    )
    for stream in streams:
        after_ns = int(stream["start"].removesuffix(" ns"))
        stream["start"] = f"{after_ns + _SALT_SECONDS * 1_000_000_000} ns"
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


def _experiment(scheme: str, streams: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    idle = [{"name": "idle", "reads": "100 %", "stop": {"requests": 1}}]
    begin = _SALT_SECONDS + _WARM_UP_SECONDS
    return {
        "title": f"ACT: {SCHEMES[scheme]}",
        "drive": drive(scheme),
        "precondition": {"fill": "sequential"},
        "workload": streams or idle,
        "run": {"time": f"{begin + seconds} s", "warm_up": {"time": f"{begin} s"}},
    }


def passes(outcome: Outcome, multiplier: int) -> tuple[bool, bool]:
    """Whether a run passes the stress test, and the performance test.

    The fourth condition takes the paper by its words: the mean service time of each kind of
    request is less than the time from one request of its stream to the next.
    """
    result = outcome.measured
    keeps_up = True
    for stream in load.STREAMS:
        [name] = load.initiators(stream, 1)
        one = result.of_kind(stream.kind, name)
        if one.mean is None:
            return False, False
        measured = [(one.requests, one.requests * stream.bytes, one.mean)]
        keeps_up &= service_of(stream, multiplier, 1, measured).passes
    small = result.of_kind("read", load.slice_name(0))
    lower, buckets = 0, []
    for upper, count in small.buckets:
        buckets.append((lower, upper, count))
        lower = upper + 1
    # A bucket that straddles a threshold counts as slower.
    shares = [Share.of(limit, buckets) for limit in LIMITS]
    quick = all(share.slower_most < share.limit_share * share.requests for share in shares)
    return keeps_up, keeps_up and quick


def ratings(runs: Outcomes, scheme: str) -> tuple[int, int]:
    """Return the highest multipliers that pass the stress and the performance test.

    All of the ladder below them pass, too; 0 where the lowest fails.
    """
    best, failed = [0, 0], [False, False]
    for k in ladder(runs.setting):
        for test, passed in enumerate(passes(runs[f"act-{scheme}-{k}x"], k)):
            failed[test] |= not passed
            if not failed[test]:
                best[test] = k
    return best[0], best[1]


def figure_of(scheme: str, test: str) -> str:
    """How the claims call a rating."""
    return f"{scheme.removesuffix('-64').replace('-', '_')}_{test}_multiplier"


def told(rated: dict[str, int]) -> str:
    """Ratings of schemes in words."""
    return ", ".join(f"{SCHEMES[scheme]} {k}x" for scheme, k in rated.items())
