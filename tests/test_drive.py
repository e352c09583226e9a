"""The stepwise drive: its arithmetic, its order, and its errors."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import flashscape as fs

FULL = {"fill": "sequential"}


@pytest.fixture
def drive(config):
    return fs.Drive(config["drive"], precondition=FULL, audit=True)


def finish(drive):
    done = []
    while (due := drive.next_event_ns()) is not None:
        done += drive.advance(due)
    return done


def test_a_lone_read_takes_the_sum_of_its_phases(drive, config):
    experiment = fs.Experiment.from_dict(config)
    spans = experiment.derived["durations_ns"]
    rate = 7_000_000_000
    expected = {
        "firmware": 5_000,
        "sense": spans["sense_by_page_type"][0],
        # The command, 7 cycles of 25 ns and 100 ns, and the data.
        "transfer": 275 + spans["transfer_unit"],
        "decode": spans["decode"],
        "link": -(-4096 * 1_000_000_000 // rate),
    }
    assert experiment.config["drive"]["firmware"]["read"] == "5 us"
    number = drive.submit("read", offset=0, length=4096, at_ns=1_000)
    [done] = finish(drive)
    assert done.id == number
    assert done.blame == pytest.approx(expected, abs=1)
    assert done.latency_ns == sum(done.blame.values())
    assert (done.arrived_ns, done.unmapped) == (1_000, 0)
    drive.audit()


def test_time_goes_only_as_far_as_it_is_told(drive):
    drive.submit("read", 0, 4096)
    assert drive.advance(10) == []
    assert (drive.now_ns, drive.outstanding) == (10, 1)
    [done] = drive.advance(1_000_000)
    assert (done.kind, done.offset, done.length) == ("read", 0, 4096)
    assert (drive.now_ns, drive.outstanding, drive.next_event_ns()) == (1_000_000, 0, None)


def test_every_kind_is_served(drive):
    for kind in ("write", "trim", "write_zeroes", "read"):
        drive.submit(kind, 8192, 4096)
    drive.submit("flush")
    assert {done.kind for done in finish(drive)} == {
        "write", "trim", "write_zeroes", "read", "flush",
    }  # fmt: skip
    drive.audit()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reed", 0, 4096), 'kind: no kind "reed" \\(did you mean "read"\\? valid: read, write'),
        (("read", 0, 0), "length is 0"),
        (("read", 2**63, 4096), "ends beyond the drive of"),
        (("read", 2**64 - 512, 4096), "ends beyond the drive of"),
        (("read", 1, 4096), "offset=1: a host addresses sectors of 512 B; .* such as 0"),
        (("read", 2**64 - 1, 4096), f"offset={2**64 - 1}: .* such as {2**64 - 512}"),
        (("write", 512, 100), "length=100: a host addresses sectors of 512 B.* such as 512"),
        (("trim", 512, 1500), "length=1500: a host addresses sectors of 512 B.* such as 1024"),
        (("flush", 0, 4096), "a flush has no offset"),
        (("read", 0, 4096, 5), "at_ns=5 is in the past: the drive has reached 100 ns"),
        (("read", 0, 4096, 2**63), f"at_ns={2**63} is beyond the"),
        (("read", 0, 4096, None, "hihg"), 'priority: no priority "hihg" .did you mean "high"'),
        (("read", 0, 4096, -1), "-1 is not a whole number from 0.*\n.*at_ns"),
    ],
)
def test_nonsense_is_refused(drive, arguments, message):
    drive.advance(100)
    with pytest.raises((fs.ConfigError, TypeError), match=message):
        drive.submit(*arguments)
    assert drive.outstanding == 0


def test_time_beyond_all_time_is_refused(drive):
    drive.submit("read", 0, 4096)
    for until_ns in (2**57 + 1, 2**64 - 1):
        with pytest.raises(ValueError, match=f"until_ns={until_ns} is beyond the"):
            drive.advance(until_ns)
    assert len(drive.advance(2**57)) == 1
    with pytest.raises(ValueError, match="is beyond"):
        drive.submit("read", 0, 4096, at_ns=2**57 + 1)


def test_drives_in_threads_do_not_disturb_each_other(config):
    def history(_):
        drive = fs.Drive(config["drive"], precondition=FULL, seed=7)
        for number in range(500):
            kind = "write" if number % 3 else "read"
            drive.submit(kind, number * 7919 % 1000 * 4096, 4096, at_ns=number * 2_000)
        finish(drive)
        return drive.digest

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(history, range(8)))) == 1


def test_an_experiment_brings_its_drive(config):
    drive = fs.Drive(fs.Experiment.from_dict(config))
    assert drive.capacity_bytes == 150 * 2**20
    with pytest.raises(fs.ConfigError, match="no preset"):
        fs.Drive("no-such-drive")


def test_the_file_of_an_experiment_brings_its_drive_too(config, tmp_path):
    file = tmp_path / "drive.json"
    file.write_text(json.dumps(config))
    for named in (file, str(file)):
        assert fs.Drive(named).digest == fs.Drive(fs.Experiment.from_dict(config)).digest
    with pytest.raises(TypeError, match="are those of its experiment"):
        fs.Drive(file, seed=2)
    with pytest.raises(fs.ConfigError, match="missing"):
        fs.Drive(tmp_path / "missing.toml")


def recovering(config, **recovery):
    return {**config["drive"], "recovery": recovery}


def test_a_power_cut_loses_what_was_under_way_and_takes_its_time(config):
    table = recovering(config, map="scan")
    drive = fs.Drive(table, precondition=FULL, audit=True)
    first = drive.submit("read", 0, 4096)
    [done] = finish(drive)
    at = drive.now_ns + 1_000
    second = drive.submit("read", 8192, 4096, at_ns=at)
    report = drive.power_cut(at + 10)
    assert (done.id, report["lost_ids"], report["lost_requests"]) == (first, [second], 1)
    assert (report["at_ns"], drive.outstanding) == (at + 10, 0)
    parts = ("checkpoint_ns", "scan_ns", "saved_ns", "erase_ns")
    assert report["duration_ns"] == sum(report[part] for part in parts) > 0
    assert drive.now_ns == report["at_ns"] + report["duration_ns"]
    # The drive was full before, and is after.
    assert report["recovered_units"] == drive.capacity_bytes // 4096
    drive.submit("read", 8192, 4096)
    [done] = finish(drive)
    assert done.unmapped == 0
    drive.audit()


def test_data_in_a_volatile_buffer_is_lost_with_the_power(config):
    found = {}
    for durability in ("volatile", "capacitor"):
        table = recovering(config, map="scan")
        table["buffer"] = {**table.get("buffer", {}), "durability": durability}
        drive = fs.Drive(table, audit=True)
        drive.submit("write", 0, 4096)
        while not drive.advance(drive.next_event_ns()):
            pass
        report = drive.power_cut()
        drive.submit("read", 0, 4096)
        [done] = finish(drive)
        found[durability] = (report["saved_units"], done.unmapped)
        drive.audit()
    assert found == {"volatile": (0, 1), "capacitor": (1, 0)}


def test_a_drive_that_cannot_recover_and_a_moment_in_the_past_are_refused(config, drive):
    with pytest.raises(ValueError, match="keeps nothing to recover by"):
        drive.power_cut()
    drive = fs.Drive(recovering(config, map="persistent"))
    drive.advance(1_000)
    with pytest.raises(ValueError, match="in the past"):
        drive.power_cut(999)
    with pytest.raises(ValueError, match="at_ns: -1 is not a whole number from 0"):
        drive.power_cut(-1)
