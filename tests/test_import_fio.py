"""Import of fio's job files: values computed by hand from fio's manual, verdicts, faults."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

import flashscape as fs
from flashscape.fio_jobs import known
from flashscape.imported import Verdict
from places import ROOT, SMALL

ASYNC = "ioengine=libaio\ndirect=1\n"


def imported(tmp_path, text: str, drive: str = "atc19", **options: Any) -> fs.Imported:
    file = tmp_path / "job.fio"
    file.write_text(text, encoding="utf-8")
    return fs.import_fio(file, drive, **options)


def workloads(tmp_path, text: str, **options: Any) -> list[dict[str, Any]]:
    """Return the workloads as written; the import has checked them."""
    return tomllib.loads(imported(tmp_path, text, **options).toml)["workload"]


def workload(tmp_path, *lines: str, size: str = "1m", **options: Any) -> dict[str, Any]:
    text = "\n".join(("[job]", f"size={size}", *lines))
    (only,) = workloads(tmp_path, text, **options)
    return only


def verdicts(result: fs.Imported) -> dict[str, str]:
    return {key.name: str(key.verdict) for key in result.keys}


def refused(tmp_path, text: str, **options: Any) -> list[fs.Problem]:
    with pytest.raises(fs.ConfigError) as caught:
        imported(tmp_path, text, **options)
    return caught.value.problems


# ---- whole files -------------------------------------------------------------------------


def test_a_whole_file(tmp_path):
    result = imported(
        tmp_path,
        """
        ; a comment
        [global]
        ioengine=libaio
        direct=1
        runtime=10          ; seconds
        time_based
        size=64m
        group_reporting

        [fill]
        readwrite=write
        blocksize=128k
        iodepth=4

        [load]
        stonewall
        rw=randrw
        rwmixread=70
        iodepth=16
        numjobs=2
        """,
    )
    found = tomllib.loads(result.toml)
    assert found["title"] == "job.fio on atc19"
    assert found["drive"] == {"preset": "atc19"}
    assert found["precondition"] == {"fill": "sequential"}
    mixed = {
        "reads": "70 %",
        "size": "4 KiB",
        "addresses": "shuffled",
        "queue_depth": 16,
        "start": "10 s",
        "stop": {"time": "10 s"},
    }
    assert found["workload"] == [
        {
            "name": "fill",
            "region": {"offset": "0 B", "size": "64 MiB"},
            "reads": "0 %",
            "size": "128 KiB",
            "addresses": {"pattern": "sequential"},
            "queue_depth": 4,
            "stop": {"time": "10 s"},
        },
        {"name": "load-0", "region": {"offset": "64 MiB", "size": "64 MiB"}, **mixed},
        {"name": "load-1", "region": {"offset": "128 MiB", "size": "64 MiB"}, **mixed},
    ]
    said = {(key.section, key.name): (key.line, str(key.verdict)) for key in result.keys}
    assert said["global", "ioengine"] == (4, "mapped")
    assert said["global", "group_reporting"] == (9, "inert")
    assert said["load", "stonewall"] == (17, "mapped")
    assert said["load", "norandommap"] == (None, "mapped")
    assert all(key.why for key in result.keys if key.verdict != "mapped")


def test_the_workload_of_jesd219_as_fio_ships_it(tmp_path):
    job = (
        "[JESD219]\nioengine=libaio\ndirect=1\nrw=randrw\nnorandommap\nrandrepeat=0\n"
        "rwmixread=40\nrwmixwrite=60\niodepth=256\nnumjobs=4\n"
        "bssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3\n"
        "blockalign=4k\nrandom_distribution=zoned:50/5:30/15:20/80\nfilename=/dev/nvme0n1\n"
        "group_reporting\n"
    )
    found = workloads(tmp_path, job)
    assert [each["name"] for each in found] == [f"JESD219-{clone}" for clone in range(4)]
    sizes = {each["size"]: each["share"] for each in found[0]["size"]}
    small = ("1 KiB", "1536 B", "2 KiB", "2560 B", "3 KiB", "3584 B")
    assert sizes == {
        "512 B": "4 %",
        "4 KiB": "67 %",
        "8 KiB": "10 %",
        "16 KiB": "7 %",
        "32 KiB": "3 %",
        "64 KiB": "3 %",
        **dict.fromkeys(small, "1 %"),
    }
    assert found[0]["addresses"] == "jesd219"
    assert found[0]["align"] == "4 KiB"
    assert found[0]["reads"] == "40 %"
    assert "region" not in found[0]


def test_the_example_becomes_what_its_twin_says(flashscape, tmp_path):
    ended = flashscape("import-fio", ROOT / "examples/mixed.fio", "--drive=atc19", "--out=a.toml")
    assert ended.status == 0, ended.err
    assert "written, no problems; run it with: flashscape run a.toml" in ended.out
    made = tomllib.loads((tmp_path / "a.toml").read_text())
    twin = tomllib.loads((ROOT / "examples/mixed.toml").read_text())
    (mine,), (other,) = made["workload"], twin["workload"]
    assert mine.pop("stop") == {"time": "65 s"}
    # fio must have a depth; this one is never reached.
    assert mine.pop("queue_depth") == 256
    assert mine == other
    assert made["run"] == {"warm_up": twin["run"]["warm_up"]}


def test_what_is_written_is_checked_and_runs(flashscape, tmp_path):
    job = "[a]\nioengine=libaio\ndirect=1\nrw=randrw\nsize=4m\niodepth=8\nnumber_ios=500\n"
    (tmp_path / "job.fio").write_text(job)
    ended = flashscape("import-fio", "job.fio", "--drive=dc-tlc", *SMALL, "--out=made.toml")
    assert ended.status == 0, ended.err
    assert flashscape("check", "made.toml").status == 0
    assert flashscape("run", "made.toml", "--out=results", "--quiet").status == 0
    result = fs.Result.load(tmp_path / "results")
    assert result.all.requests == 500
    again = flashscape("import-fio", "job.fio", "--drive=dc-tlc", "--out=made.toml")
    assert again.status == 1
    assert "made.toml: is there already" in again.err


def test_without_a_file_the_experiment_goes_to_standard_output(flashscape, tmp_path):
    (tmp_path / "job.fio").write_text("[a]\nsize=1m\n")
    ended = flashscape("import-fio", "job.fio", "--drive=atc19")
    assert ended.status == 0
    assert tomllib.loads(ended.out)["workload"][0]["name"] == "a"
    assert "line 2    mapped       size = 1m" in ended.err


# ---- defaults ----------------------------------------------------------------------------


def test_fios_defaults(tmp_path):
    result = imported(tmp_path, "[job]\nsize=1m\n")
    (found,) = tomllib.loads(result.toml)["workload"]
    assert found == {
        "name": "job",
        "region": {"offset": "0 B", "size": "1 MiB"},
        "reads": "100 %",
        "size": "4 KiB",
        "addresses": {"pattern": "sequential"},
        "queue_depth": 1,
        "stop": {"bytes": "1 MiB"},
    }
    missing = {key.name: key.value for key in result.keys if key.line is None}
    assert missing == {
        "rw": "read",
        "bs": "4k",
        "ioengine": "psync",
        "direct": "0",
        "filename": "own",
    }
    assert verdicts(result)["direct"] == Verdict.IGNORED


def test_an_engine_that_waits_has_one_request_under_way(tmp_path):
    result = imported(tmp_path, "[job]\nsize=1m\niodepth=32\n")
    assert tomllib.loads(result.toml)["workload"][0]["queue_depth"] == 1
    assert verdicts(result)["iodepth"] == Verdict.INERT
    assert workload(tmp_path, "ioengine=io_uring", "iodepth=32")["queue_depth"] == 32
    buffered = imported(tmp_path, "[job]\nsize=1m\nioengine=libaio\niodepth=32\n")
    assert verdicts(buffered)["iodepth"] == Verdict.APPROXIMATED


@pytest.mark.parametrize(
    ("size", "base", "expected"),
    [
        ("8192", "1024", "8 KiB"),
        ("0x2000", "1024", "8 KiB"),
        ("8k", "1024", "8 KiB"),
        ("8KB", "1024", "8 KiB"),
        ("1m", "1024", "1 MiB"),
        ("64kib", "1024", "62.5 KiB"),
        ("64k", "1000", "62.5 KiB"),
        ("8KiB", "1000", "8 KiB"),
    ],
)
def test_sizes_have_fios_units(tmp_path, size, base, expected):
    lines = (f"bs={size}", "size=2048000", f"kb_base={base}", "filename=/dev/sda")
    found = workload(tmp_path, *lines)["size"]
    assert fs.units.size_of(found) == fs.units.size_of(expected)


@pytest.mark.parametrize(
    ("runtime", "expected"),
    [("90", "90 s"), ("2m", "120 s"), ("1h", "3600 s"), ("500ms", "500 ms"), ("1d", "86400 s")],
)
def test_times_have_fios_units(tmp_path, runtime, expected):
    assert workload(tmp_path, f"runtime={runtime}", "time_based=1")["stop"] == {"time": expected}


# ---- kinds and sizes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rw", "expected"),
    [
        ("read", {"reads": "100 %"}),
        ("randwrite", {"reads": "0 %"}),
        ("randtrim", {"mix": {"trim": "100 %"}}),
        ("rw", {"reads": "50 %"}),
        ("readwrite", {"reads": "50 %"}),
        ("randrw\nrwmixread=80", {"reads": "80 %"}),
        ("randrw\nrwmixwrite=80", {"reads": "20 %"}),
        # The later option counts.
        ("randrw\nrwmixread=80\nrwmixwrite=40", {"reads": "60 %"}),
        ("randrw\nrwmixwrite=40\nrwmixread=80", {"reads": "80 %"}),
        ("randwrite\nfsync=4", {"reads": "0 %", "flush_every": 4}),
        ("randrw\nrwmixread=60\nfdatasync=4", {"reads": "60 %", "flush_every": 4}),
        # One flush where both are due: the rarer ones come with the others.
        ("write\nfsync=8\nfdatasync=4", {"reads": "0 %", "flush_every": 4}),
        ("read\nfsync=8", {"reads": "100 %"}),
        # Of 24 writes 6 + 4 are followed by flushes, 2 of them by one for both: 8. Of 100 reads
        # and writes 40 are writes with 40 / 3 flushes: of 340 / 3 requests.
        (
            "randrw\nrwmixread=60\nfsync=4\nfdatasync=6",
            {
                "mix": {
                    "read": "52.941176471 %",
                    "write": "35.294117647 %",
                    "flush": "11.764705882 %",
                }
            },
        ),
    ],
)
def test_kinds(tmp_path, rw, expected):
    found = workload(tmp_path, f"rw={rw}")
    shown = ("reads", "mix", "flush_every")
    assert {key: found[key] for key in shown if key in found} == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("rw=randread\nbs=8k,32k", "8 KiB"),
        ("rw=randwrite\nbs=8k,32k", "32 KiB"),
        ("rw=randtrim\nbs=8k,32k", "32 KiB"),
        ("rw=randtrim\nbs=8k,32k,", "4 KiB"),
        ("rw=randread\nbs=,8k", "4 KiB"),
        (
            "rw=randread\nbssplit=4k/50:1k/:32k/",
            [("4 KiB", "50 %"), ("1 KiB", "25 %"), ("32 KiB", "25 %")],
        ),
        (
            "rw=randwrite\nbssplit=2k/50:4k/50,4k/90:8k/10",
            [("4 KiB", "90 %"), ("8 KiB", "10 %")],
        ),
        ("rw=randread\nbsrange=4k-4k", "4 KiB"),
        (
            "rw=randread\nbsrange=1k:4k",
            [(f"{size} KiB", "25 %") for size in (1, 2, 3, 4)],
        ),
        # From 4 KiB on over 10 KiB: up to 8 and up to 12 KiB 40 % each, the rest is capped at 10.
        (
            "rw=randread\nbsrange=4k-10k",
            [("4 KiB", "40 %"), ("8 KiB", "40 %"), ("10 KiB", "20 %")],
        ),
    ],
)
def test_sizes(tmp_path, options, expected):
    found = workload(tmp_path, options)["size"]
    if isinstance(found, list):
        found = [(each["size"], each["share"]) for each in found]
    assert found == expected


# ---- addresses ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("rw=read", {"pattern": "sequential"}),
        ("rw=write:12k", {"pattern": "strided", "stride": "16 KiB"}),
        # One request a pass is no stride.
        ("rw=write:1m", {"pattern": "sequential"}),
        ("rw=randread", "shuffled"),
        ("rw=randread\nnorandommap", "uniform"),
        ("rw=randread\nba=4k", "shuffled"),
        ("rw=randread\nba=512", "uniform"),
        ("rw=randread\nnorandommap\nrandom_generator=lfsr", "shuffled"),
        ("rw=randread\nbsrange=4k-8k", "uniform"),
        ("rw=randread\npercentage_random=0", {"pattern": "sequential"}),
        ("rw=randread\nrandom_distribution=zipf:1.2", {"pattern": "zipf", "theta": 1.2}),
        ("rw=randread\nrandom_distribution=zipf", {"pattern": "zipf", "theta": 1.1}),
        (
            "rw=randread\nrandom_distribution=zoned:90/10:10/90",
            {"pattern": "hot-cold", "hot_space": "10 %", "hot_accesses": "90 %"},
        ),
        ("rw=randread\nrandom_distribution=zoned:50/5:30/15:20/", "jesd219"),
    ],
)
def test_addresses(tmp_path, options, expected):
    assert workload(tmp_path, options)["addresses"] == expected


def test_a_random_map_is_carried_as_far_as_it_has_one_size(tmp_path):
    random = "[job]\nsize=1m\nrw=randread\n"
    for more, expected in (
        ("", Verdict.MAPPED),
        ("norandommap\n", Verdict.MAPPED),
        ("bsrange=4k-8k\n", Verdict.APPROXIMATED),
        ("rw=randrw\nbs=4k,8k\n", Verdict.APPROXIMATED),
    ):
        assert verdicts(imported(tmp_path, random + more))["norandommap"] == expected


def test_gaps_of_a_stride_may_be_smaller_than_a_request(tmp_path):
    found = workload(tmp_path, "rw=write:20k", "bs=64k")
    assert (found["align"], found["addresses"]["stride"]) == ("4 KiB", "84 KiB")


def test_sizes_and_alignments_of_each_kind(tmp_path):
    mixed = workload(tmp_path, "rw=randrw", "bs=4k,64k")
    assert mixed["size"] == {"read": "4 KiB", "write": "64 KiB"}
    assert "align" not in mixed
    assert workload(tmp_path, "rw=randrw", "bs=,8k")["size"] == {"read": "4 KiB", "write": "8 KiB"}
    assert workload(tmp_path, "rw=randrw", "bs=8k,")["size"] == {"read": "8 KiB", "write": "4 KiB"}
    assert workload(tmp_path, "rw=randrw", "bs=8k,8k")["size"] == "8 KiB"
    split = workload(tmp_path, "rw=randrw", "bs=4k", "bssplit=,8k/50:16k/50")["size"]
    half = [{"size": "8 KiB", "share": "50 %"}, {"size": "16 KiB", "share": "50 %"}]
    assert split == {"read": "4 KiB", "write": half}
    aligned = workload(tmp_path, "rw=randrw", "bs=64k", "ba=4k,8k")
    assert aligned["align"] == {"read": "4 KiB", "write": "8 KiB"}
    assert workload(tmp_path, "rw=randrw", "bs=64k", "ba=4k,4k")["align"] == "4 KiB"
    # Each kind of a sequential job goes through the region by itself.
    sequential = workload(tmp_path, "rw=rw", "bs=4k")
    assert sequential["size"] == {"read": "4 KiB", "write": "4 KiB"}


# ---- places ------------------------------------------------------------------------------


def test_offsets_and_sizes_of_a_device(tmp_path):
    found = workloads(
        tmp_path,
        "[job]\nfilename=/dev/nvme0n1\nbs=64k\noffset=1m\noffset_increment=16m\nsize=8m\n"
        "numjobs=3\n",
    )
    assert [each["region"] for each in found] == [
        {"offset": "1 MiB", "size": "8 MiB"},
        {"offset": "17 MiB", "size": "8 MiB"},
        {"offset": "33 MiB", "size": "8 MiB"},
    ]


def test_shares_of_a_device(tmp_path):
    (found,) = workloads(tmp_path, "[job]\nfilename=/dev/nvme0n1\nbs=64k\noffset=33%\nsize=10%\n")
    offset, size = (fs.units.size_of(found["region"][key]) for key in ("offset", "size"))
    capacity = imported(tmp_path, "[job]\nsize=1m\n").experiment.derived["capacity"]
    exported = capacity["exported_bytes"]
    # Up to the next multiple of bs, and down to one.
    assert offset == -(-(exported * 33 // 100) // 65536) * 65536
    assert size == exported * 10 // 100 // 65536 * 65536


def test_shares_of_clones_are_rounded_together(tmp_path):
    # fio rounds the sum of offset and increments, not each of them.
    text = "[job]\nfilename=/dev/nvme0n1\nbs=64k\nsize=1m\nnumjobs=3\n"
    found = workloads(tmp_path, f"{text}offset=5%\noffset_increment=7%\n")
    capacity = imported(tmp_path, "[job]\nsize=1m\n").experiment.derived["capacity"]
    exported = capacity["exported_bytes"]
    for clone, each in enumerate(found):
        raw = exported * 5 // 100 + clone * (exported * 7 // 100)
        assert fs.units.size_of(each["region"]["offset"]) == -(-raw // 65536) * 65536


def test_no_per_cent_are_nothing_or_all(tmp_path):
    device = "[job]\nfilename=/dev/nvme0n1\nbs=64k\n"
    (found,) = workloads(tmp_path, f"{device}offset=0%\nsize=1m\n")
    assert found["region"] == {"offset": "0 B", "size": "1 MiB"}
    (found,) = workloads(tmp_path, f"{device}offset=0\nsize=0%\n")
    assert "region" not in found
    clones = workloads(tmp_path, f"{device}numjobs=2\noffset_increment=0%\nsize=1m\n")
    assert [each["region"]["offset"] for each in clones] == ["0 B", "0 B"]


def test_filesize_bounds_a_device_and_the_work(tmp_path):
    device = "[job]\nfilename=/dev/nvme0n1\nbs=64k\nfilesize=1m\n"
    (found,) = workloads(tmp_path, f"{device}size=4m\n")
    assert found["region"] == {"offset": "0 B", "size": "1 MiB"}
    assert found["stop"] == {"bytes": "1 MiB"}
    (half,) = workloads(tmp_path, f"{device}size=50%\n")
    assert half["region"]["size"] == "512 KiB"


@pytest.mark.parametrize(
    ("lines", "region", "stop"),
    [
        # 128 of 256 places, which fio's issue of the same job has.
        (("rw=write:4k",), "1 MiB", "512 KiB"),
        (("rw=write:4k", "loops=2"), "1 MiB", "1 MiB"),
        (("rw=write:4k", "io_size=2m"), "1 MiB", "2 MiB"),
        (("rw=write:12k",), "1 MiB", "256 KiB"),
        # 13 requests, 84 KiB apart; the last ends 48 KiB behind the size.
        (("rw=write:20k", "bs=64k"), "1072 KiB", "832 KiB"),
    ],
)
def test_a_pass_ends_with_the_region(tmp_path, lines, region, stop):
    text = "\n".join(("[job]", "filename=/dev/nvme0n1", "size=1m", *lines))
    (found,) = workloads(tmp_path, text)
    assert found["region"]["size"] == region
    assert found["stop"]["bytes"] == stop


def test_requests_are_whole(tmp_path):
    device, file = "[job]\nfilename=/dev/nvme0n1\n", "[job]\n"
    for head, lines, region, stop in (
        (device, "size=9120\n", "12 KiB", "12 KiB"),
        (device, "size=9120\nrw=randread\n", "8704 B", "8 KiB"),
        (device, "size=1000k\nbs=64k\n", "1 MiB", "1 MiB"),
        (file, "size=1000k\nbs=64k\n", "1000 KiB", "960 KiB"),
        (device, "size=1000k\nbs=64k\nrw=randread\n", "1000 KiB", "960 KiB"),
        (device, "size=1000k\nbs=64k\nrw=randread\nnorandommap\n", "1000 KiB", "1 MiB"),
    ):
        (found,) = workloads(tmp_path, head + lines)
        assert (found["region"]["size"], found["stop"]["bytes"]) == (region, stop), lines


def test_files_lie_side_by_side_and_shared_ones_in_one_place(tmp_path):
    found = workloads(
        tmp_path,
        "[global]\nsize=1000k\n[a]\n[b]\nnumjobs=2\n[c]\nfilename=x\n[d]\nfilename=x\noffset=24k\n",
    )
    places = {each["name"]: fs.units.size_of(each["region"]["offset"]) for each in found}
    mib = 2**20
    assert places == {"a": 0, "b-0": mib, "b-1": 2 * mib, "c": 3 * mib, "d": 3 * mib + 24 * 1024}


def test_the_end_of_a_job(tmp_path):
    assert workload(tmp_path)["stop"] == {"bytes": "1 MiB"}
    assert workload(tmp_path, "io_size=3m")["stop"] == {"bytes": "3 MiB"}
    assert workload(tmp_path, "loops=3")["stop"] == {"bytes": "3 MiB"}
    assert workload(tmp_path, "number_ios=7")["stop"] == {"bytes": "28 KiB"}
    # Flushes are no reads or writes, and ask for no bytes.
    flushed = workload(tmp_path, "rw=write", "number_ios=7", "fsync=2")
    assert flushed["stop"] == {"bytes": "28 KiB"}
    split = ("rw=write", "bssplit=4k/50:8k/50", "number_ios=7")
    assert workload(tmp_path, *split)["stop"] == {"bytes": "1 MiB", "requests": 7}
    assert workload(tmp_path, "runtime=5")["stop"] == {"time": "5 s", "bytes": "1 MiB"}
    assert workload(tmp_path, "runtime=5", "time_based", "loops=3")["stop"] == {"time": "5 s"}


# ---- time --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "process", "rate"),
    [
        ("rate_iops=1000", "constant", "1000 IOPS"),
        # fio's k is 1024, for requests, too.
        ("rate_iops=1k", "constant", "1024 IOPS"),
        ("rate_iops=1000\nrate_process=poisson", "poisson", "1000 IOPS"),
        ("rate=4m\nbs=16k", "constant", "256 IOPS"),
        ("rate=1m,500k\nrw=randwrite", "constant", "125 IOPS"),
        ("rate_iops=100\nbssplit=4k/50:64k/50", "constant", "100 IOPS"),
        # fio paces 100 requests of the smallest size a second: 400 KiB; the mean size is 10 KiB.
        ("rate_iops=100\nbsrange=4k-16k", "constant", "40 IOPS"),
    ],
)
def test_rates(tmp_path, options, process, rate):
    found = workload(tmp_path, "ioengine=libaio", "direct=1", "iodepth=8", options)
    assert found["arrivals"] == {"process": process, "rate": rate}
    assert found["queue_depth"] == 8


def test_a_rate_counts_data_alone(tmp_path):
    lines = ("rw=write", "rate=100m", "bs=128k", "fdatasync=8")
    found = workload(tmp_path, *lines, size="8m")
    assert found["arrivals"]["rate"] == "800 IOPS"
    assert (found["reads"], found["flush_every"]) == ("0 %", 8)
    # Drawn flushes take a slot each: 1/4 + 1/6 - 1/12 of the writes.
    drawn = workload(tmp_path, "rw=write", "rate_iops=300", "fsync=4", "fdatasync=6")
    assert drawn["arrivals"]["rate"] == "400 IOPS"


def test_clones_with_a_rate_have_phases_of_their_own(tmp_path):
    rate = "size=1m\nrate_iops=1000\n"
    phases = {
        f"[a]\n{rate}": [None],
        f"[a]\n{rate}numjobs=3\n": ["random"] * 3,
        f"[a]\n{rate}[b]\n{rate}": ["random"] * 2,
        f"[a]\n{rate}rate_process=poisson\nnumjobs=2\n": [None] * 2,
    }
    for text, expected in phases.items():
        found = workloads(tmp_path, text)
        assert [each["arrivals"].get("phase") for each in found] == expected, text
    (alone,) = workloads(tmp_path, f"[a]\n{rate}[b]\n{rate}", sections=["a"])
    assert "phase" not in alone["arrivals"]


def test_the_rate_of_a_job_that_flushes_is_that_of_its_data(tmp_path):
    job = (
        "[job]\nfilename=/dev/nvme0n1\nrw=write\nbs=128k\nsize=64m\nrate=100m\nfdatasync=8\n"
        "ioengine=libaio\ndirect=1\niodepth=8\nruntime=1\ntime_based\n"
    )
    result = fs.run(imported(tmp_path, job).experiment)
    # 100 MiB in a second.
    assert result.write.requests * 128 * 2**10 == pytest.approx(100 * 2**20, rel=0.002)


def test_clones_with_a_rate_have_alike_means(tmp_path):
    """Requests that arrive in one nanosecond queue in one order: the last clone is the slowest."""
    job = (
        "[job]\nfilename=/dev/nvme0n1\nrw=randread\nsize=16m\nrate_iops=1000\nnumjobs=8\n"
        "ioengine=libaio\ndirect=1\niodepth=4\nruntime=1\ntime_based\n"
    )
    means = {}
    for phase in ("random", "start"):
        text = imported(tmp_path, job).toml.replace('phase = "random"', f'phase = "{phase}"')
        (tmp_path / "phase.toml").write_text(text)
        result = fs.run(fs.Experiment.from_file(tmp_path / "phase.toml"))
        names = [each["name"] for each in result.summary["initiators"]]
        means[phase] = [result.of_kind("read", name).mean for name in names]
    in_step, apart = means["start"], means["random"]
    assert in_step == sorted(in_step)
    assert in_step[-1] > 1.5 * in_step[0]
    # A request takes 12 us and a gap 1 ms: even a clone that always comes behind another waits for
    # one request, as the second of those in step.
    assert max(apart) < in_step[1]
    assert apart != sorted(apart)


def test_a_rate_with_a_queue_is_approximated_unless_it_is_offloaded(tmp_path):
    job = f"[job]\n{ASYNC}size=1m\nrate_iops=1000\niodepth=8\n"
    assert verdicts(imported(tmp_path, job))["rate_iops"] == Verdict.APPROXIMATED
    offloaded = imported(tmp_path, f"{job}io_submit_mode=offload\n")
    assert verdicts(offloaded)["rate_iops"] == Verdict.MAPPED
    one = imported(tmp_path, job.replace("iodepth=8", "iodepth=1"))
    assert verdicts(one)["rate_iops"] == Verdict.MAPPED
    # A thread for each place in the queue, whatever the engine.
    threads = workload(tmp_path, "iodepth=8", "io_submit_mode=offload")
    assert threads["queue_depth"] == 8


def test_rates_of_both_kinds_set_the_mix(tmp_path):
    result = imported(
        tmp_path, f"[job]\n{ASYNC}size=1m\nrw=randrw\nrwmixread=50\nrate_iops=300,100\n"
    )
    (found,) = tomllib.loads(result.toml)["workload"]
    assert found["reads"] == "75 %"
    assert found["arrivals"]["rate"] == "400 IOPS"
    assert verdicts(result)["rwmixread"] == Verdict.INERT


def test_pauses(tmp_path):
    lines = ("ioengine=libaio", "direct=1", "iodepth=8", "thinktime=500")
    found = workload(tmp_path, *lines)
    assert found["think_time"] == "500 us"
    # fio waits for the answer first, so it does not use the depth.
    assert found["queue_depth"] == 1
    found = workload(tmp_path, *lines[:3], "thinktime=1s", "thinktime_iotime=9")
    assert found["bursts"] == {"on": "9 s", "off": "1 s"}
    assert found["queue_depth"] == 8


TIMED = "[global]\nsize=1m\nruntime=10\ntime_based\n"


def starts(tmp_path, jobs: str) -> list[str | None]:
    """Return the starts of jobs that run for 10 s each unless they say otherwise."""
    return [each.get("start") for each in workloads(tmp_path, TIMED + jobs)]


def test_jobs_wait_for_each_other_as_long_as_these_run(tmp_path):
    # A ramp belongs to the time that a job runs, so it delays the jobs that wait for its end.
    jobs = "[a]\nruntime=30\n[b]\nramp_time=2\nruntime=8\n[c]\nwait_for=b\n"
    found = workloads(tmp_path, TIMED + jobs)
    assert [each.get("start") for each in found] == [None, None, "10 s"]
    assert [each["stop"]["time"] for each in found] == ["30 s", "10 s", "10 s"]


# fio's run_threads goes through the jobs in the order of the file, again and again. For each that
# has not started it asks: is its startdelay since the start of all jobs over (if not, on to the
# next job)? Is it stonewalled while a job runs (if so, the pass ends: `break`)? Does its waitee
# still run (if so, on to the next job)? Else it starts.


def test_a_stonewall_holds_the_jobs_below_it_too(tmp_path):
    # fio leaves the pass at b, so c begins with b and d, whose own delay is longer, at 12 s.
    jobs = "[a]\n[b]\nstonewall\n[c]\n[d]\nstartdelay=12\n[e]\nstonewall\n[f]\nstartdelay=3\n"
    # e waits for b, c and d, which ends at 22 s; f waits with e, though its delay is over.
    assert starts(tmp_path, jobs) == [None, "10 s", "10 s", "12 s", "22 s", "22 s"]
    toml = imported(tmp_path, TIMED + jobs).toml
    assert "# stonewall of [b]" in toml
    assert "# startdelay; stonewall of [e]" in toml


def test_a_wait_for_jobs_that_may_end_sooner_is_approximated(tmp_path):
    # a may end before its runtime is over; c waits for b, whose start depends on this.
    text = "[a]\nsize=1m\nruntime=5\n[b]\nsize=1m\nstonewall\nruntime=5\ntime_based\n"
    result = imported(tmp_path, f"{text}[c]\nsize=1m\nwait_for=b\n")
    said = {(key.section, key.name): str(key.verdict) for key in result.keys}
    assert said["b", "stonewall"] == "approximated"
    assert said["c", "wait_for"] == "approximated"


def test_a_delay_counts_from_the_start_of_all_jobs(tmp_path):
    # fio compares startdelay with the time since the start of all jobs, so it is no addition to
    # the wait: b begins at max(3 s, 10 s) and at max(15 s, 10 s).
    assert starts(tmp_path, "[a]\n[b]\nstartdelay=3\nstonewall\n") == [None, "10 s"]
    assert starts(tmp_path, "[a]\n[b]\nstartdelay=15\nstonewall\n") == [None, "15 s"]
    assert starts(tmp_path, "[a]\n[b]\nstartdelay=3\nwait_for=a\n") == [None, "10 s"]


def test_a_stonewall_whose_delay_lasts_holds_no_job(tmp_path):
    # fio asks for the delay first: until 3 s it skips b and starts c, for which b then waits.
    jobs = "[a]\n[b]\nstartdelay=3\nstonewall\n[c]\nruntime=20\n[d]\nstartdelay=4\n"
    assert starts(tmp_path, jobs) == [None, "20 s", None, "20 s"]


def test_a_stonewall_waits_only_for_jobs_that_run(tmp_path):
    # fio counts running jobs, so b does not wait for a, which has not begun.
    result = imported(tmp_path, f"{TIMED}[a]\nstartdelay=20\n[b]\nstonewall\n")
    assert [each.get("start") for each in tomllib.loads(result.toml)["workload"]] == ["20 s", None]
    assert verdicts(result)["stonewall"] == Verdict.INERT


def test_every_wait_for_an_unknown_end_is_refused(tmp_path):
    text = (
        "[global]\nsize=1m\n[a]\n[b]\nwait_for=a\n[c]\nstonewall\n[d]\n[e]\nwait_for=d\n"
        "[f]\nwait_for=g\n[g]\n"
    )
    problems = {problem.path: problem.message for problem in refused(tmp_path, text)}
    ends = {"[b] wait_for": "[a]", "[c] stonewall": "[a]", "[e] wait_for": "[d]"}
    assert set(problems) == {*ends, "[f] wait_for"}
    for path, end in ends.items():
        assert f"the end of {end} is unknown before the run; give it a runtime" in problems[path]
    assert "there is no job g above (there are: a, b, c, d, e)" in problems["[f] wait_for"]


def test_a_job_waits_for_a_name_and_not_for_a_section(tmp_path):
    jobs = "[a]\nname=first\n[b]\nwait_for=first\n"
    assert starts(tmp_path, jobs) == [None, "10 s"]
    (problem,) = refused(tmp_path, f"{TIMED}[a]\nname=first\n[b]\nwait_for=a\n")
    assert "(there are: first)" in problem.message
    (problem,) = refused(tmp_path, f"{TIMED}[a]\nwait_for=a\n")
    assert "cannot wait for itself" in problem.message


def test_the_warm_up_ends_with_the_last_ramp(tmp_path):
    text = f"{TIMED}[a]\nruntime=30\nramp_time=2\n[b]\nstartdelay=3\nramp_time=2\n"
    result = imported(tmp_path, text)
    assert tomllib.loads(result.toml)["run"] == {"warm_up": {"time": "5 s"}}
    (why,) = {key.why for key in result.keys if key.name == "ramp_time" and key.section == "a"}
    assert why == "nothing counts until 5 s, when the last ramp is over"


def test_a_job_that_ends_in_the_warm_up_is_refused(tmp_path):
    # fio has a ramp for each job: a counts from 5 to 15 s, b from 20 to 30 s. A run has one
    # warm-up, and one until 20 s would leave nothing of a.
    text = f"{TIMED}ramp_time=5\n[a]\n[b]\nstonewall\n"
    (problem,) = refused(tmp_path, text)
    assert (problem.path, problem.line) == ("[global] ramp_time", 5)
    assert "[b] is over at 20 s, and [a] ends at 15 s" in problem.message
    (alone,) = workloads(tmp_path, text, sections=["a"])
    assert alone["stop"] == {"time": "15 s"}
    assert "warm_up" not in imported(tmp_path, text, without=["ramp_time"]).toml
    # A job that ends just as counting starts has nothing that counts, either.
    (problem,) = refused(tmp_path, f"{TIMED}[a]\n[b]\nstartdelay=8\nramp_time=2\n")
    assert (problem.path, problem.line) == ("[b] ramp_time", 8)


# ---- how files are read ------------------------------------------------------------------


def test_sections_apply_to_what_is_below_them(tmp_path):
    found = workloads(
        tmp_path, "[global]\nsize=1m\n[a]\n[global]\nbs=8k\n[b]\n[c]\nbs=16k\nname=other\n"
    )
    assert [(each["name"], each["size"]) for each in found] == [
        ("a", "4 KiB"),
        ("b", "8 KiB"),
        ("other", "16 KiB"),
    ]


def test_a_name_in_global_renames_no_job(tmp_path):
    text = "[global]\nname=shared\nsize=1m\n[a]\n[b]\nname=own\n"
    result = imported(tmp_path, text)
    assert [each["name"] for each in tomllib.loads(result.toml)["workload"]] == ["a", "own"]
    shared = {key.why: key.verdict for key in result.keys if key.line == 2}
    assert shared == {
        "fio names a job after its section, whatever [global] says": Verdict.INERT,
        "line 6 gives it again, which counts": Verdict.INERT,
    }


def test_a_list_over_clones_says_everything_once(tmp_path):
    text = "[a]\nfilename=/dev/nvme0n1\nrw=randread\nnumjobs=8\nrate_iops=100\n"
    keys = imported(tmp_path, text).keys
    assert len(keys) == len(set(keys))
    missing = sorted(key.name for key in keys if key.line is None)
    assert missing == ["bs", "direct", "ioengine", "norandommap", "size"]


def test_an_overridden_option_is_listed(tmp_path):
    result = imported(tmp_path, "[global]\nbs=8k\nsize=1m\n[a]\nbs=16k\n")
    lines = {key.line: (str(key.verdict), key.why) for key in result.keys if key.name == "bs"}
    assert lines[2] == ("inert", "line 5 gives it again, which counts")
    assert lines[5][0] == "mapped"


def test_one_section_and_left_out_options(tmp_path):
    text = "[a]\nsize=1m\nstonewall\n[b]\nsize=2m\nstonewall\nverify=crc32c\nrw=write\n"
    result = imported(tmp_path, text, sections=["b"], without=["verify"])
    (found,) = tomllib.loads(result.toml)["workload"]
    assert found["name"] == "b"
    assert "start" not in found
    assert verdicts(result)["verify"] == Verdict.IGNORED


def test_includes_and_variables(tmp_path, monkeypatch):
    (tmp_path / "more.fio").write_text("bs=${FLASHSCAPE_BS}\n")
    monkeypatch.setenv("FLASHSCAPE_BS", "16k")
    (found,) = workloads(tmp_path, "[a]\nsize=1m\ninclude more.fio\n")
    assert found["size"] == "16 KiB"
    monkeypatch.delenv("FLASHSCAPE_BS")
    (problem,) = refused(tmp_path, "[a]\nsize=1m\ninclude more.fio\n")
    assert problem.file == str(tmp_path / "more.fio")
    assert "FLASHSCAPE_BS" in problem.message


def test_an_include_is_found_beside_the_file_that_includes_it(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "first.inc").write_text("bs=8k\ninclude second.inc\n")
    (inner / "second.inc").write_text("size=64k\n")
    (found,) = workloads(tmp_path, "[a]\ninclude inner/first.inc\n")
    assert (found["size"], found["region"]["size"]) == ("8 KiB", "64 KiB")


def test_names_are_made_unique(tmp_path):
    found = workloads(tmp_path, "[a]\nsize=1m\n[a]\nsize=1m\nbs=8k\n")
    assert [each["name"] for each in found] == ["a", "a-2"]
    # This name stands for all jobs together in results.
    found = workloads(tmp_path, "[all]\nrw=read\nsize=1m\n")
    assert [each["name"] for each in found] == ["all-2"]


def test_values_of_the_drive(tmp_path):
    pairs = {"drive.geometry.channels": "4", "drive.ftl.gc.victim": "fifo"}
    result = imported(tmp_path, "[a]\nsize=1m\n", overrides=pairs, fill="random", age=0.5)
    config = result.experiment.config
    assert config["drive"]["geometry"]["channels"] == 4
    assert config["drive"]["ftl"]["gc"]["victim"]["policy"] == "fifo"
    assert tomllib.loads(result.toml)["precondition"] == {
        "fill": "random",
        "age": {"overwrites": 0.5},
    }
    with pytest.raises(fs.ConfigError, match=r"run\.audit: only keys of the drive"):
        imported(tmp_path, "[a]\nsize=1m\n", overrides={"run.audit": "true"})


# ---- faults ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "name", "message"),
    [
        ("iodpeth=4", "iodpeth", "no such option (did you mean 'iodepth'?)"),
        ("bs=4.5k", "bs", "'4.5k' is no whole number"),
        ("bs=4ki", "bs", "write k or kib"),
        ("bs=(4*1024)", "bs", "expression"),
        ("bs=100", "bs", "no multiple of 512 B"),
        ("rw=write\nbs=2300\nfdatasync=1", "bs", "whole pages of 4 KiB to it: write bs=4k"),
        ("bs=5000", "bs", "write bs=8k"),
        ("bs=2300\ndirect=1", "bs", "the sector of a drive; write 2560"),
        ("bs=0", "bs", "a request has at least 512 B; write 4k"),
        ("rw=randrw\nbssplit=4k/50:5k/25:700/25", "bssplit", "700 B is no multiple of 512 B"),
        ("rw=rw:4k\nbs=4k,64k", "rw", "gaps behind requests of several sizes"),
        ("rw=write:1000", "rw", "gaps that are no multiple of 512 B"),
        ("rw=write:4q", "rw", "a unit that fio does not know"),
        ("offset=1000", "offset", "the job begins at 1,000 B, which is no multiple of 512 B"),
        ("offset=101%\nfilename=/dev/sda", "offset", "a share from 0% to 100%"),
        ("offset=100%\nfilename=/dev/sda", "offset", "begins behind the end"),
        ("numjobs=2\noffset_increment=1000", "offset_increment", "which is no multiple of 512 B"),
        ("filesize=100", "filesize", "leaves no room for a request of 4 KiB"),
        ("bssplit=4k/60:8k/60", "bssplit", "add up to 120 %"),
        ("bssplit=4k/60:8k/30", "bssplit", "add up to 90 %"),
        ("rw=randomread", "rw", "none of read, write"),
        ("rw=trimwrite", "rw", "make it two jobs"),
        ("rw=read:-8k", "rw", "steps backwards"),
        ("rw=randread:8", "rw", "runs of sequential requests"),
        ("rw=randread\npercentage_random=50", "percentage_random", "make it two jobs"),
        ("rw=randread\nrandom_distribution=pareto:0.9", "random_distribution", "'pareto' has no"),
        ("rw=randread\nrandom_distribution=zipf:1.0", "random_distribution", "divides by 0"),
        ("rate=1m\nrate_iops=100", "rate", "refuses rate and rate_iops together"),
        ("rw=randrw\nrate_iops=100,", "rate_iops", "give both rates"),
        ("thinktime=5\nthinktime_blocks=4", "thinktime_blocks", "without=['thinktime_blocks']"),
        ("ioengine=net", "ioengine", "no requests to a local drive"),
        ("rw=write\nverify=md5", "verify", "without=['verify']"),
        ("zonemode=zbd", "zonemode", "without=['zonemode']"),
        ("read_iolog=x.log", "read_iolog", "flashscape replay LOG"),
        ("latency_target=2ms", "latency_target", "sweep workload.queue_depth"),
        ("time_based", "time_based", "give runtime"),
        ("runtime=10sec", "runtime", "us, ms, s, m, h, d): it takes sec and min for us"),
        ("size=20%", "size", "a share of a file"),
        ("size=100t", "size", "the region ends at 100 TiB".replace("100 TiB", "102400 GiB")),
        ("nrfiles=4", "nrfiles", "goes from file to file"),
        ("filename=/dev/sda:/dev/sdb\nrw=randread", "filename", "several devices"),
    ],
)
def test_what_cannot_be_carried_is_refused(tmp_path, options, name, message):
    problems = refused(tmp_path, f"[job]\nsize=1m\n{options}\n")
    lines = f"[job]\nsize=1m\n{options}".splitlines()
    assert [problem.path for problem in problems] == [f"[job] {name}"]
    assert message in problems[0].message
    place = max(at for at, line in enumerate(lines, 1) if line.partition("=")[0] == name)
    assert problems[0].line == place


@pytest.mark.parametrize(
    "lines",
    ["size=1q", "size=", "size=1m\ntime_based\nruntime=10sec", "size=1m\ntime_based\nruntime="],
)
def test_a_refused_value_is_not_told_to_be_missing_as_well(tmp_path, lines):
    (problem,) = refused(tmp_path, f"[a]\n{lines}\n")
    assert problem.path in ("[a] size", "[a] runtime")


def test_files_of_a_job_are_one_region_from_a_multiple_of_1_mib_on(tmp_path):
    job = "filesize=1500k\nnrfiles=3\nrw=randread\nnumjobs=2\n"
    found = workloads(tmp_path, f"[a]\n{job}[b]\nsize=100k\n")
    assert [each["region"] for each in found] == [
        {"offset": "0 B", "size": "4500 KiB"},
        {"offset": "5 MiB", "size": "4500 KiB"},
        {"offset": "10 MiB", "size": "100 KiB"},
    ]


def test_the_example_is_the_workload_of_mixed_toml_but_for_two_things():
    found = fs.import_fio(ROOT / "examples/mixed.fio", "dc-tlc").experiment.config
    mixed = fs.Experiment.from_file(ROOT / "examples/mixed.toml").config
    (imported, whole), (own, minute) = ((of["workload"][0], of["run"]) for of in (found, mixed))
    assert {key for key in imported | own if imported.get(key) != own.get(key)} == {
        "queue_depth",
        "stop",
    }
    assert imported["queue_depth"] == 256
    assert imported["stop"]["time"] == "65 s"
    assert minute["time"] == "60 s"
    assert whole["warm_up"] == minute["warm_up"] == {"time": "5 s"}


def test_all_faults_come_at_once(tmp_path):
    problems = refused(
        tmp_path, "[a]\nbs=1\nsize=1m\n[b]\nstonewall\nflow=8\nrw=x\nsize=1m\nsise=1\n"
    )
    places = {(problem.path, problem.line) for problem in problems}
    assert places == {
        ("[a] bs", 2),
        ("[b] stonewall", 5),
        ("[b] flow", 6),
        ("[b] rw", 7),
        ("[b] sise", 9),
    }


def test_devices_and_files_do_not_mix(tmp_path):
    text = "[a]\nfilename=/dev/sda\nsize=1m\n[b]\nsize=1m\n"
    assert any("sections=['JOB']" in problem.message for problem in refused(tmp_path, text))
    assert len(workloads(tmp_path, text, sections=["b"])) == 1
    two = "[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sdb\n"
    assert any("one drive is simulated" in problem.message for problem in refused(tmp_path, two))


def test_what_the_check_refuses_is_told_by_fios_line(tmp_path):
    """Only the experiment's check knows the largest depth."""
    problems = refused(tmp_path, f"[a]\n{ASYNC}size=64k\niodepth=4000000000\n")
    assert {(problem.path, problem.line) for problem in problems} == {("[a] iodepth", 5)}
    assert "at most 67,108,864 are supported" in problems[0].message
    assert all("of [a]" in problem.message for problem in problems)


