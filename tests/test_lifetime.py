"""Projected lives: the arithmetic by closed forms, and whole projections by theory."""

from __future__ import annotations

import copy
import json
import math

import pytest

import flashscape as fs
from flashscape.lifetime import Conditions, Lifetime, Limits, WearState
from flashscape.lifetime.projection import (
    CYCLES_MOST,
    TOLERANCE,
    Bracket,
    Plan,
    bracket,
    crossing,
    integral,
)

# The arithmetic.


def log_linear(cycles: float) -> float:
    """Return a UBER of 1e-20 when new, ten times as high each 500 cycles."""
    return 10.0 ** (-20 + cycles / 500)


def test_a_log_linear_uber_crosses_exactly():
    rates = {cycles: log_linear(cycles) for cycles in (0, 1000, 4000, 8000)}
    found = bracket(rates, 1e-15)
    assert found == Bracket(1000, 4000)
    assert crossing(rates, found, 1e-15) == pytest.approx(2500, rel=1e-12)


def test_a_crossing_outside_the_states_is_told():
    rates = {1000: 1e-14, 2000: 1e-12}
    assert crossing(rates, bracket(rates, 1e-15), 1e-15) == 0.0
    assert crossing(rates, bracket(rates, 1e-10), 1e-10) is None
    # Zero has no logarithm, and the lower end is the safe one.
    nothing = {1000: 0.0, 1010: 1e-12}
    assert crossing(nothing, bracket(nothing, 1e-15), 1e-15) == 1000


def test_the_first_crossing_counts():
    rates = {0: 1e-20, 100: 1e-12, 200: 1e-18, 300: 1e-11}
    assert bracket(rates, 1e-15) == Bracket(0, 100)


def test_the_integral_is_that_of_trapezoids():
    assert integral([(1000, 7.0)], 3000) == 21_000
    # Constant 2 to 1000, then rising by 1 each 1000 cycles, constant 4 from 3000 on.
    rising = [(1000, 2.0), (3000, 4.0)]
    assert integral(rising, 1000) == 2000
    assert integral(rising, 2000) == 2000 + 2500
    assert integral(rising, 5000) == 2000 + 6000 + 8000
    assert integral(rising, 0) == 0


def run_all(plan: Plan, uber) -> dict[int, float]:
    """Run a plan on a drive whose UBER is a function of its cycles."""
    tried: dict[int, float | None] = {}
    refined = 0
    for _ in range(60):
        wanted = plan.wanted(tried, refined)
        if not wanted:
            return dict(tried)
        assert not set(wanted) & set(tried)
        refined += bool(tried) and max(wanted) < max(tried)
        tried |= {cycles: uber(cycles) for cycles in wanted}
    raise AssertionError("the search does not end")


def test_a_log_linear_uber_needs_one_round_of_refinement():
    tried = run_all(Plan.of(None, limit=1e-15, wear=None), log_linear)
    # 0, 500, 1000 and 2000, then 4000 and 8000, then both sides of 2500.
    assert len(tried) == 8
    assert bracket(tried, 1e-15).is_narrow


@pytest.mark.parametrize(
    "uber",
    [
        pytest.param(lambda c: 1e-30 * (c / 100) ** 12, id="a power law"),
        pytest.param(lambda c: 0.0 if c < 7001 else 1.0, id="a step from nothing"),
        pytest.param(lambda c: 1e-300 if c < 1999 else 1e-3, id="a step"),
        pytest.param(lambda c: math.exp(-3e5 / (c + 1)), id="a bend"),
    ],
)
def test_the_search_ends_within_the_tolerance(uber):
    limit = 1e-15
    tried = run_all(Plan.of(None, limit=limit, wear=None), uber)
    low, high = bracket(tried, limit)
    assert uber(low) <= limit < uber(high)
    assert high - low <= max(1, TOLERANCE * high)


def test_a_limit_that_is_not_reached_ends_the_search_at_the_most_cycles():
    tried = run_all(Plan.of(None, limit=1e-15, wear=None), lambda _: 1e-30)
    assert max(tried) == CYCLES_MOST
    given = run_all(Plan.of([100, 700], limit=1e-15, wear=None), lambda _: 1e-30)
    assert sorted(given) == [100, 700]


