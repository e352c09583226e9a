"""Queries over runs that exist: their drives, NVM sets and initiators, against naive models."""

from __future__ import annotations

import copy
import itertools
import json
import math
import random
import shutil
import statistics
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

import flashscape as fs
import seeds
from flashscape.errors import ConfigError, OutputError
from test_fanout import FAST, SLOW, Drive, stages_of, time_of

SLOT_NS = 1_000_000
"""Time from a read to the next one of hand-made runs, in which all reads come in step."""


class Part(NamedTuple):
    """An initiator of a hand-made run."""

    name: str
    nvm_set: int | None
    reads: list[tuple[int, int]]


def made(folder: Path, parts: list[Part], sets: int | None, digest: str = "made") -> Path:
    """Write results that hold reads with these arrivals and latencies; return their directory."""
    folder.mkdir()
    named = [(part.name, at, ns) for part in parts for at, ns in part.reads]
    schema = {"initiator": pl.String, "arrived_ns": pl.UInt64, "latency_ns": pl.UInt64}
    log = pl.DataFrame(named, schema=schema, orient="row").with_columns(
        finished_ns=pl.col("arrived_ns") + pl.col("latency_ns")
    )
    zeros = ("index", "offset_bytes", "length_bytes", "unmapped", "failed")
    states = [f"{name}_ns" for name, _ in fs._flashscape.states()]
    whole = log.sort("finished_ns").with_columns(
        pl.lit("read").alias("kind"), *(pl.lit(0).alias(name) for name in (*zeros, *states))
    )
    # Writes are no reads, however slow they are.
    writes = whole.head(1).with_columns(kind=pl.lit("write"), latency_ns=pl.lit(9 * SLOW))
    both = pl.concat([whole, writes.cast({"latency_ns": pl.UInt64})])
    both.write_parquet(folder / "requests.parquet", metadata={"digest": digest})
    buckets = whole.group_by("initiator", "kind", "latency_ns").agg(requests=pl.len())
    buckets.rename({"latency_ns": "high_ns"}).with_columns(low_ns=pl.col("high_ns")).write_parquet(
        folder / "latency.parquet"
    )
    summary = dict.fromkeys(
        ("simulated_ns", "counted_ns", "host_cpu_seconds", "mean_outstanding", "flash", "wear"), 0
    )
    summary |= dict.fromkeys(("write_amplification", "utilisation", "steady_state"), 0)
    summary |= {"precondition": {}, "notes": [], "title": "made", "complete": True}
    summary |= {"digest": digest, "array": None, "initiators": [_told(part) for part in parts]}
    summary["sets"] = None if sets is None else [{"set": at} for at in range(1, sets + 1)]
    loads = [
        {"name": part.name} | ({} if part.nvm_set is None else {"nvm_set": part.nvm_set})
        for part in parts
    ]
    summary["config"] = {"workload": loads, "run": {}, "drive": {"nand": {}}}
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    return folder


def _told(part: Part) -> dict[str, object]:
    """Return the figures of an initiator in a summary."""
    ns = [latency for _, latency in part.reads]
    latency = {"mean": sum(ns) / len(ns), "min": min(ns), "max": max(ns)} if ns else {}
    none = {"requests": 0}
    others = dict.fromkeys(("write", "trim", "flush", "write_zeroes"), none)
    return {"name": part.name, "read": {"requests": len(ns), "latency_ns": latency}} | others


def in_step(slots: int, slow_in: dict[int, set[int]], number: int) -> list[tuple[int, int]]:
    """Return a read in each slot, slow in those that name this source."""
    slow = [number in slow_in.get(slot, ()) for slot in range(slots)]
    return [(slot * SLOT_NS, SLOW if is_slow else FAST) for slot, is_slow in enumerate(slow)]


# Hand-made reads, and arithmetic.


