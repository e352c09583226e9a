"""Tables 2 and 6: the measured suitability of organisations for workloads."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from flashscape.reproduce import Answer, Exhibit, Run, plots

from . import _drives
from ._loads import (
    CLEANED,
    LOADS,
    TRACES,
    experiment,
    mean,
    overloaded,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from matplotlib.figure import Figure as Picture

    from flashscape.reproduce import Outcomes, Setting

exhibit = Exhibit()

ORGANISATIONS = {
    "baseline": "baseline: fully connected, copy-back",
    "inter-plane": "no copy-back",
    "interleaved-2": "interleaving by 2 (dies)",
    "interleaved-4": "interleaving by 4 (plane pairs)",
    "stripe-8k-4": "stripe of 8 KB, interleaving by 4",
    "page-256k": "logical page of 256 KB",
    "bus-8": "shared bus, gang of 8",
    "bus-16": "shared bus, gang of 16 (2 GB each)",
    "asynchronous": "shared control, asynchronous",
    "synchronous": "shared control, synchronous",
}

SEEDS = (1, 2, 3)
"""Seeds of the synthetic loads; a trace has no randomness."""


@exhibit.runs
def runs(setting: Setting) -> list[Run]:
    """Return every organisation under every workload: traces once, others with all seeds."""
    return [
        Run(_run(load, name, seed), _experiment(setting, load, name) | {"seed": seed})
        for load in LOADS
        for name in ORGANISATIONS
        for seed in _seeds(load)
        if name != "asynchronous"
    ]


def _seeds(load: str) -> tuple[int, ...]:
    return SEEDS[:1] if load in TRACES else SEEDS


def _run(load: str, name: str, seed: int) -> str:
    # Commands occupy the control lines for no time, so asynchronous packages equal the baseline.
    of = "baseline" if name == "asynchronous" else name
    return f"suits-{load}-{of}" + ("" if load in TRACES else f"-seed-{seed}")


@cache
def _costs(name: str) -> tuple[int, int]:
    """Return pins between the controller and the flash, and entries of the map."""
    found = _drives.derived(_drives.ORGANISATIONS[name]())
    return found["organisation"]["pins"], found["capacity"]["logical_units"]


def _experiment(setting: Setting, load: str, name: str) -> dict[str, Any]:
    """Return TPC-C on a cleaning drive, so that copy-back matters; a few seconds of Exchange.

    Requests of Exchange pile up if a drive cannot keep up with them.
    """
    more: dict[str, Any] = {"title": f"{LOADS[load]}: {ORGANISATIONS[name]}"}
    if load == "tpcc":
        more["precondition"] = CLEANED
    elif load == "exchange":
        more["run"] = {"time": f"{setting.pick(short=5, full=20)} s"}
    return experiment(setting, load, _drives.ORGANISATIONS[name](), **more)


def _means(runs: Outcomes, load: str, name: str) -> list[float]:
    """Return the mean latency by seed."""
    return [mean(runs[_run(load, name, seed)]) for seed in _seeds(load)]


def _times(runs: Outcomes, load: str, name: str) -> float:
    """Return the mean of all seeds, relative to the baseline's."""
    return sum(_means(runs, load, name)) / sum(_means(runs, load, "baseline"))


def _piles_up(runs: Outcomes, load: str, name: str) -> bool:
    return any(overloaded(runs[_run(load, name, seed)]) for seed in _seeds(load))


def _written(runs: Outcomes, load: str, name: str) -> float:
    """Return pages programmed to flash per page written by hosts."""
    found = runs[_run(load, name, SEEDS[0])].result.summary["write_amplification"]["total"]
    return float(found)


def noise(means: Sequence[float]) -> float:
    """Return the relative spread of a mean over seeds: maximum less minimum, over the mean."""
    return (max(means) - min(means)) * len(means) / sum(means)


def tied(times: Mapping[str, float], within: float) -> list[str]:
    """Return the names with the shortest mean, or within a given share of it."""
    least = min(times.values(), default=0.0)
    ordered = sorted(times, key=lambda name: times[name])
    return [name for name in ordered if times[name] <= least * (1 + within)]