def test_beyond_the_wear_limit_nothing_is_searched():
    beyond = run_all(Plan.of([1000, 2100, 9000], limit=1e-15, wear=2000), log_linear)
    assert sorted(beyond) == [1000, 2000, 2100, 9000]
    before = run_all(Plan.of([1000, 9000], limit=1e-15, wear=3000), log_linear)
    assert bracket(before, 1e-15).is_narrow
    early = run_all(Plan.of([0, 9000], limit=1e-15, wear=2000), log_linear)
    # UBER crosses at 2500, between 2000 and 9000: the wear limit comes first.
    assert sorted(early) == [0, 2000, 9000]


def state(cycles: int, amplification: float, uber: float | None = None, **more) -> WearState:
    figures = {
        "cycles": cycles,
        "write_amplification": amplification,
        "erased_for_each_programmed": 1.0,
        "bytes_per_second": 1e6,
        "uber": uber,
        "uber_counted": None if uber is None else 0.0,
        "lost_units": None if uber is None else 0,
        "moved_units": None if uber is None else 0,
        "bits_read": None if uber is None else 10**9,
        "added_cycles": 2.0,
        "erases_of_a_block": 3.0,
        "counted_ns": 10**10,
        "is_steady": True,
        "good_bytes": 8 * 10**9,
        "digest": "0" * 16,
    }
    return WearState(**figures | more)


CONDITIONS = Conditions("a drive", 5 * 10**9, None, is_wear_spread=False, has_rate=True)


def life(*states: WearState, uber=1e-15, wear=None, years=5, conditions=CONDITIONS) -> Lifetime:
    return Lifetime(Limits(uber, wear, years), conditions, states)


def test_tbw_is_cycles_by_bytes_over_write_amplification():
    found = life(state(0, 4.0), uber=None, wear=3000)
    # 3000 x 8 GB / 4; 1200 drive writes of 5 GB; over 1825 days; at 1 MB/s.
    assert (found.ends_by, found.cycles) == ("wear", 3000)
    assert found.host_bytes == 6e12
    assert found.tbw == 6.0
    assert found.drive_writes == 1200
    assert found.dwpd == pytest.approx(1200 / 1825, rel=1e-12)
    assert found.seconds == 6e6
    assert life(state(0, 4.0), uber=None, wear=3000, years=3).dwpd == pytest.approx(1200 / 1095)


def test_write_amplification_that_grows_with_wear_is_summed_over_wear():
    found = life(state(0, 2.0), state(2000, 4.0), uber=None, wear=2000)
    # 4 GB for each cycle at first and 2 GB at last.
    assert found.host_bytes == 2000 * 3e9


def test_the_lower_limit_ends_a_life():
    states = [state(cycles, 4.0, log_linear(cycles)) for cycles in (0, 2000, 3000)]
    assert (life(*states).ends_by, life(*states).cycles) == ("uber", pytest.approx(2500))
    assert life(*states, wear=3000).ends_by == "uber"
    by_wear = life(*states, wear=2400)
    assert (by_wear.ends_by, by_wear.cycles) == ("wear", 2400)
    assert life(*states).host_bytes == pytest.approx(2500 * 2e9, rel=1e-12)


def test_a_life_without_end_is_at_least_that_of_the_last_state():
    found = life(*(state(cycles, 4.0, 1e-20) for cycles in (0, 2000)))
    assert (found.ends_by, found.cycles, found.host_bytes) == (None, 2000, 4e12)
    assert "does not reach 1e-15 up to 2,000 cycles" in found.verdict[0]
    assert any("at least" in line for line in found.verdict)


def test_a_drive_that_fails_from_the_beginning_has_no_life():
    found = life(state(500, 4.0, 1e-9), state(900, 4.0, 1e-8))
    assert (found.ends_by, found.cycles, found.tbw, found.dwpd) == ("uber", 0, 0, 0)
    assert "1e-09 at 500 cycles, the least that were run" in found.verdict[0]
    assert "lower cycles=" in found.verdict[0]
    assert "less than 500 cycles; how long it is was not looked for" in found.verdict[1]
    never = life(state(0, 4.0, 1e-9), state(900, 4.0, 1e-8))
    assert "hosts can write nothing" in never.verdict[1]


