"""Settings that ``explain`` names: they exist, and the drive may have them."""

from __future__ import annotations

import tomllib

import polars as pl
import pytest

import flashscape as fs
from flashscape import remedies
from flashscape.causes import by_cause

BASE = {
    "drive": {
        "preset": "dc-tlc",
        "geometry": {
            "channels": 1,
            "packages_per_channel": 1,
            "dies_per_package": 1,
            "blocks_per_plane": 40,
            "pages_per_block": 48,
        },
        "ftl": {"over_provisioning": {"reserved": "30 %"}},
        "buffer": {"size": "1 MiB"},
    },
    "precondition": {"fill": "random", "age": {"overwrites": 2.0}},
    "workload": [{"name": "host", "reads": "30 %", "queue_depth": 8}],
    "run": {"requests": 20000},
}


LACKING = {
    "drive.scheduler.suspension": {},
    "drive.scheduler.program_suspension": {},
    "drive.scheduler.bypass": {"drive.scheduler.bypass": "none"},
    "drive.ftl.gc.preemptible": {"drive.ftl.gc.preemptible": False},
    "drive.ftl.gc.pacing": {"drive.ftl.gc.pacing": "none"},
}
"""Changes that take the setting away from a drive."""


WAITS = {
    "drive.scheduler.suspension": ("read", "erases"),
    "drive.scheduler.program_suspension": ("read", "host programs"),
    "drive.scheduler.bypass": ("read", "host programs"),
    "drive.ftl.gc.preemptible": ("read", "withheld flash"),
    "drive.ftl.gc.pacing": ("write", None),
}
"""Kind and cause whose wait must become shorter; for pacing, the wait of the slowest writes."""


def told(result, path):
    """Return the sentences about a setting after a run."""
    return [line for line in fs.explain(result).remarks if line.startswith(f"{path} = ")]


def wait(result, kind, cause):
    """Return the mean wait of a kind for a cause; without a cause, the slowest request."""
    latency = result.of_kind(kind)
    if cause is None:
        return latency.percentile(99.9)
    blamed = result.blame.filter(pl.col("kind") == kind)
    times = by_cause(zip(blamed["state"], blamed["total_ns"], strict=True))
    return {each.name: ns for each, ns in times.items()}.get(cause, 0) / latency.requests


@pytest.mark.parametrize("remedy", remedies.REMEDIES, ids=lambda remedy: remedy.path)
def test_what_is_named_can_be_set_and_shortens_the_wait(remedy):
    experiment = fs.Experiment.from_dict(BASE).replace(LACKING[remedy.path])
    before = fs.run(experiment)
    [line] = told(before, remedy.path)
    assert f"{remedy.path} = {remedy.value} would {remedy.effect} (it is " in line
    value = tomllib.loads(f"x = {remedy.value}")["x"]
    after = fs.run(experiment.replace({remedy.path: value}))
    assert told(after, remedy.path) == [], "it has it now"
    kind, cause = WAITS[remedy.path]
    assert wait(after, kind, cause) < 0.9 * wait(before, kind, cause)


def nothing_told_of(path, **changes):
    """Return True if no sentence is about a setting on the drive with these changes."""
    experiment = fs.Experiment.from_dict(BASE).replace(
        {key.replace("__", "."): value for key, value in changes.items()}
    )
    result = fs.run(experiment)
    assert fs.explain(result).remarks
    return told(result, path) == []


def test_reads_that_wait_interrupt_nothing():
    for key in ("suspension", "program_suspension"):
        waits = {"drive__scheduler__read_routing": "wait"}
        assert nothing_told_of(f"drive.scheduler.{key}", **waits)


def test_a_program_of_one_step_is_not_interrupted():
    one = {"drive__nand__program_steps__steps": 1}
    assert nothing_told_of("drive.scheduler.program_suspension", **one)


def test_collection_that_begins_late_is_not_paced():
    # Background GC and foreground GC begin at the same number of free blocks: nothing to spread.
    late = {f"drive__ftl__gc__{key}": "4 blocks" for key in ("background", "foreground", "stop")}
    assert nothing_told_of("drive.ftl.gc.pacing", drive__ftl__gc__pacing="none", **late)


def test_nothing_is_said_of_a_collection_that_there_was_not():
    fresh = {
        "drive": BASE["drive"] | {"ftl": BASE["drive"]["ftl"] | {"gc": {"pacing": "none"}}},
        "workload": [{"name": "host", "reads": "0 %", "queue_depth": 64}],
        "run": {"requests": 2000},
    }
    result = fs.run(fresh)
    assert result.summary["collection"]["blocks"] == 0
    assert not any("drive.ftl" in line for line in fs.explain(result).remarks)
    [line] = [line for line in fs.explain(result).remarks if line.startswith("drive.geometry")]
    assert "it has 1 die of 4 planes" in line


def test_rounds_are_not_told_to_interrupt():
    rounds = BASE | {
        "drive": {"preset": "atc08", "geometry": {"channels": 1, "blocks_per_plane": 64}},
        "precondition": {"fill": "random", "age": {"overwrites": 1.0}},
    }
    result = fs.run(rounds)
    assert result.summary["collection"]["blocks"] > 0
    paths = tuple(remedy.path for remedy in remedies.REMEDIES)
    assert not any(line.startswith(paths) for line in fs.explain(result).remarks)
