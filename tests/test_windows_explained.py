"""Windows that break are told: tables, explanations and their remedies, and fleets."""

from __future__ import annotations

import copy

import pytest

import flashscape as fs
from flashscape.fleet.merged import Merger
from flashscape.fleet.windows import WindowMerger
from flashscape.report.sets import pressure, window_ends, window_warnings, windows
from flashscape.report.text import explanation, plain
from flashscape.terminal import Page
from places import WAVES

MS = 1_000_000

DRIVE = {
    "preset": "dc-tlc",
    "geometry": {
        "channels": 1,
        "packages_per_channel": 2,
        "dies_per_package": 1,
        "blocks_per_plane": 40,
        "pages_per_block": 64,
    },
    "ftl": {
        "over_provisioning": {"reserved": "30 %"},
        "gc": {**WAVES, "foreground": "2 blocks", "background": "4 blocks", "stop": "6 blocks"},
        "windows": {"dtwin": "1 s", "ndwin_low": "1 ms", "ndwin_high": "100 ms"},
    },
    "buffer": {"durability": "none"},
}
"""Two bins of 4 MiB blocks: 16 MiB, or 256 programs of 64 KiB, between the GC thresholds."""

BASE = {
    "drive": DRIVE,
    "precondition": {"fill": "random", "age": {"overwrites": 0.5}},
    "workload": [
        {"name": "mix", "reads": "50 %", "arrivals": {"process": "poisson", "rate": "3 kIOPS"}}
    ],
    "run": {"windows": {}, "requests": 12_000},
}
"""1,500 writes a second, each programmed alone: the space lasts for 171 ms of a second."""


@pytest.fixture(scope="module")
def broken():
    """A run whose windows end by excursion."""
    return fs.run(BASE)


def of_set(number, *, asked=0, begun=None, times=(0, 0), waits=(0, 0), broken=0, events=(), **ends):
    """Return hand-made figures of a set, with times in milliseconds."""
    causes = ("host", "reads", "writes", "time", "excursion")
    nothing = {"count": 0, "latency_ns": {"mean": None, "min": None, "max": None}}
    return {
        "set": number,
        "asked": asked,
        "begun": asked if begun is None else begun,
        "ends": {cause: ends.get(cause, 0) for cause in causes},
        "dtwin_ns": times[0] * MS,
        "ndwin_ns": times[1] * MS,
        "waited_ns": waits[0] * MS,
        "longest_wait_ns": waits[1] * MS,
        "broken_ns": broken * MS,
        "reads": {"dtwin": nothing, "other": nothing},
        "events": [{"at_ns": 0, "end": why, "reads": 0, "written_units": n} for why, n in events],
    }


def having(result, *sets, **changes):
    """Return a result with the windows of these sets, and with other values at paths."""
    summary = copy.deepcopy(result.summary)
    summary["windows"] = list(sets)
    for path, value in changes.items():
        found = summary
        *folders, last = path.split("__")
        for key in folders:
            found = found[key]
        found[last] = value
    changed = copy.copy(result)
    changed.summary = summary
    return changed


def told(result):
    return fs.explain(result).windows


# ---- explained -----------------------------------------------------------------------


def test_broken_windows_are_counted_and_explained(broken):
    (found,) = broken.summary["windows"]
    ends = found["ends"]
    # 256 programs are used up after 171 ms, and those up to the stop threshold after 341 ms.
    count = ends["writes"] + ends["excursion"]
    assert count == sum(ends.values()) >= 3
    assert found["dtwin_ns"] / found["begun"] < 400 * MS
    first, lacked, *_, cause, space = told(broken)
    assert first.startswith(f"Of {count} deterministic windows that ended, {count} were broken: ")
    assert first.endswith("the host asks for 1 s.")
    assert "The host lacked the broken ones for" in lacked
    last = [name for name in ("writes", "excursion") if ends[name]][-1]
    assert cause.startswith(f"{last.capitalize()} ({ends[last]} window")
    # 16 MiB; a 64 KiB program with 4 KiB of data is padding for the rest.
    assert "there are 16.8 MB" in space
    assert "is padding: full programs (drive.buffer, see below)" in space
    assert any("is padding" in line for line in fs.explain(broken).remarks)
    assert "drive.ftl.gc.background, now 4 blocks" in space
    for line in told(broken):
        assert line in fs.explain(broken).sentences


