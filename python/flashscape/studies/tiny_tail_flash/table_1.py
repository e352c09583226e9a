"""Table 1: read percentiles of ttFlash and Base in multiples of a drive without collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Figure

from ._drives import FULL, LEVELS
from ._runs import (
    RATES,
    TIMES,
    check_no_collection,
    emptiest,
    listed,
    no_better,
    reads,
    result,
    runs_of,
    share,
    times,
)
from ._traces import TRACES, footprint_bytes

if TYPE_CHECKING:
    import polars as pl

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return each trace at each level."""
    return runs_of(setting, LEVELS)


def _answer(
    runs: Outcomes, ours: str, figures: dict[str, Any], reason: str | None = None
) -> Answer:
    check_no_collection(runs, ("nogc",))
    return Answer(ours, figures, reason, no_better(runs))


def _beside(runs: Outcomes, percent: float) -> Answer:
    """Compare ttFlash's multiples of a percentile with Base's."""
    ttflash, base = (times(runs, level, percent) for level in (FULL, "base"))
    name = f"p{percent:g}".replace(".", "_")
    figures = {f"ttflash_{name}_times": ttflash, f"base_{name}_times": base}
    return _answer(runs, f"{listed(ttflash)}; Base {listed(base)}", figures)


@exhibit.measures("T-1")
def p99(runs: Outcomes) -> Answer:
    """Compare the 99th percentiles."""
    return _beside(runs, 99)


@exhibit.measures("T-2")
def p99_9(runs: Outcomes) -> Answer:
    """Compare the 99.9th percentiles."""
    return _beside(runs, 99.9)


@exhibit.measures("T-3")
def p99_99(runs: Outcomes) -> Answer:
    """Compare the 99.99th percentiles."""
    return _beside(runs, 99.99)


def _numbers(*figures: Figure) -> list[float]:
    return [float(number) for figure in figures for number in figure.numbers]


@exhibit.measures("T-4")
def base(runs: Outcomes) -> Answer:
    """Return Base's multiples at the 99th and the 99.9th percentile."""
    near, far = (times(runs, "base", percent) for percent in (99, 99.9))
    figures = {
        "base_p99_times": near,
        "base_p99_9_times": far,
        "base_most_times": max(_numbers(near, far)),
        "ttflash_p99_times": times(runs, FULL, 99),
        "ttflash_p99_9_times": times(runs, FULL, 99.9),
    }
    rain = [times(runs, "base-rain", percent) for percent in (99, 99.9)]
    ours = (
        f"p99 {listed(near)}; p99.9 {listed(far)}; with RAIN p99 {listed(rain[0])}; p99.9 "
        f"{listed(rain[1])}"
    )
    return _answer(runs, ours, figures, emptiest(runs))


@exhibit.measures("T-5")
def base_far(runs: Outcomes) -> Answer:
    """Return Base's multiples at the 99.99th percentile."""
    ours = times(runs, "base", 99.99)
    figures = {
        "base_p99_99_times": ours,
        "base_most_times": max(_numbers(ours)),
        "ttflash_p99_99_times": times(runs, FULL, 99.99),
    }
    return _answer(runs, listed(ours), figures, RATES)


@exhibit.measures("T-12")
def abstract(runs: Outcomes) -> Answer:
    """Return the least and greatest multiples over all percentiles."""
    base, ttflash = (
        _numbers(*(times(runs, level, percent) for percent in TIMES)) for level in ("base", FULL)
    )
    figures = {
        "ttflash_most_times": max(ttflash),
        "base_least_times": min(base),
        "base_most_times": max(base),
    }
    ours = (
        f"ttFlash {min(ttflash):g} to {max(ttflash):g} times, Base {min(base):g} to {max(base):g}"
    )
    return _answer(runs, ours, figures, emptiest(runs))


@exhibit.tabulates("reads")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return reads and collection of each trace at each level."""
    import polars as pl

    rows = []
    for name, trace in TRACES.items():
        for level, title in LEVELS.items():
            found, latency = result(runs, name, level), reads(runs, name, level)
            collection = found.summary["collection"]
            rows.append(
                {
                    "trace": trace.title,
                    "level": title,
                    "reads": latency.requests,
                    "read_mean_ns": latency.mean,
                    **{f"read_p{p:g}_ns".replace(".", "_"): latency.percentile(p) for p in TIMES},
                    "read_max_ns": latency.max,
                    "met_share": share(found, "met"),
                    "blocked_share": share(found, "blocked"),
                    "held_share": collection["held"]["mean"],
                    "collected_blocks": collection["blocks"],
                    "out_of_turn": collection["out_of_turn"],
                    "write_amplification": found.summary["write_amplification"]["total"],
                    "write_p99_ns": found.write.percentile(99),
                }
            )
    return pl.DataFrame(rows)


@exhibit.tabulates("traces")
def facts(runs: Outcomes) -> pl.DataFrame:
    """Return the figures that synthetic traces are made from, each with its source."""
    import polars as pl

    from ._drives import blocks

    rows = []
    for trace in TRACES.values():
        footprint = footprint_bytes(trace, blocks(runs.setting)) / 2**20
        told = trace.facts()
        told["footprint here"] = (f"{footprint:.0f} MiB", trace.footprint.source)
        rows += [
            {"trace": trace.title, "figure": figure, "value": value, "source": source}
            for figure, (value, source) in told.items()
        ]
    return pl.DataFrame(rows)
