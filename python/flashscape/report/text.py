"""Tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from flashscape import units
from flashscape.causes import CAUSES, OTHER
from flashscape.report import rows

if TYPE_CHECKING:
    from rich.console import RenderableType

    from flashscape.catalogue import Preset
    from flashscape.explain import Explanation
    from flashscape.result import Result

_NARROWEST = 110
"""Columns where the output goes to a file or pipe, which has no width."""


def console(*, stderr: bool = False) -> Console:
    """Return a console whose tables are not cut where there is no terminal."""
    plain = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if plain.is_terminal:
        return plain
    return Console(stderr=stderr, highlight=False, width=max(plain.width, _NARROWEST))


def summary(result: Result) -> RenderableType:
    """The summary of a run."""
    return Group(
        Text(rows.headline(result), style="bold"),
        *(Group("", table(content)) for content in rows.everything(result)),
        *(Text(f"note: {note}", style="yellow") for note in result.summary["notes"]),
    )


def explanation(explained: Explanation) -> RenderableType:
    """Where the tail comes from: sentences, then shares by cause of those that wait."""
    sentences = [Text(f"• {s}") for s in explained.sentences]
    columns = [
        (group, label, shares)
        for group in explained.groups
        for label, shares in (("mean", group.mean), ("slowest", group.tail))
        if shares and group.waits
    ]
    if not columns:
        return Group(*sentences)
    head = ("cause", *(f"{g.initiator} {g.kind}\n{label}" for g, label, _ in columns))
    body = [
        (cause.name, *(units.percent(shares.get(cause, 0.0)) for _, _, shares in columns))
        for cause in (*CAUSES, OTHER)
        if any(shares.get(cause, 0.0) > 0.0005 for _, _, shares in columns)
    ]
    shares = rows.Rows("Shares of the time, by what it was spent on", head, body, 1)
    return Group(*sentences, "", table(shares))


def presets(known: dict[str, Preset]) -> RenderableType:
    """The presets in a list."""
    body = [(preset.name, preset.about) for preset in known.values()]
    return table(rows.Rows("", ("preset", "what it is"), body, 2))


def table(content: rows.Rows) -> Table:
    """A table of figures."""
    drawn = Table(
        box=box.SIMPLE_HEAD,
        title=content.title or None,
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        show_edge=False,
    )
    for index, name in enumerate(content.head):
        is_name = index < content.names
        drawn.add_column(name, justify="left" if is_name else "right", no_wrap=not is_name)
    for row in content.rows:
        drawn.add_row(*map(Text, row))
    return drawn
