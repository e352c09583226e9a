"""Traces for users: statistics, conversions, synthetic traces."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time

import pytest

import flashscape as fs
from places import CAPTURED, ROOT

SQLITE = CAPTURED / "sqlite.csv.gz"

ROWS = (
    "0,W,0,8192",
    "100,W,8192,8192",
    "200,R,0,4096",
    "300,F,0,0",
    "400,W,0,8192",
    "1400,T,4096,4096",
)


@pytest.fixture
def trace(tmp_path):
    """Six requests whose statistics can be counted by hand."""
    file = tmp_path / "six.csv"
    file.write_text("\n".join(("time_us,op,offset,length", *ROWS)) + "\n", encoding="utf-8")
    return file


def test_figures_are_those_counted_by_hand(trace):
    found = fs.trace.info(trace)
    assert (found.format, found.requests, found.bytes) == ("captured", 6, 3 * 8192 + 4096 * 2)
    assert found.span_ns == 1_400_000
    # Units 0 to 3 are touched; 0 and 1 are written twice.
    assert found.footprint_bytes == 4 * 4096
    assert found.overwrite_ratio == 6 / 4
    figures = found.to_dict()
    assert figures["footprint"]["both_bytes"] == 4096
    assert figures["reuse"]["read_after_write_share"] == 1
    assert figures["reuse"]["rewrite_time_ns"]["max"] == 400_000
    # Four units were written since: 8 KiB before it, then the unit itself with its neighbour.
    assert figures["reuse"]["rewrite_distance_bytes"]["max"] == 4 * 4096
    write = found.of_kind("write")
    assert write["common_sizes"] == [[8192, 3]]
    assert write["sequence"]["sequential_share"] == 1 / 3
    assert write["sequence"]["contiguous_share"] == 1 / 3
    assert figures["arrivals"]["resolution_ns"] == 100_000
    assert figures["arrivals"]["gap_ns"]["mean"] == 1_400_000 / 5
    assert found.of_kind("write_zeroes") is None
    assert "<caption>Arrivals</caption>" in found._repr_html_()
    assert json.loads(found.to_json()) == figures


def test_info_prints_every_table(flashscape):
    ended = flashscape("trace", "info", SQLITE)
    assert (ended.status, ended.err) == (0, "")
    titles = ("Requests", "Sizes", "Arrivals", "Bursts", "Places", "Hotness", "Sequence")
    assert all(f"\n{title}" in ended.out for title in titles)
    assert "captured CSV, compressed" in ended.out
    assert "8,544 requests" in ended.out


def test_json_goes_to_a_file_or_to_standard_output(flashscape, trace, tmp_path):
    ended = flashscape("trace", "info", trace, SQLITE, "--json", "-")
    assert [each["requests"] for each in json.loads(ended.out)] == [6, 8544]
    assert flashscape("trace", "info", trace, "--json", "out.json", "--quiet").out == ""
    assert json.loads((tmp_path / "out.json").read_text())["requests"] == 6
    again = flashscape("trace", "info", trace, "--json", "out.json")
    assert again.status == 1
    assert "out.json: there is such a file" in again.err


def test_one_damaged_file_of_several_does_not_hide_the_others(flashscape, trace, tmp_path):
    (tmp_path / "bad.csv").write_text("time_us,op,offset,length\n1,R,0,512\n2,X,0,512\n")
    ended = flashscape("trace", "info", "bad.csv", "missing.csv", trace)
    assert ended.status == 2
    assert "six.csv" in ended.out
    assert "bad.csv:3: column 2" in ended.err
    assert "missing.csv: there is no such file" in ended.err


def test_a_small_memory_means_a_sample_and_says_so(flashscape):
    ended = flashscape("trace", "info", SQLITE, "--memory", "64 KiB")
    assert ended.status == 0
    assert "come from a sample: one in" in ended.out


def test_convert_refuses_what_would_be_lost(flashscape, trace, tmp_path):
    ended = flashscape("trace", "convert", trace, "out.trace", "--to", "mqsim")
    assert ended.status == 2
    assert "1 request, the first in line 7: MQSim ASCII has no trim" in ended.err
    assert "1 request, the first in line 5: MQSim ASCII has no flush" in ended.err
    assert not (tmp_path / "out.trace").exists()
    drop = flashscape("trace", "convert", trace, "out.trace", "--to=mqsim", "--drop=trim,flush")
    assert (drop.status, drop.out) == (0, "out.trace: MQSim ASCII, 4 of 6 requests\n")
    assert "left out on request: 1 trim\nleft out on request: 1 flush\n" in drop.err
    written = (tmp_path / "out.trace").read_text()
    assert written.splitlines() == [
        "0 0 0 16 0",
        "100000 0 16 16 0",
        "200000 0 0 8 1",
        "400000 0 0 16 0",
    ]
    assert flashscape("trace", "convert", trace, "out.trace", "--to=msr").status == 2
    assert (tmp_path / "out.trace").read_text() == written


def test_convert_takes_a_window_and_compresses_by_name(flashscape, trace, tmp_path):
    options = ("--to=captured", "--start=100us", "--end", "0.4 ms", "--rebase", "--time-scale=2")
    assert flashscape("trace", "convert", trace, "out.csv.gz", *options).status == 0
    written = gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode().splitlines()
    assert written[1:] == ["0,W,8192,8192", "200,R,0,4096", "400,F,0,0"]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--to=nothing", "no format 'nothing'"),
        ("--drop=erase", "no kind 'erase'"),
        ("--start=5 parsecs", 'no unit "parsecs"'),
        ("--devices=7", "has no device 7"),
    ],
)
def test_wrong_options_are_named(flashscape, trace, option, said):
    ended = flashscape("trace", "convert", trace, "out", "--to=captured", option)
    assert ended.status == 2
    assert said in ended.err


def test_a_synthetic_trace_is_marked_repeatable_and_like_its_model(flashscape, tmp_path):
    described = flashscape("trace", "describe", SQLITE, "--out", "stats.json")
    assert described.status == 0
    text = (tmp_path / "stats.json").read_text()
    assert "sqlite" not in text, "where the trace lies is nobody's business"
    for name in ("a.csv", "b.csv"):
        ended = flashscape("trace", "imitate", "stats.json", "--out", name, "--seed=5")
        assert ended.status == 0
        assert (
            "this is a synthetic trace made from stats.json, no trace of a real program"
            in ended.err
        )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    model, copy = fs.trace.info(SQLITE), fs.trace.info(tmp_path / "a.csv")
    assert (copy.requests, copy.bytes) == (model.requests, model.bytes)
    assert copy.footprint_bytes == pytest.approx(model.footprint_bytes, rel=0.1)
    kinds = [(k["kind"], k["requests"]) for k in copy.statistics["kinds"]]
    assert kinds == [(k["kind"], k["requests"]) for k in model.statistics["kinds"]]


def test_imitate_takes_rows_and_span(flashscape, tmp_path):
    fs.trace.describe(SQLITE, tmp_path / "stats.json")
    options = ("--rows=500", "--span", "200MiB", "--to=mqsim", "--drop=trim,flush,write-zeroes")
    ended = flashscape("trace", "imitate", "stats.json", "--out=s.trace", *options)
    assert ended.status == 0
    rows = [list(map(int, row.split())) for row in (tmp_path / "s.trace").read_text().splitlines()]
    assert 250 < len(rows) < 350, "six in ten requests are reads and writes"
    assert max(row[2] + row[3] for row in rows) <= 200 * 2**20 // 512
    tiny = flashscape("trace", "imitate", "stats.json", "--out=t", "--span=4KiB")
    assert tiny.status == 2
    assert "span: 4096 B are less than the largest request" in tiny.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.pop("trace_description"), 'has no key "trace_description"'),
        (lambda d: d.update(trace_description=9), "is of version 9"),
        (lambda d: d["model"].update(requests=7), "model.requests: is not the sum"),
        (lambda d: d["model"]["arrivals"].update(tick_ns="x"), "model.arrivals.tick_ns: invalid"),
        (lambda d: d["model"].update(more=1), "unknown field `more`"),
    ],
)
def test_descriptions_that_are_none_are_refused(tmp_path, change, said):
    described = json.loads(fs.trace.info(SQLITE).description())
    change(described)
    file = tmp_path / "stats.json"
    file.write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(fs.TraceError, match=r"stats\.json") as caught:
        fs.trace.imitate(file, tmp_path / "out")
    assert said in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_whoever_is_told_may_end_it(tmp_path):
    big = tmp_path / "big.csv"
    row = "{},W,{},4096\n"
    rows = (row.format(n, n * 4096) for n in range(140_000))
    big.write_text("time_us,op,offset,length\n" + "".join(rows))
    told = []
    fs.trace.info(big, ongoing=lambda requests, share: told.append((requests, share)))
    assert [requests for requests, _ in told] == [65_536, 131_072]
    assert 0.4 < told[0][1] < 0.6

    def stop(_requests, _share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fs.trace.convert(big, tmp_path / "out", "msr", ongoing=stop)
    assert [file.name for file in tmp_path.iterdir()] == ["big.csv"]


def test_ctrl_c_leaves_nothing_behind(tmp_path):
    fs.trace.describe(SQLITE, tmp_path / "stats.json")
    command = [sys.executable, "-m", "flashscape", "trace", "imitate", "stats.json", "--out=o"]
    running = subprocess.Popen(
        [*command, "--rows=200000000"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while not list(tmp_path.glob(".unfinished-*")) and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert [file.name for file in tmp_path.iterdir()] == ["stats.json"]


def test_real_traces_have_the_figures_of_their_readme():
    folder = ROOT.parent / "shared" / "traces"
    if not (folder / "iozone-100k.trace").exists():
        pytest.skip(f"{folder} has no traces")
    iozone = fs.trace.info(folder / "iozone-100k.trace")
    assert iozone.footprint_bytes / 2**30 == pytest.approx(1.06, abs=0.03)
    assert iozone.overwrite_ratio == pytest.approx(33, abs=0.5)
    tpcc = fs.trace.info(folder / "tpcc-small.trace")
    assert tpcc.of_kind("read")["share"] == pytest.approx(0.626, abs=0.001)
    assert tpcc.statistics["arrivals"]["requests_per_s"] == pytest.approx(51_000, rel=0.01)


FIO = "fio version 3 iolog\n5 a add\n5 a write 0 4096\n7 b write 0 4096\n"


def test_info_says_how_a_file_was_read(flashscape, tmp_path):
    (tmp_path / "log").write_text(FIO)
    found = fs.trace.info(tmp_path / "log", time_unit="ms")
    assert found.span_ns == 2_000_000
    assert list(found.passed_over.values()) == [1]
    assert found.device_names == ["a", "b"]
    assert "device_names" not in found.description()
    shown = flashscape("trace", "info", "log", "--time-unit=ms")
    assert "note: passed over: 1 line, the first 2: add, open, close" in shown.out
    assert "0 = a" in shown.out
    foreign = flashscape("trace", "info", "log", "--event=queue")
    assert foreign.status == 2
    assert "log: event has no meaning for fio I/O log, version 3" in foreign.err


def test_coarse_stamps_are_told_and_may_be_taken_apart(flashscape, tmp_path):
    (tmp_path / "coarse").write_text("9,0,8,0,7\n9,8,8,0,7\n10,16,8,0,7\n")
    told = "stamps are whole multiples of 1 s: up to 2 requests come at once"
    assert told in flashscape("trace", "info", "coarse").out
    apart = flashscape("trace", "info", "coarse", "--spread=uniform")
    assert told not in apart.out
    found = fs.trace.info(tmp_path / "coarse", spread="uniform")
    assert found.statistics["arrivals"]["resolution_ns"] == 500_000_000
    assert found.statistics["arrivals"]["simultaneous_share"] == 0


def test_a_log_without_waits_has_the_same_remedy_in_info_and_in_a_replay(flashscape, tmp_path):
    (tmp_path / "still.log").write_text(
        "fio version 2 iolog\nx add\nx open\nx read 0 4096\nx write 4096 4096\nx close\n"
    )
    told = flashscape("trace", "info", "still.log").out
    assert "all requests have one stamp: replay with --closed, or they come at once" in told
    replayed = flashscape("replay", "still.log", "--drive=atc19")
    assert "--closed" in replayed.out + replayed.err
    assert "spread" not in told + replayed.out + replayed.err


def rows(time: float, address: int, length: int, count: int = 100) -> str:
    """Return requests of 4 KiB, 1 ms apart, in these units, in columns as of DiskSim."""
    return "".join(
        f"{n * 1e-3 / time:.6f} 0 {n * 7919 % 4096 * 4096 // address} {4096 // length} {n % 2}\n"
        for n in range(count)
    )


@pytest.mark.parametrize(
    ("units", "said", "options"),
    [
        ((1e-3, 1, 1), "lengths count sectors of 512 B there", ["--block-size=1 B"]),
        ((1e-3, 512, 1), "lengths count sectors of 512 B there", ["--length-unit=1 B"]),
        ((1, 512, 512), "stamps count ms there", ["--time-unit=s"]),
        ((1, 1, 1), "stamps count ms there", ["--time-unit=s", "--block-size=1 B"]),
    ],
)
def test_units_that_cannot_be_right_are_refused_with_options(
    flashscape, tmp_path, units, said, options
):
    (tmp_path / "a.txt").write_text(rows(*units))
    (tmp_path / "right.txt").write_text(rows(1e-3, 512, 512))
    expected = fs.trace.info(tmp_path / "right.txt")
    assert expected.notes[:1] != ["doubtful"]
    for command in (["trace", "info", "a.txt"], ["replay", "a.txt", "--drive=atc19"]):
        refused = flashscape(*command)
        assert refused.status == 2
        assert said in refused.err
        assert options[0].replace("=1 B", " '1 B'").replace("=", " ") in refused.err
    told = flashscape("trace", "info", "a.txt", *options, "--json", "-")
    assert told.status == 0, told.err
    found = json.loads(told.out)
    assert found["requests"] == expected.requests
    assert found["bytes"] == expected.bytes
    assert found["span_ns"] == expected.span_ns
    # A format that is named is read, with a warning.
    named = flashscape("trace", "info", "a.txt", "--format=disksim")
    assert named.status == 0
    assert "doubtful" in named.out


def test_a_cut_file_may_end_before_its_last_line(flashscape, tmp_path):
    whole = rows(1e-3, 512, 512, 50)
    (tmp_path / "cut.txt").write_text(whole + "50.000000 0 12")
    for command in (["trace", "info"], ["replay", "--drive=atc19"]):
        refused = flashscape(*command, "cut.txt")
        assert refused.status == 2
        assert "cut.txt:51" in refused.err
        assert "--truncated end" in refused.err
    ended = flashscape("trace", "info", "cut.txt", "--truncated=end")
    assert ended.status == 0
    assert "passed over: 1 line, the first 51: the last line, where the file was cut" in ended.out
    assert fs.trace.info(tmp_path / "cut.txt", truncated="end").requests == 50
    replayed = flashscape("replay", "cut.txt", "--drive=atc19", "--truncated=end")
    assert replayed.status == 0, replayed.err


def test_convert_and_describe_take_the_readers_options(flashscape, tmp_path):
    (tmp_path / "log").write_text(FIO)
    ended = flashscape("trace", "convert", "log", "out", "--to=mqsim", "--time-unit=ms")
    assert ended.status == 0, ended.err
    assert (tmp_path / "out").read_text() == "5000000 0 0 8 0\n7000000 1 0 8 0\n"
    assert "note: passed over: 1 line, the first 2" in ended.err
    assert "note: names of devices have become numbers: 0 = a, 1 = b" in ended.err
    (tmp_path / "spc").write_text("0,2,512,R,0.5\n0,4,512,W,0.7\n")
    spaced = flashscape("trace", "convert", "spc", "far", "--to=mqsim", "--block-size=4KiB")
    assert spaced.status == 0, spaced.err
    assert (tmp_path / "far").read_text().startswith("500000000 0 16 1 1\n")
    wrong = flashscape("trace", "describe", "spc", "--out=stats.json", "--waits=gaps")
    assert wrong.status == 2
    assert "waits has no meaning for SPC" in wrong.err
    assert flashscape("trace", "describe", "spc", "--out=stats.json").status == 0


def test_a_description_does_not_tell_the_last_address(trace):
    info = fs.trace.info(trace)
    exact = info.statistics["footprint"]["span_bytes"]
    described = json.loads(info.description())
    footprint = described["statistics"]["footprint"]
    units = described["model"]["layout"]["span_units"]
    assert footprint["span_bytes"] == units * 4096 >= exact
    assert footprint["touched_share"] == footprint["touched_bytes"] / (units * 4096)


@pytest.mark.parametrize(
    ("command", "option", "said"),
    [
        ("info", "--memory=4k", "did you mean"),
        ("info", "--memory=1.5 B", "not a whole number of B"),
        ("info", "--memory=0 B", "more than 0 B"),
        ("info", "--memory=99999999 TiB", "--memory"),
        ("info", "--block-size=4k", "did you mean"),
        ("info", "--block-size=99999999 TiB", "--block-size"),
        ("convert", "--devices=-1", "-1 is no device number"),
        ("convert", "--devices=4294967296", "4294967296 is no device number"),
        ("convert", "--end=99999999999h", "--end"),
        ("convert", "--start=1.5 ns", "not a whole number of ns"),
        ("imitate", "--span=99999999 TiB", "--span"),
    ],
)
def test_sizes_and_times_are_read_as_in_configurations(
    flashscape, trace, tmp_path, command, option, said
):
    rest = {
        "info": (),
        "convert": (tmp_path / "out", "--to=msr"),
        "imitate": (f"--out={tmp_path / 'out'}",),
    }
    ended = flashscape("trace", command, trace, option, *rest[command])
    assert ended.status == 2
    assert said in ended.err
    assert "bug of flashscape" not in ended.err


def test_figures_go_through_links_and_into_no_device(flashscape, trace, tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    ended = flashscape("trace", "info", trace, f"--json={link}", "--force", "--quiet")
    assert ended.status == 0
    assert link.is_symlink()
    assert json.loads(real.read_text())["requests"]
    for path, said in (("/dev/null", "no regular file"), (tmp_path / "lost", "leads nowhere")):
        if path != "/dev/null":
            path.symlink_to(tmp_path / "absent")
        ended = flashscape("trace", "info", trace, f"--json={path}", "--force", "--quiet")
        assert ended.status != 0
        assert said in ended.err


def test_a_synthetic_trace_of_nothing_is_refused(flashscape, trace, tmp_path):
    stats, out = tmp_path / "stats.json", tmp_path / "out.csv"
    fs.trace.describe(trace, stats)
    everything = "read,write,trim,flush,write-zeroes"
    ended = flashscape("trace", "imitate", stats, f"--out={out}", f"--drop={everything}")
    assert ended.status != 0
    assert "no request is left" in ended.err
    assert not out.exists()


def test_a_trace_is_no_description(flashscape, trace, tmp_path):
    ended = flashscape("trace", "imitate", trace, f"--out={tmp_path / 'out'}")
    assert ended.status != 0
    assert "is no description of a trace" in ended.err
    assert "struct" not in ended.err
