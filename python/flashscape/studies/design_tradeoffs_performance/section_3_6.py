"""Section 3.6: a policy that spares worn blocks, and recycles the others more often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape.reproduce import Answer, Exhibit, Run

from ._drives import baseline, derived, joined
from ._loads import FRESH

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

_ENDURANCE = 50
"""Erases of a block, as in the paper's experiments with wear."""

_HOT_SPACE = 75
_HOT_WRITES = 99.5
"""Percent of the space with hotter data, and of the writes that go there. The paper gives no rates.
Blocks of a quarter that is never written would never be recycled; with more writes than these,
collection mixes the data so far that blocks wear almost alike."""

_POLICIES: dict[str, dict[str, Any]] = {
    "greedy": {},
    "cut": {"wear": {"age_variance": "20 %", "rate_window": "0 %"}},
}
"""Greedy alone, and greedy that skips blocks with less than 80 % of the mean life left: the
limit at which the paper's rate-limiting begins."""

_BEFORE, _AFTER = 6, 8
"""Writes of the drive's whole space until the hotter blocks are below the limit, and to the end.

If hot blocks are erased h times and the colder ones rarely, 50 - h is 80 % of the mean life,
50 - 0.75 h, at h = 25. The drive programs almost five pages per host page, so that is
after some six times the space.
"""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return two runs of each policy: until the hotter blocks are worn, and beyond that."""
    small = baseline(geometry={"blocks_per_plane": setting.pick(short=128, full=1024)})
    small = joined(small, {"nand": {"endurance": _ENDURANCE}})
    exported = derived(small)["capacity"]["exported_bytes"]
    hot = {"hot_space": f"{_HOT_SPACE} %", "hot_accesses": f"{_HOT_WRITES} %"}
    writes = {"name": "host", "reads": "0 %", "addresses": {"pattern": "hot-cold"} | hot}
    return [
        Run(
            f"{name}-{times}",
            {
                "title": f"{name}, {times} times the space",
                "drive": joined(small, {"ftl": policy}) if policy else small,
                "precondition": FRESH,
                "workload": [writes],
                "run": {"untimed": True, "bytes": f"{times * exported} B"},
            },
            tables=("wear",),
        )
        for name, policy in _POLICIES.items()
        for times in (_BEFORE, _AFTER)
    ]


class _Reuse(NamedTuple):
    """Erases between the two ends, by the wear of blocks at the first end."""

    quarter_share: float
    """Share of the least worn quarter of the blocks in all erases."""
    gained: float
    """Share of superseded pages in a victim."""
    erases: int
    worn: float
    """Mean erases of the most worn three quarters of the blocks, at the first end."""

    @property
    def times(self) -> float:
        """Erases of a block of that quarter, relative to a mean block."""
        return 4 * self.quarter_share


def _reuse(runs: Outcomes, name: str) -> _Reuse:
    results = [runs[f"{name}-{times}"].result for times in (_BEFORE, _AFTER)]
    before, after = (result.wear["erases"] for result in results)
    by_wear = before.arg_sort()
    quarter, others = by_wear[: len(by_wear) // 4], by_wear[len(by_wear) // 4 :]
    between = after - before
    collected = [result.summary["collection"] for result in results]
    blocks = collected[1]["blocks"] - collected[0]["blocks"]
    pages = sum(
        each["blocks"] * each["cleaning_efficiency"] * sign
        for each, sign in zip(collected, (-1, 1), strict=True)
    )
    return _Reuse(
        float(between[quarter].sum()) / float(between.sum()),
        pages / blocks,
        int(between.sum()),
        float(before[others].sum()) / len(others),
    )


@exhibit.measures("A-17")
def reuse(runs: Outcomes) -> Answer:
    """Return the least worn quarter's share of the erases, with the limit and without."""
    greedy, cut = _reuse(runs, "greedy"), _reuse(runs, "cut")
    figures = {
        "cut_reuse_times": cut.times,
        "cut_quarter_erases_share": cut.quarter_share,
        "greedy_quarter_erases_share": greedy.quarter_share,
        "cut_gained_share": cut.gained,
        "greedy_gained_share": greedy.gained,
    }
    ours = (
        f"with the limit the least worn quarter has {cut.quarter_share:.0%} of the erases, "
        f"{cut.times:.2f} times as many as a mean block, and a victim gains {cut.gained:.0%} of "
        f"its pages; without {greedy.quarter_share:.0%} and {greedy.gained:.0%}"
    )
    reason = (
        f"the hotter blocks, worn {cut.worn:.0f} times then, come back above the limit as the "
        "others wear, since lives are compared with the mean"
    )
    return Answer(ours, figures, reason)


@exhibit.tabulates("reuse")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return erases by policy."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "policy": name,
                "least_worn_quarter_erases_share": found.quarter_share,
                "times_a_mean_block": found.times,
                "gained_share": found.gained,
                "erases": found.erases,
                "worn_blocks_erases_before": found.worn,
            }
            for name, found in ((name, _reuse(runs, name)) for name in _POLICIES)
        ]
    )