def test_notes_tell_which_figures_mislead():
    def notes(**more) -> str:
        return "; ".join(life(state(0, 4.0, 1e-20, **more)).notes)

    assert notes(lost_units=100) == ""
    assert "lost data that they moved" in notes(lost_units=100, moved_units=7)
    assert "fewer than 100" in notes(lost_units=99)
    told = notes(is_steady=False, unsteady="it rises; run longer")
    aged = "; a drive that is aged further (precondition.age) may be steady"
    assert f"is not known to be steady: it rises; run longer{aged}" in told
    # Lives of earlier versions have no reason; an untimed run is not judged.
    assert "is not known to be steady: age the drive further" in notes(is_steady=False)
    assert notes(is_steady=False, bytes_per_second=None, lost_units=100) == ""
    assert "erased 0.80 bytes" in notes(erased_for_each_programmed=0.8)
    # 10 s at half an erase: 20 s for one.
    assert "at least 20 s counted" in notes(erases_of_a_block=0.5)
    again = life(*(state(c, 4.0, uber) for c, uber in [(0, 1e-20), (1, 1e-9), (2, 1e-20)]))
    assert "below the limit again at 2 cycles" in "; ".join(again.notes)


def test_a_life_comes_back_from_its_document(tmp_path):
    found = life(state(0, 4.0, 1e-20), state(3000, 5.0, 1e-12), wear=5000)
    (tmp_path / "lifetime.json").write_text(found.to_json(), encoding="utf-8")
    assert Lifetime.load(tmp_path) == found
    assert json.loads(found.to_json())["tbw"] == found.tbw
    assert found.frame["cycles"].to_list() == [0, 3000]
    (tmp_path / "lifetime.json").write_text("{}", encoding="utf-8")
    with pytest.raises(fs.OutputError, match="run `flashscape lifetime` again"):
        Lifetime.load(tmp_path)


# Whole projections.

CODEWORD_BITS, CORRECTS, WORDS = 8 * 512, 40, 8

ONLY_WEAR = {
    "codeword": "512 B",
    "corrects": CORRECTS,
    "re_read_scale": 2,
    "constants": {
        "base": 0.0,
        "wear": {"factor": 1e-9, "exponent": 2.0},
        "retention": {"factor": 0.0, "cycles_exponent": 1.0, "days_exponent": 1.0},
        "disturb": {"factor": 0.0, "cycles_exponent": 1.0, "reads_exponent": 1.0},
    },
}
"""Errors of wear alone, so that all reads of a state have the same rate."""


def uber_by_theory(cycles: float) -> float:
    """Return UBER of flash at so many cycles, without re-reads, by the binomial distribution."""
    rate = 1e-9 * cycles**2

    def term(errors: int) -> float:
        chosen = math.comb(CODEWORD_BITS, errors)
        log = math.log(chosen) + errors * math.log(rate)
        return math.exp(log + (CODEWORD_BITS - errors) * math.log1p(-rate))

    word = math.fsum(map(term, range(CORRECTS + 1, CORRECTS + 200)))
    unit = -math.expm1(WORDS * math.log1p(-word))
    return unit / (CODEWORD_BITS * WORDS)


@pytest.fixture(scope="module")
def worn(small):
    """An experiment of flash with errors of wear alone, without re-reads."""
    config = copy.deepcopy(small)
    config["run"] = {"requests": 6000}
    config["drive"]["nand"] = {"errors": ONLY_WEAR}
    config["drive"]["ftl"]["read_recovery"] = {"policy": "none"}
    # Copies inside the flash are not decoded.
    config["drive"]["ftl"]["gc"] = {"copy_back": False}
    return fs.Experiment.from_dict(config)


@pytest.fixture(scope="module")
def projected(worn, tmp_path_factory):
    """The life of that flash, and its directory."""
    folder = tmp_path_factory.mktemp("life") / "out"
    return fs.lifetime(worn, out=folder), folder


def test_the_crossing_is_that_of_the_theory(projected):
    found, _ = projected
    low, high = 1.0, 10_000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if uber_by_theory(middle) <= 1e-15 else (low, middle)
    assert found.ends_by == "uber"
    # Filling, ageing and the run add cycles; so do errors of interpolation.
    added = max(each.added_cycles for each in found.states)
    assert low - 2 * added - 0.002 * low < found.cycles < low + 0.002 * low
    for each in found.states:
        if each.uber > 1e-30:
            assert uber_by_theory(each.cycles) <= each.uber * (1 + 1e-6)
            assert each.uber <= uber_by_theory(each.cycles + 2 * added) * (1 + 1e-6)


