"""Requests without latency: flushes of a drive without a write buffer."""

import flashscape as fs

NO_TIME = {
    "drive": {
        "preset": "atc08",
        "geometry": {"blocks_per_plane": 32},
        # On a shared bus, a flush would wait for the data of others.
        "link": {"duplex": "half"},
    },
    "precondition": {"fill": "random"},
    "workload": [
        {"name": "host", "mix": {"read": "90 %", "flush": "10 %"}, "queue_depth": 8},
    ],
    "run": {"requests": 20000},
}


def test_tables_and_pictures_of_what_takes_no_time(flashscape, tmp_path):
    # Enough requests for an interval of the mean.
    long = {**NO_TIME, "run": {"requests": 100000}}
    result = fs.run(long, out=tmp_path / "run")
    flush = result.of_kind("flush")
    assert (flush.mean, flush.max, result.read.mean > 0) == (0, 0, True)
    for command in ("explain", "plot"):
        ended = flashscape(command, str(tmp_path / "run"))
        assert ended.status == 0, ended.err
    assert "0 ns" in flashscape("run", _written(tmp_path), "--set", "run.requests=100000").out


def test_what_takes_no_time_is_compared(tmp_path):
    slower = {**NO_TIME, "drive": {**NO_TIME["drive"], "nand": {"read": ["30 us"]}}}
    compared = fs.compare(NO_TIME, slower, seeds=2, out=tmp_path / "both")
    row = compared.contrasts[0].difference("host", "flush", "mean")
    assert (row.baseline, row.other, row.winner) == (0, 0, None)
    assert compared.contrasts[0].difference("host", "read", "mean").winner == "baseline"
    assert len(fs.plot(tmp_path / "both")) == 5


def test_a_comparison_that_is_not_kept_had_logs():
    few = {**NO_TIME, "run": {"requests": 200}}
    slower = {**few, "drive": {**NO_TIME["drive"], "nand": {"read": ["30 us"]}}}
    told = " ".join(fs.compare(few, slower).contrasts[0].sentences)
    assert "there are no logs" not in told


def _written(folder):
    text = """
[drive]
preset = "atc08"
geometry = { blocks_per_plane = 32 }
link = { duplex = "half" }
[precondition]
fill = "random"
[[workload]]
name = "host"
mix = { read = "90 %", flush = "10 %" }
queue_depth = 8
"""
    file = folder / "zero.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)