def test_windows_that_begin_with_little_space_need_longer_breaks(broken):
    events = [("excursion", 3000), ("excursion", 2000), ("host", 9)]
    short = of_set(1, asked=3, times=(900, 100), host=1, excursion=2, events=events)
    *_, space = told(having(broken, short, write_amplification__padding=0.0))
    # 2,500 units of 4 KiB.
    assert "hosts wrote 10.2 MB in the mean" in space
    assert "So windows began with less free space, or bins were filled unevenly" in space
    assert "Longer non-deterministic windows (run.windows.ndwin, now 100 ms)" in space
    assert "drive.ftl.gc.background" not in space
    long = of_set(1, asked=1, times=(900, 100), writes=1, events=[("writes", 5000)])
    *_, space = told(having(broken, long, write_amplification__padding=0.0))
    assert "hosts wrote 20.5 MB in the mean" in space
    assert "began with less" not in space
    assert "a higher threshold of background GC (drive.ftl.gc.background, now 4 blocks)" in space


@pytest.mark.parametrize(
    "remedy",
    [
        # 6.1 MB a second of full programs, of 16.8 MB.
        {"drive.buffer.durability": "capacitor"},
        {"drive.buffer.partial_after": "20 ms"},
        # 150 and 150 programs, of 256.
        {"run.windows.dtwin": "100 ms"},
        {"workload[0].arrivals.rate": "300 IOPS", "run.requests": 1_200},
    ],
    ids=str,
)
def test_remedies_keep_windows_whole(remedy):
    result = fs.run(fs.Experiment.from_dict(BASE).replace(remedy))
    (found,) = result.summary["windows"]
    assert found["ends"]["host"] == sum(found["ends"].values()) >= 3
    assert found["broken_ns"] == 0
    assert "none was broken" in told(result)[0]


def test_a_higher_threshold_of_background_gc_makes_windows_longer(broken):
    higher = {"drive.ftl.gc.background": "8 blocks", "drive.ftl.gc.stop": "9 blocks"}
    result = fs.run(fs.Experiment.from_dict(BASE).replace(higher))
    (before,), (after,) = broken.summary["windows"], result.summary["windows"]
    lasted = [of["dtwin_ns"] / of["begun"] for of in (before, after)]
    # 6 blocks in place of 2 to 4.
    assert lasted[1] > 1.3 * lasted[0]


def test_a_line_is_enough_if_no_window_broke(broken):
    whole = having(broken, of_set(1, asked=3, times=(3000, 300), host=3))
    (line,) = told(whole)
    assert line == (
        "All 3 deterministic windows that ended were ended by the host: none was broken. "
        "Windows lasted 1 s in the mean; the host asks for 1 s."
    )


def test_nothing_is_told_of_drives_without_windows(broken):
    none = having(broken)
    none.summary["windows"] = None
    assert told(none) == []
    assert windows(none).rows == window_ends(none).rows == []


def test_a_note_tells_of_windows_that_nobody_asked_for():
    result = fs.run({**BASE, "run": {"requests": 100}})
    assert told(result) == []
    (note,) = (note for note in result.summary["notes"] if "nobody asks" in note)
    assert note in fs.explain(result).sentences


def test_each_cause_has_a_meaning_and_a_remedy(broken):
    first = of_set(
        1, asked=6, times=(900, 100), waits=(20, 15), broken=40, host=2, reads=1, time=2, writes=1
    )
    second = of_set(2, asked=4, times=(750, 250), waits=(0, 0), host=4)
    found = having(
        broken,
        {**first, "events": of_set(1, events=[("writes", 10), ("writes", 30)])["events"]},
        second,
        config__drive__ftl__windows__reads=2_000,
    )
    began, lacked, waited, reads, writes, time, space = told(found)
    # 1,650 ms of ten windows.
    assert began == (
        "Of 10 deterministic windows that ended, 4 were broken: the drive ended them before the "
        "host did. Windows lasted 165 ms in the mean; the host asks for 1 s."
    )
    assert lacked == ("The host lacked the broken ones for 0 ns to 40 ms of 1 s in each part.")
    assert waited.startswith("The host waited 0 ns to 20 ms for windows to begin, at most 15 ms at")
    assert reads == (
        "Reads (1 window): more reads of 4 KiB came than DTWIN Reads Typical allows. Raise "
        "drive.ftl.windows.reads, now 2,000, choose shorter windows (run.windows.dtwin, now 1 s), "
        "or read less."
    )
    # 20 units of 4 KiB in the mean.
    assert writes.startswith("Writes (1 window): hosts wrote more than DTWIN Writes Typical")
    assert "hosts wrote 81.9 kB in the mean" in space
    assert "there are 16.8 MB" in space
    assert "is padding: full programs (drive.buffer, see below)" in space
    assert "Raise drive.ftl.windows.dtwin, now 1 s" in time
    assert [row[:8] for row in window_ends(found).rows] == [
        ("NVM set 1", "6", "6", "2", "1", "1", "2", "0"),
        ("NVM set 2", "4", "4", "4", "0", "0", "0", "0"),
    ]
    assert window_ends(found).rows[0][8:] == ("40 ms, 4.0 %", "20 ms", "15 ms")
    assert windows(found).rows[0][1:5] == (
        "6",
        "90.0 %",
        "1 by reads, 1 by writes, 2 by time",
        "40 ms, 4.0 %",
    )


