"""The study of SSD design tradeoffs: its runs are sound, and its arithmetic is the paper's."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import pytest

import flashscape as fs
from flashscape.reproduce import Setting
from flashscape.reproduce.study import of_name, read_data
from flashscape.studies import design_tradeoffs_performance as package
from flashscape.studies.design_tradeoffs_performance import _drives, _loads

FOLDER = Path(package.__file__).parent

CLAIMS = {f"A-{n}" for n in range(1, 19)} | {"A-3n", "A-10n", "A-12n", "A-15n"}


def declared(profile):
    setting = Setting(profile, Path("no-traces"))
    runs = {}
    for name in of_name("design-tradeoffs-performance").exhibits:
        module = importlib.import_module(f"{package.__name__}.{name.replace('-', '_')}")
        for run in module.exhibit.declared(setting):
            runs.setdefault(run.name, run)
            assert runs[run.name].experiment == run.experiment, f"{run.name} of {name} is another"
    return runs


@pytest.mark.parametrize("profile", ["short", "full"])
def test_its_runs_are_sound_and_alike_wherever_they_are_shared(profile):
    runs = declared(profile)
    for run in runs.values():
        if not any("trace" in stream for stream in run.experiment["workload"]):
            fs.check(run.experiment)


def test_all_claims_are_there_and_what_is_no_trace_or_number_of_the_paper_says_so():
    _, claims, faults = read_data(FOLDER)
    assert {claim.id for claim in claims} == CLAIMS
    assert not any(fault.problems for fault in faults)
    for claim in claims:
        assert ("from memory" in claim.text or "from memory" in claim.paper) or not (
            claim.id.endswith("n")
        ), claim.id
        if "TPC-C" in claim.text or "Exchange" in claim.text:
            assert "stand-in" in claim.text, claim.id


def test_a_drive_without_rounds_is_the_preset_but_for_those():
    free = _drives.free_running()
    preset = tomllib.loads((FOLDER.parents[1] / "presets/atc08.toml").read_text(encoding="utf-8"))
    rounds = preset["scheduler"].pop("rounds")
    assert rounds["unit"] == "package"
    assert free == preset


def test_half_a_gang_of_16_is_as_large_as_a_gang_of_8():
    idle = {"name": "idle", "reads": "100 %", "stop": {"requests": 1}}
    capacities = [
        fs.check({"drive": drive, "workload": [idle]})["capacity"]["exported_bytes"]
        for drive in (_drives.shared_bus(8), _drives.shared_bus(16, 16, 1024))
    ]
    assert capacities == [_drives.exported_bytes()] * 2


def test_the_stand_ins_ask_for_what_is_known_of_the_traces():
    setting = Setting("full", Path("no-traces"))
    streams, run = _loads.tpcc(setting)
    rates = [float(stream["arrivals"]["rate"].split()[0]) for stream in streams]
    assert sum(rates) == pytest.approx(300)
    assert rates[0] / sum(rates) == pytest.approx(0.66)
    assert run == {"time": "1800 s"}
    [stream], run = _loads.exchange(setting)
    assert (stream["reads"], stream["arrivals"]["rate"]) == ("60 %", "900 IOPS")
    assert run == {"time": "900 s"}


REQUESTS = 2 * 63 * 64
"""Two blocks of each of the 64 planes."""


def small(pattern, reads, **more):
    stream = {"name": "host", "reads": reads, "addresses": {"pattern": pattern}}
    drive = _drives.baseline(geometry={"blocks_per_plane": 32})
    experiment = {"drive": drive, "precondition": _loads.FRESH, "workload": [stream]}
    return fs.run(experiment | {"run": {"requests": REQUESTS}} | more)


@pytest.mark.parametrize("pattern", ["sequential", "uniform"])
def test_a_page_takes_its_commands_and_the_link(pattern):
    # A page with its metadata crosses the bus in 105.6 us, the link in 8 x 0.2384 us; one page in
    # 63 is followed by a summary: 13.2 us on the bus, and 200 us.
    link_ns = 4096 * 1e9 / 2147483648
    assert small(pattern, "100 %").read.mean == pytest.approx(130_600 + link_ns, abs=2)
    written = 305_600 + link_ns + 213_200 / 63
    assert small(pattern, "0 %").write.mean == pytest.approx(written, rel=0.002)


def test_sequential_writes_pay_an_erase_a_block_for_cleaning():
    aged = {"fill": "sequential", "age": {"overwrites": 1.0}}
    aged["age"]["addresses"] = {"pattern": "sequential"}
    result = small("sequential", "0 %", precondition=aged)
    assert result.summary["collection"]["cleaning_efficiency"] == 1.0
    erases_ns = result.summary["wear"]["erases"] * 1_500_000 / REQUESTS
    fresh = small("sequential", "0 %")
    assert result.write.mean == pytest.approx(fresh.write.mean + erases_ns, rel=0.01)


def test_what_a_package_does_is_reproduced(tmp_path):
    found = fs.reproduce("design-tradeoffs-performance/section-3-1", out=tmp_path / "out")
    assert {claim.id: claim.verdict for claim in found.claims} == {
        "A-1": "reproduced",
        "A-2": "reproduced",
    }
    # A page is sensed in 25 us and crosses the bus in 100 us, or in 4224 x 25 ns.
    figures = found["A-1"].figures
    assert figures["serial_paper_requests_per_second"] == pytest.approx(1e9 / 125_000, rel=0.001)
    assert figures["serial_code_requests_per_second"] == pytest.approx(1e9 / 130_600, rel=0.001)


def test_without_traces_their_claims_are_not_run(tmp_path):
    found = fs.reproduce("design-tradeoffs-performance/table-7", traces=tmp_path)
    assert {claim.verdict for claim in found.claims} == {"not-run"}
    assert all("iozone-100k.trace" in claim.reason for claim in found.claims)
