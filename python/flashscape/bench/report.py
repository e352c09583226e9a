"""The figures as a file and as a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flashscape.bench.figures import FIGURES, Figure
from flashscape.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path

    from flashscape.report.table import Rows

_BUSY = 0.3
"""Load per core above which other programs disturb the measurement."""


def write(found: dict[str, Any], file: Path) -> None:
    """Write ``bench.json`` whole; raise OutputError."""
    part = file.with_name(f".{file.name}.part")
    try:
        part.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        part.replace(file)
    except OSError as error:
        raise OutputError(f"{file}: cannot be written: {error.strerror}") from error


def show(found: dict[str, Any]) -> None:
    """Print the table and its notes."""
    from flashscape.report import text
    from flashscape.report.table import Rows

    head = ("figure", "unit", "measured", "floor", "pass", "goal", "met")
    measured = [figure for figure in FIGURES if found[figure.key] is not None]
    console = text.console()
    console.print(text.table(Rows(_title(found), head, [_row(f, found) for f in measured], 2)))
    if found["peer"]:
        console.print(text.table(_beside(found["peer"], found)))
    if found["quick"]:
        console.print("These were short runs: they show that it works, not how fast it is.")
    for reason in dict.fromkeys(found["skipped"].values()):
        if reason != "not asked for":
            keys = ", ".join(key for key, why in found["skipped"].items() if why == reason)
            console.print(f"{keys}: not measured: {reason}", style="yellow")
    where = found["machine"]
    if where["load_before"] and where["load_before"] > _BUSY * (where["cores"] or 1):
        console.print(
            f"The machine was busy with other things (load {where['load_before']}): "
            "times come out too long.",
            style="yellow",
        )


def _beside(pairs: dict[str, dict[str, Any]], found: dict[str, Any]) -> Rows:
    """Return the table of both sides of the ratios to MQSim."""
    from flashscape.report.table import Rows

    sides = ("ns/request", "MQSim", "flash/request", "MQSim")
    head = ("work", "scheduler of MQSim", "requests", *sides, "times")
    rows = [
        (
            pair["workload"],
            pair["scheduler"],
            _number(pair["requests"]),
            _number(pair["ns_per_io"]),
            _number(pair["peer_ns_per_io"]),
            _number(pair["flash_operations_per_io"]),
            _number(pair["peer_flash_operations_per_io"]),
            _number(found[key]),
        )
        for key, pair in pairs.items()
    ]
    return Rows("CPU time beside MQSim's, preconditioning left out", head, rows, 2)


def _title(found: dict[str, Any]) -> str:
    where = found["machine"]
    return (
        f"flashscape {found['flashscape']} on {where['cpu']}, {where['cores']} cores, "
        f"best of {found['repeat']}"
    )


def _row(figure: Figure, found: dict[str, Any]) -> tuple[str, ...]:
    bounds = found["bounds"].get(figure.key, {})
    return (
        figure.about,
        figure.unit,
        _number(found[figure.key]),
        _number(_floor(figure, found)),
        _number(bounds.get("pass")),
        _number(bounds.get("goal")),
        found["verdicts"].get(figure.key, ""),
    )


def _floor(figure: Figure, found: dict[str, Any]) -> float | None:
    ns: float | None = found[figure.floor] if figure.floor else None
    if ns is None:
        return None
    return 1e9 / ns if figure.unit.endswith("/s") else ns


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