def _noise(runs: Outcomes, load: str) -> float:
    """Return the spread of the baseline; for a trace, the largest of the synthetic loads'."""
    synthetic = [load] if load not in TRACES else [each for each in LOADS if each not in TRACES]
    return max(noise(_means(runs, each, "baseline")) for each in synthetic)


def _best(runs: Outcomes, load: str) -> list[str]:
    """Return the organisations that no other beats by more than the noise."""
    times = {
        name: _times(runs, load, name) for name in ORGANISATIONS if not _piles_up(runs, load, name)
    }
    return tied(times, _noise(runs, load))


def _verdict(runs: Outcomes, load: str, name: str) -> str:
    """Return a verdict in a word, by our own bounds: within 5 % is alike, twice as long is bad."""
    if _piles_up(runs, load, name):
        return "overloaded"
    times = _times(runs, load, name)
    steps = ((0.95, "better"), (1.05, "alike"), (2.0, "worse"))
    return next((word for limit, word in steps if times <= limit), "much worse")


def _present(runs: Outcomes) -> list[str]:
    """Return the workloads that were run: traces may be absent."""
    return [
        load
        for load in LOADS
        if all(
            runs[_run(load, name, seed)].whole is not None
            for name in ORGANISATIONS
            for seed in _seeds(load)
        )
    ]


@exhibit.measures("A-18")
def best(runs: Outcomes) -> Answer:
    """Return the best organisations of each workload, with the one that needs the fewest pins."""
    told = []
    for load in _present(runs):
        names = _best(runs, load)
        if not names:
            told.append(f"{LOADS[load]}: all are overloaded")
            continue
        listed = ", ".join(
            f"{ORGANISATIONS[name]} ({_times(runs, load, name):.3f})" for name in names
        )
        told.append(f"{LOADS[load]}: {listed}")
        if len(names) > 1:
            told[-1] += f" (alike within the {_noise(runs, load):.1%} of seeds)"
        fewest = min(names, key=lambda name: _costs(name)[0])
        if any(_costs(name)[0] > _costs(fewest)[0] for name in names):
            pins = _costs(fewest)[0]
            told[-1] += f"; of these {ORGANISATIONS[fewest]} has the fewest pins, {pins}"
    return Answer(f"shortest mean, over the baseline's: {'. '.join(told)}")


@exhibit.tabulates("suits")
def tabled(runs: Outcomes) -> pl.DataFrame:
    """Return the costs of organisations, and the best of them, by workload.

    Times are mean latencies relative to the baseline; written are flash pages per host page.
    """
    import polars as pl

    best = {load: _best(runs, load) for load in _present(runs)}
    rows = []
    for name, told in ORGANISATIONS.items():
        pins, entries = _costs(name)
        row: dict[str, object] = {"organisation": told, "pins": pins, "map_entries": entries}
        for load, names in best.items():
            column = load if load in TRACES else f"{load}_synthetic"
            row[f"{column}_times"] = round(_times(runs, load, name), 3)
            row[f"{column}_written"] = round(_written(runs, load, name), 3)
            row[f"{column}_overloaded"] = _piles_up(runs, load, name)
            row[f"{column}_verdict"] = _verdict(runs, load, name)
            alone = "best" if len(names) == 1 else "tied for best"
            row[f"{column}_best"] = alone if name in names else ""
        rows.append(row)
    return pl.DataFrame(rows)


@exhibit.draws("suits")
def drawn(runs: Outcomes) -> Picture:
    """Draw the table as a plot."""
    loads = _present(runs)
    labels = {
        name: told.replace(": ", ":\n").replace(" (", "\n(").replace(", ", ",\n")
        + f"\n{_costs(name)[0]} pins"
        for name, told in ORGANISATIONS.items()
    }
    groups: dict[str, dict[str, float | None]] = {
        label: {LOADS[load]: _times(runs, load, name) for load in loads}
        for name, label in labels.items()
    }
    return plots.bars(
        groups,
        plots.Looks(*LOADS.values()),
        label="mean latency, over the baseline's",
        title="Suitability of organisations for workloads",
        log=True,
        overloaded={
            (label, LOADS[load])
            for name, label in labels.items()
            for load in loads
            if _piles_up(runs, load, name)
        },
    )
