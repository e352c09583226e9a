"""Names that scripts rely on, and agreement of tables and summary."""

from __future__ import annotations

import copy
import io
import json
import math
import pickle
import re
import sys

import polars as pl
import pytest

import flashscape as fs
from flashscape import _flashscape, fio, together, units
from flashscape.causes import OTHER, cause_of
from flashscape.regions import region
from flashscape.report import rows, text

PERCENTILES = {"p50", "p90", "p95", "p99", "p99_9", "p99_99", "p99_999", "p99_9999"}
LATENCY = {"mean", "min", "max"} | PERCENTILES
KIND = {"requests", "bytes", "iops", "unmapped", "latency_ns", "blame_ns"}
TOP = {
    "initiators",
    "flash",
    "write_amplification",
    "wear",
    "simulated_ns",
    "host_cpu_seconds",
    "digest",
    "config",
}


@pytest.fixture(scope="module")
def result(small):
    return fs.run(small)


def test_the_summary_has_the_promised_names(result):
    assert TOP <= result.summary.keys()
    [host] = result.summary["initiators"]
    assert host["name"] == "host"
    for kind in ("read", "write", "trim", "flush"):
        assert KIND <= host[kind].keys()
        assert LATENCY <= host[kind]["latency_ns"].keys()
    assert result.summary["config"]["drive"]["nand"]["cell"] == "tlc", "it is resolved"


def test_blame_sums_to_latency(result):
    for _, _, figures in result.groups():
        total = figures["latency_ns"]["mean"] * figures["requests"]
        assert sum(figures["blame_ns"].values()) == pytest.approx(total, rel=1e-9)
    states = [name for name in result.slowest.columns if name[:-3] in dict(_flashscape.states())]
    assert (result.slowest.select(states).sum_horizontal() == result.slowest["latency_ns"]).all()


def test_the_slowest_of_each_kind_are_kept(small):
    """Writes that are a hundred times as slow do not displace the reads."""
    result = fs.run(fs.Experiment.from_dict(small).replace({"record.slowest": 7}))
    latencies = result.slowest["latency_ns"].to_list()
    assert latencies == sorted(latencies, reverse=True)
    for name, kind, figures in result.groups():
        own = result.slowest.filter(pl.col("initiator") == name, pl.col("kind") == kind)
        assert len(own) == 7
        assert own["latency_ns"].max() == figures["latency_ns"]["max"]


def test_a_request_that_was_the_only_one_is_no_tail(small):
    explained = fs.explain(fs.run(fs.Experiment.from_dict(small).replace({"run.requests": 20})))
    assert [group.tail for group in explained.groups] == [None, None]


