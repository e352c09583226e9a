"""Several traces on one drive: their regions, their start times, and their costs."""

from __future__ import annotations

import json

import polars as pl
import pytest

from places import CAPTURED, SMALL

UNIT = 4096
MIB = 2**20
GIB = 2**30

ONE_UNIT = (
    "--set=drive.geometry.channels=2",
    "--set=drive.geometry.packages_per_channel=1",
    "--set=drive.geometry.dies_per_package=1",
    "--set=drive.geometry.planes_per_die=1",
    "--set=drive.geometry.blocks_per_plane=64",
    "--set=drive.geometry.pages_per_block=24",
    "--set=drive.ftl.block_planes=1",
    "--set=drive.ftl.over_provisioning.exported=32 MiB",
    "--set=drive.buffer.size=2 MiB",
)
"""A drive of two dies of a plane each, on separate channels."""


def reads(path, stamps_us, unit):
    """Write a trace of reads of one unit at the given times."""
    rows = (f"{us},R,{unit * UNIT},{UNIT}\n" for us in stamps_us)
    path.write_text("time_us,op,offset,length\n" + "".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def replayed(flashscape, tmp_path):
    """Return a function that replays on the small drive, and returns the log by tenant."""

    def run(*arguments, drive=SMALL):
        log = tmp_path / "log.parquet"
        command = ("replay", *arguments, "--drive=dc-tlc", *drive, "--audit", "--json", "--quiet")
        ended = flashscape(*command, "--requests", log, "--force")
        assert ended.status == 0, ended.err
        return json.loads(ended.out), pl.read_parquet(log)

    return run


def of(log, name, column="latency_ns"):
    return log.filter(pl.col("initiator") == name).sort("index")[column].to_list()


def workloads(summary):
    return {workload["name"]: workload for workload in summary["config"]["workload"]}


def test_tenants_are_called_like_their_files_and_told_apart(replayed, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        reads(tmp_path / folder / "web.csv", [0], 0)
    summary, log = replayed(
        "a/web.csv", "b/web.csv", "--tenant", "file=a/web.csv,name=web-2", "--out-of-range=wrap"
    )
    assert list(workloads(summary)) == ["web", "web-3", "web-2"]
    assert sorted(log["initiator"].unique().to_list()) == ["web", "web-2", "web-3"]


def test_one_trace_is_called_as_ever(replayed, tmp_path):
    summary, _ = replayed(reads(tmp_path / "web.csv", [0], 0))
    assert list(workloads(summary)) == ["trace"]
    assert "region" not in workloads(summary)["trace"]


def test_what_is_said_of_one_tenant_is_its_own(replayed, tmp_path):
    reads(tmp_path / "a.csv", [0], 0)
    reads(tmp_path / "b,c.csv", [0], 0)
    summary, _ = replayed(
        "a.csv",
        "--tenant",
        "file=b,c.csv, name=b, start=2 ms, offset=1 MiB, size=2 MiB, priority=high,"
        "time_scale=0.5, devices=0,combine=fold, repeat=3, queue_depth=7, out_of_range=scale",
        "--time-scale=2",
        "--queue-depth=3",
    )
    known = workloads(summary)
    assert known["b"] == {
        "name": "b",
        "priority": "high",
        "start": "2 ms",
        "region": {"offset": "1 MiB", "size": "2 MiB"},
        "queue_depth": 7,
        "trace": {
            "file": "b,c.csv",
            "mode": "open",
            "time_scale": 0.5,
            "devices": [0],
            "combine": "fold",
            "out_of_range": "scale",
            "repeat": 3,
        },
    }
    assert (known["a"]["queue_depth"], known["a"]["trace"]["time_scale"]) == (3, 2.0)
    assert "region" not in known["a"]


def test_start_and_scale_move_a_tenant_in_time_to_the_nanosecond(replayed, tmp_path):
    reads(tmp_path / "a.csv", [5000 + 100 * n for n in range(20)], 0)
    described = (
        "name=late,file=a.csv,start=3 ms,time_scale=0.25",
        "name=slow,file=a.csv,time_scale=3",
    )
    _, log = replayed("a.csv", *(f"--tenant={text}" for text in described))
    # The earliest stamp of a file becomes its tenant's start.
    assert of(log, "a", "arrived_ns") == [100_000 * n for n in range(20)]
    assert of(log, "late", "arrived_ns") == [3_000_000 + 25_000 * n for n in range(20)]
    assert of(log, "slow", "arrived_ns") == [300_000 * n for n in range(20)]


@pytest.mark.parametrize(
    ("how", "units"),
    [
        # A trace of 4 MiB, 1024 units, in a region of 1 MiB, 256 units.
        ("wrap", lambda unit: unit % 256),
        ("scale", lambda unit: unit * 256 // 1024),
    ],
)
def test_addresses_are_fitted_into_the_region(replayed, tmp_path, how, units):
    wanted = [0, 100, 255, 256, 700, 1023]
    rows = (f"{us * 10},R,{unit * UNIT},{UNIT}\n" for us, unit in enumerate(wanted))
    (tmp_path / "a.csv").write_text("time_us,op,offset,length\n" + "".join(rows))
    _, log = replayed(
        "--tenant", "name=a,file=a.csv,offset=8 MiB,size=1 MiB", f"--out-of-range={how}"
    )
    assert of(log, "a", "offset_bytes") == [8 * MIB + units(unit) * UNIT for unit in wanted]


def test_a_region_that_is_too_small_is_refused_with_the_tenants_name(flashscape, tmp_path):
    reads(tmp_path / "a.csv", [0], 0)
    reads(tmp_path / "b.csv", [0], 300)
    command = ("replay", "a.csv", "b.csv", "--drive=dc-tlc", *SMALL)
    tenants = ("--tenant=name=c,file=b.csv,size=1 MiB,offset=1 MiB",)
    ended = flashscape(*command, *tenants)
    assert ended.status == 2
    assert 'b.csv:2: tenant "c": the request for 1228800 + 4096 B ends at' in ended.err
    assert "--out-of-range wrap" in ended.err
    outside = flashscape(*command, "--tenant=name=d,file=a.csv,offset=1 GiB,size=1 MiB")
    assert 'tenant "d", region: reaches beyond the drive' in outside.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no trace is named; give TRACE, or --tenant file=..."),
        (("--tenant=name=a",), "file=... is missing"),
        (("--tenant=a.csv",), "'a.csv' is not of the form key=value"),
        (
            ("--tenant=file=a.csv,speed=2",),
            "no key 'speed' (did you mean \"spread\"? there are file",
        ),
        (("--tenant=file=a.csv,name=x,name=y",), "name is given twice"),
        (("--tenant=file=a.csv,time_scale=fast,devices=x",), "time_scale=fast is not a number"),
        (("--tenant=file=a.csv,time_scale=fast,devices=x",), "devices=x is not a list"),
        (("--tenant=file=a.csv,repeat=1.5",), "repeat=1.5 is not a whole number"),
        (("--tenant=file=a.csv,start=",), "start has no value"),
        (("--tenant=file=a.csv,name=x",) * 2, "two tenants are called 'x'"),
        (("a.csv", "--tenant=file=a.csv,name=x,size=1 MiB", "--partition"), "but x has a part"),
        (("a.csv", "--tenant=file=a.csv,name=x,priority=urgent"), 'tenant "x", priority'),
        (("a.csv", "--tenant=file=none.csv,name=x"), 'none.csv: tenant "x": there is no such file'),
        (("a.csv", "--tenant=file=a.csv,name=x,event=queue"), 'tenant "x", event: has no meaning'),
    ],
)
def test_wrong_tenants_are_named(flashscape, tmp_path, arguments, said):
    reads(tmp_path / "a.csv", [0], 0)
    ended = flashscape("replay", *arguments, "--drive=dc-tlc", *SMALL)
    assert ended.status == 2
    assert said in ended.err


def test_a_partition_is_equal_parts_of_whole_units_and_is_shown(flashscape, tmp_path):
    for name in ("a", "b", "c"):
        reads(tmp_path / f"{name}.csv", [0], 0)
    command = ("replay", "a.csv", "b.csv", "c.csv", "--partition", "--drive=dc-tlc", *SMALL)
    shown = flashscape(*command)
    assert shown.status == 0, shown.err
    # A third of 1 GiB in units of 4 KiB, rounded down; one unit belongs to no part.
    part = GIB // UNIT // 3 * UNIT
    summary = json.loads(flashscape(*command, "--json", "--quiet").out)
    regions = [workload["region"] for workload in summary["config"]["workload"]]
    for number, region in enumerate(regions):
        assert region == {
            "offset": regions[number]["offset"],
            "size": f"{part // 1024} KiB",
        }
    log = tmp_path / "log.parquet"
    assert flashscape(*command, "--quiet", "--requests", log).status == 0
    rows = pl.read_parquet(log)
    assert [of(rows, name, "offset_bytes") for name in "abc"] == [[0], [part], [2 * part]]
    assert "b: 358 MB to 716 MB" in shown.err
    assert "\nTenants\n" in shown.out
    assert "358 MB to 716 MB" in shown.out


FIRMWARE, COMMAND, SENSE, CARRY, DECODE = 5_000, 275, 50_000, 2_880, 5_000
LINK = 4096 // 7
"""Parts of the latency of a unit's read on dc-tlc, in ns: the bus carries its 4,608 bytes, with
their share of the spare area, at 1600 MT/s in 2.88 us, the link its 4,096 at 7 GB/s in 0.585 us."""

ALONE = FIRMWARE + COMMAND + SENSE + CARRY + DECODE + LINK
OCCUPIED = COMMAND + SENSE + CARRY
"""Time for which a read occupies its plane: until its data are transferred."""


def test_tenants_on_parts_that_share_no_unit_see_what_they_see_alone(replayed, tmp_path):
    """Filled in order: one page of 16 KiB goes to one die and the next to the other."""
    reads(tmp_path / "a.csv", [1000 * n for n in range(10)], 0)
    other = "name=b,file=a.csv,start=1 us,offset=16 KiB,size=16 MiB"
    _, log = replayed("a.csv", "--tenant", other, drive=ONE_UNIT)
    assert of(log, "a") == [ALONE] * 10
    assert of(log, "b") == [ALONE] * 10


def test_tenants_that_share_a_unit_wait_for_each_other(replayed, tmp_path):
    moments = [1000 * n for n in range(10)]
    reads(tmp_path / "a.csv", moments, 0)
    described = "name=b,file=a.csv,start=1 us"
    _, log = replayed("a.csv", "--tenant", described, drive=ONE_UNIT)
    assert of(log, "a") == [ALONE] * 10
    assert of(log, "b") == [ALONE + OCCUPIED - 1_000] * 10
    assert of(log, "b", "wait_unit_host_read_ns") == [OCCUPIED - 1_000] * 10


@pytest.mark.parametrize("ranks", [("low", "high"), ("normal", "high"), ("low", "normal")])
def test_a_higher_priority_goes_first(replayed, tmp_path, ranks):
    """Two wait for a plane that a third reads from: the later one goes first if it ranks higher."""
    moments = [1000 * n for n in range(10)]
    reads(tmp_path / "a.csv", moments, 0)
    early = "name=early,file=a.csv,start=1 us,priority={}"
    late = "name=late,file=a.csv,start=2 us,priority={}"

    def latencies(one, other):
        tenants = (f"--tenant={early.format(one)}", f"--tenant={late.format(other)}")
        _, log = replayed("a.csv", *tenants, drive=ONE_UNIT)
        assert of(log, "a") == [ALONE] * 10
        return of(log, "early"), of(log, "late")

    first, second = ALONE + OCCUPIED, ALONE + 2 * OCCUPIED
    assert latencies(*ranks) == ([second - 1_000] * 10, [first - 2_000] * 10)
    assert latencies("normal", "normal") == ([first - 1_000] * 10, [second - 2_000] * 10)


def test_four_captured_traces_at_once(replayed):
    """Each has the gibibyte that it was captured on, a quarter of 4 GiB."""
    names = ("sqlite", "pginit", "pgbench", "rm")
    files = [CAPTURED / f"{name}.csv.gz" for name in names]
    large = ("--set=drive.geometry.blocks_per_plane=400",)
    exported = "--set=drive.ftl.over_provisioning.exported=4 GiB"
    drive = (*SMALL[:2], *large, SMALL[3], exported)
    summary, log = replayed(*files, "--partition", drive=drive)
    asked = {name: trace["rows"] for name, trace in zip(names, summary["traces"], strict=True)}
    assert asked == {"sqlite": 8544, "pginit": 2281, "pgbench": 25558, "rm": 1056}
    for number, name in enumerate(names):
        own = log.filter(pl.col("initiator") == name)
        assert len(own) == asked[name]
        ranged = own.filter(pl.col("kind") != "flush")
        assert ranged["offset_bytes"].min() >= number * GIB
        assert (ranged["offset_bytes"] + ranged["length_bytes"]).max() <= (number + 1) * GIB
