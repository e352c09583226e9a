"""A table of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Rows(NamedTuple):
    """A table of texts; the first ``names`` columns are words, the others figures.

    If all columns are words, the last is prose, which may take several lines.
    """

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: int