def test_sets_that_are_slow_together_are_met_as_often_as_choices_say(tmp_path):
    # Of four sets, two are slow in each of 40 of 2,000 slots: 1 % of the reads.
    slots, slow_slots = 2_000, range(7, 2_000, 50)
    pairs = itertools.cycle(itertools.combinations(range(1, 5), 2))
    slow_in = {slot: set(pair) for slot, pair in zip(slow_slots, pairs, strict=False)}
    parts = [Part(f"tenant {n}", n, in_step(slots, slow_in, n)) for n in range(1, 5)]
    found = fs.queries_over(made(tmp_path / "run", parts, 4), [1, 2, 3, 4, 100], queries=40_000)
    assert found.over == "sets"
    fanout = found.fanout
    assert (fanout.slow_above_ns, fanout.slow_reads) == (FAST, 0.01)
    at_moments = fanout.slow_at_moments
    # Half of the sets are slow in a slow slot; 40,000 moments hit 2 % of the slots.
    assert abs(2 * at_moments - 0.02) < 4 * math.sqrt(0.02 * 0.98 / 40_000)
    for row in fanout.rows[:4]:
        k = row["reads"]
        met = 1 - math.comb(2, k) / math.comb(4, k)
        assert row["slow_moments"] == pytest.approx(2 * at_moments * met, abs=1e-12)
        assert row["slow_apart"] == pytest.approx(1 - (1 - at_moments) ** k, abs=1e-4)
    # Each independent: 0.634 of the queries of 100 reads.
    assert [row["slow_pooled"] for row in fanout.rows] == pytest.approx(
        [1 - 0.99 ** row["reads"] for row in fanout.rows], abs=1e-12
    )
    assert round(fanout.rows[4]["slow_pooled"], 3) == 0.634


@pytest.mark.parametrize("stages", [2, 3])
def test_pooled_stages_multiply_the_reads(tmp_path, stages):
    slow_in = {slot: {1, 2} for slot in range(3, 1_000, 100)}
    parts = [Part(f"tenant {n}", n, in_step(1_000, slow_in, n)) for n in (1, 2)]
    folder = made(tmp_path / "run", parts, 2)
    found = fs.queries_over(folder, [1, 100], stages=stages, queries=100)
    assert found.fanout.stages == stages
    for row in found.fanout.rows:
        assert row["slow_pooled"] == pytest.approx(1 - 0.99 ** (row["reads"] * stages), abs=1e-12)


@pytest.fixture
def drawn():
    """Random numbers whose seed is told."""
    return seeds.drawn()


def of_chance(drawn, count: int) -> list[tuple[int, int]]:
    """Return reads at random times, some at the same one. Few are slow, and some take no time."""

    def latency() -> int:
        chance = drawn.random()
        return 900_000 if chance < 0.008 else 0 if chance < 0.03 else drawn.randrange(9_000)

    return [(drawn.randrange(100_000) * 100, latency()) for _ in range(count)]


SHARED = {"a": 1, "b": 2, "c": 1, "d": 3, "e": 2}
"""Sets of five initiators, some of which share one."""


@pytest.mark.parametrize("reads", [1, 2, 3])
def test_queries_over_sets_are_those_of_a_naive_model(tmp_path, drawn, reads):
    parts = [Part(name, number, of_chance(drawn, 400)) for name, number in SHARED.items()]
    found = fs.queries_over(made(tmp_path / "run", parts, 4), reads, queries=300, seed=7)
    naive = [
        Drive([read for part in parts if part.nvm_set == number for read in part.reads])
        for number in (1, 2, 3)
    ]
    assert [each["reads"] for each in found.sources] == [800, 800, 400]
    limit = found.fanout.slow_above_ns
    every = sorted(ns for drive in naive for _, ns in drive.reads)
    assert limit == every[math.ceil(0.99 * len(every)) - 1]
    shares = [sum(ns > limit for _, ns in drive.reads) / len(drive.reads) for drive in naive]
    assert [each["slow_reads"] for each in found.sources] == shares
    slow = []
    for moment in moments_of(naive, 300):
        chosen = [*itertools.combinations([drive.at(moment) for drive in naive], reads)]
        slow.append(sum(max(each) > limit for each in chosen) / len(chosen))
    (row,) = found.fanout.rows
    assert row["slow_moments"] == pytest.approx(sum(slow) / 300, abs=1e-12)


