"""The study of erase suspension: its runs are valid, and its quickest exhibit runs."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import flashscape as fs
from declared import declared
from flashscape.errors import StudyError
from flashscape.reproduce import EndedEarly, Figure, Outcome, Setting
from flashscape.reproduce.study import read_data
from flashscape.reproduce.verdicts import judge
from flashscape.studies import erase_suspension as package
from flashscape.studies.erase_suspension import _act, _ratings, _runs

STUDY = "erase-suspension"
FOLDER = Path(package.__file__).parent


@pytest.mark.parametrize("profile", ["short", "full"])
def test_its_runs_are_sound_and_alike_wherever_they_are_shared(profile):
    runs = declared(STUDY, profile)
    kinds = {name.split("-")[0] for name in runs}
    assert kinds == {"fio", "micro", "act", "tpcc"}
    for run in [runs[name] for name in runs if "act" not in name or name.endswith("-30x")]:
        fs.check(run.experiment)


def test_percentiles_have_their_samples():
    for profile in ("short", "full"):
        run = declared(STUDY, profile)["fio-baseline"].experiment["run"]
        counted = run["requests"] - run["warm_up"]["requests"]
        # Ten beyond p99.999, of the writes, which are fewer.
        assert counted * 0.3 * 1e-5 >= 10, profile


def test_the_synthetic_load_asks_for_what_the_trace_does_if_nothing_holds_it_up():
    # As `flashscape trace info` says of tpcc-small.trace: 62.6 % reads, 51.3 thousand requests a
    # second, 8 KiB; hardly any address twice.
    setting = Setting("short", Path("no-traces"))
    for denser in (1, _runs.DENSER):
        reads, writes = _runs.tpcc(setting, "baseline", denser).experiment["workload"]
        read_rate = float(reads["arrivals"]["rate"].split()[0])
        think_s = float(writes["think_time"]["mean"].split()[0]) * 1e-6
        write_rate = writes["queue_depth"] / think_s
        assert read_rate == pytest.approx(0.626 * 51_300 * denser, rel=0.01)
        assert write_rate == pytest.approx(0.374 * 51_300 * denser, rel=0.05)
        assert reads["size"] == writes["size"] == "8 KiB"


def test_lambda_t_is_reads_of_a_die_in_a_step():
    # 32.1 thousand reads, each on 23/8 units, over 8 dies, in 1 ms.
    assert _runs.lambda_t() == pytest.approx(32_100 * 2.875 / 8 * 1e-3)
    assert _runs.lambda_t(5) == pytest.approx(5 * _runs.lambda_t())


def test_a_drive_that_starves_is_told_from_one_that_ends(tmp_path):
    found = fs.reproduce("erase-suspension/figure-3", out=tmp_path / "out", progress=False)
    [claim] = found.claims
    # A write that starves from the beginning waits four times as long in 4 T.
    assert (claim.id, claim.verdict) == ("E-9", "reproduced")
    ratio = claim.figures["i_es_write_max_4t_ns"] / claim.figures["i_es_write_max_1t_ns"]
    assert ratio == pytest.approx(4, rel=0.02)
    [written] = json.loads(found.to_json())
    assert {"id", "claim", "paper", "ours", "verdict", "reason"} <= set(written)
    assert (tmp_path / "out" / "figure-3" / "writes.png").stat().st_size > 10_000


def test_ratings_end_at_the_first_failure(monkeypatch):
    why = ("too slow",)
    failures = {8: ((), ()), 10: ((), why), 12: (why, why), 14: ((), ())}
    monkeypatch.setattr(_act, "ladder", lambda _: list(failures))
    monkeypatch.setattr(_ratings, "failures", lambda outcome, k, lengths, threads: failures[k])

    class Runs:
        setting = None

        def __getitem__(self, name):
            return name

    rated = _ratings.of_preset(Runs())
    assert rated.stress == dict.fromkeys(_act.RATED, 10)
    assert rated.performance == dict.fromkeys(_act.RATED, 8)


def rated(baseline, es, i_es, d_es, t_es):
    of = dict(zip(_act.RATED, (baseline, es, i_es, d_es, t_es), strict=True))
    return _ratings.Ratings(stress=of, performance=of)


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        # The paper's own: Baseline 32, ES and I-ES 22 in the stress test, D-ES and T-ES best.
        (rated(32, 22, 22, 40, 40), ["E-10", "E-11", "E-12"]),
        (rated(40, 22, 22, 40, 40), ["E-11", "E-12"]),
        (rated(12, 20, 8, 18, 8), []),
        (rated(12, 16, 8, 16, 16), ["E-10", "E-12"]),
        (rated(20, 22, 22, 24, 21), ["E-10"]),
        # Equal ratings, at the end of the ladder or not, are no order.
        (rated(0, 0, 0, 0, 0), []),
        (rated(60, 60, 60, 60, 60), []),
        (rated(60, 60, 22, 60, 60), ["E-12"]),
        (rated(22, 16, 16, 24, 22), ["E-11", "E-12"]),
        # T-ES is better than no scheme.
        (rated(24, 24, 24, 30, 24), []),
        # A rating of 0 is none.
        (rated(0, 12, 12, 20, 20), []),
        (rated(32, 22, 0, 40, 40), ["E-10"]),
        (rated(20, 0, 0, 0, 0), []),
    ],
)
def test_orders_of_ratings_are_the_papers(given, holds):
    assert list(given.in_order) == holds


def outcomes(profile):
    return SimpleNamespace(setting=Setting(profile, Path("traces")))


def test_a_region_tells_in_which_combinations_all_orders_hold(monkeypatch):
    preset, largest = _act.PRESET, _act.Variant(300, 16)
    special = {
        (preset, 1): rated(12, 16, 8, 16, 16),
        (largest, 3): rated(40, 22, 22, 40, 40),
        (largest, 8): rated(32, 22, 22, 40, 40),
    }
    monkeypatch.setattr(
        _ratings,
        "of_variant",
        lambda runs, variant, threads: special.get((variant, threads), rated(0, 0, 0, 0, 0)),
    )
    found = _ratings.region(outcomes("full"), "E-10")
    assert found.holds == ((preset, 1), (largest, 8))
    assert found.figures == {"combinations_in_order": 2, "combinations_in_all_orders": 1}
    assert found.text == (
        "the order holds in 2 (ramps of 100 and 300 us, buffers of 1 and 16 MiB, 1 and 8 threads) "
        "of 36 combinations of ramp, buffer and threads, those of E-10, E-11, E-12 together in 1 "
        "(ramps of 300 us, buffers of 16 MiB, 8 threads) (table-3/map)"
    )
    # The short profile tries the corners of the map.
    assert "of 16 combinations" in _ratings.region(outcomes("short"), "E-10").text
    del special[largest, 8]
    assert _ratings.region(outcomes("full"), "E-11").together == ()
    assert "together in none" in _ratings.region(outcomes("full"), "E-11").text


@pytest.mark.parametrize("claim", ["E-10", "E-11", "E-12"])
def test_ratings_need_a_combination_in_which_all_orders_hold(claim):
    _, claims, _ = read_data(FOLDER)
    [found] = [each for each in claims if each.id == claim]
    # With the preset no order holds.
    given = dict.fromkeys(found.figures, 12) | {"d_es_completed": True, "t_es_completed": True}
    given["baseline_performance_multiplier"] = 14
    for together, verdict in ((1, "direction"), (0, "missed")):
        given |= {"combinations_in_order": 9, "combinations_in_all_orders": together}
        figures = {name: Figure.of(given[name]) for name in found.figures}
        assert judge(found.full, figures)[0] == verdict


def salted(written, *, ended=None):
    """Return a run that writes so many bytes before the load begins, and a large write later."""
    ends = [_act._SALT_NS - _act._SERIES_NS, _act._SALT_NS, _act._SALT_NS + _act._SERIES_NS]
    series = pl.DataFrame({"end_ns": ends, "write_bytes": [written - 4096, 4096, 131_072]})
    result = SimpleNamespace(series=series)
    if ended is None:
        return Outcome("act-x", None, whole=result)
    return Outcome("act-x", None, ended_early=EndedEarly(ended, "a write waits", result))


@pytest.mark.parametrize("ended", [None, "StarvationError"])
def test_a_load_that_begins_before_the_overwrite_has_ended_is_refused(ended):
    whole = _act._salted_bytes()
    _act.check_salted(salted(whole, ended=ended))
    with pytest.raises(StudyError, match=rf"act-x: .* only {whole - 1} of {whole} bytes in 12 s"):
        _ratings.failures(salted(whole - 1, ended=ended), 30, _act.lengths(30))


@pytest.mark.parametrize("profile", ["short", "full"])
def test_the_load_of_act_begins_between_two_intervals_of_the_series(profile):
    assert _act._SALT_NS % _act._SERIES_NS == 0
    for name, run in declared(STUDY, profile).items():
        if not name.startswith("act-"):
            continue
        assert "series" in run.tables, name
        # Longer runs would merge intervals.
        ends_ns = int(run.experiment["run"]["time"].removesuffix(" ns"))
        assert ends_ns < 4096 * _act._SERIES_NS, name
        salt, *load = run.experiment["workload"]
        assert salt["name"] == "salt"
        assert min(int(s["start"].removesuffix(" ns")) for s in load) >= _act._SALT_NS, name


def test_variants_keep_a_step_of_a_millisecond():
    for name, run in declared(STUDY, "short").items():
        if not name.startswith("act-map-") or not name.endswith("-t-es-64-8x"):
            continue
        drive = fs.check(run.experiment)
        assert drive["durations_ns"]["erase"] == 5_000_000, name
    buffers = {variant.drive["buffer"]["size"] for variant in _act.VARIANTS}
    assert buffers == {"1 MiB", "4 MiB", "16 MiB"}


def test_the_load_of_act_is_at_random_addresses():
    run = declared(STUDY, "short")["act-baseline-30x"]
    assert all("addresses" not in stream for stream in run.experiment["workload"])
    large = [s for s in run.experiment["workload"] if s["size"] == "131072 B"]
    assert {stream["align"] for stream in large} == {"131072 B"}
