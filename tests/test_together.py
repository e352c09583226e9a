"""The study of three papers' techniques in one drive: its drives, its measures, and its words."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

import flashscape as fs
from flashscape.reproduce import Setting
from flashscape.reproduce.study import read_data
from flashscape.studies.together import (
    _drives,
    _measures,
    _runs,
    combinations,
    limited,
    settings,
)
from places import ROOT

FOLDER = ROOT / "python/flashscape/studies/together"
SHORT, FULL = Setting("short", Path("nowhere")), Setting("full", Path("nowhere"))
EXHIBITS = (combinations, settings, limited)


def drive(scheme, recovery=_drives.USUAL):
    return _drives.drive(SHORT, 5_000, _drives.SCHEMES[scheme], recovery)


def test_claims_have_exhibits_and_no_faults():
    paper, claims, faults = read_data(FOLDER)
    assert not any(each.problems for each in faults)
    assert list(paper.exhibits) == ["combinations", "settings", "limited"]
    assert [claim.id for claim in claims] == [f"X-{number}" for number in range(1, 11)]


@pytest.mark.parametrize("setting", [SHORT, FULL], ids=["short", "full"])
def test_all_drives_are_sound_and_hosts_see_the_same_space(setting):
    declared = {run.name: run for each in EXHIBITS for run in each.exhibit.declared(setting)}
    derived = [
        fs.Experiment.from_dict(run.experiment).derived
        for name, run in declared.items()
        if run.experiment["seed"] == 1
    ]
    # 13 schemes at 3 ages, 6 other parameters of HRM, and 6 drives with a limit.
    assert len(derived) == 13 * 3 + 6 + 6
    assert len(declared) == len(derived) * len(_drives.seeds(setting))
    assert len({each["capacity"]["exported_bytes"] for each in derived}) == 1
    assert {each["durations_ns"]["erase"] for each in derived} == {5_000_000}


def test_schemes_differ_by_their_techniques_alone():
    base, rows = drive("none"), drive("rows")
    wears = base["nand"] | {"error_rate_per_1000_suspensions": "14.4%"}
    assert drive("s") == base | {"scheduler": {"suspension": "es"}, "nand": wears}
    assert drive("d") == base | {"scheduler": {"suspension": "d-es"}}
    routing = {"read_routing": {"policy": "reconstruct", "convert": "profitable"}}
    assert drive("r") == base | {
        "ftl": base["ftl"] | {"parity": {"width": 8}},
        "scheduler": routing,
    }
    scrub = drive("h")["ftl"]["scrub"]
    assert drive("rc") == drive("r") | {"ftl": drive("r")["ftl"] | {"scrub": scrub}}
    early = {"read_recovery": {"policy": "conditional", "protected": 3}}
    # All data has parity beside reconstruction, so moved data needs none of its own.
    assert drive("rh") == drive("rc") | {"ftl": drive("rc")["ftl"] | early}
    selective = {"superblock": {"dies": 8, "width": {"collection": 8}}, "scrub": scrub} | early
    assert drive("h") == rows | {"ftl": rows["ftl"] | selective}
    layout = {"superblock": {"dies": 8}, "allocation": {"pool": "drive"}}
    assert rows == base | {"ftl": base["ftl"] | layout}


def test_re_reads_end_only_where_that_is_asked_for():
    limits = _drives.Recovery(is_limited=True)
    assert drive("none")["ftl"]["read_recovery"] == {"policy": "ladder"}
    assert drive("none", limits)["ftl"]["read_recovery"] == {"policy": "ladder", "re_reads": 3}
    assert drive("h", limits)["ftl"]["read_recovery"]["unprotected"] == 3
    assert "unprotected" not in drive("h")["ftl"]["read_recovery"]


def test_scrubbing_begins_where_a_page_costs_as_much_as_its_re_reads():
    # At 667 bytes a us: a page of 16 KiB is read, programmed, and erased with 511 others; a re-read
    # senses, transfers 4 KiB and decodes.
    move = 50 + 500 + 2 * 16384 / 667 + 5000 / 512
    re_read = 50 + 4096 / 667 + 10
    assert _drives.USUAL.above == round(move / re_read)


def test_hosts_write_as_much_of_the_drive_in_both_profiles():
    def written(setting):
        units = _drives.PER_SECOND * 0.3 * _drives.seconds(setting)
        return units * 4096 / _drives.exported_bytes(setting)

    assert written(FULL) == pytest.approx(written(SHORT))


def test_parts_of_a_combination_have_its_layout():
    def parts(name):
        whole = _drives.SCHEMES[name]
        return {part for part, each in _drives.SCHEMES.items() if each.is_part_of(whole)}

    assert parts("s") == {"none"}
    assert parts("srh") == {"none", "s", "r", "sr", "rc", "src", "rh"}
    assert parts("sh") == {"rows", "rows-s", "h"}


@pytest.mark.parametrize(
    ("ours", "others", "word"),
    [
        ([50, 60], [100, 100], "helps"),
        ([95, 89, 80], [100, 100, 100], "helps"),
        ([91, 91, 80], [100, 100, 100], "alike"),
        ([50, 60, 101], [100, 100, 100], "alike"),
        ([120, 130, 99], [100, 100, 100], "alike"),
        ([120, 130, 101], [100, 100, 100], "hurts"),
        (None, [100, 100, 100], "stops"),
    ],
)
def test_an_effect_is_told_if_all_seeds_agree(ours, others, word):
    assert _measures.Effect.between(ours, others).word == word


@pytest.mark.parametrize(
    ("multiples", "nearby", "word"),
    [
        ((0.5, 0.6), (0.4, 0.9), "helps"),
        ((0.5, 0.6), (0.4, 1.02), "at an edge"),
        ((1.2, 1.3), (1.1, 2.0), "hurts"),
        ((1.2, 1.3), (0.6, 1.4), "at an edge"),
        ((0.99, 1.01), (0.5, 1.4), "alike"),
    ],
)
def test_an_effect_on_the_tail_is_told_if_its_neighbours_agree(multiples, nearby, word):
    assert _measures.Effect(multiples, nearby).word == word


def summary_of(**changed):
    """A run in which no technique acts, but for the keys that are given."""
    summary = {
        "errors": {"rebuilds": {}, "uber": {"units": 2, "moved_units": 3}},
        "scrub": None,
        "flash": {"erase_suspensions": 0},
        "detours": {"computed_units": 0},
    }
    return SimpleNamespace(summary=summary | changed)


@pytest.mark.parametrize(
    ("changed", "acting"),
    [
        ({}, ""),
        ({"flash": {"erase_suspensions": 1}}, "sd"),
        ({"detours": {"computed_units": 1}}, "r"),
        ({"scrub": {"blocks": 1}}, "ch"),
        ({"errors": {"rebuilds": {"gc_read": 1}}}, "rh"),
    ],
)
def test_a_technique_acts_if_its_counters_say_so(changed, acting):
    found = [each for each in _drives.TECHNIQUES if _measures.acts(summary_of(**changed), each)]
    assert set(found) == set(acting)
    assert _measures.told_idle("h") == "HRM never rebuilds or scrubs"


def test_figures_of_errors_exist_or_are_refused():
    errors = summary_of().summary["errors"]
    assert limited.errors_of(SimpleNamespace(summary={"errors": errors}), ("uber", "units")) == 2
    # What no read met is left out of the summary.
    assert limited.errors_of(summary_of(), ("rebuilds", "scrub")) == 0
    with pytest.raises(KeyError):
        limited.errors_of(summary_of(), ("uber", "unit"))
    with pytest.raises(KeyError):
        limited.errors_of(summary_of(), ("rebuild", "scrub"))


TAILS = {"none": (10, 10), "s": (4, 4), "r": (6, 5), "sr": (4.1, 4.2), "rc": (7, 7)}


class FakeCase(_runs.Case):
    """A case whose tails are given by its scheme, for each of two seeds."""

    def figures(self, runs, measure):
        return TAILS.get(self.scheme)

    def middle(self, runs, measure):
        found = self.figures(runs, measure)
        return found and sum(found) / len(found)


def test_a_combination_is_compared_with_the_best_of_its_parts(monkeypatch):
    monkeypatch.setattr(combinations, "Case", FakeCase)
    monkeypatch.setattr(_measures, "_between", between_without_runs)
    best, found = combinations._added(FakeCase("old", "sr"), None)
    assert (best.scheme, combinations._adds(found)) == ("s", "redundant")
    best, found = combinations._added(FakeCase("old", "rc"), None)
    assert (best.scheme, combinations._adds(found)) == ("r", "hurts")
    assert combinations._added(FakeCase("old", "s"), None) is None


def between_without_runs(case, runs, measure, other):
    return _measures.Effect.between(case.figures(runs, None), other.figures(runs, None))


def test_wear_of_suspension_follows_from_interruptions():
    summary = {"flash": {"extra_ramps": 300, "erases": {"erase": {"planes": 100}}}}
    # 3 interruptions in each of 2000 cycles, and 14.4 % for each 1000.
    rise = _measures.rise_of_errors(SimpleNamespace(summary=summary), 2_000)
    assert rise == pytest.approx(6 * 0.144)


def test_what_a_drive_programs_it_erases(monkeypatch):
    """In the long run a block is erased once for each time that it is filled."""
    monkeypatch.setattr(_drives, "_data_blocks", lambda _: 12)
    monkeypatch.setattr(_runs, "seconds", lambda _: 60)
    run = next(_runs.Case("young", "none").runs(SHORT))
    result = fs.run(run.experiment)
    exported = _drives.exported_bytes(SHORT)
    physical = _drives.blocks(SHORT) * 8 * 512 * 16384
    expected = _measures.writes(result) * exported / physical
    # One block of eight dies more or less is erased: some 20 are.
    assert _measures.wear(result) == pytest.approx(expected, rel=0.1)
    assert _measures.lost(result) == 0
    assert _measures.interruptions(result) == 0