def test_stages_over_sets_are_those_of_a_naive_model(tmp_path, drawn):
    parts = [Part(name, number, of_chance(drawn, 300)) for name, number in SHARED.items()]
    found = fs.queries_over(made(tmp_path / "run", parts, 3), 3, stages=3, queries=200, seed=7)
    naive = [
        Drive([read for part in parts if part.nvm_set == number for read in part.reads])
        for number in (1, 2, 3)
    ]
    limit, latencies, slow = found.fanout.slow_above_ns, [], 0
    for moment in moments_of(naive, 200):
        # All three are asked for one read, three times.
        slowest = stages_of(naive, moment, [[1, 1, 1]] * 3)
        latencies.append(sum(slowest))
        slow += max(slowest) > limit
    (row,) = found.fanout.rows
    assert row["mean_moments_ns"] == pytest.approx(sum(latencies) / 200, rel=1e-12)
    assert row["slow_moments"] == slow / 200
    assert row["p50_moments_ns"] == sorted(latencies)[99]


def moments_of(drives: list[Drive], queries: int) -> list[int]:
    """Return the moments at which queries of seed 7 begin."""
    begin, end = time_of(drives)
    bits = random.Random("7 fleet.fanout.moments")
    return [begin + (bits.getrandbits(53) * (end - begin) >> 53) for _ in range(queries)]


def test_a_run_is_split_as_over_says(tmp_path, drawn):
    parts = [Part(name, number, of_chance(drawn, 50)) for name, number in SHARED.items()]
    parts.append(Part("writer", 4, []))
    run = made(tmp_path / "run", parts, 5)
    sets = fs.queries_over(run, 1)
    assert [each["name"] for each in sets.sources] == ["NVM set 1", "NVM set 2", "NVM set 3"]
    assert sets.document["without_reads"] == ["NVM set 4", "NVM set 5"]
    assert "note: NVM set 4, NVM set 5: no reads" in "\n".join(sets.sentences)
    asked = fs.queries_over(fs.Result.load(run), 1, over="initiators")
    assert [each["name"] for each in asked.sources] == list("abcde")
    assert asked.document["without_reads"] == ["writer"]
    other = made(tmp_path / "other", parts[:2], 2, digest="another")
    drives = fs.queries_over([run, other], 1)
    assert drives.over == "drives"
    assert [each["reads"] for each in drives.sources] == [250, 100]
    both = fs.queries_over([run, other], 1, over="sets")
    assert [each["name"] for each in both.sources] == [
        *(f"{run}, NVM set {number}" for number in (1, 2, 3)),
        *(f"{other}, NVM set {number}" for number in (1, 2)),
    ]
    # Without sets, one run is split by initiator.
    bare = made(tmp_path / "bare", [part._replace(nvm_set=None) for part in parts], None)
    assert fs.queries_over(bare, 1).over == "initiators"


def test_sets_that_cannot_be_asked_at_the_same_moments_are_told(flashscape, tmp_path, drawn):
    parts = [Part(name, number, of_chance(drawn, 20)) for name, number in SHARED.items()]
    run = made(tmp_path / "run", parts, 3)
    # Set 3 has 20 reads, and every third of 90 reads is asked of it, besides one more.
    found = fs.queries_over(run, [1, 90])
    why = "an NVM set has fewer reads than the 31 that a stage asks of it"
    assert found.fanout.why_no_moments == why
    assert "slow_pooled" in found.fanout.rows[1]
    ended = flashscape("fanout", "run", "--reads", "1,90", "--plot", "f.pdf")
    assert ended.status == 0, ended.err
    assert f"note: no query at the same moments: {why}" in " ".join(ended.out.split())
    assert "slow, same" not in ended.out
    late = [(10**9 + at, ns) for at, ns in of_chance(drawn, 20)]
    apart = made(tmp_path / "apart", [parts[0], parts[1]._replace(reads=late)], 2, digest="other")
    told = fs.queries_over(apart, 1).fanout.why_no_moments
    assert told == "the NVM sets have no time in common in which all of them have reads"