def test_a_region_without_room_for_a_request_is_refused(tmp_path):
    (problem,) = refused(tmp_path, "[a]\nsize=64k\nbs=128k\n")
    assert (problem.path, problem.line) == ("[a] size", 2)
    assert "leaves no room for a request of 128 KiB" in problem.message


def test_a_missing_size_names_the_way_out(tmp_path):
    (problem,) = refused(tmp_path, "[a]\nbs=4k\n")
    assert problem.path == "[a] size"
    assert "write size=1g or another, or filename=/dev/nvme0n1" in problem.message


def test_the_end_of_the_drive_is_a_fault_of_the_right_option(tmp_path):
    for option in ("size=100t", "filesize=100t", "offset=100t\nsize=4k"):
        (problem,) = refused(tmp_path, f"[a]\nfilename=x\n{option}\n")
        assert problem.path == f"[a] {option.partition('=')[0]}"
        assert "the region ends at" in problem.message


def test_a_remedy_names_its_command(flashscape, tmp_path):
    (tmp_path / "job.fio").write_text(
        "[a]\nfilename=/dev/nvme0n1\nrw=randwrite\nsize=1g\nruntime=10\ntime_based\n"
        "rate_iops=1000\n"
    )
    ended = flashscape("import-fio", "job.fio", "--drive=dc-tlc", "--out=a.toml")
    assert "garbage collection cannot begin in this run" in ended.out
    for line in ended.out.splitlines():
        if "remedy:" in line and "--" in line:
            assert "import again with --" in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bs=4k\n[a]\n", "stands before the first [job]"),
        ("[global]\nbs=4k\n", "has no job"),
        ("", "has no job"),
    ],
)
def test_files_without_jobs(tmp_path, text, message):
    with pytest.raises(fs.ConfigError, match=message.replace("[", r"\[")):
        imported(tmp_path, text)


