"""What the documentation says of fio, tried on fio: job files, and replays of its logs.

fio runs each job on a sparse file, which stands for the device, and logs every request. The import
makes an experiment of the same job, and its requests must be those of fio: as many of each kind,
with the same sizes, in the same part of the device. Debian has fio as the package ``fio``.
"""

from __future__ import annotations

import collections
import json
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

import flashscape as fs

FIO = shutil.which("fio")
pytestmark = pytest.mark.skipif(FIO is None, reason="fio is not installed (apt-get install fio)")

MIB = 2**20
DEVICE = 16 * MIB
DRIVE = {
    "drive.geometry.channels": "1",
    "drive.geometry.dies_per_package": "1",
    "drive.geometry.blocks_per_plane": "64",
    "drive.geometry.pages_per_block": "24",
    "drive.ftl.over_provisioning.exported": f"{DEVICE} B",
}


class Asked(NamedTuple):
    """Requests of one kind."""

    count: int
    bytes: int
    begin: int
    end: int
    places: int
    """Different offsets."""
    sizes: dict[int, int]


Requests = dict[str, Asked]


def asked(rows: list[tuple[str, int, int]]) -> Requests:
    """Return the figures of each kind, of kinds, offsets and lengths."""
    kinds = collections.defaultdict(list)
    for kind, offset, length in rows:
        kinds["flush" if kind in ("sync", "datasync") else kind].append((offset, length))
    return {
        kind: Asked(
            len(mine),
            sum(length for _, length in mine),
            min(offset for offset, _ in mine),
            max(offset + length for offset, length in mine),
            len({offset for offset, _ in mine}),
            dict(collections.Counter(length for _, length in mine)),
        )
        for kind, mine in sorted(kinds.items())
    }


def run_fio(folder: Path, *arguments: str | Path) -> str:
    command = [str(FIO), *map(str, arguments)]
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def by_fio(folder: Path, job: str) -> Requests:
    """Return the requests of a job that fio logs."""
    device = folder / "device"
    with device.open("wb") as file:
        file.truncate(DEVICE)
    text = f"[global]\nwrite_iolog=asked.log\n{job.replace('DEVICE', str(device))}"
    (folder / "fio.job").write_text(text)
    run_fio(folder, "fio.job")
    # Version 3 has a stamp in front, version 2 of older fio has none.
    head, *lines = (folder / "asked.log").read_text().splitlines()
    at = 1 if "version 3" in head else 0
    rows = [line.split() for line in lines]
    requests = [row for row in rows if len(row) == at + 4 and row[at + 1] != "wait"]
    return asked([(row[at + 1], int(row[at + 2]), int(row[at + 3])) for row in requests])


def imported(folder: Path, job: str) -> fs.Imported:
    file = folder / "here.job"
    file.write_text(job.replace("DEVICE", "/dev/nvme0n1"))
    return fs.import_fio(file, "dc-tlc", DRIVE, fill="empty")


def here(folder: Path, job: str) -> Requests:
    """Return the requests of the same job, imported and run."""
    requests = folder / "requests.parquet"
    fs.run(imported(folder, job).experiment, requests=requests)
    frame = pl.read_parquet(requests).select("kind", "offset_bytes", "length_bytes")
    return asked(frame.rows())


def one(*lines: str) -> str:
    return "\n".join(("[job]", "filename=DEVICE", "ioengine=psync", *lines, ""))


# ---- jobs whose requests are the same to the last one ------------------------------------

