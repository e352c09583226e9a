"""Settings that ``explain`` names: they are there, and the drive may have them."""

from __future__ import annotations

import tomllib

import pytest

import flashscape as fs
from flashscape import remedies

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
"""What makes a drive one that lacks the setting."""


def told(experiment, path):
    """What is said of a setting after a run."""
    remarks = fs.explain(fs.run(experiment)).remarks
    return [line for line in remarks if line.startswith(f"{path} = ")]


@pytest.mark.parametrize("remedy", remedies.REMEDIES, ids=lambda remedy: remedy.path)
def test_what_is_named_can_be_set(remedy):
    experiment = fs.Experiment.from_dict(BASE).replace(LACKING[remedy.path])
    [line] = told(experiment, remedy.path)
    assert f"{remedy.path} = {remedy.value} would {remedy.effect} (it is " in line
    value = tomllib.loads(f"x = {remedy.value}")["x"]
    assert told(experiment.replace({remedy.path: value}), remedy.path) == [], "it has it now"


def test_rounds_are_not_told_to_interrupt():
    rounds = BASE | {
        "drive": {"preset": "atc08", "geometry": {"channels": 1, "blocks_per_plane": 64}},
        "precondition": {"fill": "random", "age": {"overwrites": 1.0}},
    }
    result = fs.run(rounds)
    assert result.summary["collection"]["blocks"] > 0
    paths = tuple(remedy.path for remedy in remedies.REMEDIES)
    assert not any(line.startswith(paths) for line in fs.explain(result).remarks)