def test_warnings_are_told_by_part_and_kind(broken):
    first, second = of_set(1, asked=5, host=4, times=(90, 10)), of_set(2, asked=1, time=1)
    first["warnings"] = {"reads": warned(3, None), "time": warned(1_500, 1_200_000)}
    second["warnings"] = {"reads": warned(0, None), "time": warned(0, 0)}
    found = having(broken, first, second, config__drive__ftl__windows__reads=2_000)
    assert window_warnings(found).rows == [
        ("NVM set 1", "reads", "3", "–"),
        ("NVM set 1", "time", "1,500", "1.20 ms"),
        ("NVM set 2", "reads", "0", "–"),
        ("NVM set 2", "time", "0", "0 ns"),
    ]
    at = windows(found).head.index("warnings")
    assert [row[at] for row in windows(found).rows] == ["3 of reads, 1,500 of time", "none"]
    assert told(found)[-1] == (
        "Some warnings came at the moment at which the window ended by itself: a higher "
        "drive.ftl.windows.time_threshold warns sooner."
    )
    without = having(broken, of_set(1, asked=5, host=4))
    assert window_warnings(without).rows == []
    assert "warnings" not in windows(without).head


def test_warnings_of_a_run_come_before_its_windows_break(broken):
    limits = {"drive.ftl.windows.writes_threshold": 40, "drive.ftl.windows.time_threshold": "9 ms"}
    result = fs.run(fs.Experiment.from_dict(BASE).replace(limits))
    assert result.digest == broken.digest
    (before,), (after,) = broken.summary["windows"], result.summary["windows"]
    assert before["warnings"] is None
    assert after["ends"] == before["ends"]
    writes, time = (after["warnings"][kind] for kind in ("writes", "time"))
    # No window lasts for a second. Each has room for 40 programs, and a warning of writes before,
    # and a write comes each 667 us in the mean.
    ended = after["ends"]["writes"] + after["ends"]["excursion"]
    assert ended <= writes["count"] <= ended + 1
    assert (time["count"], time["shortest_ns"]) == (0, None)
    assert 5 * MS < writes["shortest_ns"] < 60 * MS
    page = Page(stderr=False, highlight=False, width=1_000)
    with page.capture() as captured:
        page.print(explanation(fs.explain(result), result))
    assert "Warnings of deterministic windows" in captured.get()


def test_windows_that_did_not_begin_are_told():
    closed = {"name": "mix", "reads": "50 %", "queue_depth": 8}
    run = {"windows": {"dtwin": "100 ms", "ndwin": "20 ms"}, "requests": 20_000}
    buffered = {**DRIVE, "buffer": {"durability": "volatile"}}
    aged = {"fill": "random", "age": {"overwrites": 1.0}}
    changed = {"drive": buffered, "precondition": aged, "workload": [closed], "run": run}
    result = fs.run({**BASE, **changed})
    (found,) = result.summary["windows"]
    never = found["asked"] - found["begun"]
    assert never >= 2
    line = f"{never} of {found['asked']} windows that the host asked for did not begin"
    assert any(each.startswith(line) for each in told(result))
    # In a closed loop the host also uses longer non-deterministic windows to write.
    assert any("with fewer writes GC is done sooner" in each for each in told(result))
    assert not any("run.windows.ndwin" in each for each in told(result))


