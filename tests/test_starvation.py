"""Requests that starve: the run ends with partial results, or continues and reports it."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import flashscape as fs

LIMIT = 400_000
"""Limit in nanoseconds: longer than most requests of the small drive, shorter than an erase."""


@pytest.fixture
def starving(config):
    """A configuration in which requests starve."""
    config["run"]["starvation"] = {"limit": f"{LIMIT} ns"}
    return config


def _flat(standings):
    """Yield standings, and those that they wait for."""
    for one in standings:
        yield one
        yield from _flat(one["behind"])


def test_a_request_that_starves_ends_the_run_with_what_was_measured(starving, tmp_path):
    with pytest.raises(fs.StarvationError) as caught:
        fs.run(starving, out=tmp_path / "out", requests=tmp_path / "out" / "requests.parquet")
    error = caught.value
    assert isinstance(error, fs.FlashscapeError)
    request, result = error.request, error.result
    assert request.starved_ns - request.submitted_ns == request.age_ns == LIMIT
    assert result.complete is False
    assert result.cut_short == "ended by starvation"
    assert result.summary["simulated_ns"] == request.starved_ns
    kept = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert kept["complete"] is False
    told = kept["starvation"]
    assert told == result.starvation
    assert told["first"] == request._asdict()
    assert told["ended_run"] is True
    assert sum(one["requests"] for one in told["outstanding"]) == request.outstanding
    assert max(one["oldest_ns"] for one in told["outstanding"]) == LIMIT
    # Completed requests were younger, and the log has no others.
    log = fs.Result.load(tmp_path / "out").requests.collect()
    assert len(log) == sum(figures["requests"] for _, _, figures in result.groups())
    assert (log["finished_ns"] <= request.starved_ns).all()


def test_what_is_in_the_way_is_told_as_data_and_in_words(starving):
    with pytest.raises(fs.StarvationError) as caught:
        fs.run(starving)
    request = caught.value.request
    assert request.why in str(caught.value)
    assert request.standings[0]["words"] in request.why
    for one in _flat(request.standings):
        assert one["since_ns"] is None or one["since_ns"] <= request.starved_ns
        assert one["until_ns"] is None or one["until_ns"] >= request.starved_ns
        assert (one["operation"] is None) == (one["source"] is None)
    assert sum(request.blame_ns.values()) > 0


def test_what_is_reported_changes_nothing_else(starving):
    starving["run"]["starvation"]["then"] = "report"
    reported = fs.run(starving)
    del starving["run"]["starvation"]
    plain = fs.run(starving)
    assert plain.starvation is None
    assert reported.digest == plain.digest
    told = reported.starvation
    assert reported.complete
    assert told["ended_run"] is False
    assert told["outstanding"] == []
    assert told["requests"] == sum(one["requests"] for one in told["starved"]) > 1
    assert told["longest_ns"] > LIMIT
    # At the queue depth of a closed loop, no request waits in the host.
    longest = max(figures["latency_ns"]["max"] for _, _, figures in reported.groups())
    assert told["longest_ns"] == longest
    (note,) = (note for note in reported.summary["notes"] if note.startswith("starvation: "))
    assert f"{told['requests']} requests reached the age of 400 us" in note
    assert note in fs.explain(reported).sentences
    assert set(reported.summary) == set(plain.summary)


def test_a_limit_that_nothing_reaches_leaves_no_trace(config):
    config["run"]["starvation"] = {"limit": "30 s"}
    result = fs.run(config)
    assert result.complete
    assert result.starvation["requests"] == 0
    assert result.starvation["first"] is None
    assert not any("starvation" in note for note in result.summary["notes"])


def test_the_command_ends_with_one_message(flashscape, experiment_file, tmp_path):
    more = ["--set", "run.starvation.limit=400 us", "--out", "out"]
    ended = flashscape("run", experiment_file, *more)
    assert ended.status == 1
    (line,) = ended.err.splitlines()
    assert line.startswith("error: starvation: a ")
    assert "was not answered within 400 us: it" in line
    assert line.endswith(
        '; give a longer run.starvation.limit, or run.starvation.then = "report" to go on'
    )
    assert "ENDED BY STARVATION, partial results" in ended.out
    assert "note: starvation ended the run" in ended.out
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["complete"] is False
    explained = flashscape("explain", "out")
    assert explained.status == 0
    assert "starvation ended the run" in explained.out
    assert "The run was ended by starvation" in explained.out


def test_the_command_goes_on_where_it_is_only_told(flashscape, experiment_file):
    more = ["--set", "run.starvation.limit=400 us", "--set", "run.starvation.then=report"]
    ended = flashscape("run", experiment_file, *more)
    assert ended.status == 0
    assert "note: starvation: " in ended.out


@pytest.mark.parametrize(
    ("limit", "told"),
    [("0 s", "must be more than 0"), ("9000 h", "at most 365 d"), ("30", "has no unit")],
)
def test_limits_that_make_no_sense_are_refused(flashscape, experiment_file, limit, told):
    ended = flashscape("check", experiment_file, "--set", f'run.starvation.limit="{limit}"')
    assert ended.status == 2
    assert "run.starvation.limit" in ended.err
    assert told in ended.err


def test_the_exception_goes_to_other_processes_whole(starving):
    with pytest.raises(fs.StarvationError) as caught:
        fs.run(starving)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.request == caught.value.request
    assert again.result.digest == caught.value.result.digest


def _drive(**starvation):
    """Return a drive on which a read takes more than 50 us."""
    fill = {"fill": "sequential", "share": "1 %"}
    return fs.Drive("dc-tlc", precondition=fill, starvation=starvation or None)


def test_a_drive_that_is_moved_step_by_step_stands_still_where_a_request_starves():
    drive = _drive(limit="50 us")
    first = drive.submit("read", offset=0, length=4096, at_ns=1_000)
    second = drive.submit("read", offset=4096, length=4096, at_ns=2_000)
    with pytest.raises(fs.StarvationError) as caught:
        drive.advance(1_000_000)
    assert caught.value.id == first
    assert caught.value.request.submitted_ns == 1_000
    assert drive.now_ns == 51_000
    # The drive continues, and each request starves once.
    with pytest.raises(fs.StarvationError) as caught:
        drive.submit("read", at_ns=52_000, offset=8192, length=4096)
    assert caught.value.id == second
    assert [done.id for done in drive.advance(1_000_000)] == [first, second]
    assert drive.starvation()["requests"] == 2
    assert drive.outstanding == 0


def test_a_drive_that_only_tells_goes_as_one_that_does_not_look():
    drives = [_drive(limit="50 us", then="report"), _drive()]
    for drive in drives:
        drive.submit("read", offset=0, length=4096)
        assert len(drive.advance(1_000_000)) == 1
    told, plain = drives
    assert told.digest == plain.digest
    assert told.starvation()["requests"] == 1
    assert told.clone().starvation() == told.starvation()
    assert plain.starvation() is None


def test_a_sweep_takes_the_point_as_failed(starving, tmp_path):
    swept = fs.sweep(
        starving, grid={"run.starvation.limit": ["400 us", "30 s"]}, out=tmp_path / "sweep", jobs=1
    )
    assert swept.counts["failed"] == 1
    ((_, told),) = swept.failures
    assert told.startswith("starvation: ")


def test_pictures_tell_of_requests_that_no_curve_has(starving, config):
    pytest.importorskip("matplotlib")
    from flashscape import picture
    from flashscape.compare import picture as overlay

    with pytest.raises(fs.StarvationError) as caught:
        fs.run(starving)
    starved = caught.value.result
    waiting = starved.starvation["outstanding"]
    number = sum(each["requests"] for each in waiting)
    # The oldest is the one that starved, at its limit.
    assert max(each["oldest_ns"] for each in waiting) == LIMIT
    told = f"Not in the curves: {number} requests without an answer, the oldest for 400 µs"
    # The title reports this if it is longer than every drawn latency.
    longest = max(each["latency_ns"]["max"] for _, _, each in starved.groups())
    assert (told in picture.draw(starved).get_suptitle()) is (longest < LIMIT)
    whole = copy.deepcopy(config)
    del whole["run"]["starvation"]
    whole = fs.run(whole)
    assert "Not in" not in picture.draw(whole).get_suptitle()
    figure = overlay.draw(fs.compare(starved, whole).pictured())
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert [label.endswith(" – partial") for label in labels] == [True, False]
    # The verdict is broken into lines that fit the panels below.
    panels = sum(axes.axison for axes in figure.axes)
    assert max(map(len, figure.get_suptitle().splitlines())) <= 80 * panels