# Real runs.


def four(*, sets: bool, seed: int) -> dict[str, object]:
    """Return four tenants that read and write at different rates, on four channels."""
    loads = [
        {
            "name": f"tenant {number}",
            "reads": "70 %",
            "arrivals": {"process": "poisson", "rate": f"{rate} IOPS"},
            **({"nvm_set": number} if sets else {}),
        }
        # Of equal rates, sets that are prepared alike would collect in step for long.
        for number, rate in enumerate((1_600, 1_860, 2_140, 2_400), 1)
    ]
    ftl = {"over_provisioning": {"exported": "300 MiB"}}
    return {
        "seed": seed,
        "drive": {
            "preset": "dc-tlc",
            "link": "none",
            "geometry": {
                "channels": 4,
                "dies_per_package": 1,
                "blocks_per_plane": 64,
                "pages_per_block": 24,
            },
            "ftl": ftl | ({"sets": {"channels": 4}} if sets else {}),
            "buffer": {"size": "4 MiB"},
        },
        "precondition": {"fill": "random", "age": {"overwrites": 1.0}},
        "workload": loads,
        "run": {"warm_up": {"requests": 100_000}, "requests": 160_000},
    }


def gaps(folder: Path, *, sets: bool) -> list[float]:
    """Return queries of four reads that are slow at the same moments, less those apart, by seed."""
    found = []
    for seed in range(1, 9):
        result = fs.run(four(sets=sets, seed=seed), requests=folder / f"{sets}-{seed}.parquet")
        asked = fs.queries_over(result, 4, seed=seed)
        assert asked.over == ("sets" if sets else "initiators")
        (row,) = asked.fanout.rows
        found.append(row["slow_moments"] - row["slow_apart"])
    return found


def test_sets_are_slow_apart_and_initiators_of_the_same_dies_together(tmp_path):
    apart, together = gaps(tmp_path, sets=True), gaps(tmp_path, sets=False)
    errors = [statistics.stdev(each) / math.sqrt(len(each)) for each in (apart, together)]
    print(f"sets {statistics.mean(apart):+.5f} ± {errors[0]:.5f}")
    print(f"no sets {statistics.mean(together):+.5f} ± {errors[1]:.5f}")
    # Sets that share nothing are independent.
    assert abs(statistics.mean(apart)) < 4 * errors[0]
    # Erases and programs of a die delay the reads of all initiators at the same time.
    assert statistics.mean(together) < -4 * errors[1]
    assert statistics.mean(together) < 4 * statistics.mean(apart) - 4 * sum(errors)


def test_devices_of_a_trace_belong_to_the_set_of_their_workload(tmp_path, config):
    drawn = seeds.drawn(3)
    lines = [
        f"{128166372003061629 + at * 1000},disk,{drawn.randrange(2)},"
        f"{drawn.choice(['Read', 'Write'])},{drawn.randrange(2000) * 4096},4096,1"
        for at in range(2_000)
    ]
    (tmp_path / "trace.csv").write_text("\n".join(lines), encoding="utf-8")
    config["drive"]["ftl"]["sets"] = {"channels": 2}
    trace = {"file": str(tmp_path / "trace.csv"), "combine": "separate"}
    config["workload"] = [
        {"name": "volumes", "nvm_set": 2, "trace": trace},
        {"name": "volumes.x", "nvm_set": 1, "reads": "50 %", "stop": {"requests": 500}},
    ]
    del config["run"]["requests"]
    result = fs.run(config, requests=tmp_path / "requests.parquet")
    names = [each["name"] for each in result.summary["initiators"]]
    assert names == ["volumes.0", "volumes.1", "volumes.x"]
    found = fs.queries_over(result, 2)
    reads = [each["read"]["requests"] for each in result.summary["initiators"]]
    assert [each["reads"] for each in found.sources] == [reads[2], reads[0] + reads[1]]


