"""Bars beside the paper's figures, which are quoted from memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import plots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure as Picture

    Means = Mapping[str, Mapping[str, float | None]]


def beside_memory(
    groups: Means, looks: plots.Looks, paper: Mapping[str, Sequence[float]], title: str
) -> Picture:
    """Draw mean latencies by group and scheme; ``paper`` has the paper's values of each group."""
    told = f"{title}; the paper's figures are from memory"
    references = {
        (group, scheme): value
        for group, values in paper.items()
        for scheme, value in zip(looks.schemes, values, strict=True)
    }
    return plots.bars(
        groups, looks, unit="ns", label="mean latency", title=told, references=references
    )
