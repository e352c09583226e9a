"""Projected lives side by side: ratios by arithmetic, what differs, and pictures of both."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import flashscape as fs
from flashscape.lifetime import Conditions, Lifetime, Limits, WearState
from flashscape.report import lifetimes

CONFIG = {"seed": 1, "drive": {"ftl": {"gc": {"victim": {"policy": "greedy"}}}}}
GOOD_BYTES = 8 * 10**9


def state(cycles: int, amplification: float, uber: float | None = None, **more) -> WearState:
    figures = {
        "cycles": cycles,
        "write_amplification": amplification,
        "erased_for_each_programmed": 1.0,
        "bytes_per_second": 1e6,
        "uber": uber,
        "uber_counted": None,
        "lost_units": None,
        "moved_units": None,
        "bits_read": None,
        "added_cycles": 3.0,
        "erases_of_a_block": 2.0,
        "counted_ns": 10**10,
        "is_steady": True,
        "good_bytes": GOOD_BYTES,
        "digest": "0",
        "programmed": {"host": 1.0, "gc": amplification - 1.0},
    }
    return WearState(**figures | more)


def life(wear: int, amplification: float, **more) -> Lifetime:
    conditions = Conditions("a drive", 5 * 10**9, None, False, True, CONFIG)
    limits = Limits(None, wear, 5)
    made = Lifetime(limits, conditions, (state(0, amplification),))
    return replace(made, **more)


def test_figures_are_ratios_to_the_first():
    """Write amplification 2 and 1,000 cycles, against 4 and 3,000."""
    compared = fs.compare_lifetimes(life(1000, 2.0), life(3000, 4.0), names=["short", "long"])
    first, second = compared.rows
    assert first["tbw"] == pytest.approx(1000 * GOOD_BYTES / 2 / 1e12)
    assert second["tbw"] == pytest.approx(3000 * GOOD_BYTES / 4 / 1e12)
    assert second["tbw_ratio"] == second["dwpd_ratio"] == pytest.approx(1.5)
    assert second["cycles_ratio"] == 3.0
    assert second["bytes_of_a_cycle_ratio"] == pytest.approx(0.5)
    assert (first["label"], first["name"]) == ("A", "short")
    told = compared.sentences[0]
    assert told.startswith("B against A: hosts write 50.0 % more bytes, 6 TB for 4 TB. The flash ")
    assert "lasts 3 times as many cycles, and takes 0.5 times as many bytes in each" in told
    assert told.endswith("(write amplification 4.00 for 2.00).")
    assert compared.sentences[1] == "All settings are equal."
    assert compared.frame["tbw_ratio"].to_list() == [1.0, pytest.approx(1.5)]
    assert [row[0] for row in lifetimes.table(compared.rows).rows] == ["A: short", "B: long"]


def with_(of: Lifetime, **more) -> Lifetime:
    return replace(of, conditions=replace(of.conditions, **more))


def test_settings_that_differ_are_named():
    other = {"seed": 2, "drive": {"ftl": {"gc": {"victim": {"policy": "fifo"}}}}, "title": "x"}
    compared = fs.compare_lifetimes(life(1000, 2.0), with_(life(1000, 2.0), config=other))
    assert compared.settings == {"seed": [1, 2], "drive.ftl.gc.victim.policy": ["greedy", "fifo"]}
    [told] = [line for line in compared.sentences if line.startswith("Settings that differ")]
    assert told == "Settings that differ: seed (1, 2); drive.ftl.gc.victim.policy (greedy, fifo)."
    old = with_(life(1000, 2.0), config=None)
    told = fs.compare_lifetimes(old, life(1000, 2.0)).sentences[1]
    assert told.startswith("Settings cannot be compared: a life is of an earlier version")


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (life(1000, 2.0, limits=Limits(1e-15, 1000, 5)), "limits of UBER differ (none, 1e-15)"),
        (life(1000, 2.0, limits=Limits(None, 1000, 3)), "the warranties differ"),
        (with_(life(1000, 2.0), exported_bytes=10**9), "the exported capacities differ"),
        (with_(life(1000, 2.0), data_age="90 days"), "the age of data at the beginning differs"),
        (life(1000, 2.0, limits=Limits(None, None, 5)), "a life that reaches no limit is longer"),
    ],
)
def test_what_keeps_lives_from_being_compared_is_told(other, told):
    if other.limits.uber is not None:
        other = replace(other, states=(state(0, 2.0, 1e-20),))
    found = fs.compare_lifetimes(life(1000, 2.0), other).sentences
    assert [line for line in found if line.startswith(f"note: {told}")], found
    same = fs.compare_lifetimes(life(1000, 2.0), life(1000, 2.0)).sentences
    assert not [line for line in same if line.startswith("note:")], same


def test_a_life_of_nothing_has_no_ratio():
    failed = life(1000, 2.0, limits=Limits(1e-15, 1000, 5), states=(state(0, 2.0, 1e-10),))
    compared = fs.compare_lifetimes(failed, life(1000, 2.0))
    assert compared.rows[1]["tbw_ratio"] is None
    assert compared.sentences[0] == "B against A: hosts can write nothing in the life of A."


def test_directories_are_compared_by_the_command(flashscape, config, tmp_path, monkeypatch):
    config["run"] = {"requests": 3000}
    (tmp_path / "base.json").write_text(json.dumps(config))
    for name, victim in (("one", "greedy"), ("two", "fifo")):
        change = f"drive.ftl.gc.victim={victim}"
        ended = flashscape(
            *("lifetime", "base.json", "--endurance", "3000", "--set", change),
            *("--out", name, "--quiet"),
        )
        assert ended.status == 0, ended.err
    monkeypatch.setenv("COLUMNS", "80")
    ended = flashscape(
        "compare", "one", "two/lifetime.json", "--out", "both", "--json", "both.json"
    )
    assert (ended.status, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "drive.ftl.gc.victim.policy (greedy, fifo)" in " ".join(ended.out.split())
    document = json.loads((tmp_path / "both.json").read_text())
    assert document == json.loads((tmp_path / "both" / "lifetimes.json").read_text())
    lives = [fs.Lifetime.load(tmp_path / name) for name in ("one", "two")]
    assert [row["tbw"] for row in document["rows"]] == [life.tbw for life in lives]
    assert document["rows"][1]["tbw_ratio"] == lives[1].tbw / lives[0].tbw
    # Without bit errors the ratio is that of write amplification alone.
    first, second = (life.states[0].write_amplification for life in lives)
    assert document["rows"][1]["tbw_ratio"] == pytest.approx(first / second)
    again = flashscape("compare", "one", "two", "--out", "both")
    assert (again.status, "both: is not empty" in again.err) == (1, True)
    pytest.importorskip("matplotlib")
    assert flashscape("plot", "both").out == "The picture is both/lifetimes.svg.\n"


def test_lives_are_not_compared_with_runs(flashscape, config, tmp_path):
    (tmp_path / "life").mkdir()
    (tmp_path / "life" / "lifetime.json").write_text(life(1000, 2.0).to_json())
    (tmp_path / "base.json").write_text(json.dumps(config))
    mixed = flashscape("compare", "life", "base.json")
    assert (mixed.status, mixed.out) == (2, "")
    assert "life: is a projected life, and base.json is none" in mixed.err
    alone = flashscape("compare", "life")
    assert "life: is a projected life; name another one to compare it with" in alone.err
    seeds = flashscape("compare", "life", "life/lifetime.json", "--seeds", "3")
    assert (seeds.status, "--seeds: projected lives were run before" in seeds.err) == (2, True)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "lifetime.json").write_text("{}")
    broken = flashscape("compare", "life", "broken")
    assert "broken/lifetime.json: is damaged, or of another version" in broken.err
    with pytest.raises(fs.ConfigError, match="names: 1 for 2 lives"):
        fs.compare_lifetimes(life(1, 2.0), life(1, 2.0), names=["one"])
    with pytest.raises(
        fs.ConfigError, match="names: 'one' is given twice; name the lives differently"
    ):
        fs.compare_lifetimes(life(1, 2.0), life(1, 2.0), names=["one", "one"])


def test_the_picture_of_a_life_without_bit_errors_has_bytes_and_sources():
    pytest.importorskip("matplotlib")
    figure = life(2000, 4.0).figure()
    written, sources = (axes for axes in figure.axes if axes.get_title("left"))
    assert written.get_title("left") == "Bytes that hosts can write"
    [curve] = [line for line in written.lines if len(line.get_xdata()) > 2]
    assert curve.get_xdata()[-1] == 2000
    assert list(curve.get_ydata())[::50] == pytest.approx([0, 2e12, 4e12])
    assert [bar.get_width() for bar in sources.patches] == [1.0, 3.0]
    texts = [text.get_text() for text in sources.get_legend().get_texts()]
    assert texts == ["host data: 1.00", "garbage collection: 3.00"]
    told = " ".join(text.get_text() for text in written.get_legend().get_texts())
    assert "4 TBW: 800 drive writes" in told


def test_the_picture_of_lives_has_each_of_them():
    pytest.importorskip("matplotlib")
    with_errors = life(
        5000,
        3.0,
        limits=Limits(1e-15, 5000, 5),
        states=(state(0, 3.0, 1e-30), state(4000, 3.0, 1e-16), state(5000, 3.0, 1e-9)),
    )
    compared = fs.compare_lifetimes(life(2000, 4.0), with_errors, names=["a", "b"])
    uber, written, sources = compared.figure().axes
    assert "UBER" in uber.get_title("left")
    ends = [line.get_xdata()[-1] for line in written.lines if len(line.get_xdata()) > 2]
    assert ends == [2000, pytest.approx(with_errors.cycles)]
    assert [tick.get_text() for tick in sources.get_yticklabels()] == ["A: a", "B: b"]
    assert [bar.get_width() for bar in sources.patches] == [1.0, 1.0, 3.0, 2.0]


def test_a_notebook_shows_lives_as_tables_and_sentences():
    one, other = life(1000, 2.0), life(3000, 4.0)
    page = one._repr_html_()
    assert "<caption>States of wear</caption>" in page
    assert "<b>a drive</b>" in page
    assert all(sentence in page for sentence in one.verdict)
    assert "What is extrapolated: The workload stays as it is" in page
    assert "<caption>" in fs.compare_lifetimes(one, other)._repr_html_()
