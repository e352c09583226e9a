"""Bit errors from the command line and from Python."""

from __future__ import annotations

import pytest

import flashscape as fs

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
    weighed = (table["errors"] * table["first_decodes"]).sum() / table["first_decodes"].sum()
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
