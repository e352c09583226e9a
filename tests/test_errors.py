"""Bit errors from the command line and from Python."""

from __future__ import annotations

import pytest

import flashscape as fs
from places import ROOT

READS = {"name": "reads", "reads": "100 %", "size": "4 KiB", "queue_depth": 1}
TLC = {
    "chip": "tlc-72-layer",
    "codeword": "512 B",
    "corrects": 75,
    "re_read_scale": 2.0,
    "initial_cycles": 5000,
}


def run(**ftl):
    """Read from a drive of TLC at the end of its life."""
    drive = {
        "preset": "fast19",
        "geometry": {"blocks_per_plane": 66},
        "nand": {"errors": TLC},
        "ftl": {"over_provisioning": {"exported": "12.5 GiB"}} | ftl,
    }
    fill = {"fill": "sequential"}
    return fs.run(
        {"drive": drive, "precondition": fill, "workload": [READS], "run": {"requests": 2000}}
    )


@pytest.fixture(scope="module")
def worn():
    """Results with as many re-reads as it takes."""
    return run()


def test_reports_tell_what_bit_errors_cost(worn):
    shown = str(fs.tables(worn))
    assert "Bit errors" in shown
    for words in ("reads that could not be decoded at first", "re-reads", "UBER of hosts"):
        assert words in shown


def test_the_distribution_of_errors_has_the_mean_of_the_model(worn):
    # 67.2 expected errors of a codeword after 5,000 cycles [FAST19], and a little read disturb.
    mean = worn.summary["errors"]["first_decodes"]["mean_errors"]
    assert 67.2 < mean < 67.5
    table = worn.errors
    counts = table["host_first_decodes"]
    weighed = (table["errors"] * counts).sum() / counts.sum()
    assert weighed == pytest.approx(mean, rel=1e-3)
    # Of eight codewords one has more than 75 errors in 73.7 % of reads: four deviations.
    reads = worn.summary["initiators"][0]["read"]["requests"]
    undecoded = worn.summary["errors"]["undecoded_reads"]["host_read"]
    assert abs(undecoded / reads - 0.737) < 4 * (0.737 * 0.263 / reads) ** 0.5


def test_a_read_that_fails_is_an_error_of_its_request(worn):
    failing = run(read_recovery={"policy": "none"})
    of_reads = failing.summary["initiators"][0]["read"]
    assert of_reads["failed"] == failing.summary["errors"]["uber"]["units"] > 1000
    assert failing.digest != worn.digest


LADDER = {"policy": "ladder", "re_reads": 1}


def test_workloads_choose_read_recovery_levels():
    fast, usual = READS | {"name": "fast", "read_recovery_level": 15}, READS
    drive = {
        "preset": "fast19",
        "geometry": {"blocks_per_plane": 66},
        "nand": {"errors": TLC},
        "ftl": {
            "over_provisioning": {"exported": "12.5 GiB"},
            "read_recovery_levels": {"15": "none"},
        },
    }
    plan = {"drive": drive, "precondition": {"fill": "sequential"}, "workload": [fast, usual]}
    result = fs.run(plan | {"run": {"requests": 2000}})
    of_fast, of_usual = (of["read"] for of in result.summary["initiators"])
    # One in four reads is decoded at first, and all after a re-read.
    assert of_fast["failed"] > of_fast["requests"] / 2
    assert of_usual["failed"] == 0


def test_reports_tell_which_faults_were_met():
    faults = {"page_per_program": "1 %", "dies": [{"die": 3, "at": "1 ms"}]}
    drive = {
        "preset": "fast19",
        "geometry": {"blocks_per_plane": 66},
        "nand": {"errors": TLC | {"corrects": 400}, "faults": faults},
        "ftl": {"over_provisioning": {"exported": "12.5 GiB"}, "read_recovery": LADDER},
    }
    plan = {"drive": drive, "precondition": {"fill": "sequential"}, "workload": [READS]}
    result = fs.run(plan | {"run": {"requests": 2000}})
    met = result.summary["errors"]["faulty_reads"]
    lost = sum(count for sources in met.values() for count in sources.values())
    assert lost == result.summary["errors"]["uber"]["units"]
    shown = str(fs.tables(result))
    assert "reads that met a fault of a page" in shown
    assert "reads that met a fault of a die" in shown
    assert "a word line" not in shown
    assert "expected of bit errors" in shown