SAME = [
    # A strided job ends with its region; with io_size it begins again.
    ("rw=write:4k", "bs=4k", "size=1m"),
    ("rw=read:4k", "bs=4k", "size=1m"),
    ("rw=write:12k", "bs=4k", "size=1m", "offset=2m"),
    ("rw=write:4k", "bs=4k", "size=1m", "loops=2"),
    ("rw=write:4k", "bs=4k", "size=1m", "io_size=2m"),
    ("rw=write:4k", "bs=4k", "size=1m", "io_size=700k"),
    ("rw=write:4k", "bs=4k", "size=1m", "number_ios=50"),
    ("rw=write:4k", "bs=64k"),
    ("rw=write:20k", "bs=64k", "size=1m"),
    ("rw=write:12k", "bs=4k", "size=1000k"),
    ("rw=write:64k", "bs=64k", "size=64k"),
    # The last request of a sequential job may end behind its size.
    ("rw=read", "bs=64k", "size=1000k"),
    ("rw=read", "bs=4k", "size=9120"),
    ("rw=read", "bs=64k", "size=1m", "io_size=1000k", "loops=2"),
    ("rw=read", "bs=64k", "size=1m", "number_ios=100"),
    ("rw=read", "bs=64k", "size=1m", "number_ios=100", "io_size=8m"),
    # Offsets and sizes in per cent.
    ("rw=read", "bs=64k", "offset=0%", "size=1m"),
    ("rw=read", "bs=64k", "offset=0%", "size=0%"),
    ("rw=read", "bs=64k", "offset=50%"),
    ("rw=read", "bs=64k", "offset=50%", "size=100%"),
    ("rw=read", "bs=64k", "offset=25%", "size=50%", "io_size=25%"),
    ("rw=read", "bs=64k", "offset=1m", "size=5%"),
    ("rw=read", "bs=64k", "offset=3%", "size=1m", "offset_align=512k"),
    ("rw=read", "bs=64k,4k", "offset=3%", "size=5%"),
    ("rw=read", "bs=64k", "numjobs=3", "offset_increment=2m", "size=1m"),
    ("rw=read", "bs=64k", "numjobs=3", "offset_increment=10%", "size=10%"),
    ("rw=read", "bs=64k", "numjobs=3", "offset_increment=7%", "offset=5%", "size=5%"),
    ("rw=read", "bs=64k", "numjobs=3", "offset_increment=0%", "size=1m"),
    # Each place of a random job once; only whole requests that end inside.
    ("rw=randread", "bs=64k", "size=1000k"),
    ("rw=randread", "bs=4k", "size=9120"),
    ("rw=randwrite", "bs=64k"),
    ("rw=randread", "bs=4k", "size=1m", "random_generator=lfsr"),
    ("rw=randread", "bs=16k", "size=1m", "ba=16k"),
    ("rw=randread", "bs=64k", "size=1m", "number_ios=100"),
    # A flush follows each nth write, and not the last.
    ("rw=write", "bs=4k", "size=256k", "fdatasync=8"),
    ("rw=write", "bs=4k", "size=256k", "fsync=1"),
    ("rw=write", "bs=4k", "size=256k", "fsync=8", "fdatasync=4"),
    ("rw=write", "bs=4k", "size=1m", "number_ios=40", "fdatasync=8"),
    # Sizes of the kind that the job has.
    ("rw=randread", "bs=8k,32k", "size=1m"),
    ("rw=write", "bs=8k,32k", "size=1m"),
    ("rw=write", "bs=8k,", "size=1m"),
    ("rw=write", "bs=,8k", "size=1m"),
]


@pytest.mark.parametrize("lines", SAME, ids=" ".join)
def test_the_requests_are_those_of_fio(tmp_path, lines):
    theirs, ours = by_fio(tmp_path, one(*lines)), here(tmp_path, one(*lines))
    for kind in theirs.keys() | ours.keys():
        if kind == "flush":
            # A flush has no place here.
            assert theirs[kind].count == ours[kind].count
        else:
            assert theirs[kind] == ours[kind]


FILES = [
    "[job]\nbs=64k\nsize=1000k\n",
    "[job]\nbs=64k\nrw=write\nsize=1000k\n",
    "[job]\nbs=64k\nfilesize=1m\nsize=4m\n",
    "[job]\nbs=64k\nfilesize=1m\nsize=4m\nrw=randwrite\n",
    "[job]\nbs=64k\nfilename=x\nfilesize=2m\nsize=50%\n",
    "[job]\nbs=64k\nfilename=x\nfilesize=4m\noffset=1m\nsize=50%\n",
    "[job]\nbs=64k\nfilename=x\nfilesize=4m\noffset=1m\nsize=2m\n",
]


@pytest.mark.parametrize("job", FILES)
def test_files_are_asked_for_as_much(tmp_path, job):
    theirs, ours = by_fio(tmp_path, f"ioengine=psync\n{job}"), here(tmp_path, job)
    assert theirs == ours


