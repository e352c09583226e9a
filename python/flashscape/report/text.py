"""Tables for a terminal. Nothing is cut: on a narrow terminal, a table is folded."""

from __future__ import annotations

import io
import os
import re
import textwrap
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from flashscape.report import rows, sets
from flashscape.report.table import Rows
from flashscape.terminal import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import ConsoleOptions, RenderableType

    from flashscape.catalogue import Preset
    from flashscape.compare import Comparison
    from flashscape.explain import Explanation
    from flashscape.measured import Measured
    from flashscape.trace import TraceInfo

_PAGE = 110
"""Width of prose if the output goes to a file or pipe, regardless of the terminal."""

_UNBOUNDED = 10_000
"""Width of tables in that case: a table for a script is never cut."""

_PROSE = 28
"""Least width of prose in a table."""

_NAME = 24
"""Width of words in a table that is too wide with the words in one line."""

_GAP = 2

_TIED = "\N{NO-BREAK SPACE}"


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal, or as COLUMNS says.

    Without either, tables are as wide as needed.
    """
    plain = Page(stderr=stderr, highlight=False)
    if plain.is_terminal:
        return plain
    asked = os.environ.get("COLUMNS", "")
    width = int(asked) if asked.isdecimal() and int(asked) else _UNBOUNDED
    return Page(stderr=stderr, highlight=False, width=width)


def summary(
    result: Measured,
    percentiles: str | Iterable[float | str] | None = None,
    notes: list[str] | None = None,
) -> RenderableType:
    """Return the summary of a run, with the chosen percentiles; None: the usual ones.

    ``notes`` takes the place of the run's notes.
    """
    return Group(
        _Prose(rows.headline(result), "bold"),
        *_notes(result.summary["notes"] if notes is None else notes),
        *(Group("", Sheet(content)) for content in rows.everything(result, percentiles)),
    )


def plain(headline: str, notes: list[str], tables: list[Rows]) -> str:
    """Return a line, notes and tables as text, as wide as needed."""
    page = Console(file=io.StringIO(), highlight=False, width=_UNBOUNDED, color_system=None)
    with page.capture() as captured:
        page.print(_Prose(headline), *_notes(notes), *(Group("", Sheet(each)) for each in tables))
    return captured.get()


def trace(info: TraceInfo, wording: Callable[[str], str] = str) -> RenderableType:
    """Return the statistics of a trace; ``wording`` puts its notes in terms of a command."""
    from flashscape.report import trace as about_trace

    return Group(
        _Prose(about_trace.headline(info.file, info.statistics), "bold"),
        *_notes([wording(note) for note in info.notes]),
        *(
            Group("", Sheet(content))
            for content in about_trace.everything(info.file, info.statistics)
        ),
    )


def explanation(explained: Explanation, result: Measured) -> RenderableType:
    """Return an explanation: sentences and tables of kinds and of windows, then remarks."""
    notes = result.summary["notes"]
    parts: list[RenderableType] = [_Prose(rows.headline(result), "bold"), *_notes(notes)]
    for group in explained.shown:
        parts += ["", Text(group.name, style="bold")]
        parts += map(_Prose, group.sentences)
        parts += ["", Sheet(rows.shares(group))]
    if explained.windows:
        parts += ["", Sheet(sets.window_ends(result))]
        if (warned := sets.window_warnings(result)).rows:
            parts += ["", Sheet(warned)]
        parts += ["", *map(_Prose, explained.windows)]
    rest = [s for s in (*explained.others, *explained.remarks) if s not in notes]
    return Group(*parts, "", *(_Prose(f"• {sentence}") for sentence in rest))


def comparison(compared: Comparison) -> RenderableType:
    """Return sides; verdict, arrivals, table and sentences of each contrast; then the method."""
    from flashscape.report.contrast import differences

    parts: list[RenderableType] = []
    parts += [_Prose(side.about) for side in compared.sides]
    if compared.headline is not None:
        parts += ["", _Prose(compared.headline, "bold")]
    for contrast, verdict in zip(compared.contrasts, compared.verdicts, strict=True):
        if untested := contrast.untested:
            parts += ["", _Prose("Not tested, so nothing below judges these figures:", "yellow")]
            parts += [_Prose(f"• {each.sentence}") for each in untested]
        parts += ["", _Prose(verdict, "bold")]
        is_doubtful = contrast.arrivals.likeness in ("different", "unproven")
        told = f"Arrivals: {contrast.arrivals.sentence}"
        parts.append(_Prose(told, "yellow" if is_doubtful else ""))
        parts += ["", Sheet(differences(contrast)), ""]
        parts += [_Prose(f"• {sentence}") for sentence in contrast.sentences]
    return Group(*parts, "", _Prose(compared.method))


def presets(known: dict[str, Preset]) -> RenderableType:
    """Return the presets as a list."""
    body = [(preset.name, str(preset.version), preset.about) for preset in known.values()]
    return Sheet(Rows("", ("preset", "version", "what it is"), body, 3))


def table(content: Rows) -> RenderableType:
    """Return one of several tables of figures."""
    return Group(Sheet(content), "")


def sentence(line: str) -> RenderableType:
    """Return a line of prose, limited to a readable width."""
    return _Prose(line)


def print_all(tables: Iterable[Rows], sentences: Iterable[str]) -> None:
    """Print tables, then sentences; notes among them stand out."""
    page = console()
    for content in tables:
        page.print(table(content))
        page.print()
    for line in sentences:
        page.print(sentence(line), style="yellow" if line.startswith("note") else None)


def _notes(notes: list[str]) -> list[RenderableType]:
    return [_Prose(f"note: {note}", "yellow") for note in notes]


class _Prose:
    """Sentences, limited to a readable width."""

    def __init__(self, text: str, style: str = "") -> None:
        # Keep a figure and its unit on one line.
        self._text = re.sub(r"(?<=\d) (?=(?:%|ns|µs|ms|s)(?:\W|$))", _TIED, text)
        self._style = style

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        for line in textwrap.wrap(self._text, _room(console, options), break_long_words=False):
            yield Text(line.replace(_TIED, " "), style=self._style, overflow="fold")


class Sheet:
    """A table; if it is too wide, several below each other, each with the columns of names."""

    def __init__(self, content: Rows) -> None:
        self._content = content

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        room = _room(console, options)
        parts = _folded(self._content, room) if _is_bounded(console) else [self._content]
        if parts is None:
            yield _blocks(self._content)
            return
        for number, part in enumerate(parts):
            if number:
                yield ""
            if part.title:
                yield Text(part.title, style="bold")
            yield Constrain(_table(part), max(room, _least_width(part)))


def _folded(content: Rows, room: int) -> list[Rows] | None:
    """Split a table into tables that fit the width; None if a single column does not fit."""
    if _least_width(content) <= room:
        return [content]
    if _has_prose(content):
        return None
    return _in_parts(content, room) or _in_parts(_wrapped(content), room)


def _in_parts(content: Rows, room: int) -> list[Rows] | None:
    """Split a table by its columns of figures; None if one of them alone does not fit."""
    figures = range(content.names, len(content.head))
    # Use as few tables as possible, with similar numbers of figures.
    for count in range(1, len(figures) + 1):
        each = -(-len(figures) // count)
        starts = range(figures.start, figures.stop, each)
        parts = [_part(content, range(at, min(at + each, figures.stop))) for at in starts]
        if all(_least_width(part) <= room for part in parts):
            return [parts[0], *(part._replace(title="") for part in parts[1:])]
    return None


def _part(content: Rows, figures: range) -> Rows:
    """Return the table with some of its columns of figures."""
    columns = [*range(content.names), *figures]
    return content._replace(
        head=tuple(content.head[at] for at in columns),
        rows=[tuple(row[at] for at in columns) for row in content.rows],
    )


def _room(console: Console, options: ConsoleOptions) -> int:
    return options.max_width if _is_bounded(console) else _PAGE


def _is_bounded(console: Console) -> bool:
    """Return True if the output has an edge that tables must not pass."""
    return console.width < _UNBOUNDED


def _least_width(content: Rows) -> int:
    """Return the width below which text would be cut."""
    columns = zip(content.head, *content.rows, strict=True)
    widths = [max(map(_width, column)) for column in columns]
    if _has_prose(content):
        widths[-1] = min(widths[-1], _PROSE)
    return sum(widths) + _GAP * (len(widths) - 1)


def _width(cell: str) -> int:
    return max(map(cell_len, cell.split("\n")))


def _wrapped(content: Rows) -> Rows:
    """Break long words of the first columns, such as names of variations, into several lines."""
    rows = [
        tuple(
            "\n".join(textwrap.wrap(cell, _NAME)) if at < content.names else cell
            for at, cell in enumerate(row)
        )
        for row in content.rows
    ]
    return content._replace(rows=rows)


def _has_prose(content: Rows) -> bool:
    return content.names == len(content.head)


def _table(content: Rows) -> Table:
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, _GAP - 1, 0, 0))
    last = len(content.head) - 1
    for index, name in enumerate(content.head):
        wraps = index == last and _has_prose(content)
        is_name = index < content.names
        drawn.add_column(name, justify="left" if is_name else "right", no_wrap=not wraps)
    for row in content.rows:
        drawn.add_row(*map(Text, row))
    return drawn


def _blocks(content: Rows) -> RenderableType:
    """Return each row on lines of its own."""
    labels = content.names - _has_prose(content)
    parts: list[RenderableType] = [Text(content.title, style="bold")] if content.title else []
    for row in content.rows:
        parts.append(Text(" ".join(row[:labels])))
        figures = zip(content.head[labels:], row[labels:], strict=True)
        parts += [Text(f"  {name}: {value}") for name, value in figures]
    return Group(*parts)