def test_drives_of_a_fleet_are_asked_as_the_fleet_asks_them(config, tmp_path):
    config["workload"][0] = {
        "name": "host",
        "reads": "70 %",
        "arrivals": {"process": "poisson", "rate": "8 kIOPS"},
    }
    given = {"drives": 3, "age": "0 %..40 %", "fanout": [1, 2, 7], "stages": 2, "queries": 300}
    fleet = fs.fleet(config, **given, out=tmp_path / "fleet")
    drives = [str(fleet.result(number).folder) for number in (1, 2, 3)]
    asked = fs.queries_over(drives, [1, 2, 7], stages=2, queries=300, seed=fleet.document["seed"])
    assert asked.fanout == fleet.fanout
    # The log of a run has the same reads as the table of a point.
    kept = []
    for number in (1, 2, 3):
        clone = {"number": number, "overwrites": {"from": 0.0, "to": 0.4}}
        folder = tmp_path / f"alone-{number}"
        fs.run({**config, "clone": clone}, out=folder, requests=folder / "requests.parquet")
        kept.append(folder)
    again = fs.queries_over(kept, [1, 2, 7], stages=2, queries=300)
    assert again.fanout == fleet.fanout
    with pytest.raises(OutputError, match="keeps arrival and latency of its reads"):
        fs.queries_over(drives, 1, over="initiators")
    with pytest.raises(OutputError, match=r"is a fleet, .*Fleet\.load\(.*fleet'\)"):
        fs.queries_over(tmp_path / "fleet", 1)


# The command.


@pytest.fixture(scope="module")
def kept(small, tmp_path_factory) -> Path:
    """A directory with the results of two sets and their reads, and one of a run without reads."""
    folder = tmp_path_factory.mktemp("kept")
    config = copy.deepcopy(small)
    config["drive"]["ftl"]["sets"] = {"channels": 2}
    config["workload"] = [
        {"name": name, "nvm_set": number, "reads": reads, "queue_depth": 2}
        for name, number, reads in (("one", 1, "50 %"), ("two", 2, "70 %"), ("more", 2, "0 %"))
    ]
    fs.run(config, out=folder / "sets", requests=folder / "sets/requests.parquet")
    fs.run(config, out=folder / "bare")
    config["workload"][1]["reads"] = "0 %"
    fs.run(config, out=folder / "lone", requests=folder / "lone/requests.parquet")
    return folder


@pytest.fixture
def place(kept, tmp_path) -> Path:
    """A copy of the results, where the command runs."""
    return Path(shutil.copytree(kept, tmp_path, dirs_exist_ok=True))


def test_the_command_asks_the_sets_of_a_run(flashscape, place):
    options = ("--reads", "1,2,8", "--stages", "2", "--queries", "400", "--seed", "5")
    ended = flashscape("fanout", "sets", *options, "--json", "f.json", "--plot", "f.svg")
    assert ended.status == 0, ended.err
    for phrase in ("Reads of 2 NVM sets", "Queries of 2 stages", "NVM sets asked", "f.svg"):
        assert phrase in ended.out, phrase
    document = json.loads((place / "f.json").read_bytes())
    asked = fs.queries_over(place / "sets", [1, 2, 8], stages=2, queries=400, seed=5)
    assert document == json.loads(asked.to_json()) | {"runs": ["sets"]}
    assert document["seed"] == 5
    drawn = (place / "f.svg").read_text(encoding="utf-8")
    for phrase in ("Latency of reads of 2 NVM sets together", "Queries of 2 stages", "share of"):
        assert phrase in drawn, phrase
    # Ticks within a decade are numbers, not formulas.
    assert "mathdefault" not in drawn
    only = flashscape("fanout", "sets", *options, "--json", "-", "--over", "sets")
    assert only.out == (place / "f.json").read_text(encoding="utf-8")
    assert repr(asked) == "<QueriesOver 2 NVM sets>"
    assert "Reads of 2 NVM sets" in asked._repr_html_()
    quiet = flashscape("fanout", "sets", "--over", "initiators", "--quiet")
    assert (quiet.status, quiet.out) == (0, "")


