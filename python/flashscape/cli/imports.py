"""Output of the commands that import files of other programs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from flashscape import units
from flashscape.errors import OutputError
from flashscape.imported import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from flashscape.imported import Imported

READ_WHOLE_BELOW = 256 << 20
"""Bytes of a trace that can be read within seconds."""

_COLOURS = {
    "mapped": "green",
    "approximated": "yellow",
    "ignored": "red",
    "inert": "cyan",
    "unknown": "magenta",
}


def keys(console: Console, imported: Imported) -> None:
    """Print a line for each key, section by section."""
    from rich.text import Text

    for section in dict.fromkeys(key.section for key in imported.keys):
        mine = [key for key in imported.keys if key.section == section]
        console.print(Text(f"{section}, {mine[0].file}", style="bold"), soft_wrap=True)
        for key in mine:
            place = "missing" if key.line is None else f"line {key.line}"
            becomes = f" -> {key.becomes}" if key.becomes else ""
            why = f"; {key.why}" if key.why else ""
            line = Text(f"  {place:<9} ")
            line.append(f"{key.verdict:<13}", _COLOURS[key.verdict])
            line.append(f"{key.name} = {key.value}{becomes}{why}")
            console.print(line, soft_wrap=True)
        console.print()
    counts = {verdict: sum(key.verdict is verdict for key in imported.keys) for verdict in Verdict}
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    console.print(f"{units.many(len(imported.keys), 'key')}: {told}", soft_wrap=True)
    for verdict in (Verdict.APPROXIMATED, Verdict.IGNORED, Verdict.UNKNOWN):
        names = dict.fromkeys(key.name for key in imported.keys if key.verdict is verdict)
        if names:
            console.print(f"{verdict.value}: {', '.join(names)}", soft_wrap=True)


def gist(console: Console, imported: Imported) -> None:
    """Print the main figures of the experiment, in a line or two."""
    figures = imported.experiment.derived
    capacity, organisation, gc = (
        figures[name] for name in ("capacity", "organisation", "gc_free_blocks_per_bin")
    )
    durations = figures["durations_ns"]
    read, program = (max(durations[f"{kind}_by_page_type"]) for kind in ("sense", "program"))
    for line in (
        f"drive: {units.size(capacity['exported_bytes'])} of "
        f"{units.size(capacity['physical_bytes'])}, "
        f"{units.many(organisation['dies'], 'die')}, "
        f"{units.many(organisation['planes'], 'plane')} of "
        f"{units.many(organisation['blocks_per_bin'], 'block')}, "
        f"pages of {capacity['mapping_unit_bytes']:,} B",
        f"flash: read {units.duration(read)}, program {units.duration(program)}, "
        f"erase {units.duration(durations['erase'])}, a page on the channel "
        f"{units.duration(durations['transfer_page'])}",
        f"collection: from {units.many(gc['background'], 'free block')} of a plane, "
        f"before host writes from {gc['foreground']}",
        "spare space that collection can use: "
        f"{units.percent(capacity['spare_for_collection'])} of the space that is filled before "
        "the run or used by a workload",
        f"memory of a run: {units.size(figures['memory_bytes']['total'])}",
    ):
        console.print(line, soft_wrap=True)
    for note in figures["notes"]:
        console.print(f"note: {note}", style="yellow", soft_wrap=True)


def warnings(console: Console, imported: Imported) -> None:
    """Print the differences that can be large."""
    for warning in imported.warnings:
        console.print(
            f"warning: {warning}", style="yellow", soft_wrap=True, markup=False, highlight=False
        )


def written(console: Console, out: Path, imported: Imported) -> None:
    """Say that the experiment is written, with how many warnings, and how to run it."""
    count = len(imported.warnings)
    told = f"{units.many(count, 'warning')} (above)" if count else "no problems"
    console.print(
        f"{out}: written, {told}; run it with: flashscape run {out}",
        style="yellow" if count else "green",
        soft_wrap=True,
    )


def refuse_existing(out: Path, *, force: bool) -> None:
    """Raise OutputError if the file cannot be written, before the work is done."""
    if out.is_dir():
        raise OutputError(f"{out}: is a directory; name a file")
    if not out.parent.is_dir():
        raise OutputError(f"{out}: there is no directory {out.parent}; make it, or name another")
    if not force and out.exists():
        raise OutputError(
            f"{out}: is there already; choose another name, or overwrite with --force"
        )


def write(out: Path, text: str, *, force: bool) -> None:
    """Write the file, whole or not at all; without ``force`` only if it does not exist."""
    staged = out.with_name(f".{out.name}.{os.getpid()}") if force else out
    try:
        with staged.open("x", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:
                staged.unlink()
                raise
        if force:
            staged.replace(out)
    except OSError as error:
        raise OutputError(f"{out}: cannot be written: {error.strerror}") from error
