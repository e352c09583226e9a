"""The study of SSD design tradeoffs: its runs are valid, and its arithmetic is the paper's."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import flashscape as fs
from declared import declared
from flashscape.reproduce import Setting, plots
from flashscape.reproduce.figures import Figure
from flashscape.reproduce.outcomes import Outcome, Outcomes
from flashscape.reproduce.study import read_data
from flashscape.reproduce.verdicts import judge
from flashscape.studies import design_tradeoffs_performance as package
from flashscape.studies.design_tradeoffs_performance import (
    _drives,
    _loads,
    _wear,
    figure_threshold,
    table_4,
    table_5,
    table_6,
    table_7,
)

STUDY = "design-tradeoffs-performance"
FOLDER = Path(package.__file__).parent

BLOCKS = 64 * 2048
"""Blocks of the drive."""

CLAIMS = {f"A-{n}" for n in range(1, 19)} | {"A-3n", "A-10n", "A-12n", "A-15n"}


@pytest.mark.parametrize("profile", ["short", "full"])
def test_its_runs_are_sound_and_alike_wherever_they_are_shared(profile):
    for run in declared(STUDY, profile).values():
        if not any("trace" in stream for stream in run.experiment["workload"]):
            fs.check(run.experiment)


def test_all_claims_are_there_and_what_is_no_trace_or_number_of_the_paper_says_so():
    _, claims, faults = read_data(FOLDER)
    assert {claim.id for claim in claims} == CLAIMS
    assert not any(fault.problems for fault in faults)
    for claim in claims:
        assert ("from memory" in claim.text or "from memory" in claim.paper) or not (
            claim.id.endswith("n")
        ), claim.id
        if "TPC-C" in claim.text or "Exchange" in claim.text:
            assert "synthetic" in claim.text, claim.id


def test_a_drive_without_rounds_is_the_preset_but_for_those():
    free = _drives.free_running()
    preset = tomllib.loads((FOLDER.parents[1] / "presets/atc08.toml").read_text(encoding="utf-8"))
    rounds = preset["scheduler"].pop("rounds")
    assert rounds["unit"] == "package"
    assert free == preset


def test_half_a_gang_of_16_is_as_large_as_a_gang_of_8():
    capacities = [
        _drives.derived(drive)["capacity"]["exported_bytes"]
        for drive in (_drives.shared_bus(8), _drives.shared_bus(16, 16, 1024))
    ]
    assert capacities == [_drives.exported_bytes()] * 2


def test_the_synthetic_loads_ask_for_what_is_known_of_the_traces():
    setting = Setting("full", Path("no-traces"))
    streams, run = _loads.tpcc(setting)
    rates = [float(stream["arrivals"]["rate"].split()[0]) for stream in streams]
    assert sum(rates) == pytest.approx(300)
    assert rates[0] / sum(rates) == pytest.approx(0.66)
    assert run == {"time": "1800 s"}
    [stream], run = _loads.exchange(setting)
    assert (stream["reads"], stream["arrivals"]["rate"]) == ("60 %", "900 IOPS")
    assert run == {"time": "900 s"}


def test_both_profiles_replay_whole_traces():
    for profile in ("short", "full"):
        found = 0
        for run in declared(STUDY, profile).values():
            if any("trace" in stream for stream in run.experiment["workload"]):
                found += 1
                settings = run.experiment["run"]
                limits = settings.keys() - {"untimed", "warm_up"}
                played = run.experiment["workload"][0]["trace"].get("repeat", 1)
                assert played == 1 + ("warm_up" in settings) or limits, run.name
                assert limits <= ({"bytes"} if run.name.startswith("wear-") else set()), run.name
        assert found > 40


def test_thresholds_are_judged_on_drives_that_begin_with_their_reserve_free():
    runs = declared(STUDY, "short")
    for load in ("tpcc", "exchange"):
        experiment = runs[f"{load}-threshold-2"].experiment
        assert experiment["precondition"] == _loads.FRESH
    # 6.8 million requests in 30 minutes on six drives, 900 a second on ten.
    rates = {
        load: sum(
            float(stream["arrivals"]["rate"].removesuffix(" IOPS"))
            for stream in runs[f"{load}-threshold-2"].experiment["workload"]
        )
        for load in ("tpcc", "exchange")
    }
    assert rates == {"tpcc": pytest.approx(629.6, abs=0.1), "exchange": 90}


def test_steady_thresholds_are_of_drives_that_clean():
    for load in ("tpcc", "exchange"):
        state = declared(STUDY, "short")[f"{load}-steady-threshold-2"].experiment["precondition"]
        assert state["age"]["overwrites"] * _drives.exported_bytes() > 0.15 * BLOCKS * 63 * 4096


def test_exhibits_give_the_same_name_to_the_same_organisation():
    for name, organisation in _drives.ORGANISATIONS.items():
        assert _drives.derived(organisation()), f"{name} is sound"
        for load in _loads.LOADS:
            if run := declared(STUDY, "short").get(f"{load}-{name}"):
                assert run.experiment["drive"] == organisation(), run.name


def test_what_was_written_leaves_the_papers_mean_life():
    erases = _wear.WRITTEN_BYTES / (63 * 4096) / BLOCKS
    assert _wear.LIFE - erases == pytest.approx(43.82, abs=1e-4)
    # The notes have 106.8 requests a second of 360 KB; this counts requests.
    assert _wear.WRITTEN_BYTES < _wear._TIMES * 100_000 * 360_000


def test_a_gang_on_a_bus_has_a_stripe_as_wide_as_itself():
    ways = {way.run: way for way in table_4.WAYS}
    stripes = {
        name: ways[name].drive["ftl"]["allocation"]["stripe"]
        for name in ("bus-1-of-16", "bus-8-of-16", "bus-16-of-16")
    }
    assert list(stripes.values()) == ["4 KiB", "32 KiB", "64 KiB"]
    assert [way.drive["ftl"].get("unit") for way in table_4.WAYS[5:]] == ["32 KiB", "64 KiB"]


def test_pins_are_fewer_where_lines_are_shared():
    pins = {name: table_6._costs(name)[0] for name in table_6.ORGANISATIONS}
    # Eight data lines and five for control a channel, two for each of 16 dies.
    assert pins["baseline"] == 8 * 13 + 2 * 16 == 136
    assert pins["asynchronous"] == 8 * 8 + 5 + 2 * 16
    assert pins["synchronous"] == 8 * 8 + 5 + 2 * 2
    assert pins["bus-8"] == 8 + 5 + 2 * 16
    assert table_6._costs("page-256k")[1] * 64 == pytest.approx(table_6._costs("baseline")[1], 0.02)


def test_ties_are_what_lies_within_the_noise_of_seeds():
    assert table_6.noise([99, 100, 101]) == pytest.approx(0.02)
    times = {"worse": 1.03, "best": 1.0, "tied": 1.02}
    assert table_6.tied(times, 0.02) == ["best", "tied"]
    assert table_6.tied(times, 0.01) == ["best"]
    assert table_6.tied({}, 0.01) == [], "all are overloaded"


# Plots and tables of exhibits, from invented runs.


def made_up(name, *, overload, waiting=1.0):
    """Return an outcome with figures that depend on its name."""
    at = 1000.0 + sum(map(ord, name))
    kind = SimpleNamespace(mean=at, requests=3)
    initiators = [
        {of: {"iops": at, "bytes": 4096, "requests": 1} for of in ("read", "write")}
        for _ in range(2 if name.startswith("copy") else 1)
    ]
    blocks = [0, 20, 50, 50]
    if name.endswith("-8"):  # A longer run than one of which the name ends with -6.
        blocks = [blocks + 1 for blocks in blocks]
    summary = {
        "notes": ["overload: some requests"] if overload else ["a run of nothing"],
        "collection": {"mean_ns": at, "cleaning_efficiency": 0.7, "blocks": 7 + blocks[0]},
        "write_amplification": {"total": 1.5, "gc": 0.5, "host_bytes": 63 * 4096},
        "utilisation": {"units": {"max": 0.5, "mean": 0.4}},
        "wear": {"migrations": 0},
        "mean_outstanding": waiting,
        "initiators": initiators,
    }
    states = ["open", "open", "bad", "bad"]
    wear = pl.DataFrame({"erases": blocks, "state": states})
    whole = SimpleNamespace(read=kind, write=kind, summary=summary, wear=wear)
    return Outcome(name, None, whole=whole)


SHORT = Setting("short", Path("no-traces"))


def exhibits(*, overload):
    for name, title in read_data(FOLDER)[0].exhibits.items():
        module = importlib.import_module(f"{package.__name__}.{name.replace('-', '_')}")
        names = [run.name for run in module.exhibit.declared(SHORT)]
        runs = {run: made_up(run, overload=overload) for run in names}
        yield name, title, module.exhibit, Outcomes(SHORT, runs)


def test_all_plots_have_titles_and_mark_what_is_overloaded():
    pytest.importorskip("matplotlib")
    marked = set()
    for overload in (False, True):
        for name, _, exhibit, runs in exhibits(overload=overload):
            for plot, draw in exhibit.plots.items():
                with plots.styled():
                    figure = draw(runs)
                assert len(figure.get_suptitle()) > 20, f"{name}/{plot}"
                texts = [text.get_text() for text in figure.legends[0].get_texts()]
                if any("hollow" in text for text in texts):
                    assert overload
                    marked.add(name)
    assert marked == {
        "section-5-1",
        "figure-interleaving",
        "figure-gang",
        "figure-threshold",
        "table-6",
    }


def test_what_piles_up_for_long_is_overloaded_even_if_the_end_is_quiet():
    assert not _loads.overloaded(made_up("quiet", overload=False, waiting=7.0))
    assert _loads.overloaded(made_up("note", overload=True, waiting=7.0))
    assert _loads.overloaded(made_up("peaks", overload=False, waiting=700.0))


# Bounds must reject drives that behave wrongly.


def verdict_of(claim, **figures):
    """Return the verdict on figures of a claim; figures that are not given are 1."""
    _, claims, _ = read_data(FOLDER)
    [found] = [each for each in claims if each.id == claim]
    assert not figures.keys() - found.figures.keys()
    return judge(found.full, {name: Figure.of(figures.get(name, 1)) for name in found.figures})[0]


def test_reuse_has_to_concentrate_and_to_gain_less():
    alike = {"greedy_quarter_erases_share": 0.2, "greedy_gained_share": 0.2}
    cut = {"cut_quarter_erases_share": 0.9, "cut_gained_share": 0.1}
    for times, verdict in ((3.0, "reproduced"), (2.9, "direction")):
        assert verdict_of("A-17", cut_reuse_times=times, **alike, **cut) == verdict
    for worse in ({"cut_quarter_erases_share": 0.2}, {"cut_gained_share": 0.2}):
        assert verdict_of("A-17", cut_reuse_times=4.0, **alike, **(cut | worse)) == "missed"


def test_thresholds_hold_at_both_rates_or_at_one():
    rising = {"tpcc_moved": (0.1, 0.2), "tpcc_mean_ns": (1.0, 2.0), "tpcc_most_mean_ns": 1.1}
    assert verdict_of("A-14", **rising, tpcc_slow_most_mean_ns=1.1) == "reproduced"
    assert verdict_of("A-14", **rising, tpcc_slow_most_mean_ns=1.0) == "direction"
    flat = rising | {"tpcc_most_mean_ns": 1.0}
    assert verdict_of("A-14", **flat, tpcc_slow_most_mean_ns=1.1) == "missed"


@pytest.mark.parametrize(
    ("slow", "exchange", "reason"),
    [
        (
            (0, 0, 0, 0),
            (0, 0, 3, 9),
            "TPC-C at 300 a second: 0, 0, 0 and 0 blocks cleaned at thresholds of 2, 5, 8 and "
            "10 %, because the reserve outlasts the trace at all of them; the mean therefore "
            "cannot depend on the threshold; Exchange: 0, 0, 3 and 9 blocks cleaned at thresholds "
            "of 2, 5, 8 and 10 %, because the reserve outlasts the trace only at 2 and 5 %",
        ),
        (
            (4, 5, 6, 7),
            (0, 1, 2, 3),
            "TPC-C at 300 a second: 4, 5, 6 and 7 blocks cleaned at thresholds of 2, 5, 8 and "
            "10 %, because the reserve outlasts the trace at none; Exchange: 0, 1, 2 and 3 blocks "
            "cleaned at thresholds of 2, 5, 8 and 10 %, because the reserve outlasts the trace "
            "only at 2 %",
        ),
    ],
)
def test_the_reason_of_thresholds_follows_from_the_cleaned_blocks(slow, exchange, reason):
    runs = {run.name: made_up(run.name, overload=False) for run in figure_threshold.runs(SHORT)}
    for name, counts in (("tpcc-threshold-{}-at-300", slow), ("exchange-threshold-{}", exchange)):
        for percent, blocks in zip(figure_threshold.PERCENT, counts, strict=True):
            runs[name.format(percent)].whole.summary["collection"]["blocks"] = blocks
    assert figure_threshold.slopes(Outcomes(SHORT, runs)).reason == reason


def test_only_the_papers_asynchronous_gang_decides():
    _, claims, _ = read_data(FOLDER)
    [claim] = [each for each in claims if each.id == "A-11"]
    assert not any("pool" in name or "rounds" in name for name in claim.figures)
    slower = {f"{load}_synchronous_mean_ns": 2 for load in _loads.LOADS}
    assert verdict_of("A-11", **slower, overall_times=2) == "reproduced"
    mixed = slower | {"tpcc_synchronous_mean_ns": 1}
    assert verdict_of("A-11", **mixed, overall_times=1.7) == "direction", "worse overall"
    assert verdict_of("A-11", **mixed, overall_times=0.9) == "missed"


def test_means_that_follow_by_arithmetic_are_told_and_not_judged():
    runs = {run.name: made_up(run.name, overload=False) for run in table_7.runs(SHORT)}
    told = table_7.levelled(Outcomes(SHORT, runs))
    assert told.ours.count("20.00 /") == 3, "the mean of each algorithm is told"
    assert "rate_limiting_mean_life" not in told.figures
    good = {
        "greedy_mean_life": 44,
        "greedy_stddev_life": 13,
        "rate_limiting_stddev_life": 13,
        "greedy_expired_blocks": 3,
        "rate_limiting_expired_blocks": 2,
        "migration_expired_blocks": 0,
        "migration_mean_life": 43,
        "migration_stddev_life": 6,
    }
    assert verdict_of("A-15", **good) == "reproduced"
    # Cold blocks migrate without end; migration does nothing; nor does rate-limiting.
    for wrong in (
        {"migration_mean_life": 40},
        {"migration_stddev_life": 13},
        {"rate_limiting_expired_blocks": 3},
    ):
        assert verdict_of("A-15", **(good | wrong)) == "missed"
    # The paper says "much smaller"; that this is half is a reading.
    assert verdict_of("A-15", **(good | {"migration_stddev_life": 12})) == "direction"


def test_tables_say_what_is_overloaded_and_what_is_synthetic():
    for overload in (False, True):
        for name, title, exhibit, runs in exhibits(overload=overload):
            loads = {load for run in runs for load in _loads.LOADS if f"{load}-" in f"{run}-"}
            if loads & {"tpcc", "exchange"}:
                assert "synthetic" in title, name
            for table, tabulate in exhibit.tables.items():
                frame = tabulate(runs)
                columns = [column for column in frame.columns if "overloaded" in column]
                if name not in ("table-7", "table-8", "section-3-6"):
                    assert columns, f"{name}/{table}"
                for column in columns:
                    assert set(frame[column]) == {overload}, f"{name}/{table}"
                told = frame["workload"].to_list() if "workload" in frame.columns else frame.columns
                for load in ("TPC-C", "Exchange", "tpcc", "exchange"):
                    texts = [text for text in told if load in text]
                    assert all("synthetic" in text for text in texts), f"{name}/{table}"


def test_the_times_of_a_cleaning_are_told_both():
    names = [f"{load}-{way}" for load in _loads.TRACES for way in ("baseline", "inter-plane")]
    runs = {name: made_up(name, overload=False) for name in names}
    runs["iozone-inter-plane"].whole.summary["collection"]["mean_ns"] = 7_777_000.0
    told = table_5.nothing_moves(Outcomes(SHORT, runs))
    assert "7.777 ms without; Postmark" in told.ours
    assert told.figures["iozone_inter_plane_ns"] == 7_777_000.0


# Behaviour of drives.

REQUESTS = 2 * 63 * 64
"""Two blocks of each of the 64 planes."""


def small(pattern, reads, **more):
    stream = {"name": "host", "reads": reads, "addresses": {"pattern": pattern}}
    drive = _drives.baseline(geometry={"blocks_per_plane": 32})
    experiment = {"drive": drive, "precondition": _loads.FRESH, "workload": [stream]}
    return fs.run(experiment | {"run": {"requests": REQUESTS}} | more)


@pytest.mark.parametrize("pattern", ["sequential", "uniform"])
def test_a_page_takes_its_commands_and_the_link(pattern):
    # A page with its metadata crosses the bus in 105.6 us, the link in 8 x 0.2384 us; one page in
    # 63 is followed by a summary: 13.2 us on the bus, and 200 us.
    link_ns = 4096 * 1e9 / 2147483648
    assert small(pattern, "100 %").read.mean == pytest.approx(130_600 + link_ns, abs=2)
    written = 305_600 + link_ns + 213_200 / 63
    assert small(pattern, "0 %").write.mean == pytest.approx(written, rel=0.002)


def test_interleaving_does_nothing_or_all_for_a_stripe_of_two_pages():
    # One read of 8 KB after the other: in rounds, and in two dies whose pages share the bus.
    link_ns = 8192 * 1e9 / 2147483648
    means = []
    for drive in (_drives.striped(8, 1), _drives.striped_at_once(8), _drives.baseline()):
        stream = {"name": "host", "reads": "100 %", "size": "8 KiB", "align": "8 KiB"}
        experiment = {"precondition": _loads.FRESH, "workload": [stream]}
        tiny = _drives.joined(drive, {"geometry": {"blocks_per_plane": 32}})
        means.append(fs.run(experiment | {"drive": tiny, "run": {"requests": 500}}).read.mean)
    serial, at_once, split = means
    assert serial == pytest.approx(2 * 130_600 + link_ns, rel=0.01)
    assert at_once == pytest.approx(25_000 + 2 * 105_600 + link_ns, rel=0.01)
    assert split == pytest.approx(130_600 + link_ns, rel=0.01)


def test_sequential_writes_pay_an_erase_a_block_for_cleaning():
    aged = {"fill": "sequential", "age": {"overwrites": 1.0}}
    aged["age"]["addresses"] = {"pattern": "sequential"}
    result = small("sequential", "0 %", precondition=aged)
    assert result.summary["collection"]["cleaning_efficiency"] == 1.0
    erases_ns = result.summary["wear"]["erases"] * 1_500_000 / REQUESTS
    fresh = small("sequential", "0 %")
    assert result.write.mean == pytest.approx(fresh.write.mean + erases_ns, rel=0.01)


def test_what_a_package_does_is_reproduced(tmp_path):
    found = fs.reproduce("design-tradeoffs-performance/section-3-1", out=tmp_path / "out")
    assert {claim.id: claim.verdict for claim in found.claims} == {
        "A-1": "reproduced",
        "A-2": "reproduced",
    }
    # A page is sensed in 25 us and crosses the bus in 100 us, or in 4224 x 25 ns.
    figures = found["A-1"].figures
    assert figures["serial_paper_requests_per_second"] == pytest.approx(1e9 / 125_000, rel=0.001)
    assert figures["serial_code_requests_per_second"] == pytest.approx(1e9 / 130_600, rel=0.001)


def test_a_limit_on_wear_concentrates_reuse(tmp_path):
    found = fs.reproduce(f"{STUDY}/section-3-6")
    claim = found["A-17"]
    assert claim.verdict == "direction"
    greedy, cut = found.frames["section-3-6/reuse"].to_dicts()
    # 50 lives and a limit of 80 % of the mean life: reached at 25 erases of the hotter blocks, if
    # the colder quarter has none, and later if it has some.
    assert cut["worn_blocks_erases_before"] > 25
    # Victims that gain fewer pages are erased more often for the same writes.
    assert cut["erases"] > greedy["erases"]


def test_without_traces_their_claims_are_not_run(tmp_path):
    found = fs.reproduce("design-tradeoffs-performance/table-7", traces=tmp_path)
    assert {claim.id: claim.verdict for claim in found.claims} == {
        "A-15": "not-run",
        "A-15n": "context",
    }
    assert "iozone-100k.trace" in found["A-15"].reason
