"""Tables 2 and 6: which organisation suits which workload, as measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Run, plots
from flashscape.studies.design_tradeoffs_performance._drives import (
    asynchronous,
    baseline,
    inter_plane,
    interleaved,
    large_pages,
    shared_bus,
    striped,
    synchronous,
)
from flashscape.studies.design_tradeoffs_performance._loads import (
    CLEANED,
    LOADS,
    TRACES,
    experiment,
    mean,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting
    from flashscape.studies.design_tradeoffs_performance._drives import Drive

exhibit = Exhibit()

ORGANISATIONS = {
    "baseline": "fully connected, copy-back",
    "inter-plane": "no copy-back",
    "interleaved-2": "interleaving by 2 (dies)",
    "interleaved-4": "interleaving by 4 (plane pairs)",
    "stripe-8k": "stripe of 8 KB, interleaving by 4",
    "page-256k": "logical page of 256 KB",
    "bus-8": "shared bus, gang of 8",
    "bus-16": "shared bus, gang of 16 (2 GB each)",
    "asynchronous": "shared control, asynchronous",
    "synchronous": "shared control, synchronous",
}

_BUS_DEPTH = 4
"""Requests that a shared bus is given at a time; later ones wait in the host, which counts. It
serves one operation at a time, and whatever waits in the drive costs the simulation time."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Every organisation under every workload, all for the same time."""
    return [
        Run(f"suits-{load}-{name}", _experiment(setting, load, name))
        for load in LOADS
        for name in ORGANISATIONS
    ]


def _drive(name: str) -> Drive:
    """An organisation by the name of its runs."""
    drives: dict[str, Any] = {
        "baseline": baseline,
        "inter-plane": inter_plane,
        "interleaved-2": lambda: interleaved(2),
        "interleaved-4": lambda: interleaved(4),
        "stripe-8k": lambda: striped(8, 4),
        "page-256k": large_pages,
        "bus-8": lambda: shared_bus(8),
        "bus-16": lambda: shared_bus(16, 16, 1024),
        "asynchronous": asynchronous,
        "synchronous": synchronous,
    }
    drive: Drive = drives[name]()
    return drive


def _experiment(setting: Setting, load: str, name: str) -> dict[str, Any]:
    """TPC-C on a drive that cleans, so that copy-back shows; beginnings of the others."""
    more: dict[str, Any] = {"title": f"{LOADS[load]}: {ORGANISATIONS[name]}"}
    if load == "tpcc":
        more["precondition"] = CLEANED
    elif load in TRACES:
        more["run"] = {"requests": setting.pick(short=1_000, full=5_000)}
    else:
        more["run"] = {"time": f"{setting.pick(short=5, full=20)} s"}
    found = experiment(setting, load, _drive(name), **more)
    if name.startswith("bus-"):
        for stream in found["workload"]:
            stream["queue_depth"] = _BUS_DEPTH
    return found


def _ns(runs: Outcomes, load: str, name: str) -> float:
    return mean(runs[f"suits-{load}-{name}"])


def _times(runs: Outcomes, load: str, name: str) -> float:
    return _ns(runs, load, name) / _ns(runs, load, "baseline")


def _piles_up(runs: Outcomes, load: str, name: str) -> bool:
    """Whether requests came faster than the drive serves them, by what the run notes."""
    notes = runs[f"suits-{load}-{name}"].result.summary["notes"]
    return any("overload" in note for note in notes)


def _verdict(runs: Outcomes, load: str, name: str) -> str:
    """In a word, by bounds of our own: 5 % either way is alike, twice as long is bad."""
    if _piles_up(runs, load, name):
        return "too slow"
    times = _times(runs, load, name)
    steps = ((0.95, "better"), (1.05, "alike"), (2.0, "worse"))
    return next((word for limit, word in steps if times <= limit), "much worse")


def _present(runs: Outcomes) -> list[str]:
    """Workloads that were run: traces may be absent."""
    return [
        load
        for load in LOADS
        if all(runs[f"suits-{load}-{name}"].whole is not None for name in ORGANISATIONS)
    ]


@exhibit.measures("A-18")
def best(runs: Outcomes) -> Answer:
    """The best organisation of each workload."""
    told = []
    for load in _present(runs):
        found = min(ORGANISATIONS, key=lambda name: _ns(runs, load, name))
        told.append(f"{LOADS[load]}: {ORGANISATIONS[found]} ({_times(runs, load, found):.2f})")
    return Answer(f"shortest mean, over the baseline's: {'; '.join(told)}")


@exhibit.tabulates("suits")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Mean latency over the baseline's, and what that means, by organisation and workload."""
    import polars as pl

    rows = []
    for name, told in ORGANISATIONS.items():
        row: dict[str, object] = {"organisation": told}
        for load in _present(runs):
            row[f"{load}_times"] = round(_times(runs, load, name), 3)
            row[f"{load}_verdict"] = _verdict(runs, load, name)
        rows.append(row)
    return pl.DataFrame(rows)


@exhibit.draws("suits")
def drawn(runs: Outcomes) -> Picture:
    """The table as a plot."""
    groups: dict[str, dict[str, float | None]] = {
        told.replace(" (", "\n(").replace(", ", ",\n"): {
            LOADS[load]: _times(runs, load, name) for load in _present(runs)
        }
        for name, told in ORGANISATIONS.items()
    }
    looks = plots.Looks(*LOADS.values())
    return plots.bars(groups, looks, label="mean latency, over the baseline's", log=True)