def test_pictures_beside_the_results_may_be_replaced(flashscape, place):
    picture = ("fanout", "sets", "--reads", "1", "--plot", "sets/f.svg")
    assert flashscape(*picture).status == 0
    assert flashscape(*picture).status == 1
    assert flashscape(*picture, "--force").status == 0
    refused = flashscape(*picture[:-1], "sets/summary.json", "--force")
    assert refused.status != 0


def test_several_runs_are_drives_and_equal_ones_are_told(flashscape, place):
    shutil.copytree(place / "sets", place / "again")
    ended = flashscape("fanout", "sets", "again", "--reads", "1,2")
    assert ended.status == 0, ended.err
    assert "Reads of 2 drives" in ended.out
    assert "2 of 2 runs are equal" in " ".join(ended.out.split())
    # Equal drives are slow together, however many are asked.
    one, two = fs.queries_over([place / "sets", place / "again"], [1, 2]).fanout.rows
    assert one["slow_moments"] == two["slow_moments"] > 0


@pytest.mark.parametrize(
    ("arguments", "status", "phrases"),
    [
        (
            ("bare",),
            1,
            [
                "has no log of its reads (requests.parquet is missing)",
                "--requests DIR/requests.parquet",
            ],
        ),
        (("lone",), 1, ["of its NVM sets, NVM set 1 has reads", "two sources"]),
        (("lone", "--over", "initiators"), 1, ["of its initiators, one reads"]),
        (("sets", "--over", "drives"), 1, ["one run is one drive", "--over sets"]),
        (("sets", "sets"), 1, ["is given 2 times"]),
        (("nowhere",), 1, ["there is no such directory"]),
        (("sets", "--reads", "1,many"), 2, ["'1,many' is not of the form 1,10,100"]),
        (("sets", "--reads", "0"), 2, ["reads: 0 is not a whole number"]),
        (("sets", "--reads", "2,2"), 2, ["reads: [2, 2] names a number twice"]),
        (("sets", "--stages", "0"), 2, ["stages: 0 is not a whole number"]),
        (("sets", "--queries", "0"), 2, ["queries: 0 is not a whole number"]),
        (("sets", "--over", "dies"), 2, ["'dies' is not one of"]),
        ((), 2, ["Missing argument"]),
        (("sets", "--plot", "f.jpg"), 1, [".png, .pdf or .svg"]),
        (("sets", "--plot", "there.svg"), 1, ["there.svg: is there already"]),
        (("sets", "--json", "there.svg"), 1, ["there.svg: is there already"]),
        (("sets", "--force", "--json", "sets/summary.json"), 1, ["read by this very command"]),
        (("sets", "--force", "--plot", "f.svg", "--json", "f.svg"), 1, ["something else"]),
    ],
)
def test_wrong_use_is_refused_in_one_message(flashscape, place, arguments, status, phrases):
    (place / "there.svg").write_text("mine", encoding="utf-8")
    before = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    ended = flashscape("fanout", *arguments)
    assert ended.status == status, ended.out + ended.err
    for phrase in phrases:
        assert phrase in ended.err, ended.err
    assert "this is a bug" not in ended.err
    assert {file: file.read_bytes() for file in place.rglob("*") if file.is_file()} == before


def test_a_sweep_is_refused_with_what_can_be_asked(flashscape, place, tmp_path):
    (tmp_path / "swept.toml").write_text('base = "base.toml"\nseeds = 2\n', encoding="utf-8")
    (tmp_path / "base.toml").write_text(
        '[drive]\npreset = "dc-tlc"\n[drive.geometry]\nblocks_per_plane = 40\n'
        'pages_per_block = 12\n[drive.ftl.over_provisioning]\nreserved = "60 %"\n'
        '[[workload]]\nname = "r"\nreads = "100 %"\n[run]\nrequests = 20\n',
        encoding="utf-8",
    )
    ran = flashscape("sweep", str(tmp_path / "swept.toml"), "--tables", "--out", "swept")
    assert ran.status == 0, ran.err
    ended = flashscape("fanout", "swept")
    assert ended.status == 1
    assert "is a sweep, whose points keep no reads; run a point again with them" in ended.err
    assert "such as flashscape run swept/points/" in ended.err
    assert "--out DIR --requests DIR/requests.parquet" in ended.err


