"""Figures of a trace as rows of text, for terminals and notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape import units
from flashscape.report.table import Rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Figures = Mapping[str, Any]

_DEVICES_SHOWN = 8
_COMMON_SHOWN = 4


def headline(file: Figures, statistics: Figures) -> str:
    """Return a line about the trace."""
    packed = ", compressed" if file["compressed"] else ""
    requests = units.many(statistics["requests"], "request")
    return (
        f"{file['file']}: {file['title']}{packed} ({file['reason']}); "
        f"{requests} over {units.duration(statistics['span_ns'])}"
    )


def everything(file: Figures, statistics: Figures) -> list[Rows]:
    """Return every table of a trace: of ``TraceInfo.file`` and ``TraceInfo.statistics``."""
    each = (kinds, sizes, arrivals, windows, places, hotness, sequences)
    parts = [*(of(statistics) for of in each), devices(file, statistics)]
    return [part for part in parts if part.rows]


def kinds(statistics: Figures) -> Rows:
    """Return requests and bytes by kind."""
    rows = []
    for figures in statistics["kinds"]:
        aligned = figures["alignment"]
        rows.append(
            (
                _name(figures),
                f"{figures['requests']:,}",
                units.percent(figures["share"]),
                units.binary(figures["bytes"]) if aligned else "–",
                units.percent(aligned["aligned_4_kib_share"]) if aligned else "–",
                units.binary(aligned["least_bytes"]) if aligned else "–",
            )
        )
    head = ("kind", "requests", "share", "bytes", "4 KiB aligned", "all aligned to")
    return Rows("Requests", head, rows, 1)


def sizes(statistics: Figures) -> Rows:
    """Return the sizes of requests."""
    rows = []
    for figures in statistics["kinds"]:
        if (spread := figures["size_bytes"]) is not None:
            shown = (spread[name] for name in ("mean", "p10", "p50", "p90", "p99", "max"))
            common = figures["common_sizes"][:_COMMON_SHOWN]
            parts = (f"{units.binary(size)} {_share(n, figures['requests'])}" for size, n in common)
            rows.append((_name(figures), *map(units.binary, shown), ", ".join(parts)))
    head = ("kind", "mean", "p10", "p50", "p90", "p99", "max", "most common")
    return Rows("Sizes", head, rows, 1)


def arrivals(statistics: Figures) -> Rows:
    """Return the arrival statistics."""
    figures = statistics["arrivals"]
    rows = []
    if (rate := figures["requests_per_s"]) is not None:
        throughput = units.binary(figures["bytes_per_s"])
        rows.append(("mean rate", f"{units.count(rate)} requests/s, {throughput}/s"))
    if (gap := figures["gap_ns"]) is not None:
        named = ("mean", "p10", "p50", "p90", "p99", "max")
        shown = ", ".join(f"{name} {units.duration(gap[name])}" for name in named)
        rows.append(("gaps", shown))
        cov = f"{gap['cov']:.2f} (1 for Poisson arrivals, 0 for even ones)"
        rows.append(("gaps vary by", cov))
    rows.append(("same stamp as before", units.percent(figures["simultaneous_share"])))
    if resolution := figures["resolution_ns"]:
        rows.append(("stamps are multiples of", units.duration(resolution)))
    if (hurst := figures["hurst"]) is not None:
        scales = f"{units.duration(hurst['from_ns'])} to {units.duration(hurst['to_ns'])}"
        text = f"{hurst['exponent']:.2f} over windows of {scales} (R² {hurst['r_squared']:.2f})"
        rows.append(("Hurst's exponent", text))
    if (disorder := statistics["backwards"]) is not None:
        step = units.duration(disorder["largest_step_ns"])
        done = "sorted here" if disorder["sorted"] else "not sorted"
        text = f"{disorder['requests']:,} stamps, by {step} at most; {done}"
        rows.append(("run backwards", text))
    return Rows("Arrivals", ("figure", "value"), rows, 2)


def windows(statistics: Figures) -> Rows:
    """Return peaks and bursts by scale of time."""
    rows = [
        (
            units.duration(window["window_ns"]),
            f"{window['windows']:,}",
            f"{window['peak_requests']:,}",
            f"{units.binary(window['peak_bytes'])}",
            _or_dash(window["empty_share"], units.percent),
            _or_dash(window["cov"], "{:.2f}".format),
            _or_dash(window["dispersion"], "{:.3g}".format),
        )
        for window in statistics["arrivals"]["windows"]
    ]
    head = ("window", "whole ones", "most requests", "most bytes", "empty", "CoV", "variance/mean")
    title = "Bursts (variance/mean of requests in a window: 1 for Poisson arrivals)"
    return Rows(title, head, rows, 1)


def places(statistics: Figures) -> Rows:
    """Return the addresses used, and their reuse."""
    figures, reuse = statistics["footprint"], statistics["reuse"]
    if not figures["touched_bytes"]:
        return Rows("Places", ("figure", "value"), [], 2)
    parts = ("read", "written", "both")
    by_kind = ", ".join(f"{part} {units.binary(figures[f'{part}_bytes'])}" for part in parts)
    rows = [
        ("touched", f"{units.binary(figures['touched_bytes'])} ({by_kind})"),
        (
            "span",
            f"{units.binary(figures['span_bytes'])}, of which "
            f"{units.percent(figures['touched_share'])} touched"
            f" in {figures['stretches']:,} stretches",
        ),
    ]
    if (ratio := figures["overwrite_ratio"]) is not None:
        rows.append(("each unit written", f"{ratio:.2f} times in the mean (overwrite ratio)"))
    if (ratio := figures["reread_ratio"]) is not None:
        rows.append(("each unit read", f"{ratio:.2f} times in the mean"))
        share = units.percent(reuse["read_after_write_share"])
        rows.append(("read after written", f"{share} of what is read was written before"))
    for label, key, shown in (
        ("time to rewrite", "rewrite_time_ns", units.duration),
        ("written until rewrite", "rewrite_distance_bytes", units.binary),
        ("read until reread", "reread_distance_bytes", units.binary),
    ):
        if (spread := reuse[key]) is not None:
            named = ("p10", "p50", "p90", "p99")
            rows.append((label, ", ".join(f"{n} {shown(spread[n])}" for n in named)))
    share = figures["sampled_share"]
    sampled = "" if share == 1 else f", from {share:.3%} of them"
    return Rows(f"Places (units of 4 KiB{sampled})", ("figure", "value"), rows, 2)


def hotness(statistics: Figures) -> Rows:
    """Return the skew of accesses to units."""
    rows = []
    sides = (("reads and writes", "hotness"), ("reads", "read_hotness"))
    for name, key in (*sides, ("writes", "write_hotness")):
        if (hot := statistics[key]) is not None:
            shares = (units.percent(hot[f"hottest_{part}"]) for part in (1, 5, 10, 20))
            zipf = hot["zipf"]
            law = _skew(zipf) if zipf else "–"
            rows.append((name, *shares, f"{hot['most']:,}", law))
    head = ("accesses", "top 1 %", "5 %", "10 %", "20 %", "most", "Zipf exponent")
    return Rows("Hotness (share that goes to the hottest units touched)", head, rows, 1)


def sequences(statistics: Figures) -> Rows:
    """Return the sequential runs of requests, and the distances of jumps."""
    rows = []
    for figures in statistics["kinds"]:
        if (sequence := figures["sequence"]) is not None:
            strides, run = sequence["strides"], sequence["run_requests"]
            near = sum(v for k, v in strides.items() if k.startswith(("ahead", "back", "within")))
            rows.append(
                (
                    _name(figures),
                    units.percent(sequence["sequential_share"]),
                    units.percent(sequence["contiguous_share"]),
                    f"{run['mean']:.1f}, p99 {run['p99']:,}, max {run['max']:,}" if run else "–",
                    units.percent(strides["in_place"]),
                    units.percent(near),
                    units.percent(strides["far"]),
                    units.percent(sequence["constant_stride_share"]),
                )
            )
    head = (
        "kind",
        "sequential",
        "to the last",
        "requests of a run",
        "in place",
        "within 64 MiB",
        "farther",
        "constant stride",
    )
    title = "Sequence (sequential: begins where one of the last 32 of its kind ended)"
    return Rows(title, head, rows, 1)


def devices(file: Figures, statistics: Figures) -> Rows:
    """Return the devices, if there are several."""
    known = statistics["devices"]
    if len(known) < 2:
        return Rows("Devices", ("device",), [], 1)
    rows = [
        (
            _device(file["device_names"], device["device"]),
            f"{device['requests']:,}",
            units.percent(device["requests"] / statistics["requests"]),
            units.binary(device["bytes"]),
            f"{units.binary(device['begin_bytes'])} to {units.binary(device['end_bytes'])}",
        )
        for device in known[:_DEVICES_SHOWN]
    ]
    more = len(known) - len(rows)
    title = f"Devices ({more} more not shown)" if more else "Devices"
    return Rows(title, ("device", "requests", "share", "bytes", "addresses"), rows, 1)


def _device(names: Sequence[str], device: int) -> str:
    return f"{device} = {names[device]}" if device < len(names) else str(device)


def _name(figures: dict[str, Any]) -> str:
    return str(figures["kind"]).replace("_", "-")


def _skew(zipf: dict[str, float]) -> str:
    """Return the exponent and the quality of its fit; a fit to even accesses says nothing."""
    if round(zipf["theta"], 2) <= 0:
        return "no skew"
    return f"{zipf['theta']:.2f} (R² {zipf['r_squared']:.2f})"


def _share(part: int, whole: int) -> str:
    return units.percent(part / whole)


def _or_dash(value: float | None, shown: Any) -> str:
    return "–" if value is None else str(shown(value))
