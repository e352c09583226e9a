"""Figures that are not known to be steady: the reason, and a remedy that the workload allows."""

from __future__ import annotations

import pytest

import flashscape as fs
from flashscape.report import rows
from flashscape.steadiness import Unsteady, longer, unsteady


def summary(reason: str | None, **changes) -> dict:
    """Return the part of a summary that a verdict depends on; ``reason`` None: it is steady."""
    verdict = {"reached": reason is None, "from_ns": None, "reason": reason}
    return {
        "steady_state": {"latency": verdict, "write_amplification": verdict},
        "write_amplification": {"total": 1.0},
        "config": {"workload": [{"name": "host"}], "run": {"time": "1 s"}},
        "notes": [],
        **changes,
    }


def traced(*repeats: int, **run: object) -> dict:
    """Return a configuration with a trace for each number of repetitions."""
    return {"workload": [{"trace": {"file": "a", "repeat": n}} for n in repeats], "run": run}


def test_a_trace_is_made_longer_by_repeating_it():
    assert longer({"workload": [{"name": "host"}], "run": {"time": "1 s"}}) == "run longer"
    assert longer(traced(5)) == "run longer, with workload[0].trace.repeat = 6 or more"
    assert longer({"workload": [{"trace": {"file": "a"}}], "run": {}}).endswith("= 2 or more")
    both = "larger workload[0].trace.repeat and workload[1].trace.repeat"
    assert longer(traced(1, 1)) == f"run longer, with {both}"
    limited = "a larger run.time and workload[0].trace.repeat = 3 or more"
    assert longer(traced(2, time="9 s", requests=None)) == f"run longer, with {limited}"


@pytest.mark.parametrize(
    ("reason", "why", "more"),
    [
        ("still drifting until 1 s of 2 s; run longer", "still drifting until 1 s of 2 s", ""),
        ("drifting; run longer (the power was cut)", "drifting (the power was cut)", ""),
        (
            "only 4 intervals (run longer, or choose a shorter record.interval)",
            "only 4 intervals",
            ", or choose a shorter record.interval",
        ),
        ("its mean spreads by 30 %", "its mean spreads by 30 %", ""),
    ],
)
@pytest.mark.parametrize("config", [traced(1), traced()])
def test_the_remedy_is_what_the_workload_allows(reason, why, more, config):
    found = unsteady(summary(reason, config=config), "latency")
    assert found == Unsteady(why, longer(config) + more)
    assert found.told == f"{why}; {longer(config)}{more}"


def test_a_figure_that_is_steady_or_not_measured_has_no_reason():
    assert unsteady(summary(None), "latency") is None
    nothing = summary("drifting", write_amplification={"total": None})
    assert unsteady(nothing, "write_amplification") is None
    assert unsteady(nothing, "latency") is not None
    untimed = summary("no time", config={"workload": [], "run": {"untimed": True}})
    assert unsteady(untimed, "write_amplification") is None


def test_a_longer_run_does_not_help_against_overload():
    notes = ["overload: 900 of the 1000 requests had not completed"]
    assert unsteady(summary("its mean rises by 30 %", notes=notes), "latency").remedy is None


def test_a_short_replay_is_told_to_repeat_its_trace(small, tmp_path):
    (tmp_path / "t.csv").write_text(
        "time_us,op,offset,length\n" + "".join(f"{at * 100},W,0,4096\n" for at in range(50))
    )
    trace = {"name": "host", "trace": {"file": str(tmp_path / "t.csv"), "repeat": 2}}
    result = fs.run(small | {"workload": [trace], "run": {}})
    remedy = "run longer, with workload[0].trace.repeat = 3 or more"
    told = [value for name, value in rows.drive(result).rows if name.startswith("steady ")]
    assert len(told) == 2
    assert all(remedy in value for value in told)
    assert sum(remedy in each for each in fs.explain(result).sentences) == 2
