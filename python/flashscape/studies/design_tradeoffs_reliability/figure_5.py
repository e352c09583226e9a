"""Figure 5: errors that checks find, on worn TLC with three codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import Answer, Exhibit, Figure, plots

from ._drives import LOOKS, TLC
from ._runs import (
    below,
    checks,
    ideal,
    named,
    re_reads,
    run_of,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting
    from flashscape.result import Result

exhibit = Exhibit()

LIMIT = 75
"""Errors of which the paper tells the share below."""

_CODES = {"ideal": ("no limit", None), "strong": ("strong code", 75), "weak": ("weak code", 25)}

_LEAST_ERRORS, _MOST_ERRORS, _STEP = 40, 160, 5
"""Drawn points."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return worn TLC with three codes, for both readings of the codeword."""
    return [
        run
        for one_check in (False, True)
        for run in (
            ideal(setting, one_check=one_check),
            *(
                run_of(setting, "tlc", TLC.worn, bits, one_check=one_check)
                for bits in (TLC.strong, TLC.weak)
            ),
        )
    ]


def _result(runs: Outcomes, code: str, *, one_check: bool) -> Result:
    _, bits = _CODES[code]
    return runs[named("tlc", TLC.worn, bits, one_check=one_check)].result


def _answer(runs: Outcomes, *, one_check: bool, hosts_alone: bool = False) -> Answer:
    figures, told = {}, []
    for code, (title, _) in _CODES.items():
        result = _result(runs, code, one_check=one_check)
        share = below(result, LIMIT, hosts_alone=hosts_alone)
        first = result.summary["errors"]["first_decodes"]
        counted = first["host"] if hosts_alone else first
        figures[f"{code}_below_75_share"] = Figure(share, counted["codewords"])
        told.append(f"{title} {Figure(share).text('share')}")
    return Answer(", ".join(told), figures)


@exhibit.measures("R-4")
def shares(runs: Outcomes) -> Answer:
    """Return the share of first checks with fewer than 75 errors, for three codes."""
    return _answer(runs, one_check=False)


@exhibit.measures("R-4c")
def shares_one_check(runs: Outcomes) -> Answer:
    """Return the same with one check for 4 KiB."""
    return _answer(runs, one_check=True)


@exhibit.measures("R-4h")
def shares_of_hosts(runs: Outcomes) -> Answer:
    """Return the same of reads of hosts alone."""
    return _answer(runs, one_check=False, hosts_alone=True)


def _cumulative(result: Result) -> list[tuple[float, float]]:
    """Return the share of first checks with at most so many errors."""
    table = result.errors.sort("errors").select("errors", checks().alias("checks"))
    shares = table["checks"].cum_sum() / table["checks"].sum()
    return [
        (float(errors), float(share))
        for errors, share in zip(table["errors"], shares, strict=True)
        if _LEAST_ERRORS <= errors <= _MOST_ERRORS and errors % _STEP == 0
    ]


@exhibit.draws("errors")
def drawn(runs: Outcomes) -> Picture:
    """Draw the cumulative distribution of errors in first checks."""
    panels = {
        title: {
            name: _cumulative(_result(runs, code, one_check=one_check))
            for code, (name, _) in _CODES.items()
        }
        for title, one_check in (("eight codewords for 4 KiB", False), ("one check", True))
    }
    return plots.lines(
        panels,
        LOOKS,
        x_label="errors in a codeword",
        units=dict.fromkeys(panels, "share"),
        log_x=False,
        title=f"{TLC.title} at {TLC.worn} cycles; first checks with at most so many errors",
    )


@exhibit.tabulates("shares")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return checks and their errors with each code, for both readings of the codeword."""
    import polars as pl

    rows = []
    for one_check in (False, True):
        for code, (_, bits) in _CODES.items():
            found = _result(runs, code, one_check=one_check)
            first, later = (found.summary["errors"][f"{at}_decodes"] for at in ("first", "later"))
            rows.append(
                {
                    "checks_for_4_kib": 1 if one_check else 8,
                    "corrects": bits,
                    "first_checks": first["codewords"],
                    "mean_errors": first["mean_errors"],
                    "below_75_share": below(found, LIMIT),
                    "host_first_checks": first["host"]["codewords"],
                    "host_mean_errors": first["host"]["mean_errors"],
                    "host_below_75_share": below(found, LIMIT, hosts_alone=True),
                    "later_checks": later["codewords"],
                    "later_mean_errors": later["mean_errors"],
                    "re_reads_a_read": re_reads(found),
                }
            )
    return pl.DataFrame(rows)
