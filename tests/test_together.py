"""The study of three papers' techniques in one drive: its drives, and what its words mean."""

from __future__ import annotations

from pathlib import Path

import pytest

import flashscape as fs
from flashscape.reproduce import Setting
from flashscape.reproduce.study import read_data
from flashscape.studies.together import _drives, combinations
from places import ROOT

FOLDER = ROOT / "python/flashscape/studies/together"
SHORT, FULL = Setting("short", Path("nowhere")), Setting("full", Path("nowhere"))


def test_claims_have_exhibits_and_no_faults():
    paper, claims, faults = read_data(FOLDER)
    assert not any(each.problems for each in faults)
    assert list(paper.exhibits) == ["combinations"]
    assert [claim.id for claim in claims] == [f"X-{number}" for number in range(1, 8)]


def test_every_combination_of_techniques_is_a_scheme():
    assert set(_drives.SCHEMES) == {"none", "s", "r", "h", "sr", "sh", "rh", "srh"}
    assert _drives.SCHEMES["sh"] == "erase suspension + HRM"


@pytest.mark.parametrize("setting", [SHORT, FULL], ids=["short", "full"])
def test_all_drives_are_sound_and_hosts_see_the_same_space(setting):
    derived = [
        fs.Experiment.from_dict(run.experiment).derived
        for run in combinations.exhibit.declared(setting)
    ]
    assert len(derived) == 24 + 2
    assert len({each["capacity"]["exported_bytes"] for each in derived}) == 1
    assert {each["durations_ns"]["erase"] for each in derived} == {5_000_000}


def test_schemes_differ_by_their_techniques_alone():
    def of(scheme):
        return _drives.drive(SHORT, 5_000, scheme)

    base = of("")
    assert of("s") == base | {"scheduler": {"suspension": "es"}}
    layout = {"parity": {"width": 8}, "allocation": {"pool": "die"}}
    routing = {"read_routing": {"policy": "reconstruct", "convert": "profitable"}}
    assert of("r") == base | {"ftl": base["ftl"] | layout, "scheduler": routing}
    assert of("h")["ftl"]["superblock"]["width"] == {"collection": 16}
    # All data has parity beside reconstruction, so moved data needs none of its own.
    assert "superblock" not in of("rh")["ftl"]
    for scheme in ("h", "rh"):
        assert of(scheme)["ftl"]["scrub"]["task"] == "own"
        assert of(scheme)["ftl"]["read_recovery"]["protected"] == 1


def test_a_block_is_read_as_often_in_both_profiles():
    assert _drives.seconds(FULL) / _drives.seconds(SHORT) == pytest.approx(
        _drives.blocks(FULL) / _drives.blocks(SHORT)
    )


@pytest.mark.parametrize(
    ("ratio", "effect"),
    [(0.5, "helps"), (0.949, "helps"), (0.951, "redundant"), (1.049, "redundant"), (1.1, "hurts")],
)
def test_effects_are_told_in_words(ratio, effect):
    assert combinations._effect(ratio) == effect
