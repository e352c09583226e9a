"""Misspelt names: each error shows the misspelt name, the similar one and the valid ones."""

from __future__ import annotations

import pytest

import flashscape as fs


@pytest.fixture(scope="module")
def result(small):
    return fs.run(small)


@pytest.fixture(scope="module")
def swept(small, tmp_path_factory):
    runs = {"run.requests": [50, 100]}
    return fs.sweep(small, grid=runs, out=tmp_path_factory.mktemp("swept") / "out", tables=True)


@pytest.fixture(scope="module")
def fleet(small, tmp_path_factory):
    few = {**small, "run": {"requests": 200}}
    return fs.fleet(few, drives=2, out=tmp_path_factory.mktemp("fleet") / "out")


def test_names_of_tables(result):
    with pytest.raises(fs.ConfigError) as refused:
        result.frame("slowestt")
    assert str(refused.value) == (
        "no table 'slowestt' (did you mean \"slowest\"? there are latency, blame, bands, series, "
        "wear, units, slowest, errors)"
    )
    with pytest.raises(fs.ConfigError, match=r"no table 'sereis' .*did you mean \"series\""):
        result.to_pandas("sereis")
    with pytest.raises(fs.ConfigError, match=r"no table 'requests' .*; the log .* is \.requests"):
        result.frame("requests")
    # The name of a table that only other drives have is not misspelt.
    with pytest.raises(fs.OutputError, match="no table errors: its drive has no bit errors"):
        result.frame("errors")


def test_names_of_kinds_and_initiators(result, fleet):
    for of in (result.of_kind, fleet.latency):
        with pytest.raises(fs.ConfigError, match=r"no kind 'raed' .did you mean \"read\"\? there"):
            of("raed")
        with pytest.raises(fs.ConfigError, match=r"no initiator 'hots' .did you mean \"host\""):
            of("read", "hots")


def test_numbers_of_points_and_drives(swept, fleet):
    for of in (swept.result, fleet.result):
        with pytest.raises(fs.ConfigError, match=r"no point 3 \(there are 1 to 2\)"):
            of(3)
        with pytest.raises(fs.ConfigError, match=r"no point 0 \(there are 1 to 2\)"):
            of(0)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"event": "quue"}, "event: no choice 'quue' (did you mean \"queue\"? there are queue, "),
        (
            {"time_unit": "m"},
            "time_unit: no choice 'm' (did you mean \"ms\"? there are ns, us, ms, s)",
        ),
        ({"waits": "gap"}, "waits: no choice 'gap' (did you mean \"gaps\"? there are gaps, "),
        ({"spread": "unifrom"}, "spread: no choice 'unifrom' (did you mean \"uniform\"? there"),
        ({"format": "blkprse"}, 'format: no format "blkprse" (did you mean "blkparse"? valid: '),
        ({"block_size": "x"}, 'block_size: "x" is not a size (write for example "4 KiB")'),
        ({"memory": "0 B"}, "memory: '0 B' is nothing; it must be more than 0 B"),
    ],
)
def test_options_of_traces(options, told, tmp_path):
    file = tmp_path / "trace"
    file.write_text("1 0 0 8 1\n")
    for function in (fs.trace.info, lambda *args, **more: fs.trace.convert(*args, **more)):
        if function is not fs.trace.info and "memory" in options:
            continue
        further = () if function is fs.trace.info else (tmp_path / "out", "captured")
        with pytest.raises(fs.ConfigError) as refused:
            function(file, *further, **options)
        assert str(refused.value).startswith(told)
    assert not (tmp_path / "out").exists()


def test_targets_of_conversions(tmp_path):
    file = tmp_path / "trace"
    file.write_text("1 0 0 8 1\n")
    out = tmp_path / "out"
    with pytest.raises(fs.ConfigError, match=r'to: no format "mqsm" .did you mean "mqsim"\?'):
        fs.trace.convert(file, out, "mqsm")
    with pytest.raises(fs.ConfigError, match=r'drop: no kind "flsh" .did you mean "flush"\?'):
        fs.trace.convert(file, out, "captured", format="mqsim", drop=["flsh"])
    assert not out.exists()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: fs.reproduce("tiny_tail_flsh"), 'did you mean "tiny-tail-flash"?'),
        (lambda: fs.Drive("dc-tcl"), 'did you mean "dc-tlc"?'),
        (lambda: fs.queries_over("x", reads=1, over="drive"), 'did you mean "drives"?'),
        (lambda: fs.act.run("dc-tlc", 1, arrivals="poison"), 'did you mean "poisson"?'),
    ],
)
def test_other_names(call, told):
    with pytest.raises(fs.FlashscapeError) as refused:
        call()
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("replay", "x", "--event", "quue"), "queue"),
        (("fanout", "--over", "drivs", "x"), "drives"),
        (("act", "dc-tlc", "--arrivals", "poison"), "poisson"),
        (("reproduce", "x", "--profile", "shrt"), "short"),
        (("presets", "dc-tcl"), "dc-tlc"),
        (("sweeep", "x"), "sweep"),
    ],
)
def test_choices_of_the_command_line(flashscape, arguments, meant):
    ended = flashscape(*arguments)
    assert ended.status == 2
    assert f'id you mean "{meant}"?' in ended.err.replace("'", '"')
