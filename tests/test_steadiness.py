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
        "initiators": [initiator("host")],
        "simulated_ns": 1_000_000_000,
        "counted_ns": 1_000_000_000,
        "complete": True,
        "notes": [],
        **changes,
    }


def initiator(name: str, reads: int = 500, writes: int = 500) -> dict:
    """Return the part of a summary with the numbers of requests of an initiator."""
    counts = {"read": reads, "write": writes, "write_zeroes": 0}
    return {"name": name, **{kind: {"requests": count} for kind, count in counts.items()}}


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
        # A sparse open loop ends at its last request, before the time: nothing else ends it.
        ({"workload": [{}], "run": {"time": "1010 ms"}}, None, "a larger run.time"),
        (
            {"workload": [{}, {"stop": {"time": "1 s"}}], "run": {"time": "1010 ms"}},
            None,
            "a larger run.time",
        ),
        # Every workload has stopped, long before the time.
        (
            {"workload": [{"stop": {"time": "1 s"}}], "run": {"time": "9 s"}},
            None,
            "a larger workload[0].stop.time",
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
    both = {"latency": verdict, "write_amplification": verdict}
    found = unsteady(summary(steady_state=both), "latency")
    assert found == Unsteady("1.4 cycles", 'run longer (run.time = "3.5 s" or more)')
    assert found.told == '1.4 cycles; run longer (run.time = "3.5 s" or more)'
    # Summaries of earlier versions say of no length.
    del verdict["needed_ns"]
    found = unsteady(summary(steady_state=both), "latency")
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


def stopped(stop: str, *, reader_writes: int = 0, **changes) -> dict:
    """Return a summary of a run of 3 s with a reader, and a writer that stops."""
    writer = {"name": "w", "stop": {"time": stop}}
    return summary(
        "1.5 cycles",
        config={"workload": [{"name": "r"}, writer], "run": {"time": "3 s"}},
        initiators=[initiator("r", writes=reader_writes), initiator("w", reads=0)],
        simulated_ns=3_000_000_000,
        **changes,
    )


def test_a_longer_run_is_no_remedy_after_all_writes_have_stopped():
    remedy = 'let writes go on until the end of the run (a larger workload[1].stop.time, now "1 s")'
    for figure in ("latency", "write_amplification"):
        assert unsteady(stopped("1 s"), figure) == Unsteady("1.5 cycles", remedy)
    late = stopped("1 s")
    # It stops a second after its start.
    late["config"]["workload"][1]["start"] = "1.5 s"
    # It writes in the last third, or another one writes.
    for other in (late, stopped("2.1 s"), stopped("1 s", reader_writes=5)):
        found = unsteady(other, "write_amplification")
        assert found.remedy == "run longer (a larger run.time)"
    # Latency for a reason of its own: more requests may tell.
    verdicts = dict(stopped("1 s")["steady_state"])
    verdicts["latency"] = verdicts["latency"] | {"reason": "only 20 requests"}
    found = unsteady(stopped("1 s") | {"steady_state": verdicts}, "latency")
    assert found.remedy == "run longer (a larger run.time)"


def test_a_warm_up_that_never_ended_is_to_be_shorter():
    run = {"time": "1 s", "warm_up": {"requests": 10_000_000}}
    config = {"workload": [{"name": "host"}], "run": run}
    found = unsteady(summary("nothing was counted", config=config, counted_ns=0), "latency")
    assert found.told == (
        "nothing was counted; shorten the warm-up (a smaller run.warm_up.requests)"
    )


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
