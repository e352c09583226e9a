"""Tables for pandas, an optional dependency: without it the error says how to install it."""

from __future__ import annotations

import math
import re
import sys

import polars as pl
import pytest

import flashscape as fs
from flashscape.frames import NOT_INSTALLED


@pytest.fixture(scope="module")
def tables(small, tmp_path_factory):
    """A run, a comparison and a sweep."""
    folder = tmp_path_factory.mktemp("tables")
    few = small | {"precondition": {"fill": "random"}, "run": {"requests": 400}}
    other = fs.Experiment.from_dict(few).replace({"drive.ftl.gc.victim": "fifo"})
    return (
        fs.run(few, requests=folder / "log.parquet"),
        fs.compare(few, other),
        fs.sweep(few, grid={"workload[0].queue_depth": [1, 8]}, out=folder / "sweep"),
    )


def rows_of(table) -> list[tuple]:
    """Rows as plain values; a missing value is None."""
    import pandas as pd

    def plain(value):
        if isinstance(value, (list, tuple)):
            return list(value)
        return None if pd.isna(value) else value

    return [tuple(map(plain, row)) for row in table.itertuples(index=False, name=None)]


def same(table, frame: pl.DataFrame) -> bool:
    """Return True if a table of pandas has the columns and values of one of Polars."""
    return list(table.columns) == frame.columns and rows_of(table) == frame.rows()


class TestWithPandas:
    @pytest.fixture(autouse=True)
    def _needs_pandas(self):
        pytest.importorskip("pandas", reason='needs pandas: pip install "flashscape[pandas]"')

    def test_types_survive_missing_values(self):
        frame = pl.DataFrame(
            {
                "whole": [1, 2],
                "part": [2**62 + 1, None],
                "unsigned": [2**64 - 1, None],
                "float": [0.5, None],
                "truth": [True, False],
                "maybe": [True, None],
                "text": ["a", None],
                "texts": [["a", "b"], None],
            },
            schema_overrides={"unsigned": pl.UInt64},
        )
        table = fs.to_pandas(frame)
        kinds = {name: str(kind) for name, kind in table.dtypes.items()}
        assert kinds["whole"] == "int64"
        # As floats these numbers would change.
        assert (kinds["part"], table["part"][0]) == ("Int64", 2**62 + 1)
        assert (kinds["unsigned"], table["unsigned"][0]) == ("UInt64", 2**64 - 1)
        assert (kinds["truth"], kinds["maybe"]) == ("bool", "boolean")
        assert math.isnan(table["float"][1])
        assert table["texts"][0] == ["a", "b"]
        assert rows_of(table)[1] == (2, None, None, None, False, None, None, None)
        assert fs.to_pandas(frame.lazy()).equals(table)
        assert len(fs.to_pandas(frame.clear())) == 0

    def test_every_table_of_a_run(self, tables):
        result, _, _ = tables
        for name in ("latency", "blame", "bands", "series", "wear", "slowest"):
            assert same(result.to_pandas(name), result.frame(name)), name
        assert same(result.to_pandas("requests"), result.requests.collect())
        told = r'no table .latencies. .did you mean "latency". there are latency, blame'
        with pytest.raises(ValueError, match=told):
            result.to_pandas("latencies")

    def test_comparisons_and_sweeps(self, tables):
        _, compared, swept = tables
        assert same(compared.to_pandas(), compared.frame)
        assert same(swept.to_pandas(), swept.frame)
        assert same(fs.to_pandas(swept.over_seeds()), swept.over_seeds())

    def test_a_run_without_a_log(self, small):
        result = fs.run(small | {"run": {"requests": 10}})
        with pytest.raises(fs.FlashscapeError, match="no log of requests"):
            result.to_pandas("requests")


def test_without_pandas_the_error_says_what_to_install(tables, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    result, compared, swept = tables
    for ask in (
        lambda: result.to_pandas("latency"),
        compared.to_pandas,
        swept.to_pandas,
        lambda: fs.to_pandas(result.series),
    ):
        with pytest.raises(fs.FlashscapeError, match=re.escape(NOT_INSTALLED)):
            ask()
    assert NOT_INSTALLED.endswith('(pip install "flashscape[pandas]")')
