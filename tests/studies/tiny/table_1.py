"""Table 1: depths, and a run that ends early."""

from __future__ import annotations

from flashscape.reproduce import Answer, Exhibit, Run, along, plots
from flashscape.units import duration

from . import _runs

exhibit = Exhibit()
DEPTHS = {1: "depth-1", 8: "waiting", 64: "depth-64"}


@exhibit.runs
def declared(setting):
    """Declare a run of another exhibit, and runs of its own."""
    yield Run("waiting", _runs.experiment(setting))
    for depth, name in DEPTHS.items():
        if name != "waiting":
            yield Run(name, _runs.experiment(setting, depth=depth))
    policy = {"policy": "python", "file": _runs.GIVES_UP, "function": "choose"}
    drive = _runs.DRIVE | {"ftl": _runs.DRIVE["ftl"] | {"gc": {"victim": policy}}}
    given_up = _runs.experiment(setting, drive=drive, precondition={"fill": "sequential"})
    yield Run("given-up", given_up | {"run": {"requests": 50_000}}, (), ("PolicyError",))
    traced = {"name": "host", "trace": {"file": setting.trace("nowhere.csv")}}
    yield Run("traced", {"drive": _runs.DRIVE, "workload": [traced]})


def means(runs):
    """Mean read latency by depth."""
    return [(depth, runs[name].result.read.mean) for depth, name in DEPTHS.items()]


@exhibit.measures("X-6")
@exhibit.measures("X-9")
def by_depth(runs):
    """Return means along the depths."""
    figure = along(mean for _, mean in means(runs))
    return Answer(figure.text("ns"), {"read_mean_ns": figure})


@exhibit.measures("X-7")
def what_ends_it(runs):
    """Return the error of the run that gives up."""
    error = runs["given-up"].error
    kind = "nothing" if error is None else error.type
    return Answer(f"ends with {kind}", {"ended_with": kind})


@exhibit.measures("X-8")
def of_the_trace(runs):
    """Return the mean read latency of a missing trace."""
    reads = runs["traced"].result.read
    return Answer(duration(reads.mean), {"trace_read_mean_ns": reads.mean})


@exhibit.draws("by-depth")
def by_depth_drawn(runs):
    """Draw a line over the depths."""
    panels = {"mean read latency": {"waiting": means(runs)}}
    papers = {"mean read latency": {"waiting": [(1, 1e5), (64, 3e6)]}}
    units = {"mean read latency": "ns"}
    return plots.lines(panels, _runs.LOOKS, x_label="queue depth", units=units, papers=papers)


@exhibit.draws("bars")
def as_bars(runs):
    """Draw the same as bars."""
    groups = {f"QD {depth}": {"waiting": mean} for depth, mean in means(runs)}
    paper = {("QD 1", "waiting"): 1e5}
    return plots.bars(groups, _runs.LOOKS, unit="ns", label="mean", references=paper)


@exhibit.draws("absent")
def absent(runs):
    """Draw a plot of a run that does not exist."""
    return plots.tails({"reads": {"waiting": runs["traced"].result.read}}, _runs.LOOKS)
