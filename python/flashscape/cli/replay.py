"""``flashscape replay``: traces and a preset make an experiment."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import click

from flashscape import foreign
from flashscape.cli import documents, options, tenants
from flashscape.cli.collecting import Forecasting
from flashscape.cli.show import Printed, Targets, run_and_show
from flashscape.errors import ConfigError, TraceError
from flashscape.experiment import Experiment

NOTES = (
    ("(precondition with fill and age brings it to a used state)", "(--age 1 makes it a used one)"),
    ("ageing ended with precondition.age.overwrites, ", "ageing ended as --age says, "),
    ("a longer warm-up would", "a longer warm-up (--set run.warm_up.time=...) would"),
)
"""Phrases of the simulator's notes, and what replaces them: the command's own options."""


def depth(text: str) -> int | str:
    """Read a queue depth: a whole number, or none."""
    try:
        return tenants.depth(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither a whole number nor none") from None


_DEVICES = 2**32
"""Number of device numbers that a trace may have."""


def devices(text: str) -> list[int]:
    """Split the device numbers ``0,1``."""
    found = options.numbers(text, "0,1")
    for device in found:
        if not 0 <= device < _DEVICES:
            raise click.BadParameter(f"{device} is no device number: 0 to {_DEVICES - 1}")
    return found


def number(text: str) -> float:
    """Read a finite number."""
    try:
        value = float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number") from None
    if not math.isfinite(value):
        raise click.BadParameter(f"{text!r} is not a finite number")
    return value


class _Described(click.ParamType):  # type: ignore[type-arg]
    """A tenant as ``key=value,...``."""

    name = "KEY=VALUE,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return tenants.parse(value)


@click.command("replay", cls=documents.Command)
@click.argument("traces", metavar="TRACE...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--tenant",
    "described",
    type=_Described(),
    multiple=True,
    help="A trace with what is said of it alone, such as"
    " 'name=web,file=a.gz,start=10 s,offset=1 GiB,size=1 GiB,priority=high'; other options hold"
    " for all. Repeatable.",
)
@click.option("--partition", is_flag=True, help="Give each trace an equal part of the drive.")
@click.option("--drive", required=True, metavar="PRESET", help="See `flashscape presets`.")
@click.option(
    "--format",
    "format_",
    metavar="FORMAT",
    help="mqsim, disksim, captured, msr, etw, blkparse, fio-v2, fio-v3, spc, systor, alibaba or"
    " tencent; default: detected.",
)
@click.option("--closed", is_flag=True, help="As fast as the queue allows, not by the stamps.")
@click.option(
    "--queue-depth",
    type=depth,
    metavar="N",
    help="Requests under way at most, or none for no limit.",
)
@click.option("--time-scale", type=number, metavar="X", help="Stretch stamps: 2 is half as fast.")
@click.option(
    "--disorder",
    type=options.Choice(["refuse", "sort"]),
    help="Treatment of stamps that run backwards; the default depends on the format.",
)
@options.reading
@click.option("--devices", type=devices, metavar="0,1", help="Device numbers; default: all.")
@click.option(
    "--combine",
    type=options.Choice(["concatenate", "fold", "separate"]),
    help="Mapping of several devices to one drive.",
)
@click.option(
    "--out-of-range",
    type=options.Choice(["refuse", "wrap", "scale"]),
    default="refuse",
    show_default=True,
    help="Treatment of addresses beyond the drive.",
)
@click.option(
    "--fill",
    type=options.Choice(["random", "sequential", "empty"]),
    default="sequential",
    show_default=True,
    help="Initial content of the drive.",
)
@click.option("--age", type=number, metavar="X", help="Overwrite it so many times before the run.")
@click.option(
    "--audit", is_flag=True, help="Check all that the drive returns; about twice the time."
)
@options.overrides
@options.snapshots
@options.percentiles
@documents.option("summary.json")
@options.results
def command(
    traces: tuple[Path, ...],
    described: tuple[tenants.Tenant, ...],
    partition: bool,
    overrides: tuple[tuple[str, str], ...],
    out: Path | None,
    plot: bool,
    requests: Path | None,
    fio_json: Path | None,
    group_reporting: bool,
    force: bool,
    document: Path | None,
    percentiles: str | None,
    quiet: bool,
    snapshot: Path | None,
    save_drive: Path | None,
    **choices: Any,
) -> None:
    """Replay each TRACE on a preset drive.

    Several traces share the drive, each as a tenant of its own that is called like its
    file; a single one is called trace. All have the whole drive unless
    --partition or --tenant gives them parts.
    """
    if snapshot is not None:
        _refuse_preconditioning()
    targets = Targets(out, requests, fio_json, group_reporting, force, snapshot, save_drive)
    printed = Printed(document, percentiles, quiet=quiet, wording=reworded)
    together = tenants.named([*map(tenants.Tenant, traces), *described])
    for tenant in together:
        foreign.refuse(tenant.file)
    config = configuration(together, **choices)
    try:
        name = f"replay of {', '.join(str(tenant.file) for tenant in together)}"
        given = snapshot is not None
        experiment = Experiment.from_dict(config, overrides, name=name, snapshot_given=given)
        observer = Forecasting(experiment, is_from_snapshot=given)
        if partition:
            experiment = _partitioned(experiment, quiet=printed.are_tables_off)
        run_and_show(experiment, targets, printed, plot=plot, observer=observer)
    except (ConfigError, TraceError) as error:
        error.args = (_as_options(str(error), together), *error.args[1:])
        raise


def _refuse_preconditioning() -> None:
    """Refuse --fill and --age beside --snapshot: they would have no effect."""
    context = click.get_current_context()
    for name in ("fill", "age"):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(
                f"--{name} has no effect with --snapshot: that drive is filled and aged already; "
                "leave one of them out"
            )


def _partitioned(experiment: Experiment, *, quiet: bool) -> Experiment:
    """Return the experiment with equal regions; print on stderr which trace has which region."""
    regions = tenants.partition(experiment)
    divided = experiment.replace(
        {f"workload[{index}].region": region for index, region in enumerate(regions)}
    )
    if not quiet:
        from flashscape.report.rows import part

        for workload in divided.config["workload"]:
            click.echo(f"{workload['name']}: {part(workload)}", err=True)
    return divided


def reworded(note: str) -> str:
    """Return a note with options of this command in the place of configuration keys."""
    for phrase, own in NOTES:
        note = note.replace(phrase, own)
    return note


def _as_options(advice: str, together: list[tenants.Tenant]) -> str:
    advice = options.as_options(advice)
    if len(together) > 1:
        for index, tenant in enumerate(together):
            advice = re.sub(
                rf"\bworkload\[{index}\]\.(trace\.)?", f'tenant "{tenant.name}", ', advice
            )
        advice = advice.replace('workload "', 'tenant "')
    return advice


def configuration(
    together: list[tenants.Tenant],
    *,
    drive: str,
    format_: str | None,
    closed: bool,
    queue_depth: int | str | None,
    time_scale: float | None,
    disorder: str | None,
    spread: str | None,
    event: str | None,
    time_unit: str | None,
    waits: str | None,
    block_size: str | None,
    length_unit: str | None,
    truncated: str | None,
    devices: list[int] | None,
    combine: str | None,
    out_of_range: str,
    fill: str,
    age: float | None,
    audit: bool,
) -> dict[str, Any]:
    """Return the experiment that the options describe; options that are not given are left out."""
    common = {
        "format": format_,
        "mode": "closed" if closed else "open",
        "time_scale": time_scale,
        "disorder": disorder,
        "spread": spread,
        "event": event,
        "time_unit": time_unit,
        "waits": waits,
        "block_size": block_size,
        "length_unit": length_unit,
        "truncated": truncated,
        "devices": devices,
        "combine": combine,
        "out_of_range": out_of_range,
    }

    def workload(tenant: tenants.Tenant) -> dict[str, Any]:
        own = {"file": str(tenant.file), **_said(common), **tenant.trace}
        return {**_said({"queue_depth": queue_depth}), **tenant.workload, "trace": own}

    precondition = {"fill": fill, "age": None if age is None else {"overwrites": age}}
    return {
        "title": f"{', '.join(tenant.file.name for tenant in together)} on {drive}",
        "drive": {"preset": drive},
        "precondition": _said(precondition),
        "workload": [{"name": tenant.name, **workload(tenant)} for tenant in together],
        "run": {"audit": audit},
    }


def _said(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}
