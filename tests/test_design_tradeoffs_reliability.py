"""The study of Design Tradeoffs for SSD Reliability: its drive, its loads, and small runs."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

import flashscape as fs
from flashscape.reproduce import Setting
from flashscape.reproduce.study import read_data
from flashscape.studies.design_tradeoffs_reliability import (
    _drives,
    _parity,
    _runs,
    _traces,
    figure_3,
    figure_9,
    figure_11,
)
from places import ROOT

FOLDER = ROOT / "python/flashscape/studies/design_tradeoffs_reliability"
SHORT, FULL = Setting("short", Path("nowhere")), Setting("full", Path("nowhere"))

CONSTANTS = {
    "tlc": (1.48e-3, 3.90e-10, 2.05, 6.28e-5, 0.14, 0.54, 3.73e-9, 0.33, 1.71),
    "mlc-2y": (8.34e-5, 3.30e-11, 1.71, 5.56e-19, 2.49, 3.33, 6.26e-13, 1.76, 0.47),
    "mlc-3x": (5.06e-8, 1.05e-14, 2.16, 9.31e-14, 1.80, 0.80, 4.17e-15, 1.07, 1.45),
}
"""Table 2 of the paper."""


def test_claims_are_those_of_the_paper():
    _, claims, faults = read_data(FOLDER)
    assert not any(each.problems for each in faults)
    numbers = {claim.id.removeprefix("R-") for claim in claims}
    assert numbers == {str(number) for number in range(1, 22)} | {
        "2c",
        "3c",
        "4c",
        "4h",
        "11c",
        "14c",
        "15c",
        "16c",
    }
    assert [claim.id for claim in claims if claim.is_context] == ["R-21"]


def test_claims_of_both_readings_have_the_same_bounds():
    _, claims, _ = read_data(FOLDER)
    of = {claim.id: claim for claim in claims}
    for other in ("R-2c", "R-3c", "R-4c", "R-11c"):
        ours, theirs = of[other], of[other.removesuffix("c")]
        for profile in ("short", "full"):
            assert ours.criteria(profile) == theirs.criteria(profile)
    # Of hosts alone, the paper's order holds; the size of the gaps is our reading of all checks.
    assert of["R-4h"].criteria("short").bounds == of["R-4"].criteria("short").bounds[:1]


# The drive.


def whole(setting: Setting) -> fs.Experiment:
    """Return the ideal run of a profile."""
    return fs.Experiment.from_dict(_runs.ideal(setting).experiment)


def test_the_drive_is_that_of_the_paper():
    derived = whole(FULL).derived
    assert derived["capacity"]["physical_bytes"] == 256 * 2**30
    assert derived["capacity"]["exported_bytes"] == 200 * 2**30
    assert derived["capacity"]["spare_over_exported"] == pytest.approx(0.28)
    assert derived["organisation"]["dies"] == 16
    durations = derived["durations_ns"]
    assert set(durations["sense_by_page_type"]) == {50_000}
    assert set(durations["program_by_page_type"]) == {500_000}
    assert durations["erase"] == 5_000_000


def test_the_short_profile_has_a_sixteenth_of_space_and_time_at_the_same_rate():
    short, full = whole(SHORT), whole(FULL)
    sizes = [each.derived["capacity"]["exported_bytes"] for each in (short, full)]
    assert sizes[0] * 16 == sizes[1]
    runs = [_runs.ideal(setting).experiment for setting in (SHORT, FULL)]
    assert runs[0]["workload"] == runs[1]["workload"]
    assert [run["run"]["time"] for run in runs] == ["225 s", "3600 s"]


def test_ageing_writes_as_much_as_the_flash_holds():
    done = _drives.precondition()
    assert done["age"]["overwrites"] * 200 == pytest.approx(256)


def test_one_check_stands_for_4_kib():
    eight, one = (
        _drives.errors(_drives.TLC, 5000, 75, one_check=one_check) for one_check in (False, True)
    )
    assert one == eight | {"codewords_per_page": 4}


def test_weak_codes_correct_a_third():
    corrected = {name: (chip.strong, chip.weak) for name, chip in _drives.CHIPS.items()}
    assert corrected == {"mlc-3x": (4, 1), "mlc-2y": (10, 3), "tlc": (75, 25)}
    assert _drives.early(_drives.TLC) == 50


# Exhibits.


@pytest.mark.parametrize("setting", [SHORT, FULL], ids=["short", "full"])
def test_exhibits_declare_equal_runs_under_equal_names(setting):
    paper, _, _ = read_data(FOLDER)
    declared = {}
    for exhibit in paper.exhibits:
        name = exhibit.replace("-", "_")
        module = import_module(f"flashscape.studies.design_tradeoffs_reliability.{name}")
        for run in module.exhibit.declared(setting):
            assert declared.setdefault(run.name, run) == run
    assert {"ideal", "tlc-5k-75", "scrub-5k-50", "parity-5k-s7-1"} <= declared.keys()


def test_schemes_have_the_settings_of_the_paper():
    def ftl(run):
        return run.experiment["drive"]["ftl"]

    seven = ftl(_parity.run(SHORT, 5000, "s7", 3))
    assert seven["superblock"] == {"dies": 16, "width": {"host": 8, "collection": 8}}
    assert seven["read_recovery"] == {"policy": "ladder", "re_reads": 3}
    none = ftl(_parity.run(SHORT, 5000, "none", 3))
    assert none["superblock"] == {"dies": 16}
    assert none["read_recovery"] == {"policy": "ladder"}
    managed = ftl(figure_11.run(SHORT, _traces.TRACES["dap-ds"], "tlc", "hrm"))
    assert managed["superblock"]["width"] == {"collection": 16}
    assert managed["scrub"]["stream"] == "own"
    old = figure_9._run(SHORT, "mlc-2y", "months", "re-read").experiment["drive"]["nand"]["errors"]
    assert old["initial_age"] == {"from": "30 d", "to": "90 d"}


@pytest.mark.parametrize("chip", _drives.CHIPS)
@pytest.mark.parametrize(("cycles", "days", "reads"), [(0, 0, 0), (10_000, 73, 0), (10_000, 0, 50)])
def test_rates_are_those_of_the_equation(chip, cycles, days, reads):
    epsilon, alpha, k, beta, m, n, gamma, p, q = CONSTANTS[chip]
    expected = epsilon + alpha * cycles**k
    expected += beta * cycles**m * days**n + gamma * cycles**p * reads**q
    summary = fs.run(figure_3._run(chip, cycles, days, reads).experiment).summary
    rate = summary["errors"]["first_decodes"]["mean_errors"] / 4096
    assert rate == pytest.approx(expected, rel=1e-3)


def test_figure_3_is_reproduced():
    [claim] = fs.reproduce("design-tradeoffs-reliability/figure-3")
    assert claim.verdict == "reproduced"


def test_a_minute_of_figure_5_has_the_order_of_the_paper(monkeypatch):
    monkeypatch.setattr(_drives, "SECONDS", 16 * 60)
    found = fs.reproduce("design-tradeoffs-reliability/figure-5")
    assert found.failures == []
    for claim in found:
        shares = [claim.figures[f"{code}_below_75_share"] for code in ("ideal", "strong", "weak")]
        assert sorted(shares, reverse=True) == shares
    checks = dict(found.frames["figure-5/shares"].select("checks_for_4_kib", "first_checks").rows())
    assert checks[8] == pytest.approx(8 * checks[1], rel=1e-3)


def test_multiples_of_the_mean_follow_from_senses(monkeypatch):
    """Half a minute at 2000 requests a second: hardly a read waits for another."""
    monkeypatch.setattr(_drives, "SECONDS", 16 * 30)
    ideal, weak = (
        fs.run(_runs.run_of(SHORT, "tlc", 5000, corrects).experiment) for corrects in (None, 25)
    )
    senses = 1 + _runs.re_reads(weak)
    assert senses > 2.5
    assert _runs.times(weak, ideal) == pytest.approx(senses, rel=0.05)


# The synthetic traces.


def bytes_per_second(streams, kind):
    """Return the bytes that workloads of a kind ask for in a second."""
    total = 0.0
    for stream in streams:
        if f"-{kind}-" in stream["name"]:
            shares = ((each["size"], each["share"]) for each in stream["size"])
            mean = sum(
                int(size.removesuffix(" KiB")) * float(share.removesuffix(" %")) / 100
                for size, share in shares
            )
            total += 1024 * mean * float(stream["arrivals"]["rate"].removesuffix(" IOPS"))
    return total


def test_dap_ds_reads_and_writes_as_much_as_is_known():
    """40.5 GiB are read and 1.0 written, most of it to a fifth of 0.2 GiB."""
    trace = _traces.TRACES["dap-ds"]
    streams = _traces.streams(FULL, trace)
    read, written = (bytes_per_second(streams, kind) for kind in ("reads", "writes"))
    assert read / written == pytest.approx(40.5, rel=0.02)
    regions = {
        kind: [each["region"] for each in streams if f"random-{kind}" in each["name"]]
        for kind in ("reads", "writes")
    }
    for kind, gib in (("reads", 1.1), ("writes", 0.2)):
        sizes = [int(region["size"].removesuffix(" B")) for region in regions[kind]]
        assert sum(sizes) == pytest.approx(gib * 2**30, rel=0.01)
    starts = {kind: [region["offset"] for region in of] for kind, of in regions.items()}
    assert starts["reads"] == starts["writes"]
    hot = next(each for each in streams if each["name"] == "random-writes-0")["addresses"]
    assert (hot["hot_space"], hot["hot_accesses"]) == ("20 %", "77.8 %")


@pytest.mark.parametrize("trace", _traces.TRACES.values(), ids=lambda trace: trace.name)
def test_traces_stay_on_the_drive_and_shrink_with_it(trace):
    sizes = {}
    for setting in (SHORT, FULL):
        places = _traces.extents(setting, trace)
        ends = [
            int(place["offset"].removesuffix(" B")) + int(place["size"].removesuffix(" B"))
            for place in places
        ]
        assert max(ends) <= _drives.exported_bytes(setting)
        sizes[setting.profile] = sum(int(place["size"].removesuffix(" B")) for place in places)
    assert sizes["short"] * 16 == pytest.approx(sizes["full"], rel=0.02)


def test_a_trace_that_is_there_takes_the_place_of_the_synthetic_one(tmp_path):
    file = tmp_path / "MSN-CFS.trace"
    file.write_text("".join(f"{at / 7:.3f} 0 {at * 64} 8 {at % 2}\n" for at in range(50)))
    setting = Setting("short", tmp_path)
    run = figure_11.run(setting, _traces.TRACES["msn-cfs"], "tlc", "re-read")
    [stream] = run.experiment["workload"]
    assert stream["trace"]["file"] == str(file)
    other = figure_11.run(setting, _traces.TRACES["dap-ps"], "tlc", "re-read")
    assert len(other.experiment["workload"]) == 4 * 8
    fs.Experiment.from_dict(run.experiment)


def test_a_minute_of_a_synthetic_trace(monkeypatch):
    """TLC suffers more from errors than 3x-nm MLC."""
    monkeypatch.setattr(_drives, "SECONDS", 16 * 30)
    trace = _traces.TRACES["dap-ps"]
    means = {
        chip: fs.run(figure_11.run(SHORT, trace, chip, "re-read").experiment).read.mean
        for chip in ("mlc-3x", "tlc")
    }
    assert means["mlc-3x"] < means["tlc"]


def test_tables_of_errors_tell_the_share_below_a_limit():
    class Told:
        errors = pl.DataFrame(
            {
                "errors": [10, 75, 80],
                "host_first_decodes": [1.0, 1.0, 0.0],
                "internal_first_decodes": [5.0, 0.0, 1.0],
            }
        )

    assert _runs.below(Told, 75) == 0.75
    assert _runs.below(Told, 75, hosts_alone=True) == 0.5