def test_zeroes_are_named_if_hosts_write_them(broken):
    excursion = of_set(1, asked=1, times=(90, 10), excursion=1, events=[("excursion", 5)])
    assert not any("Zeroes that" in line for line in told(having(broken, excursion)))
    zeroes = having(broken, excursion)
    (host,) = zeroes.summary["initiators"]
    host["write_zeroes"] = host["write"]
    assert any("Zeroes that hosts write use space, too" in line for line in told(zeroes))


# ---- commands ------------------------------------------------------------------------


TOML = """
[drive]
preset = "dc-tlc"
[drive.geometry]
channels = 2
packages_per_channel = 1
dies_per_package = 1
blocks_per_plane = 40
pages_per_block = 64
[drive.ftl]
sets = { channels = 2 }
over_provisioning = { reserved = "30 %" }
windows = { dtwin = "1 s", ndwin_low = "1 ms", ndwin_high = "100 ms" }
gc = { pacing = "none", foreground = "2 blocks", background = "4 blocks", stop = "6 blocks" }
[drive.buffer]
durability = "none"
[precondition]
fill = "random"
age = { overwrites = 0.5 }
[[workload]]
name = "mix"
nvm_set = 2
reads = "50 %"
arrivals = { process = "poisson", rate = "1500 IOPS" }
[run]
requests = 6_000
windows = {}
"""


def test_commands_tell_of_broken_windows_by_set(flashscape, tmp_path):
    (tmp_path / "sets.toml").write_text(TOML, encoding="utf-8")
    ran = flashscape("run", "sets.toml", "--out", "out")
    assert ran.status == 0, ran.err
    head = next(line for line in ran.out.splitlines() if "ended by the drive" in line)
    assert "broken" in head
    # A drive with sets and without pacing, of which explain once asked for figures without a set.
    explained = flashscape("explain", "out")
    assert explained.status == 0, explained.err
    found = fs.Result.load(tmp_path / "out").summary["windows"]
    broke = [of["ends"]["writes"] + of["ends"]["excursion"] for of in found]
    assert broke[0] == 0 < broke[1]
    lines = explained.out.splitlines()
    at = lines.index("Deterministic windows")
    for row, of in zip(lines[at + 3 : at + 5], found, strict=True):
        counts = [str(of[key]) for key in ("asked", "begun")]
        expected = ["NVM", "set", str(of["set"]), *counts, *map(str, of["ends"].values())]
        assert row.split()[:10] == expected
    assert f"{broke[1]} were broken: the drive ended them" in explained.out


# ---- arrays --------------------------------------------------------------------------


def test_members_of_an_array_have_windows_and_limits_by_name(flashscape):
    drive = {
        "preset": "dc-tlc",
        "geometry": {"channels": 2, "dies_per_package": 1, "blocks_per_plane": 24},
        "ftl": {
            "over_provisioning": {"exported": "16 MiB"},
            "pressure": {"programs": 2},
            "windows": {"dtwin": "1 s", "reads": 10, "ndwin_low": "1 ms", "ndwin_high": "10 ms"},
        },
        "buffer": {"size": "256 KiB"},
    }
    drive["geometry"]["pages_per_block"] = 12
    plan = {
        "policy": "ping-pong",
        "period": "100 ms",
        "settle": "20 ms",
        "cache": {"size": "8 MiB", "latency": "1 us"},
    }
    loads = [
        {
            "name": "reader",
            "reads": "100 %",
            "size": "4 KiB",
            "arrivals": {"process": "constant", "rate": "1 kIOPS"},
        },
        {
            "name": "writer",
            "reads": "0 %",
            "arrivals": {"process": "constant", "rate": "200 IOPS"},
        },
    ]
    result = fs.run(
        {
            "array": {"drives": 2, "plan": plan},
            "drive": drive,
            "precondition": {"fill": "random"},
            "workload": loads,
            "run": {"time": "1 s"},
        }
    )
    names = ["drive 0", "drive 1"]
    table, limits = windows(result), pressure(result)
    assert [row[0] for row in table.rows] == [row[0] for row in limits.rows] == names
    assert table.head == ("part", "windows", "of the time", "ended by the drive", "broken")
    members = result.summary["array"]["members"]
    by_reads = sum(of["windows"]["ends"]["reads"] for of in members)
    # Ten periods with a window each, of 10 reads and not 100, but for the last ones.
    assert 9 <= by_reads <= 12
    assert all("by reads" in row[3] and row[4].endswith("%") for row in table.rows)
    (reads,) = (line for line in told(result) if line.startswith("Reads ("))
    assert reads.startswith(f"Reads ({by_reads} windows): ")
    assert "now 10, choose shorter windows (array.plan.period, now 100 ms)" in reads
    assert [row[1] for row in limits.rows] == [f"{of['pressure']['programs']:,}" for of in members]
    page = Page(stderr=False, highlight=False, width=1_000)
    with page.capture() as captured:
        page.print(explanation(fs.explain(result), result))
    assert "drive 1" in captured.get()
    assert "Deterministic windows" in plain("", [], [table])


