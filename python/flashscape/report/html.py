"""A summary as static HTML: no scripts, so that it shows in every notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from flashscape.report import rows
from flashscape.report.contrast import differences

if TYPE_CHECKING:
    from flashscape.compare import Comparison
    from flashscape.result import Result


def summary(result: Result) -> str:
    """Return the tables of a summary as HTML."""
    return tables(rows.headline(result), result.summary["notes"], rows.everything(result))


def tables(headline: str, notes: list[str], contents: list[rows.Rows]) -> str:
    """Return tables as HTML, with a line and notes above them."""
    shown = "".join(map(_table, contents))
    noted = "".join(f"<p>note: {escape(note)}</p>" for note in notes)
    return f"<div><p><b>{escape(headline)}</b></p>{noted}{shown}</div>"


def comparison(compared: Comparison) -> str:
    """Return a comparison as HTML."""
    parts = [f"<p>{escape(side.label)}: {escape(side.name)}</p>" for side in compared.sides]
    for contrast, verdict in zip(compared.contrasts, compared.verdicts, strict=True):
        parts.append(f"<p><b>{escape(verdict)}</b></p>")
        parts.append(f"<p>Arrivals: {escape(contrast.arrivals.sentence)}</p>")
        parts.append(_table(differences(contrast)))
        said = "".join(f"<li>{escape(sentence)}</li>" for sentence in contrast.sentences)
        parts.append(f"<ul>{said}</ul>")
    return f"<div>{''.join(parts)}<p>{escape(compared.method)}</p></div>"


def _table(table: rows.Rows) -> str:
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
