"""``flashscape import-mqsim``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashscape import output
from flashscape.cli import imports, options

if TYPE_CHECKING:
    from rich.console import Console

    from flashscape.imported import Imported


@click.command("import-mqsim")
@click.argument("config", type=click.Path(path_type=Path))
@click.argument("workload", type=click.Path(path_type=Path))
@click.option(
    "--scenario",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of the IO_Scenario, from 1.",
)
@click.option(
    "--out",
    type=options.Named(path_type=Path),
    metavar="FILE.toml",
    help="File of the experiment; default: standard output.",
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
def command(config: Path, workload: Path, scenario: int, out: Path | None, force: bool) -> None:
    """Turn MQSim's CONFIG (ssdconfig.xml) and WORKLOAD (workload.xml) into an experiment.

    Each key of both files is listed with its verdict: mapped, approximated,
    ignored, inert in MQSim itself, or unknown to it. Without --out that goes to
    standard error.
    """
    from flashscape.mqsim import import_mqsim
    from flashscape.report import text

    if out is not None:
        imports.refuse_existing(out, force=force)
    output.refuse_inputs([out], [config, workload])
    imported = import_mqsim(config, workload, scenario)
    output.refuse_inputs([out], imported.experiment.files)
    traces = imported.experiment.traces(imports.READ_WHOLE_BELOW)
    console = text.console(stderr=out is None)
    imports.keys(console, imported)
    if out is None:
        click.echo(imported.toml, nl=False)
    else:
        imports.write(out, imported.toml, force=force)
    for trace in traces:
        console.print(trace, markup=False, highlight=False, soft_wrap=True)
    imports.gist(console, imported)
    imports.warnings(console, imported)
    _ending(console, imported, out)


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
        imports.written(console, out, imported)
