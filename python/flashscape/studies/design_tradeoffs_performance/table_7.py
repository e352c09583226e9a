"""Table 7: remaining lives of blocks after the same writes, and expired blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit

from . import _wear
from ._wear import (
    ALGORITHMS,
    NAMES,
    expired,
    figure_of,
    spread,
)

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return IOzone with each algorithm, and runs that draw among equal victims."""
    return _wear.runs(setting) + _wear.runs_of_drawn(setting)


@exhibit.measures("A-15")
def levelled(runs: Outcomes) -> Answer:
    """Return the remaining lives; of the means, only the one with migration is a finding."""
    means = {f"{figure_of(name)}_mean_life": spread(runs, name)[0] for name in _JUDGED}
    return Answer(_told(runs), _spreads(runs) | means)


_JUDGED = ("greedy", "migration")
"""Algorithms whose means are judged: their difference is the cost of migration."""


@exhibit.measures("A-15n")
def numbers(runs: Outcomes) -> Answer:
    """Return the same beside the paper's numbers, and with victims drawn among equal ones."""
    drawn = [expired(runs, f"{name}-drawn") for name in ("greedy", "rate-limiting")]
    deviation = spread(runs, "greedy-drawn")[1]
    return Answer(
        f"{_told(runs)}. All of a victim is superseded, and greedy takes the last of equal blocks, "
        "as the authors' code does: these wear out before others have their turn. Where any of "
        f"them is taken {drawn[0]} expire and, with rate-limiting, {drawn[1]}, with a deviation of "
        f"{deviation:.2f}. The paper's numbers follow from neither rule"
    )


def _spreads(runs: Outcomes) -> dict[str, float]:
    """Return standard deviations and expired blocks, named as in claims."""
    figures: dict[str, float] = {}
    for name in ALGORITHMS:
        figures[f"{figure_of(name)}_stddev_life"] = spread(runs, name)[1]
        figures[f"{figure_of(name)}_expired_blocks"] = expired(runs, name)
    return figures


def _told(runs: Outcomes) -> str:
    """Return the table in a line, with a remark on the means that could not differ."""
    told = "; ".join(
        "{} {:.2f} / {:.2f} / {:,}".format(NAMES[name], *spread(runs, name), expired(runs, name))
        for name in ALGORITHMS
    )
    return (
        f"{told}. The means without migration follow from what was written, as nothing moves and "
        f"each erase makes room for 63 pages, whichever block it is; migration costs "
        f"{spread(runs, 'greedy')[0] - spread(runs, 'migration')[0]:.2f} erases a block"
    )


@exhibit.tabulates("lives")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the paper's table."""
    import polars as pl

    rows = []
    names = NAMES | {
        f"{name}-drawn": f"{NAMES[name]}, any of equal victims"
        for name in ("greedy", "rate-limiting")
    }
    for name, told in names.items():
        mean, stddev = spread(runs, name)
        summary = runs[f"wear-{name}"].result.summary
        rows.append(
            {
                "algorithm": told,
                "mean_life": mean,
                "stddev_life": stddev,
                "expired_blocks": expired(runs, name),
                "migrations": summary["wear"]["migrations"],
                "write_amplification": summary["write_amplification"]["total"],
                "written_bytes": summary["write_amplification"]["host_bytes"],
            }
        )
    return pl.DataFrame(rows)
