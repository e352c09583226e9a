"""The study of Tiny-Tail Flash: its drive, its synthetic traces, its levels, and a small run."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import flashscape as fs
from flashscape.reproduce import Setting
from flashscape.reproduce.outcomes import Outcomes
from flashscape.reproduce.study import read_data
from flashscape.studies.tiny_tail_flash import _drives, _runs, _traces
from places import ROOT

FOLDER = ROOT / "python/flashscape/studies/tiny_tail_flash"
SHORT = Setting("short", Path("nowhere"))
TRACES = list(_traces.TRACES.values())


def level(name: str, **more) -> fs.Experiment:
    """Return an experiment on the drive of a level with 64 blocks a plane."""
    idle = {"name": "idle", "reads": "100 %", "region": {"size": "1 MiB"}}
    run = {"drive": _drives.drive(name, 64), "precondition": _drives.precondition(name)}
    return fs.Experiment.from_dict(run | {"workload": [idle], "run": {"requests": 1}} | more)


def test_claims_are_those_of_the_paper():
    _, claims, faults = read_data(FOLDER)
    assert not any(each.problems for each in faults)
    numbers = sorted(int(claim.id.removeprefix("T-")) for claim in claims if not claim.is_context)
    assert numbers == list(range(1, 13))


# The drive.


def test_the_drive_has_the_times_of_the_paper():
    derived = level("rgc").derived
    durations = derived["durations_ns"]
    assert durations["sense_by_page_type"] == [40_000]
    assert durations["program_by_page_type"] == [800_000]
    assert durations["erase"] == 2_000_000
    assert durations["transfer_page"] == 4096 * 25
    assert (derived["organisation"]["planes"], derived["organisation"]["pools"]) == (64, 64)
    assert level("gtf").config["drive"]["ftl"]["parity"] == {"width": 8, "flush": "gc-tolerant"}


def test_the_whole_drive_has_256_gib_of_which_a_tenth_is_reserved():
    whole = level("rgc").replace({"drive.geometry.blocks_per_plane": 4096})
    capacity = whole.derived["capacity"]
    assert capacity["physical_bytes"] == 256 * 2**30
    assert capacity["reserved_of_physical"] == pytest.approx(0.1, abs=1e-6)
    assert capacity["parity_bytes"] * 7 == pytest.approx(capacity["exported_bytes"], rel=1e-6)


def test_levels_differ_by_one_technique():
    configs = {name: level(name).config["drive"] for name in _drives.LEVELS}

    def policy(name, family):
        found = configs[name]["scheduler"][family]
        return found["policy"] if isinstance(found, dict) else found

    assert {name for name, of in configs.items() if "parity" not in of["ftl"]} == {
        "base",
        "nogc-plain",
    }
    assert {name for name, of in configs.items() if of["ftl"]["gc"]["blocking"] == "channel"} == {
        "base",
        "base-rain",
    }
    routed = {n for n in configs if policy(n, "read_routing") == "reconstruct"}
    assert routed == {"gtr", "rgc", "gtf", "nogc"}
    assert {n for n in configs if policy(n, "rotation") == "rotating"} == {"rgc", "gtf", "nogc"}
    parity = {name: of["ftl"].get("parity", {}) for name, of in configs.items()}
    assert {n for n in configs if parity[n].get("flush") == "gc-tolerant"} == {"gtf", "nogc"}
    assert _drives.STEPS == ("base-rain", "pb", "gtr", "rgc", "gtf")


@pytest.mark.parametrize("name", ["base", "rgc", "nogc"])
def test_an_aged_drive_has_a_third_of_its_pages_valid_and_as_many_stale(name):
    """64 blocks a plane, of which 32 begin with 170 stale pages of 256, or 172 without parity."""
    done = fs.run(level(name)).summary["precondition"]
    pages = 64 * 64 * 256
    valid = done["programmed_units"] - done["stale_units"]
    assert valid / pages == pytest.approx(0.3325 if name == "base" else 0.33, abs=0.0005)
    stale = {"base": 172 * 32, "rgc": 170 * 32, "nogc": 0}
    assert done["stale_units"] == 64 * stale[name]


# The synthetic traces.


@pytest.fixture(scope="module", params=TRACES, ids=lambda trace: trace.name)
def measured(request, tmp_path_factory):
    """A synthetic trace, and its first 20,000 requests."""
    trace = request.param
    file = tmp_path_factory.mktemp("log") / "requests.parquet"
    load = {"workload": _traces.streams(trace, 64), "run": {"requests": 20_000}}
    fs.run(level("nogc-plain", precondition={}, **load), requests=file)
    return trace, fs.read_requests(file).sort("arrived_ns").collect()


def test_synthetic_traces_have_the_known_shares_sizes_and_rates(measured):
    trace, requests = measured
    reads = requests.filter(pl.col("kind") == "read")
    assert len(reads) / len(requests) == pytest.approx(trace.reads.value, abs=0.02)
    assert requests["length_bytes"].mean() == pytest.approx(trace.mean_bytes, rel=0.05)
    seconds = (requests["arrived_ns"].max() - requests["arrived_ns"].min()) / 1e9
    assert len(requests) / seconds == pytest.approx(trace.rate.value, rel=0.05)
    extents = _traces.extents(trace, 64)
    sizes = [int(extent["size"].removesuffix(" B")) for extent in extents]
    assert sum(sizes) == pytest.approx(_traces.footprint_bytes(trace, 64), rel=0.04)
    for place, (extent, size) in enumerate(zip(extents, sizes, strict=True)):
        inside = requests.filter(pl.col("initiator").str.ends_with(f"s-{place}"))
        begin = int(extent["offset"].removesuffix(" B"))
        assert inside["offset_bytes"].min() >= begin
        assert (inside["offset_bytes"] + inside["length_bytes"]).max() <= begin + size


def test_synthetic_traces_have_the_known_sequential_shares(measured):
    trace, requests = measured
    for kind, share in (("read", trace.sequential_reads), ("write", trace.sequential_writes)):
        own = requests.filter(pl.col("kind") == kind)
        follows = 0
        for place in range(len(_traces.extents(trace, 64))):
            one = own.filter(pl.col("initiator") == f"sequential-{kind}s-{place}")
            ends = one["offset_bytes"] + one["length_bytes"]
            follows += (one["offset_bytes"] == ends.shift(1)).sum()
        assert follows / len(own) == pytest.approx(share.value, abs=0.02)


@pytest.mark.parametrize(
    ("name", "mean_kib", "mode_kib", "share"),
    [("tpcc", 8.53, 8, 0.934), ("dtrs", 25.05, 4, 0.42)],
)
def test_sizes_are_those_that_are_known(name, mean_kib, mode_kib, share):
    sizes = _traces.TRACES[name].read_sizes
    assert sizes.mean_bytes / 1024 == pytest.approx(mean_kib, abs=0.01)
    assert dict(sizes.value)[mode_kib] == max(dict(sizes.value).values()) == share
    assert sum(part for _, part in sizes.value) == pytest.approx(1)


def test_unknown_figures_follow_the_rules():
    """Rates of 14 MB/s: the geometric mean of 900 requests of 8 KiB and 3205 of 8.528 KiB."""
    per_second = (900 * 8 * 1024 * 3205 * 8.528 * 1024) ** 0.5
    for name in ("dap", "dtrs", "lmbe", "msn"):
        trace = _traces.TRACES[name]
        assert not trace.rate.is_known
        assert trace.rate.value * trace.mean_bytes == pytest.approx(per_second, rel=0.002)
    assert _traces.TRACES["tpcc"].rate.value == round(51_279 / 16)
    assert _traces.TRACES["dap"].reads.value == pytest.approx((64 + 60 + 85 + 50) / 400, abs=0.01)
    # 0.2 r + 0.32 (1 - r) = 0.218.
    assert _traces.TRACES["dtrs"].reads.value == pytest.approx(0.102 / 0.12)


def test_footprints_shrink_with_the_drive():
    dap, tpcc = _traces.TRACES["dap"], _traces.TRACES["tpcc"]
    assert _traces.footprint_bytes(dap, 4096) == pytest.approx(0.85 * 2**30, rel=1e-3)
    assert _traces.footprint_bytes(dap, 256) == pytest.approx(0.85 * 2**30 / 16, rel=1e-3)
    assert _traces.footprint_bytes(tpcc, 256) == pytest.approx(256 * 2**26 * 0.33 * 7 / 8, rel=1e-4)


def test_extents_are_spread_over_what_is_filled_and_one_is_all_of_it():
    dap = _traces.extents(_traces.TRACES["dap"], 256)
    offsets = [int(extent["offset"].removesuffix(" B")) for extent in dap]
    assert len(offsets) == 8
    apart = {later - earlier for earlier, later in pairwise(offsets)}
    assert len(apart) == 1
    assert offsets[0] == 0
    filled = _drives.filled_bytes("gtf", 256)
    assert apart.pop() == pytest.approx(filled / 8, rel=1e-3)
    [all_of_it] = _traces.extents(_traces.TRACES["tpcc"], 256)
    assert int(all_of_it["size"].removesuffix(" B")) == pytest.approx(filled, rel=1e-4)


# Runs.


def test_a_trace_that_is_there_takes_the_place_of_the_synthetic_one(tmp_path):
    file = tmp_path / "DTRS.trace"
    file.write_text("".join(f"{at / 7:.3f} 0 {at * 64} 8 {at % 2}\n" for at in range(50)))
    setting = Setting("short", tmp_path)
    [stream] = _runs.run(setting, _traces.TRACES["dtrs"], "rgc").experiment["workload"]
    assert stream["trace"]["file"] == str(file)
    assert stream["trace"]["repeat"] == 2
    assert len(_runs.run(setting, _traces.TRACES["dap"], "rgc").experiment["workload"]) == 4 * 8
    told = _runs.no_better(Outcomes(setting, {}))
    assert "DTRS" not in told
    assert "DAP.trace" in told


def test_a_small_run_of_the_study(monkeypatch):
    """At an eighth of the size the orders are there, and no verdict is better than direction."""
    monkeypatch.setattr(Setting, "pick", lambda _, short, full: short // 8)
    for name in ("dap", "exch", "lmbe", "msn", "tpcc"):
        monkeypatch.delitem(_traces.TRACES, name)
    found = fs.reproduce("tiny-tail-flash/blocked")
    assert found.failures == []
    [claim] = found
    assert claim.verdict == "direction"
    for base, ttflash in zip(
        claim.figures["base_blocked_share"], claim.figures["ttflash_blocked_share"], strict=True
    ):
        assert ttflash < base
    shut = fs.reproduce("tiny-tail-flash/figure-4")
    planes = dict(shut.frames["figure-4/planes"].select("blocking", "met_over_held").iter_rows())
    # Few reads meet the few collections, so these are the planes only roughly.
    assert 0.5 < planes["plane"] < 2 < planes["channel"] < 12 < planes["controller"] < 80