def test_the_tail_is_what_lies_beyond_p99_9_where_there_are_enough(small):
    result = fs.run(fs.Experiment.from_dict(small).replace({"run.requests": 40000}))
    explained = fs.explain(result)
    for group in explained.groups:
        requests, latency = group.figures["requests"], group.figures["latency_ns"]
        assert group.tail.requests == pytest.approx(requests / 1000)
        assert f"The {requests / 1000:.0f} beyond p99.9 took " in str(explained)
        assert sum(group.mean_ns.values()) == pytest.approx(latency["mean"])
        own = result.slowest.filter(pl.col("kind") == group.kind).head(requests // 1000)
        # All of them are stored, so this is exact except for a part of one more request.
        assert sum(group.tail_ns.values()) == pytest.approx(own["latency_ns"].mean(), rel=0.05)
        assert sum(group.tail_ns.values()) <= latency["max"]


def test_regions_divide_all_that_is_above_p50(small):
    result = fs.run(fs.Experiment.from_dict(small).replace({"run.requests": 40000}))
    for group in fs.explain(result).groups:
        requests = group.figures["requests"]
        bounds = [50, 90, 99, 99.9]
        assert [region.above for region in group.regions] == bounds
        assert [region.below for region in group.regions] == [*bounds[1:], 100]
        sizes = [0.4, 0.09, 0.009, 0.001]
        expected = [pytest.approx(size * requests) for size in sizes]
        assert [region.requests for region in group.regions] == expected
        means = [sum(region.each_ns.values()) for region in group.regions]
        assert means == sorted(means)


def test_all_requests_together_are_those_of_the_log(small, tmp_path):
    log = tmp_path / "requests.parquet"
    result = fs.run(fs.Experiment.from_dict(small), requests=log)
    rows = fs.read_requests(log).collect()
    latencies = sorted(rows["latency_ns"].to_list())
    figures = result.summary["all"]
    assert len({kind for _, kind, _ in result.groups()}) > 1
    assert figures["requests"] == len(latencies)
    assert figures["bytes"] == rows["length_bytes"].sum()
    assert sum(figures["blame_ns"].values()) == sum(latencies)
    assert figures["latency_ns"]["mean"] == pytest.approx(sum(latencies) / len(latencies))
    assert (result.all.min, result.all.max) == (latencies[0], latencies[-1])
    for name, share in {"p50": 0.5, "p90": 0.9, "p99": 0.99}.items():
        exact = latencies[math.ceil(share * len(latencies)) - 1]
        assert exact <= figures["latency_ns"][name] <= exact * 1.001
        assert getattr(result.all, name) == figures["latency_ns"][name]


def test_bands_sum_to_blame_and_latencies(result):
    for name, kind, figures in result.groups():
        own = result.bands.filter(pl.col("initiator") == name, pl.col("kind") == kind)
        assert own["requests"].sum() == figures["requests"]
        states = {state: own[f"{state}_ns"].sum() for state, _ in _flashscape.states()}
        assert {state: ns for state, ns in states.items() if ns} == figures["blame_ns"]
        for row in own.iter_rows(named=True):
            total = sum(row[f"{state}_ns"] for state in states)
            assert row["low_ns"] * row["requests"] <= total <= row["high_ns"] * row["requests"]


def test_a_region_is_what_sorting_all_requests_gives():
    """Ten requests of 1 to 10 us in bands of their own; the slowest waited for an erase."""
    rows = [
        {"low_ns": 1000 * n, "high_ns": 1000 * n, "requests": 1, "sense_ns": 1000 * min(n, 8)}
        | {"wait_unit_erase_ns": 1000 * max(n - 8, 0)}
        for n in range(1, 11)
    ]
    bands = pl.DataFrame(rows)
    # Only the two slowest are stored: too few, so the bands are used.
    slowest = bands.tail(2).drop("high_ns", "requests").rename({"low_ns": "latency_ns"})
    tail = region(bands, slowest, 75)
    each = {cause.name: ns for cause, ns in tail.each_ns.items()}
    # Half of the eighth, and the ninth and the tenth.
    assert tail.requests == 2.5
    assert each == {
        "own service": pytest.approx((4000 + 8000 + 8000) / 2.5),
        "erases": pytest.approx((1000 + 2000) / 2.5),
    }
    # Enough requests beyond p80, and bands so wide that only the requests are right.
    whole = pl.DataFrame([{"low_ns": 0, "high_ns": 16000, "requests": 10, "sense_ns": 55000}])
    tail = region(whole, slowest, 80)
    assert {cause.name: ns for cause, ns in tail.each_ns.items()} == {
        "own service": 8000,
        "erases": 1500,
    }


def guests(small, *changes):
    """Initiators that differ from each other as given."""
    [host] = small["workload"]
    workloads = [host | {"name": f"guest-{at}"} | change for at, change in enumerate(changes)]
    return small | {"workload": workloads, "run": {"requests": 4000}}


def test_equal_initiators_are_told_as_one(small, tmp_path):
    """Of eight equal jobs, all are told, and not the two with the longest tails by chance."""
    places = [{"region": {"offset": f"{at} MiB", "size": "10 MiB"}} for at in range(8)]
    log = tmp_path / "requests.parquet"
    result = fs.run(guests(small, *places), requests=log)
    explained = fs.explain(result)
    assert [(group.initiator, group.kind) for group in explained.shown] == [
        ("all", "read"),
        ("all", "write"),
    ]
    rows = fs.read_requests(log).collect()
    for group in explained.shown:
        latencies = sorted(rows.filter(kind=group.kind)["latency_ns"].to_list())
        figures = group.figures
        added = together.figures(result, group.kind, group.initiators)
        interval = ("mean_ci95", "mean_freedom")
        latency = {k: of for k, of in figures["latency_ns"].items() if k not in interval}
        whole = figures | {"latency_ns": latency}
        assert {key: whole[key] for key in added} == added | {
            "iops": pytest.approx(added["iops"], rel=1e-12)
        }
        assert figures["requests"] == len(latencies)
        assert figures["latency_ns"]["max"] == latencies[-1]
        exact = latencies[math.ceil(0.99 * len(latencies)) - 1]
        assert exact <= figures["latency_ns"]["p99"] <= exact * 1.001
        assert sum(group.mean_ns.values()) == pytest.approx(sum(latencies) / len(latencies))
        assert f"{len(latencies):,} {group.kind} requests of 8 initiators took " in str(explained)
        own = [f["latency_ns"]["p99_9"] for _, kind, f in result.groups() if kind == group.kind]
        least, most = (units.duration(edge) for edge in (min(own), max(own)))
        assert f"each of these 8 equal initiators took {least} to {most} at p99.9" in str(explained)
    assert len(fs.explain(result, everything=True).shown) == 2 + 16


def test_the_tail_of_several_initiators_is_that_of_all_their_requests(small, tmp_path):
    """Each has a table of its seven slowest; of the others nobody knows which are slower."""
    config = guests(small, {}, {"queue_depth": 1}) | {"record": {"slowest": 7}}
    log = tmp_path / "requests.parquet"
    result = fs.run(config, requests=log)
    rows = fs.read_requests(log).collect().filter(kind="write")
    names = ("guest-0", "guest-1")
    kept = together.slowest(result, "write", names)["latency_ns"].to_list()
    limit = max(
        rows.filter(initiator=name)["latency_ns"].sort(descending=True)[6] for name in names
    )
    slower = sorted((ns for ns in rows["latency_ns"] if ns >= limit), reverse=True)
    assert kept == slower[: len(kept)]
    assert len(kept) >= 7
    bands = together.bands(result, "write", names)
    assert bands["requests"].sum() == len(rows)
    assert bands["low_ns"].is_unique().all()


def test_many_initiators_are_cut_to_the_worst(small):
    result = fs.run(guests(small, *({"queue_depth": at + 1} for at in range(16))))
    explained = fs.explain(result)
    shown = [(group.initiator == "all", group.kind) for group in explained.shown]
    alone = [(False, kind) for kind in ("read", "read", "write", "write")]
    assert shown == [(True, "read"), (True, "write"), *alone]
    for group in explained.shown[2:4]:
        tails = [
            figures["latency_ns"]["p99_9"] for _, kind, figures in result.groups() if kind == "read"
        ]
        assert group.figures["latency_ns"]["p99_9"] >= sorted(tails)[-2]
    assert "Read requests of 14 more initiators took " in str(explained)
    assert len(fs.explain(result, everything=True).shown) == 2 + 32


def test_equal_initiators_among_others_are_one_of_them(small):
    result = fs.run(guests(small, {}, {}, {}, {"reads": "100 %"}))
    explained = fs.explain(result)
    told = [(group.initiator, group.kind) for group in explained.shown]
    assert told == [
        ("all", "read"),
        ("all", "write"),
        ("guest-0 and 2 alike", "read"),
        ("guest-3", "read"),
    ]
    three = next(group for group in explained.shown if group.initiators[1:])
    requests = {name: f["requests"] for name, kind, f in result.groups() if kind == "read"}
    assert explained.shown[2].figures["requests"] == sum(requests.values()) - requests["guest-3"]
    assert three.initiators == ("guest-0", "guest-1", "guest-2", "guest-3")


def cells(table):
    return [row[:2] for row in table.rows]


def test_tables_have_rows_for_all_of_a_kind(small, result):
    several = fs.run(guests(small, {}, {"reads": "100 %"}))
    own = [("guest-0", "read"), ("guest-0", "write"), ("guest-1", "read")]
    for table in (rows.requests(several), rows.latencies(several)):
        # One initiator alone writes.
        assert cells(table) == [*own, ("all", "read"), ("all", "all")]
    assert cells(rows.causes(several)) == [*own, ("all", "read")]
    reads = [row for row in rows.requests(several).rows if row[1] == "read"]
    numbers = [int(row[2].replace(",", "")) for row in reads]
    assert numbers[2] == numbers[0] + numbers[1]
    # All of one kind are all; and one initiator is all of a kind.
    readers = fs.run(guests(small, {"reads": "100 %"}, {"reads": "100 %"}))
    assert cells(rows.requests(readers))[2:] == [("all", "read")]
    assert ("all", "read") not in cells(rows.requests(result))
    assert cells(rows.latencies(several, "50,99.5"))[3] == ("all", "read")


def test_all_is_no_name_of_an_initiator(small):
    with pytest.raises(fs.ConfigError, match='"all" stands for all initiators'):
        fs.Experiment.from_dict(guests(small, {"name": "all"}))


def test_a_region_is_a_share_of_the_drive(small, tmp_path):
    """Every read lies in the third quarter of the drive."""
    log = tmp_path / "requests.parquet"
    region = {"region": {"offset": "50 %", "size": "25 %"}, "reads": "100 %"}
    experiment = fs.Experiment.from_dict(guests(small, region, {"region": {"offset": "1 MiB"}}))
    result = fs.run(experiment, requests=log)
    exported = experiment.derived["capacity"]["exported_bytes"]
    own = fs.read_requests(log).collect().filter(initiator="guest-0")
    begin, end = exported // 2 // 4096 * 4096, exported // 2 // 4096 * 4096 + exported // 4
    assert begin <= own["offset_bytes"].min() < begin + (end - begin) // 10
    assert end - (end - begin) // 10 < (own["offset_bytes"] + own["length_bytes"]).max() <= end
    parts = [row[1] for row in rows.tenants(result).rows]
    assert parts == ["50 % to 75 %", "1.05 MB to the end"]


def test_an_open_loop_has_no_limit_and_a_closed_one_needs_it(small):
    arrivals = {"arrivals": {"process": "poisson", "rate": "20 kIOPS"}}
    open_loop, unlimited = (
        fs.run(guests(small, arrivals | depth)) for depth in ({}, {"queue_depth": "none"})
    )
    one = guests(small, arrivals)["workload"][0]
    assert one["queue_depth"] == 8, "which limits the first"
    assert unlimited.summary["config"]["workload"][0]["queue_depth"] == "none"
    waits = [
        r.summary["all"]["blame_ns"].get("withheld_queue_depth", 0) for r in (open_loop, unlimited)
    ]
    assert waits[1] == 0
    assert fio.document(unlimited)["jobs"][0]["latency_depth"] == 0
    with pytest.raises(fs.ConfigError, match="a closed loop needs a number of outstanding"):
        fs.Experiment.from_dict(guests(small, {"queue_depth": "none"}))


@pytest.fixture(scope="module")
def crowd(small):
    """Many initiators, one with a name that is longer than a narrow terminal."""
    [host] = small["workload"]
    names = ["a-name-that-is-longer-than-some-terminals-have-columns", *map(str, range(15))]
    crowd = [host | {"name": name} for name in names]
    return fs.run(small | {"workload": crowd, "run": {"requests": 4000}})


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_nothing_is_cut_or_left_out(crowd, result, width, is_terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    for shown in (result, crowd):
        explained = fs.explain(shown, everything=True)
        whole = text.summary(shown)
        for renderable in (whole, text.explanation(explained, shown)):
            file = io.StringIO()
            file.isatty = lambda: is_terminal
            monkeypatch.setattr(sys, "stdout", file)
            console = text.console()
            console.print(renderable)
            printed = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
            assert "…" not in printed
            flat = "".join(printed.split())
            for name, _, figures in shown.groups():
                assert name in flat
                shown_spans = ("mean", "p50", "p99", "p99_9", "p99_99", "max")
                for span in shown_spans if renderable is whole else ():
                    assert units.duration(figures["latency_ns"][span]).replace(" ", "") in flat
            assert max(map(len, printed.splitlines())) <= width
            assert ("p99.99" if renderable is whole else "together") in printed
            if not is_terminal:
                assert max(map(len, _piped(renderable, monkeypatch).splitlines())) > 60
                monkeypatch.setenv("COLUMNS", str(width))


def _piped(renderable, monkeypatch):
    """Return the output to a pipe without a given width."""
    file = io.StringIO()
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr(sys, "stdout", file)
    text.console().print(renderable)
    return file.getvalue()


def test_an_interval_that_says_nothing_is_not_shown(result):
    steady = {"reached": True, "from_ns": 0, "reason": None}
    for half_width, reached, shown in ((0.5, True, True), (2.0, True, False), (0.5, False, False)):
        summary = copy.deepcopy(result.summary)
        summary["steady_state"]["latency"] = steady | {"reached": reached}
        latency = summary["initiators"][0]["read"]["latency_ns"]
        summary["initiators"][0]["write"]["latency_ns"].pop("mean_ci95", None)
        latency["mean_ci95"] = half_width * latency["mean"]
        table = rows.latencies(fs.Result(summary, {}))
        assert ("± 50.0 %" in table.rows[0][2]) == shown
        assert ("95 %" in table.title) == reached


def test_nothing_written_is_not_called_unsteady(small):
    reads = {"workload[0].reads": "100 %", "run.requests": 200}
    result = fs.run(fs.Experiment.from_dict(small).replace(reads))
    assert [figure for figure, _ in result.steadiness()] == ["latency"]


def test_tables_agree_with_the_summary(result):
    for name, kind, figures in result.groups():
        rows = result.latency.filter(pl.col("initiator") == name, pl.col("kind") == kind)
        assert rows["requests"].sum() == figures["requests"]
    assert result.series["reads"].sum() == result.read.requests
    assert len(result.wear) == result.summary["config"]["drive"]["geometry"]["channels"] * 64


def test_drives_with_bit_errors_have_a_table_of_them(small, result, tmp_path):
    chip = {"chip": "tlc-72-layer", "codeword": "512 B", "re_read_scale": 2, "corrects": 75}
    worn = fs.Experiment.from_dict(small).replace(
        {"drive.nand.errors": chip | {"initial_cycles": 5000}, "run.audit": False}
    )
    ran = fs.run(worn)
    ran.save(tmp_path / "worn")
    for kept in (ran, fs.Result.load(tmp_path / "worn"), pickle.loads(pickle.dumps(ran))):
        first = kept.summary["errors"]["first_decodes"]
        for of in ("host", "internal"):
            counted = kept.errors[f"{of}_first_decodes"].sum()
            assert counted == pytest.approx(first[of]["codewords"], rel=1e-6)
        assert first["codewords"] == first["host"]["codewords"] + first["internal"]["codewords"]
    with pytest.raises(fs.OutputError, match="no bit errors"):
        _ = result.errors
    swept = fs.sweep(worn, seeds=1, out=tmp_path / "sweep", tables=True)
    assert swept.result(1).errors.columns == ran.errors.columns


def test_percentiles_of_tables_are_those_of_the_summary(result):
    exact = result.summary["initiators"][0]["read"]["latency_ns"]
    for name in (
        "p50",
        "p90",
        "p95",
        "p99",
        "p99_9",
        "p99_99",
        "p99_999",
        "p99_9999",
        "min",
        "max",
    ):
        assert getattr(result.read, name) == exact[name]
    assert result.read.mean == pytest.approx(exact["mean"])
    with pytest.raises(ValueError, match="no kind 'reads'"):
        result.of_kind("reads")
    with pytest.raises(ValueError, match="no initiator 'guest'"):
        result.of_kind("read", "guest")


def test_results_survive_a_directory(result, tmp_path):
    result.save(tmp_path / "out")
    again = fs.Result.load(tmp_path / "out")
    assert again.summary == json.loads(json.dumps(result.summary))
    for table in ("latency", "blame", "bands", "series", "wear", "slowest"):
        assert again.frame(table).equals(result.frame(table)), table
    assert str(fs.explain(again)) == str(fs.explain(result))
    with pytest.raises(fs.OutputError, match="not empty"):
        result.save(tmp_path / "out")


def test_results_can_be_pickled(result):
    again = pickle.loads(pickle.dumps(result))
    assert again.summary == result.summary
    assert again.slowest.equals(result.slowest)
    assert again.read == result.read


def test_a_latency_is_shown_in_a_line(result):
    shown = repr(result.read)
    assert shown.startswith(f"<Latency of {result.read.requests:,} requests: mean ")
    assert len(shown) < 150


def test_results_without_a_title_have_the_files(small, tmp_path):
    config = {key: value for key, value in small.items() if key != "title"}
    (tmp_path / "mixed.json").write_text(json.dumps(config | {"run": {"requests": 10}}))
    assert fs.run(tmp_path / "mixed.json").summary["title"] == "mixed.json"


def test_a_notebook_shows_tables_without_scripts(result):
    page = result._repr_html_()
    assert "<table>" in page
    assert "<script" not in page


def test_every_state_has_a_cause():
    assert [name for name, _ in _flashscape.states() if cause_of(name) is OTHER] == []


def test_the_explanation_accounts_for_all_time(result):
    for group in fs.explain(result).groups:
        assert sum(group.mean.values()) == pytest.approx(1.0)


def test_how_often_operations_were_suspended_is_told_where_they_may_be(config):
    """Equal to the results; no sentence for a drive that suspends nothing."""
    plain = fs.run(config)
    told = [row[0] for row in rows.drive(plain).rows]
    assert not any("suspended" in figure or "suspension" in figure for figure in told)
    assert "suspended" not in str(fs.explain(plain))

    config["drive"]["scheduler"] = {"suspension": "i-es"}
    result = fs.run(config)
    flash = result.summary["flash"]
    erases = flash["erases"]["erase"]["commands"]
    suspensions, ramps = flash["erase_suspensions"], flash["extra_ramps"]
    assert suspensions > 1
    assert ramps > 1
    told = dict(rows.drive(result).rows)
    each = f"{suspensions / erases:.3g} an erase (i-es)"
    assert told["erases suspended"].startswith(f"{suspensions} times in {erases} erases, {each}")
    assert "programs suspended" not in told
    assert told["worn by suspension"].startswith(f"{ramps} ramps and ")
    explained = str(fs.explain(result))
    assert f"Erases suspended for reads: {suspensions} times in {erases} erases" in explained
    assert f"That wore the flash by {ramps} ramps and " in explained


def test_pages_that_stream_between_packages_are_counted_and_told(config):
    """Each is read and programmed once, so GC has programmed at least as many."""
    ftl = config["drive"]["ftl"]
    config["drive"]["geometry"].update(channels=2, packages_per_channel=4)
    # A command would address two packages at a time.
    config["drive"]["nand"] = {"command_cycles": "none"}
    # A batch is one unit, and packages are idle now and then.
    ftl["unit"] = "64 KiB"
    ftl["over_provisioning"] = {"exported": "600 MiB"}
    ftl["allocation"] = {"pool": "drive", "choice": "most-free"}
    config["workload"][0].update(queue_depth=1, size="64 KiB", align="64 KiB")
    config["run"]["requests"] = 9_000

    def streamed(streaming):
        ftl["gc"] = {"streaming": streaming}
        result = fs.run(config)
        told = dict(rows.drive(result).rows).get("pages streamed")
        programs = result.summary["flash"]["programs"]["gc_program"]["planes"]
        return result.summary["collection"]["streamed_pages"], told, programs

    pages, told, programs = streamed(True)
    assert 0 < pages <= programs
    assert told == f"{pages:,} to another package, past the controller"
    assert streamed(False)[:2] == (0, None)


@pytest.mark.parametrize(
    ("beyond", "shown"),
    [(9, " (9!)"), (9.67, " (9!)"), (10, " (10)"), (999, " (999)"), (1000, ""), (None, "")],
)
def test_samples_behind_a_percentile_are_marked_below_ten(beyond, shown):
    assert rows.behind(beyond, 1000) == shown