def test_options_of_the_command_are_checked(flashscape, tmp_path):
    (tmp_path / "job.fio").write_text("[a]\nsize=1m\n")
    for options, message in (
        (("--section=b",), "has no job [b] (there are a)"),
        (("--without=iodepht",), "did you mean 'iodepth'?"),
        (("--without=verify",), "--without verify: no job of job.fio gives this option"),
        (("--set=run.audit=true",), "only keys of the drive"),
        (("--out=job.fio", "--force"), "job.fio"),
    ):
        ended = flashscape("import-fio", "job.fio", "--drive=atc19", *options)
        assert ended.status in (1, 2), options
        assert message in ended.err
        assert "Traceback" not in ended.err
    assert (tmp_path / "job.fio").read_text() == "[a]\nsize=1m\n"
    wrong = (("--drive=atc91",), "drive atc91: 1 problem", 'drive.preset: no preset "atc91"')
    key = ("--drive=atc19", "--set=drive.ftl.unti=8 KiB")
    for options, head, fault in (wrong, (key, "drive atc19: 1 problem", "drive.ftl.unti: unknown")):
        told = flashscape("import-fio", "job.fio", *options).err
        assert told.splitlines()[0] == f"error: {head}"
        assert fault in told
        # The user has written no line of a configuration.
        assert "line" not in told


