"""Table 3: sequential and random requests on the baseline, with and without cleaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Run, plots

from ._drives import (
    PACKAGES,
    baseline,
    exported_bytes,
)
from ._loads import FRESH, cleaned, in_short, mean
from ._pictures import beside_memory

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

LOOKS = plots.Looks("sequential", "random")

_PATTERNS = {"sequential": "sequential", "random": "uniform"}

_KINDS = {"read": "reads", "write": "writes", "clean": "writes with cleaning"}

_OPEN: dict[str, Any] = {
    "size": {"mean": "4 KiB"},
    "arrivals": {"process": "uniform", "rate": "2000 /s"},
}
"""Load of the authors' simulator: exponential sizes in pages, uniform gaps of 0 to 1 ms."""

_WRITTEN = 3_593_678_848
"""Bytes of the region that the authors' runs of writes with cleaning write to [code]."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return runs of single pages without queueing, and runs with the authors' load."""
    requests = setting.pick(short=100_000, full=400_000)
    found = []
    for pattern, addresses in _PATTERNS.items():
        for kind in _KINDS:
            for load, how in (("page", {"size": "4 KiB"}), ("open", _OPEN)):
                stream = {
                    "name": "host",
                    "reads": "100 %" if kind == "read" else "0 %",
                    "addresses": {"pattern": addresses},
                }
                state: dict[str, Any] = dict(FRESH)
                if kind == "clean":
                    stream["region"] = {"size": f"{_WRITTEN} B"}
                    state = _aged(addresses)
                found.append(
                    Run(
                        f"{load}-{pattern}-{kind}",
                        {
                            "title": f"{pattern} {_KINDS[kind]}, {load}",
                            "drive": baseline(),
                            "precondition": state,
                            "workload": [stream | how],
                            "run": {"requests": requests},
                        },
                    )
                )
    return found


def _aged(addresses: str) -> dict[str, Any]:
    """Return a full drive after writing its space once, with random writes only to the region."""
    if addresses == "uniform":
        return cleaned(_WRITTEN / exported_bytes())
    return FRESH | {"age": {"overwrites": 1.0, "addresses": {"pattern": addresses}}}


def _ns(runs: Outcomes, pattern: str, kind: str, load: str = "page") -> float:
    return mean(runs[f"{load}-{pattern}-{kind}"])


def _by_pattern(runs: Outcomes, *kinds: str) -> dict[str, float]:
    """Return the figures of sequential and random requests of some kinds, named as in claims."""
    return {f"{p}_{kind}_ns": _ns(runs, p, kind) for p in _PATTERNS for kind in kinds}


def _both(runs: Outcomes, kind: str, load: str = "page") -> str:
    return " and ".join(f"{_ns(runs, p, kind, load) / 1e3:.1f}" for p in _PATTERNS) + " us"


def _efficiency(runs: Outcomes) -> float:
    collection = runs["page-random-clean"].result.summary["collection"]
    return float(collection["cleaning_efficiency"])


@exhibit.measures("A-3")
def alike(runs: Outcomes) -> Answer:
    """Compare sequential with random requests, as single pages and with the open load."""
    ours = (
        f"sequential and random reads {_both(runs, 'read')}, writes {_both(runs, 'write')}; "
        f"2000 requests a second, which queue: {_both(runs, 'read', 'open')}, "
        f"{_both(runs, 'write', 'open')}"
    )
    return Answer(ours, _by_pattern(runs, "read", "write"))


@exhibit.measures("A-3n")
def numbers(runs: Outcomes) -> Answer:
    """Return latencies of a page, and the rates of eight packages at these latencies."""
    figures = {
        "read_ns": _ns(runs, "random", "read"),
        "write_ns": _ns(runs, "random", "write"),
        "sequential_write_cleaning_ns": _ns(runs, "sequential", "clean"),
        "random_write_cleaning_ns": _ns(runs, "random", "clean"),
    }
    for kind in ("read", "write"):
        figures[f"{kind}_requests_per_second"] = PACKAGES * 1e9 / figures[f"{kind}_ns"]
    ours = (
        f"read {figures['read_ns'] / 1e3:.1f} us, {figures['read_requests_per_second']:,.0f} IOPS; "
        f"write {figures['write_ns'] / 1e3:.1f} us, "
        f"{figures['write_requests_per_second']:,.0f} IOPS; with cleaning "
        f"{_both(runs, 'clean')} (the authors' simulator: 329.4 and 391.8 us), "
        f"{_efficiency(runs):.0%} of a victim's pages superseded under random writes"
    )
    return Answer(ours, figures)


@exhibit.measures("A-4")
def cleaning(runs: Outcomes) -> Answer:
    """Compare writes with and without cleaning."""
    sequential = runs["page-sequential-clean"].result.summary["collection"]
    ours = (
        f"sequential and random {_both(runs, 'write')} without cleaning, {_both(runs, 'clean')} "
        f"with; efficiency {sequential['cleaning_efficiency']:.0%} and {_efficiency(runs):.0%}"
    )
    return Answer(ours, _by_pattern(runs, "write", "clean"))


@exhibit.draws("latency")
def drawn(runs: Outcomes) -> Picture:
    """Draw means of single pages."""
    groups: dict[str, dict[str, float | None]] = {
        told: {pattern: _ns(runs, pattern, kind) for pattern in _PATTERNS}
        for kind, told in _KINDS.items()
    }
    both = dict(zip(_KINDS.values(), ((130e3, 130e3), (309e3, 309e3), (327e3, 433e3)), strict=True))
    return beside_memory(groups, LOOKS, both, "Reads and writes of a page at a time")


@exhibit.tabulates("latency")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return all means, with the cleaning figures."""
    import polars as pl

    rows = []
    for load in ("page", "open"):
        for kind, told in _KINDS.items():
            for pattern in _PATTERNS:
                outcome = runs[f"{load}-{pattern}-{kind}"]
                collection = outcome.result.summary["collection"]
                rows.append(
                    {
                        "load": "a page at a time" if load == "page" else "2000 requests a second",
                        "requests": f"{pattern} {told}",
                        **in_short(outcome),
                        "cleaned_blocks": collection["blocks"],
                        "cleaning_mean_ns": collection["mean_ns"],
                        "cleaning_efficiency": collection["cleaning_efficiency"],
                    }
                )
    return pl.DataFrame(rows)
