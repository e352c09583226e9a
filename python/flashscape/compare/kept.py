"""The picture of a comparison, read from a directory that keeps the comparison."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flashscape import spelling
from flashscape.compare.comparison import DOCUMENT
from flashscape.compare.picture import Row, Subject
from flashscape.compare.side import Side
from flashscape.errors import OutputError
from flashscape.result import Result

if TYPE_CHECKING:
    from pathlib import Path


def pictured(folder: Path) -> Subject:
    """Return the subject of a comparison's picture; raise OutputError if it cannot be read."""
    file = folder / DOCUMENT
    document = _read(file)
    try:
        sides = [_side(file, each) for each in document["sides"]]
        rows = [
            Row((row["initiator"], row["kind"]), row["winner"] is not None)
            for contrast in document["contrasts"]
            for row in contrast["differences"]
        ]
        # Same texts as Comparison.verdicts.
        verdicts = [contrast["verdict"] for contrast in document["contrasts"]]
        if len(verdicts) > 1:
            shown = {side.label: side.shown for side in sides}
            pairs = (
                (shown[each["other"]], shown[each["baseline"]]) for each in document["contrasts"]
            )
            verdicts = [
                f"{other} against {baseline}: {verdict}"
                for (other, baseline), verdict in zip(pairs, verdicts, strict=True)
            ]
    except (KeyError, TypeError) as error:
        raise OutputError(
            f"{file}: was written by another version of flashscape and lacks {error}; compare again"
        ) from error
    return Subject(sides, rows, verdicts)


def runs_of(folder: Path) -> list[Path]:
    """Return the directories of a comparison's own runs; raise OutputError."""
    places = [place for side in _read(folder / DOCUMENT)["sides"] for place in side["results"]]
    inside = (folder / place for place in places if place is not None)
    return [each for each in inside if each.is_relative_to(folder)]


def _read(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise OutputError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise OutputError(f"{file}: is damaged: {error}") from error
    if not isinstance(document, dict) or not {"sides", "contrasts"} <= document.keys():
        raise OutputError(f"{file}: is no comparison of flashscape")
    return document


def _side(file: Path, side: dict[str, Any]) -> Side:
    label = side["label"]
    results = []
    for place, digest in zip(side["results"], side["digests"], strict=True):
        if place is None:
            raise OutputError(
                f"{file}: the results of {label} were not kept; compare experiments, or results "
                f"in directories, with {spelling.option('--out DIR', 'out=...')}"
            )
        try:
            result = Result.load(file.parent / place)
        except OutputError as error:
            raise OutputError(f"{file}: needs the results of {label}: {error}") from error
        if result.digest != digest:
            raise OutputError(
                f"{file}: {place} has another run now than the one that was compared as {label}; "
                "compare again"
            )
        results.append(result)
    # Comparisons of earlier versions lack this key.
    is_named = side.get("is_named", False)
    places = tuple(side["results"])
    return Side(label, side["name"], tuple(side["seeds"]), results, places, is_named)
