"""Settings that ``explain`` names: they exist, and the drive may have them."""

from __future__ import annotations

import re
import tomllib

import polars as pl
import pytest

import flashscape as fs
from flashscape import deciders, remedies
from flashscape.causes import by_cause
from places import WAVES

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
        "ftl": {"over_provisioning": {"reserved": "30 %"}, "gc": WAVES},
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
    "drive.ftl.gc.preemptible": ("read", "reserved flash"),
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


def test_pacing_is_named_on_a_drive_with_sets():
    geometry = BASE["drive"]["geometry"] | {"channels": 2}
    ftl = BASE["drive"]["ftl"] | {"sets": {"channels": 2}, "gc": {"pacing": "none"}}
    drive = BASE["drive"] | {"geometry": geometry, "ftl": ftl}
    result = fs.run(BASE | {"drive": drive, "workload": [BASE["workload"][0] | {"nvm_set": 1}]})
    assert len(told(result, "drive.ftl.gc.pacing")) == 1


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


def padded(changes):
    """Return the share of padding, and the remarks, of small writes under a light load."""
    light = {"arrivals": {"process": "poisson", "rate": "2000 IOPS"}}
    own = {"name": "host", "size": "4 KiB", "mix": {"write": "100 %"}, **light}
    experiment = fs.Experiment.from_dict(
        BASE | {"precondition": {}, "workload": [own], "run": {"requests": 2000}}
    )
    result = fs.run(experiment.replace(changes))
    amplification = result.summary["write_amplification"]
    remarks = [line for line in fs.explain(result).remarks if "is padding" in line]
    return amplification["padding"] / amplification["total"], remarks


SYNC = {
    "workload[0].mix": {"write": "50 %", "flush": "50 %"},
    "drive.buffer.durability": "volatile",
}


@pytest.mark.parametrize(
    ("changes", "named", "better"),
    [
        (
            {"drive.buffer.durability": "none"},
            'drive.buffer.durability is "none", without drive.buffer.partial_after',
            {"drive.buffer.durability": "capacitor"},
        ),
        (
            {"drive.buffer.durability": "none"},
            "A partial_after lets writes share a program",
            {"drive.buffer.partial_after": "100 ms"},
        ),
        (
            {"drive.buffer.partial_after": "1 ms"},
            'drive.buffer.partial_after is "1 ms"',
            {"drive.buffer.partial_after": "100 ms"},
        ),
        (
            SYNC,
            'drive.buffer.durability is "volatile"',
            {"drive.buffer.durability": "capacitor"},
        ),
    ],
    ids=["none", "share", "after", "flush"],
)
def test_padding_names_the_setting_that_decides_it(changes, named, better):
    share, remarks = padded(changes)
    assert share > 0.3
    [line] = remarks
    assert named in line
    less, told = padded(changes | better)
    assert less < 0.1
    assert told == []


def test_a_read_of_buffered_data_may_force_it_out():
    mixed = {
        "workload[0].mix": {"write": "50 %", "read": "50 %"},
        "workload[0].region": {"size": "1 MiB"},
    }
    share, remarks = padded(mixed | {"drive.buffer.read_hits": False})
    assert share > 0.1
    assert "drive.buffer.read_hits is false" in remarks[0]
    assert padded(mixed)[0] < 0.1


@pytest.fixture(scope="module")
def writes():
    """Writes only, on a drive that collects."""
    changes = {"workload[0].reads": "0 %", "workload[0].queue_depth": 64}
    return fs.Experiment.from_dict(BASE).replace(changes)


@pytest.mark.parametrize(("durability", "named"), [("capacitor", "size"), ("none", "durability")])
def test_a_larger_buffer_is_named_only_if_it_takes_bursts(writes, durability, named):
    drive = writes.replace({"drive.buffer.durability": durability}).config["drive"]
    [line] = deciders.sentences({"write buffer"}, set(), drive)
    assert line.startswith(f"drive.buffer.{named} is ")


