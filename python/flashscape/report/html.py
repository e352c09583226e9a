"""A summary as static HTML: no scripts, so that it shows in every notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from flashscape.report import rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashscape.measured import Measured
    from flashscape.report.table import Rows


def summary(result: Measured, percentiles: str | Iterable[float | str] | None = None) -> str:
    """Return the tables of a summary as HTML, with the percentiles that are chosen."""
    contents = rows.everything(result, percentiles)
    return tables(rows.headline(result), result.summary["notes"], contents)


def tables(headline: str, notes: list[str], contents: list[Rows]) -> str:
    """Return tables as HTML, with a line and notes above them."""
    shown = "".join(map(_table, contents))
    noted = "".join(f"<p>note: {escape(note)}</p>" for note in notes)
    return f"<div><p><b>{escape(headline)}</b></p>{noted}{shown}</div>"


class Section(NamedTuple):
    """A part of a document: a heading, a line, a table, and sentences about it."""

    heading: str
    line: str
    table: Rows
    sentences: Sequence[str]
    before: Sequence[str] = ()
    """Lines above the heading that a reader must see first."""


def document(first: Sequence[str], sections: Sequence[Section], last: str) -> str:
    """Return lines, sections and a closing line as HTML."""
    parts = [f"<p>{escape(line)}</p>" for line in first]
    for section in sections:
        parts += [f"<p>{escape(line)}</p>" for line in section.before]
        parts.append(f"<p><b>{escape(section.heading)}</b></p>")
        parts.append(f"<p>{escape(section.line)}</p>")
        parts.append(_table(section.table))
        said = "".join(f"<li>{escape(sentence)}</li>" for sentence in section.sentences)
        parts.append(f"<ul>{said}</ul>")
    return f"<div>{''.join(parts)}<p>{escape(last)}</p></div>"


def _table(table: Rows) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.head)
    body = "".join(f"<tr>{_cells(row, table.names)}</tr>" for row in table.rows)
    return (
        f"<table><caption>{escape(table.title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cells(row: tuple[str, ...], names: int) -> str:
    sides = ("left" if column < names else "right" for column in range(len(row)))
    cells = zip(sides, row, strict=True)
    return "".join(f'<td style="text-align:{side}">{escape(text)}</td>' for side, text in cells)
