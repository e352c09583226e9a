"""The study of erase suspension: its runs are sound, and its quickest exhibit runs."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import flashscape as fs
from flashscape.reproduce import Setting
from flashscape.studies.erase_suspension import _act, _runs

EXHIBITS = (
    "abstract",
    "figure_3",
    "figure_4",
    "table_3",
    "figure_5",
    "figure_6",
    "table_4",
    "figure_7",
)


def declared(profile):
    setting = Setting(profile, Path("no-traces"))
    runs = {}
    for name in EXHIBITS:
        module = importlib.import_module(f"flashscape.studies.erase_suspension.{name}")
        for run in module.exhibit.declared(setting):
            runs.setdefault(run.name, run)
            assert runs[run.name].experiment == run.experiment, f"{run.name} of {name} is another"
    return runs


@pytest.mark.parametrize("profile", ["short", "full"])
def test_its_runs_are_sound_and_alike_wherever_they_are_shared(profile):
    runs = declared(profile)
    kinds = {name.split("-")[0] for name in runs}
    assert kinds == {"fio", "micro", "act", "tpcc"}
    for run in [runs[name] for name in runs if "act" not in name or name.endswith("-30x")]:
        fs.check(run.experiment)


def test_percentiles_have_their_samples():
    for profile in ("short", "full"):
        run = declared(profile)["fio-baseline"].experiment["run"]
        counted = run["requests"] - run["warm_up"]["requests"]
        # Ten beyond p99.999, of the writes, which are fewer.
        assert counted * 0.3 * 1e-5 >= 10, profile


def test_the_stand_in_has_the_statistics_of_the_trace():
    # As `flashscape trace info` says of tpcc-small.trace: 62.6 % reads, 51.3 thousand requests a
    # second, 8 KiB; hardly any address twice.
    reads, writes = _runs.tpcc("baseline").experiment["workload"]
    per_second = float(reads["arrivals"]["rate"].split()[0]) * _runs._TIME_SCALE
    assert per_second == pytest.approx(0.626 * 51_300, rel=0.01)
    think_s = float(writes["think_time"]["mean"].split()[0]) * 1e-6
    unhindered = writes["queue_depth"] / think_s * _runs._TIME_SCALE
    assert per_second / (per_second + unhindered) == pytest.approx(0.626, abs=0.02)
    assert reads["size"] == writes["size"] == "8 KiB"


def test_lambda_t_is_reads_of_a_die_in_a_step():
    # 161 thousand reads, each on 23/8 units, over 8 dies, in 1 ms.
    assert _runs.lambda_t() == pytest.approx(161_000 * 2.875 / 8 * 1e-3)


def test_a_drive_that_starves_is_told_from_one_that_ends(tmp_path):
    found = fs.reproduce("erase-suspension/figure-3", out=tmp_path / "out", progress=False)
    [claim] = found.claims
    assert (claim.id, claim.verdict) == ("E-9", "reproduced")
    [written] = json.loads(found.to_json())
    assert {"id", "claim", "paper", "ours", "verdict", "reason"} <= set(written)
    assert (tmp_path / "out" / "figure-3" / "writes.png").stat().st_size > 10_000


def test_ratings_end_at_the_first_failure(monkeypatch):
    passed = {8: (True, True), 10: (True, False), 12: (False, False), 14: (True, True)}
    monkeypatch.setattr(_act, "ladder", lambda _: list(passed))
    monkeypatch.setattr(_act, "passes", lambda outcome, k: passed[k])

    class Runs:
        setting = None

        def __getitem__(self, name):
            return name

    assert _act.ratings(Runs(), "d-es") == (10, 8)