def test_no_free_space_names_thresholds_and_spare_space(writes):
    result = fs.run(writes.replace({"drive.ftl.gc.pacing": "none"}))
    remarks = remedies.sentences({"write": {"no free space"}}, result)
    [line] = [line for line in remarks if line.startswith("drive.ftl.gc.background")]
    assert "is 6 blocks, and drive.ftl.gc.foreground is 3 blocks" in line
    [line] = [line for line in remarks if "drive.ftl.over_provisioning" in line]
    efficiency = result.summary["collection"]["cleaning_efficiency"]
    assert f"gained {100 * efficiency:.1f} % of each block that it erased" in line


def withheld(states, **changes):
    """Return the settings named for reserved flash on the drive with these changes."""
    experiment = fs.Experiment.from_dict(BASE).replace(
        {key.replace("__", "."): value for key, value in changes.items()}
    )
    return deciders.sentences({"reserved flash"}, states, experiment.config["drive"])


def test_withheld_flash_names_what_withholds_it():
    kept = {"drive__ftl__gc__preemptible": False, "drive__ftl__gc__reserve_until": "stop"}
    [line] = withheld({"withheld_gc_reserved"}, **kept)
    assert line.startswith('drive.ftl.gc.preemptible is false, and drive.ftl.gc.reserve_until is "')
    assert '"stop"' in line
    assert withheld({"withheld_gc_reserved"}) == []
    [line] = withheld({"withheld_order"}, drive__scheduler__erase_batching={"quiet": "1 ms"})
    assert 'drive.scheduler.bypass is "batch"' in line
    assert 'drive.scheduler.channel is "commands-first"' in line
    assert 'drive.scheduler.erase_batching.quiet is "1 ms"' in line


def test_waits_for_a_reservation_name_it_once():
    kept = {"drive.ftl.gc.preemptible": False}
    result = fs.run(fs.Experiment.from_dict(BASE).replace(kept))
    paths = [line.split()[0] for line in remedies.sentences({"read": {"reserved flash"}}, result)]
    assert paths.count("drive.ftl.gc.preemptible") == 1, "the remedy, and not its decider too"
    assert "drive.scheduler.bypass" in paths
    # Writes spent no time in the states that those settings decide.
    assert remedies.sentences({"write": {"reserved flash"}}, result) == []


def test_suspension_names_its_bounds():
    change = {
        "drive.scheduler.suspension": "t-es",
        "drive.scheduler.suspension_bounds": {"most": 3},
    }
    drive = fs.Experiment.from_dict(BASE).replace(change).config["drive"]
    [line] = deciders.sentences({"suspension"}, set(), drive)
    assert 'is "t-es" (for programs "baseline"); suspension_bounds.most is 3' in line


def known(path):
    """Return True if the schema has the key of a drive."""
    nodes, root = [fs.schema()], fs.schema()
    for key in path.split("."):
        found = []
        while nodes:
            node = nodes.pop()
            if "$ref" in node:
                target = root
                for part in node["$ref"].removeprefix("#/").split("/"):
                    target = target[part]
                nodes.append(target)
            nodes += [*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())]
            if key in node.get("properties", {}):
                found.append(node["properties"][key])
        nodes = found
    return bool(nodes)


def test_settings_that_decide_exist():
    causes = set().union(*(decider.causes for decider in deciders.DECIDERS))
    states = set().union(*(decider.states for decider in deciders.DECIDERS))
    paths = set()
    # A part of each drive: some cannot be full.
    part = BASE["workload"][0] | {"region": {"size": "1 GiB"}}
    for preset in fs.presets():
        small = {"precondition": {}, "workload": [part], "drive": {"preset": preset}}
        experiment = fs.Experiment.from_dict(BASE | small)
        for line in deciders.sentences(causes, states, experiment.config["drive"]):
            paths |= set(re.findall(r"drive(?:\.[a-z_]+)+", line))
    assert {path for path in paths if not known(path)} == set()
    assert {"drive.ftl.gc.reserve_until", "drive.buffer.durability"} <= paths
