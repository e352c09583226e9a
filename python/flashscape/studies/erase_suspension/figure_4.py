"""Figure 4: read and write tails of 4 KiB random requests, 70 % of them reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.catalogue import check
from flashscape.reproduce import Answer, Exhibit, Figure, percentile, plots

from ._runs import LOOKS, SCHEMES, fio, fio_name
from ._shares import erase_shares

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Run, Setting

exhibit = Exhibit()

_SEEDS = (1, 2, 3)
"""Seeds for E-8: a tail of writes comes from a few collections."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return the mix under each scheme, with several seeds."""
    return fio(setting, seeds=_SEEDS)


_SUSPEND_NS = 100_000
"""Duration of the recovery that an interruption needs."""


def reads(runs: Outcomes, scheme: str, percent: float) -> Figure:
    """Return a percentile of reads of a scheme."""
    return percentile(runs[f"fio-{scheme}"].measured.read, percent)


def write_tail(runs: Outcomes, scheme: str) -> float:
    """Return the p99.999 of writes of a scheme, in nanoseconds: the mean over seeds."""
    each = [runs[fio_name(scheme, s)].measured.write.percentile(99.999) for s in _SEEDS]
    return sum(tail or 0 for tail in each) / len(each)


def mean_write(runs: Outcomes, scheme: str) -> Figure:
    """Return the mean write of a scheme over the writes of all seeds."""
    each = [runs[fio_name(scheme, s)].measured.write for s in _SEEDS]
    requests = sum(of_seed.requests for of_seed in each)
    whole = sum((of_seed.mean or 0.0) * of_seed.requests for of_seed in each)
    return Figure(whole / requests, requests)


@exhibit.measures("E-3")
def baseline(runs: Outcomes) -> Answer:
    """Return the tail of reads that wait for whole erases."""
    ours = reads(runs, "baseline", 99.999)
    return Answer(
        f"p99.999 {ours.text('ns')}",
        {
            "baseline_read_p99_999_ns": ours,
            "d_es_read_p99_999_ns": reads(runs, "d-es", 99.999),
        },
    )


@exhibit.measures("E-4")
def deferred(runs: Outcomes) -> Answer:
    """Return the tail of reads that wait for a step."""
    ours = reads(runs, "d-es", 99.999)
    figures = {
        f"{scheme.replace('-', '_')}_read_p99_999_ns": reads(runs, scheme, 99.999)
        for scheme in ("baseline", "d-es", "i-es")
    }
    return Answer(f"p99.999 {ours.text('ns')}", figures)


@exhibit.measures("E-5")
def immediate(runs: Outcomes) -> Answer:
    """Compare the tails of ES and I-ES with that of Ideal-ES."""
    durations = check(runs["fio-ideal-es"].measured.summary["config"])["durations_ns"]
    figures: dict[str, object] = {
        f"{scheme.replace('-', '_')}_read_p99_999_ns": reads(runs, scheme, 99.999)
        for scheme in ("es", "i-es", "ideal-es", "d-es")
    }
    once = max(durations["sense_by_page_type"]) + durations["transfer_page"]
    figures["allowed_ns"] = _SUSPEND_NS + 2 * once
    for scheme in ("es", "i-es"):
        figures[f"{scheme.replace('-', '_')}_completed"] = runs[f"fio-{scheme}"].error is None
    es, i_es, ideal = (reads(runs, s, 99.999).text("ns") for s in ("es", "i-es", "ideal-es"))
    return Answer(f"p99.999 {es} with ES, {i_es} with I-ES, {ideal} with Ideal-ES", figures)


@exhibit.measures("E-6")
def timed_out(runs: Outcomes) -> Answer:
    """Return the number of erases that made reads wait for the end of a step under T-ES."""
    summary = runs["fio-t-es-64"].measured.summary["flash"]
    erases = summary["erases"]["erase"]["commands"]
    late = summary["erase_deferrals"]
    share = late / erases
    figure = Figure(share, samples=erases)
    return Answer(f"{late} of {erases:,} erases", {"timed_out_share": figure})


@exhibit.measures("E-7")
def longest_write(runs: Outcomes) -> Answer:
    """Compare the longest write under Baseline with the longest collection."""
    measured = runs["fio-baseline"].measured
    longest = measured.write.max
    collection = measured.summary["collection"]["max_ns"]
    figures = {"baseline_write_max_ns": longest, "gc_max_ns": collection}
    whole = Figure(collection).text("ns")
    ours = f"{Figure(longest).text('ns')}; longest collection {whole}, not all of it waited for"
    return Answer(ours, figures)


@exhibit.measures("E-8")
def slower_writes(runs: Outcomes) -> Answer:
    """Return mean writes of all schemes, with their tails."""
    means = {scheme: mean_write(runs, scheme) for scheme in SCHEMES}
    figures: dict[str, object] = {
        f"{scheme.removesuffix('-64').replace('-', '_')}_write_mean_ns": mean
        for scheme, mean in means.items()
    }
    ours = ", ".join(f"{SCHEMES[s]} {mean.text('ns')}" for s, mean in means.items())
    tails = ", ".join(f"{SCHEMES[s]} {Figure(write_tail(runs, s)).text('ns')}" for s in SCHEMES)
    flash = runs["fio-i-es"].measured.summary["flash"]
    each = flash["extra_pulses"] / flash["erases"]["erase"]["commands"]
    reason = (
        f"an erase with I-ES gives up {each:.1f} pulses in the mean before all 16 requests are "
        "writes, a millisecond each"
    )
    ours = f"mean over {len(_SEEDS)} seeds: {ours} (p99.999: {tails})"
    return Answer(ours, figures, reason)


@exhibit.draws("tails")
def drawn(runs: Outcomes) -> Picture:
    """Draw reads and writes, a curve for each scheme, and a thin one for each further seed."""
    results = {name: runs[f"fio-{scheme}"].measured for scheme, name in SCHEMES.items()}
    references = {
        "reads": [
            plots.Reference(5e6, "paper: Baseline about 5 ms", "Baseline"),
            plots.Reference(1e6, "paper: D-ES about 1 ms", "D-ES"),
            plots.Reference(2e5, "paper: T-ES below 200 µs", "T-ES(64)"),
        ],
        "writes": [plots.Reference(35e6, "paper: longest collection 35 ms")],
    }
    panels = {
        "reads": {name: result.read for name, result in results.items()},
        "writes": {name: result.write for name, result in results.items()},
    }
    others = {
        name: [runs[fio_name(scheme, seed)].measured for seed in _SEEDS[1:]]
        for scheme, name in SCHEMES.items()
    }
    repeats = {
        "reads": {name: [each.read for each in found] for name, found in others.items()},
        "writes": {name: [each.write for each in found] for name, found in others.items()},
    }
    more = " and ".join(map(str, _SEEDS[1:]))
    title = f"seed {_SEEDS[0]}; thin lines: seeds {more}"
    return plots.tails(panels, LOOKS, title=title, references=references, repeats=repeats)


@exhibit.tabulates("causes")
def causes(runs: Outcomes) -> pl.DataFrame:
    """Return the causes of read latency, by scheme."""
    return erase_shares({s: runs[f"fio-{s}"].measured for s in SCHEMES})
