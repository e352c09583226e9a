"""Tables for pandas, without PyArrow and without a copy of the results in a file.

Polars converts to pandas by way of PyArrow, which takes 170 MB on disk. Here columns are
converted through NumPy, which pandas already needs.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from flashscape.arguments import checks_arguments
from flashscape.errors import OutputError

if TYPE_CHECKING:
    import polars as pl

NOT_INSTALLED = 'pandas is not installed (pip install "flashscape[pandas]")'
"""Reason for a missing pandas table."""


@checks_arguments
def to_pandas(table: pl.DataFrame | pl.LazyFrame) -> Any:
    """Return a table of Polars as a DataFrame of pandas; raise OutputError without pandas.

    Columns of whole numbers and truth values with missing values keep their type: they
    get pandas' nullable types. Missing floats are NaN.
    """
    if find_spec("pandas") is None:
        raise OutputError(NOT_INSTALLED)
    import pandas as pd
    import polars as pl

    frame = table.collect() if isinstance(table, pl.LazyFrame) else table
    return pd.DataFrame({name: _column(frame[name]) for name in frame.columns})


def _column(series: pl.Series) -> Any:
    import pandas as pd
    import polars as pl

    kind = series.dtype
    if kind.is_float() or (kind.is_integer() and not series.null_count()):
        return series.to_numpy()
    if kind.is_integer():
        # Pandas' nullable types have the names of Polars' types, such as Int64.
        return pd.array(series.to_list(), dtype=str(kind))
    if kind == pl.Boolean:
        nullable = "boolean" if series.null_count() else "bool"
        return pd.array(series.to_list(), dtype=nullable)
    dtype = object if kind.is_nested() else None
    return pd.Series(series.to_list(), dtype=dtype)
