"""``flashscape import-mqsim``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashscape import output, units
from flashscape.cli import options
from flashscape.errors import OutputError

if TYPE_CHECKING:
    from rich.console import Console

    from flashscape.mqsim import Imported

_READ_WHOLE_BELOW = 256 << 20
"""Bytes of a trace that are read within seconds."""


@click.command("import-mqsim")
@click.argument("config", type=click.Path(path_type=Path))
@click.argument("workload", type=click.Path(path_type=Path))
@click.option(
    "--scenario",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Which IO_Scenario, counted from 1.",
)
@click.option(
    "--out",
    type=options.Named(path_type=Path),
    metavar="FILE.toml",
    help="Where to write the experiment; without it to standard output.",
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
def command(config: Path, workload: Path, scenario: int, out: Path | None, force: bool) -> None:
    """Turn MQSim's CONFIG (ssdconfig.xml) and WORKLOAD (workload.xml) into an experiment.

    Each key of both files is listed with what became of it: mapped, approximated,
    ignored, inert in MQSim itself, or unknown to it. Without --out that goes to
    standard error.
    """
    from flashscape.mqsim import import_mqsim
    from flashscape.report import text

    if out is not None:
        _refuse_existing(out, force=force)
    output.refuse_inputs([out], [config, workload])
    imported = import_mqsim(config, workload, scenario)
    output.refuse_inputs([out], imported.experiment.files)
    traces = imported.experiment.traces(_READ_WHOLE_BELOW)
    console = text.console(stderr=out is None)
    _keys(console, imported)
    if out is None:
        click.echo(imported.toml, nl=False)
    else:
        _write(out, imported.toml, force=force)
    for trace in traces:
        console.print(trace, markup=False, highlight=False, soft_wrap=True)
    _gist(console, imported)
    _ending(console, imported, out)


_COLOURS = {
    "mapped": "green",
    "approximated": "yellow",
    "ignored": "red",
    "inert": "cyan",
    "unknown": "magenta",
}


def _keys(console: Console, imported: Imported) -> None:
    """A line for each key, section by section."""
    from rich.text import Text

    from flashscape.mqsim import Verdict

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


def _gist(console: Console, imported: Imported) -> None:
    """What follows from the experiment, in a line or two."""
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
        f"collection: from {units.many(gc['soft'], 'free block')} of a plane, before host writes "
        f"from {gc['urgent']}, "
        f"spare beyond that {units.percent(capacity['spare_for_collection'])} of the data",
        f"memory of a run: {units.size(figures['memory_bytes']['total'])}",
    ):
        console.print(line, soft_wrap=True)
    for note in figures["notes"]:
        console.print(f"note: {note}", style="yellow", soft_wrap=True)


def _ending(console: Console, imported: Imported, out: Path | None) -> None:
    others = [number for number in range(1, imported.scenarios + 1) if number != imported.scenario]
    if others:
        listed = ", ".join(map(str, others))
        console.print(
            f"scenario {imported.scenario} of {imported.scenarios}; others with "
            f"--scenario ({listed})",
            soft_wrap=True,
        )
    if out is not None:
        console.print(
            f"{out}: written, no faults; run it with: flashscape run {out}",
            style="green",
            soft_wrap=True,
        )


def _refuse_existing(out: Path, *, force: bool) -> None:
    if out.is_dir():
        raise OutputError(f"{out}: is a directory; name a file")
    if not force and out.exists():
        raise OutputError(
            f"{out}: is there already; choose another name, or overwrite with --force"
        )


def _write(out: Path, text: str, *, force: bool) -> None:
    """Write the file, whole or not at all; without ``force`` only where there is none yet."""
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