def test_a_stepwise_drive_takes_levels():
    drive = {
        "preset": "fast19",
        "geometry": {"blocks_per_plane": 66},
        "nand": {"errors": TLC | {"counting": "expected", "corrects": 60}},
        "ftl": {
            "over_provisioning": {"exported": "12.5 GiB"},
            "read_recovery_levels": {"15": "none"},
        },
    }
    drive = fs.Drive(drive, precondition={"fill": "sequential"})

    def latency(**level):
        drive.submit("read", 0, 4096, **level)
        [done] = drive.advance(drive.now_ns + 10_000_000)
        return done.latency_ns

    # 67 errors take one re-read.
    assert latency() == latency(read_recovery_level=4) == 2 * latency(read_recovery_level=15)
    for level, kind, words in (
        (3, "read", "no read recovery level 3"),
        (16, "read", "the last one is 15"),
        (15, "write", "only reads are recovered"),
    ):
        with pytest.raises(ValueError, match=words):
            drive.submit(kind, 0, 4096, read_recovery_level=level)


def example(name, **changes):
    """Run an example with other values of its firmware."""
    experiment = fs.Experiment.from_file(ROOT / "examples" / f"{name}.toml")
    overrides = {f"drive.ftl.{key}": value for key, value in changes.items()}
    return fs.run(experiment.replace(overrides), progress=False)


def lost(result):
    return result.summary["errors"]["uber"]["units"]


def test_the_example_of_superblocks_loses_nothing_with_a_die():
    with_parity, without = example("superblocks"), example("superblocks", superblock="none")
    assert lost(with_parity) == 0
    assert with_parity.summary["errors"]["poisoned_units"] == 0
    # Four seconds of 7,000 reads, of which a sixteenth meets the die, less what was written since.
    for result in (with_parity, without):
        assert 4 * 7000 / 16 * 0.9 < result.summary["errors"]["faulty_reads"]["die"]["host_read"]
    assert lost(without) > 1500


def test_the_example_of_faults_loses_little_with_parity_and_all_without():
    with_parity, without = example("faults"), example("faults", parity="none")
    faulty = without.summary["errors"]["faulty_reads"]
    assert all(faulty[kind]["host_read"] > 5 for kind in ("page", "word_line", "die"))
    assert lost(without) == sum(of["host_read"] for of in faulty.values())
    # The die is lost for a stripe only if another one of its three members is faulty, too: of about
    # one page in 600, and those of the stripes that GC could not keep.
    assert lost(with_parity) < lost(without) / 20


@pytest.fixture(scope="module")
def managed():
    """Results of HRM."""
    return example("hrm")


def in_superblocks_without_parity(**changes):
    """Run the example of HRM with neither parity nor early rebuilds, and with further changes."""
    without_parity = {"superblock": "none", "superblock.dies": 8}
    return example("hrm", **without_parity, read_recovery={"policy": "ladder"}, **changes)


def test_all_parts_of_the_example_of_hrm_work_in_the_counted_time(managed):
    written = managed.summary["write_amplification"]
    assert written["gc"] > 0
    assert written["scrub"] > 0
    # Seven pages that GC moves have one of parity, but for stripes at the ends of the counted time.
    assert written["parity_of"]["gc"] == pytest.approx(written["gc"] / 7, rel=0.01)
    assert written["parity_of"]["host"] == written["parity_of"]["scrub"] == 0
    rebuilds = managed.summary["errors"]["rebuilds"]
    assert all(rebuilds[reader] > 100 for reader in ("host_read", "gc_read", "scrub"))
    assert managed.summary["errors"]["rebuild_failures"] == {}


def test_the_example_of_hrm_gives_protected_data_up_early(managed):
    # Four re-reads decode codewords with about 75 * 2 ** 4 errors, which no block has here.
    later = example("hrm", **{"read_recovery.protected": 4})
    assert later.digest != managed.digest
    assert later.summary["errors"]["rebuilds"] == {}
    assert 0.97 < later.read.mean / managed.read.mean < 1.0


def test_the_example_of_hrm_has_shorter_reads_than_re_reads_alone(managed):
    alone = in_superblocks_without_parity(scrub="none")
    assert managed.read.mean / alone.read.mean == pytest.approx(0.88, abs=0.015)
    amplification = [of.summary["write_amplification"]["total"] for of in (managed, alone)]
    assert amplification[0] / amplification[1] == pytest.approx(1.26, abs=0.02)
    scrubbed = in_superblocks_without_parity()
    assert scrubbed.read.mean / alone.read.mean == pytest.approx(0.88, abs=0.015)
    with_parity = example("hrm", scrub="none", read_recovery={"policy": "ladder"})
    assert with_parity.read.mean / alone.read.mean == pytest.approx(0.9, abs=0.015)
    assert lost(managed) == 0
