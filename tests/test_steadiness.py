"""Figures that are not known to be steady: the reason, and a remedy that the workload allows."""

from __future__ import annotations

import pytest

import flashscape as fs
from flashscape.report import rows
from flashscape.steadiness import LONGER, Unsteady, longer, unsteady

OVERLOAD = "overload: 900 of the 1000 requests had not completed"


def summary(reason: str | None = "drifting", **changes) -> dict:
    """Return the part of a summary that a verdict depends on; ``reason`` None: it is steady."""
    verdict = {"reached": reason is None, "from_ns": None, "reason": reason, "needed_ns": None}
    return {
        "steady_state": {"latency": verdict, "write_amplification": verdict},
        "write_amplification": {"total": 1.0},
        "config": {"workload": [{"name": "host"}], "run": {"time": "1 s"}},
        "simulated_ns": 1_000_000_000,
        "complete": True,
        "notes": [],
        **changes,
    }


def traced(*repeats: int, **run: object) -> dict:
    """Return a configuration with a trace for each number of repetitions."""
    return {"workload": [{"trace": {"file": "a", "repeat": n}} for n in repeats], "run": run}


@pytest.mark.parametrize(
    ("config", "needed", "told"),
    [
        ({"workload": [{}], "run": {"time": "1 s"}}, None, "a larger run.time"),
        # Two digits, rounded up.
        ({"workload": [{}], "run": {"time": "1 s"}}, 6.41e9, 'run.time = "6.5 s" or more'),
        ({"workload": [{}], "run": {"time": "1 s"}}, 641e9, 'run.time = "650 s" or more'),
        # The time was not reached: the number of requests ended the run.
        (
            {"workload": [{}], "run": {"time": "9 s", "requests": 5000}},
            2.5e9,
            "run.requests = 13000 or more",
        ),
        ({"workload": [{}], "run": {"bytes": "1 GB"}}, 2.5e9, "a larger run.bytes"),
        (
            {"workload": [{"stop": {"requests": 70}}], "run": {}},
            None,
            "a larger workload[0].stop.requests",
        ),
        (traced(5), None, "workload[0].trace.repeat = 6 or more"),
        (traced(5), 2.1e9, "workload[0].trace.repeat = 11 or more"),
        (
            {"workload": [{"trace": {"file": "a"}}], "run": {}},
            None,
            "workload[0].trace.repeat = 2 or more",
        ),
        (
            traced(2, requests=100),
            None,
            "a larger run.requests, workload[0].trace.repeat = 3 or more",
        ),
    ],
)
def test_a_run_is_made_longer_by_what_ended_it(config, needed, told):
    assert longer(summary(config=config), needed) == f"{LONGER} ({told})"


def test_the_remedy_has_the_length_that_is_needed():
    verdict = {"reached": False, "from_ns": None, "reason": "1.4 cycles", "needed_ns": 3.5e9}
    found = unsteady(summary(steady_state={"latency": verdict}), "latency")
    assert found == Unsteady("1.4 cycles", 'run longer (run.time = "3.5 s" or more)')
    assert found.told == '1.4 cycles; run longer (run.time = "3.5 s" or more)'
    # Summaries of earlier versions say of no length.
    del verdict["needed_ns"]
    found = unsteady(summary(steady_state={"latency": verdict}), "latency")
    assert found.remedy == "run longer (a larger run.time)"


def test_a_figure_that_is_steady_or_not_measured_has_no_reason():
    assert unsteady(summary(None), "latency") is None
    nothing = summary("drifting", write_amplification={"total": None})
    assert unsteady(nothing, "write_amplification") is None
    assert unsteady(nothing, "latency") is not None
    untimed = summary("no time", config={"workload": [], "run": {"untimed": True}})
    assert unsteady(untimed, "write_amplification") is None


def test_a_longer_run_is_not_advised_where_it_does_not_help():
    overloaded = summary("it rises", notes=[OVERLOAD])
    assert longer(overloaded) is None
    found = unsteady(overloaded, "latency")
    assert found.remedy is None
    assert "the workload is overloaded, so a longer run would not be steadier" in found.told
    assert LONGER not in found.told
    starved = summary(complete=False, starvation={"ended_run": True})
    assert longer(starved) is None
    assert unsteady(starved, "latency").told == "drifting"
    assert longer(summary(complete=False)) == "run it to its end"


def test_a_short_replay_is_told_to_repeat_its_trace(small, tmp_path):
    (tmp_path / "t.csv").write_text(
        "time_us,op,offset,length\n" + "".join(f"{at * 100},W,0,4096\n" for at in range(50))
    )
    trace = {"name": "host", "trace": {"file": str(tmp_path / "t.csv"), "repeat": 2}}
    result = fs.run(small | {"workload": [trace], "run": {}})
    remedy = "run longer (workload[0].trace.repeat = 3 or more)"
    told = dict(rows.drive(result).rows)["steady write amplification"]
    assert told.startswith("not known: nothing was programmed")
    assert remedy in told
    assert sum(remedy in each for each in fs.explain(result).sentences) == 1
