"""Figure 3: raw bit error rates of three chips, by wear, by age and by reads of the block.

The drive tells them: reads of a small one, whose cycles, age and earlier reads are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Figure, Run, plots

from ._drives import CHIPS, CODEWORD_BITS, errors

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

LOOKS = plots.Looks(*(chip.title for chip in CHIPS.values()))

CYCLES = (0, 2_000, 4_000, 6_000, 8_000, 10_000)
DAYS = (0, 73, 146, 219, 292, 365)
READS = (0, 2_000, 4_000, 6_000, 8_000, 10_000)
WORN = CYCLES[-1]
"""Cycles of flash that ages or is read."""

_DATA = "80 KiB"
"""Data of one erase block, which all reads go to."""

_DRIVE = {
    "preset": "fast19",
    "geometry": {
        "channels": 1,
        "packages_per_channel": 1,
        "planes_per_die": 1,
        "blocks_per_plane": 8,
        "pages_per_block": 5,
    },
    "ftl": {
        "block_planes": 1,
        "over_provisioning": {"exported": _DATA},
        "gc": {"background": "1 blocks", "stop": "1 blocks"},
    },
    "buffer": {"size": "64 KiB"},
}


def _name(chip: str, cycles: int, days: int = 0, reads: int = 0) -> str:
    return f"rate-{chip}-{cycles}-{days}d-{reads}r"


def _run(chip: str, cycles: int, days: int = 0, reads: int = 0) -> Run:
    """Return a run that counts one read, after so many reads of its block."""
    table: dict[str, Any] = errors(CHIPS[chip], cycles, None)
    if days:
        table["initial_age"] = f"{days} d"
    experiment = {
        "title": f"{CHIPS[chip].title}: {cycles} cycles, {days} days, {reads} reads",
        "drive": _DRIVE | {"nand": {"errors": table}},
        "precondition": {"fill": "sequential"},
        "workload": [{"name": "host", "reads": "100 %", "addresses": {"pattern": "sequential"}}],
        "run": {"requests": reads + 1} | ({"warm_up": {"requests": reads}} if reads else {}),
    }
    return Run(_name(chip, cycles, days, reads), experiment, tables=())


@exhibit.runs
def runs(_: Setting) -> list[Run]:
    """Return runs over wear, and over age and reads of worn flash."""
    return [
        run
        for chip in CHIPS
        for run in (
            *(_run(chip, cycles) for cycles in CYCLES),
            *(_run(chip, WORN, days=days) for days in DAYS[1:]),
            *(_run(chip, WORN, reads=reads) for reads in READS[1:]),
        )
    ]


def _rate(runs: Outcomes, chip: str, cycles: int, days: int = 0, reads: int = 0) -> float:
    """Return the raw bit error rate."""
    summary = runs[_name(chip, cycles, days, reads)].result.summary
    return float(summary["errors"]["first_decodes"]["mean_errors"]) / CODEWORD_BITS


@exhibit.measures("R-1")
def mechanisms(runs: Outcomes) -> Answer:
    """Return what each mechanism adds to the rate of worn flash."""
    figures: dict[str, float] = {}
    told = []
    for chip, of in CHIPS.items():
        name = chip.replace("-", "_")
        wear = _rate(runs, chip, WORN)
        year, read = (
            _rate(runs, chip, WORN, days=DAYS[-1]),
            _rate(runs, chip, WORN, reads=READS[-1]),
        )
        figures |= {
            f"{name}_wear_share": wear,
            f"{name}_retention_share": year - wear,
            f"{name}_disturb_share": read - wear,
            f"{name}_year_share": year,
        }
        shares = [Figure(each).text("share") for each in (wear, year - wear, read - wear)]
        told.append(f"{of.title} wear {shares[0]}, retention {shares[1]}, disturb {shares[2]}")
    not_judged = ("mlc_3x_retention_share", "mlc_3x_disturb_share", "mlc_3x_year_share")
    judged = {name: value for name, value in figures.items() if name not in not_judged}
    return Answer("; ".join(told), judged)


@exhibit.draws("rates")
def drawn(runs: Outcomes) -> Picture:
    """Draw the rate by each mechanism."""
    panels = {
        "wear: cycles": (CYCLES, "cycles"),
        f"retention: days at {WORN:,} cycles": (DAYS, "days"),
        f"read disturb: reads of a block at {WORN:,} cycles": (READS, "reads"),
    }

    def point(chip: str, key: str, at: int) -> tuple[float, float]:
        given = {"cycles": WORN} | {key: at}
        return float(at), _rate(runs, chip, **given)

    of_panels = {
        title: {of.title: [point(chip, key, at) for at in swept] for chip, of in CHIPS.items()}
        for title, (swept, key) in panels.items()
    }
    return plots.lines(
        of_panels,
        LOOKS,
        x_label="",
        units=dict.fromkeys(of_panels, "share"),
        log_x=False,
        log=True,
        title="raw bit error rate; the constants of 3x-nm MLC have no second source",
    )


@exhibit.tabulates("rates")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the rate of each run."""
    import polars as pl

    given = [
        *((cycles, 0, 0) for cycles in CYCLES),
        *((WORN, days, 0) for days in DAYS[1:]),
        *((WORN, 0, reads) for reads in READS[1:]),
    ]
    return pl.DataFrame(
        [
            {
                "chip": of.title,
                "cycles": cycles,
                "days": days,
                "reads_of_block": reads,
                "raw_bit_error_rate": _rate(runs, chip, cycles, days, reads),
            }
            for chip, of in CHIPS.items()
            for cycles, days, reads in given
        ]
    )
