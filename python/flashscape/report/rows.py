"""The figures of a summary as rows of text, for terminals and notebooks alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flashscape import units
from flashscape.causes import by_cause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.result import Result

_SHOWN = ("p50", "p99", "p99_9", "p99_99")
_CAUSES_SHOWN = 3


class Rows(NamedTuple):
    """A table of texts; the first ``names`` columns are words, the others figures."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: int


def requests(result: Result) -> Rows:
    """Throughput by initiator and kind."""
    seconds = result.summary["counted_ns"] / 1e9
    rows = [
        (
            name,
            kind.replace("_", "-"),
            f"{figures['requests']:,}",
            units.count(figures["iops"]),
            units.rate(figures["bytes"] / seconds if seconds else 0.0),
            f"{figures['unmapped']:,}",
        )
        for name, kind, figures in result.groups()
    ]
    return Rows(
        "Requests", ("initiator", "kind", "requests", "IOPS", "throughput", "unmapped"), rows, 2
    )


def latencies(result: Result) -> Rows:
    """Latency by initiator and kind; beside far percentiles, the samples behind them."""
    head = ("initiator", "kind", "mean", *(name.replace("_", ".") for name in _SHOWN), "max")
    rows = [
        (
            name,
            kind.replace("_", "-"),
            _mean(figures["latency_ns"]),
            *(_percentile(figures["latency_ns"], percentile) for percentile in _SHOWN),
            units.duration(figures["latency_ns"]["max"]),
        )
        for name, kind, figures in result.groups()
    ]
    return Rows("Latency (in brackets: samples at or beyond it)", head, rows, 2)


def causes(result: Result) -> Rows:
    """Where most of the time went, by initiator and kind."""
    rows = [
        (name, kind.replace("_", "-"), _top(figures["blame_ns"]))
        for name, kind, figures in result.groups()
    ]
    return Rows("Where the time went, in the mean", ("initiator", "kind", "causes"), rows, 3)


def drive(result: Result) -> Rows:
    """What the run cost the drive."""
    summary = result.summary
    amplification = summary["write_amplification"]
    wear = summary["wear"]
    rows = [
        ("write amplification", _amplification(amplification)),
        ("erases", f"{wear['erases']:,} in this run; {_wear(wear)}"),
        ("flash units busy", _utilisation(summary["utilisation"]["units"])),
        ("channels busy", _utilisation(summary["utilisation"]["channels"])),
        ("requests under way", f"{summary['mean_outstanding']:.2f} in the mean"),
        ("steady state", "; ".join(_steady(*item) for item in result.steadiness())),
    ]
    return Rows("Drive", ("figure", "value"), rows, 2)


def everything(result: Result) -> list[Rows]:
    """Every table of a summary."""
    return [requests(result), latencies(result), causes(result), drive(result)]


def headline(result: Result) -> str:
    """What was run, in a line."""
    summary = result.summary
    title = summary["title"] or "Run"
    state = "" if summary["complete"] else " – INTERRUPTED, partial results"
    return (
        f"{title}{state}: {units.duration(summary['simulated_ns'])} simulated in "
        f"{units.duration(summary['host_cpu_seconds'] * 1e9)} of CPU time, digest {result.digest}"
    )


def _mean(latency: dict[str, Any]) -> str:
    text = units.duration(latency["mean"])
    if (half_width := latency.get("mean_ci95")) is not None:
        text += f" ± {units.percent(half_width / latency['mean'])}"
    return text


def _percentile(latency: dict[str, Any], name: str) -> str:
    beyond = latency["samples_beyond"][name]
    text = units.duration(latency[name])
    return f"{text} ({beyond:,})" if beyond < 1_000 else text


def _top(blame: dict[str, int]) -> str:
    times = by_cause(blame)
    total = sum(times.values())
    ranked = sorted(times.items(), key=lambda item: -item[1])[:_CAUSES_SHOWN]
    return ", ".join(f"{cause.name} {units.percent(ns / total)}" for cause, ns in ranked)


def _amplification(amplification: dict[str, float | None]) -> str:
    total = amplification["total"]
    if total is None:
        return "nothing was written"
    parts = [f"{source} {amplification[source] or 0:.2f}" for source in ("host", "gc", "padding")]
    return f"{total:.2f} ({', '.join(parts)})"


def _wear(wear: dict[str, Any]) -> str:
    spread = wear["erase_count"]
    if spread is None:
        return "no good block left"
    low, high, mean = spread["min"], spread["max"], spread["mean"]
    return f"blocks {low:.0f} to {high:.0f} times since new, {mean:.1f} in the mean"


def _utilisation(spread: dict[str, float]) -> str:
    low, high = units.percent(spread["min"]), units.percent(spread["max"])
    return f"{units.percent(spread['mean'])} in the mean ({low} to {high})"


def _steady(figure: str, verdict: dict[str, Any]) -> str:
    called = figure.replace("_", " ")
    if not verdict["reached"]:
        return f"{called} not reached"
    if verdict["from_ns"]:
        return f"{called} from {units.duration(verdict['from_ns'])} on"
    return f"{called} over the whole run"
