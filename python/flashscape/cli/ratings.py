"""Multipliers of the Aerospike Certification Tool as a table for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape import units
from flashscape.act.conditions import LIMITS
from flashscape.report.table import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.act.hunt import Rating
    from flashscape.act.search import Search
    from flashscape.act.trial import Trial

_PERCENTILES = ("p95", "p99", "p99.9")


def table(trials: Sequence[Trial]) -> Rows:
    """Return a row for each multiplier: latencies, shares beyond the limits, service times."""
    head = (
        "",
        *_PERCENTILES,
        *(f"> {limit.label}" for limit in LIMITS),
        "small reads",
        "large reads",
        "large writes",
        "WAF",
        "verdict",
    )
    rows = [_row(trial) for trial in trials]
    title = "Small reads; of the worst slice; mean service time of its issue period"
    return Rows(title, head, rows, 1)


def _row(trial: Trial) -> tuple[str, ...]:
    latency = trial.small_reads
    spans = (latency.p95, latency.p99, latency.p99_9)
    shares = [percentage(share.share) for share in trial.worst] or ["–"] * len(LIMITS)
    services = [
        f"{units.duration(service.mean_ns)} of {units.duration(service.period_ns)}"
        for service in trial.services
    ] or ["–"] * 3
    amplification = trial.write_amplification
    return (
        f"{trial.multiplier}x",
        *map(units.duration, spans),
        *shares,
        *services,
        "–" if amplification is None else f"{amplification:.2f}",
        _verdict(trial),
    )


def _verdict(trial: Trial) -> str:
    """Return the verdict of a multiplier, with the conditions that fail."""
    names = [
        f"> {limit.label}"
        for limit, share in zip(LIMITS, trial.worst, strict=False)
        if not share.passes
    ]
    names += [service.stream.replace("-", " ") for service in trial.services if not service.passes]
    names += ["overload"] if trial.overload else []
    if not names:
        return "passes"
    return f"{'stress only' if trial.passes_stress else 'fails'}: {', '.join(names)}"


def percentage(share: float) -> str:
    """Format a share with as many digits as the limits need."""
    hundredths = 100 * share
    return (
        "0 %" if not hundredths else f"{hundredths:.2g} %" if share < 0.1 else f"{hundredths:.0f} %"
    )


def samples(trial: Trial) -> str:
    """Say how long a multiplier was measured, and how many samples its shares are based on."""
    lengths = trial.lengths
    each = trial.worst[0].requests if trial.worst else 0
    return (
        f"{trial.multiplier}x: {units.duration(lengths.measured_ns)} measured in {lengths.slices} "
        f"slices of {each:,} small reads, after {units.duration(lengths.warm_up_ns)} of warm-up"
    )


def of_search(search: Search) -> list[str]:
    """Return the sentences below the table of a search; the ratings come last."""
    lines = []
    measured = [trial for trial in search.trials if trial.slices]
    lines += [samples(trial) for trial in (measured[:1] + measured[1:][-1:])]
    lines += _ageing(search.settings["overwrites"], search.settings["ageing_write_amplification"])
    for name, rating in (("performance", search.performance), ("stress", search.stress)):
        lines += _why(search, name, rating)
    performance, stress = shown(search.performance), shown(search.stress)
    lines.append(f"performance rating {performance}, stress rating {stress}")
    return lines


def of_trial(trial: Trial) -> list[str]:
    """Return the sentences about a single multiplier; the verdict comes last."""
    lines = [samples(trial)]
    settings = trial.settings
    lines += _ageing(settings["overwrites"], settings["ageing_write_amplification"])
    lines += [f"note: {remark}" for remark in trial.remarks]
    lines += [f"not met: {why}" for why in trial.failures]
    told = {True: "passes", False: "fails"}
    lines.append(
        f"{trial.multiplier}x {told[trial.passes_performance]} the performance test and "
        f"{told[trial.passes_stress]} the stress test"
    )
    return lines


def _ageing(overwrites: float | None, amplification: float | None) -> list[str]:
    if overwrites is None:
        return ["the drive is that of a snapshot"]
    reached = "" if amplification is None else f"; write amplification was {amplification:.2f} then"
    return [f"the drive was filled, and overwritten {units.times(overwrites, 'g')}{reached}"]


def _why(search: Search, name: str, rating: Rating) -> list[str]:
    """Return the reasons for which a rating is not higher."""
    passes = f"passes_{name}"
    failed = [trial for trial in search.trials if not getattr(trial, passes)]
    lines = []
    if failed:
        first = failed[0]
        reasons = first.failures if name == "performance" else first.stress_failures
        lines.append(f"{name}: {first.multiplier}x fails: {'; '.join(reasons)}")
        lines += [f"note: {remark}" for remark in first.remarks] if name == "stress" else []
    else:
        lines.append(f"{name}: nothing fails up to {search.most}x, the highest that was allowed")
    if rating.exceptions:
        beyond = ", ".join(f"{multiplier}x" for multiplier in rating.exceptions)
        lines.append(f"note: beyond the first failure {beyond} passes the {name} test, too")
    return lines


def shown(rating: Rating) -> str:
    """Format a rating."""
    return f"{'at least ' if rating.at_ceiling else ''}{rating.multiplier}x"