# ---- fleets --------------------------------------------------------------------------


def reads_of(count, mean, least, most):
    return {"count": count, "latency_ns": {"mean": mean, "min": least, "max": most}}


def test_windows_of_drives_are_added_by_hand():
    first = of_set(1, asked=5, begun=4, times=(300, 100), waits=(30, 20), broken=8, host=3, reads=1)
    second = of_set(2, asked=2, times=(350, 50), waits=(10, 10), host=1, excursion=1, broken=2)
    first["reads"] = {"dtwin": reads_of(3, 20.0, 10, 30), "other": reads_of(1, 7.0, 7, 7)}
    second["reads"]["dtwin"] = reads_of(1, 60.0, 60, 60)
    merger = WindowMerger()
    merger.add({"windows": None})
    assert merger.summary() is None
    merger.add({"windows": [first, second]})
    merger.add({"windows": [first, second]})
    found = merger.summary()
    assert found == {
        "asked": 14,
        "begun": 12,
        "dtwin_ns": 1300 * MS,
        "ndwin_ns": 300 * MS,
        "waited_ns": 80 * MS,
        "broken_ns": 20 * MS,
        "longest_wait_ns": 20 * MS,
        "ends": {"host": 8, "reads": 2, "writes": 0, "time": 0, "excursion": 2},
        "warnings": None,
        # (60 + 60) twice, of 8 reads.
        "reads": {"dtwin": reads_of(8, 30.0, 10, 60), "other": reads_of(2, 7.0, 7, 7)},
    }


def test_warnings_of_drives_are_added_by_hand():
    first, second = of_set(1, asked=5, host=4, times=(90, 10)), of_set(2, asked=1, time=1)
    first["warnings"] = {"reads": warned(3, None), "time": warned(1, 500)}
    second["warnings"] = {"reads": warned(0, None), "time": warned(2, 70)}
    merger = WindowMerger()
    merger.add({"windows": [first, second]})
    merger.add({"windows": [first]})
    assert merger.summary()["warnings"] == {"reads": warned(6, None), "time": warned(4, 70)}


def warned(count, shortest_ns):
    return {"count": count, "shortest_ns": shortest_ns}


def test_a_fleet_tells_of_its_windows(tmp_path):
    fleet = fs.fleet(BASE, drives=2, age="0 %..40 %", out=tmp_path / "fleet")
    of_drives = [fleet.result(number).summary["windows"][0] for number in (1, 2)]
    found = fleet.document["windows"]
    assert found["broken_ns"] == sum(of["broken_ns"] for of in of_drives) > 0
    assert found["ends"] == {
        cause: sum(of["ends"][cause] for of in of_drives) for cause in found["ends"]
    }
    for which in ("dtwin", "other"):
        count = sum(of["reads"][which]["count"] for of in of_drives)
        total = sum(
            of["reads"][which]["count"] * of["reads"][which]["latency_ns"]["mean"]
            for of in of_drives
        )
        assert found["reads"][which]["count"] == count > 0
        assert found["reads"][which]["latency_ns"]["mean"] == pytest.approx(total / count)
    own = [cause for cause in ("writes", "excursion") if found["ends"][cause]]
    broke = ", ".join(f"{found['ends'][cause]} by {cause}" for cause in own)
    (line,) = (each for each in fleet.sentences if each.startswith("Deterministic windows: "))
    assert f"the drives ended {broke} (" in line
    loaded = fs.Fleet.load(tmp_path / "fleet")
    assert line in loaded.sentences


def test_a_fleet_without_windows_has_none(broken):
    merger = Merger()
    plain_drive = having(broken)
    plain_drive.summary["windows"] = None
    merger.add(plain_drive)
    assert merger.summary()["windows"] is None
