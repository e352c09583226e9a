"""``python -m flashscape.bench``: short runs, which test the output and not the speed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flashscape.bench.figures import FIGURES, GROUPS, Bounds
from flashscape.bench.peer import QUICK_REQUESTS, WORKS
from flashscape.bench.values import of_runs
from places import ROOT

FLOOR = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "floor"
PROMISED = {
    "read_ns_per_io",
    "gc_ns_per_flash_op",
    "fill_pages_per_s",
    "age_pages_per_s",
    "bytes_per_unit",
    "bytes_per_page",
    "large_drive_ratio",
    "floor_ftl_ns",
    "floor_events_ns",
}


def bench(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flashscape.bench", *options]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


EXPERIMENTS = f"--experiments={ROOT / 'experiments'}"


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("bench")
    ended = bench(folder, "--quick", EXPERIMENTS, f"--floor={FLOOR}")
    assert ended.returncode == 0, ended.stderr
    assert "random 4 KiB read, queue depth 16" in ended.stdout
    return json.loads((folder / "bench.json").read_text())


def test_every_figure_is_a_number_or_says_why_not(found):
    assert PROMISED <= {figure.key for figure in FIGURES}
    unmeasured = {"large_drive_ratio", *WORKS}
    if not FLOOR.exists():
        unmeasured |= {key for key in PROMISED | set(found["skipped"]) if key.startswith("floor_")}
    assert set(found["skipped"]) == unmeasured
    for figure in FIGURES:
        if figure.key in unmeasured:
            assert found[figure.key] is None
        else:
            assert found[figure.key] > 0 or figure.key == "bytes_per_page"
            assert all(len(digest) == 16 for digest in found["digests"][figure.key].split("/"))
            assert found["samples"][figure.key] > 0


def test_short_runs_are_marked_and_not_judged(found):
    assert found["quick"] is True
    assert found["verdicts"] == {}
    assert found["runs"]["bench-read"]["requests"] == 50_000
    assert {"cpu", "cores"} <= found["machine"].keys()


def test_figures_that_nobody_asked_for_are_left_out(tmp_path):
    ended = bench(tmp_path, "--quick", "--only=fill", EXPERIMENTS, "--out=some.json")
    found = json.loads((tmp_path / "some.json").read_text())
    assert [key for key in PROMISED if found[key] is not None] == ["fill_pages_per_s"]
    assert found["skipped"]["read_ns_per_io"] == "not asked for"
    assert ended.returncode == 0


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (
            ("--only=raed",),
            2,
            "no figures 'raed' (did you mean \"read\"? there are " + ", ".join(GROUPS),
        ),
        ((), 1, "bench-read.toml: there is no such file; call this in flashscape's repository"),
        ((EXPERIMENTS, "--only=fill", "--out=none/b.json"), 1, "none/b.json: cannot be written"),
    ],
)
def test_what_cannot_be_is_refused(options, status, message, tmp_path):
    ended = bench(tmp_path, "--quick", *options)
    assert (ended.returncode, ended.stdout) == (status, "")
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


MQSIM = """#!/bin/sh
# Says and writes what MQSim does: $1 is -i, $2 the drive, $3 is -w, $4 the workload.
echo "SSD Device preconditioning started ........."
echo "Finished preconditioning. Duration of preconditioning: 0:0:1"
i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done
echo "MQSim finished at Thu Jan  1 00:00:00 1970"
echo "Flow 0 - total requests generated: SERVED total requests serviced:SERVED"
cat > "${4%.xml}_scenario_1.xml" <<END
<FTL Issued_Flash_Read_CMD="60000" Issued_Flash_Multiplane_Read_CMD="10000"
 Issued_Flash_Program_CMD="0" Issued_Flash_Multiplane_Program_CMD="0"
 Issued_Flash_Erase_CMD="0" Issued_Flash_Multiplane_Erase_CMD="0"/>
END
"""


def mqsim(folder: Path, served: int) -> Path:
    """Make a program that imitates MQSim's output at once."""
    program = folder / "MQSim"
    program.write_text(MQSIM.replace("SERVED", str(served)))
    program.chmod(0o755)
    return program


@pytest.mark.skipif(sys.platform != "linux", reason="CPU time of another process")
def test_a_peer_is_measured_beside(tmp_path):
    program = mqsim(tmp_path, QUICK_REQUESTS)
    ended = bench(tmp_path, "--quick", "--only=peer", EXPERIMENTS, f"--peer={program}")
    assert ended.returncode == 0, ended.stderr
    assert "CPU time beside MQSim's" in ended.stdout
    found = json.loads((tmp_path / "bench.json").read_text())
    assert set(found["peer"]) == set(WORKS)
    for key, pair in found["peer"].items():
        assert found[key] > 0
        assert pair["requests"] == found["samples"][key] == QUICK_REQUESTS
        assert pair["peer_flash_operations_per_io"] == 4
        assert min(pair["peer_ns_per_io_of_each_run"]) == pair["peer_ns_per_io"]


@pytest.mark.skipif(sys.platform != "linux", reason="CPU time of another process")
def test_a_peer_that_loses_requests_is_not_compared_with(tmp_path):
    program = mqsim(tmp_path, QUICK_REQUESTS - 1)
    ended = bench(tmp_path, "--quick", "--only=peer", EXPERIMENTS, f"--peer={program}")
    assert ended.returncode == 0, ended.stderr
    assert "served 19,999 of 20,000 requests" in ended.stdout
    assert json.loads((tmp_path / "bench.json").read_text())["peer"] == {}


def test_without_a_peer_one_line_says_so(tmp_path):
    ended = bench(tmp_path, "--quick", "--only=peer", EXPERIMENTS)
    [line] = [line for line in ended.stdout.splitlines() if "`make peer` builds it" in line]
    assert "not measured: no MQSim is there" in line
    assert all(key in line for key in WORKS)


def build_peer(source: Path) -> str:
    """Try to build MQSim from these sources; nothing is changed until all patches apply."""
    command = [sys.executable, str(ROOT / "scripts" / "peer.py"), str(source)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    return ended.stderr


def test_mends_of_the_peer_that_find_no_place_are_told(tmp_path):
    source = tmp_path / "src" / "ssd"
    source.mkdir(parents=True)
    missing = source / "Address_Mapping_Unit_Page_Level.cpp"
    assert f"{missing} is not there; name a checkout of MQSim" in build_peer(tmp_path)
    missing.write_text("int main() {}\n")
    assert "expected 2 of" in (told := build_peer(tmp_path))
    assert "requests that waited for a page under GC" in told


def test_memory_is_split_between_units_and_pages():
    """Drives of 1000 fixed bytes, 9 for a unit and 2 for a page."""

    def run(units: int, pages: int) -> dict:
        resident = 1000 + 9 * units + 2 * pages
        return {"units": units, "pages": pages, "resident_bytes": resident, "digest": "d"}

    base, units, pages = run(10, 12), run(500, 120), run(480, 500)
    assert of_runs("bytes_per_unit", [units, pages, base]).value == pytest.approx(9)
    assert of_runs("bytes_per_page", [pages, units, base]).value == pytest.approx(2)


def test_bounds_know_what_is_better():
    assert [Bounds(350, 250).verdict(ns) for ns in (250, 251, 351)] == ["goal", "pass", "missed"]
    assert [Bounds(20, 30).verdict(speed) for speed in (30, 29, 19)] == ["goal", "pass", "missed"]
