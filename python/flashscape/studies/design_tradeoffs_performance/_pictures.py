"""Bars beside the paper's figures, as they are remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashscape.reproduce import plots

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure as Picture

    Means = Mapping[str, Mapping[str, float | None]]


def beside_memory(
    groups: Means, looks: plots.Looks, paper: Mapping[tuple[str, str], float], title: str
) -> Picture:
    """Mean latencies by group and scheme; ``paper`` has the paper's by both."""
    told = f"{title}; the paper's figures are from memory"
    return plots.bars(groups, looks, unit="ns", label="mean latency", title=told, references=paper)