def test_a_state_is_the_run_of_its_experiment(worn, projected):
    found, _ = projected
    one = found.states[2]
    alone = fs.run(worn.replace({"drive.nand.errors.initial_cycles": one.cycles}))
    assert one.digest == alone.digest
    assert one.uber == alone.summary["errors"]["uber"]["expected"]
    assert one.write_amplification == alone.write_amplification
    blocks = alone.wear.filter(alone.wear["state"] != "bad")
    physical = worn.derived["capacity"]["physical_bytes"]
    assert one.good_bytes == physical // len(alone.wear) * len(blocks)
    assert one.erases_of_a_block == alone.summary["wear"]["erases"] / len(blocks)


def test_a_second_call_runs_nothing_again(worn, projected):
    found, folder = projected
    points = folder / "points"
    times = {each: each.stat().st_mtime_ns for each in points.rglob("summary.json")}
    assert len(times) == len(found.states)
    assert fs.lifetime(worn, out=folder, jobs=1) == found
    assert {each: each.stat().st_mtime_ns for each in points.rglob("summary.json")} == times
    assert Lifetime.load(folder) == found


def test_retention_is_the_age_of_data_at_the_beginning(worn):
    errors = ONLY_WEAR | {
        "constants": ONLY_WEAR["constants"]
        | {"retention": {"factor": 1e-6, "cycles_exponent": 1.0, "days_exponent": 1.0}}
    }
    ageing = worn.replace({"drive.nand.errors": errors})
    fresh, old = (
        fs.lifetime(ageing, cycles=[300, 600], retention_days=days) for days in (None, 30)
    )
    assert old.cycles < fresh.cycles
    assert "30 days old" in " ".join(old.assumptions)
    assert "no retention" in " ".join(fresh.assumptions)


def test_wear_that_is_spread_stays_in_proportion(worn):
    spread = worn.replace({"drive.nand.errors.initial_cycles": {"mean": 1000, "deviation": 100}})
    found = fs.lifetime(spread, cycles=[2000], uber=0.5)
    alone = fs.run(
        worn.replace({"drive.nand.errors.initial_cycles": {"mean": 2000, "deviation": 200}})
    )
    assert [each.digest for each in found.states] == [alone.digest]
    assert "in proportion" in " ".join(found.assumptions)


def test_without_errors_a_wear_limit_gives_the_bytes(config):
    found = fs.lifetime(config, endurance=1000)
    alone = fs.run(config)
    assert [each.digest for each in found.states] == [alone.digest]
    assert found.limits.uber is None
    physical = fs.Experiment.from_dict(config).derived["capacity"]["physical_bytes"]
    bad = alone.summary["wear"]["bad_blocks"] / len(alone.wear)
    expected = 1000 * physical * (1 - bad) / alone.write_amplification
    assert found.host_bytes == pytest.approx(expected, rel=1e-12)
    # A closed loop writes as fast as the drive answers.
    assert found.seconds is None
    config["workload"][0]["arrivals"] = {"process": "poisson", "rate": "5000 IOPS"}
    del config["workload"][0]["queue_depth"]
    timed = fs.lifetime(config, endurance=1000)
    rate = timed.states[0].bytes_per_second
    assert timed.seconds == pytest.approx(timed.host_bytes / rate, rel=1e-12)
    # Half of 5,000 requests of 4 KiB.
    assert rate == pytest.approx(2500 * 4096, rel=0.1)


@pytest.mark.parametrize(
    ("other", "has_rate"),
    [
        ({"reads": "100 %"}, True),
        ({"mix": {"read": "90 %", "trim": "10 %"}}, True),
        ({"mix": {"read": "90 %", "write": "10 %"}}, False),
        ({"reads": "90 %"}, False),
        ({"reads": "90 %", "arrivals": {"process": "constant", "rate": "1000 IOPS"}}, True),
    ],
)
def test_a_life_takes_time_if_all_that_write_have_a_rate(config, other, has_rate):
    arrivals = {"process": "constant", "rate": "5000 IOPS"}
    config["workload"] = [
        {"name": "open", "reads": "50 %", "arrivals": arrivals},
        {"name": "other", **other},
    ]
    config["run"] = {"requests": 20_000}
    found = fs.lifetime(config, endurance=1000)
    assert (found.seconds is not None) == has_rate