# ---- jobs that draw numbers --------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        ("rw=randrw", "bs=4k,64k", "size=8m", "norandommap"),
        ("rw=randrw", "bs=,8k", "size=8m", "norandommap"),
        ("rw=randrw", "bs=8k,", "size=8m", "norandommap"),
        ("rw=randrw", "bs=4k,64k", "size=8m", "rwmixread=90", "norandommap"),
        ("rw=randrw", "bs=4k,64k", "ba=4k,4k", "size=8m"),
        ("rw=randrw", "bssplit=4k/50:8k/50,64k/100", "size=8m", "norandommap"),
        ("rw=randrw", "bsrange=4k-8k,32k-64k", "size=8m", "norandommap"),
        ("rw=randrw", "bs=4k", "bssplit=,8k/50:16k/50", "size=8m", "norandommap"),
        ("rw=rw", "bs=4k,64k", "size=8m"),
        ("rw=rw", "bs=4k", "size=4m"),
        ("rw=randrw", "bs=4k", "size=4m", "rwmixread=60"),
    ],
    ids=" ".join,
)
def test_mixed_jobs_have_the_sizes_and_places_of_each_kind(tmp_path, lines):
    theirs, ours = by_fio(tmp_path, one(*lines)), here(tmp_path, one(*lines))
    assert theirs.keys() == ours.keys()
    total = sum(mine.count for mine in theirs.values())
    for kind, mine in theirs.items():
        found = ours[kind]
        assert found.sizes.keys() == mine.sizes.keys()
        # A job ends by its bytes, so the number of requests of the smaller kind is that of the
        # draws before a given number of the other: with n of these, its variance is n p / q^2.
        # Four standard deviations of the difference of two such counts.
        share = mine.count / total
        variance = total * share / (1 - share)
        assert abs(found.count - mine.count) < 4 * (2 * variance) ** 0.5
        if lines[0] == "rw=rw":
            # Each kind goes through the region from its beginning.
            assert (mine.begin, found.begin) == (0, 0)
            assert (mine.places, found.places) == (mine.count, found.count)


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        # rate counts data alone: 1 MiB/s of 4 KiB, whatever flushes come between.
        (("rw=write", "bs=4k", "rate=1m", "fdatasync=8"), {"write": 256, "flush": 31}),
        (("rw=write", "bs=4k", "rate_iops=250", "fsync=2"), {"write": 250, "flush": 124}),
        (("rw=randrw", "bs=4k,64k", "rate_iops=300,100"), {"read": 300, "write": 100}),
        (("rw=randrw", "bs=4k,64k", "rate=1m,2m"), {"read": 256, "write": 32}),
        (("rw=write", "bs=4k", "rate=,1m"), {"write": 256}),
        (("rw=read:4k", "bs=4k", "size=1m", "rate_iops=600"), {"read": 600}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_rates_are_those_of_fio(tmp_path, lines, kinds):
    job = one(*lines, *(() if any("size=" in line for line in lines) else ("size=8m",)))
    job += "runtime=1\ntime_based\n"
    theirs, ours = by_fio(tmp_path, job), here(tmp_path, job)
    for kind, expected in kinds.items():
        # fio may lack some at the end of a second on a busy machine, and kinds are drawn here.
        assert theirs[kind].count == pytest.approx(expected, rel=0.1, abs=2)
        slack = 2 if len(kinds) == 1 or "flush" in kinds else 4 * expected**0.5
        assert ours[kind].count == pytest.approx(expected, abs=slack)


# ---- sections, includes, and what fio refuses --------------------------------------------


def names_by_fio(folder: Path, text: str) -> list[str]:
    (folder / "names.job").write_text(text)
    out = run_fio(folder, "names.job", "--output-format=json")
    return [job["jobname"] for job in json.loads(out[out.index("{") :])["jobs"]]


@pytest.mark.parametrize("unit", ["sec", "min", "us"])
def test_fio_takes_other_units_of_time_for_microseconds(tmp_path, unit):
    job = ("--name=job", "--ioengine=null", "--size=1g", "--time_based", "--rate_iops=1000")
    ended = run_fio(tmp_path, *job, f"--runtime=300000{unit}", "--output-format=json")
    (only,) = json.loads(ended)["jobs"]
    assert only["job_runtime"] == pytest.approx(300, abs=100)


def test_a_name_in_global_renames_no_job(tmp_path):
    text = (
        "[global]\nname=shared\nioengine=null\nsize=64k\n[a]\n[b]\nname=own\n[global]\nname=late\n"
        "[c]\n"
    )
    assert names_by_fio(tmp_path, text) == ["a", "own", "c"]
    file = tmp_path / "names.job"
    experiment = fs.import_fio(file, "dc-tlc", DRIVE, fill="empty").experiment
    assert [each["name"] for each in experiment.config["workload"]] == ["a", "own", "c"]


def test_an_include_is_found_beside_the_file_that_includes_it(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "first.inc").write_text("bs=8k\ninclude second.inc\n")
    (inner / "second.inc").write_text("size=64k\n")
    (tmp_path / "second.inc").write_text("size=32k\n")
    text = "[job]\nioengine=null\ninclude inner/first.inc\n"
    (tmp_path / "include.job").write_text(text)
    # A name is first looked for in the working directory.
    for folder, size in ((tmp_path, 32), (inner, 64)):
        out = run_fio(folder, tmp_path / "include.job", "--output-format=json")
        (job,) = json.loads(out[out.index("{") :])["jobs"]
        assert job["read"]["io_kbytes"] == size


@pytest.mark.parametrize(
    "text",
    [
        "[job]\nbs=4k\n",
        "[job]\nsize=1m\nrate=1m\nrate_iops=10\n",
        "[job]\nsize=1m\nio_size=200%\n",
        "[job]\nsize=1m\nwait_for=job\n",
        "[job]\nsize=1m\n[b]\nname=c\nsize=1m\n[d]\nwait_for=b\nsize=1m\n",
    ],
)
def test_fio_refuses_these_jobs_and_so_does_the_import(tmp_path, text):
    (tmp_path / "refused.job").write_text(text.replace("]\n", "]\nioengine=psync\n", 1))
    command = [str(FIO), "refused.job"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode
    with pytest.raises(fs.ConfigError):
        imported(tmp_path, text)


# ---- replays of logs ---------------------------------------------------------------------

GAPS_MS = (0, 800, 1200)
"""Times of three requests, from the first."""
SLACK_MS = 200
"""For a busy machine; half of the shortest gap."""


def replayed(folder: Path, log: Path) -> list[int]:
    """Return the times in ms, from the first, at which fio asks for the requests of a log."""
    for name in ("x", "device0", "device1"):
        with (folder / name).open("wb") as file:
            file.truncate(MIB)
    run_fio(folder, "--name=r", f"--read_iolog={log}", "--ioengine=psync", "--write_lat_log=r")
    (times,) = folder.glob("r_lat*.log")
    stamps = [int(line.split(",")[0]) for line in times.read_text().splitlines()]
    return [stamp - stamps[0] for stamp in stamps]


def log_of(folder: Path, first_us: int) -> Path:
    lines = [f"{first_us} x add", f"{first_us} x open"]
    lines += [f"{first_us + ms * 1000} x read {4096 * (ms // 400)} 4096" for ms in GAPS_MS]
    log = folder / "by-hand.log"
    log.write_text("\n".join(("fio version 3 iolog", *lines, "")))
    return log


def needs_version_3(folder: Path) -> None:
    run_fio(folder, "--name=v", "--ioengine=null", "--size=4k", "--write_iolog=v.log")
    if "version 3" not in (folder / "v.log").read_text():
        pytest.skip("this fio has no iolog of version 3")


@pytest.mark.parametrize(
    ("first_us", "expected"), [(0, (0, 0, 400)), (1, GAPS_MS), (3_000_000, GAPS_MS)]
)
def test_fio_does_not_wait_for_a_first_stamp_and_drops_the_gap_behind_0(
    tmp_path, first_us, expected
):
    needs_version_3(tmp_path)
    found = replayed(tmp_path, log_of(tmp_path, first_us))
    assert found == pytest.approx(expected, abs=SLACK_MS)


@pytest.mark.parametrize("rebase", [False, True])
@pytest.mark.parametrize("first_ms", [0, 7_000])
def test_a_converted_log_keeps_every_gap_in_fio(tmp_path, first_ms, rebase):
    needs_version_3(tmp_path)
    rows = [f"{first_ms + ms}.5 {n % 2} {8 * n} 8 1" for n, ms in enumerate(GAPS_MS)]
    if not first_ms:
        rows = [f"{ms} {n % 2} {8 * n} 8 1" for n, ms in enumerate(GAPS_MS)]
    source = tmp_path / "source"
    source.write_text("\n".join((*rows, "")))
    log = tmp_path / "out.log"
    done = fs.trace.convert(source, log, "fio-v3", format="disksim", rebase=rebase)
    is_moved = any("1 us later" in note for note in done["notes"])
    assert is_moved == (rebase or not first_ms)
    assert replayed(tmp_path, log) == pytest.approx(GAPS_MS, abs=SLACK_MS)


def test_fio_takes_waits_of_version_2_as_moments_in_ms(tmp_path):
    log = tmp_path / "v2.log"
    log.write_text(
        "fio version 2 iolog\nx add\nx open\nx wait 1000 0\nx read 0 4096\nx wait 1800 0\n"
        "x read 4096 4096\nx wait 2200 0\nx read 8192 4096\nx close\n"
    )
    assert replayed(tmp_path, log) == pytest.approx(GAPS_MS, abs=SLACK_MS)
