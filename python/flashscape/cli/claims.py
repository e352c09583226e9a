"""Tables of a reproduction for a terminal: one for each exhibit, then reasons and a count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from flashscape.report.table import Rows
from flashscape.reproduce.words import closing, remarks, samples

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from flashscape.reproduce.reproduction import Reproduction
    from flashscape.reproduce.study import Study
    from flashscape.reproduce.verdicts import CheckedClaim, Verdict

_PAGE = 120
"""Columns if the output goes to a file or pipe, or the terminal is wider than can be read."""

_COLOURS: dict[Verdict, str] = {
    "reproduced": "green",
    "direction": "yellow",
    "missed": "red",
    "not-run": "magenta",
    "context": "bright_black",
}


def printed(reproduction: Reproduction, console: Console) -> RenderableType:
    """Return all exhibits, and the number of claims with each verdict."""
    width = min(console.width, _PAGE) if console.is_terminal else _PAGE
    paper = reproduction.paper
    head = f"{paper.title} ({paper.venue} {paper.year}), profile {reproduction.profile}"
    parts: list[RenderableType] = [Text(head, style="bold")]
    for exhibit, title in reproduction.exhibits.items():
        claims = reproduction.of_exhibit(exhibit)
        parts += ["", Text(f"{exhibit}: {title}", style="bold"), _table(claims)]
        parts += [_line(claim, told) for claim in claims for told in remarks(claim)]
    parts += ["", *(Text(f"note: {note}", style="yellow") for note in reproduction.notes)]
    parts += [Text(line) for line in closing(reproduction)]
    return Group(*(Constrain(part, width) for part in parts))


def _table(claims: list[CheckedClaim]) -> Table:
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    drawn.add_column("id", no_wrap=True)
    drawn.add_column("claim", ratio=5)
    drawn.add_column("paper", ratio=3)
    drawn.add_column("ours", ratio=3)
    drawn.add_column("samples", ratio=2)
    drawn.add_column("verdict", no_wrap=True)
    for claim in claims:
        verdict = Text(claim.verdict, style=_COLOURS[claim.verdict])
        texts = (claim.claim, claim.paper, claim.ours or "–", samples(claim))
        drawn.add_row(claim.id, *map(Text, texts), verdict)
    return drawn


def _line(claim: CheckedClaim, told: str) -> Text:
    return Text(f"  {claim.id}: {told}", style=_COLOURS[claim.verdict])


def listing(known: list[Study]) -> list[Rows]:
    """Papers and their exhibits, a table for each paper."""
    tables = []
    for study in known:
        paper = study.paper
        body = [
            (
                f"{study.name}/{name}",
                ", ".join(claim.id for claim in study.claims_of(name)),
                title,
            )
            for name, title in paper.exhibits.items()
        ]
        title = f"{study.name}: {paper.title} ({paper.venue} {paper.year})"
        tables.append(Rows(title, ("exhibit", "claims", "what it shows"), body, 3))
    return tables