@pytest.mark.parametrize(
    ("options", "changes", "words"),
    [
        ({}, {"drive.nand.errors": None}, "give drive.nand.errors.*endurance="),
        ({}, {"drive.nand.errors.corrects": None}, "corrects any number.*endurance="),
        (
            {},
            {"drive.ftl.read_recovery": {"policy": "ladder"}},
            "give drive.ftl.read_recovery.re_reads",
        ),
        ({"endurance": 9, "uber": 1e-9}, {"drive.nand.errors": None}, "uber: has no effect"),
        ({"endurance": 9, "cycles": [1]}, {"drive.nand.errors": None}, "cycles: has no effect"),
        (
            {"endurance": 9, "retention_days": 1},
            {"drive.nand.errors": None},
            "retention: has no effect",
        ),
        ({}, {"workload": [{"name": "w", "reads": "0 %"}]}, "hosts read nothing"),
        ({}, {"workload": [{"name": "r", "reads": "100 %"}]}, "add writes"),
        ({}, {"precondition": {"fill": "sequential"}, "run.requests": 100}, "erased no block"),
        ({"uber": 0.0}, {}, "uber: 0 is not above 0"),
        ({"uber": 1.0}, {}, "below 1"),
        ({"years": 0}, {}, "years: 0 is not above 0"),
        ({"retention_days": -1}, {}, "retention: -1 days"),
        ({"endurance": 0}, {}, "endurance: 0 is not a whole number"),
        ({"cycles": []}, {}, "names no state"),
        ({"cycles": [-1]}, {}, r"cycles: \[-1\] is not a list of whole numbers"),
        ({"cycles": [100_001]}, {}, "from 0 to 100000"),
    ],
)
def test_what_has_no_life_is_refused(worn, options, changes, words):
    given = {path: value for path, value in changes.items() if value is not None}
    config = worn.config
    for path in changes.keys() - given.keys():
        *way, key = path.split(".")
        table = config
        for step in way:
            table = table[step]
        del table[key]
    if (
        "errors" not in config["drive"]["nand"]
        or "corrects" not in config["drive"]["nand"]["errors"]
    ):
        del config["drive"]["ftl"]["read_recovery"]
    with pytest.raises(fs.ConfigError, match=words):
        fs.lifetime(fs.Experiment.from_dict(config).replace(given), **options)


# The command.


def test_the_command_tells_the_life_and_what_it_extrapolates(flashscape, worn, tmp_path):
    (tmp_path / "worn.json").write_text(json.dumps(worn.config), encoding="utf-8")
    command = ("lifetime", "worn.json", "--cycles=200,2000", "--endurance=2000", "--years=3")
    ended = flashscape(*command, "--out=out", "--plot", "--json=life.json")
    assert ended.status == 0, ended.err
    assert "States of wear" in ended.out
    assert "(DWPD) over 3 years" in ended.out
    assert "What is extrapolated:" in ended.out
    told = json.loads((tmp_path / "life.json").read_text(encoding="utf-8"))
    assert told == json.loads((tmp_path / "out" / "lifetime.json").read_text(encoding="utf-8"))
    assert told["limits"] == {"uber": 1e-15, "wear": 2000, "years": 3.0}
    drawn = (tmp_path / "out" / "lifetime.svg").read_bytes()
    assert b"end of life" in drawn
    (tmp_path / "out" / "lifetime.svg").unlink()
    assert flashscape("plot", "out").status == 0
    assert (tmp_path / "out" / "lifetime.svg").read_bytes() == drawn
    again = flashscape(*command, "--out=out", "--json=-", "--quiet")
    assert json.loads(again.out) == told


def test_bad_options_are_one_error(flashscape, experiment_file):
    ended = flashscape("lifetime", experiment_file, "--cycles=1000;2000")
    assert ended.status == 2
    assert "not of the form 1000,3000,5000, or auto" in ended.err
    ended = flashscape("lifetime", experiment_file)
    assert ended.status == 2
    assert ended.err.count("error:") == 1
    assert "give drive.nand.errors" in ended.err
