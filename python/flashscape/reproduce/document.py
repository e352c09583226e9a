"""A reproduction as a document: Markdown, and HTML without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from flashscape.reproduce.words import changed, closing, meanings, remarks, samples
from flashscape.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashscape.reproduce.judged import Judged
    from flashscape.reproduce.outcomes import Outcome
    from flashscape.reproduce.verdicts import CheckedClaim

CURVES = ".curves.csv"
"""Ending of the file with the numbers that a plot shows."""

_HEAD = ("id", "claim", "paper", "ours", "samples", "verdict")

_STYLE = """
body { font-family: sans-serif; max-width: 75em; margin: 2em auto; color: #2b2b2b; }
table { border-collapse: collapse; margin: 1em 0; }
td, th { border-bottom: 1px solid #ddd; padding: 0.3em 0.7em; text-align: left; }
td { vertical-align: top; }
img { max-width: 100%; }
"""


def markdown(reproduction: Judged, drawn: Sequence[str]) -> str:
    """Return the report beside plots and tables; ``drawn`` are the existing plots."""
    paper = reproduction.paper
    lines = [f"# {paper.title}", "", *(f"{line}  " for line in _about(reproduction)), ""]
    lines += _rows(("verdict", "claims", "meaning"), meanings(reproduction))
    for exhibit, title in reproduction.exhibits.items():
        claims = reproduction.of_exhibit(exhibit)
        lines += ["", f"## {exhibit}: {title}", ""]
        lines += _rows(_HEAD, [_cells(claim) for claim in claims])
        told = [f"- **{claim.id}** {remark}" for claim in claims for remark in remarks(claim)]
        lines += ["", *told] if told else []
        for path in _of(exhibit, drawn):
            lines.append(f"\n![{path}]({path}.png)\n\nCurves: [{path}{CURVES}]({path}{CURVES})")
        for path in _of(exhibit, list(reproduction.frames)):
            lines.append(f"\nTable: [{path}.csv]({path}.csv), [{path}.parquet]({path}.parquet)")
    lines += ["", "## Runs", ""]
    lines += _rows(("run", "status", "experiment"), _runs(reproduction))
    lines += ["", *(f"- {line}" for line in (*reproduction.notes, *closing(reproduction)))]
    return "\n".join(lines) + "\n"


def page(reproduction: Judged, drawn: Sequence[str]) -> str:
    """Return the report as a page of HTML."""
    title = escape(reproduction.paper.title)
    pictures = {
        exhibit: "".join(
            f'<p><img src="{path}.svg" alt="{path}"></p>' for path in _of(exhibit, drawn)
        )
        for exhibit in reproduction.exhibits
    }
    runs = _html_table(("run", "status", "experiment"), _runs(reproduction))
    body = f"{_fragment(reproduction, pictures)}<h2>Runs</h2>{runs}"
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def fragment(reproduction: Judged) -> str:
    """Return the claims as HTML, for notebooks."""
    return _fragment(reproduction, {})


def _fragment(reproduction: Judged, pictures: dict[str, str]) -> str:
    about = "<br>".join(map(escape, _about(reproduction)))
    parts = [f"<h1>{escape(reproduction.paper.title)}</h1><p>{about}</p>"]
    parts.append(_html_table(("verdict", "claims", "meaning"), meanings(reproduction)))
    for exhibit, title in reproduction.exhibits.items():
        claims = reproduction.of_exhibit(exhibit)
        parts.append(f"<h2>{escape(exhibit)}: {escape(title)}</h2>")
        parts.append(_html_table(_HEAD, [_cells(claim) for claim in claims]))
        told = [(claim.id, remark) for claim in claims for remark in remarks(claim)]
        said = "".join(f"<li><b>{escape(name)}</b> {escape(each)}</li>" for name, each in told)
        parts.append(f"<ul>{said}</ul>" if said else "")
        parts.append(pictures.get(exhibit, ""))
    last = "".join(f"<li>{escape(s)}</li>" for s in (*reproduction.notes, *closing(reproduction)))
    return f"<div>{''.join(parts)}<ul>{last}</ul></div>"


def _about(reproduction: Judged) -> list[str]:
    paper = reproduction.paper
    return [
        f"{', '.join(paper.authors)}. {paper.venue} {paper.year}. {paper.link}",
        paper.about,
        f"Reproduced with flashscape {__version__}, profile {reproduction.profile}.",
        *changed(reproduction),
    ]


def _cells(claim: CheckedClaim) -> tuple[str, ...]:
    ours = claim.ours or "–"
    return (claim.id, claim.claim, claim.paper, ours, samples(claim), claim.verdict)


def _runs(reproduction: Judged) -> list[tuple[str, str, str]]:
    return [
        (name, _became(outcome), f"experiments/{name}.toml")
        for name, outcome in reproduction.runs.items()
    ]


def _became(outcome: Outcome) -> str:
    early = outcome.ended_early
    return outcome.status if early is None else f"{outcome.status}: {early.message}"


def _of(exhibit: str, paths: Sequence[str]) -> list[str]:
    return [path for path in paths if path.startswith(f"{exhibit}/")]


def _rows(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _html_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