def test_reads_that_cannot_be_read_are_told(flashscape, place):
    log = place / "sets" / "requests.parquet"
    whole = log.read_bytes()
    half = len(whole) // 2
    for damage, phrase in (
        (b"no table", "cannot be read"),
        (whole[:half], "cannot be read"),
        (b"PAR1" + bytes(half - 4) + whole[half:], "cannot be read"),
        ((place / "lone" / "requests.parquet").read_bytes(), "is the log of another run"),
        ((place / "sets" / "latency.parquet").read_bytes(), "is not a log of requests"),
    ):
        log.write_bytes(damage)
        ended = flashscape("fanout", "sets")
        assert ended.status == 1, ended.out
        assert f"sets/requests.parquet: {phrase}" in ended.err, ended.err
        assert "this is a bug" not in ended.err
    table = place / "bare" / "reads.parquet"
    table.write_bytes((place / "sets" / "latency.parquet").read_bytes())
    for damage, phrase in (
        (None, "is no table of reads: it lacks the column arrived_ns"),
        (b"no table", "cannot be read"),
    ):
        if damage is not None:
            table.write_bytes(damage)
        with pytest.raises(OutputError, match=f"bare/reads.parquet: {phrase}"):
            fs.queries_over([place / "bare", place / "lone"], 1)
    pl.DataFrame({"arrived_ns": [1], "latency_ns": [2]}).write_parquet(table)
    with pytest.raises(OutputError, match=r"keeps 1 reads of .* belong to different runs"):
        fs.queries_over([place / "bare", place / "lone"], 1)


def test_python_refuses_what_is_no_run(config, place):
    with pytest.raises(OutputError, match="no run is given"):
        fs.queries_over([], 1)
    with pytest.raises(ConfigError, match=r"over: no choice 'dies' .*there are drives, sets"):
        fs.queries_over(place / "sets", 1, over="dies")
    with pytest.raises(ConfigError, match=r"over: no choice \['sets'\]"):
        fs.queries_over(place / "sets", 1, over=["sets"])  # type: ignore[arg-type]
    for name in ("stages", "queries", "seed"):
        with pytest.raises(ConfigError, match=f"{name}: None is not a whole number"):
            fs.queries_over(place / "sets", 1, **{name: None})
    for reads in (1.5, None):
        with pytest.raises(ConfigError, match=f"reads: {reads} is not a whole number .* list of"):
            fs.queries_over(place / "sets", reads)
    with pytest.raises(ConfigError, match=r"runs: \[{}\] is not the Result of a run"):
        fs.queries_over([{}], 1)
    config["run"] = {"requests": 100, "untimed": True}
    with pytest.raises(OutputError, match="result 1: is an untimed run"):
        fs.queries_over(fs.run(config), 1)
    config["run"] = {"requests": 100}
    config["workload"][0]["reads"] = "0 %"
    with pytest.raises(OutputError, match="result 1: has no reads"):
        fs.queries_over([fs.run(config), fs.Result.load(place / "sets")], 1)
    with pytest.raises(OutputError, match="has no reads that queries could ask for; give its"):
        fs.queries_over(fs.run(config), 1, over="initiators")
    with pytest.raises(OutputError, match="result 1: its drive has no NVM sets"):
        fs.queries_over(fs.run(config), 1, over="sets")


def test_the_plan_of_an_array_chooses_the_set_itself(config, tmp_path):
    config["array"] = {"drives": 2, "plan": {"policy": "mirror"}}
    config["workload"] = [
        {"name": name, "reads": "100 %", "queue_depth": 1} for name in ("one", "two")
    ]
    result = fs.run(config, requests=tmp_path / "requests.parquet")
    assert fs.queries_over(result, 2).over == "initiators"
    with pytest.raises(OutputError, match=r"the host's plan \(array\) chooses"):
        fs.queries_over(result, 2, over="sets")