def test_every_option_has_one_fate():
    fates = {known.READ, known.REFUSED, *Verdict}
    for name in known.names():
        found = known.of(name)
        assert found.fate in fates
        assert found.why or found.fate == known.READ


def test_every_option_that_is_read_is_told_of(tmp_path):
    """One job gives all options, so an option that no code reads is found here."""
    values = {
        "bs": "4k",
        "bsrange": "4k-8k",
        "bssplit": "4k/100",
        "ba": "4k",
        "buffered": "0",
        "directory": "/mnt",
        "filename": "a",
        "filesize": "2m",
        "ioengine": "libaio",
        "name": "n",
        "numjobs": "2",
        "rw": "randrw",
        "size": "1m",
        "runtime": "1",
        "random_distribution": "random",
        "random_generator": "lfsr",
        "kb_base": "1024",
        "rate_process": "linear",
        "rw_sequencer": "sequential",
        "verify": "none",
        "thinktime_blocks_type": "complete",
        "percentage_random": "100",
        "rwmixread": "50",
        "rwmixwrite": "50",
        "iodepth": "2",
        "direct": "1",
        "loops": "1",
    }
    read = sorted(name for name in known.names() if known.of(name).fate == known.READ)
    given = {name: values.get(name, "0") for name in read if name != "wait_for"}
    given |= {"nrfiles": "1", "stonewall": "1", "wait_for": "first"}
    lines = "\n".join(f"{name}={value}" for name, value in given.items())
    result = imported(tmp_path, f"[first]\nsize=1m\nruntime=1\nfilename=/mnt/b\n[job]\n{lines}\n")
    told = {key.name for key in result.keys if key.section == "job"}
    assert told >= set(read)
